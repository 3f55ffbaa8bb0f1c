"""Makes the list of English dictionary forms that the package ships, from WordNet's indexes and exception lists.

    make_lemmas.py --wordnet DIR [--output FILE]

The directory holds WordNet's own files index.noun, noun.exc and so on (Debian: package wordnet-base).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cepts.phrases.lemmas import Lemmatiser

OUTPUT = Path(__file__).resolve().parent.parent / "src" / "cepts" / "phrases" / "english" / "lemmas.safetensors"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
# What tokenisers cut off, as the Penn Treebank cuts; WordNet has no such forms.
CLITICS = {
    "v": {
        "'s": "be",
        "'m": "be",
        "'re": "be",
        "'ve": "have",
        "'d": "would",
        "'ll": "will",
        "ca": "can",
        "wo": "will",
        "sha": "shall",
    },
    "r": {"n't": "not"},
    "o": {"an": "a"},
}
# Plurals that a rule would take apart into another word.
INVARIANT = ("species",)


def read_lists(wordnet: Path) -> Lemmatiser:
    """Single words of the indexes, and their irregular forms."""
    words: dict[str, str] = {}
    exceptions: dict[tuple[str, str], str] = {}
    for part, name in FILES.items():
        for line in (wordnet / f"index.{name}").read_text(encoding="utf-8").splitlines():
            word = line.partition(" ")[0]
            # Lines of the licence begin with a blank, and words of several parts are joined by underscores.
            if word and "_" not in word:
                words[word] = words.get(word, "") + part
        for line in (wordnet / f"{name}.exc").read_text(encoding="utf-8").splitlines():
            form, lemma, *_ = line.split()
            if "_" not in form:
                exceptions.setdefault((part, form), lemma)
        exceptions |= {(part, form): lemma for form, lemma in CLITICS.get(part, {}).items()}
    exceptions |= {("n", form): form for form in INVARIANT}
    exceptions |= {("o", form): lemma for form, lemma in CLITICS["o"].items()}
    return Lemmatiser(words, exceptions)


def main() -> None:
    """Read WordNet and write the lists."""
    parser = argparse.ArgumentParser(description="Makes the list of English dictionary forms that the package ships.")
    parser.add_argument("--wordnet", type=Path, required=True, metavar="DIR", help="has index.noun, noun.exc, ...")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FILE", help="where the list goes")
    options = parser.parse_args()
    for name in FILES.values():
        for path in (options.wordnet / f"index.{name}", options.wordnet / f"{name}.exc"):
            if not path.is_file():
                sys.exit(f"There is no file {path}; say by --wordnet where WordNet's files are.")
    lists = read_lists(options.wordnet)
    lists.save(options.output)
    print(f"{lists}; {options.output.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
