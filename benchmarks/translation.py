"""Does alignment through cepts help phrase-based translation? Phrase tables from each extractor, beside each other.

The question is that of Goutte, Yamada and Gaussier (2004), sections 2 and 8. One model aligns the training text; every
extractor makes links from it, and phrase pairs are read off the links. The tables are compared by their size, by how
much of held-out pairs they can derive in the same order (`cepts.extract.derive`), and by the translations of Thot's
phrase-based decoder, which gets the same language model and the same word models with each table. Weights of the
decoder are tuned on development pairs for each table alike. `paper_onmf.py` has this table.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hansards
import peers
import report
from cepts.data import Alignments, Bitext
from cepts.extract import METHODS, PhraseNumbers, PhraseTable, derive, phrase_pairs, phrase_table
from cepts.factor import Factoring
from cepts.words import HMM
from paper_run import PaperRun
from report import Table

LONGEST = 5
# Translations of one source phrase that the decoder gets.
MOST = 20
# Every so many of the shared task's training pairs is held out, if it is neither very short nor very long.
STRIDE = 25
SHORTEST, LONGEST_SENTENCE = 5, 25
DEVELOPMENT, TEST = 150, 400
BASE = "grow-diag-final-and"
FALLBACK = -10.0  # log-probability of a word that no phrase pair explains
COLUMNS = (
    "extractor",
    "links, M",
    "phrase pairs, M",
    "words derived, %",
    "pairs derived, %",
    "words per phrase",
    "perplexity",
    "dev BLEU",
    "BLEU",
    "chrF",
    "p-value",
)


@dataclass(frozen=True, slots=True)
class TranslationText:
    """A training text, and development and test pairs that are no part of it.

    `whole` has the pairs of all three, in this order; they share its vocabularies.
    """

    whole: Bitext
    train: Bitext
    dev: Bitext
    test: Bitext


def read_text(data: Path, name: str, work: Path, *, quick: bool = False) -> TranslationText:
    """Lower-cased Hansards without the pairs that are held out."""
    text = hansards.make_text(name, data, work)
    files = text.lower_source, text.lower_target
    pairs = [
        (source.split(), target.split())
        for source, target in zip(*(file.read_text(encoding="utf-8").splitlines() for file in files), strict=True)
    ]
    chosen = [
        place
        for place in range(hansards.TRIAL.stop, hansards.TRIAL.stop + 25_000, STRIDE)
        if all(SHORTEST <= len(side) <= LONGEST_SENTENCE for side in pairs[place])
    ]
    sizes = (40, 60) if quick else (DEVELOPMENT, TEST)
    dev, test = chosen[: sizes[0]], chosen[sizes[0] : sum(sizes)]
    held_out = {" ".join(pairs[place][0]) for place in (*dev, *test)}
    # A sentence that the training text repeats would not be held out.
    train = [place for place, pair in enumerate(pairs) if " ".join(pair[0]) not in held_out]
    whole = Bitext.from_tokens(pairs[place] for place in (*train, *dev, *test))
    bounds = np.cumsum([0, len(train), len(dev), len(test)]).tolist()
    return TranslationText(whole, *(whole.part(start, stop) for start, stop in pairwise(bounds)))


def extracted(text: TranslationText) -> Iterator[tuple[str, Alignments]]:
    """The links of the training text by each extractor."""
    model = HMM().fit(text.train)
    for method in (*METHODS, "agreement"):
        yield method, model.align(text.train, combine=method)
    cepts = model.align(text.train, combine="onmf")
    yield "ONMF, all links", cepts
    yield "ONMF, sure links", cepts.only_sure()
    yield "ONMF, `--assign classify`", model.align(text.train, combine="onmf", factoring=Factoring(assign="classify"))


def derived(
    table: PhraseTable, source: PhraseNumbers, target: PhraseNumbers, text: TranslationText
) -> dict[str, float]:
    """How much of the test pairs the table derives without reordering."""
    first = len(text.train) + len(text.dev)
    found = derive(table, source, target, range(first, first + len(text.test)), fallback=FALLBACK)
    lengths = text.test.source.lengths, text.test.target.lengths
    words = float(lengths[1].sum())
    whole = [
        (one.source_words, one.target_words) == (size, length)
        for one, size, length in zip(found, *lengths, strict=True)
    ]
    return {
        "words_derived": sum(one.target_words for one in found) / words,
        "pairs_derived": sum(whole) / len(whole),
        "phrase_words": sum(one.source_words for one in found) / max(sum(one.phrases for one in found), 1),
        "perplexity": math.exp(-sum(one.log_probability for one in found) / words),
    }


def write_table(
    path: Path, table: PhraseTable, source: PhraseNumbers, target: PhraseNumbers, wanted: NDArray[np.bool_]
) -> None:
    """Write the `MOST` most frequent translations of each wanted source phrase, as Thot reads them.

    A line has the target phrase, the source phrase, the count of the target phrase, and that of the pair.
    """
    rows = np.flatnonzero(wanted[table.source])
    rows = rows[np.lexsort((table.target[rows], -table.counts[rows], table.source[rows]))]
    totals = np.bincount(table.target, table.counts)
    rank = np.arange(len(rows)) - np.searchsorted(table.source[rows], table.source[rows])
    with path.open("w", encoding="utf-8") as file:
        for row in rows[rank < MOST].tolist():
            one, other = source.words(table.source[row]), target.words(table.target[row])
            if "|||" not in one and "|||" not in other:
                counts = f"{totals[table.target[row]]:.0f} {table.counts[row]}"
                file.write(f"{' '.join(other)} ||| {' '.join(one)} ||| {counts}\n")


def translation(run: PaperRun) -> Table:
    """The table: one row for each extractor."""
    name, work = "small" if run.quick else "large", run.work / "translation"
    work.mkdir(parents=True, exist_ok=True)
    text = read_text(run.data, name, work, quick=run.quick)
    files = {}
    for part, bitext in (("train", text.train), ("dev", text.dev), ("test", text.test)):
        for side, sentences in (("source", bitext.source), ("target", bitext.target)):
            files[part, side] = work / f"{name}.{part}.{side}"
            lines = (" ".join(sentences[sentence]) for sentence in range(len(sentences)))
            files[part, side].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    python, script = peers.environment() / "python", Path(__file__).with_name("thot_decoder.py")
    models = work / f"{name}.thot"
    if not (models / "lm.wp").is_file():
        models.mkdir(exist_ok=True)
        report.say("word models and language model of the decoder")
        subprocess.run(
            [python, script, "train", models, files["train", "source"], files["train", "target"]], check=True
        )
    report.say("numbering phrases")
    source, target = PhraseNumbers(text.whole.source, LONGEST), PhraseNumbers(text.whole.target, LONGEST)
    wanted = np.zeros(source.count, dtype=np.bool_)
    for sentence in range(len(text.train), len(text.whole)):
        found = source.of_sentence(sentence)
        wanted[found[found >= 0]] = True
    records: list[dict[str, Any]] = []
    outputs = {}
    for method, links in extracted(text):
        report.say(f"{method}: phrase table")
        table = phrase_table(phrase_pairs(links, text.train, longest=LONGEST), source, target)
        facts = derived(table, source, target, text)
        file = work / f"{name}.table"
        write_table(file, table, source, target, wanted)
        report.say(f"{method}: translating")
        outputs[method] = work / f"{name}.{len(outputs)}.output"
        given = [files[part, side] for part in ("dev", "test") for side in ("source", "target")]
        scores = _printed([python, script, "translate", models, file, *given, outputs[method]])
        records.append(
            {
                "extractor": method,
                "pairs": len(text.train),
                "test": len(text.test),
                "links": len(links.source),
                "phrase_pairs": len(table),
                **facts,
                **scores,
            }
        )
    others = [method for method in outputs if method != BASE]
    chances = _printed(
        [python, script, "compare", files["test", "target"], *(outputs[method] for method in (BASE, *others))]
    )
    for record in records:
        record["p_value"] = dict(zip(others, chances, strict=True)).get(record["extractor"])
    rows = [
        [
            record["extractor"],
            f"{record['links'] / 1e6:.2f}",
            f"{record['phrase_pairs'] / 1e6:.2f}",
            f"{100 * record['words_derived']:.1f}",
            f"{100 * record['pairs_derived']:.1f}",
            f"{record['phrase_words']:.2f}",
            f"{record['perplexity']:.1f}",
            *(f"{record[score]:.1f}" for score in ("dev_bleu", "bleu", "chrf")),
            _chance(record["p_value"]),
        ]
        for record in records
    ]
    note = (
        f"Text: {len(text.train):,} pairs of the Hansards ({name}), English to French; {len(text.dev)} other pairs of "
        f"{SHORTEST} to {LONGEST_SENTENCE} words to tune on, {len(text.test)} to test on. Phrases have up to {LONGEST} "
        f"words. *p-value* is that of the difference of BLEU from {BASE}, by paired bootstrap. The paper has no such "
        f"figures."
    )
    return Table(f"{report.markdown(COLUMNS, rows)}\n\n{note}", records)


def _chance(value: float | None) -> str:
    """A p-value for a table."""
    if value is None:
        return "-"
    return f"{value:.3f}" if value >= 0.001 else "<0.001"


def _printed(command: list[str | Path]) -> Any:
    """The JSON value that a command prints."""
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
