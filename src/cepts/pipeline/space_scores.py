"""Scores of spaces: word translation, word and sentence similarity, sentence retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cepts.data import Dictionary, Text
from cepts.errors import DataError
from cepts.evaluate import (
    SimilarityScore,
    TranslationScore,
    gold_translations,
    intervals,
    retrieval_precision,
    sentence_similarity,
    translation_precision,
    word_similarity,
)
from cepts.io import (
    SentenceSimilarities,
    WordSimilarities,
    read_counts,
    read_dictionary,
    read_sentence_similarities,
    read_similarities,
    read_text,
)
from cepts.io.files import check_stdin
from cepts.io.lines import read_lines
from cepts.pipeline.inputs import SavedSpace
from cepts.pipeline.reports import RANGE, Report, Table, bounds, filled
from cepts.pipeline.spaces import WordLookup
from cepts.progress import Progress
from cepts.signature import signature
from cepts.spaces import SpaceModel, retrieve
from cepts.spaces.entries import few_found_notice
from cepts.spaces.model import SOURCES
from cepts.spaces.retrieve import unit_rows
from cepts.spaces.sentences import (
    IDF_FLOOR,
    MUSE_FLOOR,
    idf_weights,
    sentence_vectors,
    sif_vectors,
    sif_weights,
    simple_text,
)

# What signatures say about a measure: the defaults of `retrieve`.
MEASURE_FACTS = {"csls": {"neighbourhood": 10}, "inverted-softmax": {"temperature": 30}}
AT = (1, 5, 10)
LEVEL = 0.95  # the level of `cepts.evaluate.intervals`


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionTask:
    """What is looked up in a space, and how answers are counted.

    Attributes
    ----------
    source, target, sources
        As in `WordLookup`.
    measures, at
        The measures, and the numbers of answers at which precision is computed for each of them.
    both
        For words: whether the other direction is scored too, with the same dictionary.
    queries, tokenized
        For sentences: how many are looked up, drawn with `seed` (all of them if there are fewer), and whether they are
        already tokenised; otherwise `simple_text` does that.
    paper
        For sentences: whether their vectors are made as Vargas et al. (2019) make them, with the program of Conneau et
        al. (2018): word vectors keep their lengths, and a word has at least the weight 1.
    samples, seed
        Number of samples for intervals, and their seed; with 0 samples there are no intervals.
    """

    source: str | int | None = None
    target: str | int | None = None
    sources: int | None = SOURCES
    measures: Sequence[str] = ("csls",)
    at: Sequence[int] = AT
    both: bool = False
    queries: int = 2000
    tokenized: bool = False
    paper: bool = False
    samples: int = 0
    seed: int = 0


class SimilarityScores(NamedTuple):
    """Scores of a task with the language's own vectors, and with their positions in the space."""

    alone: SimilarityScore
    space: SimilarityScore


# -- word translation and retrieval of sentences -----------------------------------------------------------------------


def score_translations(
    model: SpaceModel,
    dictionary: Dictionary,
    lookup: WordLookup | None = None,
    *,
    at: Sequence[int] = AT,
    progress: Progress | None = None,
) -> TranslationScore:
    """Precision of word translation with the protocol of MUSE; the first column of `dictionary` is the source."""
    lookup = lookup or WordLookup()
    languages = model.space_.direction(lookup.source, lookup.target)
    known, others = (model.vectors(view) for view in languages)
    gold = gold_translations(dictionary, known, others)
    how = {**asdict(lookup), "source": languages[0], "target": languages[1], "count": max(at)}
    score = translation_precision(gold, model.neighbours(gold.source, **how, progress=progress).rows, at=at)
    facts = {**_facts_of(model, languages, lookup.measure), "targets": len(others)}
    if lookup.measure in MEASURE_FACTS:
        facts["sources"] = len(known) if lookup.sources is None else min(lookup.sources, len(known))
    return replace(score, facts={**score.facts, **facts, **MEASURE_FACTS.get(lookup.measure, {})})


def score_translation_file(space: SavedSpace, dictionary: str, task: PrecisionTask) -> Report:
    """Scores of word translation with each measure."""
    model = space.open()
    for measure in task.measures:
        model.space_.check_measure(measure)
    forward = model.space_.direction(task.source, task.target)
    test = read_dictionary(
        dictionary, languages=[model.space_.languages[view] for view in forward], notices=space.notices
    )
    notice = few_found_notice(test, [model.vectors(view) for view in forward])
    space.notices.extend([] if notice is None else [notice])
    scores = [
        score_translations(
            model,
            entries,
            WordLookup(source=source, target=target, measure=measure, sources=task.sources),
            at=task.at,
            progress=space.progress,
        )
        for (source, target), entries in [(forward, test), (forward[::-1], test.swapped())][: 1 + task.both]
        for measure in dict.fromkeys(task.measures)
    ]
    return _precision_report("words", scores, task, model.facts)


def score_retrieval(
    model: SpaceModel,
    texts: tuple[Text, Text],
    task: PrecisionTask,
    *,
    name: str = "",
    progress: Progress | None = None,
) -> list[TranslationScore]:
    """Precision of finding the translation of a sentence among all sentences of the other side.

    Sentence `n` of one text is the translation of sentence `n` of the other. The vector of a sentence is the mean of
    the vectors of its words, which have length 1 unless `task.paper`, weighted by inverse document frequencies. Returns
    the scores of each measure in one direction, then in the other.
    """
    pairs, most = len(texts[0]), max(task.at)
    if pairs != len(texts[1]):
        raise DataError(
            f"found {pairs:,} source and {len(texts[1]):,} target sentences, wanted the same number of both."
        )
    if pairs < most:
        raise DataError(
            f"found {pairs:,} sentence pairs, wanted at least {most}, because precision at {most} is computed."
        )
    languages = model.space_.direction(task.source, task.target)
    sides = []
    for view, text in zip(languages, texts, strict=True):
        words = model.aligned(view)
        if not task.paper:
            words = words.moved(unit_rows(words.matrix))
        weights = idf_weights(text, words.vocabulary, floor=MUSE_FLOOR if task.paper else IDF_FLOOR)
        sides.append(sentence_vectors(text, words, weights))
    chosen = np.sort(np.random.default_rng(task.seed).permutation(pairs)[: task.queries])
    scores = []
    for (asked, others), order in ((sides, languages), (sides[::-1], languages[::-1])):
        covered = asked.covered[chosen] & others.covered[chosen]
        for measure in dict.fromkeys(task.measures):
            search = partial(retrieve, measure=measure, count=most, threads=model.threads, progress=progress)
            found = search(asked.matrix[chosen], others.matrix)
            score = retrieval_precision(found.rows, chosen, covered=covered, at=task.at, name=name)
            facts = {**score.facts, **_facts_of(model, order, measure), "targets": pairs}
            facts |= {**MEASURE_FACTS.get(measure, {}), "queries-seed": task.seed}
            scores.append(replace(score, facts=facts))
    return scores


def score_retrieval_files(space: SavedSpace, paths: tuple[str, str], task: PrecisionTask) -> Report:
    """Scores of sentence retrieval; line n of one file is the translation of line n of the other."""
    check_stdin(*paths)
    model = space.open()
    first, second = (
        read_text(path, progress=space.progress) if task.tokenized else simple_text(read_lines(path)) for path in paths
    )
    if len(first) != len(second):
        raise DataError(
            f"{paths[0]} has {len(first):,} lines but {paths[1]} has {len(second):,}; wanted one target line for each "
            f"source line."
        )
    name = "+".join(Path(path).name for path in paths)
    scores = score_retrieval(model, (first, second), task, name=name, progress=space.progress)
    sentences = {"sentences": "idf of muse" if task.paper else "idf", "tokens": "given" if task.tokenized else "simple"}
    return _precision_report("sentences", scores, task, {**sentences, **model.facts})


def _facts_of(model: SpaceModel, languages: tuple[int, int], measure: str) -> dict[str, object]:
    return {"direction": "-".join(model.space_.languages[view] for view in languages), "measure": measure}


def _precision_report(
    unit: str, scores: Sequence[TranslationScore], task: PrecisionTask, about: Mapping[str, object]
) -> Report:
    """Precisions and coverage, with a row for each direction and measure."""
    drawn = {"bootstrap": task.samples, "bootstrap-seed": task.seed, "level": LEVEL} if task.samples else {}
    rows, values, facts = [], [], []
    for score in scores:
        ranges = intervals(score, samples=task.samples, seed=task.seed) if task.samples else {}
        facts.append({**score.facts, **about, **drawn})
        cells: list[object] = [score.facts["direction"], score.facts["measure"]]
        for k, precision in score.precision.items():
            interval = ranges.get(f"precision_at_{k}")
            cells += [f"{precision:.2f}", interval and f"{interval.low:.2f} to {interval.high:.2f}"]
        cells += [f"{score.mean_reciprocal_rank:.2f}", f"{score.asked:,}", f"{score.covered:,}"]
        rows.append([*cells, f"{score.coverage:.1f}"])
        values.append(
            {
                "direction": score.facts["direction"],
                "measure": score.facts["measure"],
                **score.as_dict(),
                **filled(intervals=bounds(ranges)),
                "signature": signature(facts[-1]),
            }
        )
    columns = ["direction", "measure"]
    for k in scores[0].at:
        columns += [f"P@{k}, %", RANGE]
    table = Table([*columns, "MRR, %", unit, "covered", "covered, %"], rows, left=2)
    return Report(values=values, shown=[table], signature=_joint_signature(facts))


def _joint_signature(facts: Sequence[Mapping[str, object]]) -> str:
    """One signature for several scores; values that differ between them are joined by +, in their order."""
    names = dict.fromkeys(name for each in facts for name in each)
    return signature(
        {name: "+".join(dict.fromkeys(str(each[name]) for each in facts if name in each)) for name in names}
    )


# -- similarity --------------------------------------------------------------------------------------------------------


def score_word_similarity(model: SpaceModel, task: WordSimilarities, *, language: str | int = 0) -> SimilarityScores:
    """Correlation of cosines with human judgements of pairs of words."""
    vectors = model.vectors(language)
    rows = np.unique(vectors.vocabulary.find([word for pair in task.pairs for word in pair]))
    alone = vectors.take(rows[rows >= 0])
    placed = alone.moved(model.project(alone.matrix, language))
    return SimilarityScores(
        *(word_similarity(task.pairs, task.scores, words, name=task.name) for words in (alone, placed))
    )


def score_sentence_similarity(
    model: SpaceModel, tasks: Sequence[SentenceSimilarities], counts: Mapping[str, int], *, language: str | int = 0
) -> list[SimilarityScores]:
    """Correlation of cosines of SIF sentence vectors with human judgements, for each task.

    Word vectors are scaled to length 1; `counts` are the word counts of a large text of the language.
    """
    vectors = model.vectors(language)
    weights = sif_weights(vectors.vocabulary, counts)
    places = [vectors.moved(unit_rows(matrix)) for matrix in (vectors.matrix, model.project(vectors.matrix, language))]

    def score(task: SentenceSimilarities) -> SimilarityScores:
        text = simple_text([*(first for first, _ in task.pairs), *(second for _, second in task.pairs)])
        found = [sif_vectors(text, words, weights).matrix for words in places]
        sides = [(rows[: len(task)], rows[len(task) :]) for rows in found]
        return SimilarityScores(*(sentence_similarity(*both, task.scores, name=task.name) for both in sides))

    return [score(task) for task in tasks]


def score_similarity_files(
    space: SavedSpace, tasks: Sequence[str], counts: str | None = None, *, language: str | None = None
) -> Report:
    """Similarity scores on each file of judgements, by default for the first language.

    The judgements are about words or, if `counts`, a file of word counts, is given, about sentences.
    """
    model = space.open()
    view = model.space_.view(language or 0)
    about: dict[str, object] = {"language": model.space_.languages[view], **model.facts}
    if counts is None:
        read = [read_similarities(task) for task in tasks]
        scores = [score_word_similarity(model, task, language=view) for task in read]
    else:
        sentences = [read_sentence_similarities(task, notices=space.notices) for task in tasks]
        scores = score_sentence_similarity(model, sentences, read_counts(counts), language=view)
        about = {"sentences": "sif", "counts": Path(counts).name, **about}
    facts = [{**score.space.facts, **about} for score in scores]
    values = [
        {
            "task": found.name,
            "pairs": found.pairs,
            "covered": found.covered,
            "coverage": found.coverage,
            "alone": alone.spearman,
            "space": found.spearman,
            "signature": signature(fact),
        }
        for (alone, found), fact in zip(scores, facts, strict=True)
    ]
    rows = [(found.name, alone.spearman, found.spearman, found.pairs, found.covered) for alone, found in scores]
    if len(rows) > 1:
        _, alones, spaces, pairs, covered = zip(*rows, strict=True)
        rows.append(("mean", sum(alones) / len(rows), sum(spaces) / len(rows), sum(pairs), sum(covered)))
    columns = ("Spearman, %", "vectors alone", "in the space", "difference", "pairs", "covered", "covered, %")
    cells = [
        (name, f"{a:.2f}", f"{b:.2f}", f"{b - a:+.2f}", f"{pairs:,}", f"{known:,}", f"{100 * known / pairs:.1f}")
        for name, a, b, pairs, known in rows
    ]
    return Report(values=values, shown=[Table(columns, cells)], signature=_joint_signature(facts))
