"""The tables of `spaces.py` on links from a space and on senses."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hansards
import report
from cepts.data import Alignments
from cepts.evaluate import compare, gold_translations
from cepts.io import read_bitext
from cepts.spaces import IBFA, find_senses, fit_mixture
from cepts.spaces.associate import Scoring
from cepts.words import HMM, IBM1
from report import Table
from spaces_data import SpacesData

__all__ = ["links", "senses"]

# Title, how links are made, and what differs from the default scoring.
WAYS = (
    ("agreement", "agreement", {}),
    ("intersection", "intersection", {}),
    ("grow-diag", "grow-diag", {}),
    ("ONMF, sure links", "onmf", {}),
    ("ONMF", "onmf", {}),
    ("agreement, no support", "agreement", {"support": 0.0}),
    ("agreement, neither support nor diagonal", "agreement", {"support": 0.0, "diagonal": 0.0}),
)
MORE = 5  # translations of a sense that are looked at


def links(data: SpacesData) -> Table:
    """Links of the Hansards' test pairs from English and French vectors and the MUSE training entries alone."""
    root = data.root.parent
    hansards.data_directory(root, ["small"])
    views = [data.vectors("en"), data.vectors("fr")]
    space = IBFA().fit(views, data.muse("en", "fr", "train"))
    gold = hansards.gold(root, hansards.TEST)
    rows, records = [], []
    with tempfile.TemporaryDirectory() as work:
        text = hansards.make_text("small", root, Path(work))
        bitext = read_bitext(text.source, text.target)
        asked = bitext.part(hansards.TEST.start, hansards.TEST.stop)
        found: dict[str, Alignments] = {}
        for title, combine, changes in WAYS:
            made = space.scorer(scoring=Scoring(**changes)).align(asked, combine=combine)
            found[f"space, {title}"] = made.only(made.sure) if title == "ONMF, sure links" else made
        for title, model in (("Model 1", IBM1()), ("HMM", HMM())):
            report.say(f"  {title} on {text.pairs:,} pairs")
            trained = model.fit(bitext)
            found[f"{title} trained on {text.pairs:,} pairs, agreement"] = trained.align(asked)
    for title, made in found.items():
        scores = compare(gold, made).scores
        shown = (scores.aer, scores.possible_precision, scores.sure_recall)
        rows.append([title, *(f"{100 * value:.2f}" for value in shown)])
        records.append({"links": title, "aer": shown[0], "precision": shown[1], "recall": shown[2]})
    return Table(report.markdown(["%", "AER", "precision", "recall"], rows), records)


def senses(data: SpacesData) -> Table:
    """Senses of the MUSE test words, trained on the first 5,000; and what plain lists of the same length name."""
    views = [data.vectors("en"), data.vectors("fr")]
    model = IBFA().fit(views, data.muse("en", "fr", "train"))
    words = views[1].words
    mixture = fit_mixture(model.space_, views, model.entries_)
    gold = gold_translations(data.muse("en", "fr", "test"), *views)
    found = find_senses(mixture, views, gold.source, count=MORE)
    several = [place for place, lists in enumerate(found) if len(lists) > 1]
    right = [{words[row] for row in gold.target[gold.offsets[p] : gold.offsets[p + 1]]} for p in several]
    lists = [list(dict.fromkeys(word for sense in found[p] for word in sense.translations)) for p in several]
    longest = max(map(len, lists), default=1)
    plain = [[words[row] for row in line] for line in model.neighbours(gold.source[several], count=longest).rows]
    shown = {
        "test words": len(found),
        "with more than one sense": len(several),
        "of these, a further sense begins with a right translation": sum(
            any(sense.translations[0] in gold_rows for sense in found[place][1:])
            for place, gold_rows in zip(several, right, strict=True)
        ),
        "right translations that they have": sum(map(len, right)),
        "of these, named by the senses": sum(len(r & set(names)) for r, names in zip(right, lists, strict=True)),
        "of these, named by as many words by CSLS": sum(
            len(r & set(line[: len(names)])) for r, names, line in zip(right, lists, plain, strict=True)
        ),
    }
    table = report.markdown(["", "number"], [[name, f"{value:,}"] for name, value in shown.items()])
    return Table(table, [shown])
