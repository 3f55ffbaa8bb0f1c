"""Align sentences with their paraphrases: train an aligner, score it, save and load it, and align a new pair.

python examples/phrases_in_python.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import cepts
from cepts.evaluate import score_phrases

EXAMPLES = Path(__file__).parent
NEW = ("Many guests left as soon as the rain stopped .", "Many guests went home when the rain ended .")


def main() -> None:
    """Show each step."""
    pairs = cepts.read_sentence_pairs(EXAMPLES / "paraphrases.jsonl")
    # The tagger, chunker and tables are for English; use language=None for another language.
    aligner = cepts.PhraseAligner(iterations=50).fit(pairs)
    scores = score_phrases(pairs, aligner.align(pairs))
    print(f"F1 on the {len(pairs)} training pairs: {100 * scores.f1:.1f} %")

    source, target = (cepts.Sentence(tuple(side.split())) for side in NEW)
    new = cepts.SentencePair(source, target)
    with TemporaryDirectory() as directory:
        aligner.save(f"{directory}/model")
        aligner = cepts.PhraseAligner.load(f"{directory}/model")
    links = aligner.align([new])
    assert links.segments is not None
    print("Phrases of a new pair, with confidences:")
    for source_span, target_span, confidence in links.segments[0]:
        words = " ".join(new.source.tokens[slice(*source_span)]), " ".join(new.target.tokens[slice(*target_span)])
        print(f"  {words[0]} ~ {words[1]}  {confidence:.2f}")
    print(f"Its links: {links[0].links}")

    forward, reverse = aligner.posteriors([new])
    print(f"P(left - went), forward and reverse: {forward[0][2, 2]:.2f} and {reverse[0][2, 2]:.2f}")


if __name__ == "__main__":
    main()
