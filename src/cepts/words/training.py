"""EM over the shards of an index, for any lexicon with any position model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cepts.engine import ROUNDING, map_shards
from cepts.words.blocks import block_of
from cepts.words.index import Index, IndexShard
from cepts.words.lexicon import Lexicon
from cepts.words.null import NullWords
from cepts.words.positions import Expected, Positions


class AlignerTraining:
    """An `engine.Checkpointed` problem: the parameters of both directions and the counts of the last E-step."""

    def __init__(
        self,
        index: Index,
        lexicon: Lexicon,
        null: NullWords,
        positions: Positions,
        *,
        agreeing: bool,
        threads: int | None,
    ) -> None:
        self.index = index
        self.lexicon = lexicon
        self.null = null
        self.positions = positions
        self.agreeing = agreeing
        self.threads = threads
        self.counts = np.zeros((0, 1), dtype=np.float32)
        self.source_free = np.zeros(0)
        self.target_free = np.zeros(0)
        self.statistics: list[NDArray] = []

    @property
    def allowed_fall(self) -> float:
        """Only rounding errors if this is exact EM: M-steps are exact, and directions are not trained to agree."""
        if self.agreeing or not (self.lexicon.exact and self.null.exact and self.positions.exact):
            return np.inf
        return ROUNDING * float(self.lexicon.source.frequencies.sum() + self.lexicon.target.frequencies.sum())

    def e_step(self, tick: Callable[[int, int], None]) -> float:
        """Expected counts over all shards; returns the sum of both directions' log-likelihoods."""
        from cepts.kernels.lexicon import add_at

        self.counts = np.zeros((len(self.index), 1 if self.agreeing else 2), dtype=np.float32)
        self.source_free = np.zeros(self.index.source_words)
        self.target_free = np.zeros(self.index.target_words)
        self.statistics = []
        objective = 0.0
        shards = self.index.shards
        for done, (shard, found) in enumerate(
            zip(shards, map_shards(self._expect, shards, threads=self.threads), strict=True), start=1
        ):
            add_at(shard.cell_numbers, found.counts, self.counts)
            pairs = shard.pairs
            for total, ids, free, lengths in (
                (self.source_free, pairs.source_ids, found.source_free, pairs.source_lengths),
                (self.target_free, pairs.target_ids, found.target_free, pairs.target_lengths),
            ):
                total += np.bincount(ids, free * np.repeat(shard.times, lengths), len(total))
            if self.statistics:
                for total, part in zip(self.statistics, found.statistics, strict=True):
                    total += part
            else:
                self.statistics = found.statistics
            objective += float((found.log_likelihoods * shard.times[:, None]).sum())
            tick(done, len(shards))
        return objective

    def m_step(self) -> None:
        """Lexicon, null and positions from the expected counts."""
        self.lexicon.estimate(self.counts)
        if self.agreeing:
            # Links that one direction rejects have no counts at all, which cannot happen in exact EM.
            self.lexicon.settle()
        self.null.estimate(self.source_free, self.target_free)
        if self.statistics:  # A text without any pair has none.
            self.positions.update(self.statistics)

    def state(self) -> dict[str, NDArray]:
        """All parameters; those of the lexicon are the counts from which it is computed."""
        return {
            **{f"{self.lexicon.name}.{name}": array for name, array in self.lexicon.state().items()},
            "null.source": self.null.source,
            "null.target": self.null.target,
            "text": self._text(),
            **{f"positions.{name}": array for name, array in self.positions.state().items()},
        }

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set the parameters of a checkpoint, which must be of the same text and the same kind of model."""
        if f"{self.lexicon.name}.counts" not in state or not np.array_equal(state["text"], self._text()):
            raise ValueError("the text, or the way in which words are counted, differs")
        self.lexicon.restore(owned_by(self.lexicon.name, state))
        if self.agreeing:
            self.lexicon.settle()
        self.null.source, self.null.target = state["null.source"], state["null.target"]
        self.positions.restore(owned_by("positions", state))

    def _text(self) -> NDArray[np.uint8]:
        """Fingerprint of the text and of how words are counted."""
        digest = hashlib.sha256(f"{self.lexicon.name} {self.positions.name} {self.agreeing}".encode())
        for side in (self.lexicon.source, self.lexicon.target):
            digest.update(side.vocabulary.buffer.tobytes())
            digest.update(side.vocabulary.offsets.tobytes())
        for shard in self.index.shards:
            for array in (shard.pairs.source_ids, shard.pairs.source_offsets, shard.pairs.target_ids, shard.times):
                digest.update(array.tobytes())
        return np.frombuffer(digest.digest(), dtype=np.uint8)

    def _expect(self, shard: IndexShard) -> Expected:
        return self.positions.expect(block_of(shard, self.lexicon, self.null), agreeing=self.agreeing)


def owned_by(owner: str, state: dict[str, NDArray]) -> dict[str, NDArray]:
    """The arrays whose names start with `owner` and a dot, without this prefix."""
    return {name.removeprefix(f"{owner}."): array for name, array in state.items() if name.startswith(f"{owner}.")}
