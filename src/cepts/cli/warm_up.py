"""`cepts warm-up`: compile kernels now, so that no later command has to."""

from __future__ import annotations

import contextlib
import os
import queue
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars
from cepts.cli.groups import Command
from cepts.errors import CeptsError
from cepts.names import ENCODER_METHODS, STATISTICS, WORD_MODELS
from cepts.progress import Step, Stopwatch, on_compile

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

    Events = Queue[str | None]

SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_FOR_LATE_REPORTS = 0.1
SENTENCES = 40
PARAPHRASES = (
    ("The cat sat on the mat .", "On the mat sat the cat ."),
    ("Bob Smith bought 3 cars in Paris .", "Robert Smith purchased three automobiles ."),
)
LM_SIZES = "--hidden 2 --iterations 3 --min-count 1 --stop none"

ROOMS = ("words", "factor", "phrases", "spaces", "lm")


def jobs_of_rooms() -> dict[str, tuple[tuple[str, ...], ...]]:
    """What to run, in order, in a directory with small files, so that what is compiled is what commands use.

    Each list runs in a process of its own. The lists that come first compile what most of the others need, too.
    """
    from cepts.extract import ASSOCIATIONS, EXTRACTORS

    return {
        "words": (
            (
                "align en fr --save model -o links --scores scores",
                # Arrays that are read from files cannot be written, and kernels are compiled for both kinds.
                "align en fr --checkpoint job -o links",
                *(f"align en fr --load model --combine {method} -o links" for method in EXTRACTORS if method != "onmf"),
                *(
                    f"align en fr --load model --format {format_} -o links.{format_}"
                    for format_ in ("naacl", "giza", "json")
                ),
                "convert links --to scored -o scored",
                "convert links.naacl --to pharaoh -o pharaoh",
                "convert links.giza --to pharaoh -o pharaoh",
                "combine pharaoh pharaoh --method grow-diag-final-and -o combined",
                "score links.naacl links",
                "tune model en fr links.naacl --save tuned",
                "align en fr --load tuned --quality quality -o links",
                "lexicon model --top 1",
            ),
            *(
                (
                    f"align en fr --model {model} --save model -o links",
                    "align en fr --load model --combine grow-diag -o links",
                    "align en fr --load model --nbest 3 -o lists",
                    f"align en fr --model {model} --no-agreement -o links",
                    f"align en fr --model {model} --checkpoint job -o links",
                    f"align en fr --model {model} --no-agreement --checkpoint job-apart -o links",
                )
                for model in WORD_MODELS
            ),
            tuple(f"align en fr --model ibm1 --lexicon {lexicon} -o links" for lexicon in ("ml", "bayes")),
        ),
        "factor": (
            (
                "align en fr --model hmm --save model -o links",
                *(
                    f"align en fr --load model --combine onmf --association {name} --matrices matrices -o links"
                    for name in ASSOCIATIONS
                    if name not in STATISTICS
                ),
                "factor matrices -o links",
                "factor matrices --cepts aic --restarts 1 -o links",
            ),
            tuple(f"align en fr --model ibm1 --combine onmf --association {name} -o links" for name in STATISTICS),
        ),
        "phrases": (
            (
                "phrases align paraphrases -o links.json --format json",
                "phrases align paraphrases -o links --combine onmf",
                "phrases align paraphrases -o lists --nbest 2",
                "phrases score links.json links.json",
                *(f"phrases train links.json --save phrases --model {model}" for model in ("phrase", "token")),
            ),
            (
                "phrases align paraphrases --model token -o links",
                "phrases align paraphrases --model token --nbest 2 -o lists",
            ),
        ),
        "spaces": (
            (
                "spaces fit en.vec fr.vec -d dictionary --save space --factors 3",
                "spaces fit en.vec fr.vec -d dictionary --save induced --factors 3 --induce 1",
                "spaces translate space e1",
                "spaces translate space --all --mutual -o translations",
                "spaces senses space e1 --components 8",
                "spaces score translation space dictionary --both",
                "spaces export space fr -o vectors",
                "spaces align space paraphrase paraphrase -o links",
                *(
                    f"align paraphrase paraphrase --encoder space:space --encoder-method {method} -o links"
                    for method in ENCODER_METHODS
                ),
            ),
            ("spaces fit en.vec fr.vec -d dictionary --method mbfa --factors 3 --iterations 3 --save space",),
        ),
        "lm": (
            (
                f"lm fit text --save lm {LM_SIZES}",
                "lm perplexity lm text",
                "lm show lm",
                "lm export lm text -o arpa",
                f"lm fit text --background arpa --save lm {LM_SIZES}",
                "lm rescore lm nbest.tsv --tune",
                "lm rescore lm nbest.tsv -o best.tsv",
            ),
            (
                f"lm fit text --save lm --history 5 --fold-in 2 {LM_SIZES}",
                "lm perplexity lm text",
                f"lm fit text --save lm --history 5 --posterior product {LM_SIZES}",
                *(f"lm fit text --save lm --factorisation svd --history {last} {LM_SIZES}" for last in (0, 5)),
            ),
        ),
    }


@click.command(
    "warm-up",
    cls=Command,
    epilog="""\b
Examples:
  cepts warm-up
  cepts warm-up words phrases""",
)
@click.argument("rooms", metavar="[ROOM]...", nargs=-1, type=click.Choice(ROOMS))
@option.quiet
def command(rooms: tuple[str, ...], quiet: bool) -> None:
    """Compile all kernels now, so that later commands start at once.

    cepts compiles its inner loops (kernels) for your machine when they are first used, and keeps them for later runs.
    This command compiles them beforehand, in several processes. With ROOM, only those of that part: words (align,
    combine, convert, score, lexicon), factor, phrases, spaces or lm.
    """
    from concurrent.futures import ProcessPoolExecutor, wait
    from multiprocessing import get_context

    from cepts.engine import default_threads
    from cepts.kernels import CACHING, cache_directory

    if not CACHING:
        raise CeptsError("compiled kernels cannot be kept, because no directory for them can be written.")
    of_rooms = jobs_of_rooms()
    chosen = [of_rooms[room] for room in dict.fromkeys(rooms or of_rooms)]
    jobs = [jobs[0] for jobs in chosen] + [job for jobs in chosen for job in jobs[1:]]
    stopwatch = Stopwatch()
    context = get_context("spawn")
    events: Events = context.Queue()
    seen = _Seen(total=sum(map(len, jobs)))
    try:
        with (
            ProgressBars(quiet=quiet) as bars,
            ProcessPoolExecutor(
                min(default_threads(), len(jobs)), mp_context=context, initializer=_report_to, initargs=(events,)
            ) as pool,
        ):
            futures = [pool.submit(run_job, job) for job in jobs]
            while wait(futures, timeout=SECONDS_BETWEEN_LOOKS).not_done:
                bars(seen.step(events))
            for future in futures:
                future.result()
            bars(seen.step(events))
    except KeyboardInterrupt:
        raise KeyboardInterrupt("run 'cepts warm-up' again to continue; what was compiled is kept") from None
    found = f"compiled {len(seen.kernels):,} kernels" if seen.kernels else "nothing left to compile"
    if not quiet:
        click.echo(f"{found}, in {stopwatch.seconds:.1f} s; they are kept in {cache_directory()}", err=True)


@dataclass(slots=True)
class _Seen:
    """What the processes have reported: the kernels that they compiled, and how many of all commands have run."""

    total: int
    done: int = 0
    kernels: set[str] = field(default_factory=set)

    def step(self, events: Events) -> Step:
        """How far the work is, after the latest reports."""
        with contextlib.suppress(queue.Empty):
            while True:
                kernel = events.get(timeout=SECONDS_FOR_LATE_REPORTS)
                if kernel is None:
                    self.done += 1
                else:
                    self.kernels.add(kernel)
        compiled = f"{len(self.kernels):,} kernels compiled"
        return Step(stage="warm-up", done=self.done, total=self.total, note=compiled)


# Where a process reports each kernel that it compiles, and None after each command.
_events: Events | None = None


def _report_to(events: Events) -> None:
    global _events  # noqa: PLW0603, a process of a pool has no other place for what its jobs share
    _events = events


def run_job(commands: Sequence[str]) -> None:
    """Run commands on small files, without output, and report which kernels had to be compiled."""
    from tempfile import TemporaryDirectory

    from cepts.cli import main
    from cepts.io import bitext_blocks, read_bitext
    from cepts.words.forms import Forms
    from cepts.words.rare import bound_of

    assert _events is not None
    with TemporaryDirectory(prefix="cepts-warm-up-") as directory, contextlib.chdir(directory):
        write_files(Path(directory))
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, on_compile(_events.put):
            for texts in (("en", "fr"), ("paraphrases",)):
                read_bitext(*texts, block_bytes=1)  # as large texts are read: in blocks, whose words are merged
            with bitext_blocks("en", "fr", bound=bound_of(1, Forms(), (), least=1)) as blocks:
                list(blocks)  # with more words than are held
                blocks.source_numbers()
            for line in commands:
                with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                    code = main([*line.split(), *(["-q"] if line.startswith(("align", "factor")) else [])])
                if code:
                    raise CeptsError(f"'cepts {line}' failed on a small sample; run it on a text of yours to see why.")
                _events.put(None)


def write_files(directory: Path) -> None:
    """Small files of every kind that commands read."""
    from importlib.resources import files

    for language in ("en", "fr"):
        lines = (files("cepts") / "sample" / f"sample.{language}").read_text(encoding="utf-8").splitlines()
        (directory / language).write_text("".join(f"{line}\n" for line in lines[:SENTENCES]), encoding="utf-8")
        rows = "".join(f"{language[0]}{n} {n % 7} {n % 5} {n % 3} {n % 11}\n" for n in range(60))
        (directory / f"{language}.vec").write_text(f"60 4\n{rows}", encoding="utf-8")
    (directory / "dictionary").write_text("".join(f"e{n}\tf{n}\n" for n in range(40)), encoding="utf-8")
    (directory / "paraphrase").write_text("e1 e2 e3\ne4 e5\n", encoding="utf-8")
    (directory / "paraphrases").write_text("".join(f"{a} ||| {b}\n" for a, b in PARAPHRASES), encoding="utf-8")
    text = (directory / "en").read_text(encoding="utf-8").splitlines()
    (directory / "text").write_text("\n\n".join("\n".join(text[n : n + 5]) for n in range(0, 40, 5)), encoding="utf-8")
    hypotheses = f"id\tscore\ttext\treference\nu1\t0\t{text[0]}\t{text[0]}\nu1\t-1\t{text[1]}\t\n"
    (directory / "nbest.tsv").write_text(hypotheses, encoding="utf-8")
