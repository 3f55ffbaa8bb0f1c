"""Documents on a shelf, in shards of whole sentences, so that their words can be counted shard by shard."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Documents
from cepts.engine import cut_runs, keep_terms, piece_name
from cepts.store import Shelf, checksum

SHARD_WORDS = 1 << 20  # words and sentence ends of a shard


class DocumentShard(NamedTuple):
    """Consecutive sentences.

    Attributes
    ----------
    ids
        The words of all sentences.
    lengths
        The number of words of each sentence.
    documents
        The number of the document of each sentence.
    """

    ids: NDArray[np.int32]
    lengths: NDArray[np.int32]
    documents: NDArray[np.int32]


class ShelvedDocuments:
    """Documents on a shelf; `sizes` says how many words each shard has."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.sizes: list[int] = shelf.get("text").settings["sizes"]

    @property
    def shards(self) -> int:
        """Number of shards."""
        return len(self.sizes)

    @classmethod
    def put(cls, shelf: Shelf, documents: Documents) -> ShelvedDocuments:
        """Put documents on a shelf, as far as they are not there; a shelf that has others is refused."""
        shards = list(_cut(documents))
        sums = [checksum(array) for shard in shards for array in shard]
        fingerprint = f"{checksum(np.array(sums, dtype=np.uint64)):016x}"
        keep_terms(shelf, "text", {}, text=fingerprint, sizes=[len(shard.ids) for shard in shards])
        for number, shard in enumerate(shards):
            if not shelf.has(piece_name("text", number)):
                shelf.put(piece_name("text", number), shard._asdict())
        return cls(shelf)

    def shard(self, number: int) -> DocumentShard:
        """The sentences of a shard."""
        piece = self.shelf.get(piece_name("text", number))
        return DocumentShard(*(piece[name] for name in DocumentShard._fields))


def _cut(documents: Documents) -> list[DocumentShard]:
    """The shards of documents; their words are not copied."""
    text = documents.text
    document = np.repeat(np.arange(len(documents), dtype=np.int32), np.diff(documents.offsets))
    return [
        DocumentShard(
            text.ids[text.offsets[start] : text.offsets[stop]],
            np.diff(text.offsets[start : stop + 1]).astype(np.int32),
            document[start:stop],
        )
        for start, stop in cut_runs(text.offsets + np.arange(len(text.offsets)), SHARD_WORDS)
    ]
