"""Files of sentence pairs with gold links -> a trained phrase aligner in its directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cepts.data import COLUMNS, SentencePair
from cepts.errors import DataError, UsageError, check_choice
from cepts.evaluate import PhraseComparison, score_phrases
from cepts.io import read_sentence_pairs, read_vectors
from cepts.io.files import bare_suffixes
from cepts.names import PHRASE_FAMILIES, PHRASE_MODELS, TWO_FILE_PAIR_FORMATS
from cepts.phrases import PhraseAligner, TokenAligner, synthesise
from cepts.phrases.annotate import shared_columns
from cepts.phrases.relatedness import Relatedness
from cepts.pipeline.paraphrases import read_paraphrases
from cepts.pipeline.phrase_inputs import check_gold, check_input, input_name
from cepts.progress import Progress, Stopwatch
from cepts.store import check_destination

# How semicrf trained: one null state, Hamming cost of states, next to no penalty, and no features of single words.
PAPER: dict[str, Any] = {"memory": False, "cost": "states", "penalty": 0.01, "iterations": 300}
NOT_IN_PAPER = ("lexical",)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignerOptions:
    """The choice of an aligner; what is None has the default of the aligner, or the paper's.

    Attributes
    ----------
    model
        ``phrase`` or ``token``.
    paper
        Train as the paper did (`PAPER`), except for what is given here.
    families, without
        Families of features to use (none given: all), and to leave out.
    language, longest, widest, cost, wrong_cost, missed_cost, penalty, iterations, max_length, threads
        As in `PhraseAligner`.
    """

    model: str = "phrase"
    paper: bool = False
    families: Sequence[str] = ()
    without: Sequence[str] = ()
    language: str | None = "english"
    longest: int | None = None
    widest: int | None = None
    cost: str | None = None
    wrong_cost: float | None = None
    missed_cost: float | None = None
    penalty: float | None = None
    iterations: int | None = None
    max_length: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        check_choice("model", self.model, PHRASE_MODELS)
        if self.model == "token":
            for name in ("longest", "widest"):
                if (getattr(self, name) or 1) > 1:
                    raise UsageError(f"`{name}` goes with `model` phrase; a token aligner has no phrases.")
        if self.cost == "none" and not self.wrong_cost is self.missed_cost is None:
            raise UsageError("`wrong_cost` and `missed_cost` go with a cost, not with `cost` none.")
        both = set(self.without) & set(self.families)
        if both:
            raise UsageError(
                f"`families` {min(both)} and `without` {min(both)} contradict each other; leave one of them out."
            )
        if not self._families():
            raise UsageError("`without` leaves no family of features; leave one in.")

    def aligner(self) -> PhraseAligner:
        """The aligner, untrained."""
        kind = TokenAligner if self.model == "token" else PhraseAligner
        chosen = {name: getattr(self, name, None) for name in kind.parameters() if name not in ("families", "language")}
        given = {name: value for name, value in chosen.items() if value is not None}
        families = self._families()
        return kind(
            **{**(PAPER if self.paper else {}), **given},
            families=None if families == PHRASE_FAMILIES else families,
            language=self.language,
        )

    def _families(self) -> tuple[str, ...]:
        left_out = {*self.without, *(NOT_IN_PAPER if self.paper else ())} - set(self.families)
        return tuple(name for name in self.families or PHRASE_FAMILIES if name not in left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFiles:
    """What a training reads.

    Attributes
    ----------
    pairs
        Files of sentence pairs with gold links; with `gold_links` one file of any kind, or two of text or CoNLL-U.
    gold_links, base
        A file with the gold links of `pairs`, and the number of a sentence's first word in it.
    format
        The format of `pairs`.
    dev
        Sentence pairs with gold links on which the aligner is scored at the end.
    vectors, paraphrases
        Word vectors, and paraphrases (see `read_paraphrases`), in place of the language's.
    """

    pairs: Sequence[str]
    gold_links: str | None = None
    base: int = 0
    format: str = "auto"
    dev: str | None = None
    vectors: str | None = None
    paraphrases: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.gold_links is not None and len(self.pairs) > 2:
            raise UsageError(
                f"`gold_links` goes with one file of pairs, or with two, source and target. Got {len(self.pairs)}."
            )

    def read_pairs(self) -> list[SentencePair]:
        """The pairs to train on."""
        if self.gold_links is None:
            return [pair for path in self.pairs for pair in _gold_pairs(path, self.format)]
        return read_sentence_pairs(*self.pairs, format=self.format, links=self.gold_links, base=self.base)

    def read_dev(self) -> list[SentencePair] | None:
        """The pairs to score the aligner on."""
        return None if self.dev is None else _gold_pairs(self.dev, "auto")

    def read_tables(self, notices: list[str] | None, progress: Progress | None) -> dict[str, Any]:
        """The tables that take the place of the language's."""
        found: dict[str, Any] = {}
        if self.vectors is not None:
            found["relatedness"] = Relatedness.from_vectors(
                read_vectors(self.vectors, notices=notices, progress=progress)
            )
        if self.paraphrases:
            found["paraphrases"] = read_paraphrases(self.paraphrases)
        return found


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainingReport:
    """What `train_phrase_aligner` did.

    Attributes
    ----------
    aligner
        The trained aligner.
    pairs, used
        How many pairs there were, and how many of them were used.
    links, synthesised
        How many sure links were learnt, and how many of them were made inside chunks.
    columns
        The columns that were learnt from, and why others were not.
    dev
        The scores on the pairs of `dev`.
    seconds
        How long everything took.
    """

    aligner: PhraseAligner
    pairs: int
    used: int
    links: int
    synthesised: int
    columns: str
    dev: PhraseComparison | None
    seconds: float

    @property
    def lines(self) -> list[str]:
        """The report for people, without its tables."""
        aligner = self.aligner
        more = f" ({self.synthesised:,} of them synthesised)" if self.synthesised else ""
        lines = [f"trained  on {self.used:,} pairs with {self.links:,} links{more}, in {self.seconds:,.1f} s"]
        if self.used < self.pairs:
            lines.append(
                f"skipped  {self.pairs - self.used:,} pairs with an empty side or a sentence of more than "
                f"{aligner.max_length:,} words"
            )
        if aligner.language is None:
            lines.append(f"columns  {self.columns}")
        return lines


def train_phrase_aligner(
    options: AlignerOptions,
    files: TrainingFiles,
    save: str | Path,
    *,
    synthesise_links: bool = False,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> TrainingReport:
    """Train an aligner on files and keep it in the directory `save`.

    With `synthesise_links`, phrase links are first made of the word links inside chunks (`synthesise`). `notices`
    gets what readers of files notice.
    """
    check_destination(save)
    stopwatch = Stopwatch()
    pairs, dev = files.read_pairs(), files.read_dev()
    aligner = options.aligner()
    columns = shared_columns([pair for pair in pairs if aligner.fits(pair)])
    if synthesise_links and aligner.language is None and "chunk" not in columns:
        raise DataError(
            f"{input_name(files.pairs[0])}: found sentences without chunks, of which phrase links are synthesised; "
            f"give `source_chunk` and `target_chunk` in JSON lines, or Chunk=... in the MISC field of CoNLL-U."
        )
    if dev is not None and files.dev is not None:
        check_input(aligner, columns, dev, files.dev)
    tables = files.read_tables(notices, progress)
    if tables:
        aligner.set_params(lexical=replace(aligner.lexical_, **tables))
    given = _sure_links(pairs)
    if synthesise_links:
        pairs = [synthesise(pair) for pair in aligner.annotator_.annotate(pairs, ["chunk"])]
    aligner.fit(pairs, progress=progress)
    aligner.save(save)
    return TrainingReport(
        aligner=aligner,
        pairs=len(pairs),
        used=sum(aligner.fits(pair) for pair in pairs),
        links=_sure_links(pairs),
        synthesised=_sure_links(pairs) - given,
        columns=_described_columns(columns, pairs),
        dev=None if dev is None else score_phrases(dev, aligner.align(dev, progress=progress)),
        seconds=stopwatch.seconds,
    )


def _gold_pairs(path: str, format_: str) -> list[SentencePair]:
    if format_ in TWO_FILE_PAIR_FORMATS or bare_suffixes(path)[-1:] == [".conllu"]:
        raise DataError(
            f"{input_name(path)}: text and CoNLL-U have no gold links; give them in a file of their own (`gold_links`)."
        )
    pairs = read_sentence_pairs(path, format=format_)
    check_gold(pairs, path)
    return pairs


def _sure_links(pairs: Sequence[SentencePair]) -> int:
    return sum(len(pair.sure or ()) for pair in pairs)


def _described_columns(columns: Sequence[str], pairs: Sequence[SentencePair]) -> str:
    """The columns that were used, and those that were not because a sentence lacks them."""
    partly = []
    for name in COLUMNS:
        lacking = [
            number
            for number, pair in enumerate(pairs, start=1)
            if any(len(side) and getattr(side, name) is None for side in (pair.source, pair.target))
        ]
        if 0 < len(lacking) < len(pairs):
            partly.append(
                f"{name} is left out, because {len(lacking):,} of {len(pairs):,} pairs lack it (first {lacking[0]:,})"
            )
    return "; ".join([", ".join(columns) or "none", *partly])
