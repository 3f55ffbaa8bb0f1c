"""Named tuples of the arrays that the kernels of word models read and fill."""

from __future__ import annotations

from typing import Any, NamedTuple


class BlockArrays(NamedTuple):
    """The sentence pairs of a block, which every E-step reads.

    Token pair n has the lexicon entries `lexicon[cells[n], direction]`; `source_null` and `target_null` are
    t(word | null) for each token. A pair counts `times[pair]` times; `order` lists the pairs sorted by their lengths.
    """

    order: Any
    source_offsets: Any
    target_offsets: Any
    cell_offsets: Any
    cells: Any
    lexicon: Any
    source_null: Any
    target_null: Any
    times: Any


class PriorArrays(NamedTuple):
    """Priors of independent links, tabled by the two lengths of a pair (its *shape*).

    For each shape, `forward` and `reverse` hold an I x J matrix from `offsets[shape]` on: P(a_j = i | I, J) and
    P(a_i = j | J, I). `forward_null` and `reverse_null` hold the prior of null for each word.
    """

    shapes: Any
    offsets: Any
    forward: Any
    reverse: Any
    forward_null: Any
    forward_null_offsets: Any
    reverse_null: Any
    reverse_null_offsets: Any


class Found(NamedTuple):
    """What an E-step fills.

    When it counts, it adds the posteriors of each cell to `counts`: one column for each direction, or their product in
    one column where the directions are trained to agree. Otherwise it writes the posteriors of all token pairs to
    `forward` and `reverse`, or their geometric mean to `forward` alone. `source_free` and `target_free` receive each
    word's posterior of null, `log_likelihoods[pair, direction]` the log-likelihood of the pair.
    """

    counts: Any
    forward: Any
    reverse: Any
    source_free: Any
    target_free: Any
    log_likelihoods: Any
