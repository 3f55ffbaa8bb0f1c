"""Names that options may take, listed here so that `--help` need not import what knows them."""

from __future__ import annotations

__all__ = [
    "ASSOCIATIONS",
    "DOCUMENT_FORMATS",
    "FORMATS",
    "HYPOTHESIS_FORMATS",
    "JUDGEMENT_SCORES",
    "LIST_FORMATS",
    "METHODS",
    "MIXTURES",
    "MODELS",
    "PAIR_FORMATS",
    "PAIR_INPUT_FORMATS",
    "PHRASE_COSTS",
    "PHRASE_FAMILIES",
    "PROTOCOLS",
    "QUESTIONS",
    "RESETS",
    "SEGMENTATIONS",
    "SELECTIONS",
    "SPACE_METHODS",
    "STARTS",
    "STEPS",
    "TRANSLATION_MEASURES",
    "VECTOR_FORMATS",
    "WRITABLE_HYPOTHESIS_FORMATS",
    "WRITABLE_PAIR_FORMATS",
    "WRITABLE_VECTOR_FORMATS",
]

# As in cepts.io (LINK_FORMATS, NBEST_FORMATS, VECTOR_FORMATS, WRITABLE_VECTOR_FORMATS, WRITABLE_PAIR_FORMATS, and of
# SENTENCE_PAIR_FORMATS those of one file, then all), cepts.extract.METHODS, cepts.factor.SELECTIONS, cepts.words
# (MODELS, ASSOCIATIONS), cepts.phrases (training.COSTS, columns.FAMILIES), cepts.pipeline.judgements.JUDGEMENT_SCORES,
# cepts.spaces (METHODS, STEPS, TRANSLATION_MEASURES), cepts.spaces.mbfa.STARTS, cepts.evaluate (PROTOCOLS, KEEP),
# cepts.lm (MIXTURES, SEGMENTATIONS), cepts.pipeline.rescoring.RESETS, and of cepts.io also DOCUMENT_FORMATS and the
# formats of hypotheses, which tests compare them with.
ASSOCIATIONS = (
    "agreement",
    "mean",
    "forward",
    "reverse",
    "nbest",
    "nbest-probability",
    "nbest-rank",
    "nbest-agreement",
    "tables",
    "counts",
    "dice",
    "pmi",
    "llr",
)
DOCUMENT_FORMATS = ("auto", "file", "blank", "jsonl")
FORMATS = ("pharaoh", "scored", "naacl", "giza", "json")
HYPOTHESIS_FORMATS = ("tsv", "jsonl", "kaldi")
JUDGEMENT_SCORES = ("decoding", "target", "both")
LIST_FORMATS = ("json", "giza")
METHODS = (
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
    "forward",
    "reverse",
)
MIXTURES = ("class", "literal")
MODELS = ("ibm1", "ibm2", "diagonal", "hmm", "ibm3", "ibm4")
PAIR_FORMATS = ("json", "jacana", "pipes", "tsv")
PAIR_INPUT_FORMATS = (*PAIR_FORMATS, "text", "conllu")
PHRASE_COSTS = ("links", "states", "none")
PHRASE_FAMILIES = (
    "string",
    "pos",
    "position",
    "wordnet",
    "distortion",
    "context",
    "chunk",
    "paraphrase",
    "relatedness",
    "name",
    "lexical",
)
PROTOCOLS = ("macro", "micro", "jacana", "multimwa")
QUESTIONS = ("mixed", "answered", "all")
RESETS = ("never", "talk", "utterance")
SEGMENTATIONS = ("implicit", "explicit")
SELECTIONS = ("anneal", "anneal-bic", "aic", "bic")
SPACE_METHODS = ("ibfa", "mbfa", "cca", "procrustes", "least-squares", "ridge")
STARTS = ("joreskog", "canonical")
STEPS = ("unit", "centre")
TRANSLATION_MEASURES = ("csls", "cosine", "inverted-softmax", "likelihood")
VECTOR_FORMATS = ("word2vec", "glove", "word2vec-binary", "fasttext", "npy")
WRITABLE_HYPOTHESIS_FORMATS = ("tsv", "jsonl", "kaldi", "text", "trn")
WRITABLE_PAIR_FORMATS = ("json", "jacana", "pharaoh", "scored", "naacl", "giza")
WRITABLE_VECTOR_FORMATS = ("word2vec", "glove", "word2vec-binary", "npy")
