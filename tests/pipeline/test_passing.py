"""Texts that are read while they are aligned: the same bytes as if they were in memory, and the same errors."""

from __future__ import annotations

import gzip
import io
import json
import sys
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pytest

from cepts.data import Alignments, Bitext
from cepts.encoders import EncoderScorer
from cepts.errors import DataError, UsageError
from cepts.extract import Extraction, MatrixScorer, ScorerMixture, needs_whole_text
from cepts.factor import Factoring
from cepts.io import SentencePairWriter, read_bitext, read_sentence_pairs
from cepts.io.lines import check_even
from cepts.names import LINK_FORMATS
from cepts.phrases.aligner import PhraseAligner
from cepts.pipeline import inputs, passing
from cepts.pipeline.align_files import AlignJob, AlignOutputs, align_files
from cepts.pipeline.inputs import BitextFiles
from cepts.pipeline.phrases import PhraseLinks, align_pair_files
from cepts.spaces import IBFA, SpaceScorer
from cepts.tuning import TunedScorer
from cepts.words import HMM, IBM2, Mixed
from toy_encoders import StaticEncoder
from toy_spaces import toy_dictionary, toy_views

TRAINED, PAIRS = 60, 130
LARGE = 1 << 40
OPTIONS = {"iterations": 2, "start_iterations": 1, "threads": 1}


@pytest.fixture(scope="module")
def lines():
    """Pairs of the sample, of which half have words that models do not know; some are empty, some repeated."""
    sample = files("cepts") / "sample"
    sides = [(sample / f"sample.{name}").read_text("utf-8").splitlines()[: PAIRS - 10] for name in ("en", "fr")]
    sides[0][3] = sides[1][7] = sides[0][9] = sides[1][9] = ""
    sides[0][70] = f"{sides[0][70]} " * 9
    return [side + side[60:70] for side in sides]


@pytest.fixture
def texts(lines, tmp_path):
    for name, side in zip(("en", "fr"), lines, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in side), "utf-8")
    return BitextFiles(source=tmp_path / "en", target=tmp_path / "fr")


@pytest.fixture(scope="module")
def trained(lines):
    return Bitext.from_tokens([*zip(*(side[:TRAINED] for side in lines), strict=True)])


@pytest.fixture(scope="module")
def scorers(trained, tmp_path_factory):
    """Loaded scorers by name: what they know of their training texts was saved with them."""
    home = tmp_path_factory.mktemp("models")
    models = {
        "hmm": HMM(**OPTIONS),
        "mixed": Mixed(**OPTIONS, max_length=50),
        "ibm2": IBM2(**OPTIONS),
        "rare": HMM(**OPTIONS, max_vocabulary=40),
    }
    found = {}
    for name, model in models.items():
        model.fit(trained).save(home / name)
        found[name] = type(model).load(home / name)
    links = found["hmm"].align(trained)
    tuned = TunedScorer([found["hmm"]], threads=1).fit(trained, Alignments.from_links([one.links for one in links]))
    found["tuned"] = tuned
    found["mixture"] = ScorerMixture([found["hmm"], found["mixed"]], [2, 1])
    found["phrases"] = PhraseAligner.load("token")
    return found


@pytest.fixture
def aligned(monkeypatch, tmp_path):
    """Align texts in parts of so many words, read in blocks of so many bytes; returns the bytes of all outputs."""

    def run(texts, scorer, *, words=LARGE, block_bytes=1 << 21, threads=1, extraction=None, **outputs):
        monkeypatch.setattr(passing, "WORDS_IN_PART", words)
        monkeypatch.setattr(inputs, "bitext_parts", partial(inputs.bitext_parts, block_bytes=block_bytes))
        for member in getattr(scorer, "scorers", [scorer]):
            member.threads = threads
        written = {name: tmp_path / f"out.{name}" for name in ("links", *outputs.pop("also", ()))}
        job = AlignJob(
            texts=texts,
            scorer=lambda: scorer,
            extraction=extraction or Extraction(),
            outputs=AlignOutputs(**written, **outputs),
        )
        summary = align_files(job)
        return {name: path.read_bytes() for name, path in written.items()}, summary.as_dict()

    return run


def parts_in(texts, words, monkeypatch):
    monkeypatch.setattr(passing, "WORDS_IN_PART", words)
    with texts.passing() as text:
        return list(text)


# -- parts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [1, 100, 3000, LARGE])
@pytest.mark.parametrize("block_bytes", [50, 1000, 1 << 21])
def test_parts_are_cut_by_the_text_alone(texts, words, block_bytes, monkeypatch):
    whole = read_bitext(texts.source, texts.target)
    wanted = parts_in(texts, words, monkeypatch)
    monkeypatch.setattr(inputs, "bitext_parts", partial(inputs.bitext_parts, block_bytes=block_bytes, threads=2))
    parts = parts_in(texts, words, monkeypatch)
    assert [len(part) for part in parts] == [len(part) for part in wanted]
    assert (len(parts) == 1) == (words == LARGE)
    assert [part[pair] for part in parts for pair in range(len(part))] == [whole[pair] for pair in range(PAIRS)]
    sizes = [len(part.source.ids) + len(part.target.ids) + len(part) for part in parts]
    assert all(size <= words or len(part) == 1 for size, part in zip(sizes, parts, strict=True))
    for part in parts:  # words are those of the part, in the order of first use
        again = Bitext.from_tokens(part[pair] for pair in range(len(part)))
        for one, other in zip((part.source, part.target), (again.source, again.target), strict=True):
            np.testing.assert_array_equal(one.ids, other.ids)
            assert one.vocabulary.words == other.vocabulary.words


def test_the_whole_text_and_parts_of_it(texts, monkeypatch):
    monkeypatch.setattr(passing, "WORDS_IN_PART", 300)
    wanted = read_bitext(texts.source, texts.target)
    with texts.passing() as text:
        whole = text.whole()
    np.testing.assert_array_equal(whole.source.ids, wanted.source.ids)
    assert whole.target.vocabulary.words == wanted.target.vocabulary.words
    with texts.passing() as text:
        start = 0
        for part in text:
            assert text.part(start, start + 1)[0] == wanted[start] == part[0]
            start += len(part)
    assert start == PAIRS


# -- the same bytes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hmm", "mixed", "ibm2", "rare", "tuned", "mixture", "phrases"])
def test_links_scores_and_qualities_are_those_of_the_whole_text(name, scorers, texts, aligned):
    also = ("scores",) if name == "phrases" else ("scores", "quality")
    how = {"format": "scored", "also": also}
    wanted, summary = aligned(texts, scorers[name], **how)
    assert wanted["links"].count(b"\n") == PAIRS
    for words, block_bytes, threads in ((400, 700, 2), (1500, 1 << 21, 1)):
        found = aligned(texts, scorers[name], words=words, block_bytes=block_bytes, threads=threads, **how)
        assert found == (wanted, summary)


@pytest.mark.parametrize("format", LINK_FORMATS)
def test_formats_and_matrices_are_those_of_the_whole_text(format, scorers, texts, aligned):
    how = {"format": format, "also": ("matrices",)}
    assert aligned(texts, scorers["hmm"], words=500, **how) == aligned(texts, scorers["hmm"], **how)


@pytest.mark.parametrize("cepts", ["anneal", 3, "aic"])
def test_cepts_are_those_of_the_whole_text(cepts, scorers, texts, aligned):
    """Random starts, those of AIC, depend on the numbers of pairs."""
    extraction = Extraction(combine="onmf", factoring=Factoring(cepts=cepts, restarts=2))
    how = {"format": "json", "extraction": extraction}
    assert aligned(texts, scorers["hmm"], words=500, **how) == aligned(texts, scorers["hmm"], **how)


def test_lists_are_those_of_the_whole_text(scorers, texts, aligned):
    how = {"lists": 3, "format": "json"}
    assert aligned(texts, scorers["hmm"], words=500, **how) == aligned(texts, scorers["hmm"], **how)


def test_matrices_that_are_given_belong_to_pairs_by_their_number(scorers, texts, aligned):
    given = MatrixScorer(scorers["hmm"].associate(read_bitext(texts.source, texts.target)))
    mixture = ScorerMixture([scorers["mixed"], given])
    assert needs_whole_text(mixture)
    for scorer in (given, mixture):
        assert aligned(texts, scorer, words=500, format="scored") == aligned(texts, scorer, format="scored")


def test_spaces_give_the_links_of_the_whole_text(tmp_path, aligned):
    random = np.random.default_rng(1)
    numbers = [random.integers(0, 150, random.integers(1, 9)) for _ in range(80)]
    for name in ("en", "fr"):
        lines = ("".join(f"{name}{number} " for number in each) + "Zork 42 !\n" for each in numbers)
        (tmp_path / name).write_text("".join(lines))
    texts = BitextFiles(source=tmp_path / "en", target=tmp_path / "fr")
    views = toy_views()
    space = IBFA(exponent=1.0, shrinkage=0.01).fit(views, toy_dictionary()).space_
    wanted = aligned(texts, SpaceScorer(space, views), format="scored")
    assert wanted[1]["links"] > 300
    assert aligned(texts, SpaceScorer(space, views), words=150, threads=2, format="scored") == wanted


def test_the_vectors_of_an_encoder_may_need_the_whole_text(texts, aligned):
    class Independent(StaticEncoder):
        independent = True

    assert needs_whole_text(EncoderScorer(StaticEncoder()))
    assert not needs_whole_text(EncoderScorer(Independent()))
    wanted = aligned(texts, EncoderScorer(Independent()), format="scored")
    assert aligned(texts, EncoderScorer(StaticEncoder()), words=500, format="scored") == wanted
    assert aligned(texts, EncoderScorer(Independent()), words=500, format="scored") == wanted


def test_only_the_new_words_of_a_part_are_encoded():
    class Counting(StaticEncoder):
        words = 0

        def encode(self, sentences, side):
            self.words += sum(map(len, sentences))
            return super().encode(sentences, side)

    scorer = EncoderScorer(Counting(), threads=1)
    for part in ([("en1 en2", "fr1")], [("en2 en3 en1", "fr1")], [("en1", "fr2 fr1")]):
        wanted = EncoderScorer(StaticEncoder(), threads=1).associate(part)
        np.testing.assert_array_equal(scorer.associate(part).values, wanted.values)
    assert scorer.encoder.words == 3 + 1 + 1


# -- forms of input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["pipes", "tsv", "gz", "stdin", "tmx", "jsonl"])
def test_every_form_of_input_gives_the_same_links(form, lines, scorers, texts, aligned, tmp_path, monkeypatch):
    wanted = aligned(texts, scorers["hmm"], format="scored")[0]["links"]
    pairs = [(" ".join(a.split()), " ".join(b.split())) for a, b in zip(*lines, strict=True)]
    path = tmp_path / f"text.{form}"
    other = BitextFiles(source=path)
    if form == "gz":
        path.write_bytes(gzip.compress("".join(f"{a}\t{b}\n" for a, b in pairs).encode()))
        other = replace(other, format="tsv")
    elif form == "stdin":
        given = "".join(f"{a} ||| {b}\n" for a, b in pairs).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        other = BitextFiles(source="-")
    elif form == "tmx":
        units = (
            f'<tu><tuv xml:lang="en"><seg>{escape(a)}</seg></tuv><tuv xml:lang="fr"><seg>{escape(b)}</seg></tuv></tu>'
            for a, b in pairs
        )
        path.write_text(f'<tmx version="1.4"><header/><body>{"".join(units)}</body></tmx>', "utf-8")
    elif form == "jsonl":
        path.write_text("".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in pairs))
    else:
        separator = "\t" if form == "tsv" else " ||| "
        path.write_text("".join(f"{a}{separator}{b}\n" for a, b in pairs), "utf-8")
    found, _ = aligned(other, scorers["hmm"], words=600, block_bytes=900, format="scored")
    assert found["links"] == wanted


def test_one_side_may_come_from_standard_input(texts, scorers, aligned, monkeypatch):
    wanted = aligned(texts, scorers["hmm"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(texts.source).read_bytes())))
    assert aligned(replace(texts, source="-"), scorers["hmm"], words=600, block_bytes=900) == wanted


# -- paraphrases -------------------------------------------------------------------------------------------------------


@pytest.fixture
def align_phrases(monkeypatch, tmp_path):
    """Align paraphrases with the English token model in parts of so many words; returns the bytes of all outputs."""

    def run(*paths, words=LARGE, format="json", extraction=None, **how):
        monkeypatch.setattr(passing, "WORDS_IN_ANNOTATED_PART", words)
        outputs = {name: tmp_path / f"out.{name}" for name in ("links", *how.pop("also", ()))}
        lists = {"lists": how.pop("lists", None)}
        writer = SentencePairWriter(outputs["links"], format=format)
        sides = str(paths[0]), str(paths[1]) if paths[1:] else None
        notices = []
        summary = align_pair_files(
            how.pop("model", "token"), sides, writer, AlignOutputs(**outputs, **lists), extraction,
            notices=notices, threads=1, **how,
        )  # fmt: skip
        return {name: path.read_bytes() for name, path in outputs.items()}, summary.as_dict(), notices

    return run


PARAPHRASES = Path(__file__).parents[2] / "examples" / "paraphrases.jsonl"


@pytest.mark.parametrize(
    "how",
    [
        {"also": ("scores", "matrices")},
        {"format": "naacl"},
        {"format": "jacana"},
        {"lists": 2},
        {"phrase_links": PhraseLinks(links="phrases", synthesise=True)},
        {"extraction": Extraction(combine="onmf", factoring=Factoring(cepts="aic", restarts=2))},
    ],
    ids=["files", "naacl", "jacana", "lists", "synthesised", "random"],
)
def test_paraphrases_are_aligned_as_if_they_were_read_whole(how, align_phrases, tmp_path):
    given = tmp_path / "pairs.jsonl"
    given.write_bytes(PARAPHRASES.read_bytes() + b'{"source": [], "target": ["a"]}\n' + PARAPHRASES.read_bytes())
    wanted = align_phrases(given, **how)
    assert wanted[1]["pairs"] > 10
    assert align_phrases(given, words=60, **how) == wanted


def test_running_text_of_paraphrases_is_cut_in_every_part(align_phrases, tmp_path):
    sides = ["It's cold, isn't it?\n" * 20, "It is cold, no?\n" * 20]
    for name, side in zip("ab", sides, strict=True):
        (tmp_path / name).write_text(side)
    wanted = align_phrases(tmp_path / "a", tmp_path / "b")
    assert b'"n\'t"' in wanted[0]["links"]
    assert "is not tokenised" in wanted[2][0]
    assert align_phrases(tmp_path / "a", tmp_path / "b", words=30) == wanted


def test_what_is_wrong_with_later_paraphrases_is_named(align_phrases, tmp_path, monkeypatch):
    examples = [json.loads(line) for line in PARAPHRASES.read_text().splitlines()]
    last = examples[-1].copy()
    for record in examples:
        record |= {f"{side}_pos": ["X"] * len(record[side]) for side in ("source", "target")}
    given = tmp_path / "pairs.jsonl"
    given.write_text("".join(json.dumps(record) + "\n" for record in examples))
    PhraseAligner(language=None, iterations=1, threads=1).fit(read_sentence_pairs(given)).save(tmp_path / "model")
    given.write_text("".join(json.dumps(record) + "\n" for record in [*examples, last]))
    before = {path.name for path in tmp_path.iterdir()}
    for words in (60, LARGE):
        with pytest.raises(
            DataError, match=rf"pairs.jsonl: .* sentence of pair {len(examples) + 1} .*has no \w+ column"
        ):
            align_phrases(given, words=words, model=str(tmp_path / "model"))
    (tmp_path / "a").write_text("a b\n" * 9)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a b\n" * 11)))
    with pytest.raises(DataError, match=r"standard input has 11 lines but .* has 9; a bitext needs one"):
        align_phrases("-", tmp_path / "a", words=10)
    assert {path.name for path in tmp_path.iterdir()} == before | {"a"}


# -- errors ------------------------------------------------------------------------------------------------------------


def never_called(*_):
    raise AssertionError("the text should have been refused before it was aligned")


@pytest.mark.parametrize("packed", [False, True])
def test_files_of_different_length_are_refused_before_the_work(packed, texts, tmp_path, monkeypatch):
    longer = Path(texts.target).read_bytes() + b"one more"
    path = tmp_path / ("fr.gz" if packed else "fr")
    path.write_bytes(gzip.compress(longer) if packed else longer)
    monkeypatch.setattr(passing, "WORDS_IN_PART", 200)
    monkeypatch.setattr(inputs, "bitext_parts", partial(inputs.bitext_parts, block_bytes=300, threads=1))
    job = AlignJob(
        texts=replace(texts, target=path), scorer=never_called, outputs=AlignOutputs(links=tmp_path / "links")
    )
    with pytest.raises(DataError) as refused:
        align_files(job)
    assert "has 130 lines but" in str(refused.value)
    assert "has 131; a bitext needs one target line for each source line" in str(refused.value)
    assert "The first line without a partner is 131" in str(refused.value)
    assert not (tmp_path / "links").exists()


@pytest.mark.parametrize("lines", [["a", "b\n"], ["\n\n", "\n \n"], ["", ""]])
def test_lines_are_counted_as_the_reader_counts_them(lines, tmp_path):
    for name, text in zip("ab", lines, strict=True):
        (tmp_path / name).write_text(text)
    check_even(tmp_path / "a", tmp_path / "b")
    (tmp_path / "b").write_text(lines[1] + "x")
    with pytest.raises(DataError, match=r"has .* lines but .* has"):
        check_even(tmp_path / "a", tmp_path / "b")


def test_what_is_found_late_leaves_no_half_written_files(texts, scorers, aligned, tmp_path, monkeypatch):
    """Standard input cannot be counted beforehand, and bytes that are not UTF-8 are found when they are read."""
    source = Path(texts.source).read_bytes()
    before = {path.name for path in tmp_path.iterdir()}
    how = {"words": 200, "block_bytes": 300, "also": ("scores", "matrices")}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source + b"one more\n")))
    with pytest.raises(DataError, match=r"standard input has 131 lines but .* has 130; a bitext needs"):
        aligned(replace(texts, source="-"), scorers["hmm"], **how)
    Path(texts.source).write_bytes(source[:-1] + b"\xff\n")
    with pytest.raises(DataError, match=r"en, line 130: byte .* is not valid UTF-8"):
        aligned(texts, scorers["hmm"], **how)
    Path(texts.source).write_bytes(source)
    extraction = Extraction(combine="onmf", factoring=Factoring(cepts=300))
    with pytest.raises(UsageError, match=r"`cepts` must be at most .*, the length of the shorter side of the longest"):
        aligned(texts, scorers["hmm"], extraction=extraction, **how)
    assert {path.name for path in tmp_path.iterdir()} == before


def test_progress_counts_the_pairs_of_all_parts(texts, scorers, tmp_path, monkeypatch):
    monkeypatch.setattr(passing, "WORDS_IN_PART", 500)
    monkeypatch.setattr(inputs, "bitext_parts", partial(inputs.bitext_parts, block_bytes=500, threads=1))
    steps = []
    job = AlignJob(texts=texts, scorer=lambda: scorers["hmm"], outputs=AlignOutputs(links=tmp_path / "links"))
    align_files(job, progress=steps.append)
    aligning = [step for step in steps if step.stage == "aligning"]
    done = [step.done for step in aligning]
    assert done == sorted(done)
    assert aligning[-1].done == aligning[-1].total == PAIRS
    assert all(step.done <= step.total for step in aligning)
    assert 0.5 * PAIRS < aligning[len(aligning) // 2].total < 1.5 * PAIRS
    steps.clear()
    pairs = zip(*(Path(path).read_bytes().splitlines() for path in (texts.source, texts.target)), strict=True)
    given = b"".join(b"%s\t%s\n" % pair for pair in pairs)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    align_files(replace(job, texts=BitextFiles(source="-", format="tsv")), progress=steps.append)
    assert (steps[-1].done, steps[-1].total, steps[-1].note) == (PAIRS, 0, f"{PAIRS} pairs")
