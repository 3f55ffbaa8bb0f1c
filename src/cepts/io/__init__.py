"""Formats: bitexts and links, from files and to files."""

from cepts.io.bitext import BITEXT_FORMATS, read_bitext, read_text
from cepts.io.files import check_output, open_output
from cepts.io.link_writer import LinkWriter, write_links
from cepts.io.links import LINK_FORMATS, read_links, swap_sides

__all__ = [
    "BITEXT_FORMATS",
    "LINK_FORMATS",
    "LinkWriter",
    "check_output",
    "open_output",
    "read_bitext",
    "read_links",
    "read_text",
    "swap_sides",
    "write_links",
]
