"""Matrix factorisation: cepts from association matrices, and hidden documents from sparse counts.

PLSA and orthogonal non-negative matrix factorisation (Goutte et al., 2004) factorise the association matrix of a
sentence pair into cepts; orthogonal factors are proper alignments. Poisson NMF (Novak and Mammone, 2001) factorises the
word counts of documents into hidden documents.
"""

from cepts.factor.latent import Factors, plsa
from cepts.factor.options import EVIDENCE, SURE, Factoring, in_counts, scaled_to_words
from cepts.factor.orthogonal import SELECTIONS, Factorisation, Selection, factorise, onmf
from cepts.factor.poisson import PoissonFactors, poisson_nmf
from cepts.factor.spread import spread
from cepts.factor.symmetric import SymmetricFactors, symmetric_nmf

__all__ = [
    "EVIDENCE",
    "SELECTIONS",
    "SURE",
    "Factoring",
    "Factorisation",
    "Factors",
    "PoissonFactors",
    "Selection",
    "SymmetricFactors",
    "factorise",
    "in_counts",
    "onmf",
    "plsa",
    "poisson_nmf",
    "scaled_to_words",
    "spread",
    "symmetric_nmf",
]
