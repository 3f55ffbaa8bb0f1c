"""What the kernels of word models read and fill: named tuples of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple


class BlockArrays(NamedTuple):
    """The sentence pairs of a block, which every E-step reads.

    `lexicon[cell, direction]` is t(word | word) of cell `cells[n]` of token pair n; `source_null` and `target_null`
    are t(word | null) by token. A pair counts `times[pair]` times; `order` lists the pairs by their lengths.
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

    `forward` and `reverse` hold for each shape, from `offsets[shape]`, an I x J matrix: P(a_j = i | I, J) and
    P(a_i = j | J, I); `forward_null` and `reverse_null` hold the priors of null for each word.
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

    Where it counts, it adds posteriors to `counts` by cell (their product where the directions agree, else a column
    each). Otherwise it writes them to `forward` and `reverse`, laid out as the token pairs are (where the directions
    agree, their geometric mean to `forward` alone). `source_free` and `target_free` receive each word's posterior of
    null, `log_likelihoods[pair, direction]` the pair's log-likelihood.
    """

    counts: Any
    forward: Any
    reverse: Any
    source_free: Any
    target_free: Any
    log_likelihoods: Any
