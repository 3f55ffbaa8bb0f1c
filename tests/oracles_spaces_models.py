"""Slow, plain twins of the models of `cepts.spaces`: one entry at a time, dense matrices, nothing clever."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import multivariate_normal

from cepts.data import Dictionary, Vectors
from cepts.spaces.gaussian import FactorModel

# -- things to try them on -----------------------------------------------------------------------------------


def random_model(random: np.random.Generator, widths, factors: int) -> FactorModel:
    """A factor model with noise in all directions."""
    loadings = tuple(random.standard_normal((width, factors)) for width in widths)
    roots = [random.standard_normal((width, width)) for width in widths]
    noises = tuple(root @ root.T / len(root) + 0.2 * np.eye(len(root)) for root in roots)
    return FactorModel(loadings, noises, tuple(random.standard_normal(width) for width in widths))


def translated_views(words: int, widths, *, noise: float, seed: int = 0, names=("en", "fr", "ru", "it")):
    """Views of the same meanings, each turned its own way and with noise; word w of view i is `<name><w>`."""
    random = np.random.default_rng(seed)
    meanings = random.standard_normal((words, max(widths)))
    views = []
    for name, width in zip(names, widths, strict=False):
        turn = np.linalg.qr(random.standard_normal((max(widths), max(widths))))[0][:, :width]
        vectors = meanings @ turn + noise * random.standard_normal((words, width))
        views.append(Vectors.from_words((f"{name}{word}" for word in range(words)), vectors.astype(np.float32), name))
    return views


def right_dictionary(views, rows, languages=None) -> Dictionary:
    """The true entries of `translated_views` with the numbers `rows`."""
    languages = tuple(view.name for view in views) if languages is None else languages
    return Dictionary(languages, tuple(tuple(f"{language}{row}" for language in languages) for row in rows))


# -- the model -----------------------------------------------------------------------------------------------


def stacked(model: FactorModel, views) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mean, loadings, noise and covariance of the views one after the other, by the definition of eq. (1)."""
    sizes = [len(model.means[view]) for view in views]
    noise = np.zeros((sum(sizes), sum(sizes)))
    start = 0
    for view, size in zip(views, sizes, strict=True):
        noise[start : start + size, start : start + size] = model.noises[view]
        start += size
    loading = np.vstack([model.loadings[view] for view in views])
    return np.hstack([model.means[view] for view in views]), loading, noise, loading @ loading.T + noise


def entry_vector(views, row) -> tuple[list[int], np.ndarray]:
    """The views in which an entry has a word, and its vectors one after the other."""
    known = [view for view, word in enumerate(row) if word >= 0]
    return known, np.hstack([views[view][row[view]].astype(np.float64) for view in known])


def mean_log_likelihood(model: FactorModel, views, rows, weights) -> float:
    """Weighted mean over entries of the log-density of the words that they have."""
    total = 0.0
    for row, weight in zip(rows, weights, strict=True):
        known, vector = entry_vector(views, row)
        mean, _, _, covariance = stacked(model, known)
        total += weight * multivariate_normal(mean, covariance).logpdf(vector)
    return total / np.sum(weights)


def em_step(model: FactorModel, views, rows, weights) -> FactorModel:
    """One step of EM with the latent z of each entry as the missing data, entry by entry.

    Each view is then regressed on [z, 1] over the entries that have it.
    """
    k = model.factors
    count = len(model)
    cross = [np.zeros((width, k + 1)) for width in model.widths]
    latent = [np.zeros((k + 1, k + 1)) for _ in range(count)]
    scatter = [np.zeros((width, width)) for width in model.widths]
    masses = np.zeros(count)
    for row, weight in zip(rows, weights, strict=True):
        known, vector = entry_vector(views, row)
        mean, loading, noise, _ = stacked(model, known)
        precision = np.eye(k) + loading.T @ np.linalg.inv(noise) @ loading
        z = np.linalg.inv(precision) @ loading.T @ np.linalg.inv(noise) @ (vector - mean)
        moment = np.zeros((k + 1, k + 1))
        moment[:k, :k] = np.linalg.inv(precision) + np.outer(z, z)
        moment[:k, k] = moment[k, :k] = z
        moment[k, k] = 1.0
        for view in known:
            x = views[view][row[view]].astype(np.float64)
            cross[view] += weight * np.outer(x, np.append(z, 1.0))
            latent[view] += weight * moment
            scatter[view] += weight * np.outer(x, x)
            masses[view] += weight
    loadings, noises, means = [], [], []
    for view in range(count):
        slopes = cross[view] @ np.linalg.inv(latent[view])
        loadings.append(slopes[:, :k])
        means.append(slopes[:, k])
        noises.append((scatter[view] - slopes @ cross[view].T) / masses[view])
    return FactorModel(tuple(loadings), tuple(noises), tuple(means))


def moments(views, rows, weights) -> dict[tuple[int, ...], tuple[float, np.ndarray, np.ndarray]]:
    """Weight, mean and covariance of the entries of each set of views, by sums over entries."""
    groups: dict[tuple[int, ...], list[tuple[float, np.ndarray]]] = {}
    for row, weight in zip(rows, weights, strict=True):
        known = tuple(view for view, word in enumerate(row) if word >= 0)
        if known:
            groups.setdefault(known, []).append((weight, entry_vector(views, row)[1]))
    found = {}
    for known, members in groups.items():
        mass = sum(weight for weight, _ in members)
        mean = sum(weight * vector for weight, vector in members) / mass
        covariance = sum(weight * np.outer(vector - mean, vector - mean) for weight, vector in members) / mass
        found[known] = mass, mean, covariance
    return found


# -- entries -------------------------------------------------------------------------------------------------


def joined(rows) -> set[tuple[int, ...]]:
    """Entries of two words put together where all words of the whole are tied in pairs, and nothing can be added."""
    rows = {tuple(int(word) for word in row) for row in rows}
    pairs = {row for row in rows if sum(word >= 0 for word in row) == 2}
    ties = {frozenset((view, word) for view, word in enumerate(row) if word >= 0) for row in pairs}
    words = sorted(set().union(*ties)) if ties else []
    views = len(next(iter(rows))) if rows else 0
    whole = [
        frozenset(some)
        for size in range(2, views + 1)
        for some in combinations(words, size)
        if all(frozenset(pair) in ties for pair in combinations(some, 2))
    ]
    lines = set(rows - pairs)
    for some in whole:
        if not any(some < other for other in whole):
            line = [-1] * views
            for view, word in some:
                line[view] = word
            lines.add(tuple(line))
    return lines


def mutual_nearest(scores: np.ndarray) -> list[tuple[int, int]]:
    """Places of `scores` that are the highest of their line and of their column, ties to the lower number."""
    return [
        (line, column)
        for line, column in enumerate(scores.argmax(axis=1).tolist())
        if scores[:, column].argmax() == line and np.isfinite(scores[line, column])
    ]
