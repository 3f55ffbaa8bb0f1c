"""Model directories, tables and pieces: JSON and safetensors files with checksums; nothing is ever unpickled."""

from cepts.store.directory import (
    MEMBER,
    Model,
    check_destination,
    kind_of,
    load_model,
    load_table,
    save_model,
    save_table,
    settings_of,
)
from cepts.store.passing import PassingShelf, SpillingShelf
from cepts.store.pieces import DiskShelf, MemoryShelf, Piece, PieceError, Shelf, checksum

__all__ = [
    "MEMBER",
    "DiskShelf",
    "MemoryShelf",
    "Model",
    "PassingShelf",
    "Piece",
    "PieceError",
    "Shelf",
    "SpillingShelf",
    "check_destination",
    "checksum",
    "kind_of",
    "load_model",
    "load_table",
    "save_model",
    "save_table",
    "settings_of",
]
