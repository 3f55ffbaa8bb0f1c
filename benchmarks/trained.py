"""Models that a benchmark trains once, keeps in its work directory and takes from there the next time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import hansards
import report
from cepts.data import Bitext
from cepts.io import read_bitext
from cepts.names import DEFAULT_WORD_MODEL, WORD_MODELS, resolve
from cepts.pipeline.papers import ONMF
from cepts.words import HMM, IBM2, IBM4, Aligner, Mixed, load_aligner

__all__ = ["DEFAULT", "KINDS", "MODELS", "Models", "gold_pairs"]

ROOT = Path(__file__).resolve().parent.parent
# The packages that decide what a training gives.
SOURCES = ("data", "engine", "io", "kernels", "words")
# With their own settings, and as in the papers.
MODELS: dict[str, Callable[[], Aligner]] = {"HMM": HMM, "Model 4": IBM4, "Mixed": Mixed}
# The model of `cepts align` without options: rows that are called the default are made from it.
(DEFAULT,) = (name for name, make in MODELS.items() if make is resolve(WORD_MODELS[DEFAULT_WORD_MODEL]))
OF_PAPERS: dict[str, Callable[[], Aligner]] = {
    "Model 4 by ML": lambda: IBM4(**{name: value for name, value in ONMF.training.items() if name != "model"}),
    "Model 2": IBM2,
}
KINDS = {**MODELS, **OF_PAPERS}


class Models:
    """The models of `KINDS`, trained on a text.

    Parameters
    ----------
    text
        The training text.
    work
        Where the models are kept. The name of each has a digest of the code in it, so that no change of the code is
        measured with a model from before it.
    """

    def __init__(self, text: hansards.TrainingText, work: Path) -> None:
        self.text = text
        self.work = work
        self._bitext: Bitext | None = None
        self._loaded: dict[str, Aligner] = {}

    @property
    def bitext(self) -> Bitext:
        """The training text."""
        if self._bitext is None:
            self._bitext = read_bitext(self.text.source, self.text.target)
        return self._bitext

    def directory(self, name: str) -> Path:
        """Where the model is kept; it is trained first where it is not there yet."""
        directory = self.work / f"{self.text.source.stem}.{name.lower().replace(' ', '-')}.{_code()}"
        if not directory.is_dir():
            report.say(f"{self.text.name} text: training {name}")
            KINDS[name]().fit(self.bitext).save(directory)
        return directory

    def __getitem__(self, name: str) -> Aligner:
        if name not in self._loaded:
            self._loaded[name] = load_aligner(self.directory(name))
        return self._loaded[name]

    def forget(self, name: str) -> None:
        """Free the memory of a model."""
        self._loaded.pop(name, None)


def gold_pairs(bitext: Bitext, pairs: slice = slice(0, hansards.TRIAL.stop)) -> Bitext:
    """The pairs that have gold links, with vocabularies of their own."""
    return Bitext.from_tokens(bitext[pair] for pair in range(pairs.start, pairs.stop))


@cache
def _code() -> str:
    """A digest of the code that trains, as it was when it was first asked for."""
    package = ROOT / "src" / "cepts"
    files = sorted(file for name in SOURCES for file in (package / name).glob("*.py"))
    if not files:
        raise FileNotFoundError(f"{package} has none of {', '.join(SOURCES)}; correct SOURCES in {__file__}.")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
