"""Formats: bitexts, links, lists of alignments, association matrices, word vectors and dictionaries, in and out."""

from cepts.io.bitext import BITEXT_FORMATS, read_bitext, read_text
from cepts.io.dictionaries import read_dictionary, write_dictionary
from cepts.io.files import check_output, open_output
from cepts.io.judgements import (
    SentenceSimilarities,
    WordSimilarities,
    read_counts,
    read_sentence_similarities,
    read_similarities,
)
from cepts.io.link_writer import LinkWriter, write_links
from cepts.io.links import LINK_FORMATS, read_links, swap_sides
from cepts.io.matrices import Matrices, association_blocks, read_association
from cepts.io.matrix_writer import AssociationWriter, write_association
from cepts.io.nbest_writer import NBEST_FORMATS, NBestWriter, write_nbest
from cepts.io.vector_writer import WRITABLE_VECTOR_FORMATS, write_vectors
from cepts.io.vectors import VECTOR_FORMATS, read_vectors

__all__ = [
    "BITEXT_FORMATS",
    "LINK_FORMATS",
    "NBEST_FORMATS",
    "VECTOR_FORMATS",
    "WRITABLE_VECTOR_FORMATS",
    "AssociationWriter",
    "LinkWriter",
    "Matrices",
    "NBestWriter",
    "SentenceSimilarities",
    "WordSimilarities",
    "association_blocks",
    "check_output",
    "open_output",
    "read_association",
    "read_bitext",
    "read_counts",
    "read_dictionary",
    "read_links",
    "read_sentence_similarities",
    "read_similarities",
    "read_text",
    "read_vectors",
    "swap_sides",
    "write_association",
    "write_dictionary",
    "write_links",
    "write_nbest",
    "write_vectors",
]
