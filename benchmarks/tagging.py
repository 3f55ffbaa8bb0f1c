"""Accuracy and speed of the included English tagger and chunker on the CoNLL-2000 test text.

Chunks are scored as conlleval does: a chunk is right if its type and both its ends are. Chunks with predicted tags are
those that a user gets. The text is also tagged in lower case, because some corpora are lower-cased.

    tagging.py --data DIR [--repeat N] [--json-lines FILE] [--write PAGES]
"""

from __future__ import annotations

import argparse
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from statistics import median

import cepts
import report
from cepts.phrases.lemmas import Lemmatiser
from cepts.phrases.tagger import Tagger

ENGLISH = Path(cepts.__file__).parent / "phrases" / "english"
RESULTS = Path(__file__).resolve().parent / "results" / "tagging.jsonl"
# Lengths of the sentences that are timed, in tokens.
LENGTHS = range(28, 33)

Column = Sequence[Sequence[str]]
Chunk = tuple[int, int, int, str]


def read_test(data: Path) -> list[list[tuple[str, str, str]]]:
    """The sentences of the test text: word, tag and chunk label of each token."""
    path = data / "mono" / "resources" / "nltk" / "conll2000.zip"
    if not path.is_file():
        sys.exit(f"There is no file {path}; say by --data where the data is.")
    with zipfile.ZipFile(path) as archive, archive.open("conll2000/test.txt") as file:
        sentences: list[list[tuple[str, str, str]]] = [[]]
        for line in file.read().decode("ascii").splitlines():
            if line.strip():
                word, tag, chunk = line.split()
                sentences[-1].append((word, tag, chunk))
            elif sentences[-1]:
                sentences.append([])
    return [sentence for sentence in sentences if sentence]


def chunks_of(labels: Column) -> set[Chunk]:
    """Sentence, start, stop and type of each chunk; a chunk begins at B-X, and at an I-X that continues none."""
    found = set()
    for number, sentence in enumerate(labels):
        start, kind = 0, ""
        for place, label in enumerate([*sentence, "O"]):
            if kind and label != f"I-{kind}":
                found.add((number, start, place, kind))
                kind = ""
            if label != "O" and not kind:
                start, kind = place, label[2:]
    return found


def chunk_scores(gold: Column, found: Column) -> dict[str, float]:
    """Precision, recall and F1 of chunks, in %."""
    right, said = chunks_of(gold), chunks_of(found)
    both = len(right & said)
    return {
        "precision": 100 * both / max(len(said), 1),
        "recall": 100 * both / max(len(right), 1),
        "f1": 200 * both / max(len(right) + len(said), 1),
    }


def accuracy(gold: Column, found: Column) -> float:
    """Share of words whose label is right, in %."""
    pairs = list(zip(chain.from_iterable(gold), chain.from_iterable(found), strict=True))
    return 100 * sum(one == other for one, other in pairs) / len(pairs)


def milliseconds(job: Callable[[], object], times: int, repeat: int) -> float:
    """Milliseconds of one of the `times` things that a job does; the median of `repeat` runs."""
    taken = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        job()
        taken.append(1000 * (time.perf_counter() - start) / times)
    return median(taken[1:])  # the first may compile


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="The shipped tagger and chunker: accuracy and speed.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR", help="has mono/resources/")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each timed job")
    parser.add_argument("--json-lines", type=Path, default=RESULTS, metavar="FILE", help="append one line a row")
    parser.add_argument("--write", type=Path, metavar="PAGES", help=report.WRITE_HELP)
    options = parser.parse_args()
    if options.write:
        report.check_pages(options.write, ["tagging"])
    sentences = read_test(options.data)
    words, tags, chunks = ([[token[column] for token in sentence] for sentence in sentences] for column in range(3))
    lower = [[word.lower() for word in sentence] for sentence in words]
    tagger, chunker = (Tagger.load(ENGLISH / f"{name}.safetensors") for name in ("tagger", "chunker"))

    records: list[dict[str, object]] = []
    for name, text in (("as it is", words), ("lower case", lower)):
        found = tagger.predict(text)
        scores = chunk_scores(chunks, chunker.predict(text, found))
        records.append({"text": name, "tags": "predicted", "tag_accuracy": accuracy(tags, found), **scores})
    scores = chunk_scores(chunks, chunker.predict(words, tags))
    records.append({"text": "as it is", "tags": "of the corpus", "tag_accuracy": 100.0, **scores})
    names = ("tag_accuracy", "precision", "recall", "f1")
    rows = [
        [str(record["text"]), str(record["tags"]), *(f"{record[name]:.2f}" for name in names)] for record in records
    ]
    columns = ["text", "tags", "tags right", "chunks: P", "R", "F1"]
    right = report.markdown(columns, rows, text_columns=2)

    timed = [sentence for sentence in words if len(sentence) in LENGTHS]
    lemmatiser = Lemmatiser.load(ENGLISH / "lemmas.safetensors")
    given = tagger.predict(timed)
    jobs: dict[str, Callable[[], object]] = {
        "tags and chunks, all sentences at once": lambda: chunker.predict(timed, tagger.predict(timed)),
        "tags and chunks, one sentence at a time": lambda: [
            chunker.predict([sentence], tagger.predict([sentence])) for sentence in timed
        ],
        "lemmas": lambda: [lemmatiser.lemmas(*sentence) for sentence in zip(timed, given, strict=True)],
    }
    costs = [(name, milliseconds(job, len(timed), options.repeat)) for name, job in jobs.items()]
    sizes = f"{len(timed)} sentences of {LENGTHS[0]} to {LENGTHS[-1]} words"
    rows = [[name, f"{cost:.3f}"] for name, cost in costs]
    fast = report.markdown([sizes, "ms a sentence"], rows)
    text = f"{right}\n\n{fast}\n\n{report.provenance()} Cost: median of {options.repeat} runs."
    print(text)
    if options.write:
        report.replace_tables(options.write, {"tagging": text})
    records += [{"job": name, "sentences": len(timed), "milliseconds": cost} for name, cost in costs]
    about = report.circumstances()
    report.append_lines(options.json_lines, [{**about, **record} for record in records])


if __name__ == "__main__":
    main()
