"""Texts with more words than are held while they are read: every way to align them gives the same bytes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from cepts.errors import DataError, UsageError
from cepts.io import bitext_parts
from cepts.pipeline.align_files import AlignJob, AlignOutputs, WordTraining, align_files
from cepts.pipeline.inputs import BitextFiles
from cepts.pipeline.jobs import Share, align_shards, begin, shelve, train
from cepts.store import MemoryShelf
from cepts.words import HMM, rare
from cepts.words.forms import is_symbol

PAIRS = 300
OPTIONS = {"iterations": 1, "start_iterations": 1, "max_vocabulary": 20}


@pytest.fixture
def texts(tmp_path) -> BitextFiles:
    """Words that occur everywhere, names that occur once, and words that become frequent late."""
    random = np.random.default_rng(5)
    sides = []
    for letter in "ab":
        frequent = [f"{letter}{word}" for word in range(12)]
        late = [f"Late{letter}{word}" for word in range(3)]
        lines = []
        for pair in range(PAIRS):
            words = [frequent[each] for each in random.integers(0, 12, 4)]
            words += [f"Name{pair}{letter}"] + ([late[pair % 3]] if pair > PAIRS // 2 else [])
            lines.append(" ".join(words))
        path = tmp_path / f"text.{letter}"
        path.write_text("".join(f"{line}\n" for line in lines))
        sides.append(path)
    return BitextFiles(source=sides[0], target=sides[1])


@pytest.fixture(autouse=True)
def few_words(monkeypatch):
    monkeypatch.setattr(rare, "LEAST_HELD", 50)


def aligned(texts: BitextFiles, output: Path, threads: int = 1, checkpoint: Path | None = None, **outputs) -> bytes:
    training = WordTraining(aligner=HMM(**OPTIONS, threads=threads), checkpoint=checkpoint)
    align_files(AlignJob(texts=texts, scorer=training, outputs=AlignOutputs(links=output, **outputs)))
    return output.read_bytes()


def test_the_links_are_the_same_however_the_text_is_aligned(texts, tmp_path):
    wanted = aligned(texts, tmp_path / "links")
    assert aligned(texts, tmp_path / "two", threads=2) == wanted
    assert aligned(texts, tmp_path / "kept", checkpoint=tmp_path / "state") == wanted
    assert aligned(texts, tmp_path / "again", checkpoint=tmp_path / "state") == wanted
    begin(texts, HMM(**OPTIONS, threads=1), tmp_path / "job", cells_in_shard=2000)
    train(tmp_path / "job", threads=1)
    for share in (1, 2):
        align_shards(tmp_path / "job", Share(share, 2), links=tmp_path / f"links.{share}", threads=1)
    shares = (tmp_path / "links.1").read_bytes() + (tmp_path / "links.2").read_bytes()
    assert shares.count(b"\n") == PAIRS
    # The confidences of another number of shards may differ in their last digits, the links do not.
    assert shares == wanted


def test_words_that_became_frequent_late_are_words_and_others_share_symbols(texts):
    aligner = HMM(**OPTIONS, threads=1)
    text = shelve(texts, MemoryShelf(), bound=aligner.word_bound, threads=1)
    assert not text.has_all_words
    assert text.words <= 2 * 4 * 20
    assert text.word_numbers > 2 * PAIRS
    aligner.fit_shelved(text, lasting=False)
    words = aligner.source_.vocabulary.words
    assert {"latea0", "latea1", "latea2", *(f"a{word}" for word in range(12))} <= {*words}
    assert aligner.source_.frequencies.sum() == sum(len(part.source.ids) for part in text)
    assert "name …" in words
    assert sum(not is_symbol(word) for word in words) == 20


@pytest.mark.parametrize("format_", ["json", "giza"])
def test_formats_with_words_show_all_of_them(texts, tmp_path, format_):
    written = aligned(texts, tmp_path / "links", format=format_).decode()
    assert all(f"Name{pair}a" in written and f"Name{pair}b" in written for pair in range(PAIRS))
    assert "…" not in written
    begin(texts, HMM(**OPTIONS, threads=1), tmp_path / "job")
    train(tmp_path / "job", threads=1)
    align_shards(tmp_path / "job", links=tmp_path / "shards", format=format_, threads=1)
    assert (tmp_path / "shards").read_text() == written


def test_shares_show_the_words_of_their_own_pairs(texts, tmp_path):
    begin(texts, HMM(**OPTIONS, threads=1), tmp_path / "job", cells_in_shard=2000)
    train(tmp_path / "job", threads=1)
    found = []
    for share in (1, 2, 3):
        align_shards(tmp_path / "job", Share(share, 3), links=tmp_path / "links", format="json", threads=1)
        found += [json.loads(line)["source"] for line in (tmp_path / "links").read_text().splitlines()]
    whole = [part.source[pair] for part in bitext_parts(texts.source, texts.target) for pair in range(len(part))]
    assert found == whole


def test_matrices_and_lists_have_all_words_too(texts, tmp_path):
    aligned(texts, tmp_path / "links", format="json", matrices=tmp_path / "matrices.jsonl")
    assert "Name17a" in (tmp_path / "matrices.jsonl").read_text()
    assert "…" not in (tmp_path / "matrices.jsonl").read_text()
    lists = aligned(texts, tmp_path / "lists", format="json", lists=2).decode()
    assert "Name17b" in lists
    assert "…" not in lists


def test_a_text_that_cannot_be_read_again_has_no_words_to_show(texts, tmp_path, monkeypatch):
    def from_stdin(**outputs) -> bytes:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(texts.source).read_bytes())))
        return aligned(BitextFiles(source="-", target=texts.target), tmp_path / "links", **outputs)

    with pytest.raises(UsageError, match="put it into files, or write the links in a format without words"):
        from_stdin(format="json")
    assert from_stdin() == aligned(texts, tmp_path / "wanted")


def test_a_text_that_was_changed_is_not_shown(texts, tmp_path):
    begin(texts, HMM(**OPTIONS, threads=1), tmp_path / "job")
    train(tmp_path / "job", threads=1)
    with Path(texts.source).open("a") as file:
        file.write("more\n")
    with pytest.raises(DataError, match="changed or moved since the text was read"):
        align_shards(tmp_path / "job", links=tmp_path / "links", format="json", threads=1)
    align_shards(tmp_path / "job", links=tmp_path / "links", threads=1)
    assert (tmp_path / "links").read_text().count("\n") == PAIRS


def test_a_text_with_few_words_is_read_as_without_a_bound(texts, tmp_path, monkeypatch):
    monkeypatch.setattr(rare, "LEAST_HELD", 1000)
    bounded = shelve(texts, MemoryShelf(), bound=HMM(**OPTIONS).word_bound, threads=1)
    assert bounded.has_all_words
    assert bounded.fingerprint == shelve(texts, MemoryShelf(), threads=1).fingerprint
