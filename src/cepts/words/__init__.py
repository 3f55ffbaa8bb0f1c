"""Statistical word alignment of parallel text: IBM Models 1 to 4, the diagonal model and the HMM."""

from cepts.names import WORD_MODELS, resolve
from cepts.words.aligner import Aligner
from cepts.words.cooccurrence import Cooccurrence
from cepts.words.merging import merge_aligners
from cepts.words.models import HMM, IBM1, IBM2, IBM3, IBM4, Diagonal, Mixed
from cepts.words.persist import load_aligner, save_aligner, untrained_like
from cepts.words.prior import CountTable, Prior

__all__ = [
    "HMM",
    "IBM1",
    "IBM2",
    "IBM3",
    "IBM4",
    "MODELS",
    "Aligner",
    "Cooccurrence",
    "CountTable",
    "Diagonal",
    "Mixed",
    "Prior",
    "load_aligner",
    "merge_aligners",
    "save_aligner",
    "untrained_like",
]

MODELS: dict[str, type[Aligner]] = {name: resolve(home) for name, home in WORD_MODELS.items()}
