"""N-grams are counted in shards and added by ranges of first words: as by hand, however the text is cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cepts.lm.ngram_counts as module
import oracles_ngrams as oracles
from cepts.data import Documents, Text
from cepts.engine import ThreadEngine, Workplace
from cepts.errors import ModelError
from cepts.lm import shelved as shelved_module
from cepts.lm.kneser_ney import KneserNey
from cepts.lm.ngram_counts import count_ngrams
from cepts.store import DiskShelf

WORDS = ["<unk>", "<s>", "</s>", "a", "b", "c", "é", "never"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS[3:7]), max_size=6), min_size=1, max_size=12)
PLACES = ("levels", "words", "probs", "backoffs", "first", "suffixes")


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(shelved_module, "SHARD_WORDS", 60)
    monkeypatch.setattr(module, "RANGE_WORDS", 40)


@pytest.fixture
def text():
    return oracles.random_text(3, sentences=80, words=25)


def fitted(text, workplace=None, **options):
    ngrams = KneserNey(**options).fit(text, workplace=workplace).ngrams_
    return [getattr(ngrams, name).tobytes() for name in PLACES]


def grams_of(levels):
    """Each n-gram with its count, in the order of the entries."""
    before, found = [()], []
    branches = [len(levels[0].words)]
    for level in levels:
        contexts = [gram for gram, count in zip(before, branches, strict=True) for _ in range(count)]
        grams = [(*gram, word) for gram, word in zip(contexts, level.words.tolist(), strict=True)]
        found.append(dict(zip(grams, level.counts.tolist(), strict=True)))
        assert list(found[-1]) == sorted(grams)
        before, branches = grams, level.branches.tolist()
    return found


@settings(deadline=None, max_examples=100)
@given(SENTENCES, st.integers(1, 4), st.sampled_from([1, 3, 7, 1 << 20]), st.sampled_from([1, 5, 1 << 20]))
def test_counts_are_those_of_moving_by_hand(sentences, order, shard, size):
    text = Text.from_tokens(sentences)
    numbers = np.array([WORDS.index(word) for word in text.vocabulary.words], dtype=np.int32)
    documents = Documents(text, np.array([0, len(text)]), ("",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelved_module, "SHARD_WORDS", shard)
        patch.setattr(module, "RANGE_WORDS", size)
        levels = count_ngrams(documents, numbers, len(WORDS), order, Workplace(ThreadEngine(1)))
    for length, found in enumerate(grams_of(levels), start=1):
        want = {tuple(map(WORDS.index, gram)): count for gram, count in oracles.windows(sentences, length).items()}
        if length == 1:
            want |= {(word,): 0 for word in range(len(WORDS)) if (word,) not in want}
        assert found == want


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_memory_files_and_threads_give_the_bytes_of_a_single_shard(text, tmp_path, order, monkeypatch):
    parts = fitted(text, Workplace(ThreadEngine(1)), order=order)
    assert fitted(text, Workplace(ThreadEngine(3)), order=order) == parts
    assert fitted(text, Workplace(ThreadEngine(2), tmp_path / "job"), order=order) == parts
    assert len(list((tmp_path / "job" / "shards").iterdir())) > 5
    assert len(list((tmp_path / "job" / "ranges").iterdir())) > 3
    monkeypatch.undo()
    assert fitted(text, order=order) == parts


@pytest.mark.usefixtures("small_parts")
def test_only_what_is_missing_or_damaged_is_counted_again(text, tmp_path, monkeypatch):
    place = Workplace(ThreadEngine(1), tmp_path / "job")
    steps = []
    wanted = fitted(text, place)
    for name in ("shards/00002", "ranges/00001", "text/00003"):
        (place.directory / f"{name}.piece").unlink()
    damaged = place.directory / "shards" / "00004.piece"
    damaged.write_bytes(damaged.read_bytes()[:-3] + b"abc")
    made = []
    put = DiskShelf.put

    def noted(self, name, arrays, /, **settings):
        made.append(name)
        put(self, name, arrays, **settings)

    monkeypatch.setattr(DiskShelf, "put", noted)
    found = KneserNey().fit(text, workplace=place, progress=steps.append).ngrams_
    assert [getattr(found, name).tobytes() for name in PLACES] == wanted
    assert made == ["text/00003", "shards/00002", "shards/00004", "ranges/00001"]
    resumed = {step.stage: step.parts for step in steps if step.parts is not None}
    shards, ranges = (len(list((place.directory / name).iterdir())) for name in ("shards", "ranges"))
    assert resumed == {"counting n-grams": (shards - 2, shards), "adding n-grams": (ranges - 1, ranges)}


@pytest.mark.usefixtures("small_parts")
def test_a_directory_of_another_text_or_other_options_is_refused(text, tmp_path):
    place = Workplace(ThreadEngine(1), tmp_path / "job")
    fitted(text, place)
    with pytest.raises(ModelError, match=r"job was begun with another text or .* \(`order` differs\); delete it"):
        fitted(text, place, order=2)
    with pytest.raises(ModelError, match=r"\(`text` differs\)"):
        fitted(oracles.random_text(4, sentences=80, words=25), place)
    with pytest.raises(ModelError, match=r"\(`(numbers|size)` differs\)"):
        fitted(text, place, min_count=9)
