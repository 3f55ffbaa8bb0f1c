"""The table of `spaces.py` on induction: what a dictionary that extends itself is worth, on words to develop on."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import report
from cepts.data import Dictionary
from cepts.spaces import IBFA, Induction
from report import Table
from spaces_accuracy import look_up, training_entries
from spaces_data import SpacesData

__all__ = ["induction"]

# The views, and the training entries: a number of source words of MUSE or xling, or words that are spelt the same.
# Vectors of different origin make hard pairs.
ROWS: tuple[tuple[str, str, str, int | None], ...] = (
    ("en", "fr", "train", None),
    ("en", "ru", "train", None),
    ("en europarl", "it europarl", "train", None),
    ("en", "it europarl", "train", None),
    ("ru", "fr", "xling", None),
    ("en", "ru", "train", 1000),
    ("en europarl", "it europarl", "identical", None),
)
FURTHER = 2000  # source words to develop on, at most
HELD_BACK = 1000  # source words of xling, which has no further ones


def induction(data: SpacesData) -> Table:
    """P@1 by cosine / by CSLS without induction, and the gain by it, over both directions."""
    rows, records = [], []
    for first, second, part, size in ROWS:
        source, target = data.vectors(first), data.vectors(second)
        title = f"{source.name}-{target.name}" + (", Europarl" if "europarl" in f"{first} {second}" else "")
        if ("europarl" in first) != ("europarl" in second):
            title += " and other"
        report.say(f"  {title}, {part} {size or ''}")
        if part == "xling":
            train, tests = _divided(data.xling(source.name, target.name, "train"))
        else:
            train = training_entries(data, source, target, part)
            tests = [_first(data.muse(*names, "further"), FURTHER) for names in _both(source.name, target.name)]
        if size is not None:
            train = _first(train, size)
        models = [IBFA(induction=given).fit([source, target], train) for given in (None, Induction())]
        scores = [
            {
                measure: fmean(
                    look_up(model, *names, test, measure).precision[1]
                    for names, test in zip(_both(source.name, target.name), tests, strict=True)
                )
                for measure in ("cosine", "csls")
            }
            for model in models
        ]
        found = models[1].report_.induction  # type: ignore[union-attr]
        entries = {"train": "MUSE", "xling": "xling", "identical": "identical strings"}[part]
        used = f"{len(found.rounds)} of {Induction().rounds}"
        sure = f"{found.rounds[-1].entries:,}, {100 * found.rounds[-1].sure:.0f} %" if found.rounds else "-"
        gains = [scores[1][measure] - scores[0][measure] for measure in ("cosine", "csls")]
        alone = f"{scores[0]['cosine']:.1f} / {scores[0]['csls']:.1f}"
        count = f"{len(train):,}"
        rows.append([title, entries, count, alone, used, sure, f"{gains[0]:+.1f} / {gains[1]:+.1f}"])
        records.append(
            {"languages": title, "entries": entries, "count": len(train), "alone": scores[0], "induced": scores[1]}
            | {"rounds": len(found.rounds), "held_out": list(found.held_out)}
        )
    means = [fmean(one["induced"][m] - one["alone"][m] for one in records) for m in ("cosine", "csls")]
    rows.append(["mean", "", "", "", "", "", f"{means[0]:+.2f} / {means[1]:+.2f}"])
    columns = ["languages", "dictionary", "entries", "P@1", "rounds used", "new entries, sure", "gain"]
    return Table(report.markdown(columns, rows, text_columns=2), records)


def _both(source: str, target: str) -> list[tuple[str, str]]:
    return [(source, target), (target, source)]


def _first(dictionary: Dictionary, words: int) -> Dictionary:
    """The entries of the first source words."""
    kept = set(list(dict.fromkeys(entry[0] for entry in dictionary))[:words])
    return replace(dictionary, entries=tuple(entry for entry in dictionary if entry[0] in kept))


def _divided(dictionary: Dictionary) -> tuple[Dictionary, list[Dictionary]]:
    """The entries of all source words but the last thousand, and those of the last in both directions."""
    words = len(dict.fromkeys(entry[0] for entry in dictionary))
    train = _first(dictionary, words - HELD_BACK)
    kept = {entry[0] for entry in train}
    rest = replace(dictionary, entries=tuple(entry for entry in dictionary if entry[0] not in kept))
    return train, [rest, rest.swapped()]
