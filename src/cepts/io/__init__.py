"""Formats: bitexts, links, lists of alignments and association matrices, from files and to files."""

from cepts.io.bitext import BITEXT_FORMATS, read_bitext, read_text
from cepts.io.files import check_output, open_output
from cepts.io.link_writer import LinkWriter, write_links
from cepts.io.links import LINK_FORMATS, read_links, swap_sides
from cepts.io.matrices import Matrices, association_blocks, read_association
from cepts.io.matrix_writer import AssociationWriter, write_association
from cepts.io.nbest_writer import NBEST_FORMATS, NBestWriter, write_nbest

__all__ = [
    "BITEXT_FORMATS",
    "LINK_FORMATS",
    "NBEST_FORMATS",
    "AssociationWriter",
    "LinkWriter",
    "Matrices",
    "NBestWriter",
    "association_blocks",
    "check_output",
    "open_output",
    "read_association",
    "read_bitext",
    "read_links",
    "read_text",
    "swap_sides",
    "write_association",
    "write_links",
    "write_nbest",
]
