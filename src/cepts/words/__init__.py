"""Statistical word alignment of parallel text: Models 1 to 4, the diagonal model, the HMM."""

from cepts.words.aligner import THRESHOLD, Aligner
from cepts.words.association import ASSOCIATIONS, associate, associate_all
from cepts.words.cooccurrence import Cooccurrence
from cepts.words.diagonal import Diagonal
from cepts.words.factored import Factoring, align_by_cepts, associations
from cepts.words.hmm import HMM
from cepts.words.ibm1 import IBM1
from cepts.words.ibm2 import IBM2
from cepts.words.ibm3 import IBM3
from cepts.words.ibm4 import IBM4
from cepts.words.persist import load_aligner, save_aligner
from cepts.words.results import Posteriors

__all__ = [
    "ASSOCIATIONS",
    "HMM",
    "IBM1",
    "IBM2",
    "IBM3",
    "IBM4",
    "MODELS",
    "THRESHOLD",
    "Aligner",
    "Cooccurrence",
    "Diagonal",
    "Factoring",
    "Posteriors",
    "align_by_cepts",
    "associate",
    "associate_all",
    "associations",
    "load_aligner",
    "save_aligner",
]

MODELS: dict[str, type[Aligner]] = {model.name: model for model in (IBM1, IBM2, Diagonal, HMM, IBM3, IBM4)}
