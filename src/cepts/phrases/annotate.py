"""Filling in the columns that sentences lack: part-of-speech tags, chunks and lemmas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cepts.data import COLUMNS, Sentence, SentencePair
from cepts.errors import DataError
from cepts.phrases.emoji import plain_forms

if TYPE_CHECKING:
    from cepts.phrases.lemmas import Lemmatiser
    from cepts.phrases.tagger import Tagger


@dataclass(frozen=True, slots=True)
class Annotator:
    """The tagger, chunker and lemmatiser of one language, which fill in the columns that sentences lack.

    Parameters
    ----------
    tagger, chunker
        Trained taggers of parts of speech and of chunks; None leaves the columns ``pos`` and ``chunk`` as they are.
        Chunks and lemmas are made from tags.
    lemmatiser
        Gives dictionary forms; None leaves the column ``lemma`` as it is.
    """

    tagger: Tagger | None = None
    chunker: Tagger | None = None
    lemmatiser: Lemmatiser | None = None

    def annotate(self, pairs: Sequence[SentencePair], columns: Iterable[str]) -> list[SentencePair]:
        """The pairs with `columns` filled in, as far as possible; columns that a sentence has stay as they are."""
        found = self.complete([sentence for pair in pairs for sentence in (pair.source, pair.target)], columns)
        return [
            replace(pair, source=source, target=target)
            for pair, source, target in zip(pairs, found[::2], found[1::2], strict=True)
        ]

    def complete(self, sentences: Sequence[Sentence], columns: Iterable[str]) -> list[Sentence]:
        """The sentences with `columns` filled in, as far as possible; taggers see the plain forms of words."""
        wanted = set(columns)
        done = list(sentences)
        plain = [plain_forms(sentence.tokens) for sentence in done]
        # Chunks and lemmas are made from tags.
        if wanted & {"pos", "chunk", "lemma"} and self.tagger is not None:
            places = [n for n, sentence in enumerate(done) if sentence.pos is None]
            for n, tags in zip(places, self.tagger.predict([plain[n] for n in places]), strict=True):
                done[n] = replace(done[n], pos=tags)
        if "chunk" in wanted and self.chunker is not None:
            places = [n for n, sentence in enumerate(done) if sentence.chunk is None and sentence.pos is not None]
            chunks = self.chunker.predict([plain[n] for n in places], [done[n].pos or () for n in places])
            for n, chunk in zip(places, chunks, strict=True):
                done[n] = replace(done[n], chunk=chunk)
        if "lemma" in wanted and self.lemmatiser is not None:
            for n, sentence in enumerate(done):
                if sentence.lemma is None and sentence.pos is not None:
                    done[n] = replace(sentence, lemma=self.lemmatiser.lemmas(plain[n], sentence.pos))
        return done


def shared_columns(pairs: Sequence[SentencePair]) -> tuple[str, ...]:
    """The columns that all sentences of `pairs` have, apart from sentences without words."""
    sentences = [side for pair in pairs for side in (pair.source, pair.target) if len(side)]
    return tuple(name for name in COLUMNS if all(getattr(sentence, name) is not None for sentence in sentences))


def check_columns(pairs: Sequence[SentencePair], columns: Iterable[str], before: int = 0) -> None:
    """Refuse sentences that have words but lack one of `columns`; `before` pairs came before these."""
    wanted = list(columns)
    for number, pair in enumerate(pairs, before + 1):
        for side in ("source", "target"):
            sentence = getattr(pair, side)
            for column in wanted:
                if len(sentence) and getattr(sentence, column) is None:
                    name = f"pair {number:,}" + (f" ({pair.id})" if pair.id else "")
                    raise DataError(
                        f"the {side} sentence of {name} has no {column} column, but the model was trained with one; "
                        f"give the column ({side}_{column} in JSON lines), or train a model without it."
                    )
