"""Writing n-gram models as ARPA files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cepts.data import NGrams
from cepts.errors import DataError
from cepts.io.files import PathLike, open_output
from cepts.io.lines import shown

ENTRIES_AT_A_TIME = 1 << 16


def write_arpa(ngrams: NGrams, path: PathLike) -> None:
    """Write an n-gram model, its logarithms with seven digits after the point; the suffix of `path` may name a
    compression.

    Raises `DataError` where the file cannot be written, or a word is empty or holds white space.
    """
    from cepts.kernels.arpa import write_entries

    vocabulary = ngrams.vocabulary
    lengths = np.diff(vocabulary.offsets)
    for word in vocabulary.words:
        if word.encode("utf-8", "surrogateescape").split() != [word.encode("utf-8", "surrogateescape")]:
            raise DataError(f"{path}: an ARPA file cannot hold the word {shown(word)}, which is empty or has blanks.")
    levels = ngrams.levels.tolist()
    contexts = ngrams.contexts
    room = np.empty(len(ngrams) + 1, dtype=np.int64)  # bytes of the words of each entry, with one byte each
    room[-1] = 0
    with open_output(path) as file:
        counts = [f"ngram {order}={count}\n" for order, count in enumerate(np.diff(ngrams.levels).tolist(), 1)]
        file.write("\\data\\\n{}".format("".join(counts)).encode())
        for order, (start, stop) in enumerate(pairwise(levels), 1):
            room[start:stop] = room[contexts[start:stop]] + lengths[ngrams.words[start:stop]] + 1
            file.write(f"\n\\{order}-grams:\n".encode())
            for low in range(start, stop, ENTRIES_AT_A_TIME):
                high = min(low + ENTRIES_AT_A_TIME, stop)
                with np.errstate(divide="ignore"):
                    log_probs = np.log10(ngrams.probs[low:high].astype(np.float64))
                    log_backoffs = np.log10(ngrams.backoffs[low:high].astype(np.float64))
                out = np.empty(int(room[low:high].sum()) + 32 * (high - low), dtype=np.uint8)
                path_words = np.empty(order, dtype=np.int64)
                used = write_entries(
                    low,
                    high,
                    contexts,
                    ngrams.words,
                    log_probs,
                    log_backoffs,
                    vocabulary.buffer,
                    vocabulary.offsets,
                    path_words,
                    out,
                )
                file.write(out[:used].data)
        file.write(b"\n\\end\\\n")
