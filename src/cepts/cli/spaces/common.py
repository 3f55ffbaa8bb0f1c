"""What the commands on spaces share: names of languages, reading vectors, a saved space and its views."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.choices import TRANSLATION_MEASURES
from cepts.cli.console import ProgressBars, say
from cepts.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cepts.data import Vectors
    from cepts.spaces import Space

__all__ = [
    "OpenSpace",
    "check_measure",
    "direction_of",
    "direction_options",
    "language_names",
    "measure_option",
    "read_lines",
    "say_notes",
    "sources_option",
    "split_named",
    "threads_option",
    "vectors_option",
]

# Of ISO 639-1, each between blanks.
CODES = (
    " aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st "
    "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu "
)
SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".vec", ".bin", ".txt", ".npy")
SAYS_NOTHING = re.compile(r"(vectors?|embeddings?|vec|model)\b", re.IGNORECASE)

vectors_option = click.option(
    "--vectors",
    multiple=True,
    metavar="LANGUAGE:FILE",
    help="Vectors of a language, for a space that was saved without; may be given again.",
)
threads_option = click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads.  [default: all]")
sources_option = click.option(
    "--sources",
    type=click.IntRange(1),
    metavar="N",
    default=20_000,
    show_default=True,
    help="For csls and inverted-softmax: how many of the most frequent source words show which words are near to "
    "everything.",
)


def measure_option(*, multiple: bool = False) -> Callable[[Any], Any]:
    """By what words are compared; where there may be several, a tuple."""
    more = " May be given again." if multiple else ""
    return click.option(
        "--measure",
        "measures" if multiple else "measure",
        type=click.Choice(TRANSLATION_MEASURES),
        multiple=multiple,
        default=("csls",) if multiple else "csls",
        help=f"How near words are: cosine, cosine corrected for hubs, or the likelihood of the factor model.{more}  "
        f"[default: csls]",
    )


def direction_options(function: Any) -> Any:
    """Add the options of a direction, `source` and `target`."""
    for names, text in (
        (("--to", "target"), "Language to translate into.  [default: the other one]"),
        (("--from", "source"), "Language to translate from.  [default: the first]"),
    ):
        function = click.option(*names, metavar="LANGUAGE", help=text)(function)
    return function


def language_names(paths: Sequence[str], given: str | None) -> list[str]:
    """What the vectors of each file are called: as the user says, else by the names of the files.

    ``cc.en.300.vec`` is *en*; a name without a language's code is taken as it is, without its suffixes.
    """
    if given is not None:
        names = [name.strip() for name in given.split(",")]
        if len(names) != len(paths) or not all(names):
            raise UsageError(
                f"--languages: found {len([name for name in names if name])} names in {given!r}, wanted "
                f"{len(paths)}, one for each file of vectors, with commas between them."
            )
    else:
        names = [_code_in(path) or _bare(path) for path in paths]
        if len(set(names)) < len(names):
            names = [_bare(path) for path in paths]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(
            f"found two languages with the name {repeated!r}, wanted different names; name them by --languages A,B."
        )
    return names


def _bare(path: str) -> str:
    if path == "-":
        return "stdin"
    name = Path(os.path.abspath(path)).name  # noqa: PTH100
    while (suffix := Path(name).suffix).lower() in SUFFIXES and suffix != name:
        name = name[: -len(suffix)]
    return name


def _code_in(path: str) -> str | None:
    """The language's code in the name of a file; in that of its directory, where the file is just *vectors*."""
    name = _bare(path)
    if path != "-" and SAYS_NOTHING.match(name):
        name = Path(os.path.abspath(path)).parent.name  # noqa: PTH100
    return next((part for part in re.split(r"[._-]", name) if len(part) == 2 and f" {part} " in CODES), None)


def split_named(option: str, value: str, names: Sequence[str]) -> tuple[list[str], str]:
    """The languages and the file of ``en-fr:FILE``; no languages where there is the file alone."""
    head, colon, path = value.partition(":")
    if not colon or Path(value).exists():
        return [], value
    found = _segments(head, names)
    if found is None or not path:
        raise UsageError(
            f"{option} {value}: found {head!r} before the colon, wanted languages of {', '.join(names)} with hyphens "
            f"between them, and a file after it."
        )
    return found, path


def _segments(text: str, names: Sequence[str]) -> list[str] | None:
    """`text` as names with hyphens between them; names may hold hyphens too."""
    for name in names:
        if text == name:
            return [name]
        if text.startswith(f"{name}-"):
            rest = _segments(text[len(name) + 1 :], names)
            if rest is not None:
                return [name, *rest]
    return None


def read_lines(path: str) -> list[str]:
    """The lines of a file, blank ones too; bytes that are not UTF-8 are kept."""
    from cepts.io.files import InputFile

    with InputFile(path) as file:
        file.skip_bom()
        lines = (file.readall() or b"").split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix(b"\r").decode("utf-8", "surrogateescape") for line in lines]


def say_notes(notices: Sequence[str], *, quiet: bool = False) -> None:
    """Tell what readers noticed."""
    for notice in notices:
        say(f"note     {notice}", quiet=quiet)


class OpenSpace:
    """A saved space, and the vectors of those languages that are asked for.

    Parameters
    ----------
    directory
        What `cepts spaces fit --save` wrote.
    vectors
        What the user gave by --vectors.
    """

    def __init__(self, directory: str, vectors: Sequence[str], bars: ProgressBars) -> None:
        from cepts.spaces import load_space

        saved = load_space(directory)
        self.directory = directory
        self.space: Space = saved.space
        self.entries: NDArray[np.int64] | None = saved.entries
        self._bars = bars
        self._views: dict[int, Vectors] = dict(enumerate(saved.views or ()))
        self._paths: dict[int, str] = {}
        for value in vectors:
            languages, path = split_named("--vectors", value, self.space.languages)
            if len(languages) != 1:
                raise UsageError(f"--vectors {value}: wanted LANGUAGE:FILE, such as {self.space.languages[0]}:{path}.")
            self._paths[self.space.view(languages[0])] = path

    def view(self, number: int) -> Vectors:
        """The vectors of a language, read as they were when the space was fitted."""
        from cepts.io import read_vectors

        if number in self._paths:
            language = self.space.languages[number]
            reading = self.space.settings.get("reading", {})
            notices: list[str] = []
            found = read_vectors(
                self._paths.pop(number),
                name=language,
                lowercase=bool(reading.get("lowercase")),
                max_vocabulary=reading.get("max_vocabulary"),
                notices=notices,
                progress=self._bars,
            )
            if found.width != self.space.widths[number]:
                raise UsageError(
                    f"--vectors {language}: found vectors of width {found.width}, wanted {self.space.widths[number]}, "
                    f"for which {self.directory} was fitted; give the vectors that it was fitted on."
                )
            say_notes(notices)
            self._views[number] = found
        if number not in self._views:
            language = self.space.languages[number]
            raise UsageError(
                f"{self.directory} holds no vectors, as it was saved with --no-vectors; give those of {language} by "
                f"--vectors {language}:FILE."
            )
        return self._views[number]

    @property
    def views(self) -> list[Vectors]:
        """The vectors of all languages."""
        return [self.view(number) for number in range(len(self.space))]

    @property
    def facts(self) -> dict[str, object]:
        """What a signature says of the space."""
        settings = self.space.settings
        facts: dict[str, object] = {"space": self.space.method, "factors": self.space.width}
        for name in ("exponent", "shrinkage"):
            if settings.get(name) is not None:
                facts[name] = f"{settings[name]:g}"
        facts["prepared"] = "+".join(self.space.preparations[0].steps) or "no"
        for name in ("entries", "induced", "seed"):
            if settings.get(name) is not None:
                facts[name] = settings[name]
        return facts


def direction_of(space: Space, source: str | None, target: str | None) -> tuple[int, int]:
    """The two views of a direction; of two languages the one that is not named is known."""
    names = space.languages
    given = {name: space.view(name) for name in (source, target) if name is not None}
    if len(names) > 2 and target is None:
        raise UsageError(f"found the languages {', '.join(names)}, wanted one to translate into; choose it by --to.")
    if source is None and target is None:
        return 0, 1
    if source is None:
        found = next(number for number in range(len(names)) if number != given[target or ""]), given[target or ""]
    elif target is None:
        found = given[source], next(number for number in range(len(names)) if number != given[source])
    else:
        found = given[source], given[target]
    if found[0] == found[1]:
        raise UsageError(f"--from and --to are both {names[found[0]]}; choose two languages of {', '.join(names)}.")
    return found


def check_measure(space: Space, measure: str) -> None:
    """Refuse the likelihood of a space that has none, before any work."""
    if measure == "likelihood" and space.model is None:
        raise UsageError(
            f"--measure likelihood: {space.method} knows no likelihood; fit the space by ibfa or mbfa, or choose csls."
        )
