"""Matrix factorisation: cepts from association matrices, and hidden documents from sparse counts.

PLSA and orthogonal non-negative matrix factorisation (Goutte et al., 2004) factorise the association matrix of a
sentence pair into cepts; orthogonal factors are proper alignments. Poisson NMF (Novak and Mammone, 2001) factorises the
word counts of documents into hidden documents; a truncated SVD is what it is compared with.
"""

from cepts.factor.latent import Factors, plsa
from cepts.factor.options import EVIDENCE, SURE, Factoring, in_counts, scaled_to_words
from cepts.factor.orthogonal import EXHAUSTIVE, SELECTIONS, Factorisation, Selection, factorise, links_of_cepts, onmf
from cepts.factor.poisson import PoissonFactors, poisson_nmf
from cepts.factor.proper import ProperFactors, orthogonal_factors, proper_model
from cepts.factor.spread import spread
from cepts.factor.svd import SingularVectors, truncated_svd
from cepts.factor.symmetric import SymmetricFactors, symmetric_nmf

__all__ = [
    "EVIDENCE",
    "EXHAUSTIVE",
    "SELECTIONS",
    "SURE",
    "Factoring",
    "Factorisation",
    "Factors",
    "PoissonFactors",
    "ProperFactors",
    "Selection",
    "SingularVectors",
    "SymmetricFactors",
    "factorise",
    "in_counts",
    "links_of_cepts",
    "onmf",
    "orthogonal_factors",
    "plsa",
    "poisson_nmf",
    "proper_model",
    "scaled_to_words",
    "spread",
    "symmetric_nmf",
    "truncated_svd",
]
