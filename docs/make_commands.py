"""Writes docs/commands.md, the command reference, from the commands themselves.

python docs/make_commands.py            writes the page
python docs/make_commands.py --check    says whether the page is up to date
"""

from __future__ import annotations

import sys
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent

import click

from cepts.cli import COMMANDS, cepts
from cepts.cli.groups import LazyGroup, sections_of
from cepts.cli.option import Option
from cepts.words import MODELS
from cepts.words.aligner import SPELLING
from cepts.words.directions import WordDirections

PAGE = Path(__file__).with_name("commands.md")
TOP = """\
# Commands

<!-- Made by docs/make_commands.py; change the help texts in src/cepts/cli instead. -->

Results go to standard output, log output and progress to standard error. `-` as a file name is standard input or
output.
Files whose names end in `.gz`, `.bz2`, `.xz` or `.zst` are read and written compressed. Each command has `--help`.

`--json` prints JSON instead of a table, wherever a table is printed. `--format` names the file format of results,
such as links. Scores come with a signature, which says exactly what produced them: in a short
form that ends in a digest of the whole, or whole with `--signature` and in JSON.

On a terminal, bars show the progress; elsewhere a line is printed every 10 seconds. `--quiet` prints neither, and no
log output.

The exit code is 0 for success, 1 for wrong data, 2 for wrong usage, 70 for a bug in cepts, 130 after Ctrl-C and 141
when the reader of the output goes away. What went wrong is said in one line; `CEPTS_DEBUG=1` in the environment adds
the traceback.
"""
# Which options of `cepts align` have a default that depends on the model.
BY_MODEL = ("iterations", "start_iterations", "lexicon", "agreement", "null_prob")
ALIKE = ("lowercase", "prefix", "stems", "max_length")


def page() -> str:
    """The whole page."""
    context = click.Context(cepts, info_name="cepts")
    parts = [TOP]
    for title, names in cepts.sections.items():
        lines = [f"- [`cepts {name}`](#cepts-{name}): {COMMANDS[name][1]}\n" for name in names]
        parts.append(f"**{title}**\n\n{''.join(lines)}")
    for name in COMMANDS:
        command = cepts.get_command(context, name)
        assert command is not None
        parts.append(section(command, name))
    return "\n".join(parts)


def section(command: click.Command, name: str) -> str:
    """A command: its usage, its text, its options, its examples; a group: its text and its commands."""
    if isinstance(command, LazyGroup):
        return group(command, name)
    arguments = [argument(param) for param in command.params if isinstance(param, click.Argument)]
    found = sections_of(command, click.Context(command, info_name=name, help_option_names=[]))
    listing: list[str] = []
    for title, options in found.items():
        blank = "\n" if listing else ""
        listing += [f"{blank}**{title}**\n\n"] if len(found) > 1 else []
        listing += [item(option) for option in options if isinstance(option, Option)]
    usage = " ".join(["cepts", name, "[OPTIONS]", *arguments])
    parts = [
        f"{heading(name)} cepts {name}\n",
        f"```\n{usage}\n```\n",
        prose(command.help or ""),
        "".join(listing),
    ]
    if name == "align":
        parts.append(defaults())
    if command.epilog:
        parts.append(prose(command.epilog))
    return "\n".join(parts)


def group(command: LazyGroup, name: str) -> str:
    """A group of commands, each with a section of its own after it."""
    context = click.Context(command, info_name=name)
    lines = [
        f"- [`cepts {name} {part}`](#cepts-{name.replace(' ', '-')}-{part}): {line}\n"
        for part, (_, line) in command.table.items()
    ]
    parts = [
        f"{heading(name)} cepts {name}\n",
        f"```\ncepts {name} COMMAND [OPTIONS]\n```\n",
        prose(command.help or ""),
        "".join(lines),
        prose(command.epilog or ""),
    ]
    for part in command.table:
        found = command.get_command(context, part)
        assert found is not None
        parts.append(section(found, f"{name} {part}"))
    return "\n".join(parts)


def heading(name: str) -> str:
    """The signs before a heading: one more for each word of a command."""
    return "#" * (2 + name.count(" "))


def argument(param: click.Argument) -> str:
    """An argument as the usage line has it."""
    name = (param.metavar or param.name or "").upper().strip(".[]")
    more = "..." if param.nargs < 0 else ""
    return f"{name}{more}" if param.required else f"[{name}{more}]"


def item(option: Option) -> str:
    """An option in one line of a list."""
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.secondary_opts:
        names += f" / `{option.secondary_opts[0]}`"
    value = ""
    if isinstance(option.type, click.Choice):
        value = " " + " | ".join(f"`{choice}`" for choice in option.type.choices)
    elif not option.is_flag:
        value = f" {option.metavar or option.type.name.upper()}"
    text = " ".join((option.help or "").split())
    notes = "; ".join(option.notes)
    return f"- {names}{value}: {text}{f' {notes[0].upper()}{notes[1:]}.' if notes else ''}\n"


def defaults() -> str:
    """The options of `cepts align` whose defaults the models set, as the models have them."""
    made = {name: model().get_params() for name, model in MODELS.items()}
    for name, model in MODELS.items():
        null_prob = model().new_positions().null_prob
        made[name]["null_prob"] = "as a position" if null_prob is None else null_prob
    lines = [
        "Defaults that depend on `--model`:\n",
        "| | " + " | ".join(f"`{name}`" for name in made) + " |",
        "|---|" + "---|" * len(made),
    ]
    for option in BY_MODEL:
        if option == "start_iterations":
            # Model 1 needs no start by Model 1.
            values = ["" if name == "ibm1" else shown(options[option]) for name, options in made.items()]
        else:
            values = [shown(options[option]) for options in made.values()]
        lines.append(f"| `--{option.replace('_', '-')}` | " + " | ".join(values) + " |")
    first, *others = made.values()
    assert all(options[name] == first[name] for options in others for name in ALIKE)
    alike = ", ".join(f"`--{name.replace('_', '-')}` {shown(first[name])}" for name in ALIKE)
    lines.append(f"\nDefaults for all models: `--threshold` {WordDirections.threshold:g}, {alike}.")
    spelling = ", ".join(f"{count:g} for `{lexicon}`" for lexicon, count in SPELLING.items())
    lines.append(f"\nDefaults that depend on `--lexicon`: `--spelling` {spelling}.\n")
    return "\n".join(lines)


def shown(value: object) -> str:
    """A default as the command line would have it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value)


def prose(text: str) -> str:
    """A help text as Markdown: what click is told not to wrap becomes a block of its own."""
    parts = []
    for paragraph in cleandoc(text).split("\n\n"):
        if not paragraph.startswith("\b"):
            parts.append(" ".join(paragraph.split()) + "\n")
            continue
        head, _, rest = paragraph.removeprefix("\b\n").partition("\n")
        if head.endswith(":"):
            parts.append(f"{head}\n\n```\n{dedent(rest)}\n```\n")
        else:
            whole = f"{head}\n{rest}".rstrip("\n")
            parts.append(f"```\n{whole}\n```\n")
    return "\n".join(parts)


def main() -> int:
    """Write the page, or check it."""
    made = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == made:
        return 0
    print("docs/commands.md is out of date; run: python docs/make_commands.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
