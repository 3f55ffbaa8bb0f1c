"""Parameters of the library, which its messages name in backquotes, shown as options of a command."""

from __future__ import annotations

import re

import click


def in_options(message: str, command: click.Command, *, values_only: bool = False) -> str:
    """The message with the command's options in place of the parameters that it names in backquotes.

    With `values_only`, a parameter must stand there with its value, `errors=replace`: errors in data also quote keys
    of JSON.
    """
    names = {
        option.name: max(option.opts, key=len) if isinstance(option, click.Option) else option.human_readable_name
        for option in command.params
    }

    def with_value(found: re.Match[str]) -> str:
        name, value = found.groups()
        return found[0] if name not in names else names[name] if value == "True" else f"{names[name]} {value}"

    message = re.sub(r"`([a-z]\w*)=([^`]+)`", with_value, message)
    return message if values_only else re.sub(r"`([a-z]\w*)`", lambda found: names.get(found[1], found[1]), message)
