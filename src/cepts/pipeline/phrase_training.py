"""Files of sentence pairs with gold links -> a trained phrase aligner in its directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cepts.data import COLUMNS, SentencePair
from cepts.errors import DataError, UsageError
from cepts.evaluate import PhraseComparison, score_phrases
from cepts.io import read_sentence_pairs, read_vectors
from cepts.io.files import check_stdin, last_suffix, name_of
from cepts.names import DIRECTIONS, PHRASE_FAMILIES, PHRASE_MODELS, TWO_FILE_PAIR_FORMATS
from cepts.phrases import PhraseAligner, synthesise
from cepts.phrases.annotate import shared_columns
from cepts.phrases.relatedness import Relatedness
from cepts.pipeline.inputs import check_gold, check_input
from cepts.pipeline.models import new_model
from cepts.pipeline.paraphrases import read_paraphrases
from cepts.pipeline.reports import Report, Table, percent
from cepts.progress import Progress, Stopwatch
from cepts.store import check_destination

# How semicrf trained: phrases of up to three words, scored as wholes, one null state with spans, Hamming cost of
# states, next to no penalty; no features of single words, and no bonus for anchors.
PAPER: dict[str, Any] = {
    "longest": 3,
    "widest": 3,
    "links": "phrases",
    "memory": False,
    "by_words": False,
    "null_spans": True,
    "upweight": True,
    "cost": "states",
    "penalty": 0.01,
    "iterations": 300,
    "anchoring": 0.0,
}
OF_PHRASES = ("longest", "widest")
NOT_IN_PAPER = ("lexical",)


def new_phrase_aligner(
    model: str, parameters: Mapping[str, Any], *, paper: bool = False, without: Sequence[str] = ()
) -> PhraseAligner:
    """An aligner that is not trained yet.

    Parameters
    ----------
    model
        ``phrase`` or ``token``.
    parameters
        Of the aligner, as in `PhraseAligner`; no `families` are all of them.
    paper
        Train as the paper did (`PAPER`), except for what `parameters` say.
    without
        Families of features to leave out.
    """
    wanted = tuple(parameters.get("families") or ())
    both = set(without) & set(wanted)
    if both:
        raise UsageError(
            f"`families` {min(both)} and `without` {min(both)} contradict each other; leave one of them out."
        )
    left_out = {*without, *(NOT_IN_PAPER if paper else ())} - set(wanted)
    families = tuple(name for name in wanted or PHRASE_FAMILIES if name not in left_out)
    if not families:
        raise UsageError("`without` leaves no family of features; leave one in.")
    if parameters.get("cost") == "none" and {"wrong_cost", "missed_cost"} & set(parameters):
        raise UsageError("`wrong_cost` and `missed_cost` go with a cost, not with `cost` none.")
    settings = {name: value for name, value in PAPER.items() if paper and (model == "phrase" or name not in OF_PHRASES)}
    chosen = {**settings, **parameters, "families": None if families == PHRASE_FAMILIES else families}
    aligner: PhraseAligner = new_model(PHRASE_MODELS, model, chosen)
    return aligner


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


def train_phrase_aligner(
    aligner: PhraseAligner,
    files: TrainingFiles,
    save: str | Path,
    *,
    synthesise_links: bool = False,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Train an aligner on files and keep it in the directory `save`.

    With `synthesise_links`, phrase links are first made of the word links inside chunks (`synthesise`). `notices`
    gets what readers of files notice.
    """
    check_destination(save)
    check_stdin(*files.pairs, files.gold_links, files.dev)
    stopwatch = Stopwatch()
    pairs, dev = files.read_pairs(), files.read_dev()
    columns = shared_columns([pair for pair in pairs if aligner.fits(pair)])
    if synthesise_links and aligner.language is None and "chunk" not in columns:
        raise DataError(
            f"{name_of(files.pairs[0])}: found sentences without chunks, from which phrase links are made; "
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
    scores = None if dev is None else score_phrases(dev, aligner.align(dev, progress=progress))
    return _report(aligner, pairs, _sure_links(pairs) - given, columns, scores, stopwatch.seconds)


def _report(
    aligner: PhraseAligner,
    pairs: Sequence[SentencePair],
    synthesised: int,
    columns: Sequence[str],
    dev: PhraseComparison | None,
    seconds: float,
) -> Report:
    used, links = sum(aligner.fits(pair) for pair in pairs), _sure_links(pairs)
    more = f" ({synthesised:,} of them synthesised)" if synthesised else ""
    said = [f"trained  on {used:,} pairs with {links:,} links{more}, in {seconds:,.1f} s"]
    if used < len(pairs):
        long = f"a sentence of more than {aligner.max_length:,} words"
        said.append(f"skipped  {len(pairs) - used:,} pairs with an empty side or {long}")
    if aligner.language is None:
        said.append(f"columns  {_described_columns(columns, pairs)}")
    capped = [name for name, stopped in zip(DIRECTIONS, aligner.capped_, strict=True) if stopped]
    if capped:
        said.append(
            f"stopped  {' and '.join(capped)} at the most iterations, {aligner.iterations:,}, before the objective "
            f"settled; `iterations` allows more"
        )
    directions = [
        {"iterations": len(objectives), "objective": objectives[-1] if objectives else None, "weights": len(weights)}
        for objectives, weights in zip(aligner.objectives_, aligner.weights_, strict=True)
    ]
    rows = [
        (
            name,
            *(
                "" if value is None else f"{value:,.2f}" if key == "objective" else f"{value:,}"
                for key, value in found.items()
            ),
        )
        for name, found in zip(DIRECTIONS, directions, strict=True)
    ]
    shown: list[str | Table] = [Table(("direction", "iterations", "objective", "weights"), rows)]
    if dev is not None:
        scores = map(percent, (dev.precision, dev.recall, dev.f1, dev.exact))
        shown += ["", Table(("", "P, %", "R, %", "F1, %", "exact, %"), [("dev", *scores)])]
    values: dict[str, Any] = {"pairs": len(pairs), "used": used, "links": links, "synthesised": synthesised}
    values |= dict(zip(DIRECTIONS, directions, strict=True)) | {"capped": capped}
    return Report(values={**values, **({} if dev is None else {"dev": dev.as_dict()})}, shown=shown, said=said)


def _gold_pairs(path: str, format_: str) -> list[SentencePair]:
    if format_ in TWO_FILE_PAIR_FORMATS or last_suffix(path) == ".conllu":
        raise DataError(
            f"{name_of(path)}: text and CoNLL-U have no gold links; give them in a separate file (`gold_links`)."
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
                f"{name} is not used, because {len(lacking):,} of {len(pairs):,} pairs lack it (first {lacking[0]:,})"
            )
    return "; ".join([", ".join(columns) or "none", *partly])
