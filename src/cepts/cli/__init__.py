"""The command line: `cepts COMMAND ...`.

A command's module is imported only when the command runs, so that `cepts --help` needs neither NumPy nor
Numba.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import click

from cepts._version import __version__
from cepts.cli.groups import RUNNING, CommandTable, LazyGroup, in_options
from cepts.errors import CeptsError, DataError, DataWarning, UsageError, printable

__all__ = ["COMMANDS", "cepts", "main"]

# Command -> (module with the click command `command`, the command's short help).
COMMANDS: CommandTable = {
    "align": ("cepts.cli.align", "Align the words of sentences and their translations."),
    "combine": ("cepts.cli.combine", "Combine the links of two directions into one alignment."),
    "convert": ("cepts.cli.convert", "Convert links from one file format to another."),
    "demo": ("cepts.cli.demo", "Align a small sample and show the result."),
    "doctor": ("cepts.cli.doctor", "Show versions, threads, kernels, optional packages and fonts."),
    "factor": ("cepts.cli.factor", "Align words by factorising association matrices into cepts."),
    "lexicon": ("cepts.cli.lexicon", "List the word translations that a model has learnt."),
    "lm": ("cepts.cli.lm", "Adapt language models to a topic."),
    "merge": ("cepts.cli.merge", "Merge word models that were trained on different texts."),
    "phrases": ("cepts.cli.phrases", "Align sentences with their paraphrases, phrase by phrase."),
    "reduce": ("cepts.cli.reduce", "Finish a step of a training job, whose tasks have been run."),
    "sample": ("cepts.cli.sample", "Write the example files of the documentation into a directory."),
    "score": ("cepts.cli.score", "Score links against gold links."),
    "shard": ("cepts.cli.shard", "Cut sentence pairs into shards, to train a model on them in steps."),
    "show": ("cepts.cli.show", "Show a sentence pair and its links as a grid."),
    "spaces": ("cepts.cli.spaces", "Join the word vectors of several languages in one space."),
    "train": ("cepts.cli.train", "Train the model of a job, or run its next tasks."),
    "tune": ("cepts.cli.tune", "Tune a word model on gold links, such as corrected ones."),
    "warm-up": ("cepts.cli.warm_up", "Compile all kernels now, so that later commands start at once."),
}

# Headings of the help; a command that is not named here comes under the last one.
SECTIONS = {
    "First steps": ("demo", "sample"),
    "Word alignment": ("align", "tune", "show", "score", "combine", "convert", "lexicon", "merge"),
    "Large texts": ("shard", "train", "reduce"),
    "Association matrices": ("factor",),
    "Paraphrases": ("phrases",),
    "Word vectors": ("spaces",),
    "Language models": ("lm",),
    "Setup": ("warm-up", "doctor"),
}


cepts = LazyGroup(
    "cepts",
    COMMANDS,
    sections=SECTIONS,
    help="""Align language: words with their translations, phrases with their paraphrases, the word vectors of
several languages, and language models with the topic of a text.

Try 'cepts demo' first. 'cepts COMMAND --help' describes a command and shows examples.""",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Results go to stdout; progress and log output go to stderr. '-' as a file name is stdin or stdout, and "
    "files may be compressed (.gz .bz2 .xz .zst).",
)
click.version_option(__version__, prog_name="cepts", message="%(prog)s %(version)s")(cepts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 is success, 1 wrong data, 2 wrong usage, 70 a bug in cepts, 130 stopped by Ctrl-C, 141 a reader of the
    output that went away. Whatever goes wrong is said in one line on stderr; ``CEPTS_DEBUG=1`` adds the
    traceback.
    """
    for stream in (sys.stdout, sys.stdin):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    # Python looks for garbage when it ends, among all that Numba has made: a tenth of a second for nothing.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    try:
        with _warnings_in_lines(), _rare_collections():
            return _run(sys.argv[1:] if arguments is None else list(arguments))
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        code, line = _explain(error)
        if os.environ.get("CEPTS_DEBUG") and not isinstance(error, BrokenPipeError):
            import traceback

            traceback.print_exc()
        with contextlib.suppress(OSError):
            if line:
                click.echo(f"cepts: {line}", err=True)
        _abandon_stdout()
        return code


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect garbage less often: while Numba is loaded, it is looked for hundreds of times and hardly ever found."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextlib.contextmanager
def _warnings_in_lines() -> Iterator[None]:
    """Say each warning about the input once, in one line on stderr, unless the user asked for quiet."""
    told: set[str] = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, DataWarning):
                show(message, category, *where, **more)
            elif str(message) not in told:
                told.add(str(message))
                context = click.get_current_context(silent=True)
                if context is None or not context.params.get("quiet"):
                    click.echo(f"note     {message}", err=True)

        warnings.showwarning = tell
        warnings.simplefilter("always", DataWarning)
        yield


def _run(arguments: list[str]) -> int:
    """Parse and run, leaving every error to the caller (click's own `main` would handle some of them)."""
    completion = os.environ.get("_CEPTS_COMPLETE")
    if completion:
        from click.shell_completion import shell_complete

        return shell_complete(cepts, {}, "cepts", "_CEPTS_COMPLETE", completion)
    code = 0
    try:
        with cepts.make_context("cepts", arguments) as ctx:
            try:
                cepts.invoke(ctx)
            except (DataError, UsageError) as error:
                values_only = isinstance(error, DataError)
                raise type(error)(in_options(str(error), ctx.meta[RUNNING], values_only=values_only)) from error
    except click.exceptions.Exit as request:
        code = request.exit_code
    # A full disk or a closed pipe may show only now, and must not wait for the interpreter's end.
    sys.stdout.flush()
    return code


def _explain(error: BaseException) -> tuple[int, str]:
    """Exit code of an error, and the line to say (none for a broken pipe)."""
    match error:
        case CeptsError():
            return error.exit_code, f"error: {_one_line(error)}"
        case click.ClickException():
            hint = ""
            if isinstance(error, click.UsageError) and error.ctx is not None:
                hint = f" See '{error.ctx.command_path} --help'."
            message = " ".join(_told(error).split())
            return error.exit_code, f"error: {message}{'' if message.endswith(('.', '?')) else '.'}{hint}"
        case KeyboardInterrupt() | click.Abort():
            # A command that can go on from where it was stopped says how.
            return 130, f"stopped; {error if error.args else 'run the command again to start over'}."
        case BrokenPipeError():
            return 141, ""
        case MemoryError():
            return 1, "error: out of memory; give fewer or shorter sentences at a time, or use fewer threads."
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            place = f" to {error.filename}" if error.filename else ""
            return 1, f"error: no space left to write{place}; what was written so far is not complete."
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return 1, f"error: {place}{error.strerror or _one_line(error)}."
        case _:
            return 70, (
                f"error: this is a bug in cepts {__version__}: {type(error).__name__}: {_one_line(error)}; "
                f"run again with CEPTS_DEBUG=1 for the traceback to report."
            )


def _told(error: click.ClickException) -> str:
    """Click's message, but for an option that does not exist: click suggests names that are hardly alike."""
    if not isinstance(error, click.NoSuchOption):
        return error.format_message()
    from difflib import get_close_matches

    options = [name for param in error.ctx.command.params for name in param.opts] if error.ctx is not None else []
    near = get_close_matches(error.option_name, options, n=2, cutoff=0.7)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"There is no option {error.option_name}.{hint}"


def _one_line(error: BaseException) -> str:
    return printable(" ".join(str(error).split())) or type(error).__name__


def _abandon_stdout() -> None:
    """Keep what is left in stdout's buffer from failing once more when the interpreter ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
