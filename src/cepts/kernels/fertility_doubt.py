"""E-step of Model 4 where only words in doubt may move: its links are among those that the HMM thinks possible.

Each word keeps the cepts to which the HMM gives some probability, its *candidates*. Most words have one, so there are
few moves and swaps between candidates, and the gain of each is computed directly (see
`cepts.kernels.fertility_gains` for a search among all of them).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, piece
from cepts.kernels.fertility import (
    AFTER,
    BEFORE,
    CENTRE,
    CLASS,
    COUNT,
    FIRST,
    FOLLOW,
    HEAD,
    LINK,
    NONE,
    ROW,
    WITHIN,
    CeptArrays,
    SentenceScores,
    place_cept,
    settle,
)
from cepts.kernels.fertility_gains import LEAST_GAIN
from cepts.kernels.fertility_sentence import log_fertility
from cepts.kernels.fertility_shard import NEGLIGIBLE, UNLIKELY, count_fertilities, count_neighbour

# The least lexicon entry, of which the logarithm is taken.
TINY = np.float32(1e-30)


class DoubtRoom(NamedTuple):
    """Buffers for one direction of a pair.

    The candidates of word j are `candidates[starts[j]:starts[j + 1]]`, and `possible[j, i]` says whether cept i is one
    of them; `score[j, i]` is then its log-probability. Neighbour n moves `word[n]` to cept `to[n]`, and swaps it with
    `other[n]` unless this is -1. `of` and `scores` are those of `CeptArrays`; `ahead` and `back` are the posteriors of
    either direction; `shape` is that of the placements of one direction. A direction of a pair whose `doubt` is above
    `limit` is left to the HMM.
    """

    starts: Any
    candidates: Any
    possible: Any
    score: Any
    fertility: Any
    word: Any
    other: Any
    to: Any
    gain: Any
    leaving: Any
    entering: Any
    of: Any
    scores: Any
    ahead: Any
    back: Any
    log_factorials: Any
    shape: Any
    limit: Any


@piece
def log_null_words(log_factorials, length, n, log_null, log_real):
    """Log-probability that null has n of `length` words.

    Model 4 allows half of them; each further one, where the HMM leaves no choice, costs as much as a word of null does.
    """
    most = min(n, length // 2)
    ways = log_factorials[length - most] - log_factorials[most] - log_factorials[length - 2 * most]
    return ways + n * log_null + (length - 2 * most) * log_real


@piece
def chain_gain(of, scores, sentence, j, k, to):
    """The gain of the chain by a move of word j to cept `to` or, unless k is -1, by a swap with word k of that cept."""
    i = of[LINK, j]
    # The changes of cepts that follow one another are not independent.
    joined = i > 0 and to > 0 and of[BEFORE, i] <= to <= of[AFTER, i]
    gain = 0.0
    last, centre = np.int64(0), np.int64(0)
    for step in range(2):
        at_own = (step == 0) == (i < to)
        cept = i if at_own else to
        if cept == 0:
            continue
        if step == 0 or not joined:
            last = of[BEFORE, cept]
            centre = of[CENTRE, last]
        if of[COUNT, cept]:
            gain -= scores[HEAD, cept] + scores[WITHIN, cept]
        last, centre, gain = place_cept(
            of,
            sentence,
            cept,
            j if at_own else k,
            k if at_own else j,
            last,
            centre,
            gain,
            0.0,
            sentence.placements,
            False,
        )
        end = of[AFTER, cept]
        if (step == 1 or not joined) and end <= sentence.size:
            word = of[FIRST, end]
            place = of[ROW, last] + of[CLASS, word] + sentence.groups[sentence.reach + word - centre]
            gain += sentence.placements[place] - scores[HEAD, end]
    return gain


@kernel
def list_neighbours(sentence, room):
    """List the neighbours that the candidates allow, with their gains; returns how many there are, and the best."""
    of, score, fertility = room.of, sentence.score, sentence.fertility
    count, best = 0, 0
    for j in range(sentence.length):
        start, stop = room.starts[j], room.starts[j + 1]
        if stop - start == 1:
            continue
        i = of[LINK, j]
        own = of[COUNT, i]
        out = fertility[i, own - 1] - fertility[i, own] - score[j, i]
        for place in range(start, stop):
            to = room.candidates[place]
            if to == i:
                continue
            others = of[COUNT, to]
            k = NONE
            moving = True
            while moving or k >= 0:
                if moving:
                    gain = out + score[j, to] + fertility[to, others + 1] - fertility[to, others]
                elif k > j and room.possible[k, i]:
                    gain = score[j, to] - score[j, i] + score[k, i] - score[k, to]
                else:
                    k = of[FOLLOW, k]
                    continue
                gain += chain_gain(of, room.scores, sentence, j, k, to)
                room.word[count], room.other[count], room.to[count], room.gain[count] = j, k, to, gain
                best = count if gain > room.gain[best] else best
                count += 1
                k = of[FIRST, to] if moving else of[FOLLOW, k]
                moving = False
    return count, best


@piece
def climb_in_doubt(sentence, room):
    """Make the best move or swap among the candidates until none is better.

    Returns the score and the number of neighbours of the alignment that is reached, which are left in `room`.
    """
    cepts = CeptArrays(room.of, room.scores)
    while True:
        score = settle(cepts, sentence)
        count, best = list_neighbours(sentence, room)
        if count == 0 or not room.gain[best] > LEAST_GAIN:
            break
        j, k = room.word[best], room.other[best]
        if k >= 0:
            room.of[LINK, k] = room.of[LINK, j]
        room.of[LINK, j] = room.to[best]
    return score, count


@piece
def posteriors_in_doubt(sentence, room, count, posterior, counting, weight, counts):
    """Posteriors over an alignment and its neighbours; returns log of their total probability over the alignment's own.

    Fills `posterior[j, i]`, which must be 0, and for each cept the posterior of having one word less (`leaving`) or
    more (`entering`). Where `counting`, adds the expected placements, times `weight`, to `counts`.
    """
    of, gains, leaving, entering = room.of, room.gain, room.leaving, room.entering
    total = 1.0
    for place in range(count):
        gains[place] = np.exp(gains[place]) if gains[place] > UNLIKELY else 0.0
        total += gains[place]
    scale = 1.0 / total
    for i in range(sentence.size + 1):
        leaving[i] = 0.0
        entering[i] = 0.0
    for j in range(sentence.length):
        posterior[j, of[LINK, j]] = 1.0
    if counting:
        last, centre = np.int64(0), NONE
        for i in range(1, sentence.size + 1):
            last, centre, _ = place_cept(of, sentence, i, NONE, NONE, last, centre, 0.0, weight, counts, True)
    least = NEGLIGIBLE * sentence.size * sentence.length
    for place in range(count):
        share = gains[place] * scale
        if share == 0.0:
            continue
        j, k, to = room.word[place], room.other[place], room.to[place]
        i = of[LINK, j]
        posterior[j, to] += share
        posterior[j, i] -= share
        if k >= 0:
            posterior[k, i] += share
            posterior[k, to] -= share
        else:
            leaving[i] += share
            entering[to] += share
        if counting and share > least:
            count_neighbour(of, sentence, j, k, to, weight * share, counts)
    for j in range(sentence.length):
        posterior[j, of[LINK, j]] = max(posterior[j, of[LINK, j]], 0.0)
    return np.log(total)


@piece
def find_candidates(posterior, free, first, of_word, of_cept, size, length, start, least, room):
    """The cepts of each word with a posterior of at least `least`, or null; it starts in the most probable of them.

    The posterior of word j and source word i is `posterior[first + j * of_word + i * of_cept]`, that of null
    `free[start + j]`.
    """
    count = 0
    for j in range(length):
        room.starts[j] = count
        top, best = free[start + j], 0
        place = first + j * of_word
        for i in range(size):
            value = posterior[place]
            place += of_cept
            if value >= least:
                room.candidates[count] = i + 1
                room.possible[j, i + 1] = True
                count += 1
                if value > top or (best == 0 and top < least):
                    top, best = value, i + 1
        if free[start + j] >= least or count == room.starts[j]:
            room.candidates[count] = 0
            room.possible[j, 0] = True
            count += 1
        room.of[LINK, j] = best
    room.starts[length] = count


@piece
def doubt(possible_counts, size):
    """What a step of the climb costs at most, in words that are looked at: with n words, a cept has n^2 swaps of n."""
    found = 0.0
    for i in range(1, size + 1):
        found += np.float64(possible_counts[i]) ** 3
    return found


@piece
def posteriors_of_hmm(posterior, matrix, free, first, of_word, of_cept, size, length, start):
    """Fill `posterior` with the HMM's; see `find_candidates` for where they are."""
    for j in range(length):
        posterior[j, 0] = free[start + j]
        for i in range(size):
            posterior[j, i + 1] = matrix[first + j * of_word + i * of_cept]


@kernel
def mixed_posteriors(shard, hmm, room, least, share, counting, agreeing, stride, found, expected):
    """Model 4's part of the E-step; `hmm` has the HMM's posteriors of all pairs, which give the candidates.

    Where `counting`, adds Model 4's posteriors to `found`, and those of every `stride`-th pair to the `expected` counts
    of fertilities and placements. Otherwise writes the mean of both models' posteriors, of which Model 4 has the weight
    `share`, and the HMM's log-likelihoods, because Model 4's are those of neighbourhoods. The links of the shard become
    the best alignments found. Where there is too much doubt to climb (`DoubtRoom.limit`), the HMM's posteriors stand
    for Model 4's, and fertilities and placements are not counted.
    """
    block, of = shard.block, room.of
    cells, counts = block.cells, found.counts
    share = 1.0 if counting else share
    rest = 1.0 - share
    log_null, log_real = np.log(shard.null_prob), np.log(1.0 - shard.null_prob)
    rows, columns, width = room.shape
    for pair in range(len(block.source_offsets) - 1):
        source, target = block.source_offsets[pair], block.target_offsets[pair]
        source_size, target_size = block.source_offsets[pair + 1] - source, block.target_offsets[pair + 1] - target
        if source_size == 0 or target_size == 0:
            continue
        weight = np.float64(block.times[pair])
        learning = counting and pair % stride == 0
        first = block.cell_offsets[pair]
        for direction in range(2):
            # `start` is the first word that is explained, `origin` the first that explains.
            if direction == 0:
                size, length, origin, start = source_size, target_size, source, target
                of_word, of_cept = np.int64(1), target_size
                matrix, hmm_free, posterior = hmm.forward, hmm.target_free, room.ahead
                words, fertilities = shard.source_words, shard.source_fertility
                classes, own_classes, null = shard.source_classes, shard.target_classes, block.target_null
                links, free, fertility_counts = shard.target_links, found.target_free, expected.source_fertility
            else:
                size, length, origin, start = target_size, source_size, target, source
                of_word, of_cept = target_size, np.int64(1)
                matrix, hmm_free, posterior = hmm.reverse, hmm.source_free, room.back
                words, fertilities = shard.target_words, shard.target_fertility
                classes, own_classes, null = shard.target_classes, shard.source_classes, block.source_null
                links, free, fertility_counts = shard.source_links, found.source_free, expected.target_fertility
            for j in range(length):
                for i in range(size + 1):
                    posterior[j, i] = 0.0
                    room.possible[j, i] = False
            find_candidates(matrix, hmm_free, first, of_word, of_cept, size, length, start, least, room)
            # How many words each cept may have: its fertilities are needed up to that number.
            for i in range(size + 1):
                of[COUNT, i] = 0
            for j in range(length):
                of[CLASS, j] = own_classes[start + j] * width
                for place in range(room.starts[j], room.starts[j + 1]):
                    i = room.candidates[place]
                    of[COUNT, i] += 1
                    if i == 0:
                        room.score[j, 0] = np.log(max(null[start + j], TINY))
                    else:
                        cell = cells[first + j * of_word + (i - 1) * of_cept]
                        room.score[j, i] = np.log(max(block.lexicon[cell, direction], TINY))
            if doubt(of[COUNT], size) > room.limit:
                posteriors_of_hmm(posterior, matrix, hmm_free, first, of_word, of_cept, size, length, start)
                found.log_likelihoods[pair, direction] = hmm.log_likelihoods[pair, direction]
                for j in range(length):
                    links[start + j] = of[LINK, j] - 1
                    free[start + j] = hmm_free[start + j]
                continue
            table = direction * rows * columns * width
            for i in range(size):
                word = words[origin + i]
                row = word if word >= 0 else fertilities.shape[0] - 1
                for n in range(of[COUNT, i + 1] + 1):
                    room.fertility[i + 1, n] = log_fertility(fertilities, row, n)
                of[ROW, i + 1] = table + classes[origin + i] * columns * width
            for n in range(of[COUNT, 0] + 1):
                room.fertility[0, n] = log_null_words(room.log_factorials, length, n, log_null, log_real)
            of[ROW, 0] = table + (rows - 2) * columns * width
            sentence = SentenceScores(
                shard.chained,
                size,
                length,
                room.score,
                room.fertility,
                shard.placements,
                table + (rows - 1) * columns * width,
                shard.groups,
                shard.reach,
            )
            score, neighbours = climb_in_doubt(sentence, room)
            score += posteriors_in_doubt(sentence, room, neighbours, posterior, learning, weight, expected.placements)
            found.log_likelihoods[pair, direction] = score if counting else hmm.log_likelihoods[pair, direction]
            for j in range(length):
                links[start + j] = of[LINK, j] - 1
                free[start + j] = share * posterior[j, 0] + rest * hmm_free[start + j]
            if learning:
                how = sentence, room.leaving, room.entering
                count_fertilities(of, *how, words, origin, weight, fertility_counts)
        for i in range(source_size):
            row = first + i * target_size
            for j in range(target_size):
                one, other = room.ahead[j, i + 1], room.back[i, j + 1]
                if not counting:
                    one = share * one + rest * hmm.forward[row + j]
                    other = share * other + rest * hmm.reverse[row + j]
                    if agreeing:
                        # In single precision, to equal the mean of the two float32 matrices.
                        found.forward[row + j] = min(np.sqrt(np.float32(one) * np.float32(other)), np.float32(1))
                    else:
                        found.forward[row + j] = one
                        found.reverse[row + j] = other
                elif agreeing:
                    if one > 0.0 and other > 0.0:
                        counts[cells[row + j], 0] += weight * one * other
                else:
                    counts[cells[row + j], 0] += weight * one
                    counts[cells[row + j], 1] += weight * other
