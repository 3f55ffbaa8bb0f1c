"""The tables and figures of nmf_lm: Novak and Mammone (2001)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np

import report
from cepts.data import Documents
from cepts.factor import symmetric_nmf
from cepts.lm import (
    AdaptedModel,
    Background,
    HiddenDocuments,
    HiddenOptions,
    HistoryOptions,
    KneserNey,
    Predictor,
    fit_hidden_documents,
    tune,
    window_counts,
)
from cepts.lm.adapted import PAPER
from cepts.lm.factorise import document_priors
from cepts.lm.fit import in_vocabulary
from cepts.lm.tuning import EXPONENTS
from cepts.names import FACTOR_STARTS
from cepts.plot import plot_hidden_documents, plot_perplexities
from lm_data import TEXTS, LMData, varied
from paper_run import PaperRun, PaperTables
from report import Table

# -- what the paper prints -------------------------------------------------------------------------------------------

SEGMENTATIONS = ("explicit", "implicit")
# Perplexity of the n-grams, and with hidden documents by explicit and implicit segmentation.
PUBLISHED = {"training data": (127.8, 107.8, 103.8), "test data": (288.8, 249.8, 240.6)}
PUBLISHED_COLUMNS = (
    "male female males females chromosome x sex mating mate many species",
    "oxygen carbon dioxide respiration cells hemoglobin aerobic blood concentration alcohol fermentation",
    "common evolutionary ancestor characters more derived shared ancestral group example character",
)
# A word of each of these columns, by which ours is found.
ASKED = ("female", "oxygen", "ancestor")
SHARES = (0.5, 0.9, 0.99)
FOLDS = 10  # parts of the training text, each scored with n-grams of the others

LAST = HistoryOptions(**{name: PAPER[name] for name in ("history", "places", "posterior", "fold_in", "uninformative")})


# -- texts and models, each made once --------------------------------------------------------------------------------


class Texts:
    """The texts of a run; a quick run has a small part of each."""

    def __init__(self, run: PaperRun) -> None:
        data = LMData(run.data)
        self.train = _part(data.text("textbook", "train"), 8 if run.quick else 1)
        self.brown = _part(data.documents("brown"), 10 if run.quick else 1)
        self.dev = {name: _part(data.text(name, "dev"), 4 if run.quick else 1) for name in TEXTS}
        self.test = {name: _part(data.text(name, "test"), 4 if run.quick else 1) for name in TEXTS}


def _part(documents: Documents, every: int) -> Documents:
    kept = np.arange(len(documents)) % every == 0
    return documents.chosen(kept) if every > 1 else documents


@cache
def texts_of(run: PaperRun) -> Texts:
    """The texts of a run."""
    return Texts(run)


@cache
def ngrams_of(run: PaperRun, *, paper: bool) -> Predictor:
    """The n-grams of the training text and of Brown, with the function words of the paper or those that are found."""
    texts = texts_of(run)
    model = AdaptedModel.of_paper(hidden=0) if paper else AdaptedModel(hidden=0, caches=())
    return model.fit(texts.train, dev=texts.dev["textbook"], background=texts.brown).predictor_


def rank_of(run: PaperRun) -> int:
    """The number of hidden documents."""
    return 50 if run.quick else int(PAPER["hidden"])


@cache
def hidden_of(run: PaperRun, hidden: int, **changes: Any) -> Any:
    """Hidden documents or singular vectors, found in the training text with the settings of the paper but `changes`."""
    options = {field.name: PAPER[field.name] for field in fields(HiddenOptions) if field.name in PAPER} | changes
    base = ngrams_of(run, paper=True)
    report.say(f"  {hidden} factors, {', '.join(f'{name} {value}' for name, value in changes.items()) or 'as printed'}")
    text = in_vocabulary(texts_of(run).train, base.vocabulary)
    return fit_hidden_documents([(text, 1.0)], base.content, hidden, HiddenOptions(**options))


def of_paper(run: PaperRun, found: Any, history: HistoryOptions = LAST) -> Predictor:
    """The model of the paper, eq. (17), with these hidden documents; its weights are to be tuned."""
    return varied(ngrams_of(run, paper=True), hidden=found, history=history, mixture="literal", exponent=0.0)


@cache
def default_of(run: PaperRun, segmentation: str, hidden: int) -> Predictor:
    """Our model with its default options but the number of hidden documents."""
    texts = texts_of(run)
    report.say(f"  our default, {segmentation}, {hidden} hidden documents")
    model = AdaptedModel(segmentation=segmentation, hidden=hidden)
    return model.fit(texts.train, dev=texts.dev["textbook"], background=texts.brown).predictor_


def tuned_on(run: PaperRun, name: str, model: Predictor) -> Predictor:
    """The model with the weights that are best on a text's development part."""
    return tune(model, texts_of(run).dev[name].text, exponents=EXPONENTS if model.exponent else None)[0]


def perplexities(models: Sequence[tuple[Predictor, Documents]]) -> tuple[float, float]:
    """Perplexity of the background and of the model, over one or more parts of a text, each with a model of its own."""
    logs, count = np.zeros(2), 0
    for model, documents in models:
        scored = model.score(documents.text, model.memory())
        probs = np.stack([scored.probs, model.mixed(scored)])[:, scored.known]
        logs += np.log(probs).sum(axis=1)
        count += probs.shape[1]
    plain, mixed = np.exp(-logs / count).tolist()
    return plain, mixed


def change(before: float, after: float) -> str:
    """The change in %."""
    return f"{100 * (after / before - 1):+.1f} %"


# -- the table of section 4 ------------------------------------------------------------------------------------------


def unlearnt(run: PaperRun, model: Predictor) -> Iterator[tuple[Predictor, Documents]]:
    """Parts of the training text, each with a model whose n-grams are of the other parts and of Brown."""
    train = in_vocabulary(texts_of(run).train, model.vocabulary)
    place = np.arange(len(train)) % FOLDS
    for fold in range(FOLDS):
        ngrams = KneserNey(order=3).fit(train.chosen(place != fold).text, vocabulary=model.vocabulary).ngrams_
        others = [ngrams, *model.background.models[1:]]
        background = Background(others, model.vocabulary, model.content, model.background.weights)
        yield replace(model, background=background), train.chosen(place == fold)


def elsewhere(run: PaperRun, model: Predictor) -> Iterator[tuple[Predictor, Documents]]:
    """The training text, with a model whose n-grams are of Brown alone; its weights are tuned anew."""
    background = Background(model.background.models[1:], model.vocabulary, model.content, np.ones(1))
    tuned = tuned_on(run, "textbook", replace(model, background=background))
    yield tuned, in_vocabulary(texts_of(run).train, model.vocabulary)


def perplexity_table(run: PaperRun) -> Table:
    """Perplexity of training and test data: n-grams, explicit and implicit segmentation."""
    ours = {
        "--paper": {kind: of_paper(run, hidden_of(run, rank_of(run), segmentation=kind)) for kind in SEGMENTATIONS},
        "default": {kind: default_of(run, kind, rank_of(run)) for kind in SEGMENTATIONS},
    }
    rows, records = [], []

    def add(data: str, setting: str, found: Mapping[str, tuple[float, float]]) -> None:
        cells = [data, setting, f"{found['explicit'][0]:.1f}"]
        for kind in SEGMENTATIONS:
            cells += [f"{found[kind][1]:.1f}", change(*found[kind])]
            about = {"ngrams": round(found[kind][0], 2), "perplexity": round(found[kind][1], 2)}
            records.append({"data": data, "setting": setting, "segmentation": kind, **about})
        rows.append(cells)

    def published(data: str) -> None:
        ngrams, explicit, implicit = PUBLISHED[data]
        add(data, "published", {"explicit": (ngrams, explicit), "implicit": (ngrams, implicit)})

    published("training data")
    for what, parts in (("n-grams of other sections and Brown", unlearnt), ("n-grams of Brown", elsewhere)):
        for setting, models in ours.items():
            report.say(f"  training data, {what}, {setting}")
            tuned = {kind: tuned_on(run, "textbook", model) for kind, model in models.items()}
            found = {kind: perplexities(list(parts(run, model))) for kind, model in tuned.items()}
            add(f"training sections of the textbook, {what}", setting, found)
    published("test data")
    for name, label in (("morgan", "Morgan's lectures II-IV"), ("textbook", "test sections of the textbook")):
        for setting, models in ours.items():
            report.say(f"  {label}, {setting}")
            tuned = {kind: tuned_on(run, name, model) for kind, model in models.items()}
            test = texts_of(run).test[name]
            add(label, setting, {kind: perplexities([(model, test)]) for kind, model in tuned.items()})
    columns = ["data", "setting", "n-grams", "explicit", "change", "implicit", "change"]
    return Table(report.markdown(columns, rows, text_columns=2), records)


# -- baselines: eqs. (1) and (14) ------------------------------------------------------------------------------------


def baselines_table(run: PaperRun) -> Table:
    """NMF against the SVD of LSA, and eqs. (15) and (16) against eq. (14), all else being equal."""
    product = replace(LAST, posterior="product")
    kinds: dict[str, tuple[dict[str, Any], HistoryOptions]] = {
        "NMF, eqs. (3), (13), (15), (16)": ({"segmentation": "explicit"}, LAST),
        "SVD, eq. (1)": ({"segmentation": "explicit", "factorisation": "svd"}, LAST),
        "NMF, eqs. (3), (13), (14)": ({"segmentation": "explicit"}, product),
        "NMF, eqs. (12), (13), (15), (16)": ({"segmentation": "implicit"}, LAST),
        "SVD, eqs. (1), (5)": ({"segmentation": "implicit", "factorisation": "svd"}, LAST),
        "NMF, eqs. (12), (13), (14)": ({"segmentation": "implicit"}, product),
    }
    rows, records = [], []
    for label, (changes, history) in kinds.items():
        report.say(f"  {changes['segmentation']}, {label}")
        model = of_paper(run, hidden_of(run, rank_of(run), **changes), history)
        cells = [changes["segmentation"], label]
        for name in TEXTS:
            tuned = tuned_on(run, name, model)
            found = {
                part: perplexities([(tuned, documents)])
                for part, documents in (("dev", texts_of(run).dev[name]), ("test", texts_of(run).test[name]))
            }
            cells += [f"{found['test'][1]:.1f}", change(*found["test"]), change(*found["dev"])]
            about = {"text": name, "weight": round(float(tuned.weights[1]), 4)}
            values = {part: round(value[1], 2) for part, value in found.items()}
            records.append({"segmentation": changes["segmentation"], "model": label, **about, **values})
        rows.append(cells)
    texts = [f"{label}: {what}" for label in TEXTS.values() for what in ("perplexity", "change", "dev")]
    return Table(report.markdown(["segmentation", "model", *texts], rows, text_columns=2), records)


# -- starts of the factorisation -------------------------------------------------------------------------------------


def starts_table(run: PaperRun) -> Table:
    """Starts of M = Q Z Q': the divergence that is reached, and perplexity of the development texts."""
    usual = {field.name: field.default for field in fields(HiddenOptions)}
    settings = {
        "--paper": ({name: PAPER.get(name, usual[name]) for name in usual}, LAST, "literal"),
        "default": (usual, HistoryOptions(), "class"),
    }
    base, train = ngrams_of(run, paper=True), in_vocabulary(texts_of(run).train, ngrams_of(run, paper=True).vocabulary)
    counts = np.bincount(train.text.ids, minlength=len(base.content))
    kept = base.content & (counts >= usual["min_count"])
    numbers = np.flatnonzero(kept).astype(np.int32)
    rows, records = [], []
    for setting, (options, history, mixture) in settings.items():
        where = {"window": options["window"], "stop_first": options["places"] == "content"}
        matrix = window_counts(train, kept, borders=options["borders"], **where)[numbers][:, numbers]
        sums = matrix.sum(axis=1, dtype=np.float64)
        how = {name: options[name] for name in ("iterations", "long_steps")}
        for start in FACTOR_STARTS:
            found = []
            for seed in range(1 if start == "anchors" else 2 if run.quick else 3):
                report.say(f"  {setting}, {start}, seed {seed}")
                factors = symmetric_nmf(matrix, rank_of(run), start=start, seed=seed, **how)
                weights = factors.weights
                if options["priors"] == "documents":
                    weights = document_priors(factors.words, weights, sums, counts[numbers].astype(np.float64))
                hidden = HiddenDocuments(factors.words, (weights / weights.sum()).astype(np.float32), numbers)
                model = replace(of_paper(run, hidden, history), mixture=mixture)
                tuned = {name: tuned_on(run, name, model) for name in TEXTS}
                values = [perplexities([(tuned[name], texts_of(run).dev[name])])[1] for name in TEXTS]
                found.append([factors.divergence, *values])
                about = dict(zip(("divergence", *TEXTS), (round(value, 2) for value in found[-1]), strict=True))
                records.append({"setting": setting, "start": start, "seed": seed, **about})
            columns = [list(column) for column in zip(*found, strict=True)]
            cells = [report.spread(columns[0], 0), *(report.spread(column) for column in columns[1:])]
            rows.append([setting, start, f"{len(found)}", *cells])
    heads = ["setting", "start", "runs", "divergence", *(f"{label}, dev" for label in TEXTS.values())]
    return Table(report.markdown(heads, rows, text_columns=2), records)


# -- table 1 and figures ---------------------------------------------------------------------------------------------


def asked_documents(model: Predictor) -> dict[str, int]:
    """The hidden document that is most probable given each of the words `ASKED`, as far as they are known: eq. (15)."""
    hidden = model.hidden
    assert isinstance(hidden, HiddenDocuments)
    found = {}
    for word, row in zip(ASKED, model.rows[model.vocabulary.numbers(ASKED)].tolist(), strict=True):
        if row >= 0:
            found[word] = int((hidden.words[row] * hidden.priors).argmax())
    return found


def words_table(run: PaperRun) -> Table:
    """The most probable words of three hidden documents, beside those of the paper (Table 1)."""
    models = {
        "--paper": of_paper(run, hidden_of(run, rank_of(run), segmentation="implicit")),
        "default": default_of(run, "implicit", rank_of(run)),
    }
    columns: dict[str, list[str]] = {}
    records = []
    for number, (word, published) in enumerate(zip(ASKED, PUBLISHED_COLUMNS, strict=True), start=1):
        columns[f"{number}: published"] = published.split()
        for setting, model in models.items():
            document = asked_documents(model).get(word)
            words: list[str] = [""] * len(published.split())
            if document is not None and isinstance(model.hidden, HiddenDocuments):
                rows = np.argsort(-model.hidden.words[:, document], kind="stable")[: len(words)]
                words = [model.vocabulary[int(model.hidden.numbers[row])] for row in rows]
            columns[f"{number}: {setting}"] = words
            records.append({"setting": setting, "asked": word, "words": words})
    lines = [list(line) for line in zip(*columns.values(), strict=True)]
    return Table(report.markdown(list(columns), lines, text_columns=len(columns)), records)


def swept(
    run: PaperRun, option: str, values: Sequence[int], models: Mapping[str, Mapping[int, Predictor]], figure: str
) -> Table:
    """Perplexity of the test texts against the values of an option, as a table and a figure."""
    found: dict[str, dict[str, list[float]]] = {label: {} for label in TEXTS.values()}
    records = []
    for kind, by_value in models.items():
        for name, label in TEXTS.items():
            test = texts_of(run).test[name]
            curve = [perplexities([(tuned_on(run, name, by_value[value]), test)])[1] for value in values]
            found[label][kind] = curve
            shown = zip(values, curve, strict=True)
            records += [{"model": kind, "text": name, option: value, "perplexity": round(x, 2)} for value, x in shown]
    plot_perplexities(run.figures / figure, option, values, found)
    curves = {f"{kind}, {label}": curve for label, by_kind in found.items() for kind, curve in by_kind.items()}
    rows = [[f"{value:,}", *(f"{curve[place]:.1f}" for curve in curves.values())] for place, value in enumerate(values)]
    if len(models) > 1:
        slopes = [np.polyfit(np.log(values), curve, 1)[0] for curve in curves.values()]
        rows.append(["for each doubling", *(f"{np.log(2) * slope:+.1f}" for slope in slopes)])
    return Table(report.markdown([option, *curves], rows), records)


def rank_figure(run: PaperRun) -> Table:
    """Perplexity against the number of factors (Figure 1), also with SVD."""
    ranks = (10, 20, 50) if run.quick else (50, 100, 200, 500, 1000)
    models = {
        "--paper": {rank: of_paper(run, hidden_of(run, rank, segmentation="implicit")) for rank in ranks},
        "--paper, SVD": {
            rank: of_paper(run, hidden_of(run, rank, segmentation="implicit", factorisation="svd")) for rank in ranks
        },
        "default": {rank: default_of(run, "implicit", rank) for rank in ranks},
    }
    return swept(run, "factors", ranks, models, "nmf_lm-figure1.svg")


def needed_words(hidden: HiddenDocuments) -> np.ndarray:
    """How many words each hidden document needs for each of the `SHARES` of its probability."""
    sums = np.cumsum(-np.sort(-hidden.words.astype(np.float64), axis=0), axis=0)
    return np.array([(sums < share * sums[-1]).sum(axis=0) + 1 for share in SHARES]).T


def distributions_figure(run: PaperRun) -> Table:
    """P(word | d) of some hidden documents, the most probable words first (Figure 2)."""
    model = of_paper(run, hidden_of(run, rank_of(run), segmentation="implicit"))
    hidden = model.hidden
    assert isinstance(hidden, HiddenDocuments)
    needed = needed_words(hidden)
    chosen = {f"with {word}": document for word, document in asked_documents(model).items()}
    plot_hidden_documents(
        run.figures / "nmf_lm-figure2.svg", {name: hidden.words[:, document] for name, document in chosen.items()}
    )
    counts = {name: needed[document].tolist() for name, document in chosen.items()}
    counts["median of all"] = np.median(needed, axis=0).tolist()
    ours = default_of(run, "implicit", rank_of(run)).hidden
    assert isinstance(ours, HiddenDocuments)
    counts["median of all, default"] = np.median(needed_words(ours), axis=0).tolist()
    rows = [[name, *(f"{count:,.0f}" for count in each)] for name, each in counts.items()]
    records = [{"hidden_document": name, "words_with": each} for name, each in counts.items()]
    columns = ["hidden document", *(f"words with {share:.0%}" for share in SHARES)]
    return Table(report.markdown(columns, rows), records)


def priors_figure(run: PaperRun) -> Table:
    """P(d) of the factorisation, and its estimates from the training text by eq. (18) (Figure 3)."""
    rows, records = [], []
    models = {
        "--paper: z / k^2, as in eq. (11)": of_paper(run, hidden_of(run, rank_of(run), segmentation="implicit")),
        "--paper, but z": of_paper(run, hidden_of(run, rank_of(run), segmentation="implicit", priors="shares")),
        "default: z": default_of(run, "implicit", rank_of(run)),
    }
    for number, (label, model) in enumerate(models.items()):
        hidden = model.hidden
        assert isinstance(hidden, HiddenDocuments)
        ids = in_vocabulary(texts_of(run).train, model.vocabulary).text.ids
        estimated = hidden.estimated_priors(model.rows[ids[model.remembered[ids]]], model.history)
        if not number:
            plot_hidden_documents(run.figures / "nmf_lm-figure3.svg", {}, hidden.priors, estimated=estimated)
        agreement = float(np.corrcoef(hidden.priors, estimated)[0, 1])
        distance = float(np.abs(hidden.priors - estimated).sum() / 2)
        low, high = (float(len(hidden) * np.quantile(hidden.priors, share)) for share in (0.05, 0.95))
        rows.append([label, f"{agreement:.4f}", f"{100 * distance:.2f} %", f"{low:.2f}", f"{high:.2f}"])
        records.append({"priors": label, "correlation": agreement, "distance": distance, "5%": low, "95%": high})
    columns = ["P(d)", "correlation with eq. (18)", "probability placed differently", "5 % of r P(d)", "95 % of r P(d)"]
    return Table(report.markdown(columns, rows), records)


def history_figure(run: PaperRun) -> Table:
    """Perplexity against the number of words in the history (Figure 4)."""
    sizes = (5, 15, 25, 60) if run.quick else (5, 10, 15, 20, 25, 30, 40, 60, 80, 120, 160)
    found = hidden_of(run, rank_of(run), segmentation="implicit")
    models = {"--paper": {size: of_paper(run, found, replace(LAST, history=size)) for size in sizes}}
    table = swept(run, "words of history", sizes, models, "nmf_lm-figure4.svg")
    ours, cells, records = default_of(run, "implicit", rank_of(run)), ["default: all words, by age"], []
    for name in TEXTS:
        mixed = perplexities([(tuned_on(run, name, ours), texts_of(run).test[name])])[1]
        cells.append(f"{mixed:.1f}")
        records.append({"model": "default", "text": name, "perplexity": round(mixed, 2)})
    return Table(f"{table.text}\n| {' | '.join(cells)} |", [*table.records, *records])


TABLES: PaperTables = {
    "perplexity": perplexity_table,
    "baselines": baselines_table,
    "table1": words_table,
    "figure1": rank_figure,
    "figure2": distributions_figure,
    "figure3": priors_figure,
    "figure4": history_figure,
    "starts": starts_table,
}
