from __future__ import annotations

import gzip
import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts.data import Bitext, NBest, offsets_of
from cepts.errors import DataError, UsageError
from cepts.io import NBestWriter, read_links, write_nbest
from cepts.io.nbest_writer import _number

BITEXT = Bitext.from_tokens([(["the", "house"], ["das", "große", "Haus"]), ([], ["ja"]), (["a"], ["b"])])


def lists_of(pairs, lengths):
    """Lists of (log-probability, positions) of each pair, whose explained sentences have so many words."""
    entries = [entry for pair in pairs for entry in pair]
    return NBest(
        np.array(lengths),
        offsets_of([len(pair) for pair in pairs]),
        np.array([log for log, _ in entries], dtype=float),
        np.array([position for _, row in entries for position in row], dtype=np.int32),
    )


FORWARD = lists_of([[(-1.5, [0, -1, 1]), (-2.25, [0, 1, 1])], [], [(-0.5, [0])]], [3, 0, 1])
REVERSE = lists_of([[(-3.0, [0, 2])], [], [(-0.25, [0]), (-1.0, [-1])]], [2, 0, 1])


def test_json_has_a_line_a_pair(tmp_path):
    write_nbest(tmp_path / "lists", FORWARD, REVERSE, bitext=BITEXT)
    records = [json.loads(line) for line in (tmp_path / "lists").read_text("utf-8").splitlines()]
    assert records[0] == {
        "source": ["the", "house"],
        "target": ["das", "große", "Haus"],
        "forward": [
            {"log_probability": -1.5, "positions": [0, None, 1]},
            {"log_probability": -2.25, "positions": [0, 1, 1]},
        ],
        "reverse": [{"log_probability": -3.0, "positions": [0, 2]}],
    }
    assert records[1] == {"source": [], "target": ["ja"], "forward": [], "reverse": []}
    assert [len(records[2][name]) for name in ("forward", "reverse")] == [1, 2]


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_json_of_one_direction_and_without_words(tmp_path, direction):
    write_nbest(tmp_path / "lists", FORWARD, REVERSE, direction=direction)
    records = [json.loads(line) for line in (tmp_path / "lists").read_text("utf-8").splitlines()]
    assert [list(record) for record in records] == [[direction]] * 3


def test_giza_has_three_lines_an_alignment(tmp_path):
    write_nbest(tmp_path / "lists", FORWARD, REVERSE, format="giza", direction="forward", bitext=BITEXT)
    assert (tmp_path / "lists").read_text("utf-8").splitlines() == [
        "# Sentence pair (1) source length 2 target length 3 alignment score : 2.23130e-01",
        "das große Haus",
        "NULL ({ 2 }) the ({ 1 }) house ({ 3 })",
        "# Sentence pair (1) source length 2 target length 3 alignment score : 1.05399e-01",
        "das große Haus",
        "NULL ({ }) the ({ 1 }) house ({ 2 3 })",
        "# Sentence pair (2) source length 0 target length 1 alignment score : 0",
        "ja",
        "NULL ({ 1 })",
        "# Sentence pair (3) source length 1 target length 1 alignment score : 6.06531e-01",
        "b",
        "NULL ({ }) a ({ 1 })",
    ]


def test_the_reverse_direction_exchanges_source_and_target(tmp_path):
    write_nbest(tmp_path / "lists", FORWARD, REVERSE, format="giza", direction="reverse", bitext=BITEXT)
    lines = (tmp_path / "lists").read_text("utf-8").splitlines()
    assert lines[0].startswith("# Sentence pair (1) source length 3 target length 2 alignment score")
    assert lines[1:3] == ["the house", "NULL ({ }) das ({ 1 }) große ({ }) Haus ({ 2 })"]
    assert lines[3:6] == [
        "# Sentence pair (2) source length 1 target length 0 alignment score : 0",
        "",
        "NULL ({ }) ja ({ })",
    ]


def test_lists_of_one_are_a_link_file(tmp_path):
    first = lists_of([[(-1.5, [0, -1, 1])], [(-0.5, [0])]], [3, 1])
    bitext = Bitext.from_tokens([BITEXT[0], BITEXT[2]])
    reverse = lists_of([[], []], [0, 0])
    write_nbest(tmp_path / "x.A3", first, reverse, format="giza", direction="forward", bitext=bitext)
    assert [alignment.links for alignment in read_links(tmp_path / "x.A3")] == [[(0, 0), (1, 2)], [(0, 0)]]


@pytest.mark.parametrize(("format", "direction"), [("json", "both"), ("giza", "forward"), ("giza", "reverse")])
def test_written_bit_by_bit_is_the_same(tmp_path, format, direction):
    options = {"format": format, "direction": direction}
    write_nbest(tmp_path / "whole", FORWARD, REVERSE, bitext=BITEXT, **options)
    with NBestWriter(tmp_path / "bits.gz", bitext=BITEXT, **options) as writer:
        for pair in range(3):
            writer.write(FORWARD.take(np.array([pair])), REVERSE.take(np.array([pair])))
    with NBestWriter(tmp_path / "parts", **options) as writer:
        for pair in range(3):
            part = np.array([pair])
            writer.write(FORWARD.take(part), REVERSE.take(part), BITEXT.part(pair, pair + 1))
    whole = (tmp_path / "whole").read_bytes()
    assert gzip.decompress((tmp_path / "bits.gz").read_bytes()) == whole
    assert (tmp_path / "parts").read_bytes() == whole


def test_an_interrupted_file_is_not_there(tmp_path):
    with pytest.raises(KeyboardInterrupt), NBestWriter(tmp_path / "lists") as writer:
        writer.write(FORWARD, REVERSE)
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


@given(st.floats(-1e4, 0))
def test_probabilities_too_small_for_a_float_are_written(log):
    text = _number(log)
    digits, power = re.fullmatch(r"(\d\.\d{5})e([+-]\d{2,})", text).groups()
    assert 1 <= float(digits) < 10
    assert math.log(float(digits)) + int(power) * math.log(10) == pytest.approx(log, abs=2e-5)


def test_numbers_at_the_edge_of_a_power_of_ten():
    assert _number(0.0) == "1.00000e+00"
    assert _number(math.log(9.9999999)) == "1.00000e+01"
    assert _number(math.log(1e-7)) == "1.00000e-07"


def test_what_callers_must_not_do(tmp_path):
    path = tmp_path / "x"
    with pytest.raises(UsageError, match="`format` must be one of json, giza"):
        NBestWriter(path, format="pharaoh")
    with pytest.raises(UsageError, match="`direction` must be one of both, forward, reverse"):
        NBestWriter(path, direction="back")
    with pytest.raises(UsageError, match="giza shows one direction"):
        NBestWriter(path, format="giza")
    with pytest.raises(UsageError, match="giza shows the sentences"):
        write_nbest(path, FORWARD, REVERSE, format="giza", direction="forward")
    with pytest.raises(ValueError, match="inside its with statement"):
        NBestWriter(path).write(FORWARD, REVERSE)
    with pytest.raises(ValueError, match="same number of pairs"):
        NBestWriter(path).__enter__().write(FORWARD, REVERSE, BITEXT.part(0, 2))
    with pytest.raises(ValueError, match="a position for each word"):
        write_nbest(path, REVERSE, FORWARD, bitext=BITEXT)
    wrong = lists_of([[(-1.5, [0, -1, 2])], [], []], [3, 0, 0])
    with pytest.raises(ValueError, match="within their sentences"):
        write_nbest(path, wrong, REVERSE, bitext=BITEXT)
    with pytest.raises(DataError, match="cannot write"):
        write_nbest(tmp_path / "no" / "x", FORWARD, REVERSE)
