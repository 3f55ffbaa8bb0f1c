from __future__ import annotations

import json

import pytest

from cepts import evaluate
from cepts.cli.phrases import command as phrases
from cepts.pipeline import scoring

# The pairs that tests/evaluate/test_phrases.py works by hand.
GOLD = (
    '{"id": "1", "source": "a b", "target": "a c", "sure": [[0, 0], [1, 1]], "possible": [[1, 0]]}\n'
    '{"id": "2", "source": "x y z", "target": "x y w", "sure": [[0, 0], [0, 1], [1, 0], [1, 1]]}\n'
)
LINKS = "0-0 1-0\n0-0 0-1 1-0 1-1\n"
PERFECT = '{"source": "a b", "target": "a c", "sure": [[0, 0], [1, 1]]}\n' + GOLD.split("\n")[1] + "\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "gold.jsonl": GOLD,
        "links": LINKS,
        "perfect.jsonl": PERFECT,
        "pairs.txt": "a b ||| a c\nx y z ||| x y w\n",
        "gold.wa": "1 1 1 S\n1 2 2 S\n1 2 1 P\n2 1 1\n2 1 2\n2 2 1\n2 2 2\n",
        "short": "0-0\n",
        "far": "0-0\n0-9\n",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_kinds_are_those_of_the_library():
    assert tuple(scoring.PARTS) == evaluate.PARTS


def test_the_table_of_helps_is_that_of_the_commands(cepts):
    ran = cepts("phrases")
    assert ran.code == 0
    for name, (module, help_line) in phrases.table.items():
        command = __import__(module, fromlist=["command"]).command
        assert (command.name, command.get_short_help_str(limit=200)) == (name, help_line)
        assert help_line in ran.out


def test_one_system_as_a_table(files, cepts):
    ran = cepts("phrases", "score", "gold.jsonl", "links")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[0] == "2 sentence pairs, 6 gold links"
    assert ran.lines[1].split() == ["P,", "%", "R,", "%", "F1,", "%", "exact,", "%", "predicted", "gold"]
    assert ran.lines[2].split() == ["links", "all", "links", "75.00", "75.00", "75.00", "50.00", "6", "6"]
    assert ran.lines[6].split() == ["larger", "rectangles", "50.00", "50.00", "50.00", "2", "1"]
    assert len({len(line) for line in ran.lines[1:7]}) == 1  # the columns line up
    assert ran.lines[-1].startswith("signature  pairs:2|protocol:macro|gold:sure|cepts:")


def test_protocols_and_possible_links(files, cepts):
    def found(*options):
        ran = cepts("phrases", "score", "gold.jsonl", "links", "--json", *options)
        assert ran.code == 0, ran
        return json.loads(ran.out)

    assert found("--protocol", "micro")["systems"][0]["all"]["precision"] == pytest.approx(5 / 6)
    jacana = found("--protocol", "jacana")
    assert jacana["systems"][0]["other"]["precision"] == pytest.approx(1 / 3)
    assert "protocol:jacana|" in jacana["signature"]
    allowed = found("--possible")
    assert allowed["systems"][0]["all"]["precision"] == 1
    assert "gold:sure,possible-allowed|" in allowed["signature"]


def test_links_of_phrases_are_judged_on_demand(files, cepts):
    # The words of the first pair are linked one by one, inside of one phrase; phrases of a prediction may overlap.
    (files / "both.jsonl").write_text(
        '{"source": "a b", "target": "a c", "links": [{"source": 0, "target": 0}], "segments": [[[0, 2], [0, 2]]]}\n'
        '{"source": "x y z", "target": "x y w", "links": [], "segments": [[[0, 2], [0, 1]], [[0, 2], [1, 2], 0.9]]}\n'
    )
    words = json.loads(cepts("phrases", "score", "gold.jsonl", "both.jsonl", "--json").out)["systems"][0]
    assert (words["all"]["predicted"], words["all"]["precision"], words["all"]["recall"]) == (1, 0.5, 0.25)
    found = json.loads(cepts("phrases", "score", "gold.jsonl", "both.jsonl", "--links", "phrases", "--json").out)
    whole = found["systems"][0]
    assert (whole["all"]["predicted"], whole["all"]["precision"], whole["all"]["recall"]) == (8, 0.75, 1.0)
    assert "links:phrases" in found["signature"]
    # A file of links alone has no phrases.
    plain = [
        json.loads(cepts("phrases", "score", "gold.jsonl", "links", "--links", name, "--json").out)["systems"]
        for name in ("words", "phrases")
    ]
    assert plain[0] == plain[1]


def test_gold_links_of_another_file_and_stdin(files, cepts):
    ran = cepts("phrases", "score", "pairs.txt", "-", "--gold-links", "gold.wa", stdin=PERFECT.encode())
    assert ran.lines[2].split()[:7] == ["stdin", "all", "links", "100.00", "100.00", "100.00", "100.00"]
    ran = cepts("phrases", "score", "gold.jsonl", "-", "--format", "pharaoh", stdin=LINKS.encode())
    assert ran.lines[2].split()[3] == "75.00"


def test_several_systems_with_intervals(files, cepts):
    arguments = ["phrases", "score", "gold.jsonl", "links", "perfect.jsonl", "--intervals", "50"]
    assert len(cepts(*arguments).lines[-1]) <= 80
    ran = cepts(*arguments, "--signature")
    assert ran.code == 0, ran
    assert "95 % interval" in ran.lines[1]
    gap = next(n for n, line in enumerate(ran.lines) if line.startswith("perfect.jsonl minus links"))
    assert ran.lines[gap + 1].split()[:3] == ["exact", "match", "+50.00"]
    assert ran.lines[gap + 2].split()[:4] == ["F1,", "all", "links", "+25.00"]
    assert ran.lines[-1].endswith(cepts("phrases", "score", "gold.jsonl", "links").lines[-1].rsplit("|", 1)[1])
    assert "|bootstrap:50|seed:0|level:0.95|test:approximate-randomisation|" in ran.lines[-1]
    found = json.loads(cepts(*arguments, "--json").out)
    assert [system["file"] for system in found["systems"]] == ["links", "perfect.jsonl"]
    assert found["systems"][1]["minus_first"]["f1"]["value"] == pytest.approx(0.25)
    assert set(found["systems"][0]["intervals"]) > {"f1", "exact", "phrase_f1"}
    only_whole = json.loads(cepts(*arguments, "--json", "--protocol", "jacana").out)
    assert set(only_whole["systems"][0]["intervals"]) == {"exact", "precision", "recall", "f1"}
    assert cepts(*arguments, "--protocol", "jacana").code == 0


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["gold.jsonl", "short"], "short holds the links of 1 sentence pairs but the bitext has 2"),
        (["gold.jsonl", "far"], "far, line 2: found a link to target word 9"),
        (["gold.jsonl", "nowhere"], "cannot read nowhere"),
        (
            ["pairs.txt", "links"],
            "pairs.txt, pair 1: found no gold links, wanted `sure`, or [] where",
        ),
        (["-", "-"], "only one input can be -"),
        (["gold.jsonl"], "Missing argument 'PREDICTED...'"),
        (["gold.jsonl", "links", "--protocol", "x"], "'x' is not one of 'macro'"),
    ],
)
def test_bad_input_is_one_line(files, cepts, arguments, match):
    assert match in cepts("phrases", "score", *arguments).error
