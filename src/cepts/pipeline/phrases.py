"""Sentence pairs and a trained phrase aligner -> links and segments -> files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np

from cepts import extract, factor
from cepts.data import Alignments, Association, Bitext, Segments, SentencePair
from cepts.errors import UsageError
from cepts.io import AssociationWriter, open_output
from cepts.phrases.aligner import COMBINATIONS, THRESHOLD, Decoded, PhraseAligner
from cepts.phrases.gaps import join_expressions
from cepts.phrases.nbest import Alternative, nbest
from cepts.pipeline.align import Summary, Tally, check_cepts
from cepts.pipeline.nbest import ListSummary
from cepts.progress import Progress, Step, silent
from cepts.words.factored import in_counts

__all__ = ["PHRASE_COMBINATIONS", "AlignedRun", "PairWriter", "align_pairs", "aligned_runs", "list_pairs"]

PHRASE_COMBINATIONS = ("onmf", *COMBINATIONS)
LISTED_AT_A_TIME = 256
# The least probability of links that gather several words about one.
GATHERED = 0.6


class PairWriter(Protocol):
    """What takes successive pairs with their links and segments, such as `cepts.io.SentencePairWriter`."""

    def __enter__(self) -> Any:
        """Open the file."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put it in its place."""

    def write(
        self, pairs: Sequence[SentencePair], links: Alignments | None = None, segments: Segments | None = None
    ) -> None:
        """Write the next pairs."""


class AlignedRun(NamedTuple):
    """Some successive pairs with what was found: `decoded` is what the model says, `matrices` what onmf factorised."""

    pairs: Sequence[SentencePair]
    links: Alignments
    segments: Segments
    decoded: Decoded
    matrices: Association | None


def aligned_runs(
    aligner: PhraseAligner,
    pairs: Sequence[SentencePair],
    *,
    combine: str = "agreement",
    threshold: float = THRESHOLD,
    factoring: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Iterator[AlignedRun]:
    """Align `pairs`, run by run.

    Parameters
    ----------
    combine
        A method of `PhraseAligner.align`, or ``onmf``: both directions' probabilities are factorised into cepts, so
        that phrases may have gaps.
    threshold
        For ``agreement``; and for ``onmf`` how much a word must have in common with its cept to stay in it.
    factoring
        For ``onmf``: options of `cepts.factor.onmf`.
    """
    if combine not in PHRASE_COMBINATIONS:
        raise UsageError(f"combine must be one of {', '.join(PHRASE_COMBINATIONS)}. Got {combine!r} instead.")
    first = 0
    for decoded in aligner.blocks(pairs, progress=progress):
        run = pairs[first : first + len(decoded.forward)]
        if combine == "onmf":
            association = _with_gaps(aligner, decoded)
            matrices = in_counts(association)
            found = factor.onmf(matrices, first=first, threads=aligner.threads, **(factoring or {}))
            links = extract.without_loose_words(found, association, threshold)
            yield AlignedRun(run, links, decoded.segments_of(links), decoded, matrices)
        else:
            yield AlignedRun(run, *decoded.aligned(combine, threshold), decoded, None)
        first += len(run)


def align_pairs(
    aligner: PhraseAligner,
    pairs: Sequence[SentencePair],
    writer: PairWriter,
    *,
    combine: str = "agreement",
    threshold: float = THRESHOLD,
    factoring: dict[str, Any] | None = None,
    scores: str | Path | None = None,
    matrices: str | Path | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Align `pairs` with a trained aligner and write what is found as it is found.

    Parameters
    ----------
    aligner, pairs, combine, threshold, factoring
        As in `aligned_runs`.
    writer
        Takes the pairs with their links and segments; is entered and left here.
    scores
        A file for the normalised decoding scores of each pair (semicrf, section 5): forward, a tab, reverse.
    matrices
        For ``onmf``: a file for the association matrices that were factorised, with the words, for `cepts factor`.
    """
    bitext = Bitext.from_tokens([(pair.source.tokens, pair.target.tokens) for pair in pairs])
    if combine == "onmf":
        check_cepts((factoring or {}).get("cepts"), bitext, aligner.max_length)
    tally = Tally(bitext, cepts=combine == "onmf")
    runs = aligned_runs(aligner, pairs, combine=combine, threshold=threshold, factoring=factoring, progress=progress)
    # Files are put in their places together at the end, so that a failure leaves none of them.
    with ExitStack() as files:
        files.enter_context(writer)
        scored = None if scores is None else files.enter_context(open_output(scores))
        kept = None if matrices is None else files.enter_context(AssociationWriter(matrices))
        for run in runs:
            writer.write(run.pairs, run.links, run.segments)
            if scored is not None:
                _write_scores(scored, run.decoded)
            if kept is not None and run.matrices is not None:
                kept.write(run.matrices, bitext.part(tally.pairs, tally.pairs + len(run.pairs)))
            tally.add(run.links)
    return tally.summary(too_long=_too_long(aligner, pairs))


def list_pairs(
    aligner: PhraseAligner,
    pairs: Sequence[SentencePair],
    output: str | Path,
    *,
    count: int,
    direction: str = "both",
    progress: Progress | None = None,
) -> ListSummary:
    """Write the `count` best segmentations of each pair as JSON lines: of one `direction`, or of both."""
    started = time.perf_counter()
    report = progress or silent
    wanted = [name for name in ("forward", "reverse") if direction in {name, "both"}]
    found = {"forward": 0, "reverse": 0}
    with open_output(output) as file:
        for start in range(0, len(pairs), LISTED_AT_A_TIME):
            run = pairs[start : start + LISTED_AT_A_TIME]
            lists = dict(zip(("forward", "reverse"), nbest(aligner, run, count), strict=True))
            report(Step(stage="listing", done=start + len(run), total=len(pairs)))
            for number, pair in enumerate(run):
                record: dict[str, object] = {"id": pair.id} if pair.id else {}
                record |= {"source": pair.source.tokens, "target": pair.target.tokens}
                for name in wanted:
                    record[name] = [_alternative(one) for one in lists[name][number]]
                    found[name] += len(lists[name][number])
                file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")
    return ListSummary(
        pairs=len(pairs),
        source_words=sum(len(pair.source) for pair in pairs),
        target_words=sum(len(pair.target) for pair in pairs),
        **found,
        empty=sum(not len(pair.source) or not len(pair.target) for pair in pairs),
        too_long=_too_long(aligner, pairs),
        seconds=time.perf_counter() - started,
    )


def _alternative(one: Alternative) -> dict[str, object]:
    return {
        "score": round(one.score, 6),
        "log_probability": round(one.log_probability, 6),
        "segments": [[source, target, round(confidence, 4)] for source, target, confidence in one.segments],
    }


def _too_long(aligner: PhraseAligner, pairs: Sequence[SentencePair]) -> int:
    return sum(max(len(pair.source), len(pair.target)) > aligner.max_length for pair in pairs)


def _with_gaps(aligner: PhraseAligner, decoded: Decoded) -> Association:
    """What cepts are made of: the probabilities of both directions, and verbs joined with particles apart from them."""
    association = _gathered(decoded)
    if aligner.lexical.wordnet is None:
        return association
    return join_expressions(association, decoded.pairs, aligner.inventory_, aligner.lexical.wordnet)


def _gathered(decoded: Decoded) -> Association:
    """The geometric means of both directions' probabilities; but several words that one direction links with one word
    of the other side, each with at least `GATHERED`, keep its probabilities.

    Only the direction that runs along those words can link them all, so that agreement would lose them, and the gaps
    between them. A word that is merely said twice gathers nothing.
    """
    forward, reverse = decoded.forward, decoded.reverse
    agreed = extract.agreement(forward, reverse)
    for n, pair in enumerate(decoded.pairs):
        matrix = agreed[n]
        for one, found, words in (
            (matrix, reverse[n], pair.source.lemma or pair.source.tokens),
            (matrix.T, forward[n].T, pair.target.lemma or pair.target.tokens),
        ):
            likely = found >= GATHERED
            for word in np.flatnonzero(likely.sum(axis=0) > 1):
                places = np.flatnonzero(likely[:, word])
                if len({words[place].lower() for place in places}) == len(places):
                    one[places, word] = np.maximum(one[places, word], found[places, word])
    return agreed


def _write_scores(file: BinaryIO, decoded: Decoded) -> None:
    ways = (path.normalised_scores.tolist() for path in (decoded.forward_path, decoded.reverse_path))
    file.write("".join(f"{ahead:.6f}\t{back:.6f}\n" for ahead, back in zip(*ways, strict=True)).encode())
