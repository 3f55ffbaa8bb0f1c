"""Fit a language model that adapts, save and load it, and score word by word as a decoder does.

python examples/lm_in_python.py
"""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

from cepts.io import read_documents
from cepts.lm import AdaptedModel, IncrementalScorer
from cepts.pipeline.lm import document_perplexities

EXAMPLES = Path(__file__).parent / "lm"
PEAS = "mendel crossed plants with violet flowers and plants with white flowers"
DIVISION = "the spindle pulls the sister chromatids apart in anaphase"
AFTER = "the offspring had"


def main() -> None:
    """Show each step."""
    text, dev, test = (read_documents(EXAMPLES / f"biology{part}.txt") for part in ("", ".dev", ".test"))
    model = AdaptedModel(hidden=50).fit(text, dev=dev)
    values = document_perplexities(model, test).values
    print(f"Perplexity of the test text: n-grams {values['background']:.0f}, adapted {values['all']:.0f}")

    with TemporaryDirectory() as directory:
        model.save(f"{directory}/model")
        model = AdaptedModel.load(f"{directory}/model")

    # A state never changes, so a decoder can continue it with any number of words.
    scorer = IncrementalScorer(model)
    for history in (PEAS, DIVISION):
        state = scorer.start()
        for word in history.split():
            _, state = scorer.score(state, word)
        _, state = scorer.finish(state)  # the sentence ends, and the model remembers it
        for word in AFTER.split():
            _, state = scorer.score(state, word)
        found = {word: math.exp(scorer.score(state, word)[0]) for word in ("flowers", "chromatids", "the")}
        print(f"After '{history.split()[0]} {history.split()[1]} ...':")
        print("  " + ", ".join(f"P({word}) = {prob:.5f}" for word, prob in found.items()))


if __name__ == "__main__":
    main()
