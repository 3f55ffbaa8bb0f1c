"""Slow, plain twins of the tagger: strings for features, all paths for Viterbi, all weights for the average."""

from __future__ import annotations

from itertools import product

import numpy as np


def path_score(path, scores, transitions):
    """Sum of scores and transitions; the last row of `transitions` is for the start."""
    before = len(scores[0])
    total = 0.0
    for token, label in enumerate(path):
        total += float(transitions[before][label]) + float(scores[token][label])
        before = label
    return total


def enumerate_paths(scores, transitions):
    """The score of every path."""
    count = len(scores[0])
    return {path: path_score(path, scores, transitions) for path in product(range(count), repeat=len(scores))}


def shape(word):
    kinds = []
    for character in word:
        if character in "0123456789":
            kind = "0"
        elif character.lower() != character:
            kind = "A"
        elif ord(character) > 127 or "a" <= character <= "z":
            kind = "a"
        else:
            kind = character
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
    return "".join(kinds)


def column(name, word, tag):
    """What a template's column says of a word; None where the word lacks it."""
    lower = word.lower()
    if name.startswith("prefix"):
        size = int(name[6:])
        return lower[:size] if len(lower) > size else None
    if name.startswith("suffix"):
        size = int(name[6:])
        return lower[-size:] if len(lower) > size else None
    capitals = [character.lower() != character for character in word]
    signs = (
        any(character in "0123456789" for character in word),
        "-" in word,
        any(capitals),
        bool(capitals) and capitals[0],
    )
    return {"form": word, "lower": lower, "shape": shape(word), "signs": signs, "tag": tag}[name]


def features(sentence, tags, templates):
    """For each token and template a tuple that names the feature, or None."""
    found = []
    for token in range(len(sentence)):
        row = []
        for number, template in enumerate(templates):
            values = []
            for part in template.split():
                name, place = part[:-1].split("[")
                at = token + int(place)
                if at < 0:
                    values.append(("before", at))
                elif at >= len(sentence):
                    values.append(("after", at - len(sentence)))
                else:
                    values.append(column(name, sentence[at], tags[at] if tags else None))
            row.append(None if None in values else (number, *values))
        found.append(row)
    return found


def averaged_perceptron(sentences, gold, order_of_passes, rows, labels, allowed, margin):
    """Mean over all steps of the weights as they stood after each; paths by enumeration.

    `sentences` are lists of lists of feature numbers. Returns weights and transitions.
    """
    weights = np.zeros((rows, labels))
    transitions = np.where(allowed, 0.0, -np.inf)
    all_weights, all_transitions = [], []
    for order in order_of_passes:
        for number in order:
            sentence, right = sentences[number], gold[number]
            if sentence:
                scores = [
                    [
                        sum(weights[row, label] for row in token if row >= 0) + margin * (label != wanted)
                        for label in range(labels)
                    ]
                    for token, wanted in zip(sentence, right, strict=True)
                ]
                paths = enumerate_paths(scores, transitions)
                # Of equal paths Viterbi takes the one whose last label is lowest, then the one before it.
                found = min(paths, key=lambda path: (-paths[path], path[::-1]))
                for path, sign in ((right, 1), (found, -1)):
                    before = labels
                    for token, label in zip(sentence, path, strict=True):
                        transitions[before, label] += sign
                        before = label
                        for row in token:
                            if row >= 0:
                                weights[row, label] += sign
            all_weights.append(weights.copy())
            all_transitions.append(transitions.copy())
    return np.mean(all_weights, axis=0), np.mean(all_transitions, axis=0)
