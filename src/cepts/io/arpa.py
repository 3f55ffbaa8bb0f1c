"""ARPA files: n-gram models as text, with the decimal logarithms of probabilities and back-off weights."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cepts.data import KENLM_MAGIC, SPECIAL, START, UNKNOWN, NGrams, Vocabulary, offsets_of
from cepts.errors import DataError
from cepts.io.files import BLOCK_BYTES, InputFile, PathLike, open_output, read_blocks
from cepts.io.lines import line_at, shown, utf8_text
from cepts.io.tokens import NotUTF8Error, TextBuilder
from cepts.progress import Progress

COUNT = re.compile(r"ngram[ \t]+(\d{1,4})[ \t]*=[ \t]*(\d{1,18})")
LARGEST = float(np.finfo(np.float32).max)
SECTION = re.compile(r"\\(\d{1,4})-grams:")
LEAST_LOGARITHM = -99  # stands for the logarithm of zero
LARGEST_BACKOFF = 38  # the decimal logarithm of the largest float32, rounded down


def read_arpa(
    path: PathLike,
    *,
    notices: list[str] | None = None,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> NGrams:
    """Read an n-gram model from an ARPA file.

    Words and n-grams may come in any order. If a longer n-gram starts or ends with a shorter one that is missing, the
    shorter one is inserted with its back-off probability.

    Parameters
    ----------
    path
        A file, plain or compressed (.gz .bz2 .xz .zst); `-` is standard input.
    notices
        A list to which notes for the user are appended: that the file has no ``<unk>``, which then has probability 0,
        and that n-grams were inserted.
    progress
        Called after each block with a `Step` that counts bytes on disk.
    block_bytes
        How many bytes to read at a time; affects only the speed.
    """
    with InputFile(path, progress=progress, block_bytes=block_bytes) as file:
        _check_head(file)
        reader = _ArpaReader(file.name)
        for block in read_blocks(file):
            reader.feed(block)
            file.report()
            if reader.ended:
                break
        return replace(reader.finish([] if notices is None else notices), source=str(path))


def _check_head(file: InputFile) -> None:
    head = file.peek(1 << 12)
    if not head:
        raise DataError(f"{file.name} is empty; wanted an ARPA file.")
    if head.startswith(KENLM_MAGIC):
        raise DataError(f"{file.name}: found a KenLM binary, wanted an ARPA file; load it as a KenLM binary.")
    if b"\0" in head:
        raise DataError(f"{file.name}: found bytes that are not text, wanted an ARPA file; check the file.")
    file.skip_bom()


@dataclass(eq=False)
class _Level:
    """The n-grams of one order as they are read, then in the order of the trie."""

    rows: NDArray[np.int64]
    probs: NDArray[np.float64]  # NaN where inserted
    backoffs: NDArray[np.float64]
    lines: NDArray[np.int64]

    def add(self, rows: NDArray[np.int64]) -> None:
        """Add n-grams that the file does not have."""
        count = len(rows)
        self.rows = np.concatenate([self.rows, rows])
        self.probs = np.concatenate([self.probs, np.full(count, np.nan)])
        self.backoffs = np.concatenate([self.backoffs, np.ones(count)])
        self.lines = np.concatenate([self.lines, np.zeros(count, dtype=np.int64)])

    def sort(self, order: NDArray[np.int64]) -> None:
        self.rows, self.probs = self.rows[order], self.probs[order]
        self.backoffs, self.lines = self.backoffs[order], self.lines[order]


class _ArpaReader:
    """Reads successive blocks of a file: its first line, the counts, then a section for each order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ended = False
        self._lines = 0
        self._opened = False
        self._counts: list[int] = []
        self._order = 0  # of the current section; 0 before the first
        self._found = 0
        self._builder = TextBuilder()
        self._entries: list[list[NDArray[np.float64]]] = []  # of each order: log-probabilities, log-backoffs, lines

    def feed(self, block: NDArray[np.uint8]) -> None:
        if block[-1] != ord("\n"):
            # The end of the file: half a line of a truncated file must not be reported as a wrong line.
            whole = block.tobytes().rfind(b"\n") + 1
            if whole and block[whole:].tobytes().strip() != b"\\end\\":
                block = block[:whole]
        position = 0
        while position < len(block) and not self.ended:
            if self._order:
                position = self._read_entries(block, position)
            if position < len(block) and not self.ended:
                position = self._read_line(block, position)

    # -- Lines between the n-grams ----------------------------------------------------------------------------------

    def _read_line(self, block: NDArray[np.uint8], position: int) -> int:
        raw = line_at(block, position)
        line = raw.decode("utf-8", "replace").strip()
        following = position + len(raw) + 1
        self._lines += 1
        if not line:
            return following
        if not self._opened:
            if line != "\\data\\":
                raise self._wrong(f"found {shown(line)}, wanted the line \\data\\ that opens an ARPA file")
            self._opened = True
        elif self._order == 0 and (count := COUNT.fullmatch(line)):
            if int(count[1]) != len(self._counts) + 1:
                raise self._wrong(
                    f"found {shown(line)}, wanted the number of {len(self._counts) + 1}-grams; fix the header"
                )
            self._counts.append(int(count[2]))
        elif line == "\\end\\":
            self._close_section(len(self._counts), line)
            self.ended = True
        elif section := SECTION.fullmatch(line):
            self._close_section(int(section[1]) - 1, line)
            self._order += 1
            self._found = 0
            self._entries.append([np.empty((3, 0))])
        else:
            wanted = "a section of n-grams or \\end\\" if self._order else "`ngram order=count` or \\1-grams:"
            raise self._wrong(f"found {shown(line)}, wanted {wanted}; fix the line")
        return following

    def _close_section(self, order: int, line: str) -> None:
        """Check that the section that ends here is the one for `order` and has all its n-grams."""
        if order != self._order or not self._counts or (line != "\\end\\" and order == len(self._counts)):
            following = self._order + 1
            wanted = f"\\{following}-grams:" if following <= len(self._counts) else "\\end\\"
            raise self._wrong(f"found {line}, wanted {wanted if self._counts else '`ngram 1=count`'}; fix the file")
        if order and self._found < self._counts[order - 1]:
            raise self._wrong(
                f"found {line} after {self._found:,} {order}-grams, wanted {self._counts[order - 1]:,} as the header "
                f"says; fix the header, or copy the file again"
            )

    # -- N-grams ----------------------------------------------------------------------------------------------------

    def _read_entries(self, block: NDArray[np.uint8], position: int) -> int:
        from cepts.kernels.arpa import BLOCK_DONE, MARK, read_entries

        before = self._lines
        room = int(np.count_nonzero(block[position:] == ord("\n"))) + 1
        log_probs, log_backoffs = np.empty(room, dtype=np.float32), np.empty(room, dtype=np.float32)
        starts, lines = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        tokens = np.empty(len(block) - position + self._order + 1, dtype=np.uint8)
        state = np.array([position, self._lines, 0, 0], dtype=np.int64)
        status = read_entries(block, state, self._order, log_probs, log_backoffs, starts, lines, tokens)
        stop, self._lines, entries, used = state.tolist()
        self._read_slowly(block, log_probs[:entries], log_backoffs[:entries], starts, lines)
        for logarithms, largest, place, what in (
            (log_probs[:entries], 0, 0, "log-probability"),
            (log_backoffs[:entries], LARGEST_BACKOFF, self._order + 1, "log-backoff"),
        ):
            wrong = np.flatnonzero(logarithms > largest)
            if len(wrong):
                line = _fields_at(block, starts[wrong[0]])
                raise self._wrong(
                    f"found the {what} {shown(line[place])}, wanted at most {largest}; fix the line",
                    lines[wrong[0]],
                )
        wanted = self._counts[self._order - 1]
        if self._found + entries > wanted:
            raise self._wrong(
                f"found more {self._order}-grams than the {wanted:,} in the header; fix the header",
                lines[wanted - self._found],
            )
        if status not in (BLOCK_DONE, MARK):
            fields = _fields_at(block, stop)
            number = "one or two numbers" if self._order < len(self._counts) else "one number"
            raise self._wrong(
                f"found {len(fields)} fields, wanted {number} and {self._order} word{'s' * (self._order > 1)}: "
                f"log-probability, words, log-backoff; fix the line",
                self._lines + 1,
            )
        try:
            self._builder.feed(tokens[:used])
        except NotUTF8Error:
            for place, raw in enumerate(block[position:].tobytes().split(b"\n"), before + 1):
                utf8_text(f"{self.name}, line {place:,}", raw)
            raise
        self._found += entries
        self._entries[-1].append(np.stack([log_probs[:entries], log_backoffs[:entries], lines[:entries]]))
        return stop

    def _read_slowly(
        self,
        block: NDArray[np.uint8],
        log_probs: NDArray[np.float32],
        log_backoffs: NDArray[np.float32],
        starts: NDArray[np.int64],
        lines: NDArray[np.int64],
    ) -> None:
        """Read the numbers that the kernel leaves: out of range, halfway between two float32, infinite, or wrong."""
        for numbers, place in ((log_probs, 0), (log_backoffs, self._order + 1)):
            for entry in np.flatnonzero(np.isnan(numbers)).tolist():
                field = _fields_at(block, starts[entry])[place]
                try:
                    number = float(field)
                except ValueError:
                    number = np.nan
                if not number < LARGEST:
                    raise self._wrong(f"found {shown(field)}, wanted a number; fix the line", lines[entry])
                numbers[entry] = min(max(number, 2 * LEAST_LOGARITHM), 2 * LARGEST_BACKOFF)

    def _line_number(self, order: int, entry: int) -> int:
        return int(np.concatenate(self._entries[order - 1], axis=1)[2, entry])

    def _wrong(self, what: str, line: int | None = None) -> DataError:
        return DataError(f"{self.name}, line {self._lines if line is None else int(line):,}: {what}.")

    # -- The model --------------------------------------------------------------------------------------------------

    def finish(self, notices: list[str]) -> NGrams:
        if not self.ended:
            if not self._opened:
                raise self._wrong("found blank lines only, wanted the line \\data\\ that opens an ARPA file")
            done = f"after {self._found:,} {self._order}-grams" if self._order else "in the header"
            wanted = f" of {self._counts[self._order - 1]:,}" if self._order else ""
            raise self._wrong(
                f"found the end of the file {done}{wanted}, wanted the line \\end\\; the file is cut short, so copy "
                f"it again"
            )
        text = self._builder.finish()
        vocabulary, numbers = self._words(text.vocabulary, text.ids, notices)
        levels = []
        start = 0
        for order, count in enumerate(self._counts, 1):
            rows = numbers[text.ids[start : start + count * order]].reshape(count, order)
            start += count * order
            log_probs, log_backoffs, lines = np.concatenate(self._entries[order - 1], axis=1)
            levels.append(_Level(rows, _powers(log_probs), _powers(log_backoffs), lines.astype(np.int64)))
        if len(vocabulary) > len(levels[0].rows):
            levels[0].add(np.array([[UNKNOWN]]))
            levels[0].probs[-1] = 0
        levels[0].sort(np.argsort(levels[0].rows[:, 0]))
        levels[0].probs[START] = 0
        return self._trie(vocabulary, levels, notices)

    def _words(
        self, found: Vocabulary, ids: NDArray[np.int32], notices: list[str]
    ) -> tuple[Vocabulary, NDArray[np.int64]]:
        """The vocabulary, special words first, and the number that each word of the file has there."""
        unigrams = self._counts[0]
        again = np.flatnonzero(ids[:unigrams] != np.arange(unigrams))
        if len(again):
            word = found[int(ids[again[0]])]
            raise self._wrong(f"found {shown(word)} a second time; remove one", self._line_number(1, again[0]))
        unknown = np.flatnonzero(ids >= unigrams)
        if len(unknown):
            starts = offsets_of([count * order for order, count in enumerate(self._counts, 1)])
            order = int(np.searchsorted(starts, unknown[0], side="right"))
            entry = (unknown[0] - starts[order - 1]) // order
            raise self._wrong(
                f"found {shown(found[int(ids[unknown[0]])])}, wanted only words that have a 1-gram; add one, or remove "
                f"the line",
                self._line_number(order, entry),
            )
        special = found.numbers(SPECIAL)
        if special[UNKNOWN] < 0:
            special[UNKNOWN] = found.number("<UNK>")
        for word, number in zip(SPECIAL[1:], special[1:].tolist(), strict=True):
            if number < 0:
                raise DataError(
                    f"{self.name}: found no 1-gram {word}, wanted <s> and </s> for the start and end of a sentence; "
                    f"add it, with log-probability -99 if the model never uses it."
                )
        if special[UNKNOWN] < 0:
            notices.append(f"{self.name} has no <unk>: words outside its vocabulary have probability 0.")
        others = np.setdiff1d(np.arange(unigrams), special)
        numbers = np.empty(unigrams, dtype=np.int64)
        numbers[others] = np.arange(len(others)) + len(SPECIAL)
        numbers[special[special >= 0]] = np.flatnonzero(special >= 0)
        return Vocabulary.from_words([*SPECIAL, *(found[number] for number in others.tolist())]), numbers

    def _trie(self, vocabulary: Vocabulary, levels: list[_Level], notices: list[str]) -> NGrams:
        """Sort the n-grams of each order by their contexts, and insert those that are missing."""
        from cepts.kernels.ngrams import find_entries

        size = len(vocabulary)
        words = [np.arange(size, dtype=np.int32)]
        # For each order: the entries of contexts and suffixes, and the first continuation of each of its contexts.
        contexts, suffixes = [np.full(size, -1)], [np.full(size, -1)]
        first: list[NDArray[np.int64]] = []
        inserted = 0
        while len(words) < len(levels):
            level = levels[len(words)]
            start = sum(len(part) for part in words)
            trie = np.concatenate([*first, [start]]), np.concatenate(words)
            entries = []
            missing = []
            for part in (level.rows[:, :-1], level.rows[:, 1:]):
                found = np.empty(len(part), dtype=np.int64)
                find_entries(*trie, np.ascontiguousarray(part), found)
                entries.append(found)
                missing.append(part[found < 0])
            lacking = np.unique(np.concatenate(missing), axis=0)
            if len(lacking):
                # The inserted n-grams may in turn need shorter ones, so their order is processed again.
                inserted += len(lacking)
                levels[len(words) - 1].add(lacking)
                for parts in (words, contexts, suffixes, first):
                    parts.pop()
                continue
            keys = entries[0] * size + level.rows[:, -1]
            order = np.argsort(keys, kind="stable")
            again = np.flatnonzero(np.diff(keys[order]) == 0)
            if len(again):
                place = order[again[0] + 1]
                ngram = " ".join(vocabulary[number] for number in level.rows[place].tolist())
                raise self._wrong(f"found {shown(ngram)} a second time; remove one", level.lines[place])
            level.sort(order)
            contexts.append(entries[0][order])
            suffixes.append(entries[1][order])
            before = start - len(words[-1])
            first.append(start + offsets_of(np.bincount(contexts[-1] - before, minlength=len(words[-1])))[:-1])
            words.append(level.rows[:, -1].astype(np.int32))
        if inserted:
            notices.append(
                f"{self.name}: inserted {inserted:,} missing n-gram{'s' * (inserted > 1)} that longer ones start or "
                f"end with, with back-off probabilities."
            )
        ends = offsets_of([len(part) for part in words])
        probs = np.concatenate([level.probs for level in levels])
        backoffs = np.concatenate([level.backoffs for level in levels])
        all_contexts, all_suffixes = np.concatenate(contexts), np.concatenate(suffixes)
        for start, stop in pairwise(ends[1:].tolist()):
            new = start + np.flatnonzero(np.isnan(probs[start:stop]))
            probs[new] = backoffs[all_contexts[new]] * probs[all_suffixes[new]]
        backoffs[ends[-2] :] = 1
        return NGrams(
            vocabulary,
            ends,
            np.concatenate(words),
            probs.astype(np.float32),
            backoffs.astype(np.float32),
            np.concatenate([*first, np.full(len(words[-1]) + 1, ends[-1])]),
            all_suffixes,
        )


def _fields_at(block: NDArray[np.uint8], start: int) -> list[str]:
    return [field.decode("utf-8", "replace") for field in line_at(block, start).split()]


def _powers(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers with these decimal logarithms; -99 and less stands for zero."""
    return np.where(logarithms > LEAST_LOGARITHM, 10.0**logarithms, 0.0)


ENTRIES_AT_A_TIME = 1 << 16


def write_arpa(ngrams: NGrams, path: PathLike) -> None:
    """Write an n-gram model as an ARPA file.

    Logarithms have seven decimals. The file is compressed if the suffix of `path` names a compression. Raises
    `DataError` if the file cannot be written, or if a word is empty or contains white space.
    """
    from cepts.kernels.arpa import write_entries

    vocabulary = ngrams.vocabulary
    lengths = np.diff(vocabulary.offsets)
    for word in vocabulary.words:
        if word.encode("utf-8", "surrogateescape").split() != [word.encode("utf-8", "surrogateescape")]:
            raise DataError(f"{path}: an ARPA file cannot hold the word {shown(word)}, which is empty or has spaces.")
    levels = ngrams.levels.tolist()
    contexts = ngrams.contexts
    room = np.empty(len(ngrams) + 1, dtype=np.int64)  # bytes of the words of each entry, plus one for each word
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
                    logs = [np.log10(found[low:high].astype(np.float64)) for found in (ngrams.probs, ngrams.backoffs)]
                out = np.empty(int(room[low:high].sum()) + 32 * (high - low), dtype=np.uint8)
                words = vocabulary.buffer, vocabulary.offsets, np.empty(order, dtype=np.int64)
                used = write_entries(low, high, contexts, ngrams.words, *logs, *words, out)
                file.write(out[:used].data)
        file.write(b"\n\\end\\\n")
