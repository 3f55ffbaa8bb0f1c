"""Checks whether a text looks tokenised; if not, there is a one-line notice about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cepts.data.text import Text

SAMPLE = 2_000  # sentences that are looked at, spread over the text

IDEOGRAPHIC_SPACE = "\u3000"
# Scripts that put no space between words: Han and Kana, whose words have few characters, and the scripts of Thai, Lao,
# Burmese and Khmer, where vowels are separate characters.
IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
UNSPACED_LETTERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
LONGEST_IDEOGRAPHS = 6.0  # characters per token; segmented Chinese and Japanese have about 2
LONGEST_ALONE = 3.5  # the same where sentences are about one token long; a list of single words has about 2
LONGEST_UNSPACED = 15.0  # segmented Thai and Khmer have 4 to 7
LONGEST_WORDS = 20.0  # characters per token where sentences are about one token long, in any script
ONE_TOKEN = 1.5  # tokens per sentence

CLOSING = r"[\"'”’»)\]]*"
POINTS = ",;!?،؛؟。，！？；।"
# A comma that is part of a word counts as glued anywhere, a full stop only at the end of a sentence: elsewhere it may
# belong to an abbreviation, in tokenised text too.
GLUED = re.compile(rf"\w{CLOSING}[{POINTS}]+{CLOSING}$")
GLUED_AT_END = re.compile(rf"\w{CLOSING}[{POINTS}.:…]+{CLOSING}$")
ALONE = re.compile(rf"[{POINTS}.:…]+")
GLUED_SHARE = 0.5  # of the punctuation
GLUED_SENTENCES = 0.2  # of the sentences; text without punctuation may have an abbreviation at some ends


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStyle:
    """Counts over a sample of non-empty sentences that show how a text was split into tokens.

    Attributes
    ----------
    sentences, tokens, characters
        Number of sentences, of their tokens, and of the characters of these.
    ideographs, unspaced
        Number of tokens and of their characters: tokens with ideographs or kana, and tokens in the scripts of Thai,
        Lao, Burmese and Khmer. None of these scripts puts spaces between words.
    separated
        Number of sentences with an ideographic space (U+3000) inside a token.
    glued, alone
        Number of punctuation marks that are part of a word's token, and of those that are tokens.
    glued_sentences
        Number of sentences with a glued punctuation mark.
    """

    sentences: int
    tokens: int
    characters: int
    ideographs: tuple[int, int]
    unspaced: tuple[int, int]
    separated: int
    glued: int
    alone: int
    glued_sentences: int

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> TokenStyle:
        """Count the tokens and punctuation marks of `sentences`."""
        tokens = characters = filled = separated = glued = alone = glued_sentences = 0
        ideographs, unspaced = [0, 0], [0, 0]
        for sentence in sentences:
            if not len(sentence):
                continue
            filled += 1
            tokens += len(sentence)
            characters += sum(map(len, sentence))
            joined = " ".join(sentence)
            if IDEOGRAPHIC_SPACE in joined:
                separated += 1
            if not joined.isascii():
                for pattern, counts in ((IDEOGRAPHS, ideographs), (UNSPACED_LETTERS, unspaced)):
                    found = [len(token) for token in sentence if pattern.search(token)]
                    counts[0] += len(found)
                    counts[1] += sum(found)
            here = sum(GLUED.search(token[-6:]) is not None for token in sentence[:-1] if not token.isalnum())
            here += GLUED_AT_END.search(sentence[-1][-6:]) is not None and not ALONE.fullmatch(sentence[-1])
            alone += sum(ALONE.fullmatch(token) is not None for token in sentence)
            glued += here
            glued_sentences += here > 0
        return cls(
            sentences=filled,
            tokens=tokens,
            characters=characters,
            ideographs=(ideographs[0], ideographs[1]),
            unspaced=(unspaced[0], unspaced[1]),
            separated=separated,
            glued=glued,
            alone=alone,
            glued_sentences=glued_sentences,
        )

    @property
    def is_glued(self) -> bool:
        """Whether most punctuation is part of the word before it."""
        return (
            self.glued > 0
            and self.glued >= GLUED_SHARE * (self.glued + self.alone)
            and self.glued_sentences >= GLUED_SENTENCES * self.sentences
        )

    @property
    def is_unsegmented(self) -> bool:
        """Whether tokens are much longer than words, so that the text is probably not split into words."""
        if not self.sentences:
            return False
        alone = self.tokens < ONE_TOKEN * self.sentences
        for (count, length), longest in (
            (self.ideographs, LONGEST_ALONE if alone else LONGEST_IDEOGRAPHS),
            (self.unspaced, LONGEST_UNSPACED),
        ):
            if count >= self.tokens / 4 and length >= longest * count:
                return True
        return alone and self.characters >= LONGEST_WORDS * self.tokens

    def notice(self, name: str) -> str | None:
        """One-line notice about the text called `name`; None if nothing looks wrong."""
        if self.separated >= GLUED_SENTENCES * self.sentences and self.separated:
            return (
                f"{name}: some tokens contain U+3000, the ideographic space, but only ASCII blanks separate tokens; "
                f"replace it with a blank where it separates words."
            )
        if self.is_unsegmented:
            tokens, characters = self.tokens / self.sentences, self.characters / self.tokens
            return (
                f"{name}: the text is probably not split into words: a sentence has {tokens:.1f} tokens and a token "
                f"{characters:.0f} characters on average; tokenise it first (Chinese, Japanese and Thai need a word "
                f"segmenter)."
            )
        if self.is_glued:
            return (
                f"{name}: {self.glued / (self.glued + self.alone):.0%} of the punctuation is part of the word before "
                f"it, so that 'house' and 'house,' are different words; tokenise the text first."
            )
        return None


def tokenisation_notice(name: str, text: Text) -> str | None:
    """One-line notice if `text` does not look tokenised, by a sample of its sentences; None otherwise.

    `name` is what the notice calls the text.
    """
    numbers = np.unique(np.linspace(0, len(text) - 1, min(SAMPLE, len(text))).astype(np.int64))
    return TokenStyle.of(text[number] for number in numbers.tolist()).notice(name)
