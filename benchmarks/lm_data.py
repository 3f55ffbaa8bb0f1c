"""Reads the texts of the benchmarks of language models, and makes the models that several tables share."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cepts.data import Documents, Text
from cepts.io import read_documents, read_text
from cepts.lm import AdaptedModel, Predictor
from cepts.lm.predictor import components_of

__all__ = ["TEXTS", "LMData", "varied"]

TEXTS = {"textbook": "held-out textbook", "morgan": "Morgan's lectures"}
# Every 20th module of the textbook is development text, every 20th test text.
PERIOD, DEVELOPMENT, TEST = 20, 7, 17


def varied(model: Predictor, **changes: Any) -> Predictor:
    """A predictor with other parts or options; its components all have the same weight."""
    parts = {name: changes.get(name, getattr(model, name)) for name in ("mixture", "hidden", "exponent", "caches")}
    names = components_of(parts["mixture"], parts["hidden"] is not None, parts["exponent"] > 0, parts["caches"])
    return replace(model, weights=np.full(len(names), 1 / len(names)), **changes)


class LMData:
    """The directory `lm` of the shared data.

    Weights are set on the development part of each text (modules of the textbook; Morgan's first lecture), nothing on
    the test parts.
    """

    def __init__(self, data: Path) -> None:
        self.root = data / "lm"
        if not (self.root / "openstax_biology").is_dir():
            sys.exit(f"There is no directory {self.root / 'openstax_biology'}; say by --data where the data is.")

    @cache  # noqa: B019 (one object a run)
    def documents(self, name: str) -> Documents:
        """The words of a text, in lower case."""
        return read_documents([self.root / name / "words.lower.txt.gz"])

    @cache  # noqa: B019
    def _parts(self) -> np.ndarray:
        with (self.root / "openstax_biology" / "docs.tsv").open(encoding="utf-8", newline="") as file:
            modules = [row["module"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
        number = {module: place for place, module in enumerate(dict.fromkeys(modules))}
        return np.array([number[module] % PERIOD for module in modules])

    @cache  # noqa: B019
    def text(self, name: str, part: str) -> Documents:
        """A part of the textbook (train, dev, test) or of Morgan's lectures (dev, test)."""
        if name == "morgan":
            lectures = self.documents("morgan1916_lectures")
            first = np.arange(len(lectures)) == 0
            return lectures.chosen(first if part == "dev" else ~first)
        place = self._parts()
        held_out = {"dev": place == DEVELOPMENT, "test": place == TEST}
        chosen = held_out.get(part, (place != DEVELOPMENT) & (place != TEST))
        return self.documents("openstax_biology").chosen(chosen)

    def treebank(self, part: str) -> Text:
        """A part of the Penn Treebank: train, valid, test."""
        return read_text(self.root / "ptb" / f"{part}.txt.gz")

    @cache  # noqa: B019
    def model(self, *, worth: float = 0.0, hidden: int = 500, segmentation: str = "implicit") -> Predictor:
        """A model of the textbook's training part with Brown as background; its weights are to be tuned later.

        `worth` is the weight of a word of Brown for finding hidden documents.
        """
        model = AdaptedModel(hidden=hidden, background_worth=worth, segmentation=segmentation, caches=(), exponent=0.6)
        train, dev = self.text("textbook", "train"), self.text("textbook", "dev")
        return model.fit(train, dev=dev, background=self.documents("brown")).predictor_
