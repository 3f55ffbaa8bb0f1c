"""Trains the English tagger and chunker that the package ships.

Tags are learnt from the CoNLL-2000 training text and MASC, chunks from the CoNLL-2000 training text with tags that were
predicted by taggers that had not seen the sentence (each fifth by one trained on the rest), because the chunker will
get such tags. Some sentences are repeated in lower case, so that neither model relies on capitals alone.
The same data give the same bytes.

    make_taggers.py --data DIR [--output DIR]
"""

from __future__ import annotations

import argparse
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

from cepts.phrases.tagger import TAG_TEMPLATES, Tagger

OUTPUT = Path(__file__).resolve().parent.parent / "src" / "cepts" / "phrases" / "english"
FOLDS = 5
# Every n-th sentence is repeated in lower case.
LOWER_TAGGED = 2
LOWER_CHUNKED = 3
# Penn tags that MASC spells in its own way; sentences with any other tag that CoNLL-2000 does not know are dropped.
SPELLINGS = {"-": ":", "--": ":", "...": ":", "..": ":", '"': "''", "'": "''"}
# Penn tags that MASC has and the CoNLL-2000 training text has not.
MORE_TAGS = {"LS"}

Column = list[list[str]]


def read_conll(archive: Path, part: str) -> tuple[Column, Column, Column]:
    """Words, tags and chunks of the parts train or test."""
    with zipfile.ZipFile(archive) as files:
        text = files.read(f"conll2000/{part}.txt").decode("ascii")
    blocks = [[line.split() for line in block.splitlines()] for block in text.split("\n\n") if block.strip()]
    words, tags, chunks = ([[row[place] for row in block] for block in blocks] for place in range(3))
    return words, tags, chunks


def read_masc(archive: Path, known: set[str]) -> tuple[Column, Column]:
    """Words and tags of the sentences of all texts whose tags are all `known`."""
    words: Column = []
    tags: Column = []
    with zipfile.ZipFile(archive) as files:
        for name in sorted(name for name in files.namelist() if name.count("/") == 2 and name.endswith(".txt")):
            for line in files.read(name).decode("utf-8", "replace").split("\n"):
                pairs = [token.rpartition("_") for token in line.split()]
                forms = [form for form, _, _ in pairs]
                column = [SPELLINGS.get(tag, tag) for _, _, tag in pairs]
                if forms and all(forms) and known.issuperset(column):
                    words.append(forms)
                    tags.append(column)
    return words, tags


def lowered(sentences: Sequence[Sequence[str]]) -> Column:
    """The sentences in lower case."""
    return [[word.lower() for word in sentence] for sentence in sentences]


def make_tagger(words: Column, tags: Column) -> Tagger:
    """Learn tags from sentences and from lower-cased copies of some of them."""
    return Tagger(iterations=10, min_count=2, size=600_000).fit(
        words + lowered(words[::LOWER_TAGGED]), tags + tags[::LOWER_TAGGED]
    )


def make_chunker(words: Column, tags: Column, chunks: Column, masc: tuple[Column, Column]) -> Tagger:
    """Learn chunks from sentences with predicted tags and from lower-cased copies of some of them."""
    predicted: Column = [[] for _ in words]
    predicted_lower: Column = [[] for _ in words]
    for fold in range(FOLDS):
        say(f"tags of part {fold + 1} of {FOLDS}")
        rest = [place for place in range(len(words)) if place % FOLDS != fold]
        tagger = make_tagger([words[place] for place in rest] + masc[0], [tags[place] for place in rest] + masc[1])
        part = words[fold::FOLDS]
        predicted[fold::FOLDS] = map(list, tagger.predict(part))
        predicted_lower[fold::FOLDS] = map(list, tagger.predict(lowered(part)))
    say("chunker")
    return Tagger(templates=TAG_TEMPLATES, bio=True, iterations=10, min_count=2, size=300_000).fit(
        words + lowered(words[::LOWER_CHUNKED]),
        chunks + chunks[::LOWER_CHUNKED],
        predicted + predicted_lower[::LOWER_CHUNKED],
    )


def say(text: str) -> None:
    """Tell what is being done, and when it began."""
    print(f"{time.perf_counter() - START:6.1f} s  {text}", file=sys.stderr, flush=True)


START = time.perf_counter()


def main() -> None:
    """Train both and write them."""
    parser = argparse.ArgumentParser(description="Trains the English tagger and chunker that the package ships.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR", help="has mono/resources/")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="DIR", help="where the files go")
    options = parser.parse_args()
    resources = options.data / "mono" / "resources"
    conll, masc = resources / "nltk" / "conll2000.zip", resources / "masc" / "masc_tagged.zip"
    for path in (conll, masc):
        if not path.is_file():
            sys.exit(f"There is no file {path}; say by --data where the data is.")
    words, tags, chunks = read_conll(conll, "train")
    more = read_masc(masc, {tag for column in tags for tag in column} | MORE_TAGS)
    say(f"tagger, from {len(words):,} sentences of CoNLL-2000 and {len(more[0]):,} of MASC")
    options.output.mkdir(parents=True, exist_ok=True)
    make_tagger(words + more[0], tags + more[1]).save(options.output / "tagger.safetensors")
    make_chunker(words, tags, chunks, more).save(options.output / "chunker.safetensors")
    for name in ("tagger", "chunker"):
        path = options.output / f"{name}.safetensors"
        say(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
