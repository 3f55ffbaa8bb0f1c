"""Texts with gold links in several languages, for benchmarks of tuning.

Beside the Hansards and Romanian there are Swedish, Portuguese and Chinese gold pairs, with no text beyond them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import hansards
import report
import romanian
from cepts.data import Alignments, Bitext
from cepts.io import read_bitext, read_links
from cepts.pipeline.tuned import default_for_tuning, members_for_tuning
from cepts.tuning import General, ScoredRun, TunedScorer
from cepts.words import Aligner

__all__ = ["LANGUAGES", "GoldText", "general_model", "gold_text"]

# Language -> folder, source, target.
SMALL = {"sv": ("en-sv-ges", "en", "sv"), "pt": ("en-pt-golden", "en", "pt"), "zh": ("zh-en-thu", "zh", "en")}
LANGUAGES = ("fr", "ro", *SMALL)
# So that no language has most of the links of a general model.
MOST_PAIRS = {"zh": 250, "sv": 400}
NAMES = ("hmm", "ibm4", "hmm")


@dataclass
class GoldText:
    """A text whose first pairs have gold links, with the models that are trained on it when they are first needed."""

    name: str
    bitext: Bitext
    gold: Alignments

    @cached_property
    def members(self) -> list[Aligner]:
        """The word models on which tuning builds, trained on the whole text."""
        report.say(f"training on the {self.name} text, {len(self.bitext):,} pairs")
        return [aligner.fit(self.bitext) for aligner in members_for_tuning(None, {"threads": 1})]

    @cached_property
    def default(self) -> Aligner:
        """The default model, trained on the whole text: the aligner without tuning."""
        report.say(f"training the default model on the {self.name} text, {len(self.bitext):,} pairs")
        aligner = default_for_tuning(None, {"threads": 1})
        assert aligner is not None
        return aligner.fit(self.bitext)

    @property
    def pairs(self) -> Bitext:
        """The pairs with gold links."""
        return self.bitext.part(0, len(self.gold))

    def only(self, pairs: Sequence[int]) -> Alignments:
        """Gold links of some pairs; the others have none."""
        return self.gold.only(np.isin(self.gold.pair, pairs))

    def scored(self, pairs: Sequence[int]) -> tuple[list[ScoredRun], Alignments]:
        """Some gold pairs with their features, and their links."""
        own = Bitext.from_tokens([self.bitext[pair] for pair in pairs])
        return TunedScorer(self.members, threads=1).scored(own), self.gold.take(np.asarray(pairs))


def gold_text(name: str, data: Path, work: Path) -> GoldText:
    """The text of a language: `fr` has the test and then the trial pairs of the Hansards, `fr-large` more text."""
    if name.startswith("fr"):
        text = hansards.make_text("large" if name == "fr-large" else "small", data, work)
        parts = [hansards.gold(data, part) for part in (hansards.TEST, hansards.TRIAL)]
        return GoldText(name, read_bitext(text.source, text.target), Alignments.concatenate(parts))
    if name == "ro":
        romanian.check_data(data)
        return GoldText(name, romanian.bitext(data), romanian.gold(data))
    folder, source, target = SMALL[name]
    place = data / "bitext" / folder
    if not place.is_dir():
        sys.exit(f"There is no bitext/{folder} in {data}; say where the data is: --data DIR.")
    bitext = read_bitext(place / f"test.{source}", place / f"test.{target}")
    return GoldText(name, bitext, read_links(place / "test.wa", format="naacl", sentences=len(bitext)))


def training_pairs(text: GoldText) -> list[int]:
    """The pairs from which a general model is learnt: of the Hansards, the trial pairs only."""
    if text.name == "fr":
        return list(range(hansards.TRIAL.start, hansards.TRIAL.stop))
    pairs = np.random.default_rng(0).permutation(len(text.gold))[: MOST_PAIRS.get(text.name)]
    return sorted(pairs.tolist())


def general_model(texts: Sequence[GoldText]) -> General:
    """A general model of the links of some languages."""
    report.say(f"general model of {', '.join(text.name for text in texts)}")
    return General.learn(NAMES, [text.scored(training_pairs(text)) for text in texts])
