"""Association matrices, factorised into cepts: PLSA, and proper alignments by orthogonal factors (onmf)."""

from cepts.factor.latent import Factors, plsa
from cepts.factor.orthogonal import SELECTIONS, SURE, Factorisation, Selection, factorise, onmf
from cepts.factor.spread import spread

__all__ = [
    "SELECTIONS",
    "SURE",
    "Factorisation",
    "Factors",
    "Selection",
    "factorise",
    "onmf",
    "plsa",
    "spread",
]
