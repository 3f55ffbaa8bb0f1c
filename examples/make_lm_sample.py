"""Make the texts and the n-best lists of examples/lm.

    python examples/make_lm_sample.py --data DIRECTORY

DIRECTORY holds `lm/openstax_biology`: words.lower.txt.gz (a sentence a line, a blank line after each section) and
docs.tsv. Of four chapters on cell division and heredity, one module becomes `biology.dev.txt`, one `biology.test.txt`
and the others `biology.txt`.

The lists imitate a recogniser. Each word of a sentence of the test text competes with words of the training text with a
similar spelling; the score of a word is minus the letters by which it differs from the true one, plus noise, and a list
has the hypotheses with the best sums. So there are only substitutions, no insertions or deletions.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import heapq
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from cepts.evaluate.word_errors import closest_hypothesis, word_errors

HERE = Path(__file__).resolve().parent
CHAPTERS = (
    "Cell Reproduction",
    "Meiosis and Sexual Reproduction",
    r"Mendel\'s Experiments and Heredity",
    "Modern Understandings of Inheritance",
)
DEV, TEST = 51, 62  # modules in the order of the book, from 0: control of the cell cycle, chromosomal theory
LEFT_OUT = (7, 17)  # held out by the benchmarks: modules with these numbers modulo 20
SENTENCES, SHORTEST, LONGEST = 40, 8, 25
HYPOTHESES, CONFUSED = 20, 4  # hypotheses in a list, words with which a word competes
FARTHEST = 2  # letters
NOISE, SEED = 0.7, 0

Scored = tuple[float, tuple[str, ...]]


def read_modules(directory: Path) -> list[tuple[str, list[str]]]:
    """Chapter and sections of each module, in the order of the book; a section is its lines."""
    text = gzip.decompress((directory / "words.lower.txt.gz").read_bytes()).decode()
    sections = [section for section in text.split("\n\n") if section.strip()]
    with (directory / "docs.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if len(rows) != len(sections):
        sys.exit(f"{directory}: docs.tsv has {len(rows):,} sections but words.lower.txt.gz {len(sections):,}.")
    modules: dict[str, tuple[str, list[str]]] = {}
    for row, section in zip(rows, sections, strict=True):
        modules.setdefault(row["module"], (row["chapter"], []))[1].append(section.strip("\n"))
    return list(modules.values())


def confusions(word: str, vocabulary: list[str]) -> list[tuple[str, int]]:
    """The words of `vocabulary`, most frequent first, with the spelling most similar to `word`, and their distances."""
    letters = word_errors([word] * len(vocabulary), vocabulary).counts[:, :3].sum(axis=1)
    near = np.flatnonzero((letters > 0) & (letters <= FARTHEST) & (letters < len(word)))
    chosen = near[np.argsort(letters[near], kind="stable")][:CONFUSED]
    return [(vocabulary[place], int(letters[place])) for place in chosen]


def best_hypotheses(slots: list[list[tuple[float, str]]]) -> list[Scored]:
    """The hypotheses with the best sums, one entry of each slot, best first."""
    kept: list[Scored] = [(0.0, ())]
    for slot in slots:
        longer = [(score + more, (*words, word)) for score, words in kept for more, word in slot]
        kept = heapq.nlargest(HYPOTHESES, longer)
    return kept


def n_best_lists(sentences: list[list[str]], vocabulary: list[str]) -> list[list[Scored]]:
    """A list for each sentence."""
    rng = np.random.default_rng(SEED)
    near: dict[str, list[tuple[str, int]]] = {}
    lists = []
    for sentence in sentences:
        slots = []
        for word in sentence:
            if word not in near:
                near[word] = confusions(word, vocabulary) if word.isalpha() else []
            candidates = [(word, 0), *near[word]]
            noise = rng.normal(0, NOISE, len(candidates))
            slots.append([(more - far, other) for (other, far), more in zip(candidates, noise.tolist(), strict=True)])
        lists.append(best_hypotheses(slots))
    return lists


def main() -> None:
    """Write the three texts and the lists; say how large they are, and how wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="directory that holds lm")
    parser.add_argument("--output", type=Path, default=HERE / "lm", help="where the files go")
    arguments = parser.parse_args()
    directory = arguments.data / "lm" / "openstax_biology"
    if not (directory / "words.lower.txt.gz").is_file():
        sys.exit(f"{directory} is not there; --data must name the directory that holds lm/openstax_biology.")
    parts: dict[str, list[str]] = {"biology": [], "biology.dev": [], "biology.test": []}
    for number, (chapter, sections) in enumerate(read_modules(directory)):
        if chapter in CHAPTERS and number % 20 not in LEFT_OUT:
            part = {DEV: "biology.dev", TEST: "biology.test"}.get(number, "biology")
            parts[part] += sections
    for name, sections in parts.items():
        (arguments.output / f"{name}.txt").write_text("\n\n".join(sections) + "\n", "utf-8")
        words = sum(len(section.split()) for section in sections)
        print(f"{name}: {len(sections)} documents, {words:,} words.", file=sys.stderr)

    counts = Counter(word for section in parts["biology"] for word in section.split())
    vocabulary = [word for word, count in counts.most_common() if count > 1 and word.isalpha()]
    tested = [line.split() for section in parts["biology.test"] for line in section.split("\n")]
    sentences = [words for words in tested if SHORTEST <= len(words) <= LONGEST][:SENTENCES]
    lists = n_best_lists(sentences, vocabulary)
    with (arguments.output / "recognised.tsv").open("w", encoding="utf-8", newline="\n") as file:
        file.write("id\tscore\ttext\treference\n")
        for number, (sentence, hypotheses) in enumerate(zip(sentences, lists, strict=True), start=1):
            for rank, (score, words) in enumerate(hypotheses):
                reference = "" if rank else " ".join(sentence)  # once an utterance is enough
                file.write(f"u{number:02}\t{score:.4f}\t{' '.join(words)}\t{reference}\n")
    chosen = [[words for _, words in hypotheses] for hypotheses in lists]
    first = word_errors(sentences, [hypotheses[0] for hypotheses in chosen]).wer
    closest = [found[closest_hypothesis(words, found)] for words, found in zip(sentences, chosen, strict=True)]
    least = word_errors(sentences, closest).wer
    print(f"{len(lists)} lists: word error rate {first:.1f} %, at best {least:.1f} %.", file=sys.stderr)


if __name__ == "__main__":
    main()
