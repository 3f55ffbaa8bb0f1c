"""The position models of Models 3 and 4 (Brown, Della Pietra, Della Pietra and Mercer, 1993): words have fertilities.

P(target, alignment | source) is the product of
- for null, which has n of the J target words: binomial(J - n, n) p1^n (1 - p1)^(J - 2n), where p1 is `null_prob`;
- for each source word, n(fertility | word);
- for each target word, t(target word | source word or null);
- for Model 3, each source word's fertility! and, for each target word that null does not explain, d(j | i, I, J);
- for Model 4, for each source word that has target words (a *cept*): for the first of them, its *head*, d1(distance
  from the centre of the last cept | class of the last cept's source word, class of the head), and for each other one
  d>1(distance from the one before | its class). The centre of a cept is the ceiling of the mean of its positions; for
  the first cept, the last centre is the position before the first word.

Both models are deficient: they give probability to positions outside the sentence and to several words in one position.
A sum over all alignments is not tractable, so posteriors and likelihoods are those of an alignment found by hill
climbing and its neighbours (see `cepts.kernels.fertility_gains`). So a log-likelihood is a lower bound, and EM may
lower it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import NBest, offsets_of
from cepts.words.blocks import PairBlock
from cepts.words.index import Pairs
from cepts.words.jumps import Jumps, doubling_groups
from cepts.words.nbest import lists_of
from cepts.words.positions import EarlierPositions, Paths, Positions
from cepts.words.text import TextFacts

if TYPE_CHECKING:
    from cepts.kernels.blocks import BlockArrays, Found
    from cepts.kernels.fertility_sentence import Shard

# Each distance up to NEAR has its own probability; farther ones share one for each doubling of the distance.
NEAR = 8
DOUBLINGS = 7
GROUPS = 2 * (NEAR + DOUBLINGS) + 1
CENTRE = NEAR + DOUBLINGS
# The last fertility and all higher ones share one probability, which halves with each further word.
FERTILITIES = 10
FERTILITY_PRIOR = np.array([0.2, 0.6, 0.12, 0.05, 0.02, 0.006, 0.002, 0.001, 0.0006, 0.0004])
TINY = 1e-30


class Fertility(Positions):
    """What Models 3 and 4 share: fertilities, null, and hill climbing from the HMM's path.

    Parameters
    ----------
    null_prob
        p1, the probability that a word which null does not explain adds a word that null explains.
    jumps
        The trained jumps of the HMM, from whose paths hill climbing starts.
    smoothing
        Number of pseudo-occurrences that are added to each word, with the fertilities of all words together.
    """

    chained: ClassVar[bool]
    learnt: ClassVar[tuple[str, ...]] = ("source_fertility", "target_fertility")
    exact = False  # posteriors are those of a neighbourhood, and all distributions are smoothed

    def __init__(self, *, null_prob: float | None = None, jumps: Jumps | None = None, smoothing: float = 30.0) -> None:
        null_prob = 0.1 if null_prob is None else null_prob
        if not 0 < null_prob < 1:
            raise ValueError(f"`null_prob` must lie between 0 and 1. Got {null_prob} instead.")
        self.null_prob = null_prob
        self.jumps = Jumps(null_prob=null_prob) if jumps is None else jumps
        self.smoothing = smoothing
        self.source_fertility = np.empty((0, FERTILITIES), dtype=np.float32)
        self.target_fertility = np.empty((0, FERTILITIES), dtype=np.float32)
        self.source_classes = np.empty(0, dtype=np.int32)
        self.target_classes = np.empty(0, dtype=np.int32)
        self.placements = np.zeros((2, 3, 1, GROUPS), dtype=np.float32)
        self.displacements = np.zeros((2, 1, GROUPS), dtype=np.float32)
        self._groups = distance_groups(0)
        self._logs: tuple[NDArray, ...] | None = None

    @property
    def parts(self) -> Sequence[Positions]:
        """The jumps of the HMM."""
        return (self.jumps,)

    def prepare(self, text: TextFacts) -> None:
        """Set the distributions before training, for the words of a text."""
        self.source_fertility, self.target_fertility = (
            np.tile(FERTILITY_PRIOR.astype(np.float32), (words + 1, 1)) for words in text.words
        )
        self._logs = None
        self.widen(text)

    def widen(self, text: Pairs | TextFacts) -> None:
        """Extend the tables of distances to the longest sentence of a text."""
        self.jumps.widen(text)
        if len(self._groups) < 2 * text.longest + 3:
            self._groups = distance_groups(text.longest + 1)
        self.logarithms()

    def fill(self, block: PairBlock, found: Found, *, counting: bool, agreeing: bool) -> tuple[list[NDArray], Paths]:
        """Posteriors, or expected counts also of fertilities and placements, over neighbourhoods of climbed paths."""
        from cepts.kernels.fertility_shard import FertilityCounts, fertility_posteriors

        shapes = self._shapes() if counting else (*[(2, 0)] * 3, (2, 0, 0))
        statistics, shard = [np.zeros(shape) for shape in shapes], self._shard(block)
        fertility_posteriors(shard, counting, agreeing, found, FertilityCounts(*statistics))
        return statistics, (shard.source_links, shard.target_links)

    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the statistics."""
        fertilities = self.source_fertility.shape, self.target_fertility.shape
        return (*fertilities, (2, self.placements[0].size), self.displacements.shape)

    def paths(self, block: PairBlock) -> Paths:
        """The climbed alignments."""
        climbed = self.posterior(block, agreeing=True).paths
        assert climbed is not None
        return climbed

    def nbest(self, block: PairBlock, count: int) -> tuple[NBest, NBest]:
        """The best alignments that moves and swaps reach from the climbed one; a better one may exist."""
        shard = self._shard(block)
        return self._nbest(block, shard, count, 0), self._nbest(block, shard, count, 1)

    def _nbest(self, block: PairBlock, shard: Shard, count: int, direction: int) -> NBest:
        from cepts.kernels.fertility_nbest import fertility_nbest

        explained, most = lists_of(block, count, direction)
        found = np.zeros(len(block.pairs), dtype=np.int64)
        log_probabilities = np.empty(int(most.sum()))
        positions = np.empty(int((most * explained).sum()), dtype=np.int32)
        longest = int(most.max(initial=1))
        used, used_positions = fertility_nbest(shard, direction, longest, found, log_probabilities, positions)
        return NBest(explained, offsets_of(found), log_probabilities[:used].copy(), positions[:used_positions].copy())

    def add_earlier(self, earlier: EarlierPositions) -> None:
        """Add the fertilities and placements of an earlier text, or the fertilities of a table."""
        if len(earlier.seen) < 2:
            return
        statistics = [np.zeros(shape) for shape in self._shapes()]
        for own, counts, numbers in zip(statistics, earlier.seen, (earlier.source, earlier.target), strict=False):
            kept = numbers >= 0
            np.add.at(own, numbers[kept], counts[:-1][kept])
            own[-1] += counts[-1]
        for own, counts in zip(statistics[2:], earlier.seen[2:], strict=False):
            own += counts
        self._join(statistics, earlier.weight)
        jumps = {name.removeprefix("jumps."): each for name, each in earlier.state.items() if name.startswith("jumps.")}
        self.jumps.add_earlier(EarlierPositions(jumps, earlier.weight, earlier.source, earlier.target))

    def learn(self, statistics: Sequence[NDArray], *, share: float = 1.0, starting: bool = False) -> None:
        """M-step; the jumps of an earlier text are taken as they are, because the HMM is not trained again."""
        if starting or not statistics:
            self.jumps.learn([])
        super().learn(statistics, share=share, starting=starting)

    def update(self, statistics: list[NDArray]) -> None:
        """Distributions from expected counts."""
        source_fertility, target_fertility, *placements = statistics
        self.source_fertility = self._fertilities(source_fertility)
        self.target_fertility = self._fertilities(target_fertility)
        self.place(*placements)
        self._logs = None
        self.logarithms()

    @abstractmethod
    def place(self, placements: NDArray, displacements: NDArray) -> None:
        """M-step of the placements."""

    def _fertilities(self, counts: NDArray[np.float64]) -> NDArray[np.float32]:
        """Fertilities of each word, smoothed towards those of all words, which are also those of unknown words."""
        overall = drawn(counts.sum(axis=0), FERTILITY_PRIOR, 1.0)
        return drawn(counts, overall, self.smoothing).astype(np.float32)

    def state(self) -> dict[str, NDArray]:
        """What was learnt, and the HMM's jumps."""
        own, jumps = super().state(), {f"jumps.{name}": array for name, array in self.jumps.state().items()}
        return {**{name: own[name] for name in Fertility.learnt}, **jumps, **own}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set what was learnt, and the jumps."""
        super().restore(state)
        self.jumps.restore({name.removeprefix("jumps."): state[name] for name in state if name.startswith("jumps.")})
        self._logs = None

    def logarithms(self) -> tuple[NDArray, ...]:
        """Logarithms of the distributions, as kernels read them; far distances share their probability evenly."""
        if self._logs is None:
            sizes = group_sizes()
            self._logs = (
                *(np.log(np.maximum(table, TINY)) for table in (self.source_fertility, self.target_fertility)),
                *(
                    np.log(np.maximum(table / sizes, TINY)).astype(np.float32)
                    for table in (self.placements, self.displacements)
                ),
            )
        return self._logs

    def _shard(self, block: PairBlock) -> Shard:
        """What kernels read, with the HMM's paths to start from."""
        arrays = block.arrays
        tables = ("lexicon", "source_null", "target_null")
        logs = {name: np.log(np.maximum(getattr(arrays, name), np.float32(TINY))) for name in tables}
        return self._with_parameters(block, arrays._replace(**logs), self.jumps.paths(block))

    def _with_parameters(self, block: PairBlock, arrays: BlockArrays, paths: Paths) -> Shard:
        """The arrays of a block with all parameters and the links of each direction."""
        from cepts.kernels.fertility_sentence import Shard

        parameters = (
            arrays,
            block.source_words,
            block.target_words,
            np.append(self.source_classes, self.classes_used())[block.source_words],
            np.append(self.target_classes, self.classes_used())[block.target_words],
            *self.logarithms(),
            self.chained,
            self._groups,
            len(self._groups) // 2,
            self.null_prob,
            block.pairs.longest,
            *paths,
        )
        return Shard._make(parameters)

    def classes_used(self) -> int:
        """Number of classes, which is also the number of the class of unknown words."""
        return self.placements.shape[2] - 1


class Displacements(Fertility):
    """Model 3: d(j | i, I, J) depends on the distance of j from the diagonal at i, and on J.

    Lengths J are divided into four buckets: up to 8 words, up to 16, up to 32, and longer.
    """

    name = "ibm3"
    learnt = (*Fertility.learnt, "displacements")
    chained = False
    BUCKETS = 4

    def prepare(self, text: TextFacts) -> None:
        """Displacements that fall with the distance."""
        self.displacements = np.tile(smooth_prior(0.75, 0).astype(np.float32), (2, self.BUCKETS, 1))
        self.source_classes, self.target_classes = (np.zeros(words, dtype=np.int32) for words in text.words)
        super().prepare(text)

    def place(self, placements: NDArray, displacements: NDArray) -> None:
        """Displacements of each bucket, smoothed towards those of all buckets."""
        for direction in range(2):
            overall = drawn(displacements[direction].sum(axis=0), smooth_prior(0.75, 0), 10.0)
            self.displacements[direction] = drawn(displacements[direction], overall, 10.0)

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set what was learnt; there are no classes."""
        super().restore(state)
        self.source_classes = np.zeros(len(self.source_fertility) - 1, dtype=np.int32)
        self.target_classes = np.zeros(len(self.target_fertility) - 1, dtype=np.int32)


class Distortions(Fertility):
    """Model 4: a cept is placed relative to the last one, by word classes.

    Parameters
    ----------
    classes
        Number of word classes of each language.
    placement_smoothing
        Number of pseudo-placements that are added to each pair of classes, distributed as those of all classes.
    """

    name = "ibm4"
    learnt = (*Fertility.learnt, "placements", "source_classes", "target_classes")
    chained = True
    # Passes over all words in which their classes are found.
    passes: ClassVar[int] = 10

    def __init__(self, *, classes: int = 50, placement_smoothing: float = 5.0, **options: Any) -> None:
        super().__init__(**options)
        self.classes = classes
        self.placement_smoothing = placement_smoothing

    def prepare(self, text: TextFacts) -> None:
        """Word classes, and distances that fall from one word ahead."""
        self.source_classes, self.target_classes = text.classes(self.classes, self.passes)
        self.placements = np.empty((2, self.classes + 3, self.classes + 1, GROUPS), dtype=np.float32)
        self.placements[:, :-1] = smooth_prior(0.6, 1)
        self.placements[:, -1] = _ahead(smooth_prior(0.5, 1))
        super().prepare(text)

    def add_earlier(self, earlier: EarlierPositions) -> None:
        """Add the fertilities and placements of an earlier text, whose words may have been in other classes.

        What a class placed is divided among the classes in which its words are now.
        """
        if len(earlier.seen) == 4:
            shares = [
                class_shares(earlier.state[name], classes[numbers], counts[:-1].sum(axis=1), self.classes + 1)
                for name, classes, numbers, counts in (
                    ("source_classes", self.source_classes, earlier.source, earlier.seen[0]),
                    ("target_classes", self.target_classes, earlier.target, earlier.seen[1]),
                )
            ]
            placements = earlier.seen[2].reshape(self.placements.shape)
            divided = placements.copy()
            for direction, (before, head) in enumerate((shares, shares[::-1])):
                # After the classes come the start of a sentence and what is not a head, which stay what they are.
                every = np.eye(self.classes + 3)
                every[: self.classes + 1, : self.classes + 1] = before
                divided[direction] = np.einsum("abg,ac,bd->cdg", placements[direction], every, head, optimize=True)
            earlier = replace(earlier, state={**earlier.state, "seen.2": divided.reshape(earlier.seen[2].shape)})
        super().add_earlier(earlier)

    def place(self, placements: NDArray, displacements: NDArray) -> None:
        """Distances of each pair of classes, smoothed towards those of all classes."""
        strength = self.placement_smoothing
        for counts, learnt in zip(placements.reshape(self.placements.shape), self.placements, strict=True):
            heads, rests = counts[:-1], counts[-1]
            learnt[:-1] = drawn(heads, drawn(heads.sum(axis=(0, 1)), smooth_prior(0.6, 1), 10.0), strength)
            learnt[-1] = drawn(rests, drawn(rests.sum(axis=0), _ahead(smooth_prior(0.5, 1)), 10.0), strength)


def class_shares(
    before: NDArray[np.int32], now: NDArray[np.int32], weights: NDArray[np.float64], classes: int
) -> NDArray[np.float64]:
    """P(class now | class before), from words and their weights; a class without any word (now -1) stays what it is."""
    known = now >= 0
    keys = before[known].astype(np.int64) * classes + now[known]
    mass = np.bincount(keys, weights[known], classes * classes).reshape(classes, classes)
    empty = mass.sum(axis=1) <= 0
    mass[empty] = np.eye(classes)[empty]
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def drawn(counts: NDArray[np.float64], prior: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """Distributions (along the last axis) of counts to which `strength` times the prior is added."""
    # Adding and subtracting terms may leave values slightly below 0.
    counts = np.maximum(counts, 0.0) + strength * prior
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def distance_groups(reach: int) -> NDArray[np.int64]:
    """Group of each distance from -`reach` to `reach`: its own up to `NEAR`, then one for each doubling."""
    return CENTRE + np.clip(doubling_groups(np.arange(-reach, reach + 1), NEAR), -CENTRE, CENTRE)


def group_sizes() -> NDArray[np.int64]:
    """How many distances each group has."""
    far = np.abs(np.arange(GROUPS) - CENTRE) - NEAR
    return np.where(far > 0, NEAR << np.maximum(far - 1, 0), 1)


def smooth_prior(ratio: float, top: int) -> NDArray[np.float64]:
    """Probabilities of groups that fall by `ratio` from one to the next on either side of distance `top`."""
    weights = ratio ** np.abs(np.arange(GROUPS) - CENTRE - top)
    return np.asarray(weights / weights.sum())


def _ahead(prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for forward distances only."""
    prior = np.where(np.arange(GROUPS) > CENTRE, prior, 0.0)
    return np.asarray(prior / prior.sum())
