"""Fonts by what is written: letters of any script, right-to-left words, and what is said where no font has them."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.errors import FigureWarning
from cepts.plot import fonts, plot_criterion, plot_factors

pytest.importorskip("matplotlib")
builder = pytest.importorskip("fontTools.fontBuilder")

# Letters of the private area, which no font of any machine can be expected to have, but for those made here.
KNOWN, UNKNOWN = "\ue123\ue124", "\U0010fff0"


def make_font(path, family, letters):
    """Write a font in which each of `letters` is a square."""
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    for step, point in enumerate([(100, 0), (100, 800), (900, 800), (900, 0)]):
        (pen.lineTo if step else pen.moveTo)(point)
    pen.closePath()
    square = pen.glyph()
    names = [".notdef", *(f"u{ord(letter):x}" for letter in letters)]
    font = builder.FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(letter): name for letter, name in zip(letters, names[1:], strict=True)})
    font.setupGlyf(dict.fromkeys(names, square))
    font.setupHorizontalMetrics(dict.fromkeys(names, (1000, 100)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": family, "styleName": "Regular"})
    font.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
    font.setupPost()
    font.save(path)


@pytest.fixture
def install(monkeypatch, tmp_path):
    """Make fonts known as if they were installed after matplotlib made its list."""
    from matplotlib import font_manager

    directory = tmp_path / "fonts"
    directory.mkdir()
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [*font_manager.fontManager.ttflist])
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: list(map(str, directory.iterdir())))

    def forget():
        for found in (fonts._known_families, fonts._letters_of, fonts._fallbacks):
            found.cache_clear()

    def install(family, letters):
        make_font(directory / f"{family}.ttf", family, letters)
        forget()

    forget()
    yield install
    forget()


def draw(path, words, **options):
    size = len(words)
    factor = np.full((size + 1, 1), 0.5)
    return plot_factors(path, np.ones((size + 1,) * 2), factor, factor, words, words, [0] * size, [0] * size, **options)


def test_a_font_is_chosen_by_its_letters(tmp_path, install):
    install("Other Letters", "\ue999")
    install("Rare Letters", KNOWN)
    assert fonts.families_for(["été"]) == ["DejaVu Sans"]
    assert fonts.families_for(["a" + KNOWN]) == ["DejaVu Sans", "Rare Letters"]
    assert fonts.lacking([KNOWN, UNKNOWN, "a \t\u200d\ufe0f"]) == UNKNOWN
    # Drawn with outlines of that font; pytest makes a warning an error.
    draw(tmp_path / "f.svg", [KNOWN, "b"])
    text = (tmp_path / "f.svg").read_text("utf-8")
    assert "Last" not in text
    draw(tmp_path / "again.svg", [KNOWN, "b"])
    assert text == (tmp_path / "again.svg").read_text("utf-8")


def test_letters_that_no_font_has_are_one_warning(tmp_path, install):
    with pytest.warns(FigureWarning, match="figure .*f.png: no font on this machine has .*fonts-noto-core") as told:
        draw(tmp_path / "f.png", [UNKNOWN, "b", UNKNOWN])
    assert len(told) == 1
    assert "\n" not in str(told[0].message)
    assert (tmp_path / "f.png").exists()
    with pytest.warns(FigureWarning):
        plot_criterion(tmp_path / "c.svg", [1], {UNKNOWN: [1.0]})


@pytest.mark.parametrize(
    ("letters", "package"),
    [("漢字", "fonts-noto-cjk"), ("한", "fonts-noto-cjk"), ("🦊", "symbola"), ("ꦲ", "noto-core")],
)
def test_the_warning_names_a_package_that_has_the_script(letters, package):
    assert package in fonts.advice(letters)


@pytest.mark.parametrize(
    ("text", "first"),
    [("漢字", "Noto Sans CJK SC"), ("漢字かな", "Noto Sans CJK JP"), ("漢字한글", "Noto Sans CJK KR")],
)
def test_han_characters_take_the_shapes_of_their_language(install, text, first):
    for country in ("JP", "KR", "SC"):
        install(f"Noto Sans CJK {country}", "漢字かな한글")
    assert fonts.families_for([text]) == ["DejaVu Sans", first]
    assert fonts.families_for(text) == ["DejaVu Sans", first]


def test_right_to_left_words_are_turned_round_where_matplotlib_does_not(tmp_path, monkeypatch):
    word, plain = "שָׁלום", "abc"
    assert fonts.can_shape() == (fonts.shaped(word) == word)
    monkeypatch.setattr(fonts, "can_shape", lambda: False)
    assert fonts.shaped(plain) == plain
    assert fonts.shaped(word) == "םולשָׁ"  # marks stay with their letters
    with pytest.warns(FigureWarning, match=r"does not join the letters .*3\.11"):
        draw(tmp_path / "f.png", [word])


@pytest.mark.parametrize("words", [["שלום", "עולם", "2"], ["مرحبا", "بالعالم"]])
def test_right_to_left_sentences_are_drawn(tmp_path, words):
    if not fonts.can_shape():
        pytest.skip("this matplotlib does not shape text")
    draw(tmp_path / "f.png", words)
    assert fonts.width_of(words[0], 9, fonts.families_for(words)) > 0.1
