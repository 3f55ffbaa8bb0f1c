"""Alignment through cepts: association matrices of a trained aligner, factorised by `cepts.factor`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts import factor
from cepts.data import Alignments, Association, Bitext, Text
from cepts.factor.spread import Pulls
from cepts.progress import Progress, Step, of_part
from cepts.words.aligner import PAIRS_AT_A_TIME, Aligner
from cepts.words.association import NBEST, associate, scale_to_words
from cepts.words.cooccurrence import STATISTICS
from cepts.words.index import Pairs
from cepts.words.lexicon import Tokens

__all__ = ["Factoring", "align_by_cepts", "associations", "in_counts"]

# What a link that is certain weighs: two lists of 100 alignments, as in section 5 of onmf.
EVIDENCE = 200.0
LONG = 160
# Set on the trial sentences of the Hansards (benchmarks/onmf.py), and on nothing else.
SPREAD = 0.75
SPREAD_LISTS = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Factoring:
    """How matrices are made and factorised.

    Attributes
    ----------
    association
        Which matrix: a name of `cepts.words.ASSOCIATIONS`.
    nbest
        Length of the lists, for the matrices that are counts of N-best lists.
    spread
        Share of null's mass that goes to neighbours, from 0 to below 1; see `cepts.factor.spread`. None is the
        matrix' own default.
    cepts, noise, sure, restarts, seed
        As in `cepts.factor.onmf`.
    """

    association: str = "agreement"
    nbest: int = NBEST
    spread: float | None = None
    cepts: factor.Selection | int = "anneal"
    noise: bool = True
    sure: float = factor.SURE
    restarts: int = 10
    seed: int = 0


def associations(
    aligner: Aligner, bitext: Bitext, factoring: Factoring | None = None, *, progress: Progress | None = None
) -> Iterator[Association]:
    """The matrices that `align_by_cepts` factorises, in counts, run by run."""
    aligner.check_fitted()
    options = Factoring() if factoring is None else factoring
    name = options.association
    strength = options.spread
    if strength is None:
        strength = SPREAD_LISTS if name.startswith("nbest") else SPREAD
    competing = name in STATISTICS
    pulls: tuple[Pulls, Pulls] | None = None
    if strength and not competing:
        tokens = aligner._tokens(bitext)
        pulls = _pulls(aligner, tokens)
    first = 0
    for made in associate(aligner, bitext, name, nbest=options.nbest, competing=competing, progress=progress):
        association = in_counts(made, name, options.nbest)
        if pulls is not None:
            stop = first + len(made)
            source = slice(*tokens.pairs.source_offsets[[first, stop]])
            target = slice(*tokens.pairs.target_offsets[[first, stop]])
            association = factor.spread(
                association,
                (pulls[0][0][source], pulls[0][1][source]),
                (pulls[1][0][target], pulls[1][1][target]),
                strength,
            )
        yield association
        first += len(made)


def align_by_cepts(
    aligner: Aligner, bitext: Bitext, factoring: Factoring | None = None, *, progress: Progress | None = None
) -> Iterator[Alignments]:
    """Proper alignments of all pairs of `bitext`, run by run, with their cepts.

    Pairs that are empty on a side or too long have no links, and no words in their cepts.
    """
    options = Factoring() if factoring is None else factoring
    distinct, places = _distinct(bitext)
    if places is None:
        yield from _factorised(aligner, bitext, options, progress)
        return
    found = Alignments.concatenate(list(_factorised(aligner, distinct, options, progress)))
    for start in range(0, len(places), PAIRS_AT_A_TIME):
        yield found.take(places[start : start + PAIRS_AT_A_TIME])


def _factorised(
    aligner: Aligner, bitext: Bitext, options: Factoring, progress: Progress | None
) -> Iterator[Alignments]:
    done = 0
    if progress is not None:  # since the first matrices may take a while
        progress(Step(stage="factorising", done=0, total=len(bitext)))
    for association in associations(aligner, bitext, options):
        found = factor.onmf(
            association,
            cepts=options.cepts,
            noise=options.noise,
            sure=options.sure,
            restarts=options.restarts,
            seed=options.seed,
            first=done,
            threads=aligner.threads,
            progress=of_part(progress, done, len(bitext)),
        )
        done += len(found)
        yield found


def in_counts(association: Association, name: str = "agreement", nbest: int = NBEST) -> Association:
    """The matrix on the scale on which a certain link weighs `EVIDENCE`, or more in long pairs.

    AIC and BIC charge a cept for each word of both sides, so that the longer the sentences, the more words a cept must
    have to be worth it. Beyond `LONG` words, the evidence grows with the price.
    """
    words = association.source_lengths + association.target_lengths
    weights = np.maximum(words / LONG, 1.0)
    if name == "tables" or name in STATISTICS:
        return scale_to_words(association).scaled(EVIDENCE * weights)
    return association.scaled((EVIDENCE / (2 * nbest) if name.startswith("nbest") else EVIDENCE) * weights)


def _pulls(aligner: Aligner, tokens: Tokens) -> tuple[Pulls, Pulls]:
    """The pulls of the neighbours of every token."""
    pairs = tokens.pairs
    source, target = aligner.cohesion()
    return (
        source.pulls(tokens.source_known[pairs.source_ids], pairs.source_offsets),
        target.pulls(tokens.target_known[pairs.target_ids], pairs.target_offsets),
    )


def _distinct(bitext: Bitext) -> tuple[Bitext, NDArray[np.int64] | None]:
    """The pairs without their repetitions, and the place of every pair among them; None where few repeat."""
    source, target = bitext.source, bitext.target
    pairs, _, places = Pairs(source.ids, source.offsets, target.ids, target.offsets).distinct()
    if len(pairs) > 0.95 * len(bitext):
        return bitext, None
    return (
        Bitext(
            Text(pairs.source_ids, pairs.source_offsets, source.vocabulary),
            Text(pairs.target_ids, pairs.target_offsets, target.vocabulary),
        ),
        places,
    )
