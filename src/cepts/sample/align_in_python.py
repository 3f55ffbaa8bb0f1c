"""Train an aligner on the sample, align with it, score it, save it and load it again.

python examples/align_in_python.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import cepts
from cepts.evaluate import compare

EXAMPLES = Path(__file__).parent


def main() -> None:
    """Show each step."""
    bitext = cepts.read_bitext(EXAMPLES / "sample.en", EXAMPLES / "sample.fr")
    aligner = cepts.HMM().fit(bitext)
    alignments = aligner.align(bitext)
    source, target = bitext[2]
    print("Linked words of the third pair, with confidences:")
    for link, confidence in zip(alignments[2].links, alignments[2].confidence, strict=True):
        print(f"  {source[link[0]]} - {target[link[1]]}  {confidence:.2f}")

    gold = cepts.read_links(EXAMPLES / "sample.gold.wa")
    scores = compare(gold, alignments.part(0, len(gold))).scores
    print(f"Alignment error rate on the first {len(gold)} pairs: {100 * scores.aer:.1f} %")

    with TemporaryDirectory() as directory:
        cepts.write_links(Path(directory) / "links.txt", alignments)
        aligner.save(Path(directory) / "model")
        aligner = cepts.load(Path(directory) / "model")

    pair = ["Delete", "the", "blue", "cells"], ["Supprimez", "les", "cellules", "bleues"]
    print("Links of a new pair:", aligner.align_pair(*pair).links)
    forward, reverse = aligner.score(cepts.Bitext.from_tokens([pair]))[0]
    print(f"Its log-probabilities, forward and reverse: {forward:.1f} and {reverse:.1f}")
    for entry in aligner.translations(words=["cell"], top=2):
        print(f"{entry.word} - {entry.other}  {entry.probability:.2f}")


if __name__ == "__main__":
    main()
