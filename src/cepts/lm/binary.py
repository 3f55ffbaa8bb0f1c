"""KenLM's binary models, through its Python package."""

from __future__ import annotations

import hashlib
import math
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cepts.data import KENLM_MAGIC, SPECIAL, START, Vocabulary
from cepts.errors import DataError, UsageError, clipped, reason_of

# A binary starts with its magic bytes and version, then numbers that show the byte order, then the order, the kind of
# model, and whether the words are stored at its end.
VERSION = b" format version "
KNOWN_VERSION = b"5"
INCOMPLETE = b" incomplete"
PARAMETERS = struct.Struct("<B3xfI?3xI")
PARAMETERS_AT = 88
TAIL_BYTES = 1 << 20
CACHED_DISTRIBUTIONS = 256
# The time that checking a binary may take, because KenLM can search a damaged one forever.
CHECK_SECONDS = 20.0
CHECK_BYTES_A_SECOND = 20e6
LAST_WORDS = 1 << 16  # a check scores at most so many words from the end of the list, and as many from the start
LOOKUPS = 1 << 19  # after so many lookups, less than a second, a check begins no further context
# KenLM trusts the file that it maps, so a damaged binary can end the process. This check runs in another process: it
# scores all words without a context and at the start of a sentence, then words in the contexts that follow from them.
CHECK = """
import math, sys
import kenlm
words = [word.decode() for word in sys.stdin.buffer.read().split(bytes(1))]
try:
    model = kenlm.Model(sys.argv[1])
except Exception as error:
    sys.exit(" ".join(str(error).split()) or type(error).__name__)
empty, start = kenlm.State(), kenlm.State()
model.NullContextWrite(empty)
model.BeginSentenceWrite(start)
contexts, known = [empty, start], {empty, start}
share, left, first = min(len(words), 1024), int(sys.argv[2]), 0
for place, context in enumerate(contexts):
    following = words if place < 2 else (words + words[:share])[first : first + share]
    first = (first + share) % len(words)
    for word in following:
        state = kenlm.State()
        if not -math.inf < model.BaseScore(context, word, state) < 1e-3:
            sys.exit("found scores that are not logarithms of probabilities")
        if left > 0 and state not in known:
            known.add(state)
            contexts.append(state)
    left -= len(following)
    if left <= 0 and place > 0:
        break
"""

KenLMState: TypeAlias = Any  # kenlm.State, which has no static type


class KenLMModel:
    """A KenLM binary in use: P(word | the words before it).

    A context is a `kenlm.State`; words are numbers of `vocabulary`. The package kenlm must be installed.

    Parameters
    ----------
    path
        A file made by KenLM's ``build_binary``, with the words in it (its default).
    sha256
        The digest of the file when it was checked before. If it is given, the file must still have this digest and is
        not checked again. Otherwise it is first opened and used in another process, because a damaged binary can end
        the process.
    """

    def __init__(self, path: str | Path, *, sha256: str | None = None) -> None:
        self.path = str(path)
        self.vocabulary = _read_words(self.path)
        try:
            import kenlm
        except ImportError as error:
            raise UsageError(
                f"{self.path} is a KenLM binary, which needs kenlm; give the ARPA file, or install kenlm with: "
                f"pip install kenlm"
            ) from error
        self._kenlm: Any = kenlm
        self._words = self.vocabulary.words
        if sha256 is None:
            _check_elsewhere(self.path, self._words)
        elif self.sha256() != sha256:
            raise DataError(
                f"{self.path} has changed (its checksum differs); restore the old file, or fit the model again."
            )
        try:
            self._model = kenlm.Model(self.path)
        except Exception as error:
            raise _unusable(self.path, reason_of(error)) from error
        self._distributions: dict[KenLMState, NDArray[np.float64]] = {}

    def sha256(self) -> str:
        """The SHA-256 digest of the file."""
        with Path(self.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def order(self) -> int:
        """Number of words of the longest n-grams."""
        return int(self._model.order)

    @property
    def start(self) -> KenLMState:
        """The context at the start of a sentence."""
        state = self._kenlm.State()
        self._model.BeginSentenceWrite(state)
        return state

    @property
    def empty(self) -> KenLMState:
        """The empty context."""
        state = self._kenlm.State()
        self._model.NullContextWrite(state)
        return state

    def advance(self, context: KenLMState, word: int) -> tuple[float, KenLMState]:
        """P(word | context), and the context after the word."""
        following = self._kenlm.State()
        logarithm = self._model.BaseScore(context, self._words[word], following)
        return 0.0 if word == START else _power(logarithm), following

    def distribution(self, context: KenLMState) -> NDArray[np.float64]:
        """P(word | context) of every word of the vocabulary; words are scored one by one, recent results are kept."""
        found = self._distributions.get(context)
        if found is None:
            score, scratch = self._model.BaseScore, self._kenlm.State()
            found = np.array([_power(score(context, word, scratch)) for word in self._words])
            found[START] = 0
            found.flags.writeable = False
            if len(self._distributions) == CACHED_DISTRIBUTIONS:
                del self._distributions[next(iter(self._distributions))]
            self._distributions[context] = found
        return found


def _power(logarithm: float) -> float:
    """The probability with this decimal logarithm, but at most 1."""
    return 10.0**logarithm if logarithm <= 0 else 1.0


def _unusable(path: str, reason: str) -> DataError:
    return DataError(f"{path}: kenlm cannot use this file ({reason}); build the binary again from its ARPA file.")


def _check_elsewhere(path: str, words: list[str]) -> None:
    """Raise `DataError` if a process that opens and uses the binary fails, dies or does not end."""
    if not sys.executable:  # in a program that embeds Python
        return
    if len(words) > 2 * LAST_WORDS:
        words = words[:LAST_WORDS] + words[-LAST_WORDS:]
    seconds = CHECK_SECONDS + math.ceil(Path(path).stat().st_size / CHECK_BYTES_A_SECOND)
    given = b"\0".join(word.encode("utf-8", "surrogateescape") for word in words)
    # The other process looks for kenlm in the same places as this one.
    search = f"import sys; sys.path[:] = {sys.path!r}\n"
    command = [sys.executable, "-X", "utf8", "-c", search + CHECK, path, str(LOOKUPS)]
    try:
        found = subprocess.run(command, input=given, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise _unusable(path, f"a test did not end within {seconds:.0f} s; the file is damaged") from error
    if found.returncode:
        said = found.stderr.decode("utf-8", "replace").strip()
        reason = clipped(said, 120) if found.returncode == 1 and said else "it crashes the process; the file is damaged"
        raise _unusable(path, reason)


def _read_words(path: str) -> Vocabulary:
    """The words of a binary, which are stored at its end with a zero byte after each; `SPECIAL` first."""
    try:
        data: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
        reason = getattr(error, "strerror", None) or "it is empty"
        raise DataError(f"cannot read {path}: {reason}; wanted a KenLM binary.") from error
    count = _check_head(path, data[: 1 << 12].tobytes())
    size = min(TAIL_BYTES, len(data))
    while np.count_nonzero(data[-size:] == 0) <= count + 1 and size < len(data) and count < len(data):
        size = min(2 * size, len(data))
    words = data[-size:].tobytes().split(b"\0")
    rest = words.pop()
    # The count comes from the ARPA file, which may have had no <unk>; other data comes right before the words.
    for listed in (count, count + 1):
        if 0 < listed <= len(words) and words[-listed].endswith(SPECIAL[0].encode()) and not rest:
            break
    else:
        raise DataError(
            f"{path}: found no list of {count:,} words at its end; the file is cut short, so copy or build it again."
        )
    try:
        others = [word.decode() for word in words[len(words) - listed + 1 :]]
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: found words that are not UTF-8; build it again from an ARPA file in UTF-8."
        ) from error
    if len(set(SPECIAL[1:]).intersection(others)) < len(SPECIAL) - 1:
        raise DataError(f"{path}: found no words <s> and </s>, wanted both; build it from an ARPA file that has them.")
    return Vocabulary.from_words([*SPECIAL, *(word for word in others if word not in SPECIAL)])


def _check_head(path: str, head: bytes) -> int:
    """Check the first bytes of a binary; returns how many words it says it has."""
    if head.startswith(KENLM_MAGIC + INCOMPLETE):
        raise DataError(f"{path}: found a KenLM binary that was not finished; build it again.")
    if not head.startswith(KENLM_MAGIC + VERSION):
        arpa = " It may be an ARPA file; read it as one." if head.lstrip().startswith(b"\\data\\") else ""
        raise DataError(f"{path}: found no KenLM binary, wanted one made by build_binary.{arpa}")
    version = head[len(KENLM_MAGIC + VERSION) :].split(b"\n")[0]
    if version != KNOWN_VERSION:
        raise DataError(
            f"{path}: found a KenLM binary of version {clipped(version[:10].decode('utf-8', 'replace'))}, wanted "
            f"{KNOWN_VERSION.decode()}; build it again from its ARPA file."
        )
    counts_at = PARAMETERS_AT + PARAMETERS.size
    if len(head) < counts_at + 8:
        raise DataError(f"{path}: found the end of the file in its first bytes; it is cut short, so copy it again.")
    _, _, _, has_words, _ = PARAMETERS.unpack_from(head, PARAMETERS_AT)
    if not has_words:
        raise DataError(
            f"{path}: found a KenLM binary without its words, wanted one with them; build it again without -v."
        )
    return int.from_bytes(head[counts_at : counts_at + 8], "little")
