"""cepts aligns words, phrases and word-vector spaces through shared latent units."""

from typing import TYPE_CHECKING, Any

from cepts._version import __version__

if TYPE_CHECKING:
    from cepts.data import Alignment, Alignments, Bitext, Dictionary, Sentence, SentencePair, Vectors
    from cepts.io import (
        read_bitext,
        read_dictionary,
        read_links,
        read_sentence_pairs,
        read_vectors,
        write_links,
        write_sentence_pairs,
    )
    from cepts.phrases.aligner import PhraseAligner, TokenAligner
    from cepts.spaces import Space, fit_space, load_space
    from cepts.words import HMM, IBM1, IBM2, IBM3, IBM4, Aligner, Diagonal, load_aligner

__all__ = [
    "HMM",
    "IBM1",
    "IBM2",
    "IBM3",
    "IBM4",
    "Aligner",
    "Alignment",
    "Alignments",
    "Bitext",
    "Diagonal",
    "Dictionary",
    "PhraseAligner",
    "Sentence",
    "SentencePair",
    "Space",
    "TokenAligner",
    "Vectors",
    "__version__",
    "fit_space",
    "load_aligner",
    "load_space",
    "read_bitext",
    "read_dictionary",
    "read_links",
    "read_sentence_pairs",
    "read_vectors",
    "write_links",
    "write_sentence_pairs",
]

# Name -> the package that has it, which is imported when the name is first used: `import cepts` loads no NumPy.
_HOMES = {
    "Alignment": "cepts.data",
    "Alignments": "cepts.data",
    "Bitext": "cepts.data",
    "read_bitext": "cepts.io",
    "read_dictionary": "cepts.io",
    "read_links": "cepts.io",
    "read_sentence_pairs": "cepts.io",
    "read_vectors": "cepts.io",
    "write_links": "cepts.io",
    "write_sentence_pairs": "cepts.io",
    "PhraseAligner": "cepts.phrases.aligner",
    "TokenAligner": "cepts.phrases.aligner",
    "Sentence": "cepts.data",
    "SentencePair": "cepts.data",
    "Aligner": "cepts.words",
    "Diagonal": "cepts.words",
    "HMM": "cepts.words",
    "IBM1": "cepts.words",
    "IBM2": "cepts.words",
    "IBM3": "cepts.words",
    "IBM4": "cepts.words",
    "load_aligner": "cepts.words",
    "Space": "cepts.spaces",
    "fit_space": "cepts.spaces",
    "load_space": "cepts.spaces",
    "Dictionary": "cepts.data",
    "Vectors": "cepts.data",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cepts' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
