"""Dictionary forms of words, by WordNet's exception lists and its rules of detachment, morphy(7WN)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError
from cepts.phrases.tables import StoredTable

# Noun, verb, adjective, adverb, and the parts of speech that WordNet does not have.
PARTS = "nvaro"
MEMO_SIZE = 200_000

# The first letters of tags, of the Penn and the universal tag set -> part of speech.
PART_OF = {
    "NN": "n",
    "NOUN": "n",
    "PROPN": "n",
    "V": "v",
    "AUX": "v",
    "MD": "v",
    "JJ": "a",
    "ADJ": "a",
    "RB": "r",
    "ADV": "r",
}
# Tags of words that are dictionary forms already, if the dictionary has them.
PLAIN = {"NN", "NNP", "PROPN", "VB", "VBP", "MD", "JJ", "RB", "ADV"}
NAMES = {"NNP", "PROPN"}
COMPARED = {"RBR", "RBS"}
SHORTEST_PLURAL = 3

# The first ending whose replacement gives a known word is used.
ENDINGS = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
}


class Lemmatiser(StoredTable):
    """Finds dictionary forms, with a list of known words and a list of irregular forms.

    Parameters
    ----------
    words
        For each dictionary form, its parts of speech as letters of `PARTS`.
    exceptions
        For each irregular (part of speech, form), its dictionary form.
    """

    kind: ClassVar[str] = "lemmas"

    def __init__(self, words: Mapping[str, str], exceptions: Mapping[tuple[str, str], str]) -> None:
        for part in set("".join(set(words.values()))) | {part for part, _ in exceptions}:
            if part not in PARTS:
                raise ValueError(f"a part of speech must be one of {', '.join(PARTS)}. Got {part!r} instead.")
        self._words = dict(words)
        self._exceptions = dict(exceptions)
        self._memo: dict[tuple[str, str], str] = {}

    def __repr__(self) -> str:
        return f"Lemmatiser({len(self._words):,} words, {len(self._exceptions):,} exceptions)"

    def lemmas(self, tokens: Sequence[str], tags: Sequence[str]) -> tuple[str, ...]:
        """The dictionary form of each token, in lower case; an unknown word is its own dictionary form."""
        if len(tokens) != len(tags):
            raise DataError(f"found {len(tokens)} words but {len(tags)} tags; give one tag for each word.")
        memo = self._memo
        found = []
        for entry in zip(tokens, tags, strict=True):
            lemma = memo.get(entry)
            if lemma is None:
                if len(memo) >= MEMO_SIZE:
                    memo.clear()
                lemma = memo[entry] = self.lemma(*entry)
            found.append(lemma)
        return tuple(found)

    def lemma(self, word: str, tag: str) -> str:
        """The dictionary form of one word, with a tag of the Penn or the universal tag set."""
        form = word.lower()
        part = next((part for start, part in PART_OF.items() if tag.startswith(start)), "o")
        if tag in NAMES:
            return form
        if tag in PLAIN and self._knows(form, part):
            return form
        irregular = self._exceptions.get((part, form))
        if irregular is not None:
            return irregular
        found = self._detached(form, part, "a" if tag in COMPARED else part)
        if found is None and part == "a" and not self._knows(form, part):
            # This may be a participle that was tagged as an adjective.
            found = self._exceptions.get(("v", form)) or self._detached(form, "v", "v")
        return found or form

    def _knows(self, form: str, part: str) -> bool:
        return part in self._words.get(form, "")

    def _detached(self, form: str, part: str, endings: str) -> str | None:
        """The first known word that a rule gives."""
        if part == "n" and (form.endswith("ss") or len(form) < SHORTEST_PLURAL):
            return None
        for ending, instead in ENDINGS.get(endings, ()):
            if form.endswith(ending):
                stem = form.removesuffix(ending) + instead
                if self._knows(stem, part):
                    return stem
        return None

    def stored(self) -> dict[str, NDArray[Any]]:
        """The arrays that a file holds: both lists as lines of text, and the parts of speech of each word as bits."""
        words = sorted(self._words)
        masks = [sum(1 << PARTS.index(part) for part in set(self._words[word])) for word in words]
        lines = [f"{part}\t{form}\t{lemma}" for (part, form), lemma in sorted(self._exceptions.items())]
        return {"words": _bytes(words), "parts": np.array(masks, dtype=np.uint8), "exceptions": _bytes(lines)}

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The inverse of `stored`."""
        names = ["".join(part for bit, part in enumerate(PARTS) if mask >> bit & 1) for mask in range(1 << len(PARTS))]
        entries = [line.split("\t") for line in _lines(arrays["exceptions"])]
        return cls(
            dict(zip(_lines(arrays["words"]), (names[mask] for mask in arrays["parts"].tolist()), strict=True)),
            {(part, form): lemma for part, form, lemma in entries},
        )


def _bytes(lines: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)


def _lines(data: NDArray[np.uint8]) -> list[str]:
    return data.tobytes().decode().split("\n") if len(data) else []
