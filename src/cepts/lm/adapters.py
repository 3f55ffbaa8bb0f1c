"""Adapted models for the beam searches of pyctcdecode and torchaudio.

Neither package is needed to import this module. When an adapter is made, it becomes an instance of its decoder's base
class, because torchaudio's decoder is C++ and accepts nothing else.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import new_class
from typing import Any, ClassVar

from cepts.data import SPECIAL, UNKNOWN, NGrams, Text
from cepts.errors import UsageError
from cepts.lm.adapted import AdaptedModel
from cepts.lm.predictor import Memory
from cepts.lm.scorer import IncrementalScorer, State

LEAST_LOG10 = -100.0  # KenLM's score of impossible words: decoders add scores, so they must be finite
USUAL_LENGTH = 6  # letters; a longer unknown word costs more in pyctcdecode


class _Adapter:
    """A scorer that remembers what was said before the current utterance."""

    # Names of the decoder's base class; the first that is installed is used.
    BASES: ClassVar[tuple[str, ...]] = ()

    def __new__(cls, *args: Any, **options: Any) -> Any:
        adapter: Any = cls
        fitting = _with_base(adapter, _first_of(cls.BASES))
        return super(_Adapter, fitting).__new__(fitting)

    def __init__(self, model: AdaptedModel | IncrementalScorer, memory: Memory | None = None) -> None:
        super().__init__()
        if not isinstance(model, AdaptedModel | IncrementalScorer):
            raise TypeError(f"`model` must be an AdaptedModel or an IncrementalScorer. Got {model!r} instead.")
        self.scorer = model if isinstance(model, IncrementalScorer) else IncrementalScorer(model)
        self._vocabulary = self.model.predictor_.vocabulary
        self._memory: Memory
        self.reset(memory)

    @property
    def model(self) -> AdaptedModel:
        """The adapted model."""
        return self.scorer.model

    def accept(self, text: str) -> None:
        """Add recognised text, or any other text, to the history; each line is a sentence."""
        sentences = [words for line in text.splitlines() if (words := line.split())]
        self.model.score(Text.from_tokens(sentences), self._memory)

    def reset(self, memory: Memory | None = None) -> None:
        """Forget everything, or continue from `memory`."""
        self._memory = memory.copy() if memory is not None else self.model.memory()

    def _start(self, *, sentence: bool) -> State:
        """The state before an utterance: at the start of a sentence, or anywhere in one."""
        state = self.scorer.start(self._memory)
        if sentence:
            return state
        models = self.model.predictor_.background.models
        anywhere = tuple(-1 if isinstance(part, NGrams) else part.empty for part in models)
        return replace(state, contexts=anywhere)

    def _score(self, state: State, word: str) -> tuple[float, State]:
        """Decimal logarithm of P(word | state), as in KenLM, and the state after the word."""
        known = word if self._knows(word) else SPECIAL[UNKNOWN]
        log_prob, following = self.scorer.score(state, known)
        return _log10(log_prob), following

    def _finish(self, state: State) -> float:
        return _log10(self.scorer.finish(state)[0])

    def _knows(self, word: str) -> bool:
        return self._vocabulary.number(self.model.as_fitted(word)) >= len(SPECIAL)


def _log10(log_prob: float) -> float:
    return max(log_prob / math.log(10), LEAST_LOG10)


def _first_of(names: Sequence[str]) -> Any:
    """The first of these classes, named with their modules, whose package is installed; None if there is none."""
    for name in names:
        module, _, attribute = name.rpartition(".")
        try:
            return getattr(import_module(module), attribute)
        except ImportError:
            continue
    return None


@cache
def _with_base(adapter: type, base: type | None) -> Any:
    """The adapter as a subclass of its decoder's base class."""
    if base is None or issubclass(adapter, base):
        return adapter
    names = {"__module__": adapter.__module__, "__doc__": adapter.__doc__}
    return new_class(adapter.__name__, (adapter, base), exec_body=lambda body: body.update(names))


class PyCTCDecodeModel(_Adapter):
    """An adapted model as a language model of pyctcdecode (an `AbstractLanguageModel`).

    Options and scores are those of pyctcdecode's own class for KenLM models.

    Parameters
    ----------
    model
        The adapted model, or an incremental scorer for it.
    alpha, beta
        Weight of the language model, and the score that each word adds.
    unk_score_offset
        Number that is added to the decimal logarithm of an unknown word, and of an unfinished word that is not the
        beginning of any known word.
    score_boundary
        Whether utterances start and end like sentences.
    memory
        What was said before, such as the memory that `AdaptedModel.score` has filled.

    Examples
    --------
    >>> from pyctcdecode import Alphabet, BeamSearchDecoderCTC  # doctest: +SKIP
    >>> language_model = PyCTCDecodeModel(AdaptedModel.load("biology"))  # doctest: +SKIP
    >>> decoder = BeamSearchDecoderCTC(Alphabet.build_alphabet(labels), language_model)  # doctest: +SKIP
    >>> for logits in utterances:  # doctest: +SKIP
    ...     language_model.accept(decoder.decode(logits))
    """

    BASES = ("pyctcdecode.language_model.AbstractLanguageModel",)
    OPTIONS = ("alpha", "beta", "unk_score_offset", "score_boundary")

    def __init__(
        self,
        model: AdaptedModel | IncrementalScorer,
        *,
        alpha: float = 0.5,
        beta: float = 1.5,
        unk_score_offset: float = -10.0,
        score_boundary: bool = True,
        memory: Memory | None = None,
    ) -> None:
        super().__init__(model, memory)
        self.alpha = alpha
        self.beta = beta
        self.unk_score_offset = unk_score_offset
        self.score_boundary = score_boundary
        self._sorted_words = sorted(self._vocabulary.words[len(SPECIAL) :])

    @property
    def order(self) -> int:
        """Number of words of the longest n-grams.

        With `prune_history` the decoder merges beams that end in the same `order` - 1 words, although this model
        remembers more.
        """
        return max(part.order for part in self.model.predictor_.background.models)

    def get_start_state(self) -> State:
        """The state before an utterance."""
        return self._start(sentence=self.score_boundary)

    def score(self, prev_state: State, word: str, is_last_word: bool = False) -> tuple[float, State]:
        """What the word adds to the score of a beam, and the state after it.

        At the end of an utterance that ends in a blank, the decoder asks for an empty word, which costs nothing here.
        """
        log10, beta, following = 0.0, 0.0, prev_state
        if word:
            log10, following = self._score(prev_state, word)
            log10 += 0 if self._knows(word) else self.unk_score_offset
            beta = self.beta
        if is_last_word and self.score_boundary:
            log10 += self._finish(following)
        return self.alpha * log10 * math.log(10) + beta, following

    def score_partial_token(self, partial_token: str) -> float:
        """The cost of an unfinished word: 0 as long as it may become a known word."""
        start = self.model.as_fitted(partial_token)
        place = bisect_left(self._sorted_words, start)
        if place < len(self._sorted_words) and self._sorted_words[place].startswith(start):
            return 0.0
        return self.unk_score_offset * max(len(partial_token) / USUAL_LENGTH, 1.0)

    def reset_params(self, **params: Any) -> None:
        """Set the options that are given and not None."""
        for name in self.OPTIONS:
            if params.get(name) is not None:
                setattr(self, name, params[name])

    def save_to_dir(self, filepath: str) -> None:
        """Not supported: the decoder could not read it back."""
        raise UsageError(
            f"{filepath}: pyctcdecode can read back only KenLM models; save the adapted model by its own method save."
        )


class TorchaudioModel(_Adapter):
    """An adapted model for torchaudio's `ctc_decoder` with a lexicon (a `CTCDecoderLM`), or for flashlight-text (`LM`).

    Scores are decimal logarithms, as in the decoder's own class for KenLM, so `lm_weight` means the same. It was
    tested with flashlight-text, whose classes are the base of torchaudio's, but not with torchaudio itself.

    Parameters
    ----------
    model, memory
        As for `PyCTCDecodeModel`.
    words
        The words of the decoder in the order of their indices: the lines of the file that `ctc_decoder` is given as
        `lm_dict`. Without that file the order of its words is not known.
    """

    BASES = ("torchaudio.models.decoder.CTCDecoderLM", "flashlight.lib.text.decoder.LM")
    STATES = ("torchaudio.models.decoder.CTCDecoderLMState", "flashlight.lib.text.decoder.LMState")

    def __init__(
        self, model: AdaptedModel | IncrementalScorer, words: Sequence[str], *, memory: Memory | None = None
    ) -> None:
        self._state_class = _first_of(self.STATES)
        if self._state_class is None:
            raise UsageError(
                "this adapter needs torchaudio or flashlight-text; install with: pip install torchaudio flashlight-text"
            )
        super().__init__(model, memory)
        self._words = list(words)
        # From the decoder's states, which know only their successors, to ours.
        self._states: dict[Any, State] = {}

    def start(self, start_with_nothing: bool) -> Any:
        """The state before an utterance; states of other utterances are forgotten."""
        state = self._state_class()
        self._states = {state: self._start(sentence=not start_with_nothing)}
        return state

    def score(self, state: Any, usr_token_idx: int) -> tuple[Any, float]:
        """The state after a word, and the decimal logarithm of the word's probability."""
        if not 0 <= usr_token_idx < len(self._words):
            raise ValueError(
                f"`words` must be all words of the decoder. Got {len(self._words)} words, but none has the number "
                f"{usr_token_idx}."
            )
        log10, following = self._score(self._states[state], self._words[usr_token_idx])
        child = state.child(usr_token_idx)
        self._states.setdefault(child, following)
        return child, log10

    def finish(self, state: Any) -> tuple[Any, float]:
        """The same state, and the decimal logarithm of the probability that the sentence ends."""
        return state, self._finish(self._states[state])
