"""Proper alignments from association matrices, by orthogonal non-negative matrix factorisation (onmf)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cepts.data import Alignments, Association, Cepts, offsets_of
from cepts.engine import cut_runs, map_shards, one_allocation
from cepts.errors import DataError, UsageError, check_choice
from cepts.factor.latent import Factors, as_matrix, as_null, check_cepts, shares_of
from cepts.factor.options import SURE
from cepts.factor.proper import ProperFactors, orthogonal_factors, proper_model
from cepts.names import ASSIGNMENTS, ORPHANS
from cepts.progress import Progress, Step, Stopwatch, silent

if TYPE_CHECKING:
    from cepts.kernels.onmf import CeptSearch, OnmfRoom

Selection = Literal["anneal", "anneal-bic", "anneal-icl", "aic", "bic", "icl"]
SELECTIONS: tuple[Selection, ...] = get_args(Selection)
EXHAUSTIVE: tuple[Selection, ...] = ("aic", "bic", "icl")  # which try every number of cepts
NOISE = 0.01
WARM_STEPS = 10
COLD_STEPS = 20
CELLS_AT_A_TIME = 1 << 17
SLOWER = 16  # divides the cells at a time if a pair takes longer, so that progress and Ctrl-C respond


@dataclass(frozen=True, slots=True, eq=False)
class Factorisation:
    """The factors of one matrix, and the proper alignment that is made from them.

    Attributes
    ----------
    factors
        PLSA with as many cepts as the alignment has.
    alignments
        The alignment (of one pair), with its cepts.
    log_likelihoods
        Log-likelihood of the model with 1, 2, ... cepts; NaN for a number that was not tried.
    aic, bic
        The log-likelihoods minus the penalty of AIC or BIC (Goutte et al., 2004, section 4.1); higher is better.
    icl
        BIC minus the entropy of P(c | i, j), summed over all counts (Biernacki, Celeux and Govaert, 2000): of two
        models that fit equally well, the one whose cepts are better told apart is better.
    """

    factors: Factors
    alignments: Alignments
    log_likelihoods: NDArray[np.float64]
    aic: NDArray[np.float64]
    bic: NDArray[np.float64]
    icl: NDArray[np.float64]

    @property
    def orthogonal(self) -> ProperFactors:
        """The factors of the alignment, eq. (7) of Goutte et al. (2004), with one entry in each row."""
        cepts = self.alignments.cepts
        assert cepts is not None
        return orthogonal_factors(cepts.source, cepts.target, len(self.factors))

    def proper(self, matrix: ArrayLike) -> ProperFactors:
        """The best model of `matrix` whose factors have these entries, with noise; see `proper_model`."""
        cepts = self.alignments.cepts
        assert cepts is not None
        return proper_model(matrix, cepts.source, cepts.target)


def onmf(
    association: Association,
    *,
    cepts: Selection | int = "anneal",
    scale: float = 1.0,
    noise: bool = True,
    sure: float = SURE,
    assign: str = "map",
    orphans: str = "retrain",
    restarts: int = 10,
    iterations: int = 60,
    seed: int = 0,
    first: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Alignments:
    """Align each sentence pair through cepts, by orthogonal non-negative matrix factorisation of its matrix.

    The method is that of Goutte et al. (2004). PLSA finds the cepts (section 4), and AIC or BIC chooses their number
    (section 4.1). Each word goes to its most probable cept, eq. (7). Cepts that have no words on one side after that
    are removed, and the others are trained again (section 7.3). In the end, each word is in exactly one cept or in
    null, and each cept has words on both sides.

    Parameters
    ----------
    association
        Counts of how often two words go together, with null masses if there are any; see `in_counts` for other
        matrices.
    cepts
        Number of cepts of each pair (pairs that are too short have fewer), or how it is chosen. ``anneal`` chooses by
        AIC among the models of one annealing pass, ``anneal-bic`` by BIC and ``anneal-icl`` by ICL. ``aic``, ``bic``
        and ``icl`` choose among models with every number of cepts, each trained from `restarts` random starts, which is
        much slower.
    scale
        All counts are multiplied by this. Higher counts are more evidence and give more cepts.
    noise
        Whether a uniform noise component explains a share of the matrix (section 4.3).
    sure
        The lowest confidence of a sure link; links below it are possible links.
    assign
        How words are assigned to cepts: ``map`` gives each word its most probable cept, eq. (7). ``classify`` goes on
        from there by classification EM, in which words move while the likelihood of the proper alignment rises; see
        `cepts.kernels.classify`. It has fewer links, and more of them are right.
    orphans
        What happens to the words of a cept without words on the other side, which is removed: ``retrain`` trains the
        other cepts again before all words are assigned again, ``direct`` assigns them to the other cepts as these are
        (section 7.3).
    restarts, iterations, seed
        For ``aic``, ``bic`` and ``icl``: number of random starts, EM steps of each, and their seed.
    first
        Index of the first pair in a longer text, so that its random starts are the same as there.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    progress
        Called after each run of pairs.

    Returns
    -------
    Alignments
        Every source word of a cept is linked to every target word of the cept. The confidence of a link is the
        geometric mean of P(c, j | i) and P(c, i | j); `cepts` has P(c | word). Pairs whose matrix is 0 have no links.
    """
    options = _options(cepts, noise, assign, orphans, restarts, iterations, seed, first)
    for name, value in (("scale", scale), ("sure", sure)):
        if not 0 <= value < np.inf:
            raise UsageError(f"`{name}` must be 0 or more. Got {value} instead.")
    _check_numbers(association, scale)
    report = progress or silent
    stopwatch = Stopwatch()
    runs = list(cut_runs(association.offsets, CELLS_AT_A_TIME if options.annealing else CELLS_AT_A_TIME // SLOWER))
    done = 0
    found = []
    for result in map_shards(
        lambda run: _align(association.part(*run), options._replace(first_pair=first + run[0]), scale, sure),
        runs,
        threads=threads,
    ):
        found.append(result)
        done += len(result)
        seconds = stopwatch.seconds
        report(Step(stage="factorising", done=done, total=len(association), seconds=seconds))
    return Alignments.concatenate(found) if found else _align(association, options, scale, sure)


def factorise(
    matrix: ArrayLike,
    *,
    source_null: ArrayLike | None = None,
    target_null: ArrayLike | None = None,
    cepts: Selection | int = "anneal",
    noise: bool = True,
    sure: float = SURE,
    assign: str = "map",
    orphans: str = "retrain",
    restarts: int = 10,
    iterations: int = 60,
    seed: int = 0,
) -> Factorisation:
    """Align one matrix as `onmf` does, and also return the factors and the criterion for each number of cepts.

    Parameters
    ----------
    matrix
        I x J counts, non-negative.
    source_null, target_null
        Null mass of each source word and target word; None is 0.
    cepts, noise, sure, assign, orphans, restarts, iterations, seed
        As for `onmf`.

    Examples
    --------
    >>> found = factorise([[9, 0, 0], [0, 5, 5], [0, 6, 5]])
    >>> found.alignments[0].links
    [(0, 0), (1, 1), (1, 2), (2, 1), (2, 2)]
    """
    values = as_matrix(matrix)
    size, length = values.shape
    nulls = as_null(source_null, size, "source_null"), as_null(target_null, length, "target_null")
    if isinstance(cepts, int):
        check_cepts(cepts, min(size, length))
    options = _options(cepts, noise, assign, orphans, restarts, iterations, seed)
    association = Association(
        np.array([size]), np.array([length]), offsets_of([values.size]), values.reshape(-1), *nulls
    )
    most = min(size, length)
    weights = np.zeros(most, dtype=np.float32)
    source, target = np.zeros((most, size), dtype=np.float32), np.zeros((most, length), dtype=np.float32)
    curve, entropies = np.full((2, most), np.nan)
    found, strengths = _cepts_of(association, options, (curve, entropies), (weights, source, target))
    count = len(found[0])
    total = float(values.sum(dtype=np.float64))
    everything = total + float(nulls[0].sum(dtype=np.float64) + nulls[1].sum(dtype=np.float64))
    parameters = np.arange(1, most + 1) * (size + length - 1)
    level = float(found.noise[0])
    product = np.einsum("c,ci,cj->ij", weights[:count], source[:count], target[:count]) + level / values.size
    factors = Factors(
        weights[:count],
        source[:count],
        target[:count],
        level,
        shares_of(nulls[0], total),
        shares_of(nulls[1], total),
        float((values * np.log(np.maximum(product, 1e-30, dtype=np.float64))).sum()),
        [],
    )
    bic = curve - 0.5 * np.log(max(everything, 1.0)) * parameters
    return Factorisation(
        factors, links_of_cepts(found, strengths, sure), curve, curve - parameters, bic, bic - entropies
    )


def _check_numbers(association: Association, scale: float) -> None:
    """Refuse values that are negative or not finite, or that do not fit the pairs."""
    largest = float(np.finfo(np.float32).max)
    for field, values, offsets in association.masses():
        name = "the matrix" if field == "values" else field
        if values.shape != (offsets[-1],):
            raise DataError(f"{name} of all pairs must have {offsets[-1]:,} values. Got {values.size:,} instead.")
        if values.size and not (values.min() >= 0 and float(values.max()) * max(scale, 1.0) <= largest):
            fine = (values >= 0) & (values.astype(np.float64) * max(scale, 1.0) <= largest)
            place = int(np.flatnonzero(~fine)[0])
            pair = int(np.searchsorted(offsets, place, side="right"))
            raise DataError(
                f"{name} of pair {pair:,} must hold finite numbers of 0 or more. Got {values[place]} instead."
            )


def _options(
    cepts: Selection | int,
    noise: bool,
    assign: str,
    orphans: str,
    restarts: int,
    iterations: int,
    seed: int,
    first: int = 0,
) -> CeptSearch:
    if isinstance(cepts, bool) or (isinstance(cepts, int) and cepts < 1) or not (
        isinstance(cepts, int) or cepts in SELECTIONS
    ):  # fmt: skip
        raise UsageError(f"`cepts` must be {', '.join(SELECTIONS)} or a number of 1 or more. Got {cepts!r} instead.")
    if restarts < 1 or iterations < 1:
        raise UsageError(f"`restarts` and `iterations` must be 1 or more. Got {restarts} and {iterations} instead.")
    check_choice("assign", assign, ASSIGNMENTS)
    check_choice("orphans", orphans, ORPHANS)
    from cepts.kernels.onmf import CeptSearch

    return CeptSearch(
        annealing=cepts not in EXHAUSTIVE,
        wanted=cepts if isinstance(cepts, int) else 0,
        bayes=str(cepts).endswith(("bic", "icl")),
        unsure=float(str(cepts).endswith("icl")),
        retrain=orphans == "retrain",
        classify=assign == "classify",
        noise=NOISE if noise else -1.0,
        warm=WARM_STEPS,
        cold=COLD_STEPS,
        restarts=restarts,
        iterations=iterations,
        seed=seed,
        first_pair=first,
    )


def _align(association: Association, options: CeptSearch, scale: float, sure: float) -> Alignments:
    if scale != 1.0:
        association = association.scaled(scale)
    return links_of_cepts(*_cepts_of(association, options, None, None), sure)


def _cepts_of(
    association: Association,
    options: CeptSearch,
    curves: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    factors: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]] | None,
) -> tuple[Cepts, tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """The cepts of the pairs, and for each word the factors of the confidences of its links."""
    from cepts.kernels.onmf import CeptResults, MatrixArrays, factorise_pairs
    from cepts.kernels.plsa import CeptModel

    source_offsets, target_offsets = association.source_offsets, association.target_offsets
    words = int(source_offsets[-1]), int(target_offsets[-1])
    source_null, target_null = (
        np.zeros(count, dtype=np.float32) if null is None else np.ascontiguousarray(null, dtype=np.float32)
        for null, count in zip((association.source_null, association.target_null), words, strict=True)
    )
    pairs = MatrixArrays(
        source_offsets,
        target_offsets,
        np.ascontiguousarray(association.offsets, dtype=np.int64),
        np.ascontiguousarray(association.values, dtype=np.float32),
        source_null,
        target_null,
    )
    made = CeptResults._make(
        (
            *(np.empty(count, dtype=kind) for kind in (np.int32, np.float32, np.float32) for count in words),
            np.empty(len(association), dtype=np.float32),
            offsets_of([0] * len(association) if curves is None else [len(curves[0])]),
            *((np.empty(0), np.empty(0)) if curves is None else curves),
        )
    )
    unused = np.empty((0, 0), dtype=np.float32)
    kept = CeptModel(*((np.empty(0, dtype=np.float32), unused, unused) if factors is None else factors))
    entropies = options.unsure > 0 or curves is not None
    room = _room(association.source_lengths, association.target_lengths, entropies)
    factorise_pairs(pairs, options, room, made, kept)
    found = Cepts(source_offsets, target_offsets, *made[:4], made.noises)
    return found, (made.source_strength, made.target_strength)


def _room(sizes: NDArray[np.int64], lengths: NDArray[np.int64], entropies: bool) -> OnmfRoom:
    """Buffers for the largest pair; `sizes` and `lengths` are the numbers of source and target words of each pair.

    `entropies` says whether the entropies of the models are needed.
    """
    from cepts.kernels.anneal import AnnealRoom, Part
    from cepts.kernels.classify import ClassifyRoom
    from cepts.kernels.onmf import OnmfRoom
    from cepts.kernels.plsa import CeptModel, PlsaRoom

    size, length = int(sizes.max(initial=1)), int(lengths.max(initial=1))
    cepts = int(np.minimum(sizes, lengths).max(initial=1))

    weights, of_source, of_target, (part, shares), (rows, part_rows, least), (columns, part_columns, row) = (
        one_allocation((4, cepts), (6, cepts, size), (6, cepts, length), (2, size, length), (3, size), (3, length))
    )
    current, cold, best = (CeptModel(weights[n], of_source[n], of_target[n]) for n in range(3))
    return OnmfRoom(
        anneal=AnnealRoom(
            current=current,
            tempered=CeptModel(current.weights, of_source[3], of_target[3]),
            cold=cold,
            best=best,
            plsa=PlsaRoom(of_source[4], of_target[4], row),
            part=Part(part, part_rows, part_columns, row),
            directions=of_source[5],
            column_directions=of_target[5],
            correlations=weights[3],
            gains=np.zeros(cepts),
            known=np.zeros(cepts, dtype=np.bool_),
        ),
        rows=rows,
        columns=columns,
        least=least,
        shares=shares.reshape(-1),
        curve=np.zeros(cepts + 1),
        entropies=np.zeros(cepts + 1 if entropies else 0),
        present=np.zeros(cepts, dtype=np.int64),
        classify=ClassifyRoom(
            *(np.zeros(count) for count in (size, length, cepts)), *np.zeros((2, cepts), dtype=np.int64)
        ),
    )


def links_of_cepts(
    cepts: Cepts, strengths: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None, sure: float = 0.0
) -> Alignments:
    """Link all source and target words that share a cept.

    Parameters
    ----------
    cepts
        The cepts of many sentence pairs.
    strengths
        For each source word and each target word, a number; the confidence of a link is the product of the two, or 1 if
        there are none.
    sure
        The lowest confidence of a sure link.
    """
    from cepts.kernels.onmf import cept_links, count_cept_links

    shape = (cepts.source_offsets, cepts.target_offsets, cepts.source, cepts.target)
    counts = np.empty(len(cepts), dtype=np.int64)
    count_cept_links(shape, counts)
    offsets = offsets_of(counts)
    links = int(offsets[-1])
    source, target = np.empty(links, dtype=np.int32), np.empty(links, dtype=np.int32)
    confidence = np.empty(links, dtype=np.float32)
    if strengths is None:
        strengths = np.ones(len(cepts.source), dtype=np.float32), np.ones(len(cepts.target), dtype=np.float32)
    cept_links(shape, strengths, source, target, confidence)
    return Alignments(offsets, source, target, confidence, confidence >= np.float32(sure), cepts)
