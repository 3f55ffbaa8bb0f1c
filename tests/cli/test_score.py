from __future__ import annotations

import json
import os
import threading

import pytest

from cepts import evaluate
from cepts.cli import main
from cepts.pipeline import scoring

# The pairs that tests/evaluate/test_scores.py works by hand.
GOLD = "1 1 1 S\n1 2 2 S\n1 2 3 P\n2 1 2 S\n"
LINKS = "0-0 1-2 2-2\n0-1\n"
BETTER = "0-0 1-1\n0-1\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "gold.wa": GOLD,
        "links": LINKS,
        "better": BETTER,
        "short": "0-0\n",
        "long": LINKS + "\n",
        "far": "0-0\n0-9\n",
        "source": "a b c\nd e\n",
        "target": "x y z\nu v\n",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


SIDES = ["--source", "source", "--target", "target"]


def run_json(capfd, *arguments):
    assert main(["score", *arguments, "--json"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    return json.loads(out)


def test_options_are_those_of_the_library():
    assert set(scoring.MEASURES) == set(evaluate.METRICS)
    assert len(scoring.SHORT_MEASURES) == len(scoring.MEASURES)


def test_one_system_as_a_table(files, capfd):
    assert main(["score", "gold.wa", "links", *SIDES, "--bootstrap", "100", "--signature"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == "2 sentence pairs, 3 sure and 1 only possible gold links"
    cells = {line[:24].strip(): line[24:].split() for line in lines[1:] if line.strip()}
    assert cells["AER, %"][0] == "28.57"
    assert cells["AER, %"][2] == "to"
    assert cells["precision on sure, %"][0] == "50.00"
    assert cells["recall on sure, %"][0] == "66.67"
    assert cells["F1 on possible, %"][0] == "75.00"
    assert cells["links"] == ["4"]
    assert cells["source words covered, %"] == ["80.00"]
    assert cells["target words covered"] == ["3"]
    assert lines[-1].startswith(
        "signature  sentences:2|gold:sure+possible|null:no|gold-base:0|base:0|bootstrap:100|seed:0|level:0.95|cepts:"
    )


def test_columns_that_need_the_sentences_are_left_out(files, capfd):
    assert main(["score", "gold.wa", "links", "--source", "source", "--bootstrap", "0"]) == 0
    out = capfd.readouterr().out
    assert "source words covered" in out
    assert "target words covered" not in out
    assert "interval" not in out


def test_two_systems_and_their_difference(files, capfd):
    got = run_json(capfd, "gold.wa", "links", "better", "--bootstrap", "200", "--seed", "3")
    first, second = got["systems"]
    assert (first["links_file"], second["links_file"]) == ("links", "better")
    assert (first["links"], second["links"]) == (4, 3)
    assert second["aer"] == 0
    gap = got["differences"]["aer"]
    assert gap["value"] == pytest.approx(-first["aer"])
    assert gap["interval"][0] <= gap["value"] <= gap["interval"][1]
    assert 0 < gap["p_value"] <= 1
    assert "|seed:3|" in got["signature"]
    assert got == run_json(capfd, "gold.wa", "links", "better", "--bootstrap", "200", "--seed", "3")
    assert main(["score", "gold.wa", "links", "better", "--per-sentence"]) == 0
    out = capfd.readouterr().out
    assert "-28.57" in out
    assert "AER, better" in out


def test_null(files, capfd):
    got = run_json(capfd, "gold.wa", "links", "--null", "sure", *SIDES)
    assert got["systems"][0]["aer"] == pytest.approx(1 - 9 / 13)
    assert "|null:sure|" in got["signature"]
    (possible,) = run_json(capfd, "gold.wa", "links", "--null", "possible", *SIDES)["systems"]
    assert possible["aer"] == pytest.approx(1 - (2 + 5) / (7 + 3))


def test_null_links_of_the_gold_file(files, capfd):
    """Source 2 of pair 1 is linked to null by a possible link, target 0 of pair 2 by a sure one; source 1 by none."""
    (files / "null.wa").write_text(GOLD + "1 3 0 P\n2 0 1 S\n")
    (system,) = run_json(capfd, "null.wa", "links", "--null", "gold", *SIDES)["systems"]
    # The system has target 1 of pair 1, source 1 and target 0 of pair 2 at null.
    assert (system["links"], system["sure"], system["possible"]) == (7, 4, 6)
    assert system["aer"] == pytest.approx(1 - (3 + 4) / (7 + 4))
    assert main(["score", "null.wa", "links", *SIDES, "--json"]) == 0
    out, err = capfd.readouterr()
    assert err == "note     null.wa has 2 links to null, not scored here; --null gold scores them.\n"
    (without,) = json.loads(out)["systems"]
    assert without == run_json(capfd, "gold.wa", "links", *SIDES)["systems"][0]
    (turned,) = run_json(capfd, "null.wa", "links", "--null", "sure", *SIDES)["systems"]
    assert (turned["sure"], turned["possible"]) == (5, 7)


def test_closure(files, capfd):
    """Gold 0-0 1-1 1-2 2-2 of one pair: the last three make 1-1 1-2 2-1 2-2."""
    (files / "open").write_text("0-0 1-1 1?2 2?2\n")
    (files / "closed").write_text("0-0 1-1 1?2 2?1 2?2\n")
    (files / "one").write_text("0-0 2-1\n")
    got = run_json(capfd, "open", "one", "--closure", "--bootstrap", "0")
    wanted = run_json(capfd, "closed", "one", "--bootstrap", "0")
    assert got["systems"] == wanted["systems"]
    assert got["systems"][0]["possible"] == 5
    assert "|closure:yes|" in got["signature"]


def test_per_sentence(files, capfd):
    (system,) = run_json(capfd, "gold.wa", "links", "--per-sentence", "--bootstrap", "0")["systems"]
    assert [row["links"] for row in system["per_sentence"]] == [3, 1]
    assert "intervals" not in system
    assert main(["score", "gold.wa", "links", "--per-sentence"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["pair", "sure", "possible", "links"]
    assert lines[2].split() == ["2", "1", "1", "1", "0.00", *["100.00"] * 6]


def test_bases_and_formats(files, capfd):
    (files / "gold.pharaoh").write_text("1-1 2-2 2?3\n1-2\n")
    (files / "links.wa").write_text("1 1 1\n1 2 3\n1 3 3\n2 1 2\n")
    wanted = run_json(capfd, "gold.wa", "links")["systems"][0]["aer"]
    got = run_json(capfd, "gold.pharaoh", "links", "--gold-base", "1")
    assert got["systems"][0]["aer"] == wanted
    assert "gold-base:1|base:0" in got["signature"]
    assert run_json(capfd, "gold.pharaoh", "links.wa", "--base", "1")["systems"][0]["aer"] == wanted


def test_reversed_gold(files, capfd):
    (files / "turned.wa").write_text("1 1 1 S\n1 2 2 S\n1 3 2 P\n2 2 1 S\n")
    wanted = run_json(capfd, "gold.wa", "links", *SIDES)["systems"]
    assert run_json(capfd, "turned.wa", "links", *SIDES, "--reverse-gold")["systems"] == wanted


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_gold_from_a_pipe(files, capfd):
    """A pipe cannot be read a second time."""
    os.mkfifo(files / "pipe")
    writer = threading.Thread(target=(files / "pipe").write_text, args=("0-0 1-1 1?2\n0-1\n",))
    writer.start()
    (system,) = run_json(capfd, "pipe", "links", *SIDES)["systems"]
    writer.join()
    assert system["aer"] == pytest.approx(1 - 5 / 7)


def test_naacl_links_may_end_before_the_gold(files, capfd):
    (files / "links.wa").write_text("1 1 1\n")
    (system,) = run_json(capfd, "gold.wa", "links.wa")["systems"]
    assert (system["sentences"], system["links"]) == (2, 1)


def test_gold_that_ends_early_needs_the_number_of_pairs(files, capfd):
    (system,) = run_json(capfd, "gold.wa", "long", "--sentences", "3")["systems"]
    assert system["sentences"] == 3


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (
            ["gold.wa", "short"],
            1,
            "gold.wa has gold links for 2 sentence pairs but short has 1; the gold file has more",
        ),
        (["gold.wa", "links", "short"], 1, "gold.wa has gold links for 2 sentence pairs but short has 1;"),
        (
            ["gold.wa", "long"],
            1,
            "gold.wa has gold links for 2 sentence pairs but long has 3; give links for",
        ),
        (["gold.wa", "short", *SIDES], 1, "short holds the links of 1 sentence pairs but the bitext has 2"),
        (["gold.wa", "far", *SIDES], 1, "far, line 2: found a link to target word 9"),
        (["far", "links", *SIDES], 1, "far, line 2: found a link to target word 9"),
        (["gold.wa", "links", "--sentences", "1"], 1, "gold.wa, line 4: found a link of sentence 2"),
        (
            ["gold.wa", "links", "--sentences", "3", *SIDES],
            2,
            "--sentences is 3 but the sentence files have 2",
        ),
        (["gold.wa", "links", "--null", "sure"], 2, "--null sure needs the sentences of both sides"),
        (["gold.wa", "links", "--null", "gold", *SIDES], 2, "--null gold takes links to null from the gold file, but"),
        (["gold.wa", "links", "--bootstrap", "-1"], 2, "Invalid value for '--bootstrap'"),
        (["-", "-"], 2, "only one input can be -"),
        (["nowhere", "links"], 1, "cannot read nowhere"),
        (["gold.wa"], 2, "Missing argument 'LINKS'"),
    ],
)
def test_bad_input_is_one_line(files, capfd, arguments, code, line):
    assert main(["score", *arguments]) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"cepts: error: {line}")
    assert err.count("\n") == 1
