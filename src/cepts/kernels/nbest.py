"""The most probable alignments of a sentence pair, exact, in falling order: of the HMM and of independent links.

Both are a trellis: each explained word takes one of I + 1 *choices*, null (0) or position i (choice i + 1), whose
log-weight depends on the word and on the *state* that the words before left. With independent links there is one state.
The HMM has a state for each position, which null does not change, one before the first word (I) and one for sentences
that so far have only nulls (I + 1). The latter two make an alignment the same thing as a path: where the first words
are null's, the hidden position at which they stand is summed out in the weight of the first link.

First, backwards, comes the best completion from every word and state (`after`). Then the list: every alignment but the
best follows one above it, its *parent*, up to some word, makes another choice there and goes on as well as can be. A
heap holds these deviations, never many more than the list still wants. Equal ones come in the order of their parents,
then of the words, then of the choices.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, vector_kernel


@vector_kernel
def _complete(size, length, chained, into, through, free, after):
    """Fill `after[j, state]`, the best log-weight of words j, j + 1, ...; add what follows to `through[j, i]`."""
    states = size + 2 if chained else 1
    for state in range(states):
        after[length, state] = 0.0
    for j in range(length - 1, -1, -1):
        if not chained:
            top = free[j]
            for i in range(size):
                top = max(top, through[j, i])
                through[j, i] += after[j + 1, 0]
            after[j, 0] = top + after[j + 1, 0]
            continue
        for i in range(size):
            through[j, i] += after[j + 1, i]
        if j == 0:
            break
        row = after[j]
        following = after[j + 1]
        for state in range(states):
            row[state] = free[j] + following[state]
        for i in range(size):
            rest = through[j, i]
            for state in range(states):
                weight = into[i, state] + rest
                row[state] = weight if weight > row[state] else row[state]
    if chained:
        top = free[0] + after[1, size + 1]
        for i in range(size):
            top = max(top, into[i, size] + through[0, i])
        after[0, size] = top


@kernel
def _weight(j, state, choice, size, chained, into, through, free, after):
    """Log-weight of a choice with the best completion after it."""
    if choice > 0:
        return into[choice - 1, state] + through[j, choice - 1]
    return free[j] + after[j + 1, size + 1 if chained and state == size else state]


@kernel
def _next_choice(j, state, weight, choice, trellis):
    """The best choice after the given one and its weight, or -1 where there is none. Of equal ones the lower wins."""
    top = -np.inf
    found = -1
    for other in range(trellis[0] + 1):
        its = _weight(j, state, other, *trellis)
        if its > top and (its < weight or (its == weight and other > choice)):
            top = its
            found = other
    return found, top


@kernel
def _follow(state, choice, size, chained):
    """The state after a choice."""
    if not chained:
        return 0
    if choice > 0:
        return choice - 1
    return size + 1 if state == size else state


@kernel
def _before(loss, parent, word, losses, nodes, place):
    """Whether a deviation comes before that at `place`. The heap has at most one of a parent and a word."""
    if loss != losses[place]:
        return loss < losses[place]
    return parent < nodes[place, 0] or (parent == nodes[place, 0] and word < nodes[place, 1])


@kernel
def _move(losses, nodes, place, to_losses, to_nodes, to):
    to_losses[to] = losses[place]
    for field in range(4):
        to_nodes[to, field] = nodes[place, field]


@kernel
def _push(losses, nodes, held, loss, parent, word, state, choice):
    """Add a deviation to the heap, the one of least loss first."""
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
    """Take the first of `held` deviations out of the heap."""
    last = held - 1
    place = 0
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
    """Leave only the first `wanted` deviations in the heap."""
    for place in range(wanted):
        _move(losses, nodes, 0, spare_losses, spare_nodes, place)
        _drop_first(losses, nodes, held - place)
    # In order, they are a heap.
    for place in range(wanted):
        _move(spare_losses, spare_nodes, place, losses, nodes, place)


@kernel
def _scratch(longest, count, chained):
    """Room for the longest sentence: the trellis, the two best choices of each word and state, and the heap."""
    states = longest + 2 if chained else 1
    held = 2 * count + longest + 2
    return (
        np.zeros((longest, states)),
        np.zeros((longest, longest)),
        np.zeros(longest),
        np.zeros((longest + 1, states)),
        np.empty((longest, states, 2), np.int32),
        np.empty((longest, states)),
        np.empty(count),
        np.empty(held),
        np.empty((held, 4), np.int64),
        np.empty(count),
        np.empty((count, 4), np.int64),
    )


@kernel
def _list(count, size, length, chained, scratch, log_probabilities, positions):
    """Fill the list of one pair from its trellis; returns how many alignments it has.

    Row n of `positions` is the n-th best. An alignment's loss against the best is a sum of what its deviations lose, so
    that no alignment comes out above one before it. Those of probability 0 are left out.
    """
    into, through, free, after, choices, second_losses, found_losses, losses, nodes, spare_losses, spare_nodes = scratch
    _complete(size, length, chained, into, through, free, after)
    trellis = (size, chained, into, through, free, after)
    start = size if chained else 0
    best = after[0, start]
    if best == -np.inf:
        return 0
    choices[:length, : size + 2 if chained else 1] = -2
    held = 0
    limit = np.inf
    parent = word = choice = -1
    state = start
    loss = 0.0
    found = 0
    while True:
        capacity = len(losses) - length - 1
        if held > capacity:
            wanted = count - found
            _keep_first(losses, nodes, held, wanted, spare_losses, spare_nodes)
            held = wanted
            limit = losses[wanted - 1]
        here = start
        if parent >= 0:
            positions[found, :word] = positions[parent, :word]
            positions[found, word] = choice - 1
            here = _follow(state, choice, size, chained)
            other, weight = _next_choice(word, state, _weight(word, state, choice, *trellis), choice, trellis)
            if other >= 0:
                lost = found_losses[parent] + max(after[word, state] - weight, 0.0)
                if lost <= limit:
                    _push(losses, nodes, held, lost, parent, word, state, other)
                    held += 1
        for j in range(word + 1, length):
            if choices[j, here, 0] == -2:
                first, top = _next_choice(j, here, np.inf, -1, trellis)
                choices[j, here, 0] = first
                if count > 1:
                    other, weight = _next_choice(j, here, top, first, trellis)
                    choices[j, here, 1] = other
                    second_losses[j, here] = top - weight
            if count > 1 and choices[j, here, 1] >= 0:
                lost = loss + second_losses[j, here]
                if lost <= limit:
                    _push(losses, nodes, held, lost, found, j, here, choices[j, here, 1])
                    held += 1
            positions[found, j] = choices[j, here, 0] - 1
            here = _follow(here, choices[j, here, 0], size, chained)
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


@kernel
def mixture_lists(
    order,
    source_offsets,
    target_offsets,
    cell_offsets,
    cells,
    lexicon,
    source_null,
    target_null,
    times,
    shapes,
    table_offsets,
    forward_prior,
    reverse_prior,
    forward_null,
    forward_null_offsets,
    reverse_null,
    reverse_null_offsets,
    longest,
    direction,
    count,
    entries,
    places,
    found,
    log_probabilities,
    positions,
):
    """The most probable alignments of all pairs of a shard in one direction, where links are independent.

    The list of a pair starts at `entries[pair]` of `log_probabilities` and at `places[pair]` of `positions` and may go
    on to where the next pair's starts; `found[pair]` receives its length. The rest is as in `mixture_posteriors`.
    """
    prior = forward_prior if direction == 0 else reverse_prior
    null_prior = forward_null if direction == 0 else reverse_null
    null_offsets = forward_null_offsets if direction == 0 else reverse_null_offsets
    scratch = _scratch(longest, count, False)
    through = scratch[1]
    free = scratch[2]
    for pair in range(len(source_offsets) - 1):
        source = source_offsets[pair]
        target = target_offsets[pair]
        size = source_offsets[pair + 1] - source
        length = target_offsets[pair + 1] - target
        if size == 0 or length == 0:
            continue
        first = cell_offsets[pair]
        table = table_offsets[shapes[pair]]
        null = null_offsets[shapes[pair]]
        for i in range(size):
            for j in range(length):
                cell = i * length + j
                weight = np.log(np.float64(prior[table + cell]) * np.float64(lexicon[cells[first + cell], direction]))
                if direction == 0:
                    through[j, i] = weight
                else:
                    through[i, j] = weight
        words = length if direction == 0 else size
        for word in range(words):
            share = target_null[target + word] if direction == 0 else source_null[source + word]
            free[word] = np.log(np.float64(null_prior[null + word]) * np.float64(share))
        found[pair] = _list(
            entries[pair + 1] - entries[pair],
            size if direction == 0 else length,
            words,
            False,
            scratch,
            log_probabilities[entries[pair] : entries[pair + 1]],
            positions[places[pair] : places[pair + 1]].reshape(-1, words),
        )


@kernel
def _log_jumps(size, jumps, starts, centre, log_jumps, into):
    """`into[i, state]`: log P(i | i', I) for each i', log P(i) of the first word, and of the first link after nulls."""
    first = 0.0
    for i in range(size):
        first += starts[i]
    for i in range(size):
        into[i, size] = np.log(starts[i] / first)
        into[i, size + 1] = 0.0
    for last in range(size):
        total = 0.0
        for i in range(size):
            total += jumps[centre + i - last]
        log_total = np.log(total)
        share = starts[last] / (first * total)
        for i in range(size):
            into[i, last] = log_jumps[centre + i - last] - log_total
            into[i, size + 1] += share * jumps[centre + i - last]
    for i in range(size):
        into[i, size + 1] = np.log(into[i, size + 1])


@kernel
def hmm_lists(
    order,
    source_offsets,
    target_offsets,
    cell_offsets,
    cells,
    lexicon,
    source_null,
    target_null,
    times,
    jumps,
    starts,
    centre,
    null_prob,
    longest,
    direction,
    count,
    entries,
    places,
    found,
    log_probabilities,
    positions,
):
    """The most probable alignments of all pairs of a shard in one direction, under the HMM.

    Pairs are taken in the given `order` (best by lengths: jumps are tabled by length). The lists are laid out as in
    `mixture_lists`; the rest is as in `hmm_posteriors`.
    """
    scratch = _scratch(longest, count, True)
    into = scratch[0]
    through = scratch[1]
    free = scratch[2]
    log_jumps = np.log(jumps[direction].astype(np.float64))
    keep = np.log(1.0 - null_prob)
    leave = np.log(np.float64(null_prob))
    tabled = 0
    for pair in order:
        source = source_offsets[pair]
        target = target_offsets[pair]
        size = source_offsets[pair + 1] - source
        length = target_offsets[pair + 1] - target
        if size == 0 or length == 0:
            continue
        first = cell_offsets[pair]
        for i in range(size):
            for j in range(length):
                weight = keep + np.log(np.float64(lexicon[cells[first + i * length + j], direction]))
                if direction == 0:
                    through[j, i] = weight
                else:
                    through[i, j] = weight
        words = length if direction == 0 else size
        for word in range(words):
            share = target_null[target + word] if direction == 0 else source_null[source + word]
            free[word] = leave + np.log(np.float64(share))
        states = size if direction == 0 else length
        if states != tabled:
            _log_jumps(states, jumps[direction], starts[direction], centre, log_jumps, into)
            tabled = states
        found[pair] = _list(
            entries[pair + 1] - entries[pair],
            states,
            words,
            True,
            scratch,
            log_probabilities[entries[pair] : entries[pair + 1]],
            positions[places[pair] : places[pair + 1]].reshape(-1, words),
        )
