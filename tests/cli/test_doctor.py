from __future__ import annotations

import json
import sys

import numpy as np

import cepts as package
from cepts import kernels
from cepts.pipeline import doctor
from cepts.plot.scripts import LETTERS, script_fonts


def test_doctor_tells_what_there_is(cepts):
    ran = cepts("doctor")
    assert ran.code == 0
    assert ran.lines[0].startswith(f"cepts      {package.__version__} in ")
    assert f"numpy {np.__version__}" in ran.out
    assert str(kernels.cache_directory()) in ran.out
    assert ran.lines[-1] == "No problems found."
    assert max(len(line) for line in ran.lines if "/" not in line) <= 80


def test_doctor_has_json(cepts):
    found = json.loads(cepts("doctor", "--json").out)
    assert found["problems"] == []
    assert found["libraries"]["numpy"] == np.__version__
    assert [extra["package"] for extra in found["extras"]] == [extra.package for extra in doctor.EXTRAS]
    assert set(found["fonts"]) == set(LETTERS)


def test_a_missing_extra_is_said_with_the_command_that_installs_it(cepts, monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda module: None if module == "pyarrow" else object())
    ran = cepts("doctor")
    assert ran.code == 0
    (line,) = [line for line in ran.lines if line.startswith("Parquet files")]
    assert line.endswith("pip install pyarrow")


def test_a_cache_that_cannot_be_written_is_a_problem(cepts, monkeypatch):
    monkeypatch.setattr(kernels, "CACHING", False)
    ran = cepts("doctor")
    assert ran.code == 1
    assert "NUMBA_CACHE_DIR" in ran.lines[-1]
    assert ran.lines[-1].startswith("problem ")


def test_without_matplotlib_there_are_no_fonts(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.font_manager", None)
    assert script_fonts() is None


def test_latin_letters_come_with_matplotlib():
    fonts = script_fonts()
    assert fonts["Latin"] == "DejaVu Sans"
    assert not any(font and font.startswith("Last Resort") for font in fonts.values())
