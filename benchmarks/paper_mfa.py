"""The tables and figures of mfa: Vargas et al. (2019), *Multilingual Factor Analysis*.

The vectors of the paper (fastText's, and those of Dinu et al.) are not in the data; each table says what takes their
place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import paper_mfa_languages
import report
import spaces_accuracy
from cepts.spaces import CCA, IBFA, Induction, LeastSquares, Procrustes, SpaceModel
from cepts.spaces.sentences import MUSE_FLOOR
from paper_mfa_data import DEFAULT, EUROPARL_VECTORS, OURS, PAPER, PUBLISHED, coverage, data_of, sourced
from paper_run import PaperRun, PaperTables
from report import Table
from spaces_accuracy import SentenceRetrieval, look_up, precisions, training_entries

QUICK_SENTENCES = 10_000
SAMPLES = 28
EXPLOSION = "English and French vectors of spaCy's packages, Russian ones of navec"


# -- two languages -----------------------------------------------------------------------------------------------------

TABLE_1 = {
    ("dictionary", "SVD"): (74.9, 76.1, 47.0, 58.2),
    ("dictionary", "IBFA"): (77.3, 79.5, 46.7, 61.3),
    ("dictionary", "SVD + CSLS"): (81.1, 82.4, 51.7, 63.7),
    ("dictionary", "IBFA + CSLS"): (81.9, 83.4, 50.5, 66.3),
    ("identical strings", "SVD"): (71.0, 72.7, 11.4, 37.7),
    ("identical strings", "IBFA"): (77.1, 78.9, 23.1, 39.9),
    ("identical strings", "SVD + CSLS"): (75.7, 79.6, 20.9, 41.5),
    ("identical strings", "IBFA + CSLS"): (78.6, 82.3, 25.3, 46.3),
}
TABLE_1_MODELS: dict[tuple[str, str], SpaceModel] = {
    ("SVD", OURS): Procrustes(),
    ("IBFA", PAPER): IBFA.of_paper(),
    ("IBFA", DEFAULT): IBFA(),
    ("IBFA", "ours, `--induce 3`"): IBFA(induction=Induction()),
}


def table1(run: PaperRun) -> Table:
    """P@1 of word translation, with a dictionary and with words that are spelt the same."""
    data = data_of(run)
    directions = [("en", "fr"), ("fr", "en")] + ([] if run.quick else [("en", "ru"), ("ru", "en")])
    measures = {"": "cosine", " + CSLS": "csls"}
    rows, records, covered, alike = [], [], {}, {}
    for kind, part in (("dictionary", "train"), ("identical strings", "identical")):
        cells: dict[tuple[str, str], list[str]] = {}
        for source, target in directions:
            views = [data.vectors(source), data.vectors(target)]
            entries = training_entries(data, *views, part)
            if part == "identical":
                alike[frozenset((source, target))] = f"{len(entries):,} of {source}-{target}"
            test = data.muse(source, target, "test")
            for (method, whose), model in TABLE_1_MODELS.items():
                if run.quick and model.induction:
                    continue
                report.say(f"  {kind}, {source}-{target}: {method}, {whose}")
                model.fit(views, entries)
                for suffix, measure in measures.items():
                    score = look_up(model, source, target, test, measure)
                    cells.setdefault((f"{method}{suffix}", whose), []).append(f"{score.precision[1]:.1f}")
                    covered[source, target] = f"{source}-{target} {score.covered:,} of {score.asked:,}"
                    about = {"dictionary": kind, "method": method, "figures": whose, "direction": f"{source}-{target}"}
                    records.append({**about, "measure": measure, **score.as_dict()})
        for suffix in measures:
            for method in ("SVD", "IBFA"):
                name = f"{method}{suffix}"
                published = [f"{value:.1f}" for value in TABLE_1[kind, name]][: len(directions)]
                rows.append([kind, name, PUBLISHED, *published])
                rows += [[kind, name, whose, *found] for (other, whose), found in cells.items() if other == name]
    columns = ["trained on", "method", "figures", *("-".join(direction) for direction in directions)]
    note = f"Instead of fastText's 200,000 words of each language: {EXPLOSION}, 16,000 to 18,000 words each."
    text = report.markdown(columns, rows, text_columns=3)
    strings = f"Identical strings: {', '.join(alike.values())}."
    return Table(sourced(text, note, coverage(covered.values()), strings), records)


TABLE_2 = {
    ("dictionary", "least squares"): ((33.8, 48.3, 53.9), (24.9, 41.0, 47.4)),
    ("dictionary", "CCA"): ((30.9, 48.1, 52.7), (27.7, 45.5, 51.0)),
    ("dictionary", "SVD"): ((36.9, 52.7, 57.9), (32.2, 49.6, 55.7)),
    ("dictionary", "IBFA"): ((39.3, 55.3, 60.1), (34.7, 53.5, 59.4)),
    ("identical strings", "least squares"): ((1.0, 2.8, 3.9), (2.5, 6.4, 9.1)),
    ("identical strings", "CCA"): ((26.5, 42.5, 48.1), (22.8, 40.1, 45.5)),
    ("identical strings", "SVD"): ((27.1, 43.4, 49.3), (26.2, 42.1, 49.0)),
    ("identical strings", "IBFA"): ((34.7, 52.6, 58.3), (33.7, 53.3, 59.2)),
}
TABLE_2_MODELS: dict[tuple[str, str], SpaceModel] = {
    ("least squares", OURS): LeastSquares(),
    ("CCA", OURS): CCA(),
    ("SVD", OURS): Procrustes(),
    ("IBFA", PAPER): IBFA.of_paper(),
    ("IBFA", DEFAULT): IBFA(),
}


def table2(run: PaperRun) -> Table:
    """P@1, P@5 and P@10 between English and Italian by cosine alone."""
    data = data_of(run)
    rows, records, covered = [], [], {}
    for kind, part in (("dictionary", "train"), ("identical strings", "identical")):
        cells: dict[tuple[str, str], list[str]] = {}
        for first, second in (("en europarl", "it europarl"), ("it europarl", "en europarl")):
            views = [data.vectors(first), data.vectors(second)]
            source, target = (view.name for view in views)
            for (method, whose), model in TABLE_2_MODELS.items():
                model.fit(views, training_entries(data, *views, part))
                score = look_up(model, source, target, data.muse(source, target, "test"), "cosine")
                cells.setdefault((method, whose), []).append(precisions(score))
                covered[source, target] = f"{source}-{target} {score.covered:,} of {score.asked:,}"
                about = {"dictionary": kind, "method": method, "figures": whose, "direction": f"{source}-{target}"}
                records.append({**about, **score.as_dict()})
        for (method, whose), found in cells.items():
            if whose != DEFAULT:
                published = [" / ".join(f"{value:.1f}" for value in values) for values in TABLE_2[kind, method]]
                rows.append([kind, method, PUBLISHED, *published])
            rows.append([kind, method, whose, *found])
    columns = ["trained on", "method", "figures", "en-it, P@1 / 5 / 10", "it-en, P@1 / 5 / 10"]
    note = f"Instead of the vectors and dictionaries of Dinu et al. (2014): {EUROPARL_VECTORS}, and MUSE dictionaries."
    text = report.markdown(columns, rows, text_columns=3)
    return Table(sourced(text, note, coverage(covered.values())), records)


# -- similarity --------------------------------------------------------------------------------------------------------

TABLE_3 = {
    "English": (73.7, 78.1, 68.2, 79.7, 81.2, 67.9, 66.9, 76.4),
    "IBFA en-fr": (72.4, 77.8, 65.8, 80.5, 83.0, 68.2, 69.6, 77.6),
    "CCA en-fr": (70.9, 76.4, 63.3, 76.5, 81.4, 63.4, 65.4, 74.9),
}
TABLE_4 = {
    "English": (58.1, 69.2, 66.7, 72.6, 70.6),
    "IBFA en-fr": (58.0, 70.0, 66.7, 72.8, 71.4),
    "CCA en-fr": (56.7, 67.9, 65.9, 72.8, 70.8),
}
# Rows of `spaces.py` -> the row of the paper, and whose figures they are.
SIMILARITY_ROWS = {
    "English alone (unit, centred)": ("English", OURS),
    "CCA": ("CCA en-fr", OURS),
    "IBFA, P^1/2 (paper)": ("IBFA en-fr", PAPER),
    "IBFA": ("IBFA en-fr", DEFAULT),
}


def _beside(table: Table, published: Mapping[str, Sequence[float]]) -> Table:
    """Spearman correlations that `spaces.py` measures, beside those of the paper, which has the first tasks of them."""
    tasks = [name for name in table.records[0] if name != "vectors"]
    rows, records = [], []
    for name, figures in published.items():
        known = [f"{value:.1f}" for value in figures]
        rows.append([name, PUBLISHED, *known, *["-"] * (len(tasks) - len(known))])
        for record in table.records:
            row, whose = SIMILARITY_ROWS[str(record["vectors"])]
            if row == name:
                rows.append([row, whose, *(f"{record[task]:.1f}" for task in tasks)])
                records.append({**record, "vectors": row, "figures": whose})
    note = (
        "Instead of fastText's vectors: English and French vectors of spaCy's packages; both use the whole MUSE "
        "dictionary of the two languages."
    )
    return Table(sourced(report.markdown(["Spearman, %", "figures", *tasks], rows, text_columns=2), note), records)


def table3(run: PaperRun) -> Table:
    """Similarity of English words."""
    return _beside(spaces_accuracy.similarity(data_of(run)), TABLE_3)


def table4(run: PaperRun) -> Table:
    """Similarity of English sentences."""
    return _beside(spaces_accuracy.sts(data_of(run)), TABLE_4)


# -- sentences ---------------------------------------------------------------------------------------------------------

TABLE_5 = {
    ("SVD", "cosine"): ((40.5, 52.6, 56.9), (51.2, 63.7, 67.9)),
    ("IBFA", "cosine"): ((62.7, 74.2, 77.9), (64.1, 75.2, 79.5)),
    ("SVD", "csls"): ((64.0, 75.8, 78.5), (67.9, 79.4, 82.8)),
    ("IBFA", "csls"): ((68.8, 80.7, 83.5), (70.2, 80.8, 84.8)),
}
FEWER = (0.25, 0.5, 1.0)


def table5(run: PaperRun) -> Table:
    """Retrieval of Europarl's sentences."""
    data = data_of(run)
    sentences = QUICK_SENTENCES if run.quick else None
    muse = SentenceRetrieval(data, floor=MUSE_FLOOR, sentences=sentences)
    own = SentenceRetrieval(data, sentences=sentences)
    total = len(muse.texts[0])
    train = data.muse("en", "it", "train")
    fits = {
        ("SVD", PAPER): (Procrustes.of_paper(), muse),
        ("IBFA", PAPER): (IBFA.of_paper(), muse),
        ("IBFA", DEFAULT): (IBFA(), own),
        ("IBFA", "ours, `--shrinkage 0 --exponent 1`"): (IBFA(shrinkage=0.0, exponent=1.0), own),
    }
    cells: dict[tuple[str, str, str], list[str]] = {}
    records = []
    for (method, whose), (model, task) in fits.items():
        report.say(f"  {method}, {whose}")
        for (direction, measure), score in task.score(model.fit(task.views, train)).items():
            cells.setdefault((method, measure, whose), []).append(precisions(score))
            about = {"method": method, "figures": whose, "direction": direction, "measure": measure}
            records.append({**about, "targets": total, **score.as_dict()})
    rows = []
    for (method, measure), published in TABLE_5.items():
        name = f"{method} + CSLS" if measure == "csls" else method
        rows.append([name, PUBLISHED, *(" / ".join(f"{value:.1f}" for value in values) for values in published)])
        rows += [[name, whose, *found] for (m, how, whose), found in cells.items() if (m, how) == (method, measure)]
    fewer = []
    for share in FEWER:
        targets = int(share * total)
        score = muse.score(fits["IBFA", PAPER][0], targets)["en-it", "csls"]
        fewer.append(f"{score.precision[1]:.1f} among {targets:,}")
        records.append({"method": "IBFA", "figures": PAPER, "targets": targets, **score.as_dict()})
    columns = ["method", "figures", "en-it, P@1 / 5 / 10", "it-en, P@1 / 5 / 10"]
    note = (
        f"2,000 sentences are looked up among {total:,}, which are all that the data have; the paper has 200,000. How "
        f"much that matters: P@1 of IBFA with `--paper` and CSLS, en-it, is {', '.join(fewer)} sentences. Instead of "
        f"the vectors of Dinu et al. (2014): {EUROPARL_VECTORS}. With `--paper`, words are weighted as in MUSE."
    )
    return Table(sourced(report.markdown(columns, rows, text_columns=2), note), records)


# -- sampled words -----------------------------------------------------------------------------------------------------


def table7(run: PaperRun) -> Table:
    """The most probable of 2,000 pairs of words that the model draws."""
    data = data_of(run)
    model = IBFA.of_paper().fit([data.vectors("en"), data.vectors("fr")], data.muse("en", "fr", "full"))
    samples = model.sample(SAMPLES)
    rows = [[*sample.words, *sample.back, f"{sample.log_density:.1f}"] for sample in samples]
    records = [{"words": sample.words, "back": sample.back, "log_density": sample.log_density} for sample in samples]
    note = (
        "English and French instead of English and Spanish, vectors of spaCy's packages instead of fastText's. Nothing "
        "is removed; the paper removes proper nouns and acronyms by hand. Its third column is a translation by hand, "
        "ours is the nearest English word."
    )
    text = report.markdown(["en", "fr", "fr -> en", "log p"], rows, text_columns=3)
    return Table(sourced(text, note), records)


TABLES: PaperTables = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "table4": table4,
    "table5": table5,
    "table6": paper_mfa_languages.table6,
    "table7": table7,
    "table8": paper_mfa_languages.table8,
    "figure4": paper_mfa_languages.figure4,
    "starts": paper_mfa_languages.starts,
}
