"""Matrices factorised: association matrices into cepts by PLSA and by orthogonal factors (onmf), which are proper
alignments, and sparse counts into hidden documents by Poisson NMF (nmf_lm).
"""

from cepts.factor.latent import Factors, plsa
from cepts.factor.orthogonal import SELECTIONS, SURE, Factorisation, Selection, factorise, onmf
from cepts.factor.poisson import BLOCKS, PoissonFactors, poisson_nmf
from cepts.factor.spread import spread
from cepts.factor.symmetric import SymmetricFactors, symmetric_nmf

__all__ = [
    "BLOCKS",
    "SELECTIONS",
    "SURE",
    "Factorisation",
    "Factors",
    "PoissonFactors",
    "Selection",
    "SymmetricFactors",
    "factorise",
    "onmf",
    "plsa",
    "poisson_nmf",
    "spread",
    "symmetric_nmf",
]
