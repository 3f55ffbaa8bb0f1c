"""Reading and writing files: bitexts, documents, links, N-best lists, hypotheses, matrices, word vectors.

Files may be plain or compressed (.gz .bz2 .xz .zst); `-` stands for standard input or output. When a file is wrong,
readers raise a `DataError` that names the file, the line and what to do about it. Written files are compressed if their
suffix names a compression, and appear under their name only when they are complete.

Readers call `progress` after each block with the number of bytes read so far, as they are on disk. `block_bytes` is how
many bytes they read at a time; it affects only the speed.
"""

from cepts.io.arpa import read_arpa, write_arpa
from cepts.io.bitext import BitextBlock, BitextBlocks, bitext_blocks, bitext_parts, read_bitext, read_text
from cepts.io.dictionaries import read_dictionary, write_dictionary
from cepts.io.documents import read_documents, read_stop_list
from cepts.io.files import check_output, open_output
from cepts.io.hypotheses import HypothesisWriter, read_hypotheses, read_transcripts, write_hypotheses
from cepts.io.judgements import (
    SentenceSimilarities,
    WordSimilarities,
    read_answer_judgements,
    read_counts,
    read_sentence_similarities,
    read_similarities,
)
from cepts.io.links import LinkWriter, read_links, swap_sides, write_links
from cepts.io.matrices import AssociationWriter, Matrices, association_blocks, read_association, write_association
from cepts.io.nbest_writer import NBestWriter, write_nbest
from cepts.io.priors import read_priors, write_priors
from cepts.io.sentence_pairs import (
    SentencePairWriter,
    each_sentence_pair,
    read_predicted_links,
    read_sentence_pairs,
    write_sentence_pairs,
)
from cepts.io.vectors import read_vectors, write_vectors

__all__ = [
    "AssociationWriter",
    "BitextBlock",
    "BitextBlocks",
    "HypothesisWriter",
    "LinkWriter",
    "Matrices",
    "NBestWriter",
    "SentencePairWriter",
    "SentenceSimilarities",
    "WordSimilarities",
    "association_blocks",
    "bitext_blocks",
    "bitext_parts",
    "check_output",
    "each_sentence_pair",
    "open_output",
    "read_answer_judgements",
    "read_arpa",
    "read_association",
    "read_bitext",
    "read_counts",
    "read_dictionary",
    "read_documents",
    "read_hypotheses",
    "read_links",
    "read_predicted_links",
    "read_priors",
    "read_sentence_pairs",
    "read_sentence_similarities",
    "read_similarities",
    "read_stop_list",
    "read_text",
    "read_transcripts",
    "read_vectors",
    "swap_sides",
    "write_arpa",
    "write_association",
    "write_dictionary",
    "write_hypotheses",
    "write_links",
    "write_nbest",
    "write_priors",
    "write_sentence_pairs",
    "write_vectors",
]
