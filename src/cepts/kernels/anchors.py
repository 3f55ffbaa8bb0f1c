"""Links that are favoured wherever they lie: which words these are, and the segments of a lattice that hold one."""

from __future__ import annotations

from cepts.kernels import kernel
from cepts.kernels.phrase_features import IDENTICAL, SURE

# The distance, as a share of the sentence, from which on features of distance count in full against a link.
FAR = 0.3


@kernel
def find_twins(match, source_telling, target_telling, links, pull):
    """Find words that are the same on both sides, telling, and the only ones there with their lemma.

    Fills the rows of `links` with their places and `pull` with how far apart they stand, from 0 to 1; returns how many
    there are. `match` is that of `Likeness`.
    """
    length, width = match.shape
    count = 0
    for i in range(length):
        if not source_telling[i]:
            continue
        twin = -1
        for j in range(width):
            if match[i, j] <= SURE:
                twin = j if twin == -1 else width
        if twin < 0 or twin == width or match[i, twin] > IDENTICAL or not target_telling[twin]:
            continue
        alone = True
        for other in range(length):
            alone = alone and (other == i or match[other, twin] > SURE)
        if alone:
            distance = abs((i + 0.5) / length - (twin + 0.5) / width)
            links[count, 0], links[count, 1] = i, twin
            pull[count] = min(distance / FAR, 1.0)
            count += 1
    return count


@kernel
def favour_links(emit, links, gains):
    """Add `gains[n]` to each item of `emit` whose two spans hold the words of link n, `links[n]`.

    `emit` is I x Ls x J x Lt as in kernels.segments: the item [a, l - 1, b, w - 1] is the span [a, a + l) with the span
    [b, b + w). Spans that go beyond a sentence stay as they are.
    """
    length, longest, width, widest = emit.shape
    for n in range(len(gains)):
        i, j = links[n, 0], links[n, 1]
        for span in range(longest):
            for a in range(max(0, i - span), min(i, length - 1 - span) + 1):
                for wide in range(widest):
                    for b in range(max(0, j - wide), min(j, width - 1 - wide) + 1):
                        emit[a, span, b, wide] += gains[n]
