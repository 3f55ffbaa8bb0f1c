"""Language models that adapt to a topic: fit to a text, score, predict, save and load."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import UNKNOWN, Documents, NGrams, Text, Vocabulary
from cepts.engine import ThreadEngine, Workplace
from cepts.errors import DataError, ModelError, UsageError, check_choice, check_least
from cepts.estimator import Estimator
from cepts.lm.background import Background
from cepts.lm.backoff import frequent_words, joined_vocabulary, with_vocabulary
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.export import static_ngrams
from cepts.lm.factorise import HiddenOptions, begin_hidden_documents, fit_hidden_documents
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
from cepts.lm.hidden import HiddenDocuments
from cepts.lm.history import HistoryOptions
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
from cepts.lm.stop import ENGLISH_FUNCTION_WORDS
from cepts.lm.tuning import EXPONENTS, tune
from cepts.names import MIXTURES
from cepts.progress import Progress, Step, silent
from cepts.store import load_model, save_model

# Options with which the model is that of nmf_lm. docs/papers/nmf_lm.md says which sentence each of them follows.
PAPER: Mapping[str, Any] = {
    "order": 3,
    "stop": ENGLISH_FUNCTION_WORDS,
    "factorisation": "nmf",
    "segmentation": "implicit",
    "hidden": 500,
    "window": 21,
    "places": "all",
    "borders": False,
    "iterations": 100,
    "start": "random",
    "blocks": "sequential",
    "long_steps": False,
    "priors": "documents",
    "background_worth": 0.0,
    "history": 25,
    "posterior": "mixture",
    "fold_in": 1,
    "uninformative": 0.0,
    "mixture": "literal",
    "rescaling": False,
    "caches": (),
}
ADAPTED_KIND = "lm"
BLOCK_WORDS = 20_000  # words scored at a time


@dataclass(kw_only=True, eq=False, repr=False)
class AdaptedModel(Estimator):
    """A language model that adapts to its history: n-grams, hidden documents and caches in one mixture.

    Parameters
    ----------
    order
        Number of words of the longest n-grams.
    min_count, background_min_count
        Words that occur less often in the text, or in a background text, become unknown words.
    stop
        Function words, which only the n-grams predict; None finds them in the texts. Numbers and punctuation are
        always treated as function words.
    hidden
        Number of hidden documents; 0 means none. None means 500, or one for every 16 content words of a small text.
    segmentation, window, borders, factorisation, iterations, start, blocks, long_steps, priors, seed
        How hidden documents are found; see `HiddenOptions`. `segmentation` is ``implicit``, by the counts of words near
        each other, or ``explicit``, by the counts of words in the given documents.
    places
        Words that take up places in a window and in a history of a fixed length: ``content`` words, or ``all`` words.
    background_worth
        How much a word of a background text counts, relative to a word of the text, when hidden documents are found.
    history, posterior, fold_in, decay, strength, uninformative
        How the history weights the hidden documents; see `HistoryOptions`, which has their defaults. `fold_in` is for a
        `history` of a fixed length, `decay` and `strength` for `history` 0.
    mixture
        ``class`` keeps the n-gram's total probability of content words and divides it among them; ``literal`` mixes
        the probabilities of all words, as Novak and Mammone (2001) do.
    rescaling
        Whether hidden documents also rescale the n-gram's probabilities; None rescales if `mixture` and `hidden` allow
        it.
    exponent
        Exponent of rescaling; None finds the best one on held-out text.
    caches
        Caches of content words: ``"500"`` remembers 500 words, ``"0.99"`` decays by that factor, ``"500:0.99"`` does
        both.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.

    Attributes
    ----------
    predictor_
        The learnt distribution: n-grams, hidden documents and weights (`Predictor`).
    record_
        What was recorded about the text, such as whether it was lower-cased (`FitRecord`).

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
    places: str = "content"
    borders: bool = True
    factorisation: str = "nmf"
    iterations: int = 50
    start: str = "columns"
    blocks: str = "two"
    long_steps: bool = True
    priors: str = "shares"
    background_worth: float = 0.3
    history: int = 0
    posterior: str = "mixture"
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
        check_least(self, 1, "order", "min_count", "background_min_count", "threads")
        check_least(self, 0, "hidden", "background_worth")
        check_choice("mixture", self.mixture, MIXTURES)
        for name in ("stop", "caches"):
            if isinstance(getattr(self, name), str):
                raise UsageError(f"`{name}` must be a list. Got {getattr(self, name)!r} instead.")
        if self.rescaling and self.mixture == "literal":
            raise UsageError("`rescaling` needs `mixture` class; choose that, or leave rescaling out.")
        if self.rescaling and self.hidden == 0:
            raise UsageError("`rescaling` needs hidden documents, but `hidden` is 0; leave one of them out.")
        if self.rescaling and self.factorisation == "svd":
            raise UsageError("`rescaling` needs hidden documents, but `factorisation` is svd; leave one of them out.")
        if self.posterior == "product" and self.factorisation == "svd":
            raise UsageError("`posterior` is for hidden documents, but `factorisation` is svd; leave one of them out.")
        if self.fold_in is not None and not self.history:
            raise UsageError("`fold_in` needs a `history` of 1 or more words; leave it out, or set the history.")
        if self.decay is not None and self.history:
            raise UsageError("`decay` needs a `history` of 0, which means all words; leave one of them out.")
        if self.exponent is not None and not self._rescales:
            raise UsageError("`exponent` is for rescaling, which is off; leave it out, or turn rescaling on.")
        if self.exponent is not None and not 0 < self.exponent <= MOST_EXPONENT:
            raise UsageError(f"`exponent` must be above 0 and at most {MOST_EXPONENT:g}. Got {self.exponent} instead.")
        if len(set(self._parsed_caches)) < len(self.caches):
            raise UsageError("two of `caches` are the same; leave one of them out.")
        _ = self._history_options, self._hidden_options  # which check the rest

    @property
    def _rescales(self) -> bool:
        can = self.mixture == "class" and self.hidden != 0 and self.factorisation == "nmf"
        return can if self.rescaling is None else self.rescaling

    @property
    def _parsed_caches(self) -> tuple[Cache, ...]:
        return tuple(Cache.from_text(cache) for cache in self.caches)

    @property
    def _history_options(self) -> HistoryOptions:
        given = {option.name: getattr(self, option.name) for option in fields(HistoryOptions)}
        return HistoryOptions(**{name: value for name, value in given.items() if value is not None})

    @property
    def _hidden_options(self) -> HiddenOptions:
        return HiddenOptions(**{option.name: getattr(self, option.name) for option in fields(HiddenOptions)})

    @classmethod
    def of_paper(cls, **changes: Any) -> Self:
        """A model with the options of Novak and Mammone (2001), except for `changes`."""
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
        workplace: Workplace | None = None,
    ) -> Self:
        """Fit the model to a text.

        Parameters
        ----------
        documents
            The text of the domain. If it was lower-cased when it was read, the model looks up all words in lower case.
        dev
            Development text on which the weights are set. By default every 20th document of the text is held out for
            that, and the model is then fitted again to the whole text, with those weights.
        background
            Other texts and n-gram models, which are interpolated with the n-grams of the text.
        notices
            A list to which notes for the user are appended, for example about a text that is too small.
        progress
            Called after each part of a text that is counted, and after each iteration of the factorisation.
        workplace
            Who counts n-grams and words, and where; by default `threads` of this process. If it has a
            directory, counts that an earlier run has left there are not made again.
        """
        noted: list[str] = []
        fitting = self._fitting(
            documents, background, noted, progress, workplace or Workplace(ThreadEngine(self.threads))
        )
        case = documents.lowercase, documents.text.vocabulary
        if dev is not None:
            held_out, described = in_case_of(dev, *case), "the dev text"
            predictor, scored = fitting.tuned("whole", documents, held_out)
            tuned = predictor
        else:
            part, held_out, described = held_out_part(documents)
            if len(held_out.text.ids) < FEW_WORDS:
                few = f"only {len(held_out.text.ids):,} words of the text"
                noted.append(f"weights are set on {few}, which is unreliable; give development text (`dev`).")
            tuned, scored = fitting.tuned("part", part, held_out)
            whole = fitting.untuned("whole", documents)
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
            ngrams=source_names(documents, fitting.sources),
        )
        self.predictor_ = predictor
        if notices is not None:
            notices += dict.fromkeys(noted)  # a part and the whole may give the same notice
        return self

    def begin(
        self,
        documents: Documents,
        *,
        workplace: Workplace,
        dev: Documents | None = None,
        background: BackgroundSource | Sequence[BackgroundSource] = (),
    ) -> None:
        """Put texts into the directory of a workplace, where others can count before `fit` is called in the same way.

        The parameters are those of `fit`.
        """
        fitting = self._fitting(documents, background, [], None, workplace)
        if dev is None:
            fitting.begin("part", held_out_part(documents)[0])
        fitting.begin("whole", documents)

    def _fitting(
        self,
        documents: Documents,
        background: BackgroundSource | Sequence[BackgroundSource],
        noted: list[str],
        progress: Progress | None,
        workplace: Workplace,
    ) -> _Fitting:
        """What fitting a part of the text and the whole of it have in common."""
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
        return _Fitting(self, sources, stop, hidden, noted, progress or silent, workplace)

    def as_fitted(self, text: str) -> str:
        """The text in lower case if the model was fitted to lower-cased text, otherwise as it is."""
        return text.lower() if self.record_.lowercase else text

    def knows(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which of `words` are in the vocabulary; the model treats the others as unknown words."""
        return self.predictor_.vocabulary.numbers([self.as_fitted(word) for word in words]) > 0

    def memory(self, documents: Documents | None = None) -> Memory:
        """What the model remembers after reading documents, one after the other; by default an empty memory."""
        self.check_fitted()
        memory = self.predictor_.memory()
        if documents is not None:
            for text in _blocks(self._numbered(documents), alone=False):
                self.predictor_.score(text, memory, threads=self.threads)
        return memory

    def score(self, text: Text, memory: Memory | None = None) -> Scored:
        """Score a text that follows the text in `memory`, and add it to `memory`."""
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
        documents
            The documents.
        memory
            What the model remembers at the start, by default nothing; it is not changed.
        reset
            Whether the model returns to `memory` at the end of each document; each document is then a block.
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
        """Perplexity of documents, including sentence ends and without unknown words; see `score_documents`."""
        total, count = 0.0, 0
        for scored in self.score_documents(documents, memory=memory, reset=reset):
            probs = self.predictor_.mixed(scored)[scored.known]
            with np.errstate(divide="ignore"):
                total += float(np.log(probs).sum())
            count += len(probs)
        return float(np.exp(-total / count))

    def distribution(self, words: Sequence[str] = (), memory: Memory | None = None) -> NDArray[np.float64]:
        """P(w | h, H) of every word w of the vocabulary as the next one.

        `words` are the first words of the current sentence, and `memory` holds the text before it.
        """
        memory, predictor = memory or self.memory(), self.predictor_
        ids = np.maximum(predictor.vocabulary.numbers([self.as_fitted(word) for word in words]), UNKNOWN)
        contexts = predictor.background.start
        for word in ids.tolist():
            _, contexts = predictor.background.advance(contexts, word)
        return predictor.distribution(contexts, predictor.remembering(memory, ids[predictor.remembered[ids]]))

    def estimated_priors(self, documents: Documents) -> NDArray[np.float64]:
        """Estimate P(d) as the mean of P(d | h) over the histories of documents (Novak and Mammone, 2001, eq. 18)."""
        self.check_fitted()
        predictor = self.predictor_
        if not isinstance(predictor.hidden, HiddenDocuments):
            why = "`factorisation` svd" if predictor.hidden else "`hidden` 0"
            raise UsageError(f"the model has no hidden documents, because it was fitted with {why}.")
        ids = self._numbered(documents).text.ids
        rows = predictor.rows[ids[predictor.remembered[ids]]]
        if not (rows >= 0).any():
            raise DataError("the text has no word of the hidden documents, so P(d) cannot be estimated; give another.")
        return predictor.hidden.estimated_priors(rows, predictor.history)

    def static_ngrams(self, memory: Memory | None = None) -> NGrams:
        """Make one back-off model that equals this model with a fixed `memory`; `cepts.io.write_arpa` writes it."""
        memory = memory or self.memory()
        return static_ngrams(self.predictor_, memory)

    def _numbered(self, documents: Documents) -> Documents:
        vocabulary = self.predictor_.vocabulary
        return in_vocabulary(in_case_of(documents, self.record_.lowercase, vocabulary), vocabulary)

    def save(self, directory: str | PathLike[str]) -> None:
        """Save the model to `directory`, completely or not at all.

        KenLM binaries are not copied: only their path, size and digest are saved.
        """
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
        """Load a model that `save` wrote."""
        saved = load_model(directory, kind=ADAPTED_KIND)
        try:
            model = cls(**saved.settings["parameters"], threads=threads)
            facts = saved.settings["facts"]
            lists = {name: tuple(value) for name, value in facts.items() if isinstance(value, list)}
            model.record_ = FitRecord(**{**facts, **lists})
            model.predictor_ = predictor_from(directory, saved.settings, saved.arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{directory} is not a model of this version of cepts ({error}); fit it again.") from error
        return model


def _blocks(documents: Documents, *, alone: bool) -> Iterator[Text]:
    """The text of each document, or of documents with about `BLOCK_WORDS` words at a time."""
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
    """The steps of `AdaptedModel.fit` that are done twice if a part of the text is held out."""

    model: AdaptedModel
    sources: Sequence[BackgroundSource]
    stop: Collection[str] | None
    hidden: int
    notices: list[str]
    progress: Progress
    workplace: Workplace

    def _in_numbers(self, documents: Documents) -> tuple[NDArray[np.bool_], Vocabulary, list[BackgroundSource]]:
        """The content words, the vocabulary, and the sources in its numbers: the text and the backgrounds."""
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
        numbered: list[BackgroundSource] = [
            in_vocabulary(source, vocabulary) if isinstance(source, Documents) else source for source in sources
        ]
        return content, vocabulary, numbered

    def _worths(self, sources: Sequence[BackgroundSource]) -> list[tuple[Documents, float]]:
        """The texts in which hidden documents are found, and how much a word of each counts."""
        worths = [1.0, *(self.model.background_worth for _ in sources[1:])]
        return [(text, worth) for text, worth in zip(sources, worths, strict=True) if isinstance(text, Documents)]

    def begin(self, name: str, documents: Documents) -> None:
        """Put texts where they are counted; `name` says where that is."""
        model, place = self.model, self.workplace.under(name)
        content, vocabulary, sources = self._in_numbers(documents)
        texts = self._worths(sources)
        for number, (text, _) in enumerate(texts, start=1):
            ngrams = KneserNey(order=model.order)
            ngrams.begin(text.text, vocabulary=vocabulary, workplace=place.under(f"ngrams-{number}"))
        if self.hidden:
            begin_hidden_documents(texts, content, model._hidden_options, place)

    def untuned(self, name: str, documents: Documents) -> Predictor:
        """The parts of the model, all with the same weight; `name` says where counts are kept."""
        model, place = self.model, self.workplace.under(name)
        content, vocabulary, sources = self._in_numbers(documents)
        models: list[NGrams | KenLMModel] = []
        texts = 0
        for source in sources:
            if isinstance(source, Documents):
                texts += 1
                ngrams = KneserNey(order=model.order)
                ngrams.fit(
                    source.text,
                    vocabulary=vocabulary,
                    notices=self.notices,
                    progress=self.progress,
                    workplace=place.under(f"ngrams-{texts}"),
                )
                models.append(ngrams.ngrams_)
            else:
                models.append(with_vocabulary(source, vocabulary) if isinstance(source, NGrams) else source)
        hidden, exponent, caches = None, 0.0, model._parsed_caches
        if self.hidden:
            hidden = fit_hidden_documents(
                self._worths(sources),
                content,
                self.hidden,
                model._hidden_options,
                threads=model.threads,
                progress=self.progress,
                workplace=place,
            )
            if model._rescales:
                exponent = EXPONENTS[0] if model.exponent is None else model.exponent
        names = components_of(model.mixture, hidden is not None, exponent > 0, caches)
        weights = np.full(len(names), 1 / len(names))
        background = Background(models, vocabulary, content)
        return Predictor(background, content, hidden, weights, model._history_options, caches, model.mixture, exponent)

    def tuned(self, name: str, part: Documents, held_out: Documents) -> tuple[Predictor, Scored]:
        """The model of a part of the text with the best weights on held-out text, and that text as scored by it."""
        exponents = EXPONENTS if self.model.exponent is None else None
        return tune(self.untuned(name, part), held_out.text, exponents=exponents, threads=self.model.threads)
