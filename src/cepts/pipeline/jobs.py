"""Large jobs: a text is put on a shelf while it is read, and a model is trained and used shard by shard.

Everything that a job needs lies in one directory, so that threads, a cluster, or commands that a scheduler starts can
run it, and so that it continues where it was interrupted. See `cepts.words.job`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cepts.data import Bitext, WordBound
from cepts.engine import BYTES_IN_MEMORY, Tick, Workplace, engine_of
from cepts.errors import DataError, ModelError, UsageError
from cepts.extract import Extraction
from cepts.io import LinkWriter, bitext_blocks, bitext_parts
from cepts.names import LINK_FORMATS, resolve
from cepts.pipeline.inputs import BitextFiles
from cepts.pipeline.loop import Summary, align
from cepts.pipeline.notices import note_tokens, note_unused_priors
from cepts.pipeline.piece_jobs import PendingShards, PieceJobs, check_files, command_of
from cepts.progress import Progress, Step
from cepts.store import DiskShelf, PassingShelf, Shelf, SpillingShelf
from cepts.words import Aligner, Prior
from cepts.words.aligner import SIZES
from cepts.words.job import OPTIONS, JobStep, RangeStep, TrainingJob, other_checkpoint
from cepts.words.memory import MemoryPlan
from cepts.words.text import ShelvedText

# How many seconds a process waits before it looks again whether others have done their part, at first and at most.
SHORTEST_PAUSE = 0.05
LONGEST_PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class Share:
    """One of several equal shares of a job: `number` of `count`, from 1; `option` is what messages call it."""

    number: int = 1
    count: int = 1
    option: str = "shard"

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise UsageError(f"`{self.option}` must be I/N with I from 1 to N. Got {self.number}/{self.count} instead.")

    @classmethod
    def of(cls, text: str, option: str = "shard") -> Share:
        """The share that a user writes as ``2/8``, with this option."""
        number, slash, count = text.partition("/")
        if not (slash and number.isdecimal() and count.isdecimal()):
            raise UsageError(f"`{option}` must be I/N, such as 2/8. Got {text!r} instead.")
        return cls(int(number), int(count), option)

    def part_of(self, total: int) -> range:
        """The consecutive shards, or ranges, of this share."""
        return range(total * (self.number - 1) // self.count, total * self.number // self.count)


def shelve(
    texts: BitextFiles,
    shelf: Shelf,
    *,
    bound: WordBound | None = None,
    cells_in_shard: int | None = None,
    threads: int | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> ShelvedText:
    """Read sentence pairs and put them on a shelf, without ever holding the whole text, or more words than `bound`."""
    about = {"files": _stamp(texts)}
    how: dict[str, Any] = {"notices": notices, "progress": progress, "threads": threads, "bound": bound}
    with bitext_blocks(**asdict(texts), **how) as blocks:
        text = ShelvedText.put_blocks(
            shelf,
            blocks,
            lambda: (blocks.source_vocabulary(), blocks.target_vocabulary()),
            cells_in_shard or SIZES.shard,
            numbers=lambda: (blocks.source_numbers(), blocks.target_numbers()),
            growing=cells_in_shard is None,
            **about,
        )
    read_again(text)
    if notices is not None and text.shards and (text.has_all_words or text.sentences is not None):
        note_tokens(texts.names, text.part(0, text.pairs[0]), notices)
        read_again(text)  # closes the files
    return text


def read_again(text: ShelvedText) -> None:
    """Have words of a text that were not kept read again from its files, if it has some, when they are to be shown."""
    if not text.has_all_words and text.about["files"] is not None:
        text.sentences = SentencesAgain(text.about["files"])


class SentencesAgain:
    """The sentences of files that were read before; who takes them in order has them read once.

    Parameters
    ----------
    stamp
        Says which files these are, how they were read, and when they were written.
    """

    def __init__(self, stamp: list[Any]) -> None:
        self.stamp = stamp
        self._parts: Iterator[Bitext] | None = None
        self._held, self._first = Bitext.from_tokens([]), 0
        # Links and matrices of the same pairs are written one after the other.
        self._last: tuple[int, int, Bitext] = 0, 0, self._held

    def part(self, start: int, stop: int) -> Bitext:
        """Pairs `start` to `stop` (exclusive)."""
        if self._last[:2] != (start, stop):
            self._last = start, stop, self._taken(start, stop)
        return self._last[2]

    def _taken(self, start: int, stop: int) -> Bitext:
        if self._parts is None or start < self._first:
            self._parts, self._held, self._first = self._opened(), Bitext.from_tokens([]), 0
        found = []
        while start < stop:
            end = self._first + len(self._held)
            if start < end:
                upto = min(stop, end)
                found.append(self._held.part(start - self._first, upto - self._first))
                start = upto
            else:
                following = next(self._parts, None)
                if following is None:
                    raise self._changed()
                self._held, self._first = following, end
        return found[0] if len(found) == 1 else Bitext.joined(found)

    def _opened(self) -> Iterator[Bitext]:
        format_, errors, languages, columns, source, *target = self.stamp
        texts = BitextFiles(
            source=source[0],
            target=target[0][0] if target else None,
            format=format_,
            errors=errors,
            languages=languages and tuple(languages),
            columns=columns and tuple(columns),
        )
        if _stamp(texts) != self.stamp:
            raise self._changed()
        return bitext_parts(**asdict(texts), threads=1)

    def _changed(self) -> DataError:
        names = " and ".join(path for path, *_ in self.stamp[4:])
        return DataError(
            f"{names}: changed or moved since the text was read. It must be read again, because the format shows its "
            f"words; put the same text there, or write the links in a format without words, such as pharaoh."
        )


def text_on(
    texts: BitextFiles,
    checkpoint: str | Path | None,
    *,
    bound: WordBound | None = None,
    plan: MemoryPlan | None = None,
    threads: int | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> ShelvedText:
    """The text of files on a shelf: a temporary one, or that of a checkpoint, which must have the same text.

    If the files have not changed since an earlier run put them on the shelf of the checkpoint, they are not read again.
    `plan` says how large shards are, and how much is kept in memory, `bound` how many words are held.
    """
    how: dict[str, Any] = {"bound": bound, "threads": threads, "notices": notices, "progress": progress}
    how["cells_in_shard"] = None if plan is None else plan.sizes.shard
    if checkpoint is None:
        return shelve(texts, SpillingShelf(BYTES_IN_MEMORY if plan is None else plan.shelf), **how)
    shelf = DiskShelf(checkpoint)
    if not shelf.has("text"):
        check_work(checkpoint)
        return shelve(texts, shelf, **how)
    text = ShelvedText(shelf)
    read_again(text)
    stamp = _stamp(texts)
    if stamp is not None and stamp == text.about.get("files"):
        return text
    again = PassingShelf()
    try:
        if shelve(texts, again, **how).fingerprint != text.fingerprint:
            raise other_checkpoint(shelf, "the text differs")
    finally:
        again.close()
    return text


def check_work(directory: str | Path) -> None:
    """Refuse a directory that has files that are not of a training job."""
    known = {"text", "index", "ranges", "prior"}
    known |= {f"{name}.piece" for name in ("text", OPTIONS, "words", "indexed", "prior")}
    check_files(directory, lambda name: name in known or name.startswith(("training-", "classes-")))


def _stamp(texts: BitextFiles) -> list[Any] | None:
    """Changes when the files do; None for standard input and what is not a file."""
    found: list[Any] = [texts.format, texts.errors, texts.languages and list(texts.languages)]
    found.append(texts.columns and list(texts.columns))
    for path in (texts.source, texts.target):
        if path is None:
            continue
        try:
            status = Path(path).stat()
        except OSError:
            return None
        found.append([str(Path(path).resolve()), status.st_size, status.st_mtime_ns])
    return found


# -- steps of a job ----------------------------------------------------------------------------------------------------


def begin(
    texts: BitextFiles,
    aligner: Aligner,
    directory: str | Path,
    *,
    prior: Callable[[], Prior] | None = None,
    cells_in_shard: int | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> TrainingJob:
    """Cut a text into shards in a directory, and keep the options there with which a model is to be trained.

    What was learnt before, which `prior` gives, is kept there too.
    """
    check_work(directory)
    shelf = DiskShelf(directory)
    if shelf.has(OPTIONS):  # the last thing that is put there, but for words, which others would number as well
        raise ModelError(f"{directory} already has a text; go on with `cepts train`, or delete it to begin again.")
    how: dict[str, Any] = {"bound": aligner.word_bound, "cells_in_shard": cells_in_shard, "threads": aligner.threads}
    text = shelve(texts, shelf, **how, notices=notices, progress=progress)
    job = TrainingJob(aligner, text, SIZES)
    learnt = None if prior is None else prior()
    job.keep_options(learnt)
    if learnt is not None:
        learnt.put(text, aligner)
    job.indexed.number_words_once()
    if notices is not None:
        note_unused_priors(texts.names, shelf, notices)
    return job


def train(
    directory: str | Path,
    share: Share | None = None,
    *,
    engine: str = "local",
    threads: int | None = None,
    save: str | Path | None = None,
    prune: float = 0.0,
    wait: bool = False,
    progress: Progress | None = None,
) -> JobStep | PendingShards | None:
    """Train the model of a job; returns the next step, or None if the training is finished.

    The directory may also be the checkpoint of a command that counts or aligns in shards (see `PieceJobs`).

    Parameters
    ----------
    directory
        The directory of the job.
    share
        Run only the tasks of the next step on this share of the shards; None runs all that is missing.
    engine
        Runs the tasks: ``local``, ``dask`` or ``dask:ADDRESS``.
    threads
        Number of threads, or of workers of a cluster on this machine; None is one for each processor.
    save
        Directory for the trained model.
    prune
        The least expected count that is saved.
    wait
        For a share: go on with the steps that follow. The process with the first share finishes each step when all
        shares are done, the others wait for it.
    progress
        Called after each task.
    """
    command = command_of(directory)
    if command is not None and save is not None:
        raise UsageError(f"`save` is for word models; {directory} is a checkpoint of cepts {command}.")
    if command is not None and wait:
        raise UsageError(f"`wait` is for word models; {directory} is a checkpoint of cepts {command}.")
    with engine_of(engine, threads) as running:
        if command is not None:
            return _run_pieces(PieceJobs.open(directory), share, Workplace(running, Path(directory)), progress)
        job = TrainingJob.open(directory, running)
        if share is not None:
            step = job.step()
            while step is not None:
                job.do(step, share.part_of(job.text.shards), _ticking(progress, step))
                if not wait:
                    return job.step()
                step = _following(job, step, share)
            return None
        fitted = _finished(job, progress)
        if save is not None:
            fitted.save(save, prune=prune)
    return None


def _following(job: TrainingJob, step: JobStep, share: Share) -> JobStep | None:
    """The step after this one; whoever has the first share finishes this one, the others wait for that."""
    own, pause = share.part_of(job.text.shards), SHORTEST_PAUSE
    while True:
        now = job.step()
        if now is None or (now.stage, now.iteration) != (step.stage, step.iteration):
            return now
        if any(number in own for number in now.missing):
            return now  # somebody has removed what this process left
        if share.number == 1 and not now.missing:
            job.finish(now)
        else:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def reduce(
    directory: str | Path, *, only_look: bool = False, threads: int | None = None, progress: Progress | None = None
) -> tuple[JobStep | PendingShards | None, JobStep | PendingShards | None, int]:
    """Finish the step whose tasks on shards have been done; returns it, the next one, and how many are left.

    With `only_look`, nothing is done.
    """
    if command_of(directory) is not None:
        pieces = PieceJobs.open(directory)
        counting = pieces.step()
        if counting is None:
            return None, None, 0
        if only_look:
            return None, counting, 1
        pieces.finish(threads, progress)
        return counting, None, 0
    with engine_of("local", threads) as running:
        job = TrainingJob.open(directory, running)
        step = job.step()
        if step is None:
            return None, None, 0
        if only_look:
            return None, step, job.steps_left()
        job.finish(step, progress)
        return step, job.step(), job.steps_left()


def reduce_ranges(
    directory: str | Path, share: Share, *, threads: int | None = None, progress: Progress | None = None
) -> RangeStep | None:
    """Do what comes next for a share of the ranges of the lexicon, to finish a step; returns what is left of it.

    The tasks on shards must have been done. In an iteration there are two rounds: counts are added up, then tables are
    made of them. `reduce` does what is missing of both, and what remains. None if the training is finished.
    """
    if (command := command_of(directory)) is not None:
        raise UsageError(f"`range` is for word models; {directory} is a checkpoint of cepts {command}.")
    with engine_of("local", threads) as running:
        job = TrainingJob.open(directory, running)
        step = job.step()
        if step is None:
            return None
        now = job.range_step(step)
        job.reduce(step, share.part_of(now.ranges), _ticking(progress, now))
        return job.range_step(step)


def align_shards(
    directory: str | Path,
    share: Share | None = None,
    *,
    extraction: Extraction | None = None,
    links: str | Path = "-",
    format: str = "pharaoh",
    base: int = 0,
    scores: str | Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Write the links of a share of the text of a job whose training is finished."""
    with engine_of("local", threads) as running:
        job = TrainingJob.open(directory, running)
        step = job.step()
        if step is not None:
            raise ModelError(f"{directory}: the training is not finished, next is {step}; run `cepts train` first.")
        job.train()
        aligner = job.aligner
        aligner.threads = threads
        read_again(job.text)
        text = job.text if share is None else job.text.only(share.part_of(job.text.shards))
        writer = link_writer(links, format, base, text)
        return align(aligner, text, writer, extraction, scores=scores, progress=progress)


def link_writer(links: str | Path, format: str, base: int, text: Any) -> LinkWriter:
    """A writer that is given the sentences only if the format shows them."""
    return LinkWriter(links, format=format, base=base, bitext=text if shows_sentences(format) else None)


def shows_sentences(format: str) -> bool:
    """Whether a format of links has the words of the sentences."""
    return format in LINK_FORMATS and (resolve(LINK_FORMATS[format]).needs_sentences or format == "json")


def _finished(job: TrainingJob, progress: Progress | None) -> Aligner:
    """The aligner of a job, trained as far as it was not."""
    job.index()
    job.train(progress)
    return job.aligner


def _run_pieces(
    jobs: PieceJobs, share: Share | None, workplace: Workplace, progress: Progress | None
) -> PendingShards | None:
    """Run all that is missing, or the tasks on a share of the shards; returns what is left."""
    if share is None:
        jobs.run(workplace, progress)
        return None
    step = jobs.step()
    if step is not None:
        step.run(share.part_of(step.shards), workplace, _ticking(progress, step))
    return jobs.step()


def _ticking(progress: Progress | None, step: JobStep | RangeStep | PendingShards) -> Tick | None:
    """Reports the tasks of a step that are done."""
    if progress is None:
        return None
    return lambda done, total: progress(Step(stage=str(step), done=done, total=total))
