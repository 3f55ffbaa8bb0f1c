"""Summaries of the results that were kept: the table of README and that of docs/results/index.md.

Nothing is measured here. The other scripts keep their figures in `results/`, and the newest of them count;
`results/published.jsonl` has figures of others, each with its source.

    summary.py [--write]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import report
from phrases_accuracy import PUBLISHED
from phrases_data import CORPORA

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
    rows.append(_row("`cepts align --combine intersection`", few, fmean(ours["aer"]["intersection"]), ours))
    for record in read_records(results / "published.jsonl"):
        rows.append((f"{record['aligner']} (published)", "-", f"{100 * record['aer']:.1f}", "-", "-"))
    return report.markdown(COLUMNS, rows)


def parts(results: Path = RESULTS) -> str:
    """The main figures of every part of cepts, each beside the figure that it is compared with."""
    rows: list[tuple[str, str, str, str]] = []
    dates: set[str] = set()

    def add(page: str, measure: str, ours: str, other: str, *used: Record) -> None:
        rows.append((f"[{page}]({page}.md)", measure, ours, other))
        dates.update(record["date"][:10] for record in used)

    words = read_records(results / "words.jsonl")
    accuracy = [record for record in newest(words) if record["table"] == "accuracy" and record["text"] == "small"]
    speed = [record for record in newest(words) if record["table"] == "speed" and record["text"] == "small"]
    ours = _only(accuracy, lambda one: one["aligner"] == "cepts align")
    peer = min(_all(accuracy, aligner="eflomal"), key=lambda one: fmean(one["aer"]))
    text = f"{ours['pairs']:,} pairs"
    add("words", f"AER in %, {text}", _percent(ours["aer"]), f"{_percent(peer['aer'])} (eflomal)", ours, peer)
    ours, peer = _job(speed, "cepts align"), _job(speed, "eflomal")
    seconds = [f"{median(record['user_seconds']):.1f}" for record in (ours, peer)]
    add("words", f"user CPU in s, {text}", seconds[0], f"{seconds[1]} (eflomal)", ours, peer)

    onmf = read_records(results / "onmf.jsonl")
    for links, score, title, best in (
        ("ONMF, sure links", "aer", "AER in %, sure links of cepts", min),
        ("ONMF, all links", "possible_f1", "F1 in % on possible links, all links of cepts (higher is better)", max),
    ):
        same = {"table": "extractors", "text": "large", "model": "HMM"}
        ours = _last(onmf, **same, links=links)
        others = [_last(onmf, **same, links=name) for name in HEURISTICS]
        peer = best(others, key=lambda one, score=score: one["scores"][score])
        figures = [_percent([record["scores"][score]]) for record in (ours, peer)]
        add("cepts", title, figures[0], f"{figures[1]} ({peer['links']} of the same model)", ours, peer)

    spaces = read_records(results / "spaces.jsonl")
    ours, peer = (_last(spaces, table="translation", row="en-fr", fit=fit) for fit in ("IBFA", "SVD"))
    figures = [f"{record['csls']['precision_at_1']:.1f}" for record in (ours, peer)]
    measure = "P@1 in %, English to French by CSLS (higher is better)"
    add("spaces", measure, figures[0], f"{figures[1]} (orthogonal map by SVD)", ours, peer)
    retrieval = read_records(results / "retrieval.jsonl")
    ours, peer = (
        _last(retrieval, search=name) for name in ("cepts, CSLS", "faiss, exact search and one more pass")
    )
    figures = [f"{median(record['search_seconds']):.1f}" for record in (ours, peer)]
    measure = f"wall time in s, CSLS search for {ours['queries']:,} words among {ours['targets']:,}"
    add("spaces", measure, figures[0], f"{figures[1]} (the two exact searches in faiss)", ours, peer)

    phrases = read_records(results / "phrases.jsonl")
    for corpus, kind in (("msr06", "token"), ("edinburghpp_phrasal", "phrase")):
        ours = _last(phrases, table="alignment", corpus=corpus, aligner=f"{kind}, agreement", columns="cepts")
        other = f"{PUBLISHED[f'jacana, {kind}'][corpus][0]:.1f} (jacana's {kind} aligner, published)"
        measure = f"F1 in %, {CORPORA[corpus]}, {kind} aligner (higher is better)"
        add("phrases", measure, _percent([ours["all"]["f1"]]), other, ours)

    lm = read_records(results / "lm.jsonl")
    best_row = "two caches, of both texts, running history, rescaling"
    ours = _last(lm, table="adaptation", text="textbook", row=best_row)
    measure = "perplexity of a held-out textbook, all components"
    add("lm", measure, f"{ours['perplexity']:.1f}", f"{ours['background']:.1f} (its n-gram background)", ours)
    same = {"table": "factorisation", "matrix": "documents", "hidden": 100}
    ours, peer = (_last(lm, **same, method=method) for method in ("cepts", "sklearn"))
    figures = [f"{median(record['seconds_a_pass']):.3f}" for record in (ours, peer)]
    add("lm", "s for one pass of NMF, 100 factors", figures[0], f"{figures[1]} (scikit-learn)", ours, peer)

    days = " and ".join(sorted(dates))
    table = report.markdown(("page", "measure (lower is better unless noted)", "cepts", "compared with"), rows, text_columns=2)
    return f"{table}\n\nMeasured on {days}; each table says with which version."


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


def _percent(shares: Sequence[float]) -> str:
    return f"{100 * fmean(shares):.1f}"


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
