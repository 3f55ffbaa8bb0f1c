"""Training in shards and ranges: the same bytes from memory and files, for any threads, after any interruption."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cepts.words.aligner as aligner_module
import cepts.words.lexicon_table as table_module
from bitexts_words import WORDS_WITH_STEMS, bitexts, copy_of, results
from cepts.data import Bitext
from cepts.errors import ModelError
from cepts.store import DiskShelf, MemoryShelf
from cepts.words import HMM, IBM4, MODELS, Mixed, indexed_text, load_aligner
from cepts.words.index import Sizes
from cepts.words.indexed_text import IndexedText
from cepts.words.lexicon_table import TrainedShards
from cepts.words.ranges import cut_ranges
from cepts.words.text import ShelvedText
from cepts.words.training import AlignerTraining

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
every_lexicon = pytest.mark.parametrize("lexicon", ["ml", "bayes", "backoff"])
SMALL = Sizes(block=150, shard=400, range=60)


@pytest.fixture(scope="module")
def text():
    """A hundred pairs, of which some occur twice or are empty on a side."""
    random = np.random.default_rng(0)
    words = [*WORDS_WITH_STEMS, *(f"{stem}{end}" for stem in ("chamb", "minis", "quest") for end in ("er", "ers", "e"))]

    def sentence():
        return [words[word] for word in random.integers(0, len(words), random.integers(0, 9))]

    pairs = [(sentence(), sentence()) for _ in range(80)]
    return Bitext.from_tokens([*pairs, *pairs[:20]])


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(aligner_module, "SIZES", SMALL)


def all_bytes(aligner, bitext):
    return [array.tobytes() for text in (bitext, copy_of(bitext)) for array in results(aligner, text)]


@every_model
@every_lexicon
@pytest.mark.usefixtures("small_parts")
def test_memory_and_files_give_the_same_bytes(model, lexicon, text, monkeypatch, tmp_path):
    options = {"lexicon": lexicon, "iterations": 2}
    memory = model(threads=1, **options).fit(text)
    indexed = memory._indexed
    assert indexed.shelf.in_memory
    assert indexed.text.shards > 3
    assert len(indexed.ranges) > 2
    wanted = all_bytes(memory, text)
    kept = model(threads=3, **options).fit(text, checkpoint=tmp_path / "work")
    monkeypatch.setattr(aligner_module, "BYTES_IN_MEMORY", 20_000)
    passing = model(threads=2, **options).fit(text)
    assert not passing._indexed.shelf.in_memory
    for other in (kept, passing):
        assert other.objectives_ == memory.objectives_
        assert all_bytes(other, text) == wanted
        assert other.lexicon_.table.tobytes() == memory.lexicon_.table.tobytes()
        other.save(tmp_path / "model")
        assert all_bytes(load_aligner(tmp_path / "model"), copy_of(text)) == all_bytes(memory, copy_of(text))


@every_model
@every_lexicon
def test_parts_change_nothing_but_the_last_digits(model, lexicon, text, monkeypatch):
    options = {"lexicon": lexicon, "iterations": 2, "threads": 1}
    whole = model(**options).fit(text)
    assert (whole._indexed.text.shards, len(whole._indexed.ranges)) == (1, 1)
    monkeypatch.setattr(aligner_module, "SIZES", SMALL)
    parts = model(**options).fit(text)
    np.testing.assert_allclose(parts.objectives_, whole.objectives_, rtol=1e-4)
    np.testing.assert_array_equal(parts.lexicon_.rows, whole.lexicon_.rows)

    def cells(aligner):
        rows, targets = aligner.lexicon_.rows, aligner.lexicon_.targets
        order = np.lexsort((targets, np.repeat(np.arange(len(rows) - 1), np.diff(rows))))
        return targets[order], aligner.lexicon_.table[order]

    np.testing.assert_array_equal(cells(parts)[0], cells(whole)[0])
    np.testing.assert_allclose(cells(parts)[1], cells(whole)[1], rtol=2e-2, atol=1e-4)


@every_lexicon
@pytest.mark.usefixtures("small_parts")
def test_tables_of_a_large_lexicon_are_kept_by_shard(lexicon, text, monkeypatch, tmp_path):
    options = {"lexicon": lexicon, "iterations": 2, "threads": 1}
    wanted = HMM(**options).fit(text, checkpoint=tmp_path / "tables")
    monkeypatch.setattr(table_module, "TABLES_IN_MEMORY", 0)
    found = HMM(**options).fit(text, checkpoint=tmp_path / "entries")
    for name in ("tables", "entries"):
        pieces = sorted((tmp_path / name).glob("training-hmm/tables-2/*.piece"))
        assert len(pieces) == len(found._indexed.ranges) > 2
    shelf = DiskShelf(tmp_path / "entries")
    kept = [shelf.get(f"training-hmm/tables-2/{number:05}") for number in range(len(pieces))]
    assert {tuple(piece) for piece in kept} == {("entries",)}
    index = wanted._indexed
    cells = [index.shelf.get(f"index/{shard:05}")["range_starts"][-1] for shard in range(index.text.shards)]
    assert sum(len(piece["entries"]) for piece in kept) == sum(cells)
    assert found.objectives_ == wanted.objectives_
    assert all_bytes(found, text) == all_bytes(wanted, text)


class Killed(BaseException):
    """Stands for SIGKILL: nothing after it runs."""


class MortalShelf(DiskShelf):
    """Dies instead of keeping its n-th piece, or just after it."""

    def __init__(self, directory, puts, *, after):
        super().__init__(directory)
        self.left, self.after, self.flushed = puts, after, set()

    def _put(self, name, arrays, settings, *, at_once):
        self.left -= 1
        if self.left <= 0 and not self.after:
            raise Killed
        super()._put(name, arrays, settings, at_once=at_once)
        (self.flushed.add if at_once else self.flushed.discard)(self.path_of(name))
        if self.left <= 0:
            raise Killed


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.usefixtures("small_parts")
def test_a_training_that_is_killed_anywhere_ends_with_the_same_bytes(text, tmp_path, monkeypatch, after):
    options = {"threads": 1, "iterations": 2, "start_iterations": 2}
    wanted = all_bytes(HMM(**options).fit(text), text)
    puts = 3
    for attempt in range(1000):
        # The further it gets, the longer it lives, as a cheap machine that is taken away again and again.
        shelf = MortalShelf(tmp_path / "work", puts + attempt, after=after)
        monkeypatch.setattr(aligner_module, "DiskShelf", lambda directory, shelf=shelf: shelf)
        try:
            found = HMM(**options).fit(text, checkpoint=tmp_path / "work")
        except Killed:
            continue
        break
    assert attempt > 5
    assert all_bytes(found, text) == wanted


class FragileShelf(MortalShelf):
    """Dies as `MortalShelf` does, of a power failure: the disk has only what was committed and flushed."""

    def flush(self, *names):
        super().flush(*names)
        found = [path for name in names for path in (self.directory / name).glob("*.piece")]
        self.flushed |= {*found, *(self.path_of(name) for name in names)}

    def lose(self, random):
        for path in set(self.directory.rglob("*.piece")) - self.flushed:
            data, what = bytearray(path.read_bytes()), random.integers(3)
            if what == 0:
                path.unlink()
            else:  # an empty file, or one of which the end is missing
                data[len(data) // 2 * (what - 1) :] = bytes(len(data) // 2) if what == 2 else b""
                path.write_bytes(data)


@pytest.mark.parametrize("model", [HMM, Mixed])
@pytest.mark.usefixtures("small_parts")
def test_a_power_failure_anywhere_costs_work_but_no_bytes(model, text, tmp_path, monkeypatch):
    options = {"threads": 1, "iterations": 2, "start_iterations": 2}
    wanted = all_bytes(model(**options).fit(text), text)
    random = np.random.default_rng(0)
    flushed = set()
    for attempt in range(1000):
        shelf = FragileShelf(tmp_path / "work", 3 + 3 * attempt, after=True)
        shelf.flushed = flushed = {path for path in flushed if path.exists()}
        monkeypatch.setattr(aligner_module, "DiskShelf", lambda directory, shelf=shelf: shelf)
        try:
            found = model(**options).fit(text, checkpoint=tmp_path / "work")
        except Killed:
            shelf.lose(random)
            flushed = shelf.flushed
            continue
        break
    assert attempt > 5
    assert all_bytes(found, text) == wanted


@pytest.mark.usefixtures("small_parts")
def test_finished_shards_are_not_counted_again(text, tmp_path, monkeypatch):
    counted = []
    count = AlignerTraining.count

    def counting(self, number):
        if len(counted) == 7:
            raise Killed
        counted.append((self.stage, self.iteration, number))
        count(self, number)

    monkeypatch.setattr(AlignerTraining, "count", counting)
    options = {"threads": 1, "iterations": 2, "start_iterations": 2}
    with pytest.raises(Killed):
        HMM(**options).fit(text, checkpoint=tmp_path)
    before = counted.copy()
    monkeypatch.setattr(AlignerTraining, "count", lambda self, number: (counted.append(0), count(self, number)))
    steps = []
    found = HMM(**options).fit(text, checkpoint=tmp_path, progress=steps.append)
    shards = found._indexed.text.shards
    iteration, done = divmod(len(before), shards)
    assert done > 0
    resumed = [(step.stage, step.iteration, step.parts) for step in steps if step.parts]
    assert resumed == [("training ibm1", iteration + 1, (done, shards))]
    assert len(counted) == 4 * shards


@pytest.mark.usefixtures("small_parts")
def test_a_damaged_partial_count_is_counted_again(text, tmp_path, monkeypatch):
    options = {"threads": 1, "iterations": 2, "start_iterations": 2}
    wanted = all_bytes(HMM(**options).fit(text), text)
    learn = AlignerTraining.learn

    def dying(self):
        raise Killed

    monkeypatch.setattr(AlignerTraining, "learn", dying)
    with pytest.raises(Killed):
        HMM(**options).fit(text, checkpoint=tmp_path)
    monkeypatch.setattr(AlignerTraining, "learn", learn)
    partials = sorted(tmp_path.glob("training-ibm1/counts-1/*.piece"))
    sums = sorted(tmp_path.glob("training-ibm1/sums-1/*.piece"))
    assert len(partials) > 3
    assert len(sums) > 2
    for file, place in ((partials[0], 100), (partials[1], -3), (sums[0], -2), (sums[1], 20)):
        data = bytearray(file.read_bytes())
        data[place] ^= 4
        file.write_bytes(data)
    (partials[2]).write_bytes(b"")
    assert all_bytes(HMM(**options).fit(text, checkpoint=tmp_path), text) == wanted


def test_words_of_a_stem_are_in_one_range(text):
    found = HMM(threads=1).fit(text)
    ranges = cut_ranges(found.source_, found.target_, 4, Sizes(range=60, largest_range=60), 3.0)
    assert len(ranges) > 2
    assert sorted(ranges.ranks.tolist()) == list(range(len(found.source_)))
    stems = [{found.source_.vocabulary[word][:4] for word in ranges.words_of(each)} for each in range(len(ranges))]
    assert all(stems)
    assert sum(map(len, stems)) == len(set().union(*stems))


@settings(deadline=None, max_examples=30)
@given(bitexts(max_pairs=8, max_length=5), st.integers(1, 40))
def test_the_shards_of_a_text_are_the_text(bitext, cells):
    text = ShelvedText.put(MemoryShelf(), bitext, cells)
    assert len(text) == len(bitext)
    found = [part[pair] for part in text for pair in range(len(part))]
    assert found == [bitext[pair] for pair in range(len(bitext))]
    for part in text:
        assert (part.source.lengths * part.target.lengths).sum() <= cells or len(part) == 1


def test_texts_that_differ_have_different_fingerprints():
    texts = [[("a b", "c")], [("a", "b c")], [("a b", "d")], [("b a", "c")], [("a b", "c"), ("", "")], []]
    found = {ShelvedText.put(MemoryShelf(), Bitext.from_tokens(text), 5).fingerprint for text in texts}
    assert len(found) == len(texts)


def test_other_options_are_refused(text, tmp_path):
    HMM(threads=1, iterations=1).fit(text, checkpoint=tmp_path)
    for other in (HMM(null_prob=0.3), IBM4(), HMM(lowercase=False)):
        with pytest.raises(ModelError, match="another text or of training with other options"):
            other.fit(text, checkpoint=tmp_path)


@pytest.mark.usefixtures("small_parts")
def test_only_what_is_needed_stays_on_the_shelf(text, tmp_path):
    found = HMM(threads=1, iterations=2, start_iterations=3, tolerance=0.0).fit(text, checkpoint=tmp_path)
    assert isinstance(found._indexed, IndexedText)
    left = {str(path.relative_to(tmp_path).parent) for path in tmp_path.rglob("*.piece")}
    assert left == {
        ".",
        "text",
        "index",
        "ranges",
        "training-ibm1",
        "training-hmm",
        "training-hmm/tables-2",
        "training-hmm/sums-2",
    }


@pytest.mark.parametrize("failing", [False, True])
def test_a_shard_is_loaded_once_and_other_shards_meanwhile(failing):
    loaded = []
    both = Barrier(2, timeout=10)

    class Slow:
        def shard(self, number):
            loaded.append(number)
            both.wait()  # passed only if two shards are loaded side by side
            if failing:
                raise ModelError("damaged")
            return SimpleNamespace(blocks=[(number, place) for place in range(3)])

        def entries(self, number):
            return np.full((1, 2), number, dtype=np.float32)

    trained = TrainedShards(Slow(), Slow(), 2)

    def ask(number):
        try:
            block, entries = trained.block(number % 2, number // 2)
        except ModelError as error:
            return str(error)
        return block, int(entries[0, 0])

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(ask, range(6)))
    assert sorted(loaded) == [0, 1]
    wanted = ["damaged"] * 6 if failing else [((number % 2, number // 2), number % 2) for number in range(6)]
    assert found == wanted
    if not failing:
        both.reset()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(ask, [0, 1]))
        assert sorted(loaded) == [0, 1]


def test_ranges_grow_with_the_lexicon_up_to_a_limit():
    sizes = Sizes(range=100, largest_range=300)
    assert [sizes.range_of(32 * cells) for cells in (1, 100, 101, 250, 300, 5000)] == [100, 100, 101, 250, 300, 300]
    fixed = Sizes(range=100, largest_range=100)
    assert fixed.range_of(1e9) == 100


@pytest.mark.usefixtures("small_parts")
def test_word_classes_of_a_large_text_are_found_in_a_part_of_it(text, monkeypatch):
    asked = []
    adjacent = IndexedText.adjacent

    def counted(self, shards, **how):
        asked.append(shards)
        return adjacent(self, shards, **how)

    monkeypatch.setattr(IndexedText, "adjacent", counted)
    whole = Mixed(threads=1, iterations=1).fit(text)
    shards = whole._indexed.text.shards
    tokens = max(len(side.ids) for side in (text.source, text.target))
    monkeypatch.setattr(indexed_text, "TOKENS_FOR_CLASSES", tokens // 3)
    parts = [Mixed(threads=threads, iterations=1).fit(text) for threads in (1, 3)]
    assert shards > 5
    assert asked[0] == list(range(shards))
    assert asked[1] == asked[2]
    assert 1 < len(asked[1]) <= shards / 3
    assert asked[1][-1] >= shards / 2  # from all over the text
    assert all_bytes(parts[0], text) == all_bytes(parts[1], text)


@pytest.mark.usefixtures("small_parts")
def test_cohesion_of_a_large_text_is_learnt_from_a_part_of_it(text, monkeypatch):
    model = HMM(threads=2, iterations=1).fit(text)
    whole = model._indexed.cohesion()
    tokens = max(len(side.ids) for side in (text.source, text.target))
    monkeypatch.setattr(indexed_text, "TOKENS_FOR_COHESION", tokens // 2)
    part = model._indexed.cohesion()
    for some, every in zip(part, whole, strict=True):
        assert np.array_equal(some.counts, every.counts)
        assert 0 < len(some.times) < len(every.times)
        # Scaled to the whole text, within what chance and rounding allow.
        assert some.times.sum() == pytest.approx(every.times.sum(), rel=0.1)
    assert all(
        np.array_equal(one.times, other.times) for one, other in zip(part, model._indexed.cohesion(), strict=True)
    )
