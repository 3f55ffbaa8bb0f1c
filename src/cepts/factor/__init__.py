"""Association matrices, factorised into cepts: PLSA, and proper alignments by orthogonal factors (onmf)."""

from cepts.factor.latent import Factors, plsa
from cepts.factor.orthogonal import SELECTIONS, SURE, Factorisation, Selection, check_matrices, factorise, onmf
from cepts.factor.spread import spread

__all__ = [
    "SELECTIONS",
    "SURE",
    "Factorisation",
    "Factors",
    "Selection",
    "check_matrices",
    "factorise",
    "onmf",
    "plsa",
    "spread",
]
