from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from cepts.errors import DataError, UsageError
from cepts.io.arpa import read_arpa
from cepts.lm.backoff import BackoffModel
from cepts.lm.binary import KenLMModel

GOLDEN = Path(__file__).parents[1] / "golden" / "lm"  # binaries of tiny.arpa, made by build_binary


@pytest.fixture(params=["probing", "trie"])
def binary(request):
    pytest.importorskip("kenlm")
    return KenLMModel(GOLDEN / f"tiny.{request.param}")


@pytest.fixture(scope="module")
def arpa():
    return BackoffModel(read_arpa(GOLDEN / "tiny.arpa"))


def test_the_words_are_those_of_the_arpa_file(binary, arpa):
    assert binary.order == arpa.ngrams.order
    assert binary.vocabulary.words[:3] == ["<unk>", "<s>", "</s>"]
    assert sorted(binary.vocabulary.words) == sorted(arpa.vocabulary.words)


def test_steps_and_distributions_are_those_of_the_arpa_file(binary, arpa):
    theirs = arpa.vocabulary.numbers(binary.vocabulary.words)
    np.testing.assert_allclose(binary.distribution(binary.empty), arpa.distribution(-1)[theirs], rtol=1e-6)
    context, want = binary.start, arpa.start
    for word in binary.vocabulary.numbers(["the", "cell", "<unk>", "der", "Kern"]).tolist():
        distribution = binary.distribution(context)
        np.testing.assert_allclose(distribution, arpa.distribution(want)[theirs], rtol=1e-6)
        assert abs(distribution.sum() - 1) < 1e-6
        assert binary.distribution(context) is distribution  # kept
        prob, context = binary.advance(context, word)
        assert prob == pytest.approx(distribution[word])
        _, want = arpa.advance(want, int(theirs[word]))
    assert binary.advance(context, 1)[0] == 0


def test_no_more_distributions_are_kept_than_there_is_room_for(binary, monkeypatch):
    monkeypatch.setattr("cepts.lm.binary.CACHED_DISTRIBUTIONS", 2)
    first = binary.distribution(binary.start)
    for word in (3, 4, 5):
        binary.distribution(binary.advance(binary.start, word)[1])
    assert len(binary._distributions) == 2
    again = binary.distribution(binary.start)
    assert again is not first
    np.testing.assert_array_equal(again, first)


def test_a_binary_of_an_arpa_file_without_the_unknown_word(arpa):
    pytest.importorskip("kenlm")
    model = KenLMModel(GOLDEN / "tiny.no-unknown")
    assert sorted(model.vocabulary.words) == sorted(arpa.vocabulary.words)
    assert model.distribution(model.start)[0] < 1e-50


def test_the_package_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(UsageError, match=r"pip install kenlm$"):
        KenLMModel(GOLDEN / "tiny.probing")


def damaged(tmp_path, change):
    path = tmp_path / "model.binary"
    path.write_bytes(change((GOLDEN / "tiny.probing").read_bytes()))
    return path


WRONG = {
    "not kenlm": (lambda data: b"\x7fELF" + data, "found no KenLM binary"),
    "arpa": (lambda data: b"\\data\\\nngram 1=3\n", "It may be an ARPA file"),
    "empty": (lambda data: b"", "it is empty"),
    "version": (lambda data: data.replace(b"version 5", b"version 4"), "of version 4, wanted 5"),
    "incomplete": (lambda data: b"mmap lm http://kheafield.com/code incomplete\n" + bytes(99), "was not finished"),
    "head only": (lambda data: data[:100], "cut short"),
    "cut": (lambda data: data[:-3], "no list of 17 words"),
    "cut in the middle": (lambda data: data[:900], "no list of 17 words"),
    "not UTF-8": (lambda data: data.replace("größer".encode(), b"gr\xff\xff\xff\xffer"), "not UTF-8"),
    "too many words": (lambda data: data[:108] + b"\xff" * 8 + data[116:], "no list"),
    "another kind": (lambda data: data[:96] + b"\x09" + data[97:], "kenlm cannot use this file"),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_way_of_being_wrong_has_its_line(tmp_path, name):
    pytest.importorskip("kenlm")
    change, message = WRONG[name]
    with pytest.raises(DataError, match=message) as caught:
        KenLMModel(damaged(tmp_path, change))
    assert "model.binary" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_binary_without_its_words_is_refused():
    with pytest.raises(DataError, match="without its words"):
        KenLMModel(GOLDEN / "tiny.no-words")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot read"):
        KenLMModel(tmp_path / "none")


def test_a_damaged_binary_does_not_end_the_process(tmp_path):
    """Some of these files kill the process that maps them, which must not be this one."""
    pytest.importorskip("kenlm")
    data = bytearray((GOLDEN / "tiny.trie").read_bytes())
    words_at = data.rindex(b"<unk>")
    reasons = set()
    for place in range(120, words_at, max((words_at - 120) // 40, 1)):
        path = tmp_path / "x.trie"
        path.write_bytes(data[:place] + b"\xff" * 8 + data[place + 8 :])
        try:
            model = KenLMModel(path)
            for word in range(len(model.vocabulary)):
                model.distribution(model.advance(model.start, word)[1])
        except DataError as error:
            assert "\n" not in str(error)
            reasons.add("crashes the process" in str(error))
    assert True in reasons


def test_a_check_that_does_not_end_is_stopped(monkeypatch):
    pytest.importorskip("kenlm")
    monkeypatch.setattr("cepts.lm.binary.CHECK", "import time; time.sleep(60)")
    monkeypatch.setattr("cepts.lm.binary.CHECK_SECONDS", 0.1)
    with pytest.raises(DataError, match=r"a test did not end within \d s"):
        KenLMModel(GOLDEN / "tiny.probing")


def test_a_known_digest_takes_the_place_of_the_check(tmp_path, monkeypatch):
    pytest.importorskip("kenlm")
    digest = KenLMModel(GOLDEN / "tiny.probing").sha256()
    monkeypatch.setattr("cepts.lm.binary.CHECK", "1 / 0")
    assert KenLMModel(GOLDEN / "tiny.probing", sha256=digest).order == 3
    with pytest.raises(DataError, match="has changed"):
        KenLMModel(GOLDEN / "tiny.trie", sha256=digest)
