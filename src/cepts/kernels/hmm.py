"""Exact forward-backward of the HMM aligner, in scaled single precision.

States are source positions. A target word is emitted either by the source word at a new position, which is reached from
the last one by a jump, or by null, which does not change the position. So null needs no states of its own, only a share
of the mass of each position.

Pairs are computed in batches (see `batches`). A batch has one pair in each lane; a pair alone has consecutive positions
in the lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, piece
from cepts.kernels.batches import next_batch, write_links
from cepts.kernels.lanes import LANES, at, load, load_one, multiply_add, put, spread, store

# So many numbers are computed at a time: four vectors.
BLOCK = 4 * LANES


class Chain(NamedTuple):
    """Parameters of the HMM; row 0 of `jumps` and `starts` is the forward direction, row 1 the reverse.

    A jump by d positions has the weight `jumps[direction, centre + d]`.
    """

    jumps: Any
    starts: Any
    centre: Any
    null_prob: Any


class JumpCounts(NamedTuple):
    """Statistics of jumps and starts, with the same layout as the parameters."""

    jump_numerator: Any
    jump_denominator: Any
    start_numerator: Any
    start_denominator: Any


class HmmRoom(NamedTuple):
    """Parameters as a batch reads them, and its buffers: where each of them begins in `numbers`.

    The parameters are those of jumps by up to `reach` positions. `single` has, for each direction, the weights of all
    jumps and those of the same jumps backwards, each followed by a block of zeros; `repeated` is the same with each
    weight LANES times. `onward[n]` sums the weights of jumps by 0 ... n, `backward[n]` those of jumps by -1 ... -n and
    `starting[n]` those of the first n starts.

    `forward` and `reverse` are matrices of lexicon entries, which become posteriors; they have a row for each explained
    word. So have `linked` and `both`, which the forward pass fills. `nulls` ... `sums` have a vector for each word, and
    the others a number for each position of each pair. `pairs` are those of the batch.
    """

    numbers: Any
    pairs: Any
    reach: Any
    single: Any
    repeated: Any
    onward: Any
    backward: Any
    starting: Any
    forward: Any
    reverse: Any
    linked: Any
    both: Any
    nulls: Any
    pads: Any
    totals: Any
    scales: Any
    sums: Any
    starts: Any
    shares: Any
    ready: Any
    ahead: Any
    behind: Any
    made: Any
    apart: Any
    late: Any
    jumped: Any


@piece
def _convolve(numbers, weights, step, values, size, out):
    zero = spread(np.float32(0))
    for place in range(0, size * step, BLOCK):
        # An addition waits for the one before, so eight sums are computed at a time: two of each vector.
        one, two, three, four = zero, zero, zero, zero
        five, six, seven, eight = zero, zero, zero, zero
        for k in range(0, size, 2):
            value = load(numbers, values + k * LANES)
            weight = weights + place - k * step
            one = multiply_add(load(numbers, weight), value, one)
            two = multiply_add(load(numbers, weight + LANES), value, two)
            three = multiply_add(load(numbers, weight + 2 * LANES), value, three)
            four = multiply_add(load(numbers, weight + 3 * LANES), value, four)
            value = load(numbers, values + (k + 1) * LANES)
            weight -= step
            five = multiply_add(load(numbers, weight), value, five)
            six = multiply_add(load(numbers, weight + LANES), value, six)
            seven = multiply_add(load(numbers, weight + 2 * LANES), value, seven)
            eight = multiply_add(load(numbers, weight + 3 * LANES), value, eight)
        store(numbers, out + place, one + five)
        store(numbers, out + place + LANES, two + six)
        store(numbers, out + place + 2 * LANES, three + seven)
        store(numbers, out + place + 3 * LANES, four + eight)


@kernel
def convolve(numbers, weights, step, values, size, apart, out):
    """For each position i, the sum over positions k of weights[i - k] values[k].

    `weights` is the place of the weight of distance 0. The vector after the last of `values` is set to 0.
    """
    if step == 1:
        for k in range(size):
            store(numbers, apart + k * LANES, load_one(numbers, values + k))
        store(numbers, apart + size * LANES, spread(np.float32(0)))
        _convolve(numbers, weights, 1, apart, size, out)
    else:
        store(numbers, values + size * LANES, spread(np.float32(0)))
        _convolve(numbers, weights, LANES, values, size, out)


@kernel
def correlate(numbers, early, late, step, size, apart, out):
    """Add to `out`, for each distance d from 1 - `size` on, the sum over positions k of early[k] late[k + d].

    There must be a block of zeros on either side of `late`.
    """
    if step == 1:
        for k in range(size):
            store(numbers, apart + k * LANES, load_one(numbers, early + k))
        early = apart
    for place in range(0, (2 * size - 1) * step, BLOCK):
        distance = place // step - (size - 1)
        there = out + place
        one = load(numbers, there)
        two = load(numbers, there + LANES)
        three = load(numbers, there + 2 * LANES)
        four = load(numbers, there + 3 * LANES)
        for k in range(max(0, 1 - distance - BLOCK // step), min(size, size - distance)):
            value = load(numbers, early + k * LANES)
            here = late + (k + distance) * step
            one = multiply_add(value, load(numbers, here), one)
            two = multiply_add(value, load(numbers, here + LANES), two)
            three = multiply_add(value, load(numbers, here + 2 * LANES), three)
            four = multiply_add(value, load(numbers, here + 3 * LANES), four)
        store(numbers, there, one)
        store(numbers, there + LANES, two)
        store(numbers, there + 2 * LANES, three)
        store(numbers, there + 3 * LANES, four)


@piece
def _sum(numbers, start, size):
    """Sum of some numbers, in all lanes."""
    total = np.float32(0)
    for place in range(start, start + size):
        total += at(numbers, place)
    return spread(total)


@piece
def _forward_pass(room, matrix, weights, size, length, width, step, null_prob, moving):
    """Probabilities of the words so far at each position: linked to it (`linked`), or linked or null (`both`).

    The rows of these matrices are not scaled; `scales` are applied where a row is read, which saves a pass.
    """
    numbers = room.numbers
    keep = spread(np.float32(1) - null_prob)
    unit = spread(np.float32(1))
    scale = unit
    for place in range(0, width, LANES):
        start = load(numbers, room.starts + place)
        store(numbers, room.ahead + place, start)
        store(numbers, room.both + place, start)
    for j in range(length):
        row = j * width
        # Only counting jumps needs more than the last row.
        last = room.both + (row if moving else j % 2 * width)
        here = room.both + (row + width if moving else (j + 1) % 2 * width)
        if j > 0:
            convolve(numbers, weights, step, room.ready, size, room.apart, room.ahead)
        through = keep * scale
        stay = load(numbers, room.nulls + j * LANES) * scale
        total = spread(np.float32(0))
        for place in range(0, width, LANES):
            mass = through * load(numbers, room.ahead + place) * load(numbers, matrix + row + place)
            whole = multiply_add(stay, load(numbers, last + place), mass)
            store(numbers, room.linked + row + place, mass)
            store(numbers, here + place, whole)
            store(numbers, room.ready + place, whole * load(numbers, room.shares + place))
            total = total + whole
        if step == 1:
            total = _sum(numbers, here, size)
        store(numbers, room.totals + j * LANES, total)
        # The scale of a word beyond the end of a shorter sentence is 1.
        pad = load(numbers, room.pads + j * LANES)
        scale = (unit - pad) / (total + pad) + pad
        store(numbers, room.scales + j * LANES, scale)


@piece
def _backward_pass(room, matrix, weights, size, length, width, step, null_prob, moving):
    """Turn the entries of `matrix` into posteriors, and fill `sums` with their sums over positions.

    Where `moving`, leaves in `jumped[d]` the expected number of jumps by d divided by the weight of d, in `made` the
    expected number of jumps from each position, and in `ready` the posterior of the position at the first word, null or
    not.
    """
    numbers = room.numbers
    late = room.late + BLOCK
    keep = spread(np.float32(1) - null_prob)
    zero = spread(np.float32(0))
    for place in range(0, width, LANES):
        store(numbers, room.behind + place, spread(np.float32(1)))
    if moving:
        for place in range(0, width, LANES):
            store(numbers, room.made + place, zero)
        for place in range(0, 2 * width + BLOCK, LANES):
            store(numbers, room.jumped + place, zero)
        for place in range(width, width + BLOCK, LANES):
            store(numbers, late + place, zero)
    for j in range(length - 1, -1, -1):
        row = j * width
        scale = load(numbers, room.scales + j * LANES)
        through = keep * scale
        stay = load(numbers, room.nulls + j * LANES) * scale
        total = zero
        for place in range(0, width, LANES):
            rest = load(numbers, room.behind + place)
            mass = load(numbers, room.linked + row + place) * scale * rest
            store(numbers, late + place, through * load(numbers, matrix + row + place) * rest)
            store(numbers, matrix + row + place, mass)
            total = total + mass
        if step == 1:
            total = _sum(numbers, matrix + row, size)
        store(numbers, room.sums + j * LANES, total)
        if j == 0:
            break
        convolve(numbers, weights, step, late, size, room.apart, room.ahead)
        scale = load(numbers, room.scales + (j - 1) * LANES)
        for place in range(0, width, LANES):
            share = load(numbers, room.shares + place)
            rest = load(numbers, room.ahead + place) * share
            if moving:
                mass = load(numbers, room.both + row + place) * scale
                store(numbers, room.made + place, multiply_add(mass, rest, load(numbers, room.made + place)))
                store(numbers, room.ready + place, mass * share)
            store(numbers, room.behind + place, multiply_add(stay, load(numbers, room.behind + place), rest))
        if moving:
            correlate(numbers, room.ready, late, step, size, room.apart, room.jumped)
    if moving:
        for place in range(0, width, LANES):
            mass = load(numbers, room.both + width + place) * scale
            store(numbers, room.ready + place, mass * load(numbers, room.behind + place))


@piece
def _enter(direction, states, words, null, chain, room, count, size, length, step):
    """Starts, normalisers of jumps, and shares of null; lanes without a pair repeat the last one."""
    numbers = room.numbers
    base = direction * (room.reach + 1)
    unit, zero = spread(np.float32(1)), spread(np.float32(0))
    for j in range(length):
        store(numbers, room.nulls + j * LANES, unit)
        store(numbers, room.pads + j * LANES, unit)
    for place in range(0, size * step, LANES):
        store(numbers, room.shares + place, zero)
        store(numbers, room.starts + place, zero)
    for lane in range(LANES):
        pair = room.pairs[min(lane, count - 1)]
        first = words[pair]
        for j in range(words[pair + 1] - first):
            place = j * LANES + lane
            put(numbers, room.nulls + place, chain.null_prob * at(null, first + j))
            put(numbers, room.pads + place, np.float32(0))
        if lane < step:
            own = states[pair + 1] - states[pair]
            share = np.float32(1) / at(numbers, room.starting + base + own)
            for i in range(own):
                place = i * step + lane
                total = at(numbers, room.onward + base + own - 1 - i) + at(numbers, room.backward + base + i)
                put(numbers, room.shares + place, np.float32(1) / total)
                put(numbers, room.starts + place, chain.starts[direction, i] * share)


@piece
def _leave(direction, words, free, room, count, log_likelihoods):
    """Write the posteriors of null and the log-likelihoods of a batch."""
    numbers = room.numbers
    for lane in range(count):
        pair = room.pairs[lane]
        first = words[pair]
        log_likelihood = 0.0
        likelihood = 1.0
        for j in range(words[pair + 1] - first):
            # Rounding may make the difference slightly negative.
            put(free, first + j, max(np.float32(1) - at(numbers, room.sums + j * LANES + lane), np.float32(0)))
            # Multiply first, to take one logarithm for many words.
            likelihood *= at(numbers, room.totals + j * LANES + lane)
            if likelihood < 1e-200:
                log_likelihood += np.log(likelihood)
                likelihood = 1.0
        log_likelihoods[pair, direction] = log_likelihood + np.log(likelihood)


@piece
def _count_jumps(direction, states, times, chain, room, count, size, step, statistics):
    """Add the jumps and starts of a batch.

    `denominator[d]` sums, over all positions from which a jump by d is possible, the expected jumps from there divided
    by their normaliser. Then jumps = numerator / denominator is the update of Hunter's MM algorithm, which never lowers
    the likelihood although the normaliser depends on the length of the sentence.
    """
    numbers, centre = room.numbers, chain.centre
    for lane in range(count):
        pair = room.pairs[lane]
        weight = np.float64(times[pair])
        own = states[pair + 1] - states[pair]
        for distance in range(1 - own, own):
            expected = at(numbers, room.jumped + (distance + size - 1) * step + lane)
            expected *= chain.jumps[direction, centre + distance]
            statistics.jump_numerator[direction, centre + distance] += weight * expected
        start_share = 1.0 / at(numbers, room.starting + direction * (room.reach + 1) + own)
        # Jumps by d >= 0 are possible from the first I - d positions, and those by -d from all but the first d.
        early = 0.0
        late = 0.0
        for last in range(own):
            place = last * step + lane
            early += weight * at(numbers, room.made + place) * at(numbers, room.shares + place)
            statistics.jump_denominator[direction, centre + own - 1 - last] += early
            statistics.start_numerator[direction, last] += weight * at(numbers, room.ready + place)
            statistics.start_denominator[direction, last] += weight * start_share
            place = (own - 1 - last) * step + lane
            if last < own - 1:
                late += weight * at(numbers, room.made + place) * at(numbers, room.shares + place)
                statistics.jump_denominator[direction, centre - (own - 1 - last)] += late


@piece
def _gather(block, room, count, size, length, width, height, step):
    """Lexicon entries of a batch, in both directions; 0 in the padding."""
    cells, lexicon, numbers = block.cells, block.lexicon, room.numbers
    zero = spread(np.float32(0))
    for place in range(0, length * width, LANES):
        store(numbers, room.forward + place, zero)
    for place in range(0, size * height, LANES):
        store(numbers, room.reverse + place, zero)
    for lane in range(count):
        pair = room.pairs[lane]
        columns = block.target_offsets[pair + 1] - block.target_offsets[pair]
        cell = block.cell_offsets[pair]
        for i in range(block.source_offsets[pair + 1] - block.source_offsets[pair]):
            ahead, back = room.forward + i * step + lane, room.reverse + i * height + lane
            for j in range(columns):
                entry = 2 * np.int64(at(cells, cell + j))
                put(numbers, ahead + j * width, at(lexicon, entry))
                put(numbers, back + j * step, at(lexicon, entry + 1))
            cell += columns


@kernel
def hmm_posteriors(block, chain, room, counting, agreeing, stride, found, statistics):
    """Posteriors of all pairs of a block in both directions, in its `order`.

    Where `counting`, every `stride`-th batch adds to the statistics of jumps and starts.
    """
    place = 0
    batch = 0
    while True:
        count, size, length, place = next_batch(block, place, room.pairs)
        if count == 0:
            break
        step = 1 if count == 1 else LANES
        # Rows are rounded up to whole vectors.
        width, height = -(-size * step // LANES) * LANES, -(-length * step // LANES) * LANES
        _gather(block, room, count, size, length, width, height, step)
        moving = counting and batch % stride == 0
        batch += 1
        for direction in range(2):
            states, words = block.source_offsets, block.target_offsets
            null, free = block.target_null, found.target_free
            positions, rows, breadth, matrix = size, length, width, room.forward
            if direction == 1:
                states, words = block.target_offsets, block.source_offsets
                null, free = block.source_null, found.source_free
                positions, rows, breadth, matrix = length, size, height, room.reverse
            _enter(direction, states, words, null, chain, room, count, positions, rows, step)
            table = (2 * room.reach + 1) * step + BLOCK
            weights = (room.single if step == 1 else room.repeated) + 2 * direction * table + room.reach * step
            _forward_pass(room, matrix, weights, positions, rows, breadth, step, chain.null_prob, moving)
            _backward_pass(room, matrix, weights + table, positions, rows, breadth, step, chain.null_prob, moving)
            _leave(direction, words, free, room, count, found.log_likelihoods)
            if moving:
                _count_jumps(direction, states, block.times, chain, room, count, positions, step, statistics)
        write_links(block, room, count, step, width, height, step, counting, agreeing, found)
