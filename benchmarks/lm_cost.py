"""Cost of language models: n-grams, the factorisation compared with scikit-learn, and scoring."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import save_npz

import peers
import report
from cepts.io import read_arpa, write_arpa
from cepts.lm import Cache, HistoryOptions, KneserNey
from lm_data import LMData, varied
from report import Table

__all__ = ["factorisation", "ngrams", "scoring"]

REPEAT = 3
PUBLISHED = {3: 148.3, 5: 141.2}
JOB = Path(__file__).with_name("nmf_job.py")


def seconds_of(run: Callable[[], object]) -> list[float]:
    """Wall seconds of several runs, after one that compiles."""
    run()
    taken = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return taken


def ngrams(data: LMData) -> Table:
    """Perplexity on the Penn Treebank beside the published, and seconds to train, write and read."""
    rows, records = [], []
    texts = {"Penn Treebank": data.treebank("train"), "textbook": data.documents("openstax_biology").text}
    for (name, text), order in [(item, order) for item in texts.items() for order in (3, 5)]:
        taken = seconds_of(lambda text=text, order=order: KneserNey(order=order).fit(text))
        fitted = KneserNey(order=order).fit(text)
        model = fitted.ngrams_
        cells = [f"{name}, order {order}", f"{len(text.ids):,}", f"{len(model):,}", report.spread(taken, 2)]
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "model.arpa"
            writing = seconds_of(lambda model=model, path=path: write_arpa(model, path))
            reading = seconds_of(lambda path=path: read_arpa(path))
        cells += [report.spread(writing, 2), report.spread(reading, 2)]
        record = {"text": name, "order": order, "ngrams": len(model), "train_seconds": taken}
        if name == "Penn Treebank":
            found = fitted.perplexity(data.treebank("test"))
            cells += [f"{found:.2f}", f"{PUBLISHED[order]:.1f}"]
            record["perplexity"] = round(found, 3)
        else:
            cells += ["", ""]
        rows.append(cells)
        records.append({**record, "write_seconds": writing, "read_seconds": reading})
    columns = ["text", "words", "n-grams", "train s", "write s", "read s", "test perplexity", "published"]
    return Table(report.markdown(columns, rows), records, REPEAT)


def factorisation(data: LMData) -> Table:
    """Seconds a pass and divergence of the word-document matrix, beside scikit-learn; and of the symmetric form."""
    from cepts.lm.counts import document_counts, window_counts
    from cepts.lm.fit import in_vocabulary

    model = data.model()
    text = in_vocabulary(data.text("textbook", "train"), model.vocabulary)
    assert model.hidden is not None
    numbers = model.hidden.numbers
    kept = np.zeros(len(model.vocabulary), dtype=np.bool_)
    kept[numbers] = True
    documents = document_counts(text, kept)[numbers]
    documents = documents[:, np.flatnonzero(documents.sum(axis=0))]
    windows = window_counts(text, kept, stop_first=True)[numbers][:, numbers]
    rows, records = [], []
    with tempfile.TemporaryDirectory() as directory:
        save_npz(Path(directory) / "documents.npz", documents.tocsr())
        save_npz(Path(directory) / "windows.npz", windows.tocsr())
        jobs = [("documents", hidden, passes) for hidden, passes in ((100, 50), (500, 10))]
        for matrix, hidden, passes in [*jobs, ("windows", 500, 10)]:
            results: dict[str, list[dict[str, float]]] = {}
            names = ["cepts", "joint"] if matrix == "documents" else ["symmetric"]
            for turn in range(REPEAT):
                for name in [*names, *(["sklearn"] if matrix == "documents" and turn < 1 + (hidden < 500) else [])]:
                    report.say(f"  {matrix}, {hidden}, {name}, turn {turn + 1}")
                    results.setdefault(name, []).append(_job(Path(directory), matrix, name, hidden, passes))
            base = [run["seconds"] for run in results.get("sklearn", [])]
            for name, runs in results.items():
                taken = [run["seconds"] for run in runs]
                ratio = f"{np.median(base) / np.median(taken):.1f}" if base else ""
                label = {"cepts": "cepts, two blocks", "joint": "cepts, joint", "symmetric": "cepts, symmetric"}
                shape = documents if matrix == "documents" else windows
                what = f"{matrix}, {shape.shape[0]:,} x {shape.shape[1]:,}, {shape.nnz:,} entries"
                cells = [what, f"{hidden}", label.get(name, "scikit-learn, mu"), f"{passes}"]
                rows.append([*cells, report.spread(taken, 3), f"{runs[0]['divergence']:,.0f}", ratio])
                about = {"matrix": matrix, "hidden": hidden, "method": name, "passes": passes}
                records.append({**about, "seconds_a_pass": taken, "divergence": runs[0]["divergence"]})
    columns = ["matrix", "factors", "method", "passes", "s a pass", "divergence", "scikit-learn / it"]
    return Table(report.markdown(columns, rows, text_columns=3), records, REPEAT)


def _job(directory: Path, matrix: str, method: str, hidden: int, passes: int) -> dict[str, float]:
    """Factorise in a process of its own."""
    python = str(peers.environment() / "python") if method == "sklearn" else sys.executable
    command = [python, str(JOB), str(directory / f"{matrix}.npz"), method, str(hidden), str(passes)]
    peers.measure(command, workdir=directory, name=method)
    found: dict[str, float] = json.loads((directory / f"{method}.log").read_text().splitlines()[-1])
    return found


def scoring(data: LMData) -> Table:
    """Words a second of the adapted model on the held-out textbook."""
    model = data.model()
    text = data.text("textbook", "test").text
    words = len(text.ids) + len(text)
    two = (Cache(0, 0.98), Cache(0, 0.999))
    kinds = {
        "last 20 words, one step": {"history": HistoryOptions(history=20, fold_in=1), "exponent": 0.0},
        "last 40 words, fold-in of 5 steps": {"history": HistoryOptions(history=40, fold_in=5), "exponent": 0.0},
        "running history": {"exponent": 0.0},
        "running history, rescaling": {},
        "running history, rescaling, two caches": {"caches": two},
    }
    rows, records = [], []
    for label, options in kinds.items():
        changed = varied(model, **options)
        for threads in (1, 2):
            taken = seconds_of(
                lambda changed=changed, threads=threads: changed.score(text, changed.memory(), threads=threads)
            )
            rates = [words / each for each in taken]
            rows.append([label, str(threads), report.spread(rates, 0)])
            records.append({"model": label, "threads": threads, "words_a_second": rates})
    return Table(report.markdown(["model, 500 hidden documents", "threads", "words/s"], rows), records, REPEAT)
