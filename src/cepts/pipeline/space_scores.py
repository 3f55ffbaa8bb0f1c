"""Scores of saved spaces on tasks in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cepts.data import Text
from cepts.errors import DataError, UsageError
from cepts.evaluate import TranslationScore
from cepts.io import read_counts, read_dictionary, read_sentence_similarities, read_similarities, read_text
from cepts.io.lines import read_lines
from cepts.pipeline.saved_spaces import SavedSpaceFiles, open_space
from cepts.pipeline.spaces import (
    SimilarityScores,
    score_retrieval,
    score_sentence_similarity,
    score_translations,
    score_word_similarity,
)
from cepts.progress import Progress
from cepts.spaces.model import SOURCES
from cepts.spaces.sentences import simple_text


def score_translation_file(
    files: SavedSpaceFiles,
    dictionary: str,
    *,
    source: str | None = None,
    target: str | None = None,
    both: bool = False,
    measures: Sequence[str] = ("csls",),
    at: Sequence[int] = (1, 5, 10),
    sources: int | None = SOURCES,
) -> list[TranslationScore]:
    """Scores of word translation by each measure; with `both`, also of the other direction."""
    model = open_space(files)
    for measure in measures:
        model.space_.check_measure(measure)
    forward = model.space_.direction(source, target)
    test = read_dictionary(
        dictionary, languages=[model.space_.languages[view] for view in forward], notices=files.notices
    )
    directions = [(forward, test), (forward[::-1], test.swapped())] if both else [(forward, test)]
    return [
        _with_facts(
            score_translations(
                model,
                entries,
                source=first,
                target=second,
                measure=measure,
                at=at,
                sources=sources,
                progress=files.progress,
            ),
            model.facts,
        )
        for (first, second), entries in directions
        for measure in dict.fromkeys(measures)
    ]


def score_retrieval_files(
    files: SavedSpaceFiles,
    paths: tuple[str, str],
    *,
    source: str | None = None,
    target: str | None = None,
    measures: Sequence[str] = ("csls",),
    at: Sequence[int] = (1, 5, 10),
    queries: int = 2000,
    tokenized: bool = False,
    seed: int = 0,
) -> list[TranslationScore]:
    """Scores of sentence retrieval by each measure, first of one direction, then of the other.

    Line n of one file is the translation of line n of the other; without `tokenized`, `simple_text` tokenises them.
    """
    if paths == ("-", "-"):
        raise UsageError("only one of the two files can come from standard input; name the other.")
    model = open_space(files)
    languages = model.space_.direction(source, target)
    first, second = (_sentences(path, tokenized, files.progress) for path in paths)
    if len(first) != len(second):
        raise DataError(
            f"{paths[0]} has {len(first):,} lines but {paths[1]} has {len(second):,}; wanted one target line for each "
            f"source line."
        )
    found = [
        score_retrieval(
            model,
            (first, second),
            source=languages[0],
            target=languages[1],
            measure=measure,
            at=at,
            queries=queries,
            seed=seed,
            name="+".join(Path(path).name for path in paths),
            progress=files.progress,
        )
        for measure in dict.fromkeys(measures)
    ]
    about = {"sentences": "idf", "tokens": "given" if tokenized else "simple", **model.facts}
    return [_with_facts(scores[way], about) for way in (0, 1) for scores in found]


def score_similarity_files(
    files: SavedSpaceFiles, tasks: Sequence[str], *, language: str | None = None
) -> list[SimilarityScores]:
    """Scores of word similarity on each file of judgements, of the first language by default."""
    model = open_space(files)
    view = model.space_.view(language or 0)
    read = [read_similarities(task) for task in tasks]
    about = {"language": model.space_.languages[view], **model.facts}
    return [score_word_similarity(model, task, language=view)._replace(about=about) for task in read]


def score_sts_files(
    files: SavedSpaceFiles, tasks: Sequence[str], counts: str, *, language: str | None = None
) -> list[SimilarityScores]:
    """Scores of sentence similarity on each file of judgements; `counts` is a file of word counts."""
    model = open_space(files)
    view = model.space_.view(language or 0)
    read = [read_sentence_similarities(task, notices=files.notices) for task in tasks]
    scores = score_sentence_similarity(model, read, read_counts(counts), language=view)
    about = {"sentences": "sif", "counts": Path(counts).name, "language": model.space_.languages[view], **model.facts}
    return [score._replace(about=about) for score in scores]


def _with_facts(score: TranslationScore, facts: dict[str, object]) -> TranslationScore:
    return replace(score, facts={**score.facts, **facts})


def _sentences(path: str, tokenized: bool, progress: Progress | None) -> Text:
    return read_text(path, progress=progress) if tokenized else simple_text(read_lines(path))
