"""Phrases: a sentence aligned with its rewording, by a token CRF or a semi-Markov CRF (Yao et al., 2013)."""
