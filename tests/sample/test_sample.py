from __future__ import annotations

from importlib.resources import files

import pytest

SAMPLE = files("cepts") / "sample"
SENTENCES = {language: (SAMPLE / f"sample.{language}").read_text("utf-8").splitlines() for language in ("en", "fr")}
GOLD = [line.split() for line in (SAMPLE / "sample.gold.wa").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_sample_is_3000_tokenised_sentences(language: str) -> None:
    assert len(SENTENCES[language]) == 3000
    for sentence in SENTENCES[language]:
        assert 4 <= len(sentence.split(" ")) <= 25
        assert sentence.split() == sentence.split(" ")


def test_no_pair_stands_twice() -> None:
    assert len(set(zip(SENTENCES["en"], SENTENCES["fr"], strict=True))) == 3000


def test_gold_links_are_in_range_and_in_order() -> None:
    links = [(int(sentence), int(i), int(j)) for sentence, i, j, _ in GOLD]
    assert links == sorted(set(links))
    for sentence, i, j in links:
        assert 1 <= i <= len(SENTENCES["en"][sentence - 1].split())
        assert 1 <= j <= len(SENTENCES["fr"][sentence - 1].split())
    assert {tier for *_, tier in GOLD} == {"S", "P"}


def test_each_of_the_first_40_sentences_has_sure_links() -> None:
    assert {int(sentence) for sentence, _, _, tier in GOLD if tier == "S"} == set(range(1, 41))
    assert {int(sentence) for sentence, *_ in GOLD} == set(range(1, 41))


def test_the_licence_goes_with_the_text() -> None:
    assert "Mozilla Public License, v. 2.0" in (SAMPLE / "NOTICE.md").read_text("utf-8")
    assert (SAMPLE / "MPL-2.0.txt").read_text("utf-8").startswith("Mozilla Public License Version 2.0")
