"""Fitting an adapted model: n-grams, hidden documents, and the weights that join them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import SPECIAL, Documents, NGrams, Vocabulary, offsets_of
from cepts.errors import DataError, UsageError
from cepts.lm.adapted import AdaptedModel
from cepts.lm.background import Background
from cepts.lm.backoff import joined_vocabulary, renumbered, with_vocabulary
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.hidden import SEGMENTATIONS, HiddenDocuments, HistoryOptions, Segmentation, fit_hidden_documents
from cepts.lm.kneser_ney import train_ngrams
from cepts.lm.mixture import MIXTURES, MOST_EXPONENT, Mixture, components_of
from cepts.lm.stop import function_words, marked_words
from cepts.lm.tuning import EXPONENTS, tune_and_score
from cepts.progress import Progress

__all__ = ["CACHES", "FitOptions", "Source", "fit_adapted", "held_out_part", "in_vocabulary"]

# What a background may be: documents to train n-grams on, or n-grams that somebody has trained.
Source = Documents | NGrams | KenLMModel

CACHES = (Cache(0, 0.98), Cache(0, 0.999))
HELD_OUT = 20  # every so many documents one is held out
FEW_WORDS = 300  # of held-out text: too few for weights that can be relied on
STRETCH = 500  # words of a stretch, where a text has too few documents to hold one out


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How an adapted model is made.

    Attributes
    ----------
    order
        Words of the longest n-grams that are trained.
    min_count, background_min_count
        Words that the text, or a background text, has less often are left out of its part of the vocabulary.
    stop
        Function words: None finds them in the texts, a list is taken as it is.
    hidden
        How many hidden documents; 0 is none.
    segmentation, window, iterations
        Of the hidden documents.
    background_worth
        What a word of a background text is worth beside one of the text, when hidden documents are made.
    history
        How the history chooses among hidden documents.
    mixture
        ``class`` or ``literal``.
    rescaling
        Whether the history also rescales the n-gram.
    exponent
        Of rescaling; None finds the best on held-out text.
    caches
        Caches of content words.
    """

    order: int = 3
    min_count: int = 2
    background_min_count: int = 3
    stop: Collection[str] | None = None
    hidden: int = 500
    segmentation: Segmentation = "implicit"
    window: int = 21
    iterations: int = 50
    background_worth: float = 0.3
    history: HistoryOptions = field(default_factory=HistoryOptions)
    mixture: Mixture = "class"
    rescaling: bool = True
    exponent: float | None = None
    caches: tuple[Cache, ...] = CACHES

    def __post_init__(self) -> None:
        leasts = {"order": 1, "min_count": 1, "background_min_count": 1, "hidden": 0, "iterations": 1}
        for name, least in leasts.items():
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be {least} or more. Got {getattr(self, name)} instead.")
        for name, known in (("mixture", MIXTURES), ("segmentation", SEGMENTATIONS)):
            if getattr(self, name) not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}. Got {getattr(self, name)!r} instead.")
        if self.window < 3 or self.window % 2 == 0:
            raise UsageError(f"window must be an odd number of 3 or more. Got {self.window} instead.")
        if self.exponent is not None and not 0 <= self.exponent <= MOST_EXPONENT:
            raise UsageError(f"the exponent of rescaling must be 0 to {MOST_EXPONENT:g}. Got {self.exponent} instead.")
        if not 0 <= self.background_worth < np.inf:
            raise UsageError(f"background_worth must be 0 or more. Got {self.background_worth} instead.")
        if self.mixture == "literal" and self.rescaling:
            raise UsageError("rescaling works among content words, which the literal mixture does not tell apart.")


def in_vocabulary(documents: Documents, vocabulary: Vocabulary) -> Documents:
    """The same documents with the word numbers of another vocabulary; 0, the unknown word, for what it lacks."""
    return Documents(renumbered(documents.text, vocabulary), documents.offsets, documents.names)


def held_out_part(documents: Documents) -> tuple[Documents, Documents]:
    """The text without every 20th document, and these; stretches of it where the documents are too few for that."""
    if len(documents) < HELD_OUT:
        documents = _in_stretches(documents)
    if len(documents) < 2:
        sentences = int((documents.text.lengths > 0).sum())
        raise DataError(
            f"the text is too short to hold a part of it out for the weights ({len(documents.text.ids):,} words in "
            f"{sentences} sentence{'s' * (sentences != 1)}); wanted a sentence a line, and more of them, or a held-out "
            f"text with --dev."
        )
    held = np.arange(len(documents)) % HELD_OUT == min(HELD_OUT, len(documents)) // 2
    return documents.chosen(~held), documents.chosen(held)


def _in_stretches(documents: Documents) -> Documents:
    """The same sentences, in documents of about `STRETCH` words or a twentieth of the text."""
    ends = documents.text.offsets[1:]
    stretch = min(STRETCH, max(len(documents.text.ids) // HELD_OUT, 1))
    # Empty sentences go with the one before them, and those that open the text with the first that has words.
    first = np.min(ends, where=ends > 0, initial=max(len(documents.text.ids), 1))
    number = (np.maximum(ends, first) - 1) // stretch
    lengths = np.unique(number, return_counts=True)[1]
    return Documents(documents.text, offsets_of(lengths), tuple(str(n + 1) for n in range(len(lengths))))


def fit_adapted(
    documents: Documents,
    *,
    backgrounds: Sequence[Source] = (),
    held_out: Documents | None = None,
    options: FitOptions | None = None,
    seed: int = 0,
    threads: int | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> AdaptedModel:
    """Fit an adapted model to a text.

    Parameters
    ----------
    documents
        The text of the domain.
    backgrounds
        Other texts, and n-gram models, which are interpolated with the n-grams of the text.
    held_out
        Text on which the weights are set. By default every 20th document of the text is held out for that, and the
        model is then fitted again to all of it, with those weights.
    options
        How.
    seed, threads, progress
        As for `symmetric_nmf`; results do not depend on the threads.
    notices
        Gets a line for what a user should know.
    """
    options = options or FitOptions()
    fitting = _Fitting(options, backgrounds, seed=seed, threads=threads, notices=notices, progress=progress)
    if held_out is not None:
        return fitting.tuned(fitting.untuned(documents), held_out)
    part, held_out = held_out_part(documents)
    parts = f"every {HELD_OUT}th {'document' if len(documents) >= HELD_OUT else 'stretch of the text'}"
    if notices is not None and len(held_out.text.ids) < FEW_WORDS:
        notices.append(
            f"weights are set on {len(held_out.text.ids):,} words of the text, which is few; give more with --dev."
        )
    tuned = fitting.tuned(fitting.untuned(part), held_out)
    whole = fitting.untuned(documents)
    return replace(
        whole,
        background=whole.background.weighted(tuned.background.weights),
        weights=tuned.weights,
        exponent=tuned.exponent,
        facts={**tuned.facts, **whole.facts, "held_out": parts},
    )


class _Fitting:
    """The steps of `fit_adapted`."""

    def __init__(self, options: FitOptions, backgrounds: Sequence[Source], **rest: Any) -> None:
        self.options = options
        self.backgrounds = list(backgrounds)
        self.seed: int = rest["seed"]
        self.threads: int | None = rest["threads"]
        self.notices: list[str] | None = rest["notices"]
        self.progress: Progress | None = rest["progress"]

    def untuned(self, documents: Documents) -> AdaptedModel:
        """The parts of the model, all with the same weight."""
        options = self.options
        texts = [documents, *(source for source in self.backgrounds if isinstance(source, Documents))]
        vocabulary = self._vocabulary(documents)
        numbered = [in_vocabulary(text, vocabulary) for text in texts]
        stop = self._function_words(texts)
        content = ~marked_words(vocabulary, stop)
        content[: len(SPECIAL)] = False
        models: list[NGrams | KenLMModel] = []
        rest = iter(numbered[1:])
        for source in (None, *self.backgrounds):
            if source is None or isinstance(source, Documents):
                text = numbered[0] if source is None else next(rest)
                models.append(train_ngrams(text.text, order=options.order, vocabulary=vocabulary, notices=self.notices))
            else:
                models.append(with_vocabulary(source, vocabulary) if isinstance(source, NGrams) else source)
        hidden = self._hidden(numbered, content) if options.hidden else None
        exponent = 0.0
        if hidden is not None and options.rescaling:
            exponent = EXPONENTS[0] if options.exponent is None else options.exponent
        names = components_of(options.mixture, hidden is not None, exponent > 0, options.caches)
        facts = {
            "words": len(documents.text.ids),
            "documents": len(documents),
            "vocabulary": len(vocabulary),
            "content": int(content.sum()),
            "order": options.order,
            "segmentation": options.segmentation,
            "window": options.window,
            "iterations": options.iterations,
            "seed": self.seed,
        }
        background = Background(models, vocabulary, content)
        weights = np.full(len(names), 1 / len(names))
        parts = background, content, hidden, weights, options.history, options.caches, options.mixture
        return AdaptedModel(*parts, exponent, facts)

    def _vocabulary(self, documents: Documents) -> Vocabulary:
        parts: list[Vocabulary] = [_frequent(documents, self.options.min_count)]
        for source in self.backgrounds:
            if isinstance(source, Documents):
                parts.append(_frequent(source, self.options.background_min_count))
            else:
                parts.append(source.vocabulary)
        return joined_vocabulary(*parts)

    def _function_words(self, texts: Sequence[Documents]) -> set[str]:
        if self.options.stop is not None:
            return set(self.options.stop)
        return {
            word
            for text in texts
            for word, is_one in zip(text.text.vocabulary.words, function_words(text.text).tolist(), strict=True)
            if is_one
        }

    def _hidden(self, numbered: Sequence[Documents], content: NDArray[np.bool_]) -> HiddenDocuments:
        options = self.options
        worths = [1.0, *(options.background_worth for _ in numbered[1:])]
        return fit_hidden_documents(
            list(zip(numbered, worths, strict=True)),
            content,
            hidden=options.hidden,
            segmentation=options.segmentation,
            window=options.window,
            min_count=options.min_count,
            iterations=options.iterations,
            seed=self.seed,
            threads=self.threads,
            progress=self.progress,
        )

    def tuned(self, model: AdaptedModel, held_out: Documents) -> AdaptedModel:
        """The model with the weights that are best on held-out text."""
        exponents = EXPONENTS if self.options.exponent is None else None
        found, scored = tune_and_score(model, held_out.text, exponents=exponents, threads=self.threads)
        both = scored.probs, scored.mixed(found.weights, found.mixture)
        with np.errstate(divide="ignore"):
            perplexities = [float(np.exp(-np.log(probs[scored.known]).mean())) for probs in both]
        facts = {
            "held_out": "a text of its own",
            "held_out_words": len(held_out.text.ids),
            # Settings are JSON, which knows no infinity.
            "held_out_perplexity": np.minimum(perplexities, np.finfo(float).max).tolist(),
        }
        return replace(found, facts={**model.facts, **facts})


def _frequent(documents: Documents, least: int) -> Vocabulary:
    text = documents.text
    counts = np.bincount(text.ids, minlength=len(text.vocabulary))
    return Vocabulary.from_words(
        word for word, count in zip(text.vocabulary.words, counts.tolist(), strict=True) if count >= least
    )
