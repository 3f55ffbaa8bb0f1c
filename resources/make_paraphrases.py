"""Make a table of paraphrases from files of PPDB.

    cd ../shared/data/mono/resources/ppdb
    python make_paraphrases.py ppdb-1.0-eng-xxxl.pruned-20.lexical.pair.gz \
        ppdb-1.0-xxxl-lexical.extended.synonyms.uniquepairs.gz \
        ppdb_RTE06MSR_PARAPHRASE08CCL_upTo4grams.txt.gz -o paraphrases.safetensors

makes the English table that comes with cepts. A file has either pairs (`word TAB word`) or PPDB's rules
(`[symbol] ||| source ||| target ||| name=value ...`, further fields are passed over), plain or compressed. The first
file of pairs gives bit 0 of each entry, the second bit 1. Rules with gaps, such as `the [NNS,1] of [NP,2]`, are left
out.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from cepts.errors import DataError
from cepts.io.files import InputFile
from cepts.io.lines import filled_lines, short_name, shown
from cepts.phrases.paraphrases import RULE_SCORES, Paraphrases, Rule

GAP = re.compile(r"\[\S+,\d\]")
Pairs = list[tuple[str, str]]


def read_rule(line: str, where: str) -> Rule | None:
    """The rule of a line; None where it has gaps."""
    fields = [field.strip() for field in line.split("|||")]
    if len(fields) < 4:
        raise DataError(f"{where}: a rule is `[symbol] ||| source ||| target ||| features`, but this is {shown(line)}.")
    symbol, source, target, features = fields[:4]
    if GAP.search(source) or GAP.search(target):
        return None
    values = dict(feature.rpartition("=")[::2] for feature in features.lower().split())
    try:
        return Rule(source, target, symbol, tuple(float(values[name]) for name in RULE_SCORES))
    except KeyError as error:
        raise DataError(f"{where}: the rule has no {error.args[0]}; take PPDB's files with all features.") from None
    except ValueError as error:
        raise DataError(f"{where}: {error}.") from None


def read_entries(path: str) -> tuple[Pairs, list[Rule]]:
    """The pairs and the rules of a file, of which one list is empty."""
    pairs: Pairs = []
    rules: list[Rule] = []
    with InputFile(path) as file:
        for number, line in filled_lines(file):
            where = f"{short_name(file)}, line {number}"
            if "|||" in line:
                rule = read_rule(line, where)
                if rule is not None:
                    rules.append(rule)
                continue
            sides = line.split("\t")
            if len(sides) != 2:
                raise DataError(f"{where}: neither two texts with a tab between them nor a rule: {shown(line)}.")
            pairs.append((sides[0], sides[1]))
    if pairs and rules:
        raise DataError(f"{path} has both pairs and rules; put them in two files.")
    return pairs, rules


def read_files(paths: list[str]) -> Paraphrases:
    """A table of all `paths`."""
    lists: list[Pairs] = []
    rules: list[Rule] = []
    for path in paths:
        pairs, more = read_entries(path)
        rules += more
        if pairs:
            lists.append(pairs)
    if len(lists) > 2:
        raise DataError(f"there are {len(lists)} files of pairs, but a table tells only two apart; join some.")
    return Paraphrases.from_rules(rules, *lists)


def main() -> None:
    """Read the files and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", help="files of pairs or of rules")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the table")
    arguments = parser.parse_args()
    try:
        table = read_files(arguments.files)
        table.save(arguments.output)
    except DataError as error:
        sys.exit(f"error: {error}")
    print(f"{table}; {arguments.output.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
