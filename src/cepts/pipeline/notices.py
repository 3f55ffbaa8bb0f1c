"""Lines about input that is readable but looks wrong: how a text is tokenised, words that a loaded model lacks.

Jobs add them to the list `notices` that their caller gives; the command line prints that list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, Scorer, Text, tokenisation_notice
from cepts.store import Shelf
from cepts.words.prior import ShelvedPrior

MANY_UNKNOWN = 0.3  # of the words of a text
MANY_CAPITALS = 0.1  # the same where most would be known in lower case

Knows: TypeAlias = Callable[[Sequence[str]], NDArray[np.bool_]]


def note_tokens(names: tuple[str, str], bitext: Bitext, notices: list[str]) -> None:
    """Note a side whose tokens look wrong."""
    found = (tokenisation_notice(name, text) for name, text in zip(names, (bitext.source, bitext.target), strict=True))
    notices += [notice for notice in found if notice is not None]


def note_unknown_words(names: tuple[str, str], scorer: Scorer, bitext: Bitext, notices: list[str]) -> None:
    """Note a side of which a loaded model does not know many words, or sides that seem to be exchanged.

    Members of a mixture are asked one by one; a scorer without words of its own, such as given matrices, is not.
    """
    texts = bitext.source, bitext.target
    for member in getattr(scorer, "scorers", [scorer]):
        if not hasattr(member, "knows"):
            continue
        sides: list[Knows] = [partial(member.knows, side=side) for side in (0, 1)]
        unknown = [_unknown_share(text, knows) for text, knows in zip(texts, sides, strict=True)]
        if min(unknown) > MANY_UNKNOWN:
            exchanged = [_unknown_share(text, knows) for text, knows in zip(texts, sides[::-1], strict=True)]
            if max(exchanged) < min(unknown) / 2:
                notices.append(
                    f"the model knows the words of {names[1]} as source and those of {names[0]} as target; exchange "
                    f"the two sides."
                )
                continue
        for found in zip(names, texts, sides, strict=True):
            notice = unknown_notice(*found)
            notices += [] if notice is None else [notice]


def unknown_notice(name: str, text: Text, knows: Knows) -> str | None:
    """A line about the text `name` where many of its words are unknown, which `knows` tells; else None."""
    share = _unknown_share(text, knows)
    if share <= MANY_CAPITALS:
        return None
    lower = _unknown_share(text, lambda words: knows([word.lower() for word in words]))
    if lower < share / 2:
        return (
            f"{name}: the model does not know {share:.0%} of the words, but only {lower:.0%} if they are lower-cased; "
            f"lower-case the text, or train a model that ignores case (`lowercase`)."
        )
    if share <= MANY_UNKNOWN:
        return None
    return (
        f"{name}: the model does not know {share:.0%} of the words; check that language, domain and tokenisation "
        f"are those of its training text."
    )


def _unknown_share(text: Text, knows: Knows) -> float:
    """Share of the words with a letter in them that are unknown, each as often as it occurs."""
    words = text.vocabulary.words
    times = np.bincount(text.ids, minlength=len(words))
    times[[not any(map(str.isalpha, word)) for word in words]] = 0
    total = int(times.sum())
    return float(times[~knows(words)].sum()) / total if total else 0.0


def note_unused_priors(names: tuple[str, str], shelf: Shelf, notices: list[str]) -> None:
    """Note priors none of which has words of the text on the shelf."""
    used = ShelvedPrior(shelf).used if shelf.has("prior") else None
    if used is not None and used[1] and not used[0]:
        notices.append(
            f"none of the {used[1]:,} pairs of words in the priors has words of {names[0]} and {names[1]}; check that "
            f"languages and tokenisation are the same, source first."
        )
