"""Training text and gold links of the Romanian-English benchmark.

The 248 gold pairs of the HLT-NAACL 2003 shared task, followed by 19,312 strings of an office program, as no text
of the gold pairs' own kind is at hand. The gold sentences have no accents, so they are stripped from the others.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from cepts.data import Alignments, Bitext
from cepts.io import read_links
from hansards import strip_accents

__all__ = ["PAIRS", "bitext", "check_data", "gold"]

PAIRS = 248
GOLD, TEXT = "ro-en-2003", "libreoffice-en-ro"


def check_data(data: Path) -> None:
    """End the program where the data is not there."""
    for folder in (GOLD, TEXT):
        if not (data / "bitext" / folder).is_dir():
            sys.exit(f"There is no bitext/{folder} in {data}; say where the data is: --data DIR.")


def bitext(data: Path, *, pairs: int | None = None) -> Bitext:
    """The gold pairs and the training pairs behind them, or the first `pairs` of all; Romanian is the source."""
    sides = []
    for language in ("ro", "en"):
        lines = _lines((data / "bitext" / GOLD / f"test.{language}").read_bytes())
        packed = (data / "bitext" / TEXT / f"train.{language}.gz").read_bytes()
        lines += map(strip_accents, _lines(gzip.decompress(packed)))
        sides.append([line.split() for line in lines[:pairs]])
    return Bitext.from_tokens(zip(*sides, strict=True))


def gold(data: Path) -> Alignments:
    """The gold links of the first `PAIRS` pairs, all of them sure."""
    return read_links(data / "bitext" / GOLD / "test.wa", format="naacl", sentences=PAIRS)


def _lines(text: bytes) -> list[str]:
    return text.decode().removesuffix("\n").split("\n")
