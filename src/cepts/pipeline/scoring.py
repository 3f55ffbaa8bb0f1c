"""Scoring files of links, of words or of paraphrases, against gold links."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from cepts.data import Alignments
from cepts.errors import DataError, UsageError, check_choice
from cepts.evaluate import (
    Comparison,
    Difference,
    Interval,
    PhraseComparison,
    Resampled,
    compare,
    resample,
    score_phrases,
)
from cepts.extract import closure as transitive_closure
from cepts.io import read_predicted_links, read_sentence_pairs, swap_sides
from cepts.names import NULL_TIERS, PHRASE_LINKS
from cepts.pipeline.inputs import LinkFile, Sides, check_gold
from cepts.pipeline.reports import (
    RANGE,
    Report,
    Table,
    bounds,
    compared,
    counted,
    filled,
    gap_cells,
    percent,
    percent_range,
    short_names,
)
from cepts.signature import signature

Result = TypeVar("Result", Comparison, PhraseComparison)

MEASURES = {
    "aer": "AER",
    "sure_precision": "precision on sure",
    "sure_recall": "recall on sure",
    "sure_f1": "F1 on sure",
    "possible_precision": "precision on possible",
    "possible_recall": "recall on possible",
    "possible_f1": "F1 on possible",
}
SHORT_MEASURES = ("AER", "P sure", "R sure", "F1 sure", "P possible", "R possible", "F1 possible")
PARTS = {
    "all": "all links",
    "identical": "identical words",
    "other": "other words",
    "token": "1x1 rectangles",
    "phrase": "larger rectangles",
}


class SystemScores(NamedTuple, Generic[Result]):
    """The scores of each system, their intervals, how each further system differs from the first, and remarks."""

    comparisons: list[Result]
    resampled: Resampled
    notes: tuple[str, ...] = ()

    @property
    def ranges(self) -> list[dict[str, Interval]]:
        """The intervals of the scores of each system; empty without samples."""
        return self.resampled.intervals or [{} for _ in self.comparisons]

    @property
    def gaps(self) -> list[dict[str, Difference]]:
        """How each system differs from the first; empty for the first itself and without samples."""
        return [{}, *(self.resampled.differences or [{} for _ in self.comparisons[1:]])]

    @property
    def signature(self) -> str:
        """One line that says what was compared and how."""
        return signature({**self.comparisons[0].facts, **self.resampled.facts})


def score_links(
    gold: LinkFile,
    systems: Sequence[LinkFile],
    *,
    sides: Sides | None = None,
    sentences: int | None = None,
    reverse_gold: bool = False,
    null: str = "no",
    closure: bool = False,
    bootstrap: int = 1000,
    seed: int = 0,
) -> SystemScores[Comparison]:
    """Score the links of systems against gold links of the same sentence pairs.

    Parameters
    ----------
    gold
        The gold links.
    systems
        The links to score.
    sides
        The sentences, for the shares of covered words and for `null`.
    sentences
        The number of sentence pairs, which NAACL files do not contain.
    reverse_gold
        Whether the gold file has target-source links.
    null
        How links to null are scored, as in `cepts.evaluate.compare`.
    closure
        Score against the transitive closure of the gold links, see `cepts.extract.closure`.
    bootstrap, seed
        Number of samples for intervals and for the comparison with the first system, and their seed; with 0 samples,
        neither is computed.
    """
    check_choice("null", null, NULL_TIERS)
    sides = sides or Sides()
    if null != "no" and (sides.source_lengths is None or sides.target_lengths is None):
        raise UsageError(f"`null` {null} needs the sentences of both sides; give `source` and `target`, or `bitext`.")
    if sentences is not None and sides.pairs not in (None, sentences):
        raise UsageError(f"`sentences` is {sentences:,} but the sentence files have {sides.pairs:,} lines.")
    found, judged = _read_all(gold, systems, sides, sentences, reverse_gold)
    if null == "gold" and found.nulls is None:
        raise UsageError(
            f"`null` gold takes links to null from the gold file, but {gold.path} has none; choose possible or sure, "
            "which link gold words without links to null, or no."
        )
    facts = {"closure": "yes"} if closure else {}
    if closure:
        found = transitive_closure(found)
    results = [
        compare(
            found,
            links,
            source_lengths=sides.source_lengths,
            target_lengths=sides.target_lengths,
            null=null,
            facts={**facts, "gold-base": gold.base, "base": system.base},
        )
        for system, links in zip(systems, judged, strict=True)
    ]
    notes = []
    if null == "no" and found.nulls is not None:
        links = counted(len(found.nulls.position), "link")
        notes.append(f"note     {gold.path} has {links} to null, not scored here; --null gold scores them.")
    return SystemScores(results, resample(results, samples=bootstrap, seed=seed), tuple(notes))


def _read_all(
    gold: LinkFile, systems: Sequence[LinkFile], sides: Sides, sentences: int | None, reverse_gold: bool
) -> tuple[Alignments, list[Alignments]]:
    """The gold links and the links of the systems, for the same number of sentence pairs.

    NAACL files do not say how many pairs there are, so the links may end before the gold links do. If the gold links
    end first, they are taken to cover only a part of the sentences, unless `sentences` says otherwise.
    """
    found = gold.read(sentences=sentences)
    pairs = sides.pairs or sentences
    judged = []
    for system in systems:
        links = system.read(sides, sentences=pairs)
        if len(links) < len(found) and pairs is None and system.can_reread:
            links = _reread(system, len(links), gold, len(found))
        if len(links) != len(found):
            raise _unequal(gold, len(found), system, len(links))
        judged.append(links)
    if sides.pairs is not None and gold.can_reread:
        # Read again, now that the numbers of pairs agree, so that messages about links out of range name file and line.
        found = gold.read(sides, target_source=reverse_gold)
    return swap_sides(found) if reverse_gold else found, judged


def _reread(system: LinkFile, pairs: int, gold: LinkFile, wanted: int) -> Alignments:
    try:
        return system.read(sentences=wanted)
    except DataError:
        raise _unequal(gold, wanted, system, pairs) from None


def _unequal(gold: LinkFile, gold_pairs: int, system: LinkFile, pairs: int) -> DataError:
    if gold_pairs > pairs:
        remedy = "the gold file has more pairs; give links for all of them."
    else:
        remedy = (
            f"give links for the pairs of the gold file only, or `sentences={pairs}` if the other pairs have no gold "
            "links."
        )
    return DataError(
        f"{gold.path} has gold links for {gold_pairs:,} sentence pairs but {system.path} has {pairs:,}; {remedy}"
    )


def report_links(names: Sequence[str], found: SystemScores[Comparison], *, per_sentence: bool = False) -> Report:
    """The scores of link files with these names; with `per_sentence`, also those of each sentence pair."""
    short, results = short_names(names), found.comparisons
    scores, gaps = [result.scores for result in results], found.gaps[-1]
    columns = ["", *chain.from_iterable((name, RANGE) for name in short), "difference", RANGE, "p"]
    rows: list[list[object]] = [
        [
            f"{title}, %",
            *chain.from_iterable(
                (percent(getattr(score, metric)), percent_range(ranges.get(metric)))
                for score, ranges in zip(scores, found.ranges, strict=True)
            ),
            *gap_cells(gaps.get(metric)),
        ]
        for metric, title in MEASURES.items()
    ]
    others = {"links": [f"{score.links:,}" for score in scores]}
    for side in ("source", "target"):
        if getattr(scores[0], f"{side}_words") is not None:
            others[f"{side} words covered"] = [f"{getattr(score, f'{side}_covered'):,}" for score in scores]
            others[f"{side} words covered, %"] = [f"{percent(getattr(score, f'{side}_coverage'))}" for score in scores]
    rows += [
        [title, *chain.from_iterable((cell, None) for cell in cells), *[None] * 3] for title, cells in others.items()
    ]
    first = scores[0]
    about = f"{first.sentences:,} sentence pairs, {first.sure:,} sure and {first.possible - first.sure:,} only possible"
    systems = [
        {
            "links_file": name,
            **result.scores.as_dict(),
            **filled(intervals=bounds(ranges)),
            **({"per_sentence": [one.as_dict() for one in result.per_sentence()]} if per_sentence else {}),
        }
        for name, result, ranges in zip(names, results, found.ranges, strict=True)
    ]
    shown: list[str | Table] = [_sentence_table(short, results), ""] if per_sentence else []
    shown += [f"{about} gold links", Table(columns, rows)]
    values = {"systems": systems, **filled(differences=compared(gaps)), "signature": found.signature}
    return Report(values=values, shown=shown, said=found.notes, signature=found.signature)


def _sentence_table(names: Sequence[str], results: Sequence[Comparison]) -> Table:
    """A row for each sentence pair, with all measures of one system, or the links and AER of two."""
    numbered = enumerate(zip(*(result.per_sentence() for result in results), strict=True), start=1)
    columns = ["pair", "sure", "possible"]
    if len(results) == 1:
        return Table(
            [*columns, "links", *SHORT_MEASURES],
            [
                [n, one.sure, one.possible, one.links, *(percent(getattr(one, metric)) for metric in MEASURES)]
                for n, (one,) in numbered
            ],
            left=0,
        )
    columns += [f"{what}, {name}" for name in names for what in ("links", "AER")]
    rows = [
        [
            n,
            one.sure,
            one.possible,
            *(one.links, percent(one.aer), other.links, percent(other.aer)),
            percent(other.aer - one.aer, "+"),
        ]
        for n, (one, other) in numbered
    ]
    return Table([*columns, "difference"], rows, left=0)


def score_phrase_files(
    gold: str,
    systems: Sequence[str],
    *,
    gold_format: str = "auto",
    gold_links: str | None = None,
    format: str = "auto",
    base: int = 0,
    links: str = "words",
    protocol: Any = "macro",
    possible: bool = False,
    samples: int = 0,
    seed: int = 0,
) -> SystemScores[PhraseComparison]:
    """Score the links of paraphrases against gold links of the same sentence pairs.

    Parameters
    ----------
    gold, gold_format, gold_links
        A file of sentence pairs with gold links, its format, and a file of links if the pairs have none.
    systems, format
        Files of links, and their format.
    base
        The number of a sentence's first word in Pharaoh files.
    links
        ``words`` judges the links of `systems`; ``phrases`` all links between the words of their phrases.
    protocol, possible
        As in `cepts.evaluate.score_phrases`.
    samples, seed
        As `bootstrap` and `seed` in `score_links`.
    """
    pairs = read_sentence_pairs(gold, format=gold_format, links=gold_links, base=base)
    check_gold(pairs, gold)
    check_choice("links", links, PHRASE_LINKS)
    whole = links == "phrases"
    found = [read_predicted_links(path, pairs, format=format, base=base, phrases=whole) for path in systems]
    facts = {"links": links} if whole else {}
    results = [score_phrases(pairs, judged, protocol=protocol, possible=possible, facts=facts) for judged in found]
    return SystemScores(results, resample(results, samples=samples, seed=seed))


def report_phrases(names: Sequence[str], found: SystemScores[PhraseComparison]) -> Report:
    """The scores of files of paraphrase links with these names."""
    short, first = short_names(names), found.comparisons[0]
    every = list(zip(names, short, found.comparisons, found.ranges, found.gaps, strict=True))
    rows = [
        [
            name if part == "all" else "",
            PARTS[part],
            *map(percent, (scores.precision, scores.recall, scores.f1)),
            percent_range(ranges.get(_f1_of(part))),
            percent(result.exact) if part == "all" else None,
            percent_range(ranges.get("exact")) if part == "all" else None,
            f"{scores.predicted:,}",
            f"{scores.gold:,}",
        ]
        for _, name, result, ranges, _ in every
        for part, scores in result.parts.items()
    ]
    columns = ["", "", "P, %", "R, %", "F1, %", RANGE, "exact, %", RANGE, "predicted", "gold"]
    titles = {"exact": "exact match", **{_f1_of(part): f"F1, {title}" for part, title in PARTS.items()}}
    tables = [
        Table(
            [f"{name} minus {short[0]}", "difference, %", RANGE, "p"],
            [[title, *gap_cells(gaps[metric])] for metric, title in titles.items() if metric in gaps],
        )
        for _, name, _, _, gaps in every
        if gaps
    ]
    systems = [
        {"file": name, **result.as_dict(), **filled(intervals=bounds(ranges), minus_first=compared(gaps))}
        for name, _, result, ranges, gaps in every
    ]
    shown: list[str | Table] = [
        f"{len(first.exact_pairs):,} sentence pairs, {first.parts['all'].gold:,} gold links",
        Table(columns, rows, left=2),
    ]
    for table in tables:
        shown += ["", table]
    values = {"systems": systems, "signature": found.signature}
    return Report(values=values, shown=shown, signature=found.signature)


def _f1_of(part: str) -> str:
    return f"{part}_f1".removeprefix("all_")
