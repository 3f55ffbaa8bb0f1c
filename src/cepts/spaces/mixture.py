"""Mixture of factor analysers: words of a space fall into semantic fields.

Vargas et al. (2019) propose in their introduction to model words with more than one meaning by a mixture of factor
analysers (Ghahramani & Hinton 1996). Here the components share the loadings and the noise of a fitted space and differ
in where their latent meanings lie, as in Baek, McLachlan & Flack (2010, mixtures with common factor loadings):

    p(z) = sum_c pi_c N(m_c, Omega),    p(x_i | z) = N(W_i z + mu_i, Psi_i).

A component is a semantic field: colours, kinship, courts of law. Components with their own loadings and noise (one IBFA
each) fit held-out entries better than a single IBFA does, but are less useful. In dozens of dimensions the densities of
a word under two of them differ by dozens of nats, so that P(c | x) is near 1 for one of a dozen broad fields, and for
most words E[y | x, c] is much the same in all of them. Fields that cost only a mean each can be many and narrow, and
tell apart the translations of a word's senses: `cepts.spaces.senses` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors
from cepts.engine import ROUNDING, Tick, run_em
from cepts.errors import DataError, UsageError
from cepts.progress import Progress
from cepts.spaces.entries import entry_weights
from cepts.spaces.moments import patterns_of
from cepts.spaces.space import Space

COMPONENTS = 64
TRIED = (16, 32, 64, 128)
FACTORS = 100
PRIOR = 5.0
HELD_OUT = 0.1
ITERATIONS = 40
TOLERANCE = 7e-4
ROUNDS_OF_START = 10
LARGEST_AGREEMENT = 1 - 1e-6

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """Semantic fields of a space: a mixture of Gaussians over its latent meanings, made by `fit_mixture`.

    Attributes
    ----------
    space
        A space fitted by ibfa or mbfa.
    shares
        pi_c, the share of the dictionary that falls into each field.
    means
        m_c, one row for each field, in the latent dimensions on which the views agree most.
    spread
        Omega, the covariance of the meanings within a field, which all fields share.
    objectives
        Mean penalised log-likelihood of an entry before each step of EM.
    """

    space: Space
    shares: Matrix
    means: Matrix
    spread: Matrix
    objectives: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.shares)

    @cached_property
    def evidence(self) -> _Evidence:
        """What the vectors of the views say about the latent dimensions of the means."""
        return _Evidence(self.space, self.means.shape[1])

    def senses(self, vectors: NDArray[np.floating], view: str | int) -> Matrix:
        """P(c | x), the probability of each field for each row of `vectors`, which are as they were read."""
        logs = self._log_joint([vectors], [self.space.view(view)])
        return np.asarray(np.exp(logs - _log_sum(logs)[:, None]), dtype=np.float64)

    def log_density(self, vectors: Sequence[NDArray[np.floating]]) -> Matrix:
        """Log-density of tuples of vectors in the latent dimensions; `vectors` has a matrix for each view."""
        return _log_sum(self._log_joint(vectors, range(len(self.space))))

    def _log_joint(self, vectors: Sequence[NDArray[np.floating]], views: Sequence[int]) -> Matrix:
        points, noise = self.evidence.points(vectors, views)
        return _log_joint(points, self.spread + noise, self.means, self.shares)


class _Evidence:
    """What vectors say about the latent dimensions on which the views agree most.

    E[z | x] of one view has the covariance G = W' Sigma^-1 W, and z given x has the covariance I - G. So x is worth as
    much as a direct measurement of z with the precision (I - G)^-1 - I; the precisions of several views add up. For
    IBFA all of these are diagonal. For MBFA, what the views share in the unused dimensions counts as noise.
    """

    def __init__(self, space: Space, factors: int) -> None:
        model = space.model
        if model is None:
            raise UsageError(f"{space.method} has no factor model; fit the space by ibfa or mbfa to use a mixture.")
        self.space = space
        _, turned = np.linalg.eigh(model.agreement)
        turned = turned[:, ::-1][:, :factors]
        self.means = model.means
        self.maps = [a @ turned for a in model.latent_maps]
        agreements = [turned.T @ w.T @ a for w, a in zip(model.loadings, self.maps, strict=True)]
        self.leftovers = [np.linalg.inv(np.eye(len(g)) - LARGEST_AGREEMENT * (g + g.T) / 2) for g in agreements]

    def points(self, vectors: Sequence[NDArray[np.floating]], views: Sequence[int]) -> tuple[Matrix, Matrix]:
        """The points where the vectors of `views`, one matrix each, place z, and the covariance of their error."""
        size = self.maps[0].shape[1]
        precision = sum((self.leftovers[view] for view in views), np.zeros((size, size))) - len(views) * np.eye(size)
        # The error of a dimension about which a view says nothing would be infinite.
        noise = np.linalg.inv(precision + 1e-6 * np.eye(size))
        told = np.zeros((len(vectors[0]), size))
        for matrix, view in zip(vectors, views, strict=True):
            prepared = self.space.preparations[view].apply(matrix)
            told += (prepared - self.means[view]) @ self.maps[view] @ self.leftovers[view]
        return told @ noise, (noise + noise.T) / 2


def fit_mixture(
    space: Space,
    views: Sequence[Vectors],
    rows: NDArray[np.int64],
    *,
    components: int | Sequence[int] | None = COMPONENTS,
    factors: int = FACTORS,
    prior: float = PRIOR,
    seed: int = 0,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
) -> GaussianMixture:
    """Find the semantic fields of a space by EM on dictionary entries.

    Parameters
    ----------
    space, views
        A space fitted by ibfa or mbfa, and the vectors of its views.
    rows
        The entries, such as `Entries.rows`: one row for each entry, one column for each view, -1 if the entry has no
        word there. Entries are weighted so that each word counts about once.
    components
        Number of fields. Of several numbers, one is chosen on held-out entries; None tries 16, 32, 64 and 128.
    factors
        Number of latent dimensions that are used, those on which the views agree most.
    prior
        Number of pseudo-entries. Each field has this many at 0, so that a field with few entries stays near the middle,
        and the spread has as many with the covariance of the whole space.
    seed
        Seed for the start, which is k-means on the latent means of the entries.
    iterations
        Maximum number of iterations of EM.
    tolerance
        EM ends when a step gains less than this share of the gain so far.
    progress
        Called after each part of an iteration.
    """
    tried = TRIED if components is None else [components] if isinstance(components, int) else components
    for name, value in (("components", min(tried)), ("factors", factors), ("iterations", iterations)):
        if value < 1:
            raise UsageError(f"`{name}` must be 1 or more. Got {value} instead.")
    if not 0 < prior < np.inf:
        raise UsageError(f"`prior` must be above 0. Got {prior} instead.")

    def fit(entries: NDArray[np.int64], count: int) -> GaussianMixture:
        problem = _FieldsProblem(space, views, entries, count, min(factors, space.width), prior, seed)
        history = run_em(problem, iterations=iterations, tolerance=tolerance, stage="fields", progress=progress)
        return GaussianMixture(space, problem.shares, problem.means, problem.spread, tuple(history))

    entries = rows[(rows >= 0).any(axis=1)]
    count = tried[0] if isinstance(components, int) else _chosen_count(fit, views, entries, tried, seed)
    if len(entries) < count:
        raise DataError(
            f"the dictionary of the space has {len(entries):,} entries with vectors, fewer than the {count} components "
            f"of the mixture; choose fewer (`components=`), or fit the space with a larger dictionary."
        )
    return fit(entries, count)


def _chosen_count(
    fit: Callable[[NDArray[np.int64], int], GaussianMixture],
    views: Sequence[Vectors],
    rows: NDArray[np.int64],
    tried: Sequence[int],
    seed: int,
) -> int:
    """The number of fields with which held-out entries are most likely; with few entries, the smallest number."""
    complete = (rows >= 0).all(axis=1)
    words = np.unique(rows[complete, 0])
    possible = [count for count in tried if 10 * count <= len(words)]
    if len(possible) < 2:
        return possible[0] if possible else 1
    # All entries of a word of the first view are held out together.
    chosen = np.random.default_rng(seed).choice(words, int(HELD_OUT * len(words)), replace=False)
    held = complete & np.isin(rows[:, 0], chosen)
    vectors = [view.matrix[rows[held, number]] for number, view in enumerate(views)]
    return max(possible, key=lambda count: float(fit(rows[~held], count).log_density(vectors).mean()))


@dataclass(slots=True, eq=False)
class _Pattern:
    """Entries with words in the same views: where they place z, the covariance of that error, weights and fields."""

    points: Matrix
    noise: Matrix
    weights: Matrix
    shares: Matrix


class _FieldsProblem:
    """The mixture under training, for `cepts.engine.run_em`."""

    def __init__(
        self,
        space: Space,
        views: Sequence[Vectors],
        rows: NDArray[np.int64],
        components: int,
        factors: int,
        prior: float,
        seed: int,
    ) -> None:
        self.prior = prior
        self.weights = entry_weights(rows)
        evidence = _Evidence(space, factors)
        self.patterns = []
        for known, members in patterns_of(rows):
            vectors = [views[view].matrix[rows[members, view]] for view in known]
            self.patterns.append(_Pattern(*evidence.points(vectors, known), self.weights[members], np.empty((0, 0))))
        self.allowed_fall = ROUNDING * factors
        self.spread = np.eye(factors)
        self.shares = np.full(components, 1 / components)
        # The start uses the directions of E[z | entry], where a dimension counts as much as is known about it.
        latent = [p.points @ np.linalg.inv(np.eye(factors) + p.noise) for p in self.patterns]
        field = _spherical_means(np.concatenate(latent), components, seed)
        mass = np.concatenate([pattern.weights for pattern in self.patterns])
        chosen = np.eye(components)[field] * mass[:, None]
        points = np.concatenate([pattern.points for pattern in self.patterns])
        self.means = chosen.T @ points / (chosen.sum(axis=0) + prior)[:, None]

    def e_step(self, tick: Tick) -> float:
        """Compute the shares of the fields in each entry; return the penalised log-likelihood of an entry."""
        total = self._log_prior()
        for number, pattern in enumerate(self.patterns):
            joint = _log_joint(pattern.points, self.spread + pattern.noise, self.means, self.shares)
            logs = _log_sum(joint)
            pattern.shares = np.exp(joint - logs[:, None])
            total += float(pattern.weights @ logs)
            tick(number + 1, len(self.patterns))
        return total / float(self.weights.sum())

    def m_step(self) -> None:
        """Maximise the expected log-density of entries and meanings plus the log-prior over means, spread and shares.

        The z of an entry is N(e, V) with e = m_c + (point - m_c) Gain. So m_c is the mean of the e and of `prior`
        zeros, and Omega is the covariance of the z about the m_c.
        """
        count, size = self.means.shape
        mass, sums = np.zeros(count), np.zeros((count, size))
        steps = []
        for pattern in self.patterns:
            gain = np.linalg.solve(self.spread + pattern.noise, self.spread)
            taken = pattern.shares * pattern.weights[:, None]
            here = taken.sum(axis=0)
            moved = taken.T @ (pattern.points @ gain)
            kept = self.means - self.means @ gain
            mass += here
            sums += moved + here[:, None] * kept
            steps.append((gain, here, moved, kept))
        means = sums / (mass + self.prior)[:, None]
        scatter = self.prior * (means.T @ means + np.eye(size))
        for pattern, (gain, here, moved, kept) in zip(self.patterns, steps, strict=True):
            placed = pattern.points @ gain
            offset = kept - means
            cross = moved.T @ offset
            scatter += (placed * pattern.weights[:, None]).T @ placed + cross + cross.T
            scatter += (offset * here[:, None]).T @ offset
            scatter += float(pattern.weights.sum()) * (self.spread - self.spread @ gain)
        spread = scatter / (mass.sum() + count + self.prior)
        self.means, self.spread = means, (spread + spread.T) / 2
        self.shares = (mass + 1) / (mass + 1).sum()

    def _log_prior(self) -> float:
        """Logarithm of the prior up to a constant: m_c ~ N(0, Omega / prior), Omega inverse Wishart, pi_c Dirichlet."""
        precision = np.linalg.inv(self.spread)
        log_determinant = np.linalg.slogdet(self.spread)[1]
        trace = np.trace(precision) + np.einsum("ij,ij->", self.means @ precision, self.means)
        count = len(self.means)
        return float(np.log(self.shares).sum() - 0.5 * ((count + self.prior) * log_determinant + self.prior * trace))


def _log_joint(points: Matrix, covariance: Matrix, means: Matrix, shares: Matrix) -> Matrix:
    """Logarithm of pi_c N(point; m_c, covariance), with one row for each point."""
    low = np.linalg.cholesky(covariance)
    white = np.linalg.inv(low).T
    placed, centres = points @ white, means @ white
    lengths = np.einsum("ij,ij->i", placed, placed)[:, None] + np.einsum("ij,ij->i", centres, centres)
    constant = np.log(np.diag(low)).sum() + 0.5 * len(low) * np.log(2 * np.pi)
    return np.asarray(placed @ centres.T - 0.5 * lengths - constant + np.log(shares), dtype=np.float64)


def _log_sum(logs: Matrix) -> Matrix:
    peaks = logs.max(axis=1)
    return np.asarray(peaks + np.log(np.exp(logs - peaks[:, None]).sum(axis=1)), dtype=np.float64)


def _spherical_means(points: Matrix, count: int, seed: int) -> NDArray[np.int64]:
    """The group of each point by k-means on directions, started by k-means++ (Arthur & Vassilvitskii 2007)."""
    random = np.random.default_rng(seed)
    units = points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)
    centres = units[[int(random.integers(len(units)))]]
    distances = np.full(len(units), np.inf)
    while len(centres) < count:
        distances = np.minimum(distances, np.maximum(1 - units @ centres[-1], 0))
        total = distances.sum()
        chance = distances / total if total > 0 else None
        centres = np.concatenate([centres, units[[int(random.choice(len(units), p=chance))]]])
    for _ in range(ROUNDS_OF_START):
        group = (units @ centres.T).argmax(axis=1)
        sums = np.eye(count)[group].T @ units
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return np.asarray((units @ centres.T).argmax(axis=1), dtype=np.int64)
