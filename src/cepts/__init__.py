"""cepts aligns words, phrases and word-vector spaces, and adapts language models, through shared latent units.

`cepts.align(source, target)` aligns texts in one call, and `cepts.load(directory)` loads a saved model of any kind.
All models work in the same way: ``fit`` trains a model, as in ``HMM(iterations=4).fit(bitext)``,
``IBFA().fit(vectors, dictionary)``, ``AdaptedModel().fit(documents)`` or ``PhraseAligner().fit(pairs)``, and
``save(directory)`` saves it.
"""

from typing import TYPE_CHECKING, Any

from cepts._version import __version__

if TYPE_CHECKING:
    from cepts.data import (
        Alignment,
        Alignments,
        Association,
        Bitext,
        Cept,
        Dictionary,
        Directions,
        Documents,
        NGrams,
        Runs,
        Scorer,
        Segments,
        Sentence,
        SentencePair,
        Text,
        Vectors,
    )
    from cepts.evaluate import Comparison, compare
    from cepts.extract import ASSOCIATIONS, EXTRACTORS, Extraction, LinkScorer, MatrixScorer, ScorerMixture
    from cepts.factor import Factoring, factorise, onmf, plsa, poisson_nmf, symmetric_nmf
    from cepts.io import (
        read_association,
        read_bitext,
        read_dictionary,
        read_documents,
        read_links,
        read_sentence_pairs,
        read_text,
        read_vectors,
        write_association,
        write_links,
        write_sentence_pairs,
        write_vectors,
    )
    from cepts.lm import AdaptedModel, KneserNey
    from cepts.phrases import PhraseAligner, TokenAligner
    from cepts.pipeline import load
    from cepts.pipeline.quick import align
    from cepts.spaces import CCA, IBFA, MBFA, Induction, LeastSquares, Procrustes, Ridge, SpaceModel, SpaceScorer
    from cepts.words import HMM, IBM1, IBM2, IBM3, IBM4, Aligner, Cooccurrence, Diagonal, Mixed

__all__ = [
    "ASSOCIATIONS",
    "CCA",
    "EXTRACTORS",
    "HMM",
    "IBFA",
    "IBM1",
    "IBM2",
    "IBM3",
    "IBM4",
    "MBFA",
    "AdaptedModel",
    "Aligner",
    "Alignment",
    "Alignments",
    "Association",
    "Bitext",
    "Cept",
    "Comparison",
    "Cooccurrence",
    "Diagonal",
    "Dictionary",
    "Directions",
    "Documents",
    "Extraction",
    "Factoring",
    "Induction",
    "KneserNey",
    "LeastSquares",
    "LinkScorer",
    "MatrixScorer",
    "Mixed",
    "NGrams",
    "PhraseAligner",
    "Procrustes",
    "Ridge",
    "Runs",
    "Scorer",
    "ScorerMixture",
    "Segments",
    "Sentence",
    "SentencePair",
    "SpaceModel",
    "SpaceScorer",
    "Text",
    "TokenAligner",
    "Vectors",
    "__version__",
    "align",
    "compare",
    "factorise",
    "load",
    "onmf",
    "plsa",
    "poisson_nmf",
    "read_association",
    "read_bitext",
    "read_dictionary",
    "read_documents",
    "read_links",
    "read_sentence_pairs",
    "read_text",
    "read_vectors",
    "symmetric_nmf",
    "write_association",
    "write_links",
    "write_sentence_pairs",
    "write_vectors",
]

# Module -> the names that it has. A module is imported when one of its names is first used, so `import cepts` does not
# load NumPy. The packages themselves are available too, as `cepts.words` and so on.
_HOMES = {
    "cepts.data": (
        "Alignment Alignments Association Bitext Cept Dictionary Directions Documents NGrams Runs Scorer "
        "Segments Sentence SentencePair Text Vectors"
    ),
    "cepts.evaluate": "Comparison compare",
    "cepts.extract": "ASSOCIATIONS EXTRACTORS Extraction LinkScorer MatrixScorer ScorerMixture",
    "cepts.factor": "Factoring factorise onmf plsa poisson_nmf symmetric_nmf",
    "cepts.io": (
        "read_association read_bitext read_dictionary read_documents read_links read_sentence_pairs read_text "
        "read_vectors write_association write_links write_sentence_pairs write_vectors"
    ),
    "cepts.lm": "AdaptedModel KneserNey",
    "cepts.phrases": "PhraseAligner TokenAligner",
    "cepts.pipeline": "load",
    "cepts.pipeline.quick": "align",
    "cepts.spaces": "CCA IBFA Induction LeastSquares MBFA Procrustes Ridge SpaceModel SpaceScorer",
    "cepts.words": "Aligner Cooccurrence Diagonal HMM IBM1 IBM2 IBM3 IBM4 Mixed",
}
_ROOMS = (
    "data",
    "encoders",
    "evaluate",
    "extract",
    "factor",
    "io",
    "lm",
    "phrases",
    "pipeline",
    "plot",
    "spaces",
    "words",
)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"cepts.{name}")
    for home, names in _HOMES.items():
        if name in names.split():
            value = globals()[name] = getattr(import_module(home), name)
            return value
    raise AttributeError(f"module 'cepts' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
