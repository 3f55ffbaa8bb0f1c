"""Train Thot's Model 4 or HMM in both directions and write their links; runs in the peers' environment.

    thot_links.py ibm4|hmm SOURCE TARGET FORWARD REVERSE

The iterations are those of SIL's own `machine` library, which is how Thot is mostly used: 5 of each model on the way
and 4 of the last one, with one word class for all words. Thot has threads of its own and uses all processors.
"""

from __future__ import annotations

import sys
from pathlib import Path

import thot.alignment

# Each model starts from the one before it.
CHAINS = {
    "hmm": [(thot.alignment.Ibm1AlignmentModel, 5), (thot.alignment.HmmAlignmentModel, 4)],
    "ibm4": [
        (thot.alignment.Ibm1AlignmentModel, 5),
        (thot.alignment.HmmAlignmentModel, 5),
        (thot.alignment.Ibm3AlignmentModel, 5),
        (thot.alignment.Ibm4AlignmentModel, 4),
    ],
}

Sentences = list[list[str]]


def read(path: Path) -> Sentences:
    """The words of each line, between blanks and nothing else."""
    return [line.split() for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def train(chain: str, given: Sentences, explained: Sentences) -> thot.alignment.AlignmentModel:
    """The last model of the chain; `given` and `explained` have words on every line."""
    model = None
    for make, iterations in CHAINS[chain]:
        if model is None:
            model = make()
            for pair in zip(given, explained, strict=True):
                model.add_sentence_pair(*pair, 1)
        else:
            model = make(model)
        # Keeping the links of the last iteration is how Thot aligns its training text.
        model.emit_training_alignments = make is CHAINS[chain][-1][0]
        model.start_training()
        for _ in range(iterations):
            model.train()
        model.end_training()
    return model


def links_of(model: thot.alignment.AlignmentModel, pair: int) -> list[tuple[int, int]]:
    """The links (given, explained) of a pair of the training text."""
    _, matrix = model.get_training_alignment(pair)
    return [(int(i), int(j)) for i, j in zip(*matrix.to_numpy().nonzero(), strict=True)]


def main() -> None:
    """Write the links of both directions; a pair with an empty side has none."""
    chain, *paths = sys.argv[1:]
    source, target = map(read, map(Path, paths[:2]))
    full = [bool(left and right) for left, right in zip(source, target, strict=True)]
    sources, targets = ([words for words, kept in zip(text, full, strict=True) if kept] for text in (source, target))
    for output, swap in zip(paths[2:], (False, True), strict=True):
        given, explained = (targets, sources) if swap else (sources, targets)
        model = train(chain, given, explained)
        places = iter(range(len(given)))
        with Path(output).open("w", encoding="utf-8") as file:
            for kept in full:
                links = sorted(link[::-1] if swap else link for link in links_of(model, next(places))) if kept else []
                file.write(" ".join(f"{i}-{j}" for i, j in links) + "\n")


if __name__ == "__main__":
    main()
