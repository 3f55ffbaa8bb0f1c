"""Loading models of any kind from their directories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cepts.data import Scorer
from cepts.errors import UsageError, check_choice
from cepts.estimator import Estimator
from cepts.extract import MatrixScorer, ScorerMixture
from cepts.io import read_association
from cepts.names import MODEL_KINDS, PHRASE_MODELS, WORD_MODELS, resolve
from cepts.store import kind_of


def load(directory: str | Path, *, threads: int | None = None) -> Any:
    """Load a saved model of any kind.

    Parameters
    ----------
    directory
        The directory to which the model was saved; ``phrase`` and ``token`` are the English phrase models of the
        package.
    threads
        Number of threads that the model uses; None uses one for each processor.
    """
    english = str(directory) in PHRASE_MODELS and not Path(directory).exists()
    kind = "phrases" if english else kind_of(directory)
    if kind not in MODEL_KINDS:
        raise UsageError(f"{directory} holds a {kind}, which is not a model that can be used on its own.")
    return resolve(MODEL_KINDS[kind])(directory, threads=threads)


def model_parameters() -> set[str]:
    """The names of all parameters of word models."""
    return {name for home in WORD_MODELS.values() for name in resolve(home).parameters()}


def new_model(kinds: Mapping[str, str], name: str, parameters: Mapping[str, Any], *, choice: str = "model") -> Any:
    """Make an untrained model by its name; raises `UsageError` for a parameter that it does not have.

    Parameters
    ----------
    kinds
        From names to classes, such as `cepts.names.WORD_MODELS`.
    name
        The name of the model.
    parameters
        Its parameters.
    choice
        What messages call the parameter by which users choose among `kinds`.
    """
    check_choice(choice, name, kinds)
    kind: type[Estimator] = resolve(kinds[name])
    for parameter in parameters:
        if parameter not in kind.parameters():
            others = [other for other, home in kinds.items() if parameter in resolve(home).parameters()]
            raise UsageError(f"`{parameter}` goes with `{choice}` {' or '.join(others)}, not with {name}.")
    return kind(**parameters)


def load_scorer(
    places: Sequence[str | Path],
    weights: Sequence[float] = (),
    *,
    encoder: Callable[[], Scorer] | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    max_length: int | None = None,
    threads: int | None = None,
) -> Scorer:
    """Load a scorer, which aligns sentence pairs: a saved model, given matrices, or a mixture of several.

    Parameters
    ----------
    places
        Model directories (word model, space, phrase model) and files of association matrices (.jsonl, .npz, .npy).
    weights
        A weight for each of several; by default they are equal.
    encoder
        Gives one more scorer, the last of the mixture; see `cepts.pipeline.encoders.encoder_scorer`.
    source_language, target_language
        For spaces: the languages of the two sides. By default the source is the first language, and the target the
        other one.
    max_length
        Pairs with a longer sentence, in words, are not aligned; None uses the limit of each model.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.
    """
    languages = source_language, target_language
    found = [_scorer_of(place, languages, max_length, threads) for place in places]
    found += [] if encoder is None else [encoder()]
    if len(found) == 1 and not weights:
        return found[0]
    return ScorerMixture(found, weights or None, threads=threads)


def _scorer_of(
    place: str | Path, languages: tuple[str | None, str | None], max_length: int | None, threads: int | None
) -> Scorer:
    if Path(place).is_file():
        return MatrixScorer(read_association(place, allow_empty=True).association, threads=threads)
    model = load(place, threads=threads)
    if hasattr(model, "scorer"):
        model = model.scorer(*languages, threads=threads)
    if not hasattr(model, "directions"):
        kind = type(model).__name__
        raise UsageError(
            f"{place} holds a model of another kind ({kind}), which cannot align sentences; choose a word model, a "
            "space or a phrase model."
        )
    if max_length is not None:
        model.max_length = max_length
    scorer: Scorer = model
    return scorer
