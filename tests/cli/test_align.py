from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re

import pytest
import zstandard

from cepts import words
from cepts.cli import align
from cepts.extract import METHODS
from cepts.names import LINK_FORMATS, WORD_MODELS
from cepts.words import aligner as aligner_module
from cepts.words.index import Sizes

QUICK = ("--iterations", 2, "--start-iterations", 2)
LINKS = {
    "pharaoh": r"(\d+-\d+( \d+-\d+)*)?",
    "scored": r"(\d+-\d+:[01]\.\d{4}( \d+-\d+:[01]\.\d{4})*)?",
}
COMPRESS = {
    "gz": (gzip.compress, gzip.decompress),
    "bz2": (bz2.compress, bz2.decompress),
    "xz": (lzma.compress, lzma.decompress),
    "zst": (
        zstandard.ZstdCompressor().compress,
        lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    ),
}


def links_of(line, base=0):
    return [tuple(int(number) - base for number in re.split("[-?]", link)) for link in line.split()]


def assert_in_range(lines, sentences):
    assert len(lines) == len(sentences[0])
    for line, source, target in zip(lines, *sentences, strict=True):
        for i, j in links_of(line):
            assert 0 <= i < len(source.split())
            assert 0 <= j < len(target.split())


def test_options_are_those_of_the_library():
    """What a model is made with can be said on the command line."""
    options = {option.name for option in align.command.params}
    assert {*words.IBM4.parameters()} - {"concentration", "tolerance"} <= options


def test_every_way_to_train_is_refused_of_a_loaded_model(cepts, corpus):
    others = {"concentration", "tolerance", "max_length", "threads"}
    for name in sorted({*words.IBM4.parameters()} - others):
        option = name.replace("_", "-")
        value = {"lexicon": "ml", "stems": "6,4", "null_prob": 0.2}.get(name, 3)
        given = [f"--no-{option}"] if name in {"agreement", "lowercase"} else [f"--{option}", value]
        ran = cepts("align", "en", "fr", "--load", "m", *given)
        assert ran.error.startswith(f"--{option}: --load uses a model that is already trained")
    for given in (("--memory", "1G"), ("--engine", "dask"), ("--checkpoint", "c")):
        ran = cepts("align", "en", "fr", "--load", "m", *given)
        assert ran.error.startswith(f"{given[0]}: --load uses a model that is already trained")
        assert "is about training" in cepts("align", "en", "fr", "--encoder", "use", *given).error


# -- what comes out ------------------------------------------------------------------------------------------------


def test_links_on_stdout_and_the_summary_on_stderr(cepts, corpus, sentences):
    ran = cepts("align", "en", "fr", "--save", "model")
    assert ran.code == 0
    assert_in_range(ran.lines, sentences)
    count = sum(len(line.split()) for line in ran.lines)
    source_words, target_words = (sum(len(line.split()) for line in side) for side in sentences)
    assert count > len(ran.lines)
    summary = ran.err.splitlines()
    assert len(summary) == 3
    assert re.fullmatch(rf"aligned  120 pairs, {source_words:,} \+ {target_words:,} words, in \d+\.\d s", summary[0])
    covered = []
    for side, whole in ((0, source_words), (1, target_words)):
        found = sum(len({link[side] for link in links_of(line)}) for line in ran.lines)
        covered.append(f"{found / whole:.1%}")
    assert summary[1] == (
        f"links    {count:,}; covered {covered[0]} of the source and {covered[1]} of the target words"
    )
    assert summary[2].startswith("model    model ")
    assert "--load" in summary[2]


def test_quiet_is_silent(cepts, corpus):
    ran = cepts("align", "en", "fr", "-q", "-o", "links", *QUICK)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert len((corpus / "links").read_text().splitlines()) == 120


@pytest.mark.parametrize("model", WORD_MODELS)
def test_every_model(cepts, corpus, sentences, model):
    ran = cepts("align", "en", "fr", "--model", model, *QUICK)
    assert ran.code == 0
    assert_in_range(ran.lines, sentences)
    assert any(ran.lines)


def test_combinations_are_those_of_cepts_combine(cepts, corpus, trained):
    for method in ("forward", "reverse"):
        assert cepts("align", "en", "fr", "--load", trained, "--combine", method, "-o", method).code == 0
    for method in METHODS:
        wanted = cepts("combine", "forward", "reverse", "--method", method).out
        assert cepts("align", "en", "fr", "--load", trained, "--combine", method).out == wanted


@pytest.mark.parametrize("lexicon", ["ml", "bayes", "backoff"])
def test_every_lexicon_and_the_other_options_of_training(cepts, corpus, sentences, lexicon):
    more = ["--no-agreement", "--no-lowercase", "--prefix", 4, "--null-prob", 0.2, "--stems", "3,2"]
    ran = cepts("align", "en", "fr", "--lexicon", lexicon, *more, "--spelling", 0.5, *QUICK)
    assert ran.code == 0
    assert_in_range(ran.lines, sentences)


def test_a_lower_threshold_gives_more_links(cepts, corpus, trained):
    low, high = (
        cepts("align", "en", "fr", "--load", trained, "--threshold", threshold).lines for threshold in (0.1, 0.9)
    )
    for more, fewer in zip(low, high, strict=True):
        assert set(more.split()) >= set(fewer.split())
    assert low != high


@pytest.mark.parametrize("format_", LINK_FORMATS)
def test_every_format_reads_back_as_the_same_links(cepts, corpus, trained, format_):
    plain = (trained.parent / "links").read_text()
    ran = cepts("align", "en", "fr", "--load", trained, "--format", format_, "-o", "links")
    assert ran.code == 0
    text = (corpus / "links").read_text("utf-8")
    if format_ in LINKS:
        assert all(re.fullmatch(LINKS[format_], line) for line in text.splitlines())
    back = cepts("convert", "links", "--from", format_, "--to", "pharaoh", "--sentences", 120)
    assert (back.code, back.err) == (0, "")
    assert back.out == plain


def test_base_one(cepts, corpus, trained):
    plain = (trained.parent / "links").read_text().splitlines()
    ran = cepts("align", "en", "fr", "--load", trained, "--base", 1)
    assert [links_of(line, 1) for line in ran.lines] == [links_of(line) for line in plain]


def test_json_shows_the_sentences(cepts, corpus, sentences, trained):
    ran = cepts("align", "en", "fr", "--load", trained, "--format", "json")
    for line, source, target in zip(ran.lines, *sentences, strict=True):
        record = json.loads(line)
        assert (record["source"], record["target"]) == (source.split(" "), target.split(" "))
        assert all(0 <= link["confidence"] <= 1 for link in record["links"])


def test_a_no_break_space_stays_inside_its_token(cepts, corpus):
    (corpus / "nbsp").write_text("10\u00a0000 euros\u2003\n\u00a0 a\u3000b\n", "utf-8")
    ran = cepts("align", "nbsp", "nbsp", "--format", "json")
    first, second = map(json.loads, ran.lines)
    assert first["source"] == first["target"] == ["10\u00a0000", "euros\u2003"]
    assert second["source"] == ["\u00a0", "a\u3000b"]


def test_scores_have_a_line_for_each_pair(cepts, corpus):
    for name in ("en", "fr"):
        lines = (corpus / name).read_text("utf-8").split("\n")
        lines[5] = ""
        (corpus / name).write_text("\n".join(lines), "utf-8")
    ran = cepts("align", "en", "fr", "--scores", "scores.gz", "-o", "links", *QUICK)
    assert ran.code == 0
    lines = gzip.decompress((corpus / "scores.gz").read_bytes()).decode().splitlines()
    assert len(lines) == 120
    assert lines[5] == "0.000000\t0.000000"
    for line in [*lines[:5], *lines[6:]]:
        forward, reverse = map(float, line.split("\t"))
        assert forward < 0
        assert reverse < 0


def test_lines_in_are_lines_out(cepts, corpus, sentences):
    """Empty lines, empty sides, white space of every kind, CRLF and a last line without its newline."""
    english, french = sentences
    source = ["", english[0], "", english[1], " \t ", f"  {english[2]}\t\r", english[3], "\u2028 x"]
    target = ["", "", french[0], french[1], french[2], french[2], french[3], "\x0b\x0c"]
    (corpus / "a").write_bytes("\n".join(source).encode())
    (corpus / "b").write_bytes(("\n".join(target) + "\n").encode())
    ran = cepts("align", "a", "b", "--threshold", 0.001)
    assert ran.code == 0
    assert len(ran.lines) == 8
    assert [bool(line) for line in ran.lines] == [False, False, False, True, False, True, True, False]
    assert "empty    5 pairs with an empty side" in ran.err
    assert cepts("align", "a", "b", "--format", "json").out.count("\n") == 8
    assert cepts("align", "a", "b", "--format", "giza").out.count("\n") == 24


def test_a_pair_with_an_empty_side_changes_no_other(cepts, corpus, sentences):
    wanted = cepts("align", "en", "fr", *QUICK).lines
    (corpus / "a").write_text("\n".join(["words seen nowhere else", *sentences[0]]), "utf-8")
    (corpus / "b").write_text("\n".join(["", *sentences[1]]), "utf-8")
    assert cepts("align", "a", "b", *QUICK).lines == ["", *wanted]


def test_only_empty_lines(cepts, corpus):
    (corpus / "a").write_text("\n \n")
    ran = cepts("align", "a", "a")
    assert (ran.code, ran.lines) == (0, ["", ""])
    assert "2 pairs" in ran.err


# -- what goes in --------------------------------------------------------------------------------------------------


@pytest.fixture
def wanted(cepts, corpus):
    """The links of the two text files."""
    return cepts("align", "en", "fr", *QUICK).out


def one_file(sentences, separator):
    return "".join(f"{source}{separator}{target}\n" for source, target in zip(*sentences, strict=True)).encode()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_input_and_output(cepts, corpus, wanted, suffix):
    compress, decompress = COMPRESS[suffix]
    for name in ("en", "fr"):
        (corpus / f"{name}.{suffix}").write_bytes(compress((corpus / name).read_bytes()))
    out = f"links.{suffix}"
    assert cepts("align", f"en.{suffix}", f"fr.{suffix}", "-o", out, *QUICK).code == 0
    assert decompress((corpus / out).read_bytes()).decode() == wanted


@pytest.mark.parametrize(("separator", "name"), [(" ||| ", "pairs"), ("\t", "pairs.tsv"), ("\t", "pairs")])
def test_one_file_with_both_sides(cepts, corpus, sentences, wanted, separator, name):
    (corpus / name).write_bytes(one_file(sentences, separator))
    assert cepts("align", name, *QUICK).out == wanted


@pytest.mark.parametrize(
    ("separator", "options"),
    [(" ||| ", []), ("\t", []), ("\t", ["--input-format", "tsv"]), (" ||| ", ["--input-format", "pipes"])],
)
def test_stdin_with_both_sides(cepts, corpus, sentences, wanted, separator, options):
    ran = cepts("align", "-", *options, *QUICK, stdin=one_file(sentences, separator))
    assert (ran.code, ran.out) == (0, wanted)


def test_stdin_for_one_side_and_compressed(cepts, corpus, wanted):
    data = (corpus / "en").read_bytes()
    assert cepts("align", "-", "fr", *QUICK, stdin=data).out == wanted
    assert cepts("align", "-", "fr", *QUICK, stdin=gzip.compress(data)).out == wanted


def tmx_of(sentences):
    from xml.sax.saxutils import escape

    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{escape(source)}</seg></tuv>'
        f'<tuv xml:lang="fr-FR"><seg>{escape(target)}</seg></tuv></tu>\n'
        for source, target in zip(*sentences, strict=True)
    )
    return f'<?xml version="1.0"?>\n<tmx version="1.4"><header/><body>\n{units}</body></tmx>\n'.encode()


def test_tmx(cepts, corpus, sentences, wanted):
    (corpus / "corpus.tmx").write_bytes(tmx_of(sentences))
    assert cepts("align", "corpus.tmx", *QUICK).out == wanted
    assert cepts("align", "-", "--languages", "en,fr", *QUICK, stdin=tmx_of(sentences)).out == wanted
    swapped = cepts("align", "corpus.tmx", "--languages", "fr,en", *QUICK)
    assert swapped.out == cepts("align", "fr", "en", *QUICK).out
    assert "found no text in de" in cepts("align", "corpus.tmx", "--languages", "en,de").error


def test_parquet(cepts, corpus, sentences, wanted):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"other": sentences[1], "mine": sentences[0]}), corpus / "corpus.parquet")
    assert cepts("align", "corpus.parquet", "--columns", "mine,other", *QUICK).out == wanted
    assert "wanted a text column no" in cepts("align", "corpus.parquet", "--columns", "mine,no").error
    rows = [{"en": source, "fr": target} for source, target in zip(*sentences, strict=True)]
    pq.write_table(pa.table({"translation": rows}), corpus / "hub.parquet")
    assert cepts("align", "hub.parquet", "--languages", "en,fr", *QUICK).out == wanted


# -- models --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", WORD_MODELS)
def test_a_loaded_model_gives_the_same_bytes(cepts, corpus, model):
    options = ["--format", "scored", "--scores"]
    trained = cepts("align", "en", "fr", "--model", model, "--save", "model", *options, "scores", *QUICK)
    loaded = cepts("align", "en", "fr", "--load", "model", *options, "again")
    assert (trained.code, loaded.code) == (0, 0)
    assert loaded.out == trained.out
    assert (corpus / "again").read_text() == (corpus / "scores").read_text()


def test_saving_again_replaces_the_model(cepts, corpus):
    first = cepts("align", "en", "fr", "--save", "model", *QUICK)
    assert cepts("align", "fr", "en", "--save", "model", *QUICK).code == 0
    assert cepts("align", "en", "fr", "--save", "model", *QUICK).out == first.out
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr", "model"]


def test_a_loaded_model_aligns_new_sentences(cepts, corpus, trained):
    (corpus / "new.en").write_text("The connection xyzzy .\n\nplugh\n")
    (corpus / "new.fr").write_text("La connexion frotz .\nx\nplugh\n")
    ran = cepts("align", "new.en", "new.fr", "--load", trained)
    assert ran.code == 0
    assert len(ran.lines) == 3
    assert {"0-0", "1-1", "3-3"} <= set(ran.lines[0].split())
    assert ran.lines[1] == ""


def test_a_loaded_model_takes_another_max_length(cepts, corpus, trained):
    ran = cepts("align", "en", "fr", "--load", trained, "--max-length", 8)
    assert ran.code == 0
    assert 0 < sum(map(bool, ran.lines)) < 120
    assert "more than 8 words" in ran.err


@pytest.mark.parametrize("model", WORD_MODELS)
def test_one_and_two_threads_give_the_same_bytes(cepts, corpus, monkeypatch, model):
    """With shards so small that there are many, as there are of large texts."""
    monkeypatch.setattr(aligner_module, "SIZES", Sizes(block=1000, shard=3000, range=2000))
    outputs = set()
    for threads in (1, 2):
        options = ["--threads", threads, "--model", model, "--format", "scored", "--save", f"model{threads}"]
        outputs.add(cepts("align", "en", "fr", *options, *QUICK).out)
    assert len(outputs) == 1
    for name in ("arrays.safetensors", "model.json"):
        assert (corpus / "model1" / name).read_bytes() == (corpus / "model2" / name).read_bytes()


@pytest.mark.parametrize("lexicon", ["ml", "bayes", "backoff"])
def test_training_goes_on_from_a_checkpoint(cepts, corpus, lexicon):
    """After one of three iterations, and after all of them."""
    options = ["--start-iterations", 2, "--format", "scored", "--lexicon", lexicon]
    whole = cepts("align", "en", "fr", *options, "--iterations", 3, "--save", "whole")
    options += ["--checkpoint", "state"]
    assert cepts("align", "en", "fr", *options, "--iterations", 1).code == 0
    assert cepts("align", "en", "fr", *options, "--iterations", 3).out == whole.out
    assert cepts("align", "en", "fr", *options, "--iterations", 3, "--save", "resumed").out == whole.out
    arrays = [(corpus / name / "arrays.safetensors").read_bytes() for name in ("whole", "resumed")]
    assert arrays[0] == arrays[1]


def test_an_output_may_be_an_input(cepts, corpus):
    wanted = cepts("align", "en", "fr", *QUICK).out
    assert cepts("align", "en", "fr", "-o", "en", *QUICK).code == 0
    assert (corpus / "en").read_text() == wanted


def test_training_that_goes_on_says_so(cepts, corpus):
    given = ("align", "en", "fr", "--checkpoint", "state", "--model", "ibm1", "--lexicon", "ml", "-o", "links")
    assert "resumed" not in cepts(*given, "--iterations", 2).err
    again = cepts(*given, "--iterations", 3)
    assert again.err.splitlines()[0] == "resumed  training ibm1: 2 of 3 iterations were done before"
    assert cepts(*given, "--iterations", 3, "-q").err == ""


# -- papers ----------------------------------------------------------------------------------------------------------


def test_a_paper_stands_for_its_options(cepts, corpus):
    by_name = cepts("align", "en", "fr", "--paper", "onmf", "--nbest", 10, *QUICK)
    training = ("--model", "ibm4", "--lexicon", "ml", "--no-agreement", *QUICK)
    links = ("--combine", "onmf", "--association", "nbest-plain", "--nbest", 10, "--spread", 0, "--cepts", "aic")
    spelt_out = cepts("align", "en", "fr", *training, *links)
    assert by_name.code == spelt_out.code == 0
    assert by_name.out == spelt_out.out
    (said,) = [line for line in by_name.err.splitlines() if line.startswith("paper ")]
    wanted = "--model ibm4 --lexicon ml --no-agreement --combine onmf --association nbest-plain --spread 0 --cepts aic "
    assert said == f"paper    onmf: {wanted}--restarts 10 --assign map --orphans retrain"


def test_options_that_are_given_replace_those_of_a_paper(cepts, corpus):
    ran = cepts("align", "en", "fr", "--paper", "onmf", "--model", "hmm", "--agreement", "--cepts", "bic", *QUICK)
    same = ("--model", "hmm", "--lexicon", "ml", "--agreement", "--combine", "onmf", "--association", "nbest-plain")
    assert ran.out == cepts("align", "en", "fr", *same, "--cepts", "bic", *QUICK).out
    # Neither lists nor random starts go with these.
    ran = cepts("align", "en", "fr", "--paper", "onmf", "--association", "agreement", "--cepts", "anneal", *QUICK)
    same = ("--model", "ibm4", "--lexicon", "ml", "--no-agreement", "--combine", "onmf", "--spread", 0)
    assert (ran.code, ran.out) == (0, cepts("align", "en", "fr", *same, *QUICK).out)
    other = cepts("align", "en", "fr", "--paper", "ibm1", "--combine", "agreement", "--iterations", 3)
    assert other.out == cepts("align", "en", "fr", "--model", "ibm1", "--iterations", 3).out


def test_a_paper_of_a_loaded_model_is_how_links_are_made(cepts, corpus, trained):
    ran = cepts("align", "en", "fr", "--load", trained, "--paper", "onmf", "--nbest", 5)
    assert ran.code == 0
    same = ("--combine", "onmf", "--association", "nbest-plain", "--nbest", 5, "--cepts", "aic")
    assert ran.out == cepts("align", "en", "fr", "--load", trained, *same).out
    assert cepts("align", "en", "fr", "--paper", "mfa").error.startswith("Invalid value for '--paper'")


def test_the_likelihood_is_drawn(cepts, corpus, trained):
    assert cepts("align", "en", "fr", "--paper", "ibm2", "--plot", "curve.svg", *QUICK).code == 0
    assert (corpus / "curve.svg").read_text().startswith("<?xml")
    refused = cepts("align", "en", "fr", "--load", trained, "--plot", "curve.svg")
    assert refused.error.startswith("--plot draws the likelihood of training, but --load")
    assert "must end in" in cepts("align", "en", "fr", "--plot", "curve.txt").error
