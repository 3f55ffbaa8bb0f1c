"""`cepts.align`: the whole way from texts to links in one call."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cepts.data import Alignments, Bitext, Scorer, Text, as_bitext, as_text
from cepts.errors import UsageError
from cepts.extract import Extraction, aligned_runs
from cepts.names import DEFAULT_WORD_MODEL, WORD_MODELS
from cepts.pipeline.inputs import BitextFiles
from cepts.pipeline.models import new_model
from cepts.pipeline.notices import note_tokens
from cepts.progress import Progress
from cepts.words import Aligner


def align(
    source: str | Path | Text | Bitext | Iterable[Any],
    target: str | Path | Text | Iterable[Any] | None = None,
    *,
    model: str | Scorer = DEFAULT_WORD_MODEL,
    combine: str | Extraction = "agreement",
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Alignments:
    """Align the words of sentences and their translations.

    Parameters
    ----------
    source, target
        Two files with one sentence per line, or two lists of sentences, each a string, which is split on white space,
        or a list of tokens. If `target` is None, `source` has both sides: it is a file, a `Bitext` or a list of pairs
        of sentences.
    model
        The name of a word model to train on the text (``ibm1``, ``ibm2``, ``diagonal``, ``hmm``, ``mixed``, ``ibm3``,
        ``ibm4``), or a model with your own options, which is trained if it is not trained yet, or any other scorer.
    combine
        How links are made: a name of `cepts.extract.EXTRACTORS`, or an `Extraction` with your own options.
    notices
        A list to which notes are appended about things that look wrong in the input, such as a text that is not split
        into words.
    progress
        Called after each step.

    Returns
    -------
    Alignments
        The links of each pair, as source and target positions from 0.

    Examples
    --------
    >>> links = align(["the house", "the car"], ["la maison", "la voiture"])
    >>> links[0].links
    [(0, 0), (1, 1)]
    """
    bitext = _read(source, target, notices, progress)
    extraction = Extraction(combine=combine) if isinstance(combine, str) else combine
    scorer: Scorer = new_model(WORD_MODELS, model, {}) if isinstance(model, str) else model
    if isinstance(scorer, Aligner) and not scorer.is_fitted():
        scorer.fit(bitext, progress=progress)
    return Alignments.concatenate([run.links for run in aligned_runs(scorer, bitext, extraction, progress=progress)])


def _read(source: Any, target: Any, notices: list[str] | None, progress: Progress | None) -> Bitext:
    files = [isinstance(side, str | Path) for side in (source, target)]
    if target is not None and files[0] != files[1]:
        raise UsageError(
            "`source` and `target` must both be files or both be lists of sentences; for one pair of sentences use "
            "the method align_pair of a trained model."
        )
    if files[0]:
        return BitextFiles(source=source, target=target).read(notices, progress)
    bitext = as_bitext(source) if target is None else Bitext(as_text(source), as_text(target))
    if notices is not None:
        note_tokens(("the source", "the target"), bitext, notices)
    return bitext
