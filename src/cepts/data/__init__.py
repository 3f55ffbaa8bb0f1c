"""The data that passes between the rooms.

Data of many sentence pairs is kept in flat arrays with offsets, which is what kernels read; indexing gives the view of
one pair.
"""

from cepts.data.association import Association
from cepts.data.documents import Documents
from cepts.data.hypotheses import Hypothesis, Utterance
from cepts.data.links import Alignment, Alignments, Cept, Cepts
from cepts.data.lists import NBest
from cepts.data.ngrams import END, KENLM_MAGIC, SPECIAL, START, UNKNOWN, NGrams
from cepts.data.runs import offsets_of, take_runs
from cepts.data.sentences import COLUMNS, Link, Segment, Segments, Sentence, SentencePair, Span, gold_alignments
from cepts.data.text import Bitext, Text
from cepts.data.vectors import Dictionary, Vectors
from cepts.data.vocabulary import Vocabulary

__all__ = [
    "COLUMNS",
    "END",
    "KENLM_MAGIC",
    "SPECIAL",
    "START",
    "UNKNOWN",
    "Alignment",
    "Alignments",
    "Association",
    "Bitext",
    "Cept",
    "Cepts",
    "Dictionary",
    "Documents",
    "Hypothesis",
    "Link",
    "NBest",
    "NGrams",
    "Segment",
    "Segments",
    "Sentence",
    "SentencePair",
    "Span",
    "Text",
    "Utterance",
    "Vectors",
    "Vocabulary",
    "gold_alignments",
    "offsets_of",
    "take_runs",
]
