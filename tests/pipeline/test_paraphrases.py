"""Files of paraphrases: pairs, PPDB's rules, and what is neither."""

from __future__ import annotations

import gzip
import runpy
import sys
from pathlib import Path

import pytest

from cepts.errors import DataError
from cepts.phrases.paraphrases import KINDS, RULE_SCORES, Paraphrases
from cepts.pipeline.paraphrases import read_paraphrases

SCRIPT = Path(__file__).parents[2] / "resources" / "make_paraphrases.py"


def rule_line(symbol="[VP]", source="give up", names=RULE_SCORES):
    features = " ".join(f"{name}={place}.5" for place, name in enumerate(names))
    return f"{symbol} ||| {source} ||| surrender ||| wordcountdiff=1 {features} ||| 0-0"


def test_files_of_ppdb_become_a_table(tmp_path):
    pairs, rules = tmp_path / "pairs.gz", tmp_path / "rules"
    pairs.write_bytes(gzip.compress(b"buy\tpurchase\n\n2\ttwo\n"))
    rules.write_text(f"{rule_line()}\n{rule_line(source='the [NNS,1]')}\n{rule_line('[X]', 'give in')}\n")
    table = read_paraphrases([str(pairs), str(rules)])
    assert repr(table) == "Paraphrases(4 pairs, 2 of them with scores)"
    kinds, rows = table.lookup(["give", "up", "buy"], ["surrender", "purchase"])
    assert kinds[0, 1, 0, 0] == 1 << KINDS.index("rule")
    assert kinds[2, 0, 1, 0] == 1 << KINDS.index("first list")
    assert table.rule_scores[rows[0, 1, 0, 0]].tolist() == [place + 0.5 for place in range(8)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\na b\n", "line 2: neither texts"),
        ("[X] ||| a ||| b\n", "line 1: a rule is"),
        (rule_line(names=RULE_SCORES[1:]), r"line 1: the rule has no p\(lhs\|e\)"),
        (rule_line().replace("3.5", "three"), "line 1: could not convert string to float: 'three'"),
        (f"a\tb\n{rule_line()}\n", "both pairs and rules"),
    ],
)
def test_lines_that_are_neither(tmp_path, text, message):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_paraphrases([str(path)])


def test_the_script_writes_the_table_of_its_files(tmp_path, monkeypatch):
    (tmp_path / "pairs").write_text("buy\tpurchase\n")
    monkeypatch.setattr(sys, "argv", ["make", str(tmp_path / "pairs"), "-o", str(tmp_path / "table.safetensors")])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert len(Paraphrases.load(tmp_path / "table.safetensors")) == 1
