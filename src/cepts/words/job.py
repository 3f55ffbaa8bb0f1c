"""Training of a word model as a job in a directory, for threads, clusters and schedulers alike.

The directory is a shelf: it holds the text in shards, the options, and whatever the tasks leave. Anybody who opens it
can see which step is next, run tasks of this step, or finish it. A step is either the indexing or an iteration of a
stage; its tasks on shards come first, and `finish` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from cepts._version import __version__
from cepts.engine import (
    Engine,
    ThreadEngine,
    Tick,
    check_version,
    has_ended,
    piece_name,
    release_memory,
    run_em,
    state_name,
)
from cepts.errors import ModelError
from cepts.progress import Progress
from cepts.store import DiskShelf, Shelf
from cepts.words.index import Sizes
from cepts.words.indexed_text import IndexedText
from cepts.words.lexicon_table import LexiconTable
from cepts.words.options import aligner_of, options_of
from cepts.words.positions import Positions, Stage
from cepts.words.prior import TIMES, Prior
from cepts.words.text import ShelvedText
from cepts.words.training import PRIOR_STAGE, AlignerTraining, left_name

if TYPE_CHECKING:
    from cepts.words.aligner import Aligner

OPTIONS = "options"


@dataclass(frozen=True, slots=True)
class JobStep:
    """A step of a training job.

    Attributes
    ----------
    stage
        The name of the stage, such as ``hmm``; None while the text is indexed.
    iteration
        The number of the iteration, from 1.
    missing
        The shards whose task has not been done.
    shards
        Number of all shards.
    """

    stage: str | None
    iteration: int
    missing: tuple[int, ...]
    shards: int

    def __str__(self) -> str:
        return "indexing" if self.stage is None else f"training {self.stage}, iteration {self.iteration}"


@dataclass(frozen=True, slots=True)
class RangeStep:
    """The tasks on ranges of the lexicon that finish a step of a training job.

    Attributes
    ----------
    step
        The step.
    work
        What is done for each range.
    missing
        The ranges for which this has not been done.
    ranges
        Number of all ranges.
    """

    step: JobStep
    work: str
    missing: tuple[int, ...]
    ranges: int

    def __str__(self) -> str:
        return f"{self.step}, {self.work}"


class TrainingJob:
    """The training of an aligner on a text on a shelf.

    Parameters
    ----------
    aligner
        The aligner, which is trained by running the job.
    text
        The text. Its shelf keeps what the tasks leave.
    sizes
        How large blocks and ranges are.
    engine
        Runs the tasks.
    lasting
        Whether the state is kept after each iteration, so that others can go on with the job.
    """

    def __init__(
        self, aligner: Aligner, text: ShelvedText, sizes: Sizes, engine: Engine | None = None, *, lasting: bool = True
    ) -> None:
        self.aligner, self.text, self.sizes, self.lasting = aligner, text, sizes, lasting
        self.engine = engine or ThreadEngine(aligner.threads)
        self.shelf = text.shelf
        self.indexed = IndexedText(aligner, text, sizes, self.engine.threads)

    # -- options -----------------------------------------------------------------------------------------------------

    def keep_options(self, prior: Prior | None = None) -> None:
        """Keep the options on the shelf; refuse a shelf that has others, unless only training time differs."""
        options, learnt = options_of(self.aligner), None if prior is None else prior.fingerprint
        if not self.shelf.has(OPTIONS):
            settings = {"options": options, "sizes": asdict(self.sizes), "version": __version__, "prior": learnt}
            self.shelf.commit(OPTIONS, {}, model=self.aligner.name, **settings)
            return
        before = self.shelf.get(OPTIONS).settings
        differing = [name for name in options if options[name] != before["options"].get(name) and name not in TIMES]
        if before["model"] != self.aligner.name:
            raise other_checkpoint(self.shelf, f"the model was {before['model']}")
        if before.get("prior") != learnt:
            raise other_checkpoint(self.shelf, "it began with other models or priors")
        if differing:
            raise other_checkpoint(self.shelf, f"`{differing[0]}` was {before['options'].get(differing[0])}")
        self.sizes = self.indexed.sizes = Sizes(**before["sizes"])

    @classmethod
    def open(cls, directory: str | Path, engine: Engine | None = None) -> TrainingJob:
        """Open a job that another process has begun in a directory."""
        shelf = DiskShelf(directory)
        if not shelf.has(OPTIONS) or not shelf.has("text"):
            raise ModelError(f"{directory} holds no training job; begin one there with `cepts shard`.")
        settings = shelf.get(OPTIONS).settings
        check_version(directory, settings["version"])
        aligner = aligner_of(settings["model"], settings["options"])
        return cls(aligner, ShelvedText(shelf), Sizes(**settings["sizes"]), engine)

    # -- steps -------------------------------------------------------------------------------------------------------

    def step(self) -> JobStep | None:
        """The next step; None if the training is finished.

        What is there counts as done: each of many processes asks, and none can read all files to find damaged ones.
        """
        shards, there = self.text.shards, self.shelf.holds
        if not self.indexed.is_ready():
            return JobStep(None, 0, tuple(self.indexed.not_indexed(there)), shards)
        for stage in self.stages():
            history = self._history(stage.name)
            if not has_ended(history, stage.iterations, self.aligner.tolerance):
                counted = left_name(f"training-{stage.name}", "counts", len(history) + 1)
                # What was learnt before is added up without a look at the text.
                numbers = () if stage.name == PRIOR_STAGE else stage.shards(self.text.pairs)
                missing = (shard for shard in numbers if not there(piece_name(counted, shard)))
                return JobStep(stage.name, len(history) + 1, tuple(missing), shards)
        return None

    def steps_left(self) -> int:
        """How many steps are left; there may be fewer if EM stops early."""
        histories = ((self._history(stage.name), stage.iterations) for stage in self.stages())
        tolerance = self.aligner.tolerance
        left = (most - len(done) for done, most in histories if not has_ended(done, most, tolerance))
        return sum(left, 0 if self.indexed.is_ready() else 1)

    def stages(self) -> list[Stage]:
        """The stages of training; see `Aligner.stages`."""
        if not hasattr(self, "lexicon"):
            self._begin()
        prior = self.indexed.prior
        if prior is None:
            return self.aligner.stages()
        # Goes on where the earlier training ended.
        stages = self.aligner.later_stages() if prior.trained else self.aligner.stages()
        first = Stage(PRIOR_STAGE, stages[-1 if prior.trained else 0].positions, 1)
        return [first, *stages] if self.text.shards else [first]

    def _history(self, stage: str) -> list[float]:
        name = state_name(f"training {stage}")
        return list(self.shelf.get(name).settings["objectives"]) if self.shelf.has(name) else []

    def _begin(self) -> None:
        """Give the aligner what it has before the first iteration."""
        self.aligner.begin(self.indexed)
        self.lexicon = LexiconTable(self.indexed)
        self._prepared: list[Positions] = []
        if self.indexed.prior is not None:
            self.aligner.null_.earlier = self.indexed.earlier_free()
            self.indexed.prior.give_strengths(self.lexicon.shared)

    def _prepare(self, positions: Positions) -> None:
        """Prepare a position model for the text, once: two stages may share it."""
        if any(positions is other for other in self._prepared):
            return
        positions.prepare(self.indexed.facts)
        self.indexed.give_prior(positions)
        self._prepared += [positions, *positions.parts]

    def problem(self, stage: str) -> AlignerTraining:
        """A stage as an EM problem, in the state that the shelf has."""
        self._begin()
        for each in self.stages():
            self._prepare(each.positions)
            problem = self._problem(each)
            kept = state_name(f"training {each.name}")
            if self.shelf.has(kept):
                problem.restore(dict(self.shelf.get(kept)))
            if each.name == stage:
                return problem
        raise AssertionError(f"there is no stage {stage}")

    def _problem(self, stage: Stage, progress: Progress | None = None) -> AlignerTraining:
        how: dict[str, Any] = {"run": self.run, "resumable": self.lasting, "progress": progress}
        return AlignerTraining(self.indexed, self.lexicon, stage, **how)

    def index(self, tick: Tick | None = None) -> None:
        """Do what is missing before the first iteration."""
        self.indexed.number_words_once()
        self.run("index", self.indexed.not_indexed(), tick)
        release_memory()
        self.run("merge", self.indexed.not_merged())
        self.indexed.end()
        release_memory()

    def train(self, progress: Progress | None = None) -> None:
        """Run all iterations that are missing."""
        self.shelf.sweep()
        self._begin()
        for stage in self.stages():
            self._prepare(stage.positions)
            # Adding up what was learnt before takes no time worth telling.
            told = None if stage.name == PRIOR_STAGE else progress
            objectives = run_em(
                self._problem(stage, told),
                iterations=stage.iterations,
                tolerance=self.aligner.tolerance,
                stage=f"training {stage.name}",
                progress=told,
                checkpoint=self.shelf if self.lasting else None,
            )
            if stage.name != PRIOR_STAGE:  # It has no E-step.
                self.aligner.stage_objectives_[stage.name] = objectives
            release_memory()
        self.aligner.end(self.indexed, self.lexicon)

    def do(self, step: JobStep, numbers: Sequence[int], tick: Tick | None = None) -> None:
        """Run the tasks of a step, the next one, on these shards, as far as they are missing."""
        chosen = [number for number in step.missing if number in numbers]
        if step.stage is None:
            self.indexed.number_words_once()
            self.run("index", chosen, tick)
        else:
            self.run("count", chosen, tick, problem=self.problem(step.stage))

    def range_step(self, step: JobStep) -> RangeStep:
        """What has to be done next for the ranges, to finish a step whose tasks on shards must have been done."""
        self._check_shards(step)
        ranges, there = len(self.indexed.ranges), self.shelf.holds
        if step.stage is None:
            return RangeStep(step, "numbering cells", tuple(self.indexed.not_merged(there)), ranges)
        problem = self.problem(step.stage)
        if missing := problem.without("sums", there):
            return RangeStep(step, "adding up", tuple(missing), ranges)
        return RangeStep(step, "making tables", tuple(problem.without("tables", there)), ranges)

    def reduce(self, step: JobStep, numbers: Sequence[int], tick: Tick | None = None) -> None:
        """Run the tasks of `range_step` for these ranges, as far as they are missing."""
        self._check_shards(step)
        if step.stage is None:
            self.run("merge", [each for each in self.indexed.not_merged(self.shelf.holds) if each in numbers], tick)
        else:
            self.problem(step.stage).reduce(numbers, tick)

    def _check_shards(self, step: JobStep) -> None:
        if step.missing:
            raise ModelError(
                f"{_place(self.shelf)}: {len(step.missing):,} of {step.shards:,} shards are missing in {step}, the "
                f"first of them {step.missing[0] + 1:,}; run `cepts train` for them first."
            )

    def finish(self, step: JobStep, progress: Progress | None = None) -> None:
        """Finish a step, the next one, whose tasks on shards must have been done."""
        self._check_shards(step)
        self.shelf.sweep()
        if step.stage is None:
            self.run("index", self.indexed.not_indexed())  # those that are damaged
            self.run("merge", self.indexed.not_merged())
            self.indexed.end()
            return
        run_em(
            self.problem(step.stage),
            iterations=step.iteration,
            stage=f"training {step.stage}",
            progress=progress,
            checkpoint=self.shelf,
        )

    # -- tasks -------------------------------------------------------------------------------------------------------

    def run(
        self, kind: str, numbers: Sequence[int], tick: Tick | None = None, problem: AlignerTraining | None = None
    ) -> None:
        """Run a task for each number, the last ones first.

        Later shards are larger, and the smaller the tasks that remain, the less threads wait for the last one.
        """
        owner = self.indexed if problem is None else problem
        task: Callable[[int], None] = getattr(owner, kind)
        if self.engine.remote and numbers:
            if not isinstance(self.shelf, DiskShelf):
                raise AssertionError("a cluster needs a shelf of files")
            stage, iteration = (None, 0) if problem is None else (problem.stage, problem.iteration)
            task = JobTask(str(Path(self.shelf.directory).resolve()), kind, stage, iteration)
        self.engine.run(task, numbers[::-1], tick)


@dataclass(frozen=True, slots=True)
class JobTask:
    """A task of a job in a directory, for a process that has nothing but its name."""

    directory: str
    kind: str
    stage: str | None
    iteration: int

    def __call__(self, number: int) -> None:
        """Run the task for a shard or a range."""
        places = [DiskShelf(self.directory).path_of(name) for name in ("text", OPTIONS, "words")]
        try:
            written = tuple(place.stat().st_mtime_ns for place in places)
        except OSError as error:
            raise ModelError(
                f"a worker cannot read {error.filename} ({error.strerror}); all machines must see the directory of the "
                f"job under the same name."
            ) from error
        with _opening:
            indexed, problem = _opened(self.directory, written, self.stage, self.iteration)
        getattr(problem or indexed, self.kind)(number)


# Threads of a worker share a job; they would otherwise set its parameters at the same time.
_opening = Lock()


@lru_cache(maxsize=1)
def _job(directory: str, written: tuple[int, ...]) -> TrainingJob:
    """A job as a worker sees it; another one in the same directory was written at another time."""
    return TrainingJob.open(directory, ThreadEngine(1))


@lru_cache(maxsize=1)
def _opened(
    directory: str, written: tuple[int, ...], stage: str | None, iteration: int
) -> tuple[IndexedText, AlignerTraining | None]:
    """A job as a worker sees it in an iteration; what it has read stays valid until the next one."""
    job = _job(directory, written)
    if stage is None:
        return job.indexed, None
    problem = job.problem(stage.removeprefix("training-"))
    if problem.iteration != iteration:
        raise ModelError(
            f"{directory} is at iteration {problem.iteration + 1} of {stage}, not at {iteration + 1}; is another "
            f"process training there, or do the machines see different files?"
        )
    return job.indexed, problem


def _place(shelf: Shelf) -> str:
    return str(shelf.directory) if isinstance(shelf, DiskShelf) else "the job"


def other_checkpoint(shelf: Shelf, how: str) -> ModelError:
    """The error that says that a shelf has another job."""
    return ModelError(
        f"{_place(shelf)} is a checkpoint of another text or of training with other options ({how}); delete it to "
        f"start again, or choose another directory."
    )
