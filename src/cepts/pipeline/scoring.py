"""Link files against gold links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from cepts.data import Alignments
from cepts.errors import DataError, UsageError
from cepts.evaluate import Comparison, PhraseComparison, Resampled, compare, resample
from cepts.io import swap_sides
from cepts.pipeline.link_files import LinkFile, Sides
from cepts.signature import signature

Result = TypeVar("Result", Comparison, PhraseComparison)


class SystemScores(NamedTuple, Generic[Result]):
    """The scores of each system; intervals of each, and how each further system differs from the first."""

    comparisons: list[Result]
    resampled: Resampled

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
    null: bool = False,
    bootstrap: int = 1000,
    seed: int = 0,
) -> SystemScores[Comparison]:
    """Score the links of systems against gold links of the same sentence pairs.

    Parameters
    ----------
    gold
        The reference.
    systems
        The links to judge.
    sides
        The sentences, for the shares of covered words and for `null`.
    sentences
        How many sentence pairs there are, which NAACL files do not say.
    reverse_gold
        The gold has target-source links.
    null
        Count a word without links as linked to null.
    bootstrap, seed
        Samples for intervals and for the comparison with the first system, and their seed; 0 samples make neither.
    """
    sides = sides or Sides()
    if null and (sides.source_lengths is None or sides.target_lengths is None):
        raise UsageError("`null` needs the sentences of both sides; give `source` and `target`, or `bitext`.")
    if sentences is not None and sides.pairs not in (None, sentences):
        raise UsageError(f"`sentences` is {sentences:,} but the sentence files have {sides.pairs:,} lines.")
    found, judged = _read_all(gold, systems, sides, sentences, reverse_gold)
    results = [
        compare(
            found,
            links,
            source_lengths=sides.source_lengths,
            target_lengths=sides.target_lengths,
            null=null,
            facts={"gold-base": gold.base, "base": system.base},
        )
        for system, links in zip(systems, judged, strict=True)
    ]
    return SystemScores(results, resample(results, samples=bootstrap, seed=seed))


def _read_all(
    gold: LinkFile, systems: Sequence[LinkFile], sides: Sides, sentences: int | None, reverse_gold: bool
) -> tuple[Alignments, list[Alignments]]:
    """The gold and the systems' links, of the same number of sentence pairs.

    NAACL files do not say how many pairs there are. Links may therefore end before the gold does. A gold that ends
    before the links is taken for the gold of only a part of the sentences, unless `sentences` says otherwise.
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
        # Read again now that the numbers of pairs agree: links out of range are named by file and line.
        found = gold.read(sides, target_source=reverse_gold)
    return swap_sides(found) if reverse_gold else found, judged


def _reread(system: LinkFile, pairs: int, gold: LinkFile, wanted: int) -> Alignments:
    try:
        return system.read(sentences=wanted)
    except DataError:
        raise _unequal(gold, wanted, system, pairs) from None


def _unequal(gold: LinkFile, gold_pairs: int, system: LinkFile, pairs: int) -> DataError:
    if gold_pairs > pairs:
        remedy = "there is gold for sentences that do not exist; give the links of all of the gold's pairs."
    else:
        remedy = f"give the links of the gold's pairs only, or `sentences={pairs}` if the gold has no more links."
    return DataError(
        f"{gold.path} has gold links of {gold_pairs:,} sentence pairs but {system.path} has {pairs:,}; {remedy}"
    )
