from __future__ import annotations

import errno
import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import types
from dataclasses import replace
from types import SimpleNamespace

import click
import pytest

from cepts import cli
from cepts.cli import console
from cepts.errors import DataError, UsageError
from cepts.pipeline.reports import RANGE, Report, Table
from cepts.progress import Step, compile_listeners

HEAVY = ("numpy", "numba", "scipy", "rich", "lxml", "pyarrow", "safetensors", "xopen", "zstandard")


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)


@pytest.fixture
def run(monkeypatch, capfd):
    """Run a command that calls the given function; gives exit code, stdout and stderr."""

    def run(function, *arguments):
        module = types.ModuleType("fake_command")
        module.command = click.command("fake")(function)
        monkeypatch.setitem(sys.modules, "fake_command", module)
        monkeypatch.setitem(cli.COMMANDS, "fake", ("fake_command", "Fake."))
        code = cli.main(["fake", *arguments])
        return code, *capfd.readouterr()

    monkeypatch.delenv("CEPTS_DEBUG", raising=False)
    return run


def fails(error):
    def function():
        raise error

    return function


def test_help_lists_the_commands_and_imports_nothing_heavy():
    code = (
        "import sys; from cepts.cli import main; main(['--help']); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = run_python(code)
    assert done.stderr.strip() == "[]"
    for name, (_, help_line) in cli.COMMANDS.items():
        assert f"  {name} " in done.stdout
        assert help_line in done.stdout


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_table_of_helps_is_that_of_the_commands(name):
    module, help_line = cli.COMMANDS[name]
    command = importlib.import_module(module).command
    assert command.get_short_help_str(limit=200) == help_line
    assert command.name == name


@pytest.mark.parametrize(
    ("name", "loads"), [("score", []), ("align", ["numpy"]), ("combine", ["numpy"]), ("factor", ["numpy"])]
)
def test_help_of_a_command_imports_nothing_heavy(name, loads):
    """Where the help lists the entries of a table it loads the table, and no kernels."""
    code = (
        f"import sys; from cepts.cli import main; main([{name!r}, '--help']); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = run_python(code)
    assert done.stderr.strip() == str(loads)
    assert "\\b" not in done.stdout


def test_version_and_no_arguments(capfd):
    assert cli.main(["--version"]) == 0
    assert capfd.readouterr().out.startswith("cepts 0.")
    assert cli.main([]) == 0
    assert "Word alignment:" in capfd.readouterr().out


def test_the_module_runs_too():
    done = subprocess.run(
        [sys.executable, "-m", "cepts", "nonsense"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "cepts: error: There is no command 'nonsense'. See 'cepts --help'.\n"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (DataError("a.txt, line 3:\nno links"), 1, "cepts: error: a.txt, line 3: no links"),
        (UsageError("not both"), 2, "cepts: error: not both"),
        (click.BadParameter("no such thing"), 2, "cepts: error: Invalid value: no such thing"),
        (KeyboardInterrupt(), 130, "cepts: stopped; run the command again to start over."),
        (KeyboardInterrupt("go on by hand"), 130, "cepts: stopped; go on by hand."),
        (click.Abort(), 130, "cepts: stopped"),
        (MemoryError(), 1, "cepts: error: out of memory;"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "cepts: error: no space left to write;"),
        (OSError(errno.ENOSPC, "full", "out.txt"), 1, "cepts: error: no space left to write to out.txt;"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 1, "cepts: error: x: Permission denied."),
        (KeyError("a\nb"), 70, "cepts: error: this is a bug in cepts"),
    ],
)
def test_errors_are_one_line_and_a_code(run, error, code, line):
    got, out, err = run(fails(error))
    assert (got, out) == (code, "")
    assert err.startswith(line)
    assert err.count("\n") == 1


def test_only_options_that_are_spelt_alike_are_suggested(cepts):
    assert cepts("align", "a", "b", "--modl", "hmm").error.startswith(
        "There is no option --modl. Did you mean --model? "
    )


def test_wrong_options_are_wrong_usage(run):
    code, _, err = run(lambda: None, "--speed", "9")
    assert code == 2
    assert err.startswith("cepts: error: There is no option --speed. See ")
    assert err.count("\n") == 1


def test_a_bug_tells_how_to_get_its_traceback(run, monkeypatch):
    _, _, err = run(fails(ZeroDivisionError("division by zero")))
    assert "CEPTS_DEBUG=1" in err
    assert "Traceback" not in err
    monkeypatch.setenv("CEPTS_DEBUG", "1")
    code, _, err = run(fails(ZeroDivisionError("division by zero")))
    assert code == 70
    assert "Traceback" in err


def test_a_broken_pipe_is_silent(run):
    assert run(fails(BrokenPipeError(errno.EPIPE, "Broken pipe"))) == (141, "", "")


FAKE = """
import sys, time, types, click
import cepts.cli as cli
@click.command("fake")
def command():
    {body}
module = types.ModuleType("fake_command")
module.command = command
sys.modules["fake_command"] = module
cli.COMMANDS["fake"] = ("fake_command", "Fake.")
sys.exit(cli.main(["fake"]))
"""


@pytest.mark.parametrize("body", ["click.echo('x' * 10)", "click.echo('x' * 1_000_000)"])
def test_a_reader_that_went_away_leaves_no_traceback(body):
    """Short output fails only when the buffer is flushed, long output while it is written."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", FAKE.format(body=body)],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("body", ["click.echo('x' * 10)", "click.echo('x' * 1_000_000)"])
def test_a_full_disk_is_one_line(body):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-c", FAKE.format(body=body)],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"cepts: error: no space left to write")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_control_c_is_one_line():
    process = subprocess.Popen(
        [sys.executable, "-c", FAKE.format(body="click.echo('ready'); sys.stdout.flush(); time.sleep(60)")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"cepts: stopped; run the command again to start over.\n")


class Terminal(io.StringIO):
    def isatty(self):
        return True

    @property
    def text(self):
        """What was written, without the codes for colours and movements."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.getvalue())


def test_tables_are_plain_text_off_a_terminal(capsys):
    console.print_table(Table(["word", "count"], [["maison", 3], ["家", 1_000], [None, ""]], title="Words"))
    assert capsys.readouterr().out == "Words\nword    count\nmaison      3\n家       1000\n\n"


def test_columns_without_values_are_left_out(capsys):
    console.print_table(Table(["word", "count", "p"], [["a", None, 0], ["b", None, None]]))
    assert capsys.readouterr().out == "word  p\na     0\nb\n"
    console.print_table(Table(["word", "count"], []))
    assert capsys.readouterr().out == "word  count\n"


def test_tables_that_are_too_wide_are_folded_or_cut(capsys):
    names = [f"n{number}" for number in range(3)]
    console.print_table(Table(["d", *names], [["p", "x" * 30, "y" * 30, "z" * 30]], left=4, fit="fold"))
    first, second = capsys.readouterr().out.removeprefix("\n").split("\n\n")
    assert [line.split() for line in first.splitlines()] == [["d", "n0", "n1"], ["p", "x" * 30, "y" * 30]]
    assert [line.split() for line in second.splitlines()] == [["d", "n2"], ["p", "z" * 30]]
    console.print_table(Table(["word", "others"], [["a", "seven " * 30]], left=2, fit="cut"))
    line = capsys.readouterr().out.splitlines()[1]
    assert len(line) <= 100 and set(line.split()[1:]) == {"seven"}


def test_tables_keep_brackets_on_a_terminal(monkeypatch):
    """Words such as [b] are no markup."""
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", screen)
    console.print_table(Table(["word"], [["[b]"], ["[/nothing]"]]))
    assert "[b]" in screen.getvalue()
    assert "[/nothing]" in screen.getvalue()


def test_a_table_that_is_wider_than_the_terminal_loses_no_digits(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "20")
    rows = [["words", "98.76", "98 to 99", "54.32"], ["links", "12", None, None]]
    console.print_table(Table(["system", "precision", RANGE, "recall"], rows))
    assert [line.split() for line in stream.text.splitlines() if "─" not in line and line.strip()] == [
        ["system", "precision", *RANGE.split()],
        ["words", "98.76", "98", "to", "99"],
        ["links", "12"],
        ["system", "recall"],
        ["words", "54.32"],
    ]


def test_text_that_is_too_wide_is_broken_between_words(capsys):
    rows = [["bank", "0.9", "banque " * 9, "company firm"], ["plant", "0.1", "usine", "mill " * 20]]
    console.print_table(Table(["en", "weight", "fr", "neighbours"], rows, left=4, fit="wrap"))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert "".join(lines).count("banque") == 9
    assert "".join(lines).count("mill") == 20
    assert [line.split()[0] for line in lines if line[0] != " "] == ["en", "bank", "plant"]


def test_signatures_are_short_unless_asked_for(capsys):
    whole = "|".join(f"fact{n}:{n}" for n in range(30)) + "|cepts:1.2.3"
    console.show(Report(signature=whole))
    short = capsys.readouterr().out.strip("\n")
    assert len(short) <= 80
    assert re.fullmatch(r"signature  fact0:0\|.*\|\.\.\.\|cepts:1\.2\.3\|sha256:[0-9a-f]{8}", short)
    console.show(Report(signature=whole.replace("29", "28")))
    assert capsys.readouterr().out.strip("\n") != short
    console.show(Report(signature=whole), signature=True)
    assert capsys.readouterr().out == f"\nsignature  {whole}\n"


def test_json_is_json(capsys):
    console.show(Report(values={"word": "été", "p": [0.5]}), as_json=True)
    out = capsys.readouterr().out
    assert "été" in out
    assert json.loads(out) == {"word": "été", "p": [0.5]}
    with pytest.raises(ValueError, match="JSON"):
        console.show(Report(values=float("nan")), as_json=True)


STEP = Step(stage="hmm", done=2, total=5, iteration=2, objective=-1234.5)


def test_bars_show_on_a_terminal_only(monkeypatch, capsys):
    with console.ProgressBars() as progress:
        progress(STEP)
    assert capsys.readouterr() == ("", "")
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", screen)
    with console.ProgressBars(quiet=True) as progress:
        progress(STEP)
    assert screen.getvalue() == ""
    with console.ProgressBars() as progress:
        progress(Step(stage="links", done=1, total=1))
        progress(STEP)
    for shown in ("hmm", "40 %", "iteration 2", "objective -1,234.5", "links"):
        assert shown in screen.getvalue()


def test_training_that_ends_early_has_a_full_bar(monkeypatch):
    """Once something else begins; what does not iterate may go on beside it."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    with console.ProgressBars() as progress:
        progress(Step(stage="matrices", done=1, total=4))
        progress(STEP)
        progress(Step(stage="links", done=1, total=3))
        shares = {task.description: task.percentage for task in progress._bars.tasks}
    assert shares == {"matrices": 25, "hmm": 100, "links": pytest.approx(100 / 3)}


def compile_two(progress):
    """What the kernels report of compiling two of them."""
    with progress:
        progress(STEP)
        for name in ("hmm.posteriors", "hmm.paths"):
            for notify in compile_listeners:
                notify(name)
    assert not compile_listeners


def test_compiling_is_announced_once(monkeypatch):
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stderr", screen)
    compile_two(console.ProgressBars())
    assert screen.getvalue().count(console.COMPILING) == 1
    assert "2 so far" in screen.getvalue()
    assert "elapsed 0:00 of about 0:20" in screen.getvalue()


def test_the_bar_of_compiling_counts_its_own_seconds_only(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(sys, "stderr", Terminal())
    with console.ProgressBars() as progress:
        for seconds in (2.0, 3.0):
            (notify,) = compile_listeners
            notify("hmm.posteriors")
            now[0] += seconds
            progress(STEP)
            now[0] += 50.0
        assert progress._seconds_of_compiling() == 5.0


def test_times_read_right_and_fit_80_columns(monkeypatch):
    assert [console.clock(seconds) for seconds in (None, 0, 65.9, 3723)] == ["-:--", "0:00", "1:05", "1:02:03"]
    assert console.times(5, 10.2) == "elapsed 0:05, left 0:10"
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", screen)
    with console.ProgressBars() as progress:
        progress(replace(STEP, stage="training hmm"))
        progress(replace(STEP, stage="training hmm", done=3))
    assert re.search(r"60 % iteration 2 elapsed 0:00, left [-:\d]+", screen.text)


def test_a_plain_line_now_and_then_where_there_is_no_terminal(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for quiet in (False, True):
        with console.ProgressBars(quiet=quiet) as progress:
            for done in range(1, 8):
                progress(Step(stage="aligning", done=done, total=10))
                now[0] += 4.0
            progress(replace(STEP, iteration=3))
    assert capsys.readouterr().err.splitlines() == [
        "progress aligning 40 %, elapsed 0:12, left 0:24",
        "progress aligning 70 %, elapsed 0:24, left 0:12",
    ]


def test_work_of_unknown_size_shows_what_is_done(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with console.ProgressBars() as progress:
        for done, note in ((0, ""), (7, "7 pairs"), (9, "")):
            progress(Step(stage="aligning", done=done, total=0, note=note))
            now[0] += 12.0
    assert capsys.readouterr().err == "progress aligning, 7 pairs, elapsed 0:12, left -:--\n"


def test_resumed_work_is_said(capsys):
    for quiet in (False, True):
        with console.ProgressBars(quiet=quiet) as progress:
            progress(replace(STEP, resumed=2, remaining=3))
            progress(STEP)
    assert capsys.readouterr().err == "resumed  hmm: 2 of 5 iterations were done before\n"
    with console.ProgressBars() as progress:
        progress(replace(STEP, iteration=3, parts=(40, 120)))
        progress.close()
    assert capsys.readouterr().err == "resumed  hmm: iteration 3, shard 41 of 120\n"


@pytest.mark.parametrize("quiet", [False, True])
def test_compiling_is_announced_in_one_line_where_there_is_no_terminal(quiet, capsys):
    compile_two(console.ProgressBars(quiet=quiet))
    lines = [] if quiet else [console.COMPILING_NOTICE]
    assert capsys.readouterr().err.splitlines() == lines


def test_bars_end_when_the_work_fails(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    bars = console.ProgressBars()
    with pytest.raises(ZeroDivisionError), bars:
        bars(1 / 0)
    bars(STEP)
