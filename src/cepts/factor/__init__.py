"""Matrices factorised: association matrices into cepts by PLSA and by orthogonal factors (onmf), which are proper
alignments, and sparse counts into hidden documents by Poisson NMF (nmf_lm).
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
