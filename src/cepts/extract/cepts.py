"""Alignments through cepts, made firmer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepts.data import Alignments, Association


def without_loose_words(alignments: Alignments, association: Association, least: float) -> Alignments:
    """The alignments without words that have little in common with their cepts.

    A factorisation gives every word the cept that it fits best, however badly. Here a word leaves its cept for null
    where its association with all words of the cept's other side together is less than `least`; and so do words whose
    partners have all left.

    Parameters
    ----------
    alignments
        Links that were made from cepts, which they have.
    association
        What was factorised, as probabilities.
    """
    cepts = alignments.cepts
    if cepts is None:
        raise ValueError("alignments must have cepts.")
    pair = np.repeat(np.arange(len(alignments)), np.diff(alignments.offsets))
    source = cepts.source_offsets[pair] + alignments.source
    target = cepts.target_offsets[pair] + alignments.target
    cell = association.offsets[pair] + alignments.source * association.target_lengths[pair] + alignments.target
    values = association.values[cell].astype(np.float64)
    firm = [
        np.bincount(words, values, minlength=count) >= least
        for words, count in ((source, len(cepts.source)), (target, len(cepts.target)))
    ]
    kept = firm[0][source] & firm[1][target]
    linked = [np.zeros(len(side), dtype=np.bool_) for side in firm]
    linked[0][source[kept]] = True
    linked[1][target[kept]] = True
    return replace(
        alignments.only(kept),
        cepts=replace(
            cepts,
            source=np.where(linked[0], cepts.source, np.int32(-1)),
            target=np.where(linked[1], cepts.target, np.int32(-1)),
        ),
    )
