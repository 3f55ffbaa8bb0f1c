"""The steps of fitting an adapted model: vocabulary, function words, held-out text, and what the model records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cepts.data import SPECIAL, Documents, NGrams, Vocabulary, offsets_of
from cepts.errors import DataError, UsageError
from cepts.lm.backoff import renumbered
from cepts.lm.binary import KenLMModel
from cepts.lm.stop import function_words, marked_words

# A background: documents to train n-grams on, or a trained n-gram model.
BackgroundSource = Documents | NGrams | KenLMModel

HELD_OUT = 20  # one in so many documents is held out
FEW_WORDS = 300  # weights set on fewer words of held-out text are unreliable
STRETCH = 500  # words in a stretch, if a text has too few documents to hold one out
MOST_HIDDEN = 500  # hidden documents, if their number is not given
CONTENT_PER_HIDDEN = 16  # content words for each hidden document, if their number is not given
FEW_HIDDEN = 20  # hidden documents that even a small text gets, if it has four times as many content words
FEW_KNOWN = 0.5  # a background with a smaller share of the words of the text probably writes words differently


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRecord:
    """What an adapted model records about the data to which it was fitted.

    Attributes
    ----------
    words, documents
        Number of words and of documents of the text.
    held_out, held_out_words, held_out_perplexity
        A description of the text on which weights were set, its number of words, and its perplexity with n-grams alone
        and with the whole model.
    lowercase, boundaries
        How the text was read; see `cepts.data.Documents`.
    ngrams
        Names of the n-gram models: the files of the text and of each background.
    """

    words: int
    documents: int
    held_out: str
    held_out_words: int
    held_out_perplexity: tuple[float, float]
    lowercase: bool
    boundaries: str
    ngrams: tuple[str, ...]


def in_case_of(documents: Documents, lowercase: bool, vocabulary: Vocabulary) -> Documents:
    """Documents in the case of a model's text: in lower case if that text was lower-cased, otherwise as they are.

    Documents that were lower-cased are refused if the `vocabulary` of the model has words in upper case.
    """
    if lowercase and not documents.lowercase:
        return documents.lowercased()
    if documents.lowercase and not lowercase and any(word != word.lower() for word in vocabulary.words):
        name = documents.sources[0] if documents.sources else "the text"
        raise UsageError(
            f"{name} was read in lower case, but the model's text was not, so words with capitals would never match; "
            f"read it without `lowercase`, or fit the model to lower-cased text."
        )
    return documents


def in_vocabulary(documents: Documents, vocabulary: Vocabulary) -> Documents:
    """The same documents with the word numbers of another vocabulary; 0, the unknown word, for words that it lacks."""
    return replace(documents, text=renumbered(documents.text, vocabulary))


def content_words(
    vocabulary: Vocabulary, texts: Sequence[Documents], stop: Collection[str] | None
) -> NDArray[np.bool_]:
    """Which words of a vocabulary are content words; if `stop` is None, function words are found in the texts."""
    if stop is None:
        stop = {
            word
            for text in texts
            for word, is_one in zip(text.text.vocabulary.words, function_words(text.text).tolist(), strict=True)
            if is_one
        }
    content = ~marked_words(vocabulary, stop)
    content[: len(SPECIAL)] = False
    return content


def default_hidden(
    documents: Documents, stop: Collection[str] | None, min_count: int, segmentation: str, notices: list[str]
) -> int:
    """The default number of hidden documents: `MOST_HIDDEN`, or fewer, with a note, if the text is small."""
    text = documents.text
    counts = np.bincount(text.ids, minlength=len(text.vocabulary))
    plain = function_words(text) if stop is None else marked_words(text.vocabulary, stop)
    content = int(((counts >= min_count) & ~plain).sum())
    most = max(content // CONTENT_PER_HIDDEN, min(content // 4, FEW_HIDDEN))
    if segmentation == "explicit":
        most = min(most, len(documents) // 2)
    # If there are hardly any content words, finding hidden documents fails with a better message.
    if not 0 < most < MOST_HIDDEN:
        return MOST_HIDDEN
    notices.append(f"{most:,} hidden document{'s' * (most != 1)} instead of {MOST_HIDDEN:,}, as the text is small.")
    return most


def held_out_part(documents: Documents) -> tuple[Documents, Documents, str]:
    """The text without every 20th document, these held-out documents, and a description of them.

    If the text has too few documents, stretches of it are held out instead.
    """
    what = "document"
    if len(documents) < HELD_OUT:
        documents, what = _in_stretches(documents), "stretch of the text"
    if len(documents) < 2:
        sentences = int((documents.text.lengths > 0).sum())
        raise DataError(
            f"the text is too short to hold out a part for the weights ({len(documents.text.ids):,} words in "
            f"{sentences} sentence{'s' * (sentences != 1)}); wanted more sentences, one per line, or separate "
            f"development text (`dev=`)."
        )
    held = np.arange(len(documents)) % HELD_OUT == min(HELD_OUT, len(documents)) // 2
    return documents.chosen(~held), documents.chosen(held), f"every {HELD_OUT}th {what}"


def _in_stretches(documents: Documents) -> Documents:
    """The same sentences, in documents of about `STRETCH` words or a twentieth of the text."""
    ends = documents.text.offsets[1:]
    stretch = min(STRETCH, max(len(documents.text.ids) // HELD_OUT, 1))
    # An empty sentence goes with the one before it; at the beginning of the text, with the first that has words.
    first = np.min(ends, where=ends > 0, initial=max(len(documents.text.ids), 1))
    number = (np.maximum(ends, first) - 1) // stretch
    lengths = np.unique(number, return_counts=True)[1]
    return replace(documents, offsets=offsets_of(lengths), names=tuple(str(n + 1) for n in range(len(lengths))))


def _paths(source: BackgroundSource) -> tuple[str, ...]:
    if isinstance(source, Documents):
        return source.sources
    path = source.path if isinstance(source, KenLMModel) else source.source
    return (path,) if path else ()


def source_names(documents: Documents, sources: Sequence[BackgroundSource]) -> tuple[str, ...]:
    """Names of the n-gram models: their files, with directories if two have the same name, or otherwise numbers."""
    files = [_paths(source) for source in (documents, *sources)]
    paths = [Path(found[0] if found else str(number)) for number, found in enumerate(files, start=1)]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = ["/".join(path.parts[-2:]) for path in paths]
    several = [f"{len(found)} texts" if len(found) > 1 else name for name, found in zip(names, files, strict=True)]
    return tuple("stdin" if name == "-" else name for name in several)


def check_known_words(documents: Documents, sources: Sequence[BackgroundSource], notices: list[str]) -> None:
    """Add a note for each background that has few of the words of the text, counted as often as the text uses them."""
    text = documents.text
    for name, source in zip(source_names(documents, sources)[1:], sources, strict=True):
        other = source.text.vocabulary if isinstance(source, Documents) else source.vocabulary
        share = float((other.numbers(text.vocabulary.words) >= 0)[text.ids].mean()) if len(text.ids) else 1.0
        if share < FEW_KNOWN:
            path = (*_paths(source), f"background {name}")[0]
            notices.append(
                f"{path} has only {share:.0%} of the words of the text; check that both have the same case and tokens."
            )
