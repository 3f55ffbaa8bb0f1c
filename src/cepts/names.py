"""Every name that a user can type: models, formats, methods, measures.

This module imports nothing but the standard library, so that `cepts --help` can list the names without loading the code
behind them. A table that maps a name to ``module:attribute`` says where that code is; `resolve` loads it.
"""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from typing import Any

# Texts and their encoding.
DECODING_ERRORS = ("strict", "replace")
BITEXT_FORMATS = ("auto", "text", "pipes", "tsv", "tmx", "parquet", "jsonl", "csv")
DOCUMENT_FORMATS = ("auto", "file", "blank", "jsonl")

# Links. Each format has a module with its reader and its writer (see `cepts.io.links`).
LINK_FORMATS = {
    "pharaoh": "cepts.io.pharaoh:PHARAOH",
    "scored": "cepts.io.pharaoh:SCORED",
    "naacl": "cepts.io.naacl:NAACL",
    "giza": "cepts.io.giza:GIZA",
    "json": "cepts.io.json_links:JSON",
}
LINK_COUNT_FORMATS = ("priors",)  # counts of words, to which links can be converted
NBEST_FORMATS = ("json", "giza")
NULL_TIERS = ("no", "sure", "possible", "gold")  # how links to null are scored
PAIR_FORMS = ("lines", "cepts", "matrix")  # how a sentence pair is drawn
DIRECTIONS = ("forward", "reverse")
NBEST_DIRECTIONS = ("both", *DIRECTIONS)

# Sentence pairs with annotation, which can be written as json, as jacana and in the link formats.
ONE_FILE_PAIR_FORMATS = ("json", "jacana", "pipes", "tsv")
TWO_FILE_PAIR_FORMATS = ("text", "conllu")
SENTENCE_PAIR_FORMATS = (*ONE_FILE_PAIR_FORMATS, *TWO_FILE_PAIR_FORMATS)
WRITABLE_PAIR_FORMATS = ("json", "jacana", *(name for name in LINK_FORMATS if name != "json"))

# Word alignment.
WORD_MODELS = {
    "ibm1": "cepts.words.models:IBM1",
    "ibm2": "cepts.words.models:IBM2",
    "diagonal": "cepts.words.models:Diagonal",
    "hmm": "cepts.words.models:HMM",
    "mixed": "cepts.words.models:Mixed",
    "ibm3": "cepts.words.models:IBM3",
    "ibm4": "cepts.words.models:IBM4",
}
DEFAULT_WORD_MODEL = "mixed"
# Papers whose settings `cepts align --paper` takes.
ALIGNMENT_PAPERS = {
    "ibm1": "cepts.pipeline.papers:IBM1",
    "ibm2": "cepts.pipeline.papers:IBM2",
    "onmf": "cepts.pipeline.papers:ONMF",
}
# Kind of a saved model -> its loader.
MODEL_KINDS = {
    "words": "cepts.words.persist:load_aligner",
    "phrases": "cepts.phrases.aligner:PhraseAligner.load",
    "space": "cepts.spaces.model:SpaceModel.load",
    "lm": "cepts.lm:AdaptedModel.load",
    "ngrams": "cepts.lm:KneserNey.load",
    "tuned": "cepts.tuning:TunedScorer.load",
}
# Kind of a job that leaves pieces in a directory -> its steps.
JOB_KINDS = {
    "ngrams": "cepts.lm.ngram_counts:ngram_steps",
    "cells": "cepts.lm.cells:cell_steps",
    "phrases": "cepts.pipeline.phrase_jobs:phrase_steps",
    "judgements": "cepts.pipeline.judged_pairs:judge_steps",
    "moments": "cepts.spaces.moments:moment_steps",
}
LEXICONS = ("ml", "bayes", "backoff")
LEXICON_FORMATS = ("table", *LINK_COUNT_FORMATS)  # how the lexicon of a model is written
STATISTICS = ("counts", "dice", "pmi", "llr")

# Encoders. A name stands alone (``use``) or before what the encoder loads (``hf:DIRECTORY``).
ENCODERS = {
    "use": "cepts.encoders.universal:UniversalEncoder",
    "hf": "cepts.encoders.transformer:TransformerEncoder",
    "onnx": "cepts.encoders.onnx:OnnxEncoder",
    "space": "cepts.spaces.encode:SpaceEncoder",
}
ENCODER_METHODS = ("softmax", "argmax", "itermax", "transport")

# Cepts. The names of extractors and associations are in the tables of `cepts.extract`.
SELECTIONS = ("anneal", "anneal-bic", "anneal-icl", "aic", "bic", "icl")
ASSIGNMENTS = ("map", "classify")  # how words are assigned to cepts
ORPHANS = ("retrain", "direct")  # what happens to the words of a cept that is removed
FACTOR_BLOCKS = ("two", "joint", "sequential")
FACTOR_STARTS = ("columns", "random", "anchors")

# Paraphrase alignment.
PHRASE_MODELS = {"phrase": "cepts.phrases:PhraseAligner", "token": "cepts.phrases:TokenAligner"}
PHRASE_COSTS = ("links", "states", "none")
PHRASE_LINKS = ("words", "phrases")
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
ANNOTATORS = ("english", "none")
PROTOCOLS = ("macro", "micro", "jacana", "multimwa")
TOKENISING = ("auto", "yes", "no")
JUDGEMENT_TASKS = ("rte", "paraphrase", "qa")
JUDGEMENT_SCORES = ("decoding", "forward", "reverse", "target", "both")
QUESTIONS = ("mixed", "answered", "all")
COLUMN_SOURCES = ("input", "model")

# Word-vector spaces.
VECTOR_FORMATS = ("word2vec", "glove", "word2vec-binary", "fasttext", "npy")
WRITABLE_VECTOR_FORMATS = ("word2vec", "glove", "word2vec-binary", "npy")
SPACE_METHODS = {
    "ibfa": "cepts.spaces.methods:IBFA",
    "mbfa": "cepts.spaces.methods:MBFA",
    "cca": "cepts.spaces.methods:CCA",
    "procrustes": "cepts.spaces.methods:Procrustes",
    "least-squares": "cepts.spaces.methods:LeastSquares",
    "ridge": "cepts.spaces.methods:Ridge",
}
STEPS = ("unit", "centre")
STARTS = ("joreskog", "canonical", "random")
LINK_MEASURES = ("csls", "cosine")
SIMILARITY_MEASURES = (*LINK_MEASURES, "inverted-softmax")
RETRIEVAL_MEASURES = (*SIMILARITY_MEASURES, "dot")
TRANSLATION_MEASURES = (*SIMILARITY_MEASURES, "likelihood")
TRANSLATION_FORMATS = ("tsv", "jsonl")
SEARCH_ENGINES = ("exact", "faiss")

# Language models.
HYPOTHESIS_FORMATS = ("tsv", "jsonl", "kaldi")
WRITABLE_HYPOTHESIS_FORMATS = (*HYPOTHESIS_FORMATS, "text", "trn")
MIXTURES = ("class", "literal")
SEGMENTATIONS = ("implicit", "explicit")
FACTORISATIONS = ("nmf", "svd")
PLACES = ("content", "all")  # words that take up places in a window or a history
PRIORS = ("shares", "documents")
POSTERIORS = ("mixture", "product")
RESETS = ("never", "talk", "utterance")
DOCUMENT_RESETS = ("document", "never")


def resolve(home: str) -> Any:
    """Import what a table of this module names, as ``cepts.words.models:HMM`` or ``cepts.lm:AdaptedModel.load``."""
    module, _, name = home.partition(":")
    return attrgetter(name)(import_module(module))
