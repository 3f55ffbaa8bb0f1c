from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

import oracles_export as oracles
import oracles_ngrams
from cepts.data import Text
from cepts.errors import UsageError
from cepts.io import write_arpa
from cepts.lm import Background, Cache, HiddenDocuments, IncrementalScorer, KneserNey, Predictor
from cepts.lm.adapters import PyCTCDecodeModel, TorchaudioModel
from toy_lm import fitted

BIOLOGY, TRADE = "nucleus mitosis gene", "market shares price"
LABELS = ["", " ", *"abcdefghijklmnopqrstuvwxyz"]


@pytest.fixture(scope="module")
def model():
    """A model of two subjects, in which *sell* is more frequent than *cell*."""
    sentences = [f"the {word}".split() for word in f"{BIOLOGY} {TRADE} cell sell sell".split()] * 3
    ngrams = KneserNey(order=2).fit(Text.from_tokens(sentences)).ngrams_
    vocabulary = ngrams.vocabulary
    content = np.arange(len(vocabulary)) > vocabulary.number("the")
    words = np.full((len(vocabulary), 2), 1e-3, dtype=np.float32)
    words[vocabulary.numbers(f"{BIOLOGY} cell".split()), 0] = 1
    words[vocabulary.numbers(f"{TRADE} sell".split()), 1] = 1
    words = words[content] / words[content].sum(axis=0)
    hidden = HiddenDocuments(words, np.full(2, 0.5, dtype=np.float32), np.flatnonzero(content).astype(np.int32))
    background = Background([ngrams], vocabulary, content)
    weights = np.array([0.3, 0.3, 0.3, 0.1])
    return fitted(Predictor(background, content, hidden, weights, caches=(Cache(5),), exponent=0.5))


def heard(text, alternatives=None, seed=0):
    """Random scores of letters in which `text` stands out, and letters that were heard just as well."""
    random = np.random.default_rng(seed)
    logits = random.normal(size=(2 * len(text), len(LABELS)))
    for place, letter in enumerate(text):
        for other in (letter, (alternatives or {}).get(letter, letter)):
            logits[2 * place, LABELS.index(other)] = 9
        logits[2 * place + 1, 0] = 9  # the blank, without which letters could not be doubled
    return logits


def decoder_of(adapter):
    pyctcdecode = pytest.importorskip("pyctcdecode")
    return pyctcdecode.BeamSearchDecoderCTC(pyctcdecode.Alphabet.build_alphabet(LABELS), language_model=adapter)


# -- pyctcdecode -------------------------------------------------------------------------------------------------------


def test_importing_the_room_imports_no_decoder():
    code = "import sys, cepts.lm.adapters; print({'pyctcdecode', 'torchaudio', 'flashlight', 'kenlm'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_history_decides_between_words_that_sound_alike(model):
    adapter = PyCTCDecodeModel(model, alpha=1.0)
    decoder = decoder_of(adapter)
    said = heard("the cell", {"c": "s"})
    assert decoder.decode(said) == "the sell"
    adapter.accept(f"the {BIOLOGY}\n\nthe {BIOLOGY}")
    assert decoder.decode(said) == "the cell"
    adapter.reset()
    assert decoder.decode(said) == "the sell"
    adapter.accept(BIOLOGY)
    adapter.accept(f"{TRADE} {TRADE}")
    assert decoder.decode(said) == "the sell"


def test_capitals_are_those_of_a_recogniser_where_the_model_is_in_lower_case(model):
    plain, lowered = (PyCTCDecodeModel(fitted(model.predictor_, lowercase=lowercase)) for lowercase in (False, True))
    lowered.accept(BIOLOGY.upper())
    plain.accept(BIOLOGY)
    starts = plain.get_start_state(), lowered.get_start_state()
    assert lowered.score(starts[1], "CELL")[0] == plain.score(starts[0], "cell")[0]
    assert plain.score(starts[0], "CELL")[0] < plain.score(starts[0], "cell")[0]
    assert [adapter.score_partial_token("CE") for adapter in (plain, lowered)] == [-10, 0]


def test_an_adapter_wants_a_model():
    with pytest.raises(TypeError, match="must be an AdaptedModel"):
        PyCTCDecodeModel("biology")


def test_words_of_the_utterance_count_at_once_if_wanted(model):
    said = heard("the nucleus mitosis gene mitosis the cell", {"c": "s"})
    scorers = [IncrementalScorer(model, adapting=adapting) for adapting in (True, False)]
    texts = [decoder_of(PyCTCDecodeModel(scorer)).decode(said) for scorer in scorers]
    assert texts == ["the nucleus mitosis gene mitosis the cell", "the nucleus mitosis gene mitosis the sell"]


def test_an_adapter_is_of_the_kind_that_its_decoder_wants(model):
    language_model = pytest.importorskip("pyctcdecode.language_model")
    adapter = PyCTCDecodeModel(model)
    assert isinstance(adapter, language_model.AbstractLanguageModel)
    assert isinstance(adapter, PyCTCDecodeModel)
    assert type(adapter) is type(PyCTCDecodeModel(model))
    decoder_of(adapter).reset_params(alpha=0.25, beta=0.0, lm_score_boundary=False)
    assert (adapter.alpha, adapter.beta, adapter.unk_score_offset, adapter.score_boundary) == (0.25, 0, -10, False)
    with pytest.raises(UsageError, match="own method save"):
        adapter.save_to_dir("somewhere")


def test_a_beam_scores_as_the_model_says(model):
    adapter = PyCTCDecodeModel(model, alpha=0.7, beta=2.0)
    adapter.accept(BIOLOGY)
    text = Text.from_tokens([["the", "cell"]])
    memory = model.memory()
    model.score(Text.from_tokens([BIOLOGY.split()]), memory)
    want = np.log(model.predictor_.mixed(model.score(text, memory))).sum()
    first, state = adapter.score(adapter.get_start_state(), "the")
    last, _ = adapter.score(state, "cell", is_last_word=True)
    assert first + last == pytest.approx(0.7 * want + 2 * 2.0, rel=1e-6)
    beams = decoder_of(adapter).decode_beams(heard("the cell"))
    assert beams[0][0] == "the cell"
    assert beams[0][-1] - beams[0][-2] == pytest.approx(first + last, rel=1e-6)


def test_a_blank_at_the_end_costs_nothing(model):
    adapter = PyCTCDecodeModel(model)
    _, state = adapter.score(adapter.get_start_state(), "the")
    whole, _ = adapter.score(state, "cell", is_last_word=True)
    word, state = adapter.score(state, "cell")
    end, _ = adapter.score(state, "", is_last_word=True)
    assert word + end == pytest.approx(whole)
    assert decoder_of(adapter).decode(heard("the gene ")) == "the gene"


def test_memory_given_or_taken_is_not_changed_later(model):
    memory = model.memory()
    model.score(Text.from_tokens([BIOLOGY.split()]), memory)
    adapter = PyCTCDecodeModel(model, memory=memory)
    start = adapter.get_start_state()
    before, _ = adapter.score(start, "cell")
    adapter.accept(f"{TRADE} {TRADE}")
    adapter.accept(f"{TRADE} {TRADE}")
    assert adapter.score(adapter.get_start_state(), "cell")[0] < before
    assert adapter.score(start, "cell")[0] == before
    other = PyCTCDecodeModel(model, memory=memory)
    assert other.score(other.get_start_state(), "cell")[0] == before


@pytest.mark.parametrize("score_boundary", [True, False])
def test_without_adaptation_scores_are_those_of_its_own_class_for_kenlm(score_boundary, tmp_path):
    kenlm, language_model = pytest.importorskip("kenlm"), pytest.importorskip("pyctcdecode.language_model")
    text = oracles_ngrams.random_text(7)
    sentences = [text[n] for n in range(len(text))]
    predictor = oracles.random_model([sentences], (3,), hidden=0, caches=())
    write_arpa(predictor.background.models[0], tmp_path / "model.arpa")
    options = {"alpha": 0.6, "beta": 1.1, "unk_score_offset": -7.0, "score_boundary": score_boundary}
    words = predictor.vocabulary.words[3:]
    theirs = language_model.LanguageModel(kenlm.Model(str(tmp_path / "model.arpa")), words, **options)
    ours = PyCTCDecodeModel(fitted(predictor), **options)
    assert ours.order == theirs.order == 3
    state, their_state = ours.get_start_state(), theirs.get_start_state()
    for word in (*sentences[3], "never", *sentences[4], "seen"):
        for last in (True, False):
            score, following = ours.score(state, word, is_last_word=last)
            their_score, their_following = theirs.score(their_state, word, is_last_word=last)
            assert score == pytest.approx(their_score, rel=1e-5)
        state, their_state = following, their_following
    for part in ("w", "w1", "w10", "w99", "x", "longer than six", "<unk>", "<s"):
        assert ours.score_partial_token(part) == pytest.approx(theirs.score_partial_token(part))


def test_words_that_cannot_come_have_the_least_score(model):
    adapter = PyCTCDecodeModel(model, alpha=1.0, beta=0.0, unk_score_offset=0.0)
    start = adapter.get_start_state()
    unknown, _ = adapter.score(start, "unheard")
    assert adapter.score(start, "<s>")[0] == unknown  # a mark is no word
    impossible = oracles.random_model([[["a"]]], (1,), hidden=0, caches=())
    impossible.background.models[0].probs[0] = 0
    adapter = PyCTCDecodeModel(fitted(impossible), alpha=1.0, beta=0.0, unk_score_offset=0.0)
    assert adapter.score(adapter.get_start_state(), "b")[0] == pytest.approx(-100 * np.log(10))


# -- torchaudio --------------------------------------------------------------------------------------------------------


class CTCDecoderLMState:
    """As torchaudio documents it."""

    def __init__(self):
        self.children = {}

    def child(self, usr_index):
        return self.children.setdefault(usr_index, CTCDecoderLMState())


class CTCDecoderLM:
    """As torchaudio documents it; it must be initialised, as all classes of C++."""

    def __init__(self):
        self.initialised = True


@pytest.fixture
def torchaudio(monkeypatch):
    """What stands in for torchaudio."""
    for name in ("torchaudio", "torchaudio.models", "torchaudio.models.decoder"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    decoder = sys.modules["torchaudio.models.decoder"]
    decoder.CTCDecoderLM, decoder.CTCDecoderLMState = CTCDecoderLM, CTCDecoderLMState
    return decoder


def test_torchaudio_finds_its_methods(model, torchaudio):
    words = ["cell", "the", "sell", "<unk>", "unheard"]
    adapter = TorchaudioModel(model, words)
    assert isinstance(adapter, CTCDecoderLM)
    assert adapter.initialised
    start = adapter.start(False)
    scorer = IncrementalScorer(model)
    after, score = adapter.score(start, 1)
    want, state = scorer.score(scorer.start(), "the")
    assert score == pytest.approx(want / np.log(10))
    assert after is start.child(1)
    for number, word in enumerate(words):
        assert adapter.score(after, number)[1] == pytest.approx(scorer.score(state, word)[0] / np.log(10))
    final, score = adapter.finish(after)
    assert final is after
    assert score == pytest.approx(scorer.finish(state)[0] / np.log(10))
    with pytest.raises(ValueError, match="Got 5 words, but none has the number 5"):
        adapter.score(after, 5)


def test_torchaudio_may_start_anywhere_in_a_sentence(model, torchaudio):
    adapter = TorchaudioModel(model, ["the"])
    starts = [adapter.score(adapter.start(nothing), 0)[1] for nothing in (False, True)]
    ngrams = model.predictor_.background.models[0]
    the = ngrams.vocabulary.number("the")
    assert starts[1] == pytest.approx(np.log10(ngrams.probs[the]))
    assert starts[0] > starts[1]  # all sentences start with it


def test_torchaudio_remembers_what_it_accepts(model, torchaudio):
    adapter = TorchaudioModel(model, ["cell", "sell", "the"])
    state, _ = adapter.score(adapter.start(False), 2)
    assert adapter.score(state, 0)[1] < adapter.score(state, 1)[1]
    adapter.accept(BIOLOGY)
    state, _ = adapter.score(adapter.start(False), 2)
    assert adapter.score(state, 0)[1] > adapter.score(state, 1)[1]


def test_the_lack_of_torchaudio_is_told(model, monkeypatch):
    for name in ("torchaudio", "flashlight"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in [name for name in sys.modules if name.startswith(("torchaudio.", "flashlight."))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(UsageError, match="pip install torchaudio"):
        TorchaudioModel(model, ["cell"])


def test_flashlight_decodes_with_it(model):
    """The search that torchaudio's decoder is made of."""
    flashlight = pytest.importorskip("flashlight.lib.text.decoder")
    words = ["<unk>", *model.predictor_.vocabulary.words[3:]]
    adapter = TorchaudioModel(model, words)
    assert isinstance(adapter, flashlight.LM)
    silence, blank = LABELS.index(" "), 0
    trie = flashlight.Trie(len(LABELS), silence)
    start = adapter.start(False)
    for number, word in enumerate(words[1:], 1):
        trie.insert([*map(LABELS.index, word), silence], number, adapter.score(start, number)[1])
    trie.smear(flashlight.SmearingMode.MAX)
    options = flashlight.LexiconDecoderOptions(
        beam_size=50,
        beam_size_token=len(LABELS),
        beam_threshold=50,
        lm_weight=2,
        word_score=0,
        unk_score=-np.inf,
        sil_score=0,
        log_add=False,
        criterion_type=flashlight.CriterionType.CTC,
    )
    decoder = flashlight.LexiconDecoder(options, trie, adapter, silence, blank, 0, [], False)

    def decode(emissions):
        emissions = np.ascontiguousarray(emissions, dtype=np.float32)
        best = decoder.decode(emissions.ctypes.data, *emissions.shape)[0]
        return [words[number] for number in best.words if number >= 0]

    said = heard("the cell ", {"c": "s"})
    assert decode(said) == ["the", "sell"]
    adapter.accept(f"{BIOLOGY} {BIOLOGY}")
    assert decode(said) == ["the", "cell"]
    adapter.reset()
    assert decode(said) == ["the", "sell"]
