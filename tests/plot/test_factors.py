from __future__ import annotations

import builtins
import re
import subprocess
import sys

import numpy as np
import pytest

from cepts.errors import DataError, UsageError
from cepts.plot import plot_criterion, plot_factors

pytest.importorskip("matplotlib")

SOURCE = ["les", "enfants", "ont", "besoin", "de", "jouets"]
TARGET = ["they", "need", "toys"]
SOURCE_CEPTS, TARGET_CEPTS = [0, 0, 1, 1, -1, 2], [0, 1, 2]


def pair(**changes):
    """The arguments of a figure of three cepts and those of null."""
    random = np.random.default_rng(0)
    matrix = random.uniform(0, 5, (7, 4))
    for i, cept in enumerate(SOURCE_CEPTS):
        matrix[i + 1, 1 + TARGET_CEPTS.index(cept) if cept >= 0 else 0] = 100
    arguments = {
        "matrix": matrix,
        "source_factor": np.vstack([np.eye(5)[3], np.eye(5)[[4 if cept < 0 else cept for cept in SOURCE_CEPTS]]]),
        "target_factor": np.vstack([np.eye(5)[4], np.eye(5)[TARGET_CEPTS]]),
        "source_words": SOURCE,
        "target_words": TARGET,
        "source_assignment": SOURCE_CEPTS,
        "target_assignment": TARGET_CEPTS,
    }
    return {**arguments, **changes}


CURVES = {"log-likelihood": [-9.0, -5.0, -4.0], "AIC": [-10.0, -7.0, -8.0], "BIC": [-12.0, -13.0, np.nan]}
BEGINNINGS = {".svg": b"<?xml", ".pdf": b"%PDF", ".png": b"\x89PNG", ".PNG": b"\x89PNG"}
every_suffix = pytest.mark.parametrize("suffix", BEGINNINGS)


@every_suffix
def test_a_figure_is_what_its_name_says_and_the_same_bytes_twice(tmp_path, suffix):
    for draw in (
        lambda path: plot_factors(path, **pair(), sure=[(5, 2)], possible={(0, 0)}, title="1023"),
        lambda path: plot_criterion(path, [1, 2, 3], CURVES, chosen={"AIC": 2}, title="1023"),
    ):
        one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
        draw(one)
        draw(two)
        assert one.read_bytes().startswith(BEGINNINGS[suffix])
        assert one.read_bytes() == two.read_bytes()


def test_the_bytes_do_not_depend_on_the_process_or_its_settings(tmp_path):
    code = (
        "import matplotlib as mpl; mpl.rcParams['lines.linewidth'] = 9; mpl.rcParams['savefig.bbox'] = 'tight'\n"
        "from cepts.plot import plot_criterion\n"
        "for name in ('a.svg', 'a.pdf', 'a.png'): plot_criterion(name, [1, 2], {'AIC': [1, 2]})\n"
        "assert mpl.rcParams['lines.linewidth'] == 9"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=tmp_path)
    for theirs in ("a.svg", "a.pdf", "a.png"):
        ours = tmp_path / f"our-{theirs}"
        plot_criterion(ours, [1, 2], {"AIC": [1, 2]})
        assert ours.read_bytes() == (tmp_path / theirs).read_bytes()


def squares(path):
    """Colour and area of every square in an .svg figure, but for the white grounds."""
    found = []
    for points, colour in re.findall(
        r'<path d="M ([^"]*?)\s+z\s*" [^>]*style="fill: (#[0-9a-f]{6})"', path.read_text()
    ):
        numbers = [float(number) for number in re.findall(r"-?[0-9.]+", points)]
        x, y = numbers[::2], numbers[1::2]
        if colour != "#ffffff" and len(set(x)) == len(set(y)) == 2:
            found.append((colour, (max(x) - min(x)) * (max(y) - min(y))))
    return found


def test_the_area_of_a_square_grows_with_its_value(tmp_path):
    path = tmp_path / "f.svg"
    for largest, small in ((4, 1), (100, 25)):
        matrix = np.zeros((3, 3))
        matrix[1, 1], matrix[2, 2] = largest, small
        plot_factors(path, matrix, np.zeros((3, 2)), np.zeros((3, 2)), ["a", "b"], ["c", "d"], [0, 1], [0, 1])
        dark = [area for colour, area in squares(path) if colour == "#1f2933"]
        assert len(dark) == 2
        assert max(dark) == pytest.approx(4 * min(dark), rel=0.01)
    # The alignment's two links are left, in the colours of their cepts.
    assert len({colour for colour, _ in squares(path)} - {"#1f2933"}) == 2


def test_links_to_null_and_cepts_without_words_are_grey(tmp_path):
    path = tmp_path / "f.svg"
    plot_factors(path, [[0, 0], [0, 0]], [[0, 1], [0, 1]], [[0, 1], [0, 0]], ["a"], ["b"], [-1], [-1])
    assert {colour for colour, _ in squares(path)} == {"#8a94a0"}
    assert len(squares(path)) == 5


def test_any_word_can_be_shown(tmp_path):
    words = ["$x^", "$5$", "", " ", "<&>", "a" * 500, "né", "_", "\\frac{", "\ud800"]
    matrix = np.ones((11, 11))
    factor = np.full((11, 1), 0.5)
    plot_factors(tmp_path / "f.svg", matrix, factor, factor, words, words, [0] * 10, [0] * 10, title="$ & \\")
    plot_criterion(tmp_path / "c.pdf", [1], {"$a$": [1.0]}, title="$\\")


@pytest.mark.parametrize(("rows", "columns", "cepts"), [(1, 1, 1), (1, 30, 1), (30, 28, 20), (0, 0, 1)])
def test_any_length_can_be_shown(tmp_path, rows, columns, cepts):
    matrix = np.ones((rows + 1, columns + 1))
    factors = np.full((rows + 1, cepts), 1 / cepts), np.full((columns + 1, cepts), 1 / cepts)
    words = [f"mot{i}" for i in range(rows)], [f"word{j}" for j in range(columns)]
    assignment = [i % cepts for i in range(rows)], [j % cepts for j in range(columns)]
    plot_factors(tmp_path / "f.png", matrix, *factors, *words, *assignment)
    assert (tmp_path / "f.png").stat().st_size > 1000


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "figure.svg.gz"])
def test_another_suffix_is_one_clear_line(tmp_path, name):
    for draw in (lambda path: plot_factors(path, **pair()), lambda path: plot_criterion(path, [1], {"AIC": [1]})):
        with pytest.raises(UsageError, match=r"must end in \.svg, \.pdf or \.png\. Got '.*' instead\.$"):
            draw(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path):
    with pytest.raises(DataError, match=r"cannot write .*there is no directory"):
        plot_factors(tmp_path / "nowhere" / "f.svg", **pair())


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    real = builtins.__import__

    def without_matplotlib(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    for draw in (lambda path: plot_factors(path, **pair()), lambda path: plot_criterion(path, [1], {"AIC": [1]})):
        with pytest.raises(UsageError, match=r"^figures need matplotlib; .*pip install matplotlib$"):
            draw(tmp_path / "f.svg")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"matrix": np.ones((6, 3))}, r"`matrix` must be 7 x 4, null first\. Got \(6, 3\)"),
        ({"matrix": np.full((7, 4), np.nan)}, "`matrix` must have finite numbers of 0 or more"),
        ({"source_factor": -np.ones((7, 5))}, "`source_factor` must have finite numbers of 0 or more"),
        ({"source_factor": np.ones(7)}, "`source_factor` must be 7 x 0"),
        ({"target_factor": np.ones((4, 6))}, "`target_factor` must be 4 x 5"),
        ({"source_assignment": [0]}, "`source_assignment` must have one cept for each of 6 words"),
        ({"target_assignment": [0, 1, 5]}, r"`target_assignment` must be -1 \(null\) or a cept below 5"),
        ({"cept_names": ["a"]}, "one name for each of 5 cepts"),
        ({"sure": [(6, 0)]}, r"`sure` and `possible` links must lie within the sentences\. Got \(6, 0\)"),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        plot_factors(tmp_path / "f.svg", **pair(**changes))


def test_criteria_that_do_not_go_together_are_refused(tmp_path):
    with pytest.raises(ValueError, match="AIC must have a value for each of 2 numbers"):
        plot_criterion(tmp_path / "c.svg", [1, 2], {"AIC": [1]})
    with pytest.raises(ValueError, match="must be among the criteria and `cepts`"):
        plot_criterion(tmp_path / "c.svg", [1, 2], {"AIC": [1, 2]}, chosen={"AIC": 3})
