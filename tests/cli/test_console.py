"""What the commands say: notices with the options of the command."""

from __future__ import annotations

import click

from cepts.cli.console import ProgressBars


@click.command()
@click.option("--dev", "dev_texts")
@click.option("--quiet", is_flag=True)
def command(dev_texts, quiet):
    with ProgressBars(quiet=quiet) as bars:
        bars.notices += ["give more text (`dev_texts`).", "one document.", "one document."]


def run(capsys, *arguments):
    command.main(list(arguments), standalone_mode=False)
    return capsys.readouterr().err


def test_notices_are_said_once_and_name_options(capsys):
    assert run(capsys) == "note     give more text (--dev).\nnote     one document.\n"


def test_quiet_says_no_notices(capsys):
    assert run(capsys, "--quiet") == ""
