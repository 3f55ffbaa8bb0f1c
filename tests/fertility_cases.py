"""Random models with fertilities, and what the oracle needs to know of them."""

from __future__ import annotations

import dataclasses

import numpy as np

import oracles_fertility as oracles
from cepts.words.fertility import Distortions
from cepts.words.text import TextFacts


def random_model(kind, block, random, decades=2.0):
    """A model of the words of `block` with any distributions."""
    model = kind(null_prob=random.uniform(0.02, 0.6), **({"classes": 3} if issubclass(kind, Distortions) else {}))
    model.prepare(TextFacts.of(block.pairs))
    state = {}
    for name, array in model.state().items():
        if name.endswith("classes"):
            state[name] = random.integers(0, 3, array.shape).astype(np.int32)
        else:
            weights = 10 ** random.uniform(-decades, 0, array.shape)
            state[name] = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    model.restore(state)
    model.widen(block.pairs)
    return model


def some_unknown(block, random):
    """The block with some words that the model does not know."""

    def forget(words):
        return np.where(random.random(len(words)) < 0.2, -1, words).astype(np.int32)

    return dataclasses.replace(block, source_words=forget(block.source_words), target_words=forget(block.target_words))


def oracle_pairs(model, block, direction):
    """The pairs of a block as the oracle sees them; None for empty ones."""
    pairs = block.pairs
    found = []
    for pair in range(len(pairs)):
        source = slice(*pairs.source_offsets[pair : pair + 2])
        target = slice(*pairs.target_offsets[pair : pair + 2])
        shape = (source.stop - source.start, target.stop - target.start)
        if not min(shape):
            found.append(None)
            continue
        cells = block.cells[block.pairs.cell_offsets[pair] : block.pairs.cell_offsets[pair + 1]]
        lexicon = block.lexicon[cells, direction].astype(float).reshape(shape)
        sides = [
            (block.source_words[source], model.source_classes, model.source_fertility, block.source_given_null[source]),
            (block.target_words[target], model.target_classes, model.target_fertility, block.target_given_null[target]),
        ]
        here, there = sides if direction == 0 else sides[::-1]
        # An unknown word (-1) is in the last row of every table.
        classes = [np.append(side[1], model.placements.shape[2] - 1)[side[0]].tolist() for side in (here, there)]
        found.append(
            oracles.Pair(
                lexicon if direction == 0 else lexicon.T,
                there[3].astype(float),
                here[0].tolist(),
                *classes,
                here[2].astype(float),
                model.placements[direction].astype(float),
                model.displacements[direction].astype(float),
                model.null_prob,
                model.chained,
            )
        )
    return found
