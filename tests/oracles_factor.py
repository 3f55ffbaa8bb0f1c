"""Slow, plain twins of what `cepts.factor` computes, in float64, and the matrices and models to try them on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from cepts.data import Alignments, Association, Cept, offsets_of
from cepts.kernels import plsa as plsa_kernels

Array = NDArray[np.float64]


# -- PLSA ----------------------------------------------------------------------------------------------------------


@dataclass
class Model:
    """P(c), P(i | c) and P(j | c) with a row a cept, P(noise), and what noise gives to each cell (None: alike)."""

    weights: Array
    source: Array
    target: Array
    noise: float = 0.0
    spread_of_noise: Array | None = None

    def uniform(self) -> Array:
        """P(i, j | noise)."""
        shape = self.source.shape[1], self.target.shape[1]
        return np.full(shape, 1 / (shape[0] * shape[1])) if self.spread_of_noise is None else self.spread_of_noise

    def joint(self) -> Array:
        """P(i, j), eq. (2) with the noise of section 4.3."""
        return np.einsum("c,ci,cj->ij", self.weights, self.source, self.target) + self.noise * self.uniform()


def log_likelihood(matrix: Array, model: Model) -> float:
    seen = matrix > 0
    return float((matrix[seen] * np.log(model.joint()[seen])).sum())


def entropy(matrix: Array, model: Model) -> float:
    """Sum over cells of entry times the entropy of P(c | i, j), with noise as one more cept."""
    parts = np.einsum("c,ci,cj->cij", model.weights, model.source, model.target)
    parts = np.concatenate([parts, model.noise * model.uniform()[None]])
    shares = np.divide(parts, parts.sum(axis=0), out=np.zeros_like(parts), where=parts.sum(axis=0) > 0)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return float(-(matrix * (shares * logs).sum(axis=0)).sum())


def em_step(matrix: Array, model: Model, inverse_temperature: float = 1.0) -> Model:
    """Eqs. (3) to (6) as they stand, with P(c | i, j) in proportion to P(c) [P(i, j | c)]^b."""
    per_cept = np.einsum("ci,cj->cij", model.source, model.target)
    shares = model.weights[:, None, None] * per_cept**inverse_temperature
    of_noise = model.noise * model.uniform() ** inverse_temperature
    everything = shares.sum(axis=0) + of_noise
    posterior = np.divide(shares, everything, out=np.zeros_like(shares), where=everything > 0)
    posterior_of_noise = np.divide(of_noise, everything, out=np.zeros_like(of_noise), where=everything > 0)
    mass = (matrix * posterior).sum(axis=(1, 2))
    divisor = np.maximum(mass, 1e-300)[:, None]
    return Model(
        mass / matrix.sum(),
        (matrix * posterior).sum(axis=2) / divisor,
        (matrix * posterior).sum(axis=1) / divisor,
        float((matrix * posterior_of_noise).sum() / matrix.sum()),
        model.spread_of_noise,
    )


def with_null(matrix: Array, source_null: Array, target_null: Array) -> Array:
    """The paper's matrix, with null as word 0 of either side."""
    full = np.zeros((matrix.shape[0] + 1, matrix.shape[1] + 1))
    full[1:, 1:], full[1:, 0], full[0, 1:] = matrix, source_null, target_null
    return full


def model_with_null(model: Model, random: np.random.Generator) -> Model:
    """The model with two null cepts after its own, initialised under the conditions of section 4.2.

    The null cept of the source has the source's null word alone and any target words, the other one the reverse; no
    other cept has a null word. The noise stays where it was.
    """
    cepts, size, length = len(model.weights), model.source.shape[1], model.target.shape[1]
    source, target = np.zeros((cepts + 2, size + 1)), np.zeros((cepts + 2, length + 1))
    source[:cepts, 1:], target[:cepts, 1:] = model.source, model.target
    source[cepts, 0] = target[cepts + 1, 0] = 1
    target[cepts], source[cepts + 1] = random.dirichlet(np.ones(length + 1)), random.dirichlet(np.ones(size + 1))
    noise = np.zeros((size + 1, length + 1))
    noise[1:, 1:] = model.uniform()
    return Model(np.concatenate([model.weights * 0.6, [0.3, 0.1]]), source, target, model.noise * 0.6, noise)


def first_correlation(part: Array) -> tuple[float, float]:
    """The second and the third singular value of D_r^-1/2 W D_c^-1/2."""
    part = part[part.sum(axis=1) > 0][:, part.sum(axis=0) > 0]
    scaled = part / np.sqrt(part.sum(axis=1))[:, None] / np.sqrt(part.sum(axis=0))
    values = [*np.linalg.svd(scaled, compute_uv=False), 0.0, 0.0]
    return float(values[1]), float(values[2])


# -- cepts ---------------------------------------------------------------------------------------------------------


def most_probable(posterior: Array) -> list[set[int]]:
    """The cepts of highest probability of each word (several where they tie), from P(c | word), null first."""
    return [set((np.flatnonzero(row >= row.max() * (1 - 1e-5)) - 1).tolist()) for row in posterior]


def faults(alignments: Alignments, association: Association, sure: float) -> list[str]:
    """What is wrong with alignments that should be proper: nothing."""
    found = []
    cepts = alignments.cepts
    assert cepts is not None
    if not len(alignments) == len(cepts) == len(association):
        return [f"{len(association)} pairs in, {len(alignments)} alignments and {len(cepts)} pairs of cepts out"]
    for pair in range(len(association)):
        size, length = association[pair].shape
        source = cepts.source[cepts.source_offsets[pair] : cepts.source_offsets[pair + 1]].tolist()
        target = cepts.target[cepts.target_offsets[pair] : cepts.target_offsets[pair + 1]].tolist()
        if (len(source), len(target)) != (size, length):
            found.append("not every word is in exactly one cept or null")
        numbers = sorted({*source, *target} - {-1})
        if numbers != list(range(len(numbers))):
            found.append(f"cepts are numbered {numbers}")
        if {*source} - {-1} != {*target} - {-1}:
            found.append("a cept has words on one side only")
        first = [source.index(number) for number in numbers if number in source]
        if first != sorted(first):
            found.append("cepts are not numbered by their first source word")
        if cepts[pair] != [
            Cept([i for i in range(size) if source[i] == c], [j for j in range(length) if target[j] == c])
            for c in numbers
        ]:
            found.append("the lists of words by cept are not those of cepts by word")
        alignment = alignments[pair]
        if alignment.links != [(i, j) for i in range(size) for j in range(length) if source[i] == target[j] >= 0]:
            found.append("links are not all pairs of the words of a cept")
        if not ((alignment.confidence >= 0) & (alignment.confidence <= 1)).all():
            found.append(f"confidences of links of {alignment.confidence}")
        if (alignment.sure != (alignment.confidence >= np.float32(sure))).any():
            found.append("sure links are not those from the threshold on")
        if association.source_null is None and association.target_null is None and association[pair].any():
            linked = len(set(alignment.source.tolist())), len(set(alignment.target.tolist()))
            if linked != (size, length):
                found.append(f"links of {linked} words of {size, length}")
    for values in (cepts.source_confidence, cepts.target_confidence, cepts.noise):
        if not ((values >= 0) & (values <= 1)).all():
            found.append(f"probabilities of {values}")
    return found


def classified(matrix: Array, nulls: tuple[Array, Array], source: Array, target: Array) -> float:
    """The log-likelihood of all counts with their classes: the cept of a block, null's of either side, or noise.

    The parameters of each class are those that fit its counts best; `source` and `target` are cepts, -1 for null.
    """
    full = with_null(matrix, *nulls)
    # The null word of the source has a cept with the target words of null, and the other way round.
    rows, columns = (
        np.array([other, *(own if cept < 0 else str(cept) for cept in cepts)])
        for cepts, own, other in ((source, "source", "target"), (target, "target", "source"))
    )
    together = rows[:, None] == columns
    found = 0.0
    for cept in {*rows.tolist(), *columns.tolist()}:
        block = full[np.ix_(rows == cept, columns == cept)]
        mass = block.sum()
        if mass > 0:
            model = np.outer(block.sum(axis=1), block.sum(axis=0)) / mass**2 * (mass / full.sum())
            found += (block[block > 0] * np.log(model[block > 0])).sum()
    noise = full[~together].sum()
    return float(found + (noise * np.log(noise / full.sum() / full.size) if noise > 0 else 0.0))


# -- null mass that is spread ----------------------------------------------------------------------------------------


def spread(
    matrix: Array,
    nulls: tuple[Array, Array],
    pulls: tuple[tuple[Array, Array], tuple[Array, Array]],
    strength: float,
) -> tuple[Array, Array, Array]:
    """Matrix and null masses of one pair after the random walk, by inverting its transition matrix."""
    walked = matrix
    kept = []
    for axis, (null, (left, right)) in enumerate(zip(nulls, pulls, strict=True)):
        mass = null + matrix.sum(axis=1 - axis)
        shares = np.divide(null, mass, out=np.ones_like(mass), where=mass > 0)
        step = np.diag((strength * shares * left)[1:], -1) + np.diag((strength * shares * right)[:-1], 1)
        solution = np.linalg.inv(np.eye(len(null)) - step)
        walked = solution @ walked if axis == 0 else walked @ solution.T
        kept.append(null * (1 - strength * (left + right)))
    return walked, kept[0], kept[1]


def pulls(
    text: list[list[int]], sentences: list[list[int]], smoothing: float, stay: float
) -> list[tuple[float, float]]:
    """By token of `sentences`: P(belongs to the word before), P(belongs to the word after), by counts of `text`."""
    words = Counter(word for sentence in text for word in sentence)
    together = Counter(two for sentence in text for two in pairwise(sentence))
    total = max(sum(words.values()), 1)

    def lift(first: int, second: int) -> float:
        seen = together[first, second] if first >= 0 and second >= 0 else 0
        return (seen + smoothing) / (words[first] * words[second] / total + smoothing)

    found = []
    for sentence in sentences:
        for place, word in enumerate(sentence):
            before = lift(sentence[place - 1], word) if place else 0.0
            after = lift(word, sentence[place + 1]) if place + 1 < len(sentence) else 0.0
            found.append((before / (before + after + stay), after / (before + after + stay)))
    return found


# -- what to try them on -------------------------------------------------------------------------------------------


def proper_assignments(size, length, *, null=False):
    """All ways to put words into cepts with words on both sides, each once: cepts are numbered by their first word."""
    for source in product(range(-1 if null else 0, size), repeat=size):
        numbers = [cept for cept in source if cept >= 0]
        if list(dict.fromkeys(numbers)) != list(range(len(set(numbers)))):
            continue
        for target in product(range(-1 if null else 0, len(set(numbers))), repeat=length):
            if {*target} - {-1} == {*numbers}:
                yield np.array(source), np.array(target)


def joined(
    matrices: list[NDArray],
    source_nulls: list[NDArray] | None = None,
    target_nulls: list[NDArray] | None = None,
) -> Association:
    """Matrices end to end."""

    def flat(arrays: list[NDArray]) -> NDArray[np.float32]:
        return np.concatenate([np.empty(0), *(array.ravel() for array in arrays)]).astype(np.float32)

    return Association(
        np.array([matrix.shape[0] for matrix in matrices], dtype=np.int64),
        np.array([matrix.shape[1] for matrix in matrices], dtype=np.int64),
        offsets_of([matrix.size for matrix in matrices]),
        flat(matrices),
        None if source_nulls is None else flat(source_nulls),
        None if target_nulls is None else flat(target_nulls),
    )


def blocks(
    random: np.random.Generator, size: int, length: int, cepts: int, *, count: float = 100.0, noise: float = 0.0
) -> tuple[NDArray[np.float64], list[tuple[int, int]]]:
    """Counts of a proper alignment of so many cepts in any order of words, and its links.

    `count` is about the count of a link; `noise` is the count of every cell beside.
    """
    source = random.permutation([*range(cepts), *random.integers(0, cepts, size - cepts)])
    target = random.permutation([*range(cepts), *random.integers(0, cepts, length - cepts)])
    linked = source[:, None] == target
    masses = np.outer(random.uniform(0.5, 1.5, size), random.uniform(0.5, 1.5, length))
    return linked * count * masses + noise, [(int(i), int(j)) for i, j in np.argwhere(linked)]


@st.composite
def matrices(draw, *, most: int = 6, decades: float = 3.0) -> NDArray[np.float32]:
    """Any matrix with something in it: full or thin, some of its rows and columns 0, entries over powers of ten."""
    shape = draw(st.integers(1, most)), draw(st.integers(1, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = 10 ** random.uniform(-decades, 0, shape) * (random.random(shape) < draw(st.sampled_from([0.3, 0.7, 1.0])))
    if draw(st.booleans()):
        matrix[random.random(shape[0]) < 0.3] = 0
        matrix[:, random.random(shape[1]) < 0.3] = 0
    if draw(st.booleans()):
        matrix = np.ceil(3 * matrix)
    if not matrix.any():
        matrix[random.integers(shape[0]), random.integers(shape[1])] = 1
    return matrix.astype(np.float32)


@st.composite
def models(draw, shape: tuple[int, int], *, noisy: bool) -> Model:
    """Any parameters for a matrix of `shape`."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cepts = draw(st.integers(1, 4))
    noise = draw(st.sampled_from([0.5, 0.01, 1e-5])) if noisy else 0.0
    return Model(
        (1 - noise) * random.dirichlet(np.ones(cepts)),
        random.dirichlet(np.ones(shape[0]), cepts),
        random.dirichlet(np.ones(shape[1]), cepts),
        noise,
    )


# -- what the kernels read -----------------------------------------------------------------------------------------


def cells_of(matrix, total):
    """A matrix as kernels take it, of which nothing is negligible."""
    return plsa_kernels.Cells(np.ascontiguousarray(matrix, dtype=np.float32), total, np.zeros(len(matrix), np.float32))


def room_for(model):
    """Buffers for a model's EM."""
    _, source, target = model
    return plsa_kernels.PlsaRoom(np.zeros_like(source), np.zeros_like(target), np.zeros(target.shape[1], np.float32))


def copied(model):
    """Room for the powers of a model's parameters, with its weights."""
    return plsa_kernels.CeptModel(model.weights, np.zeros_like(model.source), np.zeros_like(model.target))
