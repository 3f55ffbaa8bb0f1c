"""Language models that adapt to a topic: fit to a text, score, predict, save and load."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import UNKNOWN, Documents, NGrams, Text
from cepts.errors import DataError, ModelError, UsageError, check_choice, check_least
from cepts.estimator import Estimator
from cepts.lm.background import Background
from cepts.lm.backoff import frequent_words, joined_vocabulary, with_vocabulary
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.export import static_ngrams
from cepts.lm.fit import (
    FEW_WORDS,
    BackgroundSource,
    FitRecord,
    check_known_words,
    content_words,
    default_hidden,
    held_out_part,
    in_case_of,
    in_vocabulary,
    source_names,
)
from cepts.lm.hidden import HistoryOptions, check_window, fit_hidden_documents
from cepts.lm.kneser_ney import KneserNey
from cepts.lm.predictor import (
    MOST_EXPONENT,
    Memory,
    Predictor,
    Scored,
    components_of,
    predictor_from,
    predictor_parts,
)
from cepts.lm.tuning import EXPONENTS, tune
from cepts.names import MIXTURES, SEGMENTATIONS
from cepts.progress import Progress, Step, silent
from cepts.store import load_model, save_model

# What nmf_lm does differently.
PAPER: Mapping[str, Any] = {
    "window": 21,
    "history": 20,
    "fold_in": 1,
    "uninformative": 0.0,
    "mixture": "literal",
    "rescaling": False,
    "caches": (),
}
ADAPTED_KIND = "lm"
BLOCK_WORDS = 20_000  # scored at a time


@dataclass(kw_only=True, eq=False, repr=False)
class AdaptedModel(Estimator):
    """A language model that adapts to its history: n-grams, hidden documents and caches in one mixture.

    Parameters
    ----------
    order
        Words of the longest n-grams.
    min_count, background_min_count
        Words that are rarer in the text, or in a background text, become unknown words.
    stop
        Function words, which are left to the n-gram; None finds them in the texts. Numbers and punctuation always are.
    hidden
        Number of hidden documents; 0 is none. None is 500, or one for every 16 content words if these are few.
    segmentation
        ``implicit`` finds hidden documents in the counts of words near each other, ``explicit`` in the counts of words
        in the given documents.
    window
        For ``implicit``: content words that count as near each other, an odd number.
    iterations
        Iterations of the factorisation that finds hidden documents.
    background_worth
        Weight of a word of a background text relative to one of the text, for finding hidden documents.
    history, fold_in, decay, strength, uninformative
        How the history weights hidden documents: see `HistoryOptions`, which also has the defaults of `fold_in`, for a
        `history` of a fixed length, and of `decay`, for `history` 0.
    mixture
        ``class`` divides the n-gram's mass of content words among them; ``literal`` mixes the probabilities of all
        words, as nmf_lm does.
    rescaling
        Whether hidden documents also rescale the n-gram's probabilities; None is yes where `mixture` and `hidden`
        allow it.
    exponent
        Exponent of rescaling; None finds the best on held-out text.
    caches
        Caches of content words: ``"500"`` remembers 500 words, ``"0.99"`` decays by that factor, ``"500:0.99"`` does
        both.
    seed
        Seed of the random start of the factorisation.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.

    Attributes
    ----------
    predictor_
        What was learnt: n-grams, hidden documents and weights, as one distribution (`Predictor`).
    record_
        What was recorded of the text, such as whether it was lower-cased (`FitRecord`).

    Examples
    --------
    >>> from cepts.io import read_documents  # doctest: +SKIP
    >>> model = AdaptedModel(hidden=50).fit(read_documents("textbook.txt"))  # doctest: +SKIP
    >>> model.perplexity(read_documents("lecture.txt"))  # doctest: +SKIP
    """

    order: int = 3
    min_count: int = 2
    background_min_count: int = 3
    stop: Collection[str] | None = None
    hidden: int | None = None
    segmentation: str = "implicit"
    window: int = 21
    iterations: int = 50
    background_worth: float = 0.3
    history: int = 0
    fold_in: int | None = None
    decay: float | None = None
    strength: float = 0.5
    uninformative: float = 0.3
    mixture: str = "class"
    rescaling: bool | None = None
    exponent: float | None = None
    caches: Sequence[str] = ("0.98", "0.999")
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        check_least(self, 1, "order", "min_count", "background_min_count", "iterations", "threads")
        check_least(self, 0, "hidden", "background_worth", "seed")
        check_choice("segmentation", self.segmentation, SEGMENTATIONS)
        check_choice("mixture", self.mixture, MIXTURES)
        check_window(self.window)
        for name in ("stop", "caches"):
            if isinstance(getattr(self, name), str):
                raise UsageError(f"`{name}` must be a list. Got {getattr(self, name)!r} instead.")
        if self.rescaling and self.mixture == "literal":
            raise UsageError("`rescaling` works among content words; leave it out, or choose `mixture` class.")
        if self.rescaling and self.hidden == 0:
            raise UsageError("`rescaling` needs hidden documents, but `hidden` is 0; leave one of them out.")
        if self.fold_in is not None and not self.history:
            raise UsageError("`fold_in` needs a `history` of 1 or more words; leave it out, or give one.")
        if self.decay is not None and self.history:
            raise UsageError("`decay` needs a `history` of 0, which means all words; leave one of them out.")
        if self.exponent is not None and not self._rescales:
            raise UsageError("`exponent` belongs to rescaling, which is off; leave it out, or turn rescaling on.")
        if self.exponent is not None and not 0 < self.exponent <= MOST_EXPONENT:
            raise UsageError(f"`exponent` must be above 0 and at most {MOST_EXPONENT:g}. Got {self.exponent} instead.")
        if len(set(self._parsed_caches)) < len(self.caches):
            raise UsageError("two of `caches` are the same; leave one of them out.")
        _ = self._history_options  # which checks the rest

    @property
    def _rescales(self) -> bool:
        return self.mixture == "class" and self.hidden != 0 if self.rescaling is None else self.rescaling

    @property
    def _parsed_caches(self) -> tuple[Cache, ...]:
        return tuple(Cache.from_text(cache) for cache in self.caches)

    @property
    def _history_options(self) -> HistoryOptions:
        given = {option.name: getattr(self, option.name) for option in fields(HistoryOptions)}
        return HistoryOptions(**{name: value for name, value in given.items() if value is not None})

    @classmethod
    def of_paper(cls, **changes: Any) -> Self:
        """A model with the options of nmf_lm, except for `changes`."""
        options = {**PAPER, **changes}
        if not options["history"] and "fold_in" not in changes:
            del options["fold_in"]
        return cls(**options)

    def fit(
        self,
        documents: Documents,
        *,
        dev: Documents | None = None,
        background: BackgroundSource | Sequence[BackgroundSource] = (),
        notices: list[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Fit the model to a text.

        Parameters
        ----------
        documents
            The text of the domain. If it was lower-cased when it was read, the model looks all words up in lower case.
        dev
            Text on which the weights are set. By default every 20th document of the text is held out for that, and the
            model is then fitted again to all of it, with those weights.
        background
            Other texts and n-gram models, which are interpolated with the n-grams of the text.
        notices
            Gets a line for each thing that a user should know.
        progress
            Called after each iteration of the factorisation.
        """
        noted: list[str] = []
        case = documents.lowercase, documents.text.vocabulary
        given = [background] if isinstance(background, BackgroundSource) else background
        sources = [in_case_of(source, *case) if isinstance(source, Documents) else source for source in given]
        check_known_words(documents, sources, noted)
        stop = self.stop
        if documents.lowercase and stop is not None:
            stop = {word.lower() for word in stop}
        hidden = self.hidden
        if hidden is None:
            hidden = default_hidden(documents, stop, self.min_count, self.segmentation, noted)
        fitting = _Fitting(self, sources, stop, hidden, noted, progress or silent)
        if dev is not None:
            held_out, described = in_case_of(dev, *case), "the dev text"
            predictor, scored = fitting.tuned(documents, held_out)
            tuned = predictor
        else:
            part, held_out, described = held_out_part(documents)
            if len(held_out.text.ids) < FEW_WORDS:
                few = f"{len(held_out.text.ids):,} words of the text, which is few"
                noted.append(f"weights are set on {few}; give development text (`dev`).")
            tuned, scored = fitting.tuned(part, held_out)
            whole = fitting.untuned(documents)
            interpolated = whole.background.weighted(tuned.background.weights)
            predictor = replace(whole, background=interpolated, weights=tuned.weights, exponent=tuned.exponent)
        most = float(np.finfo(float).max)  # settings are JSON, which has no infinity
        before = scored.perplexity(scored.probs)
        after = scored.perplexity(tuned.mixed(scored))
        self.record_ = FitRecord(
            words=len(documents.text.ids),
            documents=len(documents),
            held_out=described,
            held_out_words=len(held_out.text.ids),
            held_out_perplexity=(min(before, most), min(after, most)),
            lowercase=documents.lowercase,
            boundaries=documents.boundaries,
            ngrams=source_names(documents, sources),
        )
        self.predictor_ = predictor
        if notices is not None:
            notices += dict.fromkeys(noted)  # a part and the whole may give the same notice
        return self

    def as_fitted(self, text: str) -> str:
        """The text in lower case, if the model was fitted to lower-cased text; else as it is."""
        return text.lower() if self.record_.lowercase else text

    def knows(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which of `words` the model does not treat as the unknown word."""
        return self.predictor_.vocabulary.numbers([self.as_fitted(word) for word in words]) > 0

    def memory(self, documents: Documents | None = None) -> Memory:
        """What the model remembers after documents, one after the other; by default an empty memory."""
        self.check_fitted()
        memory = self.predictor_.memory()
        if documents is not None:
            for text in _blocks(self._numbered(documents), alone=False):
                self.predictor_.score(text, memory, threads=self.threads)
        return memory

    def score(self, text: Text, memory: Memory | None = None) -> Scored:
        """Score a text that follows what `memory` holds; the text is then part of the memory."""
        self.check_fitted()
        if self.record_.lowercase:
            text = text.lowercased()
        return self.predictor_.score(text, memory or self.memory(), threads=self.threads)

    def score_documents(
        self,
        documents: Documents,
        *,
        memory: Memory | None = None,
        reset: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Scored]:
        """Score documents one after the other, in blocks.

        Parameters
        ----------
        memory
            What is remembered at the start; it is not changed. By default nothing.
        reset
            Whether everything after that is forgotten at the end of each document; then each document is a block.
        progress
            Called after each block.
        """
        start = memory or self.memory()
        now = start.copy()
        numbered = self._numbered(documents)
        done = 0
        for text in _blocks(numbered, alone=reset):
            if reset:
                now = start.copy()
            yield self.predictor_.score(text, now, threads=self.threads)
            done += len(text)
            (progress or silent)(Step(stage="scoring", done=done, total=len(numbered.text)))

    def perplexity(self, documents: Documents, *, memory: Memory | None = None, reset: bool = False) -> float:
        """Perplexity of documents, with their sentence ends and without unknown words; see `score_documents`."""
        total, count = 0.0, 0
        for scored in self.score_documents(documents, memory=memory, reset=reset):
            probs = self.predictor_.mixed(scored)[scored.known]
            with np.errstate(divide="ignore"):
                total += float(np.log(probs).sum())
            count += len(probs)
        return float(np.exp(-total / count))

    def distribution(self, words: Sequence[str] = (), memory: Memory | None = None) -> NDArray[np.float64]:
        """P(w | h, H) of every word of the vocabulary, after the first words of a sentence that follows `memory`."""
        memory, predictor = memory or self.memory(), self.predictor_
        ids = np.maximum(predictor.vocabulary.numbers([self.as_fitted(word) for word in words]), UNKNOWN)
        contexts = predictor.background.start
        for word in ids.tolist():
            _, contexts = predictor.background.advance(contexts, word)
        return predictor.distribution(contexts, predictor.remembering(memory, ids[predictor.content[ids]]))

    def estimated_priors(self, documents: Documents) -> NDArray[np.float64]:
        """P(d) as the mean of P(d | h) over the histories of documents, eq. (18) of nmf_lm."""
        self.check_fitted()
        predictor = self.predictor_
        if predictor.hidden is None:
            raise UsageError("the model has no hidden documents, because `hidden` was 0.")
        ids = self._numbered(documents).text.ids
        rows = predictor.rows[ids[predictor.content[ids]]]
        if not (rows >= 0).any():
            raise DataError("the text has no word of the hidden documents, so it says nothing of P(d); give another.")
        return predictor.hidden.estimated_priors(rows, predictor.history)

    def static_ngrams(self, memory: Memory | None = None) -> NGrams:
        """One back-off model that equals this model as long as it remembers only `memory`; see `write_arpa`."""
        memory = memory or self.memory()
        return static_ngrams(self.predictor_, memory)

    def _numbered(self, documents: Documents) -> Documents:
        vocabulary = self.predictor_.vocabulary
        return in_vocabulary(in_case_of(documents, self.record_.lowercase, vocabulary), vocabulary)

    def save(self, directory: str | PathLike[str]) -> None:
        """Write the model to `directory`, whole or not at all. Of KenLM binaries it keeps the path and the size."""
        self.check_fitted()
        given = self.get_params()
        del given["threads"]
        given["stop"] = None if self.stop is None else sorted(self.stop)
        given["caches"] = list(self.caches)
        learnt, arrays = predictor_parts(self.predictor_)
        settings = {**learnt, "facts": asdict(self.record_), "parameters": given}
        save_model(directory, kind=ADAPTED_KIND, settings=settings, arrays=arrays)

    @classmethod
    def load(cls, directory: str | PathLike[str], *, threads: int | None = None) -> Self:
        """Read the model of `directory`."""
        saved = load_model(directory, kind=ADAPTED_KIND)
        try:
            model = cls(**saved.settings["parameters"], threads=threads)
            facts = saved.settings["facts"]
            lists = {name: tuple(value) for name, value in facts.items() if isinstance(value, list)}
            model.record_ = FitRecord(**{**facts, **lists})
            model.predictor_ = predictor_from(directory, saved.settings, saved.arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{directory} is no model of this version of cepts ({error}); fit it again.") from error
        return model


def _blocks(documents: Documents, *, alone: bool) -> Iterator[Text]:
    """The text of each document, or of some `BLOCK_WORDS` words of documents at a time."""
    bounds = documents.word_offsets
    first = 0
    while first < len(documents):
        last = first + 1
        if not alone:
            last = max(last, int(np.searchsorted(bounds, bounds[first] + BLOCK_WORDS, side="right")) - 1)
        yield documents.text.part(int(documents.offsets[first]), int(documents.offsets[last]))
        first = last


@dataclass(frozen=True, eq=False)
class _Fitting:
    """The steps of `AdaptedModel.fit` that are made twice where a part of the text is held out."""

    model: AdaptedModel
    sources: Sequence[BackgroundSource]
    stop: Collection[str] | None
    hidden: int
    notices: list[str]
    progress: Progress

    def untuned(self, documents: Documents) -> Predictor:
        """The parts of the model, all with the same weight."""
        model = self.model
        sources = documents, *self.sources
        least = model.min_count, *(model.background_min_count for _ in self.sources)
        vocabulary = joined_vocabulary(
            *(
                frequent_words(source.text, count) if isinstance(source, Documents) else source.vocabulary
                for source, count in zip(sources, least, strict=True)
            )
        )
        content = content_words(vocabulary, [text for text in sources if isinstance(text, Documents)], self.stop)
        models: list[NGrams | KenLMModel] = []
        numbered: list[Documents] = []
        for source in sources:
            if isinstance(source, Documents):
                numbered.append(in_vocabulary(source, vocabulary))
                ngrams = KneserNey(order=model.order)
                ngrams.fit(numbered[-1].text, vocabulary=vocabulary, notices=self.notices)
                models.append(ngrams.ngrams_)
            else:
                models.append(with_vocabulary(source, vocabulary) if isinstance(source, NGrams) else source)
        hidden, exponent, caches = None, 0.0, model._parsed_caches
        if self.hidden:
            worths = [1.0, *(model.background_worth for _ in numbered[1:])]
            options = ("segmentation", "window", "min_count", "iterations", "seed", "threads")
            hidden = fit_hidden_documents(
                list(zip(numbered, worths, strict=True)),
                content,
                hidden=self.hidden,
                progress=lambda step: self.progress(replace(step, stage="hidden documents")),
                **{name: getattr(model, name) for name in options},
            )
            if model._rescales:
                exponent = EXPONENTS[0] if model.exponent is None else model.exponent
        names = components_of(model.mixture, hidden is not None, exponent > 0, caches)
        weights = np.full(len(names), 1 / len(names))
        background = Background(models, vocabulary, content)
        return Predictor(background, content, hidden, weights, model._history_options, caches, model.mixture, exponent)

    def tuned(self, part: Documents, held_out: Documents) -> tuple[Predictor, Scored]:
        """The model of a part with the weights that are best on held-out text, and that text as it scores it."""
        exponents = EXPONENTS if self.model.exponent is None else None
        return tune(self.untuned(part), held_out.text, exponents=exponents, threads=self.model.threads)
