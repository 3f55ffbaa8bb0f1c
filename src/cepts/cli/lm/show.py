"""`cepts lm show`: what hidden documents are about."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import moderate
from cepts.cli.console import ProgressBars, print_json, print_table, say, width_of
from cepts.cli.lm.common import counted, documents_option, errors_option, json_option, quiet_option, read_for
from cepts.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cepts.lm import AdaptedModel, HiddenDocuments

__all__ = ["command"]

SHARES = (0.5, 0.9, 0.99)
PLAIN_WIDTH = 80  # where stdout is no terminal
DRAWN = 6  # hidden documents in the figure, where none are named
NEAR = 3  # hidden documents of a word


@click.command(
    "show",
    epilog="""\b
Examples:
  cepts lm show biology
  cepts lm show biology --words cell --words mendel
  cepts lm show biology --text textbook.txt --plot hidden.png""",
)
@click.argument("directory")
@click.option(
    "-n",
    "--hidden-document",
    "numbers",
    type=click.IntRange(1),
    multiple=True,
    metavar="N",
    help="Show this one, by its number; may be given again.  [default: those with the largest P(d)]",
)
@click.option(
    "--count",
    type=click.IntRange(1),
    metavar="N",
    default=20,
    show_default=True,
    callback=moderate,
    help="Show so many.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="N",
    default=10,
    show_default=True,
    callback=moderate,
    help="Words of each.",
)
@click.option(
    "-w", "--words", multiple=True, metavar="WORD", help="Show the hidden documents of this word; may be given again."
)
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="FILE",
    help="Estimate P(d) from the histories of this text, too; may be given again.",
)
@documents_option
@errors_option
@click.option(
    "--plot", metavar="FILE", help="Draw P(word | d) of some hidden documents and P(d) of all (.png .svg .pdf)."
)
@json_option
@quiet_option
def command(directory: str, **options: Any) -> None:
    """Show the hidden documents of a model.

    DIRECTORY is what 'cepts lm fit --save' wrote. Each column is a hidden document d: its number, P(d), how many words
    have 50, 90 and 99 % of its probability, and the words with the highest P(word | d).
    """
    from cepts.lm import load_adapted

    if options["plot"] is not None:
        from cepts.plot.figure import drawing, suffix_of

        suffix_of(options["plot"])
        with drawing():  # refuses where matplotlib is missing
            pass
    if options["words"] and options["numbers"]:
        raise UsageError(
            "--words and --hidden-document both say which hidden documents to show; leave one of them out."
        )
    with ProgressBars(quiet=options["quiet"]) as bars:
        model = load_adapted(directory)
        if model.hidden is None:
            raise UsageError(f"{directory} has no hidden documents, as it was fitted with --hidden 0; fit it again.")
        shown = _Shown(model, model.hidden)
        if options["texts"]:
            from cepts.pipeline.lm import estimated_priors

            shown.estimated = estimated_priors(model, read_for(model, options["texts"], options, bars, []))
    rows = {word: shown.row(word, directory) for word in options["words"]}
    numbers = _chosen(shown, options, directory)
    if options["plot"] is not None:
        from cepts.plot import plot_hidden_documents

        drawn = numbers if options["numbers"] else numbers[:DRAWN]
        hidden = model.hidden
        columns = {f"{number + 1}: {shown.top(number, 1)[0][0]}": hidden.words[:, number] for number in drawn}
        plot_hidden_documents(options["plot"], columns, hidden.priors, estimated=shown.estimated)
    if options["as_json"]:
        print_json(_as_json(shown, numbers, rows, options["top"]))
    elif rows:
        _print_words(shown, rows, options["top"])
    else:
        _print_documents(shown, numbers, options["top"])
    if options["plot"] is not None:
        say(f"figure   {options['plot']}", quiet=options["quiet"])


class _Shown:
    """What is said of the hidden documents of a model."""

    def __init__(self, model: AdaptedModel, hidden: HiddenDocuments) -> None:
        self.model = model
        self.hidden = hidden
        self.estimated: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.hidden)

    def by_prior(self, count: int) -> list[int]:
        """The `count` most probable hidden documents."""
        import numpy as np

        return np.argsort(-self.hidden.priors, kind="stable")[:count].tolist()

    def top(self, number: int, count: int) -> list[tuple[str, float]]:
        """The words of a hidden document with the highest P(word | d)."""
        import numpy as np

        column = self.hidden.words[:, number]
        order = np.argsort(-column, kind="stable")[:count].tolist()
        words = self.model.vocabulary.words
        return [(words[self.hidden.numbers[row]], float(column[row])) for row in order if column[row] > 0]

    def needed(self, number: int) -> list[int]:
        """How many words have each of `SHARES` of the probability of a hidden document."""
        import numpy as np

        sums = np.cumsum(np.sort(self.hidden.words[:, number].astype(np.float64))[::-1])
        return [int(place) + 1 for place in np.searchsorted(sums, np.array(SHARES) * sums[-1])]

    def row(self, word: str, directory: str) -> int:
        """The row of a word that hidden documents have."""
        place = self.model.vocabulary.find([word])[0]
        row = int(self.model.rows[place]) if place >= 0 else -1
        if row < 0:
            reason = "does not know it"
            if place >= 0:
                reason = "leaves it to the n-gram, as a function word or a rare one"
            raise DataError(f"{directory} has no hidden documents of the word {word!r}: it {reason}.")
        return row

    def of_word(self, row: int) -> list[tuple[int, float, float]]:
        """The hidden documents of a word, with P(d | word), eq. (15) of nmf_lm, and P(word | d)."""
        import numpy as np

        given = self.hidden.words[row].astype(np.float64)
        joint = given * self.hidden.priors
        shares = joint / joint.sum()
        order = np.argsort(-shares, kind="stable")[:NEAR].tolist()
        return [(number, float(shares[number]), float(given[number])) for number in order if shares[number] > 0]


def _chosen(shown: _Shown, options: dict[str, Any], directory: str) -> list[int]:
    for number in options["numbers"]:
        if number > len(shown):
            raise UsageError(f"{directory} has {len(shown):,} hidden documents. Got --hidden-document {number:,}.")
    if options["numbers"]:
        return [number - 1 for number in dict.fromkeys(options["numbers"])]
    return shown.by_prior(options["count"])


def _print_documents(shown: _Shown, numbers: Sequence[int], top: int) -> None:
    import numpy as np

    hidden = shown.hidden
    needed = np.median([shown.needed(number) for number in range(len(shown))], axis=0)
    half, most, nearly = needed.tolist()
    click.echo(f"{counted(len(shown), 'hidden document')} of {counted(len(hidden.numbers), 'word')}")
    click.echo(
        f"half of their probability is in {half:,.0f} words, 90 % in {most:,.0f}, 99 % in {nearly:,.0f} (medians)"
    )
    if shown.estimated is not None:
        correlation = np.corrcoef(hidden.priors, shown.estimated)[0, 1] if len(shown) > 1 else 1.0
        click.echo(f"P(d) and its estimates from the text, eq. (18), correlate by {correlation:.3f}")
    labels = [
        "P(d)",
        *(["estimated"] if shown.estimated is not None else []),
        *(f"{100 * share:.0f} %" for share in SHARES),
    ]
    tops = {number: [word for word, _ in shown.top(number, top)] for number in numbers}
    top = max(len(words) for words in tops.values())
    labels += ["words", *[""] * (top - 1)]
    columns = []
    for number, words in tops.items():
        cells = [f"{hidden.priors[number]:.4f}"]
        if shown.estimated is not None:
            cells.append(f"{shown.estimated[number]:.4f}")
        cells += [f"{count:,}" for count in shown.needed(number)]
        columns.append((str(number + 1), [*cells, *words, *[""] * (top - len(words))]))
    for group in _groups(columns, max(map(width_of, ["d", *labels]))):
        click.echo()
        rows = list(zip(labels, *(cells for _, cells in group), strict=True))
        print_table(("d", *(name for name, _ in group)), rows, left=1 + len(group))


def _groups(columns: Sequence[tuple[str, list[str]]], first: int) -> list[list[tuple[str, list[str]]]]:
    """Columns that fit beside each other, after one of the width `first`."""
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH
    groups: list[list[tuple[str, list[str]]]] = []
    left = 0
    for name, cells in columns:
        width = 3 + max(map(width_of, [name, *cells]))
        if not groups or width > left:
            groups.append([])
            left = room - first - 3
        groups[-1].append((name, cells))
        left -= width
    return groups


def _print_words(shown: _Shown, rows: dict[str, int], top: int) -> None:
    table = []
    for word, row in rows.items():
        for place, (number, share, given) in enumerate(shown.of_word(row)):
            beside = " ".join(other for other, _ in shown.top(number, top))
            table.append((word if not place else "", number + 1, f"{share:.3f}", f"{given:.4f}", beside))
    # Words last and to the left: they are as long as they are.
    widths = [max(width_of(str(row[column])) for row in table) for column in range(4)]
    heads = ("word", "d", "P(d | word)", "P(word | d)", "words of d")
    widths = [max(width, len(head)) for width, head in zip(widths, heads, strict=False)]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH + 20
    left = max(room - sum(widths) - 3 * len(heads), 20)
    print_table(heads, [(*row[:4], _cut(str(row[4]), left)) for row in table], left=len(heads))


def _cut(text: str, width: int) -> str:
    """As many whole words of `text` as fit."""
    while width_of(text) > width and " " in text:
        text = text.rpartition(" ")[0]
    return text


def _as_json(shown: _Shown, numbers: Sequence[int], rows: dict[str, int], top: int) -> dict[str, Any]:
    def document(number: int) -> dict[str, Any]:
        estimated = {} if shown.estimated is None else {"estimated_prior": float(shown.estimated[number])}
        return {
            "hidden_document": number + 1,
            "prior": float(shown.hidden.priors[number]),
            **estimated,
            "words_with": dict(zip(map(str, SHARES), shown.needed(number), strict=True)),
            "words": [{"word": word, "probability": prob} for word, prob in shown.top(number, top)],
        }

    whole: dict[str, Any] = {"hidden_documents": len(shown), "words": len(shown.hidden.numbers)}
    if rows:
        whole["of_words"] = {
            word: [
                {"given_word": share, "word_given_document": given, **document(number)}
                for number, share, given in shown.of_word(row)
            ]
            for word, row in rows.items()
        }
        return whole
    return {**whole, "shown": [document(number) for number in numbers]}
