"""Multiple-battery factor analysis: the factor model of two or more views, fitted by EM on sufficient statistics.

Every entry is used for training, whichever views it has words in: entries are grouped by their views, and of each group
only the weight, mean and covariance are needed (Vargas et al. 2019, section 2.2.1 and appendix E, with the sums over
entries split by group). The views are whitened first, which changes the likelihood only by a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cepts.engine import ROUNDING, run_em
from cepts.errors import DataError, check_choice
from cepts.names import STARTS
from cepts.progress import Progress
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.ibfa import check_factors, inverse_root
from cepts.spaces.moments import Moments, spans_of

Matrix = NDArray[np.float64]

ITERATIONS = 500
TOLERANCE = 5e-4  # large, because EM starts near the optimum, where all gains are small
MEMORY = 50  # past steps from which EM is extrapolated
RIDGE = 1e-10  # relative, so that steps that repeat each other do not make the small system singular
WEAKEST = 1e-3  # the smallest squared length that a factor starts with, because one that starts at 0 stays there
LEAST_NOISE = 1e-4  # of whitened variance 1; with less, rounding errors show, and at 0 the likelihood can be infinite
STRONGEST = 0.97  # the largest share of a direction that is common at the start: at 1 there is no noise left to learn


class Anderson:
    """Extrapolates the iteration x -> g(x).

    Among all combinations of the last steps, it takes the one whose residual g(x) - x would be smallest if g were
    linear (Anderson 1965; Walker & Ni 2011). It does not know the objective: the caller must reject a point that is
    worse, use g(x) instead and call `forget`. `memory` is the number of past steps that are used.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.forget()

    def forget(self) -> None:
        """Forget all steps, and start again from the next point."""
        # Row s of `_steps` is how far g moved in a step and row s of `_changes` how the residual changed; the oldest
        # row is overwritten. Single precision is enough for directions, and reading them is most of the cost.
        self._steps = self._changes = np.empty((0, 0), dtype=np.float32)
        self._gram = np.zeros((0, 0))
        self._seen = 0
        self._last: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    def extrapolate(self, here: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.float64]:
        """The point to try next, given that g took `here` to `there`."""
        residual = there - here
        if self._last is not None:
            self._remember(here - self._last[0], residual - self._last[1])
        self._last = here, residual
        count = min(self._seen, self.memory)
        gram = self._gram[:count, :count]
        if not np.trace(gram) > 0.0:  # no steps yet, or steps that are too small to be told apart
            return there
        right = self._changes[:count] @ residual.astype(np.float32)
        ridge = RIDGE * np.trace(gram) / count
        shares = np.linalg.solve(gram + ridge * np.eye(count), right.astype(np.float64))
        return there - shares.astype(np.float32) @ self._steps[:count]

    def _remember(self, moved: NDArray[np.float64], changed: NDArray[np.float64]) -> None:
        """Keep one more step: how far x moved (and so g), and how the residual changed."""
        if not self._steps.size:
            self._steps = np.empty((self.memory, len(moved)), dtype=np.float32)
            self._changes = np.empty_like(self._steps)
            self._gram = np.zeros((self.memory, self.memory))
        row = self._seen % self.memory
        self._seen += 1
        self._changes[row] = changed
        self._steps[row] = moved + changed
        count = min(self._seen, self.memory)
        products = self._changes[:count] @ self._changes[row]
        self._gram[row, :count] = self._gram[:count, row] = products


@dataclass(frozen=True, slots=True, eq=False)
class _Whitening:
    """x_white = (x - mean) @ root, and back: x = mean + x_white @ back. `ridge` is what shrinkage adds to variances."""

    mean: Matrix
    ridge: float
    root: Matrix
    back: Matrix


class Battery:
    """MBFA under training, for `cepts.engine.run_em`.

    Parameters
    ----------
    moments, widths
        Moments of each set of views that occurs in the entries, and the number of dimensions of each view.
    factors, shrinkage
        As for `cepts.spaces.IBFA`.
    start
        *canonical*: generalised canonical variates, eq. (3.25) of Browne (1980); for two views they are the maximum
        itself, if no correlation is near 0 or 1. *joreskog*: the best loadings if the noise is a fixed share of the
        inverted blocks of S^-1. *random*: random directions, each with a random share of the variance.
    accelerate
        Whether steps are extrapolated (`Anderson`), but never to a lower likelihood; otherwise plain EM is run.
    seed
        Seed for a random start.
    """

    def __init__(
        self,
        moments: Sequence[Moments],
        widths: Sequence[int],
        *,
        factors: int,
        shrinkage: float = 0.0,
        start: str = "joreskog",
        accelerate: bool = True,
        seed: int = 0,
    ) -> None:
        check_choice("start", start, STARTS)
        self.whitenings = _whiten(moments, widths, shrinkage)
        self.widths = [whitening.root.shape[1] for whitening in self.whitenings]
        self.factors = min(check_factors(factors, tuple(widths)), *self.widths)
        self.groups = [_white_group(group, widths, self.whitenings) for group in moments]
        self._masses = [sum(g.weight for g in self.groups if view in g.views) for view in range(len(widths))]
        self.loadings, self.noises = self._start(start, seed)
        self.means = [np.zeros(width) for width in self.widths]
        self.allowed_fall = ROUNDING * sum(self.widths)
        self._anderson = Anderson(MEMORY) if accelerate else None
        self._reached = -np.inf
        self._next: list[Matrix] = []
        self._fallback: list[Matrix] | None = None

    def fit(
        self, *, iterations: int = ITERATIONS, tolerance: float = TOLERANCE, progress: Progress | None = None
    ) -> tuple[FactorModel, list[float]]:
        """The factor model, and the mean log-likelihood of an entry (of whitened views) before each step of EM."""
        history = run_em(self, iterations=iterations, tolerance=tolerance, stage="MBFA", progress=progress)
        self._set(self._next)  # EM's own step from the last parameters whose likelihood is known, which cannot be worse
        return self.model(), history

    def e_step(self, tick: object) -> float:
        """Mean log-likelihood of an entry at the parameters, or at EM's own step if an extrapolation lowered it."""
        try:
            objective, self._next = self._step()
            lower = not objective >= self._reached
        except np.linalg.LinAlgError:
            objective, lower = np.nan, True
        if lower and self._fallback is not None and self._anderson is not None:
            self._anderson.forget()
            self._set(self._fallback)
            objective, self._next = self._step()
        self._reached = objective
        return objective

    def m_step(self) -> None:
        """Take EM's step, or the point that is extrapolated from the last steps."""
        if self._anderson is None:
            self._set(self._next)
            return
        self._fallback = self._next
        here = _packed(self._parameters())
        there = self._anderson.extrapolate(here, _packed(self._next))
        self._set(_unpacked(there, self._next))
        self.noises = [_floored(noise) for noise in self.noises]

    def model(self) -> FactorModel:
        """The factor model in the views' own coordinates."""
        loadings, noises, means = [], [], []
        for whitening, loading, noise, mean in zip(
            self.whitenings, self.loadings, self.noises, self.means, strict=True
        ):
            loadings.append(whitening.back.T @ loading)
            noises.append(whitening.back.T @ noise @ whitening.back)
            means.append(whitening.mean + mean @ whitening.back)
        return FactorModel(tuple(loadings), tuple(noises), tuple(means))

    def _step(self) -> tuple[float, list[Matrix]]:
        """Objective at the parameters, and the parameters to which EM goes from there.

        With H_i = W_i' Psi_i^-1 W_i, a group of views o has M = (I + sum_o H_i)^-1 and B = M W_o' Psi_o^-1
        (mfa, appendix E). The M-step is a regression of each view on [z, 1], so the means are fitted with the loadings.
        Noise has a floor; the best noise above the floor is EM's own with its eigenvalues raised, so no step lowers the
        likelihood.
        """
        inverses, scaled, inner, log_noise = [], [], [], []
        for loading, noise in zip(self.loadings, self.noises, strict=True):
            log_noise.append(_log_determinant(noise))
            inverses.append(np.linalg.inv(noise))
            scaled.append(inverses[-1] @ loading)
            inner.append(loading.T @ scaled[-1])
        k = self.factors
        cross = [np.zeros((width, k + 1)) for width in self.widths]
        latent = [np.zeros((k + 1, k + 1)) for _ in self.widths]
        scatter = [np.zeros((width, width)) for width in self.widths]
        total = objective = 0.0
        for group in self.groups:
            precision = np.eye(k) + sum(inner[view] for view in group.views)
            posterior = np.linalg.inv(precision)
            gain = np.concatenate([scaled[view] for view in group.views])
            offset = group.mean - np.concatenate([self.means[view] for view in group.views])
            second = group.covariance + np.outer(offset, offset)
            projected = second @ (gain @ posterior)
            moment = np.empty((k + 1, k + 1))
            moment[:k, :k] = posterior + posterior @ (gain.T @ projected)
            moment[k, :k] = moment[:k, k] = posterior @ (gain.T @ offset)
            moment[k, k] = 1.0
            fit = _log_determinant(precision) + len(offset) * np.log(2 * np.pi) - np.sum(gain * projected)
            for view, span in zip(group.views, group.spans(self.widths), strict=True):
                part = second[span, span]
                fit += log_noise[view] + np.sum(inverses[view] * part)
                cross[view][:, :k] += group.weight * projected[span]
                cross[view][:, k] += group.weight * offset[span]
                latent[view] += group.weight * moment
                scatter[view] += group.weight * part
            objective -= 0.5 * group.weight * fit
            total += group.weight
        parameters = []
        for view, mass in enumerate(self._masses):
            slopes = np.linalg.solve(latent[view], cross[view].T).T
            noise = (scatter[view] - slopes @ cross[view].T) / mass
            parameters += [slopes[:, :k], _floored((noise + noise.T) / 2), self.means[view] + slopes[:, k]]
        return objective / total, parameters

    def _parameters(self) -> list[Matrix]:
        return [array for triple in zip(self.loadings, self.noises, self.means, strict=True) for array in triple]

    def _set(self, parameters: Sequence[Matrix]) -> None:
        self.loadings, self.noises, self.means = list(parameters[0::3]), list(parameters[1::3]), list(parameters[2::3])

    def _start(self, start: str, seed: int) -> tuple[list[Matrix], list[Matrix]]:
        correlations = self._correlations()
        spans = spans_of(self.widths)
        views = len(spans)
        values, vectors = np.linalg.eigh(correlations)
        if start == "random":
            stacked = np.random.default_rng(seed).standard_normal((len(correlations), self.factors))
            stacked /= np.sqrt(len(correlations))
        elif start == "canonical":
            values, vectors = values[::-1][: self.factors], vectors[:, ::-1][:, : self.factors]
            stacked = vectors * np.sqrt(np.maximum((values - 1.0) * views / (views - 1), WEAKEST))
        else:
            inverse = (vectors / np.maximum(values, WEAKEST)) @ vectors.T
            share = 1.0 - self.factors / (2.0 * len(correlations))
            root = np.zeros_like(correlations)
            for span in spans:
                low = np.linalg.cholesky(inverse[span, span] / share)  # low low' is the inverse of the noise
                root[span, span] = low
            values, vectors = np.linalg.eigh(root.T @ correlations @ root)
            values, vectors = values[::-1][: self.factors], vectors[:, ::-1][:, : self.factors]
            stacked = np.linalg.solve(root.T, vectors * np.sqrt(np.maximum(values - 1.0, WEAKEST)))
        loadings, noises = [], []
        for span in spans:
            left, lengths, right = np.linalg.svd(stacked[span], full_matrices=False)
            loadings.append((left * np.minimum(lengths, np.sqrt(STRONGEST))) @ right)
            noises.append(np.eye(len(left)) - loadings[-1] @ loadings[-1].T)
        return loadings, noises

    def _correlations(self) -> Matrix:
        """Covariance of all whitened views; for two that share no entry, the product along the views between them."""
        views = range(len(self.widths))
        blocks = {(i, i): np.eye(self.widths[i]) for i in views}
        places = [dict(zip(group.views, group.spans(self.widths), strict=True)) for group in self.groups]
        for i, j in combinations(views, 2):
            both = [(group, at) for group, at in zip(self.groups, places, strict=True) if i in at and j in at]
            if both:
                total = np.sum([group.weight * group.covariance[at[i], at[j]] for group, at in both], axis=0)
                blocks[i, j] = total / sum(group.weight for group, _ in both)
                blocks[j, i] = blocks[i, j].T
        while len(blocks) < len(self.widths) ** 2:
            ways = {
                (i, j): blocks[i, m] @ blocks[m, j]
                for i in views
                for j in views
                if (i, j) not in blocks
                for m in views
                if (i, m) in blocks and (m, j) in blocks
            }
            if not ways:
                raise DataError(
                    "the dictionaries do not connect all languages, neither directly nor through others; add one that "
                    "does."
                )
            blocks |= ways
        return np.block([[blocks[i, j] for j in views] for i in views])


def _whiten(moments: Sequence[Moments], widths: Sequence[int], shrinkage: float) -> list[_Whitening]:
    whitenings = []
    for view, width in enumerate(widths):
        parts = [(g, g.spans(widths)[g.views.index(view)]) for g in moments if view in g.views]
        if not parts:
            raise DataError(f"no dictionary entry has a word of language {view + 1}; add a dictionary that has some.")
        mass = sum(g.weight for g, _ in parts)
        mean = np.sum([g.weight * g.mean[span] for g, span in parts], axis=0) / mass
        covariance = np.zeros((width, width))
        for g, span in parts:
            offset = g.mean[span] - mean
            covariance += g.weight * (g.covariance[span, span] + np.outer(offset, offset)) / mass
        ridge = shrinkage * float(np.trace(covariance)) / width
        covariance += ridge * np.eye(width)
        root = inverse_root(covariance)
        whitenings.append(_Whitening(mean, ridge, root, root.T @ covariance))
    return whitenings


def _white_group(group: Moments, widths: Sequence[int], whitenings: Sequence[_Whitening]) -> Moments:
    covariance = group.covariance.copy()
    spans = group.spans(widths)
    for view, span in zip(group.views, spans, strict=True):
        covariance[span, span] += whitenings[view].ridge * np.eye(widths[view])
    white = spans_of([whitenings[view].root.shape[1] for view in group.views])
    turned = np.empty((white[-1].stop, white[-1].stop))
    mean = np.empty(white[-1].stop)
    for i, from_i, to_i in zip(group.views, spans, white, strict=True):
        mean[to_i] = (group.mean[from_i] - whitenings[i].mean) @ whitenings[i].root
        for j, from_j, to_j in zip(group.views, spans, white, strict=True):
            turned[to_i, to_j] = whitenings[i].root.T @ covariance[from_i, from_j] @ whitenings[j].root
    return Moments(group.views, group.weight, mean, turned)


def _floored(noise: Matrix) -> Matrix:
    """`noise` with no eigenvalue below `LEAST_NOISE`."""
    try:
        np.linalg.cholesky(noise - LEAST_NOISE * np.eye(len(noise)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(noise)
        noise = (vectors * np.maximum(values, LEAST_NOISE)) @ vectors.T
    return noise


def _log_determinant(matrix: Matrix) -> float:
    return 2.0 * float(np.log(np.diag(np.linalg.cholesky(matrix))).sum())


def _packed(arrays: Sequence[Matrix]) -> Matrix:
    return np.concatenate([array.ravel() for array in arrays])


def _unpacked(packed: Matrix, like: Sequence[Matrix]) -> list[Matrix]:
    parts = np.split(packed, np.cumsum([array.size for array in like])[:-1])
    return [part.reshape(array.shape) for part, array in zip(parts, like, strict=True)]
