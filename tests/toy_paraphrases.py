"""Sentence pairs with an obvious rule: a word is linked with itself and with its synonym, which has the same lemma, and
`give up` with `quit`.
"""

from __future__ import annotations

import random

from cepts.data import Sentence, SentencePair
from cepts.phrases.lexical import Lexical
from cepts.phrases.paraphrases import Paraphrases, Rule

CONCEPTS = 12
PHRASE = Lexical(paraphrases=Paraphrases.from_rules([Rule("give up", "quit", "[VP]", (1.0,) * 8)]))


def toy_pairs(count, seed=0, *, phrases=True, tags=False, lemmas=True):
    """Pairs whose gold links follow the rule."""
    draw = random.Random(seed)
    return [_pair(draw, number, phrases, tags, lemmas) for number in range(count)]


def _pair(draw, number, phrases, tags, lemmas):
    concepts = [str(k) for k in draw.sample(range(CONCEPTS), draw.randint(3, 6))]
    if phrases and draw.random() < 0.5:
        concepts.insert(draw.randrange(len(concepts)), "quit")
    others = list(concepts)
    if draw.random() < 0.5:
        place = draw.randrange(len(others) - 1)
        others[place : place + 2] = others[place : place + 2][::-1]
    if draw.random() < 0.3:
        del others[draw.randrange(len(others))]
    if draw.random() < 0.3:
        others.insert(draw.randrange(len(others)), f"new{draw.randrange(50)}")
    sides = _words(draw, concepts), _words(draw, others)
    links = tuple(
        (i, j) for i, (_, one) in enumerate(sides[0]) for j, (_, other) in enumerate(sides[1]) if one == other
    )
    sentences = [
        Sentence(
            tuple(token for token, _ in side),
            pos=tuple("VB" if concept == "quit" else "NN" for _, concept in side) if tags else None,
            lemma=tuple(f"l{concept}" if token[0] in "wv" else token for token, concept in side) if lemmas else None,
        )
        for side in sides
    ]
    return SentencePair(*sentences, id=f"toy{number}", sure=links, possible=())


def _words(draw, concepts):
    """Tokens and what they stand for."""
    found = []
    for concept in concepts:
        if concept == "quit":
            found += [("quit", "quit")] if draw.random() < 0.5 else [("give", "quit"), ("up", "quit")]
        elif concept.startswith("new"):
            found.append((concept, concept))
        else:
            found.append((draw.choice("wv") + concept, concept))
    return found
