"""One way to use every room: parameters, `fit`, `save`, `load`, `cepts.load`, `cepts.align`."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import cepts
from cepts import cli
from cepts.data import Bitext
from cepts.errors import UsageError
from cepts.estimator import Estimator
from cepts.names import SPACE_METHODS, WORD_MODELS, resolve
from toy_spaces import toy_dictionary, toy_views

EXAMPLES = Path(__file__).parent.parent / "examples"
SOURCE = ["the house", "the red car", "a house", "a car"]
TARGET = ["la maison", "la voiture rouge", "une maison", "une voiture"]

MODELS = [
    *(resolve(home) for home in WORD_MODELS.values()),
    *(resolve(home) for home in SPACE_METHODS.values()),
    cepts.PhraseAligner,
    cepts.TokenAligner,
    cepts.AdaptedModel,
    cepts.KneserNey,
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


@every_model
def test_options_are_spelt_out_and_go_in_and_out(model):
    assert issubclass(model, Estimator)
    parameters = inspect.signature(model).parameters.values()
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    assert all(parameter.default is not parameter.empty for parameter in parameters)
    made = model()
    assert repr(made) == f"{model.__name__}()"
    assert model(**made.get_params()).get_params() == made.get_params()
    assert set(made.get_params()) == {parameter.name for parameter in parameters}
    with pytest.raises(UsageError, match="has no parameter 'colour'"):
        made.set_params(colour="blue")
    with pytest.raises(UsageError, match="is not trained"):
        made.check_fitted()


def test_a_changed_option_shows():
    assert repr(cepts.IBM4(classes=20, threads=2)) == "IBM4(threads=2, classes=20)"
    assert cepts.IBM4().set_params(classes=20).classes == 20
    with pytest.raises(ValueError, match="`classes` must be 1 or more"):
        cepts.IBM4().set_params(classes=0)


def fitted(model):
    """A trained model of a class, on a few lines."""
    if model.__name__ in {"PhraseAligner", "TokenAligner"}:
        pairs = cepts.read_sentence_pairs(EXAMPLES / "paraphrases.jsonl")[:6]
        return model(language=None, iterations=3, threads=1).fit(pairs)
    if issubclass(model, cepts.SpaceModel):
        return model(threads=1).fit(toy_views(), toy_dictionary())
    if model is cepts.AdaptedModel:
        return model(hidden=2, iterations=3, min_count=1, threads=1).fit(
            cepts.Documents.from_tokens([[line.split() for line in SOURCE]] * 6)
        )
    if model is cepts.KneserNey:
        return model(order=2).fit(cepts.Text.from_tokens(SOURCE * 3))
    return model(threads=1).fit(Bitext.from_tokens(zip(SOURCE, TARGET, strict=True)))


@every_model
def test_a_saved_model_of_any_kind_is_loaded_by_its_class_and_by_cepts(model, tmp_path):
    fitted(model).save(tmp_path / "first")
    loaded = cepts.load(tmp_path / "first")
    assert type(loaded) is model
    loaded.save(tmp_path / "again")
    model.load(tmp_path / "first").save(tmp_path / "third")
    for name in ("model.json", "arrays.safetensors"):
        first = (tmp_path / "first" / name).read_bytes()
        assert first == (tmp_path / "again" / name).read_bytes() == (tmp_path / "third" / name).read_bytes()


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


@pytest.mark.parametrize("options", [(), ("--lowercase",), ("--no-lowercase", "--prefix", "3")], ids=str)
@pytest.mark.parametrize("model", ["hmm", "ibm2"])
def test_a_word_model_made_in_python_is_the_one_that_the_command_makes(model, options, tmp_path):
    source = write(tmp_path / "a", [line.title() for line in SOURCE])
    target = write(tmp_path / "b", TARGET)
    made = {"--lowercase": {"lowercase": True}, "--no-lowercase": {"lowercase": False, "prefix": 3}}
    aligner = resolve(WORD_MODELS[model])(**made.get(options[0] if options else "", {}))
    aligner.fit(cepts.read_bitext(source, target)).save(tmp_path / "python")
    command = [
        "align",
        source,
        target,
        "--model",
        model,
        "--save",
        str(tmp_path / "command"),
        "-o",
        str(tmp_path / "l"),
    ]
    assert cli.main([*command, "-o", str(tmp_path / "links"), *options, "-q"]) == 0
    for name in ("model.json", "arrays.safetensors"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()


def test_a_phrase_model_made_in_python_is_the_one_that_the_command_makes(tmp_path):
    pairs = str(EXAMPLES / "paraphrases.jsonl")
    cepts.PhraseAligner(iterations=3).fit(cepts.read_sentence_pairs(pairs)).save(tmp_path / "python")
    command = ["phrases", "train", pairs, "--iterations", "3", "--save", str(tmp_path / "command"), "-q"]
    assert cli.main(command) == 0
    for name in ("model.json", "arrays.safetensors"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()


# -- cepts.align -----------------------------------------------------------------------------------------------------


def links(alignments):
    return [alignment.links for alignment in alignments]


def test_align_takes_files_strings_and_tokens(tmp_path):
    wanted = links(
        cepts.HMM()
        .fit(Bitext.from_tokens(zip(SOURCE, TARGET, strict=True)))
        .align(Bitext.from_tokens(zip(SOURCE, TARGET, strict=True)))
    )
    assert any(wanted)
    tokens = [line.split() for line in SOURCE], [line.split() for line in TARGET]
    pipes = write(tmp_path / "both", [f"{s} ||| {t}" for s, t in zip(SOURCE, TARGET, strict=True)])
    for given in (
        (SOURCE, TARGET),
        tokens,
        (write(tmp_path / "a", SOURCE), tmp_path / Path(write(tmp_path / "b", TARGET)).name),
        (pipes,),
        (list(zip(SOURCE, TARGET, strict=True)),),
    ):
        assert links(cepts.align(*given)) == wanted


def test_align_takes_any_model_and_any_extractor():
    trained = cepts.IBM2().fit(list(zip(SOURCE, TARGET, strict=True)))
    assert links(cepts.align(SOURCE[:1], TARGET[:1], model=trained, combine="union")) == links(
        trained.align([(SOURCE[0], TARGET[0])], combine="union")
    )
    assert links(cepts.align(SOURCE, TARGET, model="ibm2")) == links(cepts.align(SOURCE, TARGET, model=cepts.IBM2()))
    chosen = cepts.Extraction(combine="agreement", threshold=0.01)
    assert links(cepts.align(SOURCE, TARGET, model=trained, combine=chosen)) == links(
        trained.align(list(zip(SOURCE, TARGET, strict=True)), threshold=0.01)
    )
    for name in cepts.EXTRACTORS:
        assert len(cepts.align(SOURCE, TARGET, combine=name)) == len(SOURCE)


def test_what_cannot_be_aligned_is_refused_with_a_remedy():
    with pytest.raises(UsageError, match="both be files or both be lists"):
        cepts.align("the house", ["la maison"])
    with pytest.raises(UsageError, match="did you mean hmm"):
        cepts.align(SOURCE, TARGET, model="hm")
    with pytest.raises(UsageError, match="did you mean union"):
        cepts.align(SOURCE, TARGET, combine="unoin")


def test_a_pair_of_strings_is_split_and_never_taken_letter_by_letter():
    aligner = cepts.HMM().fit(list(zip(SOURCE, TARGET, strict=True)))
    assert (
        aligner.align_pair("the house", "la maison").links
        == aligner.align_pair(["the", "house"], ["la", "maison"]).links
    )
    assert aligner.align_pair("the house", "la maison", combine="forward").links
    with pytest.raises(TypeError, match="put one pair into a list"):
        aligner.align("the house")
    with pytest.raises(TypeError, match="put one pair into a list"):
        aligner.fit("the house")
