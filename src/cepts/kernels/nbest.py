"""The most probable alignments of a sentence pair, exact, in descending order: for the HMM and for independent links.

First, the best completion from every word and state of the trellis is found. Every alignment of the list but the best
equals one before it, its *parent*, up to some word, makes another choice there and continues with the best completion.
A heap holds these deviations, never many more than the list still needs. Equal deviations come in the order of their
parents, then of the words, then of the choices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, piece
from cepts.kernels.trellis import complete, fill_hmm, fill_mixture, follow, next_choice, weight_of


class Heap(NamedTuple):
    """Buffers for the deviations of one pair, and for the two best choices of each word and state.

    Deviation n has the loss `losses[n]` against the best alignment; `nodes[n]` has its parent, the word, the state
    there and the choice. `found_losses` are the losses of the alignments of the list.
    """

    choices: Any
    second_losses: Any
    found_losses: Any
    losses: Any
    nodes: Any
    spare_losses: Any
    spare_nodes: Any


class Lists(NamedTuple):
    """The lists of all pairs in one direction.

    The list of a pair starts at `entries[pair]` of `log_probabilities` and at `places[pair]` of `positions`, and may
    reach up to that of the next pair; `found[pair]` receives its length.
    """

    entries: Any
    places: Any
    found: Any
    log_probabilities: Any
    positions: Any


@piece
def _before(loss, parent, word, losses, nodes, place):
    """Whether a deviation comes before the one at `place`. The heap has at most one for each parent and word."""
    if loss != losses[place]:
        return loss < losses[place]
    return parent < nodes[place, 0] or (parent == nodes[place, 0] and word < nodes[place, 1])


@piece
def _move(losses, nodes, place, to_losses, to_nodes, to):
    to_losses[to] = losses[place]
    for field in range(4):
        to_nodes[to, field] = nodes[place, field]


@kernel
def _push(losses, nodes, held, loss, parent, word, state, choice):
    """Add a deviation to the heap, whose root has the least loss."""
    place = held
    while place > 0:
        above = (place - 1) // 2
        if not _before(loss, parent, word, losses, nodes, above):
            break
        _move(losses, nodes, above, losses, nodes, place)
        place = above
    losses[place] = loss
    nodes[place, 0] = parent
    nodes[place, 1] = word
    nodes[place, 2] = state
    nodes[place, 3] = choice


@kernel
def _drop_first(losses, nodes, held):
    """Remove the first of the `held` deviations from the heap."""
    last = held - 1
    place = np.int64(0)
    while True:
        below = 2 * place + 1
        if below >= last:
            break
        right = below + 1
        if right < last and _before(losses[right], nodes[right, 0], nodes[right, 1], losses, nodes, below):
            below = right
        if _before(losses[last], nodes[last, 0], nodes[last, 1], losses, nodes, below):
            break
        _move(losses, nodes, below, losses, nodes, place)
        place = below
    _move(losses, nodes, last, losses, nodes, place)


@kernel
def _keep_first(losses, nodes, held, wanted, spare_losses, spare_nodes):
    """Keep only the first `wanted` deviations of the heap."""
    first = np.int64(0)
    for place in range(wanted):
        _move(losses, nodes, first, spare_losses, spare_nodes, place)
        _drop_first(losses, nodes, held - place)
    # A sorted list is a heap.
    for place in range(wanted):
        _move(spare_losses, spare_nodes, place, losses, nodes, place)


@piece
def _list(count, size, length, trellis, heap, log_probabilities, positions):
    """Fill the list of one pair from its trellis; returns its length.

    The n-th best alignment has the n-th run of `length` numbers in `positions`. Its loss is the sum of the losses of
    its deviations, so rounding cannot change the order. Alignments of probability 0 are not listed.
    """
    choices, second_losses, found_losses = heap.choices, heap.second_losses, heap.found_losses
    losses, nodes = heap.losses, heap.nodes
    after, chained = trellis.after, trellis.chained
    complete(size, length, trellis)
    start = size if chained else 0
    best = after[0, start]
    if best == -np.inf:
        return 0
    for j in range(length):
        for state in range(size + 2 if chained else 1):
            choices[j, state, 0] = -2
    limit = np.inf
    # Not plain numbers: Numba would compile what is called with them once more.
    held = found = np.int64(0)
    nothing = np.int64(-1)
    parent = word = choice = nothing
    state = start
    loss = 0.0
    while True:
        capacity = len(losses) - length - 1
        if held > capacity:
            wanted = count - found
            _keep_first(losses, nodes, held, wanted, heap.spare_losses, heap.spare_nodes)
            held = wanted
            limit = losses[wanted - 1]
        here = start
        if parent >= 0:
            for j in range(word):
                positions[found * length + j] = positions[parent * length + j]
            positions[found * length + word] = choice - 1
            here = follow(state, choice, size, chained)
            other, weight = next_choice(
                word, state, weight_of(word, state, choice, size, trellis), choice, size, trellis
            )
            if other >= 0:
                lost = found_losses[parent] + max(after[word, state] - weight, 0.0)
                if lost <= limit:
                    _push(losses, nodes, held, lost, parent, word, state, other)
                    held += 1
        for j in range(word + 1, length):
            if choices[j, here, 0] == -2:
                first, top = next_choice(j, here, np.inf, nothing, size, trellis)
                choices[j, here, 0] = first
                if count > 1:
                    other, weight = next_choice(j, here, top, first, size, trellis)
                    choices[j, here, 1] = other
                    second_losses[j, here] = top - weight
            if count > 1 and choices[j, here, 1] >= 0:
                lost = loss + second_losses[j, here]
                if lost <= limit:
                    _push(losses, nodes, held, lost, found, j, here, choices[j, here, 1])
                    held += 1
            positions[found * length + j] = choices[j, here, 0] - 1
            here = follow(here, choices[j, here, 0], size, chained)
        found_losses[found] = loss
        log_probabilities[found] = best - loss
        found += 1
        if found == count or held == 0:
            return found
        loss = losses[0]
        parent = nodes[0, 0]
        word = nodes[0, 1]
        state = nodes[0, 2]
        choice = nodes[0, 3]
        _drop_first(losses, nodes, held)
        held -= 1


@piece
def _fill_list(pair, size, length, trellis, heap, lists):
    if size > 0 and length > 0:
        start, stop = lists.entries[pair], lists.entries[pair + 1]
        positions = lists.positions[lists.places[pair] : lists.places[pair + 1]]
        lists.found[pair] = _list(
            stop - start, size, length, trellis, heap, lists.log_probabilities[start:stop], positions
        )


@kernel
def mixture_lists(block, priors, trellis, direction, heap, lists):
    """The most probable alignments of all pairs of a block in one direction, for independent links."""
    for pair in range(len(lists.found)):
        size, length = fill_mixture(direction, pair, block, priors, trellis)
        _fill_list(pair, size, length, trellis, heap, lists)


@kernel
def hmm_lists(block, chain, trellis, direction, heap, lists):
    """The most probable alignments of all pairs of a block in one direction, for the HMM.

    Pairs are taken in the block's `order`, so that few tables of jumps are made.
    """
    tabled = np.int64(0)
    for place in range(len(block.order)):
        pair = block.order[place]
        tabled, length = fill_hmm(direction, pair, tabled, block, chain, trellis)
        _fill_list(pair, tabled, length, trellis, heap, lists)
