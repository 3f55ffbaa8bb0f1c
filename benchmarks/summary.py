"""Summaries of the results that were kept: the table of README and that of docs/results/index.md.

Nothing is measured here. The other scripts keep their figures in `results/`, and the newest of them count;
`results/published.jsonl` has figures of others, each with its source.

    summary.py [--write]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import report
from phrases_accuracy import PUBLISHED
from phrases_data import CORPORA
from trained import DEFAULT

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
TITLE = "words summary"
COLUMNS = ("aligner", "pairs", "AER, %", "user CPU, s", "memory, MiB")
OURS = "**`cepts align`**"
# Ways to combine two directions that are not ours.
HEURISTICS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")

Record = Mapping[str, Any]


def summary(results: Path = RESULTS) -> str:
    """The table: peers and `cepts align` on the same text, a smaller one for Thot, and what others have published."""
    words = newest(read_records(results / "words.jsonl"))
    fertility = newest(read_records(results / "fertility.jsonl"))
    (pairs,) = {record["pairs"] for record in words if record.get("text") == "small"}
    accuracy = [record for record in words if record["table"] == "accuracy" and record["pairs"] == pairs]
    speed = [record for record in words if record["table"] == "speed" and record["pairs"] == pairs]
    rows = []
    for name, label in (("fast_align", "fast_align"), ("eflomal", "eflomal"), ("cepts align", OURS)):
        best = min(fmean(record["aer"]) for record in accuracy if record["aligner"] == name)
        rows.append(_row(label, pairs, best, _job(speed, name)))
    (few,) = {record["pairs"] for record in fertility if record["aligner"].startswith("Thot")}
    thot, ours = (
        _only(fertility, lambda one, name=name: one["aligner"] == name and one["pairs"] == few)
        for name in ("Thot, Model 4", "cepts, HMM")
    )
    rows.append(_row("Thot, Model 4", few, min(map(fmean, thot["aer"].values())), thot))
    # The job that was timed, which ends in the intersection.
    rows.append(_row("`cepts align --model hmm --combine intersection`", few, fmean(ours["aer"]["intersection"]), ours))
    for record in read_records(results / "published.jsonl"):
        rows.append((f"{record['aligner']} (published)", "-", f"{100 * record['aer']:.1f}", "-", "-"))
    return report.markdown(COLUMNS, rows)


@dataclass(frozen=True, slots=True)
class Compared:
    """A row of `parts`: a figure of ours and one of another system, and the records that they come from."""

    page: str
    measure: str
    other: str
    figures: tuple[str, str]
    records: tuple[Record, ...]


def parts(results: Path = RESULTS) -> str:
    """The main figures of every part of cepts, each beside the figure that it is compared with."""
    rows = [row for make in (_words, _cepts, _spaces, _phrases, _lm) for row in make(results)]
    cells = [(f"[{row.page}]({row.page}.md)", row.measure, row.other, *row.figures) for row in rows]
    days = sorted({record["date"][:10] for row in rows for record in row.records})
    table = report.markdown(("part", "measure", "compared with", "cepts", "other"), cells, text_columns=3)
    return f"{table}\n\nFrom results measured on {', '.join(days)}."


def _words(results: Path) -> Iterator[Compared]:
    words = [record for record in newest(read_records(results / "words.jsonl")) if record.get("text") == "small"]
    accuracy, speed = (_all(words, table=table) for table in ("accuracy", "speed"))
    both = tuple(min(_all(accuracy, aligner=name), key=_mean_aer) for name in ("cepts align", "eflomal"))
    text = f"{both[0]['pairs']:,} pairs of the Hansards"
    yield _compared("words", f"AER in %, {text} (lower is better)", "eflomal", both, lambda one: 100 * _mean_aer(one))
    both = tuple(_job(speed, name) for name in ("cepts align", "eflomal"))
    yield _compared("words", f"user CPU in s, {text}", "eflomal", both, lambda one: median(one["user_seconds"]))


def _cepts(results: Path) -> Iterator[Compared]:
    records = _all(read_records(results / "onmf.jsonl"), table="extractors", text="large", model=DEFAULT)
    heuristics = [_last(records, links=name) for name in HEURISTICS]
    ours = _last(records, links="ONMF, sure links")
    best = min(heuristics, key=lambda one: one["scores"]["aer"])
    measure = f"AER in %, {ours['pairs']:,} pairs, sure links of cepts (lower is better)"
    other = "best heuristic, {}".format
    yield _compared("cepts", measure, other(best["links"]), (ours, best), lambda one: 100 * one["scores"]["aer"])
    ours = _last(records, links="ONMF, all links")
    best = max(heuristics, key=lambda one: one["scores"]["possible_f1"])
    measure = "the same pairs, all links of cepts: F1 in % on possible links (higher is better)"
    yield _compared(
        "cepts", measure, other(best["links"]), (ours, best), lambda one: 100 * one["scores"]["possible_f1"]
    )


def _spaces(results: Path) -> Iterator[Compared]:
    records = _all(read_records(results / "spaces.jsonl"), table="translation", row="en-fr")
    both = tuple(_last(records, fit=fit) for fit in ("IBFA", "SVD"))
    measure = "P@1 in %, English to French by CSLS (higher is better)"
    yield _compared("spaces", measure, "orthogonal map (SVD)", both, lambda one: one["csls"]["precision_at_1"])
    records = read_records(results / "retrieval.jsonl")
    both = tuple(_last(records, search=name) for name in ("cepts, CSLS", "faiss, exact search and one more pass"))
    measure = f"wall time in s, CSLS search for {both[0]['queries']:,} words among {both[0]['targets']:,}"
    yield _compared("spaces", measure, "two exact searches in faiss", both, lambda one: median(one["search_seconds"]))


def _phrases(results: Path) -> Iterator[Compared]:
    records = _all(read_records(results / "phrases.jsonl"), table="alignment", columns="cepts")
    for corpus, kind in (("msr06", "token"), ("edinburghpp_phrasal", "phrase")):
        ours = _last(records, corpus=corpus, aligner=f"{kind}, agreement")
        published = PUBLISHED[f"jacana, {kind}"][corpus][0]
        measure = f"F1 in %, test pairs of {CORPORA[corpus]}, {kind} aligner (higher is better)"
        figures = f"{100 * ours['all']['f1']:.1f}", f"{published:.1f}"
        yield Compared("phrases", measure, f"jacana's {kind} aligner (published)", figures, (ours,))


def _lm(results: Path) -> Iterator[Compared]:
    records = read_records(results / "lm.jsonl")
    row = "two caches, of both texts, running history, rescaling"
    ours = _last(records, table="adaptation", text="textbook", row=row)
    figures = f"{ours['perplexity']:.1f}", f"{ours['background']:.1f}"
    yield Compared("lm", "perplexity of a held-out textbook (lower is better)", "its n-gram model", figures, (ours,))
    passes = _all(records, table="factorisation", matrix="documents", hidden=100)
    both = tuple(_last(passes, method=method) for method in ("cepts", "sklearn"))
    measure = "s for one pass of NMF with 100 factors"
    yield _compared("lm", measure, "scikit-learn", both, lambda one: median(one["seconds_a_pass"]), digits=3)


def _compared(
    page: str, measure: str, other: str, both: tuple[Record, ...], figure: Callable[[Record], float], digits: int = 1
) -> Compared:
    ours, theirs = (f"{figure(record):.{digits}f}" for record in both)
    return Compared(page, measure, other, (ours, theirs), both)


def _mean_aer(record: Record) -> float:
    return fmean(record["aer"])


def read_records(path: Path) -> list[Record]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def newest(records: Sequence[Record]) -> list[Record]:
    """Of records for the same table and row, which differ in when they were made, the last."""
    found = {}
    for record in records:
        found[tuple(record.get(name) for name in ("table", "text", "pairs", "aligner", "job", "links"))] = record
    return list(found.values())


def _job(speed: Sequence[Record], name: str) -> Record:
    """The job of an aligner as it comes: with its default model and as many threads as there are processors."""
    jobs = [record for record in speed if record["job"] == name or record["job"].startswith(f"{name}, ")]
    return min(jobs, key=lambda record: median(record["wall_seconds"]))


def _only(records: Sequence[Record], wanted: Callable[[Record], bool]) -> Record:
    (record,) = filter(wanted, records)
    return record


def _all(records: Sequence[Record], **wanted: object) -> list[Record]:
    """The records with these values."""
    return [record for record in records if all(record.get(name) == value for name, value in wanted.items())]


def _last(records: Sequence[Record], **wanted: object) -> Record:
    """The newest record with these values."""
    return _all(records, **wanted)[-1]


def _row(label: str, pairs: int, aer: float, cost: Record) -> tuple[str, ...]:
    seconds, memory = median(cost["user_seconds"]), max(cost["peak_rss_mib"])
    return label, f"{pairs:,}", f"{100 * aer:.1f}", f"{seconds:.1f}", f"{memory:.0f}"


# Title of a table -> its page, and what makes it.
TABLES: dict[str, tuple[Path, Callable[[], str]]] = {
    TITLE: (ROOT / "README.md", summary),
    "results summary": (ROOT / "docs" / "results" / "index.md", parts),
}


def main() -> None:
    """Print the tables, or put them into their pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the tables into README.md and docs/results/index.md")
    options = parser.parse_args()
    for title, (page, make) in TABLES.items():
        if options.write:
            report.replace_tables(page, {title: make()})
        else:
            print(f"{title}\n\n{make()}\n")


if __name__ == "__main__":
    main()
