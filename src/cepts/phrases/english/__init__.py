"""English: taggers, tables and models that come with the package; see NOTICE for where they come from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from cepts.phrases.annotate import Annotator
from cepts.phrases.lexical import Lexical

__all__ = ["annotator", "lexical", "model_directory"]

HERE = Path(__file__).parent
# Trained models that come with the package.


@lru_cache(maxsize=1)
def annotator() -> Annotator:
    """The tagger, the chunker and the lemmatiser."""
    from cepts.phrases.lemmas import Lemmatiser
    from cepts.phrases.tagger import Tagger

    return Annotator(
        Tagger.load(HERE / "tagger.safetensors"),
        Tagger.load(HERE / "chunker.safetensors"),
        Lemmatiser.load(HERE / "lemmas.safetensors"),
    )


@lru_cache(maxsize=1)
def lexical() -> Lexical:
    """WordNet, paraphrases, word vectors and names."""
    from cepts.phrases.names import NameModel
    from cepts.phrases.paraphrases import Paraphrases
    from cepts.phrases.relatedness import Relatedness
    from cepts.phrases.wordnet import WordNet

    return Lexical(
        WordNet.load(HERE / "wordnet.safetensors"),
        Paraphrases.load(HERE / "paraphrases.safetensors"),
        Relatedness.load(HERE / "vectors.safetensors"),
        NameModel.load(HERE / "names.safetensors"),
    )


def model_directory(name: str) -> Path:
    """The directory of a trained model."""
    return HERE / f"{name}-model"
