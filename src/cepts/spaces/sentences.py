"""Vectors of sentences: weighted means of their word vectors, by SIF or by inverse document frequencies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Text, Vectors, Vocabulary, offsets_of
from cepts.errors import DataError, UsageError

IDF_FLOOR = 0.1  # the least weight of a word
MUSE_FLOOR = 1.0  # that of the program of Conneau et al. (2018)

_LETTER = r"[^\W\d_]"
_CLITIC = r"(?:s|m|re|ll|ve|d)\b"
TOKEN = re.compile(
    "|".join(
        [
            r"can(?=not\b)",
            rf"{_LETTER}{{2,}}+(?!')",  # most words, so that the other patterns need not be tried
            rf"(?:{_LETTER}\.){{2,}}",  # u.s.
            rf"{_LETTER}+?(?=n't\b)|n't\b",  # do n't
            rf"'{_CLITIC}",  # it 's
            rf"{_LETTER}+'(?!{_CLITIC})(?={_LETTER})",  # l' homme, dell' unione
            rf"{_LETTER}+",
            rf"\d+(?:[.,]\d+)*(?:st|nd|rd|th|s)?(?!{_LETTER})|\d+",  # 1,000 2.5 20th 1990s
        ]
    )
)


def simple_tokens(sentence: str) -> list[str]:
    """Words and numbers of a raw sentence in lower case, without punctuation.

    English clitics are cut before the apostrophe and elided words of Romance languages after it, as in the
    vocabularies of most published vectors. Languages written without spaces, or with combining vowel signs, need
    another tokeniser.

    Examples
    --------
    >>> simple_tokens("It’s 1,000 euros; don't pay l'Homme in the U.S.!")
    ['it', "'s", '1,000', 'euros', 'do', "n't", 'pay', "l'", 'homme', 'in', 'the', 'u.s.']
    """
    return TOKEN.findall(sentence.lower().replace("’", "'"))


def simple_text(sentences: Iterable[str]) -> Text:
    """Text of raw sentences, cut by `simple_tokens`."""
    return Text.from_tokens(simple_tokens(sentence) for sentence in sentences)


@dataclass(frozen=True, slots=True, eq=False)
class WordWeights:
    """How much each word counts in the vector of a sentence.

    Attributes
    ----------
    values
        The weight of each word of the vectors; words of weight 0 are skipped.
    repeats
        Whether a word counts as often as it occurs in the sentence, or once.
    mean
        Whether the sum is divided by the sum of the weights of its words, or by their number.
    """

    values: NDArray[np.float32]
    repeats: bool = True
    mean: bool = True


def sif_weights(vocabulary: Vocabulary, counts: Mapping[str, int], *, smoothing: float = 1e-3) -> WordWeights:
    """Smooth inverse frequencies (Arora, Liang & Ma 2017): ``a / (a + p(word))``, a = `smoothing`, p from `counts`.

    A word without a count has weight 1, as in the authors' program. `sif_vectors` does the rest.
    """
    if not smoothing > 0:
        raise UsageError(f"`smoothing` must be above 0. Got {smoothing} instead.")
    total = sum(counts.values())
    if total <= 0:
        raise DataError("the table of word counts is empty; SIF weights need the counts of a large text.")
    found = [counts.get(word) or counts.get(word.lower(), 0) for word in vocabulary.words]
    share = np.array(found, dtype=np.float64) / total
    return WordWeights((smoothing / (smoothing + share)).astype(np.float32), mean=False)


def idf_weights(
    text: Text, vocabulary: Vocabulary, *, floor: float = IDF_FLOOR, skip_unseen: bool = False
) -> WordWeights:
    """Inverse document frequencies: ``max(floor, log10(N / n(word)))`` if n of the N sentences of `text` have the word.

    Each word of a sentence counts once, and sums are divided by the sum of the weights, as in Conneau et al. (2018).
    They use a `floor` of 1 (`MUSE_FLOOR`), so all words that occur in at least a tenth of the sentences have the same
    weight, and skip words that are not in `text` (`skip_unseen`); here such a word has the weight of a word that occurs
    in one sentence.
    """
    if not len(text):
        raise DataError("found no sentences to learn word weights from, wanted at least one.")
    if not floor > 0:
        raise UsageError(f"`floor` must be above 0. Got {floor} instead.")
    rows = vocabulary.find(text.vocabulary.words)[text.ids]
    sentence = np.repeat(np.arange(len(text)), text.lengths)
    known = rows >= 0
    seen = np.unique(sentence[known] * len(vocabulary) + rows[known])
    frequency = np.bincount(seen % max(len(vocabulary), 1), minlength=len(vocabulary))
    weights = np.maximum(np.log10(len(text) / np.maximum(frequency, 1)), floor)
    if skip_unseen:
        weights[frequency == 0] = 0.0
    return WordWeights(weights.astype(np.float32), repeats=False)


class SentenceVectors(NamedTuple):
    """A row for each sentence, zero if none of its words has a vector, and whether any has."""

    matrix: NDArray[np.float32]
    covered: NDArray[np.bool_]


def sentence_vectors(text: Text, vectors: Vectors, weights: WordWeights | None = None) -> SentenceVectors:
    """Weighted means of the word vectors of each sentence; without `weights` all words count the same.

    Words are looked up as they are, then in lower case; those without a vector are skipped.
    """
    from scipy.sparse import csr_array

    if weights is None:
        weights = WordWeights(np.ones(len(vectors), dtype=np.float32))
    if len(weights.values) != len(vectors):
        raise UsageError(f"`weights` must be {len(vectors)} numbers. Got {len(weights.values)} instead.")
    row_of_word = vectors.vocabulary.find(text.vocabulary.words)
    row_of_word = np.where((row_of_word >= 0) & (weights.values[row_of_word] > 0), row_of_word, -1)
    known = row_of_word[text.ids] >= 0
    # Only the rows that the text needs are read and converted to float32, because the matrix may be a large file.
    used, column = np.unique(row_of_word[text.ids[known]], return_inverse=True)
    bags = csr_array(
        (np.ones(len(column), dtype=np.float32), column.reshape(-1), offsets_of(known.astype(np.int64))[text.offsets]),
        shape=(len(text), len(used)),
    )
    bags.sum_duplicates()
    if not weights.repeats:
        bags.data[:] = 1
    weight = weights.values[used]
    words = np.asarray(vectors.matrix[used], dtype=np.float32) * weight[:, None]
    divisor = bags @ (weight if weights.mean else np.ones_like(weight))
    covered = np.diff(bags.indptr) > 0
    matrix = np.asarray(bags @ words, dtype=np.float32)
    matrix /= np.where(covered, divisor, 1)[:, None].astype(np.float32)
    return SentenceVectors(matrix, covered)


def sif_vectors(text: Text, vectors: Vectors, weights: WordWeights, *, directions: int = 1) -> SentenceVectors:
    """Sentence vectors of SIF: weighted by `sif_weights`, then without the directions that all sentences share.

    The two sides of a similarity task belong in one text, because they form one set of sentences.
    """
    matrix, covered = sentence_vectors(text, vectors, weights)
    return SentenceVectors(without_common(matrix, directions=directions), covered)


def without_common(matrix: NDArray[np.floating], *, directions: int = 1) -> NDArray[np.float32]:
    """The rows without what they have in common: their projection on the first right singular vectors of the matrix.

    The matrix is not centred.
    """
    rows = np.asarray(matrix, dtype=np.float64)
    # The right singular vectors are the eigenvectors of the small square matrix; `eigh` returns the smallest first.
    common = np.linalg.eigh(rows.T @ rows)[1][:, max(rows.shape[1] - directions, 0) :]
    return np.asarray(rows - (rows @ common) @ common.T, dtype=np.float32)
