"""The tables and figures of onmf: Goutte, Yamada and Gaussier (2004)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

import hansards
import report
import romanian
from cepts.data import Alignments, Association
from cepts.evaluate import Scores
from cepts.extract import Extraction, aligned_runs
from cepts.factor import Factoring, factorise
from cepts.io.matrices import Matrices
from cepts.pipeline.papers import ONMF
from cepts.plot import plot_pair, plot_pair_factors
from cepts.words import Aligner
from onmf_accuracy import PUBLISHED, SCORES, figure, rounded, score
from paper_run import PaperRun, PaperTables
from report import Table
from trained import DEFAULT, KINDS, Models, gold_pairs
from translation import translation

QUICK_PAIRS = 3000
# Models, and how links are made of them: the paper's way, then ours.
WAYS: tuple[tuple[str, str, str, str, dict[str, object]], ...] = (
    ("`--paper onmf`", "Model 4 by ML", "nbest-plain", "AIC", {"cepts": "aic"}),
    ("`--paper onmf`", "Model 4 by ML", "nbest-plain", "BIC", {"cepts": "bic"}),
    ("its matrix of our Model 4", "Model 4", "nbest-plain", "AIC", {"cepts": "aic"}),
    ("its matrix of our Model 4", "Model 4", "nbest-plain", "BIC", {"cepts": "bic"}),
    ("our N-best lists", "Model 4", "nbest", "AIC", {}),
    ("our N-best lists", "Model 4", "nbest", "BIC", {"cepts": "anneal-bic"}),
    ("our default, all links", DEFAULT, "agreement", "AIC", {}),
    ("our default, `--assign classify`", DEFAULT, "agreement", "AIC", {"assign": "classify"}),
)
INTERSECTIONS = (("intersection", "Model 4 by ML"), ("intersection", "Model 4"))
DATA = (
    "Rows without a text are published figures. The paper trained Model 4 of GIZA++ on 20 million words of Hansards; "
    "here the *small* text is the {small} pairs of the same Hansards, the *large* one adds short pairs of the same "
    "parliament, {large} in all."
)


@cache
def models(run: PaperRun, text: str) -> Models:
    """The models of a text, which are trained when they are first needed."""
    made = hansards.make_text(text, run.data, run.work / "texts", pairs=QUICK_PAIRS if run.quick else None)
    return Models(made, run.work)


def texts(run: PaperRun) -> tuple[str, ...]:
    """The texts to train on."""
    return ("small",) if run.quick else ("small", "large")


@cache
def found(run: PaperRun, text: str, way: int) -> Alignments:
    """The links of all gold pairs that one of `WAYS` makes."""
    name, model, association, _, options = WAYS[way]
    report.say(f"{text} text: {name}, {options or 'anneal'}")
    aligner = models(run, text)[model]
    factoring = factoring_of(run, options)
    return aligner.align(
        gold_pairs(models(run, text).bitext), combine="onmf", association=association, factoring=factoring
    )


def factoring_of(run: PaperRun, options: dict[str, object]) -> Factoring:
    """How matrices are factorised; a quick run has few random starts."""
    return Factoring(**{**options, **({"restarts": 2} if run.quick else {})})  # type: ignore[arg-type]


@cache
def intersection(run: PaperRun, text: str, model: str) -> Alignments:
    """The intersection of the two directions' best alignments of the gold pairs."""
    return models(run, text)[model].align(gold_pairs(models(run, text).bitext), combine="intersection")


def hansard_table(run: PaperRun, name: str, pairs: slice, *, null: str = "no", others: bool = False) -> Table:
    """The published rows of a table, and ours; `others` adds the intersections."""
    gold = hansards.gold(run.data, pairs)
    columns = ["method", "cepts", "text", *SCORES, "links"]
    published_links = {"AIC": "707", "BIC": "766"} if name == "table1" else {}
    rows = [
        [method, links, "-", *map(figure, cells), published_links.get(links, "-")]
        for (method, links), cells in PUBLISHED[name].items()
    ]
    records = []

    def add(method: str, links: str, text: str, alignments: Alignments) -> None:
        bitext = gold_pairs(models(run, text).bitext, pairs)
        scores = score(gold, alignments.part(pairs.start, pairs.stop), bitext, null=null)
        rows.append([method, links, text, *(figure(100 * value) for value in values(scores)), f"{scores.links:,}"])
        records.append({"method": method, "links": links, "text": text, "null": null, "scores": rounded(scores)})

    for text in texts(run):
        for way, (method, _, _, cepts, _) in enumerate(WAYS):
            add(method, cepts, text, found(run, text, way))
        if others:
            for method, model in INTERSECTIONS:
                add(model, method, text, intersection(run, text, model))
            plain = models(run, text)[DEFAULT].align(gold_pairs(models(run, text).bitext))
            add("`cepts align`", "agreement", text, plain)
    return Table(f"{report.markdown(columns, rows, text_columns=3)}\n\n{data_note(run)}", records)


def values(scores: Scores) -> Iterator[float]:
    """The columns of the paper."""
    return (getattr(scores, name) for name in SCORES.values())


def data_note(run: PaperRun) -> str:
    """What replaced the data of the paper."""
    sizes = {text: f"{models(run, text).text.pairs:,}" for text in texts(run)}
    return DATA.format(**{"small": "-", "large": "-", **sizes})


def table1(run: PaperRun) -> Table:
    """The 37 trial pairs, without links to null."""
    return hansard_table(run, "table1", hansards.TRIAL)


def table2(run: PaperRun) -> Table:
    """The 447 test pairs, without links to null."""
    return hansard_table(run, "table2", hansards.TEST, others=True)


def table3(run: PaperRun) -> Table:
    """The 447 test pairs, with links to null as possible links."""
    return hansard_table(run, "table3", hansards.TEST, null="possible", others=True)


def table4(run: PaperRun) -> Table:
    """The 248 Romanian-English test pairs, whose links are all sure."""
    gold = romanian.gold(run.data)
    bitext = romanian.bitext(run.data, pairs=QUICK_PAIRS if run.quick else None)
    tests = bitext.part(0, romanian.PAIRS)
    part = ["P_S", "R_S", "F_S", "AER"]
    columns = ["method", "cepts", *part, *(f"{name} with null" for name in part)]
    rows = [[*label, *map(figure, cells)] for label, cells in PUBLISHED["table4"].items()]
    records = []
    aligners: dict[str, Aligner] = {}
    for method, model, association, cepts, options in WAYS:
        if model not in aligners:
            report.say(f"Romanian-English: {model}")
            aligners[model] = KINDS[model]().fit(bitext)
        factoring = factoring_of(run, options)
        links = aligners[model].align(tests, combine="onmf", association=association, factoring=factoring)
        both = [score(gold, links, tests), score(gold, links, tests, null="sure")]
        cells = [getattr(one, SCORES[name]) for one in both for name in part]
        rows.append([method, cepts, *(figure(100 * value) for value in cells)])
        record = {"method": method, "cepts": cepts, "scores": rounded(both[0])}
        records.append({**record, "scores_with_null": rounded(both[1])})
    note = (
        "The paper and the shared task trained on some 48,000 pairs of the same kind of text as the test pairs. None "
        f"is at hand: here it is {len(bitext):,} pairs, the test sentences and strings of an office program. "
        "Links to null count as sure here, because all gold links are."
    )
    return Table(f"{report.markdown(columns, rows, text_columns=2)}\n\n{note}", records)


# -- figures -----------------------------------------------------------------------------------------------------------

# Figures 1 to 3: a link of one word to one, of several to one, of one to several and of several to several.
FRENCH = ["le", "droit", "de", "permis", "ne", "augmente", "pas"]
ENGLISH = ["the", "licence", "fee", "does", "not", "increase"]
CEPTS = ((("le",), ("the",)), (("droit", "de", "permis"), ("licence", "fee")), (("ne", "pas"), ("not",)))
CEPTS = (*CEPTS, (("augmente",), ("does", "increase")))
SENTENCE = 20  # of the trial pairs: number 1023 in the paper


def example() -> Alignments:
    """The alignment of figure 1."""
    links = [(FRENCH.index(f), ENGLISH.index(e)) for source, target in CEPTS for f in source for e in target]
    return Alignments.from_links([links])


def figure1(run: PaperRun) -> Table:
    """An alignment with links of all four types."""
    plot_pair(run.figures / "onmf-figure1.svg", FRENCH, ENGLISH, example()[0])
    return _cepts_table("onmf-figure1.svg", "links")


def figure2(run: PaperRun) -> Table:
    """The same through cepts."""
    plot_pair(run.figures / "onmf-figure2.svg", FRENCH, ENGLISH, example()[0], form="cepts")
    return _cepts_table("onmf-figure2.svg", "lines to the cept")


def _cepts_table(file: str, what: str) -> Table:
    rows, records = [], []
    for number, (source, target) in enumerate(CEPTS, 1):
        count = len(source) * len(target) if what == "links" else len(source) + len(target)
        kind = f"{'M' if len(source) > 1 else '1'}-{'N' if len(target) > 1 else '1'}"
        rows.append([str(number), " ".join(source), " ".join(target), kind, str(count)])
        records.append({"file": file, "cept": number, "source": source, "target": target, what: count})
    return Table(report.markdown(["cept", "French", "English", "type", what], rows, text_columns=4), records)


def figure3(run: PaperRun) -> Table:
    """Its matrices: A = F E'."""
    links = example()[0]
    matrix = np.zeros((len(FRENCH), len(ENGLISH)), dtype=np.float32)
    matrix[links.source, links.target] = 100
    single = Association(*(np.array([size]) for size in matrix.shape), np.array([0, matrix.size]), matrix.reshape(-1))
    matrices = Matrices(single, [FRENCH], [ENGLISH], None, "figure 3", "matrix")
    plot_pair_factors(matrices, 0, factors=run.figures / "onmf-figure3.svg", orthogonal=True)
    factors = factorise(matrix).orthogonal
    same = bool((factors.links == (matrix > 0)).all())
    rows = [[word, *(f"{value:.2f}" for value in row)] for word, row in zip(FRENCH, factors.source, strict=True)]
    rows += [[word, *(f"{value:.2f}" for value in row)] for word, row in zip(ENGLISH, factors.target, strict=True)]
    columns = ["word", *(f"cept {number + 1}" for number in range(len(factors.weights)))]
    note = f"F E' {'is' if same else 'is not'} the alignment."
    records = [{"product_is_alignment": same, "cepts": len(factors.weights)}]
    return Table(f"{report.markdown(columns, rows)}\n\n{note}", records)


@cache
def sentence(run: PaperRun) -> Matrices:
    """The matrix of the paper's example sentence, by its own model on our largest text."""
    text = texts(run)[-1]
    bitext = gold_pairs(models(run, text).bitext, hansards.TRIAL)
    extraction = Extraction(combine="onmf", association=str(ONMF.links["association"]))
    runs = aligned_runs(
        models(run, text)["Model 4 by ML"], bitext.part(SENTENCE, SENTENCE + 1), extraction, matrices=True
    )
    (matrix,) = [one.matrix for one in runs if one.matrix is not None]
    source, target = bitext[SENTENCE]
    return Matrices(matrix, [source], [target], None, "figure 5", "matrix")


def figure5(run: PaperRun) -> Table:
    """Gold links and counts of sentence 1023."""
    matrices = sentence(run)
    assert matrices.source is not None
    assert matrices.target is not None
    gold = hansards.gold(run.data, hansards.TRIAL)[SENTENCE]
    plot_pair(run.figures / "onmf-figure5-gold.svg", matrices.source[0], matrices.target[0], gold, form="matrix")
    plot_pair_factors(matrices, 0, gold=gold, factors=run.figures / "onmf-figure5.svg", cepts="aic")
    counts, nulls = matrices.association[0], matrices.association
    assert nulls.source_null is not None
    assert nulls.target_null is not None
    columns = ["", "null", *matrices.target[0]]
    rows = [["null", "-", *(f"{value:.0f}" for value in nulls.target_null)]]
    for word, null, row in zip(matrices.source[0], nulls.source_null, counts, strict=True):
        rows.append([word, f"{null:.0f}", *(f"{value:.0f}" for value in row)])
    return Table(report.markdown(columns, rows), [{"counts": counts.tolist()}])


def figure6(run: PaperRun) -> Table:
    """The orthogonal factors of sentence 1023, and how the number of its cepts is chosen."""
    matrices = sentence(run)
    assert matrices.source is not None
    assert matrices.target is not None
    plot_pair_factors(
        matrices,
        0,
        factors=run.figures / "onmf-figure6.svg",
        criterion=run.figures / "onmf-criterion.svg",
        orthogonal=True,
        cepts="aic",
    )
    association = matrices.association
    nulls = {"source_null": association.source_null, "target_null": association.target_null}
    result = factorise(association[0], **nulls, cepts="aic")
    best = {name: int(np.nanargmax(getattr(result, name))) + 1 for name in ("aic", "bic", "icl")}
    target = matrices.target[0]
    ont = target.index("ont")
    shares = sorted(result.factors.target_posterior[ont, 1:].tolist(), reverse=True)[:2]
    cepts = result.alignments.cepts
    assert cepts is not None
    proper = result.proper(association[0])
    facts: list[tuple[str, str, object]] = [
        ("cepts by AIC", "6", best["aic"]),
        ("cepts by BIC", "6", best["bic"]),
        ("cepts by ICL", "-", best["icl"]),
        ("P(noise)", "0.00053", f"{result.factors.noise:.5f}"),
        ("P(c) of the two likeliest cepts of *ont*", "0.54, 0.40", ", ".join(f"{share:.2f}" for share in shares)),
        ("French words at null", "de, de", ", ".join(target[j] for j in np.flatnonzero(cepts.target < 0)) or "none"),
        ("log-likelihood of PLSA", "-", f"{result.factors.log_likelihood:,.1f}"),
        ("log-likelihood of the proper model, with its noise", "-", f"{proper.log_likelihood:,.1f}"),
        ("P(noise) of the proper model", "-", f"{proper.noise:.3f}"),
    ]
    rows = [[name, published, str(value)] for name, published, value in facts]
    records = [{"fact": name, "published": published, "found": value} for name, published, value in facts]
    return Table(report.markdown(["", "onmf paper", "`--paper onmf`"], rows), records)


TABLES: PaperTables = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "table4": table4,
    "figure1": figure1,
    "figure2": figure2,
    "figure3": figure3,
    "figure5": figure5,
    "figure6": figure6,
    "translation": translation,
}
