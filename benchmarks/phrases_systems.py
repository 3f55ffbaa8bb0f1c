"""Trained aligners for the phrase benchmarks: each is trained once for all tables and kept on disk, and their links."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import report
from cepts.data import Alignments, SentencePair
from cepts.phrases import PhraseAligner, synthesise
from cepts.phrases.tables import ENGLISH
from cepts.pipeline.phrase_training import new_phrase_aligner
from phrases_data import PHRASAL, PhrasesData

__all__ = ["System", "aligned", "made_phrases", "synthesised", "trained"]

# The kernels that training calls.
KERNELS = (
    *("correspondence", "likeness", "log_linear", "names", "null_features", "numbers", "paraphrases"),
    *("phrase_features", "segments", "span_features", "tagger", "token_features", "wordnet"),
)
MODELS = report.ROOT / "build" / "phrases"
# For a quick run: training pairs, iterations, test pairs.
QUICK = 80, 12, 60


@dataclass(frozen=True, slots=True)
class System:
    """An aligner that is trained on the training pairs of a corpus.

    Attributes
    ----------
    corpus
        The folder of the corpus, or several with + between them.
    kind
        ``token`` or ``phrase``.
    paper
        Whether it is trained as in semicrf (``cepts phrases train --paper``).
    columns
        Whose tags and chunks it sees: ``cepts`` or ``paper's``.
    quick
        Whether to use a small part of the data.
    """

    corpus: str
    kind: str
    paper: bool = False
    columns: str = "cepts"
    quick: bool = False

    def gold(self, data: PhrasesData) -> list[SentencePair]:
        """The test pairs."""
        pairs = data.pairs(self.corpus, "test", self.columns)
        return pairs[: QUICK[2]] if self.quick else pairs


@cache
def trained(data: PhrasesData, system: System) -> PhraseAligner:
    """The trained aligner; training with the same code, tables and data is not repeated."""
    parts = "-".join(
        (system.corpus, system.kind, "paper" if system.paper else "default", system.columns.removesuffix("'s"))
    )
    place = MODELS / _digest() / (parts + ("-quick" if system.quick else ""))
    if place.is_dir():
        return PhraseAligner.load(place)
    report.say(f"training {parts}")
    pairs = [pair for corpus in system.corpus.split("+") for pair in data.pairs(corpus, "train", system.columns)]
    aligner = new_phrase_aligner(system.kind, {"iterations": QUICK[1]} if system.quick else {}, paper=system.paper)
    aligner.fit(pairs[: QUICK[0]] if system.quick else pairs)
    place.parent.mkdir(parents=True, exist_ok=True)
    aligner.save(place)
    return aligner


def aligned(data: PhrasesData, system: System, combine: str) -> Alignments:
    """The links of the test pairs: of phrases in the phrasal corpora, otherwise of words; as in semicrf, of phrases."""
    return _aligned(data, system, combine, "phrases" if system.paper or system.corpus in PHRASAL else "words")


@cache
def _aligned(data: PhrasesData, system: System, combine: str, links: str) -> Alignments:
    aligner = trained(data, system).set_params(links=links)
    return aligner.align(system.gold(data), combine=combine)


def synthesised(data: PhrasesData, system: System, combine: str) -> Alignments:
    """Section 4.4 of semicrf: phrase links made of the word links of a model of words, with the columns' chunks.

    The aligner is trained on the word links of the corpus, from which its phrasal version was made, with our own tags
    and chunks. The chunks by which its links are joined are those of the system.
    """
    of_words = replace(system, corpus=system.corpus.removesuffix("_phrasal"), kind="token", columns="cepts")
    links = _aligned(data, of_words, combine, "words")
    pairs = trained(data, of_words).annotator_.annotate(system.gold(data), ["chunk"])
    return Alignments.from_links(made_phrases(pairs, links))


def made_phrases(pairs: Sequence[SentencePair], links: Alignments) -> list[tuple[tuple[int, int], ...]]:
    """The links of phrases that word links form inside chunks."""
    return [
        synthesise(replace(pair, sure=tuple(alignment.links), possible=None)).sure or ()
        for pair, alignment in zip(pairs, links, strict=True)
    ]


@cache
def _digest() -> str:
    """Of all on which training depends: the code of the package, and the tables of English."""
    package = Path(report.ROOT / "src" / "cepts")
    files = sorted((package / "phrases").rglob("*.py")) + [package / "kernels" / f"{name}.py" for name in KERNELS]
    files += [package / "pipeline" / "phrase_training.py", *sorted(ENGLISH.glob("*.safetensors"))]
    found = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    found.update(np.__version__.encode())
    return found.hexdigest()[:12]
