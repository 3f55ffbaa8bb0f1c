"""Writes docs/reference: a page for each command, from its help, and one for each package, from what it offers.

python docs/make_reference.py            writes the pages
python docs/make_reference.py --check    says whether they are up to date
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import click

from cepts.cli import COMMANDS, cepts
from cepts.cli.groups import LazyGroup, sections_of
from cepts.cli.option import Option
from cepts.words import MODELS
from cepts.words.aligner import SPELLING
from cepts.words.directions import WordDirections

REFERENCE = Path(__file__).with_name("reference")
MADE = "<!-- Made by docs/make_reference.py; change {} instead. -->\n"
COMMAND_INDEX = f"""\
# Commands

{MADE.format("the help texts in src/cepts/cli")}
Results go to standard output; log output and progress go to standard error. `-` as a file name is standard input or
output. Files whose names end in `.gz`, `.bz2`, `.xz` or `.zst` are read and written compressed. Each command has
`--help`.

`--json` prints JSON instead of a table, wherever a table is printed. `--format` names the file format of results,
such as links. Scores come with a signature, which says exactly what produced them: in a short form that ends in a
digest of the whole, or whole with `--signature` and in JSON.

On a terminal, bars show the progress; elsewhere a line is printed every 10 seconds. `--quiet` prints neither, and no
log output.

The exit code is 0 for success, 1 for wrong data, 2 for wrong usage, 70 for a bug in cepts, 130 after Ctrl-C and 141
when the reader of the output goes away. Errors are reported in one line; `CEPTS_DEBUG=1` in the environment adds the
traceback.
"""
API_INDEX = f"""\
# Python

{MADE.format("docs/make_reference.py")}
`import cepts` gives the names that most programs need: models, readers, writers, `cepts.align` and `cepts.load`.
The packages below have the rest. [The tutorial](../../tutorial/python.md) shows how they are used.
"""
# Package -> title of its page.
PACKAGES = {
    "cepts": "Everyday names",
    "cepts.words": "Word models",
    "cepts.tuning": "Tuned models",
    "cepts.extract": "Scorers and extractors",
    "cepts.factor": "Factorisation",
    "cepts.phrases": "Phrase models",
    "cepts.spaces": "Word-vector spaces",
    "cepts.encoders": "Encoders",
    "cepts.lm": "Language models",
    "cepts.data": "Data",
    "cepts.io": "Files",
    "cepts.evaluate": "Scores",
    "cepts.plot": "Figures",
    "cepts.pipeline": "Jobs from file to file",
    "cepts.progress": "Progress",
    "cepts.errors": "Errors",
}
# Which options of `cepts align` have a default that depends on the model.
BY_MODEL = ("iterations", "start_iterations", "lexicon", "agreement", "null_prob")
ALIKE = ("lowercase", "prefix", "stems", "max_length")


def pages() -> dict[str, str]:
    """Every page of the reference that is made, by its path below docs/reference."""
    context = click.Context(cepts, info_name="cepts")
    index = [COMMAND_INDEX]
    for title, names in cepts.sections.items():
        lines = [f"- [`cepts {name}`]({name}.md): {COMMANDS[name][1]}\n" for name in names]
        index.append(f"## {title}\n\n{''.join(lines)}")
    made = {
        "commands/index.md": "\n".join([*index, toctree(name for names in cepts.sections.values() for name in names)])
    }
    for name in COMMANDS:
        command = cepts.get_command(context, name)
        assert command is not None
        made[f"commands/{name}.md"] = section(command, name)
    files = {package: package.removeprefix("cepts.") for package in PACKAGES}
    lines = [f"- [`{package}`]({files[package]}.md): {title.lower()}\n" for package, title in PACKAGES.items()]
    made["api/index.md"] = "\n".join([API_INDEX, "".join(lines), toctree(files.values())])
    for package in PACKAGES:
        made[f"api/{files[package]}.md"] = package_page(package)
    return made


def toctree(names: Iterable[str]) -> str:
    """The directive that puts pages below an index in the navigation."""
    return "```{toctree}\n:hidden:\n\n" + "".join(f"{name}\n" for name in names) + "```\n"


def package_page(name: str) -> str:
    """A package: what it is for, and a table of its classes and one of its functions, each with a page of its own."""
    module = import_module(name)
    offered = [getattr(module, public) for public in public_names(module)]
    kinds = {
        "Classes": [one.__name__ for one in offered if inspect.isclass(one) and not issubclass(one, Exception)],
        "Functions": [one.__name__ for one in offered if inspect.isroutine(one)],
        "Exceptions": [one.__name__ for one in offered if inspect.isclass(one) and issubclass(one, Exception)],
    }
    parts = [f"# {PACKAGES[name]}: `{name}`\n", MADE.format("the docstrings"), prose(module.__doc__ or "")]
    for title, names in kinds.items():
        if names:
            tables = [
                autosummary([f"{name}.{one}" for one in sorted(names) if home_of(module, one) == name], made=True)
            ]
            tables += [
                autosummary([f"{home_of(module, one)}.{one}" for one in sorted(names) if home_of(module, one) != name])
            ]
            both = "\n".join(filter(None, tables))
            parts.append(f"## {title}\n\n```{{eval-rst}}\n{both}```\n")
    return "\n".join(parts)


def autosummary(names: Sequence[str], *, made: bool = False) -> str:
    """A table of names with the first sentence of each; where it is made, each gets a page."""
    if not names:
        return ""
    pages = "   :toctree: generated\n" if made else ""
    return f".. autosummary::\n{pages}\n" + "".join(f"   ~{name}\n" for name in names)


def home_of(module: ModuleType, name: str) -> str:
    """The package that documents what `module` offers as `name`: `cepts` offers again what its packages have."""
    value = getattr(module, name)
    others = [package for package in PACKAGES if package != "cepts"]
    return next((other for other in others if getattr(import_module(other), name, None) is value), "cepts")


def public_names(module: ModuleType) -> list[str]:
    """What a package lists in `__all__`; of a module without it, the classes and functions that it defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if name != "__version__"]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


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
        *opening(name),
        f"```text\n{usage}\n```\n",
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
        *opening(name),
        f"```text\ncepts {name} COMMAND [OPTIONS]\n```\n",
        prose(command.help or ""),
        "".join(lines),
        prose(command.epilog or ""),
    ]
    for part in command.table:
        found = command.get_command(context, part)
        assert found is not None
        parts.append(section(found, f"{name} {part}"))
    return "\n".join(parts)


def opening(name: str) -> list[str]:
    """The heading of a command, which opens a page unless the command is part of a group."""
    level = 1 + name.count(" ")
    return [f"{'#' * level} cepts {name}\n", *([MADE.format("the help texts in src/cepts/cli")] if level == 1 else [])]


def argument(param: click.Argument) -> str:
    """An argument as the usage line has it."""
    if param.metavar and " " in param.metavar:
        return param.metavar
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
    return f"- {names}{value}: {with_code(text + (f' {notes[0].upper()}{notes[1:]}.' if notes else ''))}\n"


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
            parts.append(with_code(" ".join(paragraph.split())) + "\n")
            continue
        head, _, rest = paragraph.removeprefix("\b\n").partition("\n")
        if head.endswith(":"):
            language = "console" if head.startswith("Example") else "text"
            shown = "".join(f"{'$ ' * (language == 'console')}{line}\n" for line in dedent(rest).splitlines())
            parts.append(f"{head}\n\n```{language}\n{shown}```\n")
        else:
            whole = f"{head}\n{rest}".rstrip("\n")
            parts.append(f"```text\n{whole}\n```\n")
    return "\n".join(parts)


def out_of_date() -> list[str]:
    """Pages that differ from what would be made now, those that are missing, and those that should not be there."""
    made = pages()
    there = {path.relative_to(REFERENCE).as_posix(): path.read_text(encoding="utf-8") for path in made_files()}
    return sorted(name for name in {*made, *there} if made.get(name) != there.get(name))


def made_files() -> list[Path]:
    """The pages that are there."""
    return [path for folder in ("commands", "api") for path in (REFERENCE / folder).glob("*.md")]


def with_code(text: str) -> str:
    """A help text with its options, quoted commands and formulas marked as code."""
    text = re.sub(r"'((?:cepts |[^' ]+ \|\|\| )[^']*)'", r"`\1`", text)
    return re.sub(r"(?<![\w`-])(--?[a-z][\w-]*)(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)", r"`\1`", text)


def main() -> int:
    """Write the pages, or check them."""
    if "--check" in sys.argv[1:]:
        wrong = out_of_date()
        for name in wrong:
            print(f"docs/reference/{name} is out of date; run: python docs/make_reference.py", file=sys.stderr)
        return 1 if wrong else 0
    made = pages()
    for path in made_files():
        if path.relative_to(REFERENCE).as_posix() not in made:
            path.unlink()
    for name, text in made.items():
        path = REFERENCE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
