"""A language model that adapts: fit, score word by word as a decoder does, save and load.

python examples/lm_in_python.py
"""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

from cepts.io import read_documents
from cepts.lm import FitOptions, Scorer, fit_adapted, load_adapted, save_adapted
from cepts.pipeline.lm import score_documents

EXAMPLES = Path(__file__).parent / "lm"
PEAS = "mendel crossed plants with violet flowers and plants with white flowers"
DIVISION = "the spindle pulls the sister chromatids apart in anaphase"
AFTER = "the offspring had"


def main() -> None:
    """Show each step."""
    text, dev, test = (read_documents(EXAMPLES / f"biology{part}.txt") for part in ("", ".dev", ".test"))
    model = fit_adapted(text, held_out=dev, options=FitOptions(hidden=50))
    values = score_documents(model, test).values
    print(f"Perplexity of the test text: {values['background']:.0f} by n-grams, {values['all']:.0f} adapted")

    with TemporaryDirectory() as directory:
        save_adapted(model, f"{directory}/model")
        model = load_adapted(f"{directory}/model")

    # A state is never changed, so that a decoder can go on from it with as many words as it likes.
    scorer = Scorer(model)
    for history in (PEAS, DIVISION):
        state = scorer.start()
        for word in history.split():
            _, state = scorer.score(state, word)
        _, state = scorer.finish(state)  # the sentence ends; what was said is remembered
        for word in AFTER.split():
            _, state = scorer.score(state, word)
        found = {word: math.exp(scorer.score(state, word)[0]) for word in ("flowers", "chromatids", "the")}
        print(f"After '{history.split()[0]} {history.split()[1]} ...':")
        print("  " + ", ".join(f"P({word}) = {prob:.5f}" for word, prob in found.items()))


if __name__ == "__main__":
    main()
