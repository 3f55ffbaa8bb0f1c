"""Make the sample bitext that ships with cepts out of LibreOffice's English-French text.

    python examples/make_sample.py --data DIRECTORY

DIRECTORY holds `train.en.gz` and `train.fr.gz`: the interface and help strings of LibreOffice 7.4.7, one
sentence a line, tokenised, without markup. The sample is remade byte for byte; its gold links were made by
hand, not here.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from pathlib import Path

PAIRS = 3000
SHORTEST, LONGEST = 4, 25

# Lines of the data (from 1) whose links were made by hand: the head of the sample, in this order.
# fmt: off
GOLD_LINES = [
    31, 605, 1099, 1465, 1738, 2706, 3026, 3327, 3711, 4365, 4613, 7964, 8322, 9417, 9561, 9667, 10423,
    11204, 12471, 13620, 13795, 13977, 14282, 15056, 15203, 16341, 53896, 16992, 19897, 20478, 37231,
    37999, 38108, 38603, 41753, 44805, 46948, 48033, 49326, 51821,
]
# fmt: on

CODE = re.compile(r"[%$<>{}\[\]=_#|\\/;*^~&@+]|\b[a-z]+[A-Z]|[A-Z]{2,}[a-z]*\d|\d{4,}")
WORD = re.compile(r"[^\W\d_]+(['’][^\W\d_]*)*$")
ENDS = (".", "!", "?", ":")


def is_sentence(tokens: list[str]) -> bool:
    """Whether `tokens` read as prose: a capital, a full stop, mostly words, nothing that looks like code."""
    words = [token for token in tokens if WORD.match(token)]
    return (
        SHORTEST <= len(tokens) <= LONGEST
        and tokens[0][0].isupper()
        and tokens[-1] in ENDS
        and len(words) >= 0.7 * len(tokens)
        and sum(word.isupper() and len(word) > 1 for word in words) <= 0.2 * len(words)
        and not any(CODE.search(token) for token in tokens)
        and not any(token in ENDS for token in tokens[:-1])
    )


def is_balanced(source: list[str], target: list[str]) -> bool:
    """Whether neither side is much longer than the other, and they differ."""
    return source != target and max(len(source), len(target)) <= 2 * min(len(source), len(target))


def runs(tokens: list[str]) -> set[tuple[str, ...]]:
    """Each run of three tokens, in lower case."""
    lowered = [token.lower() for token in tokens]
    return {tuple(lowered[start : start + 3]) for start in range(len(lowered) - 2)}


def choose(sources: list[str], targets: list[str]) -> list[int]:
    """Line numbers (from 0) of the sample: the gold pairs, then others evenly over the file.

    A pair more than half of whose source runs stand in pairs already kept says nothing new and is left out.
    """
    gold = [line - 1 for line in GOLD_LINES]
    seen = set().union(*(runs(sources[line].split()) for line in gold))
    kept = []
    for line, (source, target) in enumerate(zip(sources, targets, strict=True)):
        tokens = source.split(), target.split()
        if line in gold or not (all(map(is_sentence, tokens)) and is_balanced(*tokens)):
            continue
        own = runs(tokens[0])
        if 2 * len(own & seen) <= len(own):
            seen |= own
            kept.append(line)
    wanted = PAIRS - len(gold)
    if len(kept) < wanted:
        raise SystemExit(f"only {len(kept)} pairs of this data are fit for the sample; {wanted} are needed.")
    return gold + [kept[number * len(kept) // wanted] for number in range(wanted)]


def main() -> None:
    """Read the data, choose, write the two files of the sample."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory with train.en.gz and train.fr.gz")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(__file__).resolve().parent.parent / "src" / "cepts" / "sample",
        help="where sample.en and sample.fr go (default: the package's own)",
    )
    arguments = parser.parse_args()
    paths = {language: arguments.data / f"train.{language}.gz" for language in ("en", "fr")}
    for path in paths.values():
        if not path.is_file():
            sys.exit(f"{path} is not there; --data must name the directory that holds train.en.gz and train.fr.gz.")
    lines = {name: gzip.decompress(path.read_bytes()).decode().splitlines() for name, path in paths.items()}
    chosen = choose(lines["en"], lines["fr"])
    for language, texts in lines.items():
        (arguments.output / f"sample.{language}").write_text("".join(texts[n] + "\n" for n in chosen), "utf-8")
    print(f"{len(chosen):,} pairs written to {arguments.output}.", file=sys.stderr)


if __name__ == "__main__":
    main()
