"""A small aligner, trained on the pairs of examples/ without anything of a language."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepts.io import read_sentence_pairs
from cepts.phrases.aligner import PhraseAligner

EXAMPLES = Path(__file__).parents[3] / "examples" / "paraphrases.jsonl"


@pytest.fixture(scope="session")
def phrase_model(tmp_path_factory) -> Path:
    """The directory of that aligner."""
    place = tmp_path_factory.mktemp("phrases") / "model"
    PhraseAligner(language=None, iterations=40, threads=1).fit(read_sentence_pairs(EXAMPLES)).save(place)
    return place


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A working directory of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def examples() -> Path:
    """The pairs of examples/."""
    return EXAMPLES
