"""Helps that a newcomer can read: within 80 columns, options in groups, suggestions for what is misspelt."""

from __future__ import annotations

import queue
import re

import click
import pytest

from cepts import cli
from cepts.cli import option, warm_up
from cepts.cli.groups import Command, LazyGroup, sections_of

MANY = 11  # options from which on a command has them in groups


def commands(group=cli.cepts, path=()):
    """Every command and group with the words by which it is called."""
    yield path, group
    if isinstance(group, LazyGroup):
        for name in group.table:
            yield from commands(group.get_command(click.Context(group), name), (*path, name))


every_command = pytest.mark.parametrize(
    ("path", "command"), [pytest.param(*one, id=" ".join(one[0]) or "cepts") for one in commands()]
)


def names_of(options):
    return {found.opts[-1] for found in options}


@every_command
def test_helps_fit_80_columns(path, command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main([*path, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert "UNSET" not in "".join(lines)


@every_command
def test_commands_with_many_options_have_them_in_groups(path, command):
    if isinstance(command, LazyGroup):
        return
    assert isinstance(command, Command)
    sections = sections_of(command, click.Context(command))
    assert len(sections) > 1 or sum(map(len, sections.values())) < MANY
    if len(sections) > 1:
        assert list(sections)[-1] == "Other"
        assert names_of(sections["Other"]) <= {"--threads", "--quiet", "--help"}
        assert all("--output" not in names_of(sections[title]) for title in sections if title != "Output")


@every_command
def test_json_is_asked_for_in_one_way(path, command):
    """`--json` where a table is printed; otherwise `json` may be among the file formats."""
    options = {found.name: found for found in command.params if isinstance(found, click.Option)}
    if "as_json" in options and path[-1:] != ("score",):
        formats = options["format"].type.choices if "format" in options else ()
        assert "json" not in formats


def test_the_first_help_names_all_rooms_and_all_commands(capsys):
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    titles = re.findall(r"^(\w.*):$", out, re.MULTILINE)
    assert titles == ["Options", *cli.SECTIONS]
    assert set(warm_up.ROOMS) - {"words"} <= {name for names in cli.SECTIONS.values() for name in names}
    assert {name for names in cli.cepts.sections.values() for name in names} == set(cli.COMMANDS)


def test_commands_without_a_heading_come_under_the_last_one():
    group = LazyGroup("g", {"one": ("m", "One."), "two": ("m", "Two.")}, sections={"First": ("one",), "Last": ()})
    assert group.sections == {"First": ["one"], "Last": ["two"]}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["aling", "a", "b"], "There is no command 'aling'. Did you mean align? See 'cepts --help'."),
        (["spaces", "translte"], "There is no command 'translte'. Did you mean translate? See 'cepts spaces --help'."),
        (["spaces", "score", "stss"], "Did you mean sts? See 'cepts spaces score --help'."),
        (["xyzzy"], "There is no command 'xyzzy'. See 'cepts --help'."),
        (["align", "a", "b", "n.fr"], "Got unexpected extra argument (n.fr). See 'cepts align --help'."),
        (["align", "a", "b", "--threshold", "abc"], "'--threshold': must be a number. Got 'abc'. See"),
        (["align", "a", "b", "--threshold", "2"], "'--threshold': must be from 0 to 1. Got 2. See"),
        (["align", "a", "b", "--iterations", "1.5"], "'--iterations': must be a whole number. Got '1.5'. See"),
        (["align", "a", "b", "--null-prob", "0"], "'--null-prob': must be above 0 and below 1. Got 0. See"),
        (["lm", "fit", "a", "--save", "b", "--order", "11"], "'--order': must be from 1 to 10. Got 11. See"),
    ],
)
def test_what_is_misspelt_or_wrong_gets_one_plain_line(arguments, line, capsys):
    assert cli.main(arguments) == 2
    err = capsys.readouterr().err
    assert line in err
    assert err.count("\n") == 1


# -- options ---------------------------------------------------------------------------------------------------------


def made(*decorators):
    """A command with these options, and its help at 80 columns."""

    def command(**options):
        """Try."""

    found = click.command("try", cls=Command)(option.stacked(*decorators)(command))
    return found, found.get_help(click.Context(found, terminal_width=80))


def test_defaults_limits_and_requirement_stand_in_one_bracket():
    _, text = made(
        option.real("--sure", "How sure.  [default: by chance]", least=0, most=1),
        option.whole("--top", "How many.", default=3),
        option.text("--save", "DIR", "Where.", required=True),
        option.seed(),
    )
    assert "How sure.  [default: by chance; from 0 to 1]" in text
    assert "How many.  [default: 3]" in text
    assert "Where.  [required]" in text
    assert "Seed of the random draws.  [default: 0]" in text


def test_many_names_to_choose_from_are_part_of_the_text_and_never_broken():
    names = [f"grow-diag-number-{n}" for n in range(9)]
    _, text = made(option.choice("--method", names, "How."), option.choice("--side", ("left", "right"), "Which."))
    assert "--method NAME" in text
    assert "--side [left|right]" in text
    assert all(name in text for name in names)


def test_sections_have_an_order_and_an_inner_one_wins():
    command, text = made(
        option.section("Output", option.output("File."), option.section("Input", option.errors)),
        option.section("Middle", option.whole("--top", "How many.")),
        option.quiet,
    )
    found = sections_of(command, click.Context(command))
    assert {title: names_of(listed) for title, listed in found.items()} == {
        "Input": {"--errors"},
        "Middle": {"--top"},
        "Output": {"--output"},
        "Other": {"--quiet", "--help"},
    }
    assert re.findall(r"^(\w+):$", text, re.MULTILINE) == list(found)


# -- warm-up ---------------------------------------------------------------------------------------------------------


def test_a_warm_up_shows_commands_done_and_kernels_compiled():
    events = queue.Queue()
    seen = warm_up._Seen(total=5)
    assert seen.step(events).done == 0
    for event in ("hmm.posteriors", "hmm.paths", None, "hmm.paths", None):
        events.put(event)
    step = seen.step(events)
    assert (step.done, step.total, step.note) == (2, 5, "2 kernels compiled")
