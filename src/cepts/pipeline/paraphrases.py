"""Files of paraphrases, such as PPDB's -> one table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, combinations
from pathlib import Path

from cepts.errors import DataError
from cepts.io.files import InputFile
from cepts.io.lines import filled_lines, shown
from cepts.phrases.paraphrases import RULE_SCORES, Paraphrases, Rule

GAP = re.compile(r"\[\S+,\d\]")
TABLE = ".safetensors"
Pairs = list[tuple[str, str]]


def read_paraphrases(paths: Sequence[str | Path]) -> Paraphrases:
    """A table of all `paths`.

    A file has either pairs (``word TAB word``; of three and more texts with tabs between them, each two are a pair) or
    PPDB's rules (``[symbol] ||| source ||| target ||| name=value ...``; further fields are passed over), plain or
    compressed; or it is one table that was made before, whose name ends in ``.safetensors``. The first file of pairs
    gives bit 0 of each entry, all others bit 1. Rules with gaps, such as ``the [NNS,1] of [NP,2]``, are ignored.
    """
    if any(Path(path).suffix == TABLE for path in paths):
        if len(paths) > 1:
            raise DataError(f"found {len(paths)} files of paraphrases, of which one is a table; give the table alone.")
        return Paraphrases.load(paths[0])
    lists: list[Pairs] = []
    rules: list[Rule] = []
    for path in paths:
        pairs, more = _entries(path)
        rules += more
        if pairs:
            lists.append(pairs)
    first, others = lists[:1], lists[1:]
    return Paraphrases.from_rules(rules, chain(*first), chain(*others))


def _entries(path: str | Path) -> tuple[Pairs, list[Rule]]:
    """The pairs and the rules of a file, of which one list is empty."""
    pairs: Pairs = []
    rules: list[Rule] = []
    with InputFile(path) as file:
        for _, where, line in filled_lines(file):
            if "|||" in line:
                rule = _rule(line, where)
                if rule is not None:
                    rules.append(rule)
                continue
            texts = line.split("\t")
            if len(texts) < 2:
                raise DataError(f"{where}: neither texts with tabs between them nor a rule: {shown(line)}.")
            pairs += combinations(texts, 2)
        if pairs and rules:
            raise DataError(f"{file.name} has both pairs and rules; put them in two files.")
        if not pairs and not rules:
            raise DataError(
                f"{file.name} has no paraphrases; wanted two texts with a tab between them, or PPDB's rules."
            )
    return pairs, rules


def _rule(line: str, where: str) -> Rule | None:
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
