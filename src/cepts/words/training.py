"""Training of a word model as tasks on the shards of its text and the ranges of its lexicon.

Every task reads pieces from a shelf and leaves one piece there, so that it does not matter who runs it: a thread, a
process of a cluster, or a command. In an iteration

1. `count` runs the E-step of a shard, with the entries of the lexicon that its cells need, and leaves expected counts;
2. `add` sums the counts of a range over all shards, in their order;
3. `learn` does what needs all of the text: the totals of target words, null, positions, strengths of the back-off;
4. `enter` computes the lexicon of a range.

Whatever is cut is cut by the text alone, and all sums are in a fixed order, so the result is always the same to the
last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepts.engine import ROUNDING, Tick, map_shards, piece_name
from cepts.progress import Progress, Step, silent
from cepts.store import Piece, PieceError
from cepts.words.blocks import block_of
from cepts.words.index import IndexBlock
from cepts.words.indexed_text import IndexedText
from cepts.words.leave_one_out import LeaveOneOut
from cepts.words.lexicon import BackOff
from cepts.words.lexicon_table import LexiconTable
from cepts.words.positions import Expected, Stage
from cepts.words.text import SIDES

Result = TypeVar("Result")
# The stage in which the parameters are computed from what was learnt before; it has no E-step.
PRIOR_STAGE = "prior"
SAMPLE_PARTS = ("weight", "rest", "share", "words", "totals")


class RunTasks(Protocol):
    """Runs the task `kind` of a problem for each number."""

    def __call__(
        self, kind: str, numbers: Sequence[int], tick: Tick | None = None, problem: AlignerTraining | None = None
    ) -> None:
        """Run the tasks, and call `tick` as they end."""


class AlignerTraining:
    """An `engine.Checkpointed` problem: one stage of training on an indexed text.

    Parameters
    ----------
    indexed, lexicon
        The text and its lexicon.
    stage
        The stage.
    run
        Runs one of the tasks for some numbers.
    resumable
        Whether the state is kept after each iteration, and `tidy` called then.
    progress
        Is told if an iteration continues in which some shards were done before.
    """

    def __init__(
        self,
        indexed: IndexedText,
        lexicon: LexiconTable,
        stage: Stage,
        *,
        run: RunTasks,
        resumable: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.indexed, self.lexicon, self.positions = indexed, lexicon, stage.positions
        self.stage, self.only_positions = f"training-{stage.name}", stage.only_positions
        self.run, self.resumable, self.report = run, resumable, progress or silent
        self._before: str | None = None
        self.aligner = indexed.aligner
        self.null = indexed.aligner.null_
        self.agreeing = indexed.aligner.agreement
        self.shelf = indexed.shelf
        self.iteration = 0
        # Training goes on from here, unless there is nothing to train on.
        self.starting = stage.name == PRIOR_STAGE and indexed.text.shards > 0
        self.shards = range(0) if stage.name == PRIOR_STAGE else stage.shards(indexed.text.pairs)

    @property
    def allowed_fall(self) -> float:
        """Only rounding errors if this is exact EM: M-steps are exact, and directions are not trained to agree.

        With counts of earlier texts, EM raises the likelihood of all texts, not that of this one.
        """
        exact = self.lexicon.shared.exact and self.null.exact and self.positions.exact
        if self.agreeing or self.indexed.prior is not None or not exact:
            return np.inf
        return ROUNDING * float(sum(side.frequencies.sum() for side in self.indexed.sides))

    def _named(self, what: str) -> str:
        """The name of what this iteration leaves on the shelf."""
        return left_name(self.stage, what, self.iteration + 1)

    # -- the E-step --------------------------------------------------------------------------------------------------

    def e_step(self, tick: Tick) -> float:
        """Expected counts of all shards that have none yet; returns the sum of both directions' log-likelihoods."""
        shards, counted, missing = self.shards, self._named("counts"), self.not_counted()
        done = len(shards) - len(missing)
        if 0 < done < len(shards):
            total, stage = len(shards), self.stage.replace("-", " ")
            self.report(Step(stage=stage, done=0, total=1, iteration=self.iteration + 1, parts=(done, total)))
        self.run("count", missing, lambda more, total: tick(done + more, done + total), problem=self)
        return self._again_where_damaged(
            lambda: sum((self.shelf.get(piece_name(counted, shard)).settings["objective"] for shard in shards), 0.0)
        )

    def not_counted(self) -> list[int]:
        """The shards without expected counts of this iteration."""
        counted = self._named("counts")
        return [each for each in self.shards if not self.shelf.has(piece_name(counted, each))]

    def count(self, number: int) -> None:
        """Task: the expected counts of a shard."""
        from cepts.kernels.lexicon import add_at, add_null_counts

        shard, entries = self.indexed.shard(number), self.lexicon.entries(number)
        words = self.indexed.facts.words
        counts = np.zeros((len(shard), 1 if self.agreeing else 2), dtype=np.float32)
        free = np.zeros(words[0]), np.zeros(words[1])
        statistics: list[NDArray] = []
        objective = 0.0

        def expect(block: IndexBlock) -> Expected:
            return self.positions.expect(block_of(block, entries, self.null), agreeing=self.agreeing)

        blocks = shard.blocks
        for block, found in zip(blocks, map_shards(expect, blocks, threads=self.indexed.inner_threads), strict=True):
            add_at(block.cell_numbers, found.counts, counts)
            pairs = block.pairs
            add_null_counts(pairs.source_ids, pairs.source_offsets, found.source_free, block.times, free[0])
            add_null_counts(pairs.target_ids, pairs.target_offsets, found.target_free, block.times, free[1])
            if statistics:
                for total, part in zip(statistics, found.statistics, strict=True):
                    total += part
            else:
                statistics = found.statistics
            objective += float((found.log_likelihoods * block.times[:, None]).sum())
        arrays: dict[str, NDArray] = {"counts": counts}
        for side, mass in zip(SIDES, free, strict=True):
            used = np.flatnonzero(mass).astype(np.int32)
            arrays |= {f"{side}_words": used, f"{side}_free": mass[used]}
        arrays |= _packed(statistics)
        self.shelf.put(piece_name(self._named("counts"), number), arrays, objective=objective)

    # -- the M-step --------------------------------------------------------------------------------------------------

    def m_step(self) -> None:
        """Lexicon, null and positions from the expected counts."""
        if self.only_positions:
            self._again_where_damaged(self.learn)
            self.iteration += 1
            if not self.resumable:
                self.shelf.drop(f"{self.stage}/counts-{self.iteration}")
            return
        entered = self._named("tables")
        self._again_where_damaged(lambda: self.run("add", self.without("sums"), problem=self))
        self._again_where_damaged(self.learn)
        if not self.resumable:
            # Nobody goes back to the lexicon of the E-step, so it need not be in memory beside the new one.
            self.shelf.drop(self._named("counts"))
            self._drop_lexicon(self.lexicon.version)
        self.run("enter", self.without("tables"), problem=self)
        if self.resumable:
            # Once the state says so, training continues from these alone.
            self.shelf.flush(self._named("sums"), entered)
        self._before, self.lexicon.version = self.lexicon.version, entered
        self.iteration += 1
        if not self.resumable:
            self.shelf.drop(f"{self.stage}/learnt-{self.iteration}")

    def without(self, what: str, there: Callable[[str], bool] | None = None) -> list[int]:
        """The ranges without ``sums`` or ``tables`` of this iteration; `there` says if a piece is there."""
        if self.only_positions:
            return []
        place, there = self._named(what), there or self.shelf.has
        return [each for each in range(len(self.indexed.ranges)) if not there(piece_name(place, each))]

    def reduce(self, numbers: Sequence[int], tick: Tick | None = None) -> None:
        """Do a part of the M-step for these ranges: what comes next, either adding up or making tables.

        Others do the same for the other ranges, and `m_step` does whatever is left when all have finished.
        """
        there = self.shelf.holds
        if self.only_positions:  # which are learnt from the whole text
            return
        if missing := self.without("sums", there):
            own = [each for each in missing if each in numbers]
            self._again_where_damaged(lambda: self.run("add", own, tick, problem=self))
            if not self.without("sums", there):
                self._again_where_damaged(self.learn)
            return
        if not there(self._named("learnt")):
            # Several may do this at the same time; they write the same.
            self._again_where_damaged(self.learn)
        self.run("enter", [each for each in self.without("tables", there) if each in numbers], tick, problem=self)

    def _again_where_damaged(self, step: Callable[[], Result]) -> Result:
        """Run a step; where it finds that the counts of a shard are damaged, they are made again."""
        prefix = f"{self._named('counts')}/"
        for _ in range(self.indexed.text.shards):
            try:
                return step()
            except PieceError as error:
                if not error.name.startswith(prefix):
                    raise
                self.shelf.drop(error.name)
                self.count(int(error.name.removeprefix(prefix)))
        return step()

    def add(self, number: int) -> None:
        """Task: the counts of a range, summed over all shards, with their totals."""
        from cepts.kernels.lexicon import add_at

        piece = self.shelf.get(piece_name("ranges", number))
        counts = np.zeros((len(piece["targets"]), 1 if self.agreeing else 2), dtype=np.float32)
        bounds = piece["number_offsets"].tolist()
        if "prior" in piece:
            # The cells of earlier texts come after those of the shards.
            add_at(piece.part("numbers", bounds[-2], bounds[-1]), piece["prior"], counts)
        for shard in self.shards:
            own = self.indexed.range_starts(shard)[number : number + 2].tolist()
            part = self.shelf.get(piece_name(self._named("counts"), shard)).part("counts", *own)
            add_at(piece.part("numbers", bounds[shard], bounds[shard + 1]), part, counts)
        lexicon = self.lexicon.of_range(number)
        lexicon.take(counts)
        targets = np.flatnonzero(lexicon.target_totals).astype(np.int32)
        arrays: dict[str, NDArray] = {"counts": counts, "target_words": targets}
        arrays["target_totals"] = lexicon.target_totals[targets]
        if isinstance(lexicon, BackOff):
            for direction in range(2):
                sample = lexicon.sample(direction, 1.0 / len(self.indexed.ranges))
                arrays |= {f"sample.{direction}.{part}": getattr(sample, part) for part in SAMPLE_PARTS}
        self.shelf.put_away(piece_name(self._named("sums"), number), arrays)

    def learn(self) -> None:
        """What all ranges and shards contribute to: totals of target words, strengths, null, positions."""
        self._learn()
        self.shelf.put(self._named("learnt"), self.state())

    def _learn(self) -> None:
        # All counts are read before anything is learnt: where one is damaged, this is run again.
        free = [np.zeros(words) for words in self.indexed.facts.words]
        statistics: list[NDArray] = []
        for piece in self._pieces("counts", self.shards):
            for side, total in zip(SIDES, free, strict=True):
                total[piece[f"{side}_words"]] += piece[f"{side}_free"]
            add_statistics(piece, statistics)
        if self.only_positions:
            self.positions.learn(statistics)
            return
        lexicon = self.lexicon
        target_totals = np.zeros(len(lexicon.target_totals))
        samples: tuple[list[LeaveOneOut], list[LeaveOneOut]] = [], []
        for piece in self._pieces("sums", range(len(self.indexed.ranges))):
            target_totals[piece["target_words"]] += piece["target_totals"]
            if isinstance(lexicon.shared, BackOff):
                for direction, found in enumerate(samples):
                    parts = (piece[f"sample.{direction}.{part}"].copy() for part in SAMPLE_PARTS)
                    found.append(LeaveOneOut(*parts))
        lexicon.target_totals = target_totals
        if isinstance(lexicon.shared, BackOff):
            lexicon.shared.target_totals = target_totals
            lexicon.shared.learn(*samples)
        if not statistics and self.indexed.prior is None:  # A text without any pair has no statistics.
            return
        self.null.estimate(*free, starting=self.starting)
        share = 1.0 / self.positions.stride if self.agreeing else 1.0
        self.positions.learn(statistics, share=share, starting=self.starting)

    def _pieces(self, what: str, numbers: Sequence[int]) -> Iterator[Piece]:
        """What the tasks of this iteration left, one piece at a time, so that not all of them are in memory."""
        return (self.shelf.get(piece_name(self._named(what), number)) for number in numbers)

    def enter(self, number: int) -> None:
        """Task: the lexicon of a range."""
        lexicon, learnt = self.lexicon.of_range(number), self.shelf.get(self._named("learnt"))
        counts = self.shelf.get(piece_name(self._named("sums"), number))["counts"]
        lexicon.restore({**owned_by("lexicon", learnt), "counts": counts})
        if self.agreeing:
            # Links that one direction rejects have no counts at all, which cannot happen in exact EM.
            lexicon.settle()
        if self.starting:
            lexicon.spread()
        self.lexicon.put(piece_name(self._named("tables"), number), number, lexicon.table)

    # -- checkpoints -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray]:
        """All parameters but the tables of the lexicon, which are on the shelf already."""
        shared = {f"lexicon.{name}": array for name, array in self.lexicon.shared.state().items() if name != "counts"}
        return {
            **shared,
            "lexicon.target_totals": self.lexicon.target_totals,
            "null.source": self.null.source,
            "null.target": self.null.target,
            **self.null.evidence(),
            "iteration": np.array([self.iteration]),
            **{f"positions.{name}": array for name, array in self.positions.state().items()},
        }

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set the parameters of a checkpoint."""
        self.iteration = int(state["iteration"][0])
        if not self.only_positions:
            self.lexicon.version = f"{self.stage}/tables-{self.iteration}"
        self.lexicon.target_totals = state["lexicon.target_totals"]
        if isinstance(self.lexicon.shared, BackOff):
            self.lexicon.shared.strengths[:] = state["lexicon.strengths"]
            self.lexicon.shared.estimates = int(state["lexicon.estimates"][0])
        self.null.source, self.null.target = state["null.source"], state["null.target"]
        self.null.remember(state)
        self.positions.restore(owned_by("positions", state))

    def tidy(self) -> None:
        """Remove from the shelf what the iterations before the last one left."""
        # `iteration` counts those that are finished.
        for what in ("counts", "learnt"):
            self.shelf.drop(f"{self.stage}/{what}-{self.iteration}")
        self._drop_lexicon(self._before)

    def _drop_lexicon(self, version: str | None) -> None:
        self.lexicon.forget_tables()
        if version is not None:
            self.shelf.drop(version)
            self.shelf.drop(version.replace("/tables-", "/sums-"))


def _packed(statistics: Sequence[NDArray]) -> dict[str, NDArray]:
    """The statistics of a shard as arrays of a piece: of a table by words, only the rows of words that occur."""
    arrays: dict[str, NDArray] = {}
    for place, array in enumerate(statistics):
        name = f"statistics.{place}"
        arrays[name] = array
        rows = np.flatnonzero(array.any(axis=1)).astype(np.int32) if array.ndim == 2 else None
        if rows is not None and 2 * len(rows) < len(array):
            arrays |= {name: array[rows], f"{name}.rows": rows, f"{name}.shape": np.array(array.shape)}
    return arrays


def add_statistics(piece: Mapping[str, NDArray], totals: list[NDArray]) -> None:
    """Add the statistics of a shard, as `_packed` returned them, to those of the shards before it, if any."""
    names = [name for name in piece if name.startswith("statistics.") and name.count(".") == 1]
    if not totals:
        shapes = [piece.get(f"{name}.shape", np.array(piece[name].shape)) for name in names]
        totals += [np.zeros(shape, piece[name].dtype) for name, shape in zip(names, shapes, strict=True)]
    for total, name in zip(totals, names, strict=True):
        if f"{name}.rows" in piece:
            total[piece[f"{name}.rows"]] += piece[name]
        else:
            total += piece[name]


def left_name(stage: str, what: str, iteration: int) -> str:
    """The name under which an iteration, counted from 1, leaves something on the shelf."""
    return f"{stage}/{what}-{iteration}"


def owned_by(owner: str, state: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """The arrays whose names start with `owner` and a dot, without this prefix."""
    return {name.removeprefix(f"{owner}."): array for name, array in state.items() if name.startswith(f"{owner}.")}
