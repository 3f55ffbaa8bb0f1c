"""Link files: combining two directions, converting formats, and reading the links of one pair."""

from __future__ import annotations

from typing import NamedTuple

from cepts.data import Alignment, Bitext
from cepts.errors import UsageError, check_choice
from cepts.extract import Extraction, LinkScorer
from cepts.io import LinkWriter, swap_sides, write_links
from cepts.io.files import PathLike, check_stdin, name_of
from cepts.names import LINK_COUNT_FORMATS, LINK_FORMATS, resolve
from cepts.pipeline.inputs import BitextFiles, LinkFile, Sides, read_directions, read_sides
from cepts.pipeline.loop import Summary, align
from cepts.pipeline.priors import write_link_priors


def combine_links(
    forward: LinkFile,
    reverse: LinkFile,
    output: PathLike,
    extraction: Extraction,
    *,
    sides: tuple[PathLike | None, PathLike | None, PathLike | None] = (None, None, None),
    transpose_reverse: bool = False,
    format: str = "pharaoh",
    base: int = 0,
) -> Summary:
    """Combine the links of two directions into one alignment and write it.

    Confidences of links are taken as probabilities.

    Parameters
    ----------
    forward, reverse
        The links of source-target and of target-source training.
    output, format, base
        The file of links to write, as in `cepts.io.LinkWriter`.
    extraction
        How the two directions are combined.
    sides
        Files of the sentences, or None: source, target, and one file with both sides.
    transpose_reverse
        Whether the `reverse` file has target-source links.
    """
    check_stdin(forward.path, reverse.path, *sides)
    known = read_sides(*sides)
    links = read_directions(forward, reverse, known, transpose_reverse=transpose_reverse)
    return align(
        LinkScorer(*links, known.source_lengths, known.target_lengths),
        known.bitext,
        LinkWriter(output, format=format, base=base, bitext=known.bitext),
        extraction,
    )


class LinkedPair(NamedTuple):
    """The words of a sentence pair and its alignment."""

    source: list[str]
    target: list[str]
    alignment: Alignment


def read_pair(texts: BitextFiles, links: LinkFile, pair: int) -> LinkedPair:
    """Read sentence pair number `pair`, from 0, and its links."""
    check_stdin(texts.source, texts.target, links.path)
    bitext = texts.read()
    if pair >= len(bitext):
        raise UsageError(
            f"`pair` must be at most {len(bitext):,}, the number of sentence pairs in {name_of(texts.source)}. Got "
            f"{pair + 1:,} instead."
        )
    found = links.read(Sides(bitext, bitext.source.lengths, bitext.target.lengths))
    return LinkedPair(*bitext[pair], found[pair])


def convert_links(
    links: LinkFile,
    output: PathLike,
    *,
    format: str,
    base: int = 0,
    source: PathLike | None = None,
    target: PathLike | None = None,
    sentences: int | None = None,
    sure: bool = False,
    reverse: bool = False,
    errors: str = "strict",
) -> None:
    """Write links in another format.

    Parameters
    ----------
    links
        The file of links to read.
    output, format, base
        The file of links to write, as in `cepts.io.LinkWriter`; or ``priors``, counts of words for eflomal.
    source, target, errors
        The sentences, as in `cepts.io.read_bitext`. If they are given, links are checked, and some formats show them.
    sentences
        The number of sentence pairs, which NAACL files do not contain.
    sure
        Leave out links that are only possible.
    reverse
        Swap the sides: write target-source links.
    """
    check_choice("format", format, (*LINK_FORMATS, *LINK_COUNT_FORMATS))
    shows_sentences = format in LINK_COUNT_FORMATS or resolve(LINK_FORMATS[format]).shows_sentences
    if (source is None) != (target is None):
        raise UsageError("`source` and `target` belong together; give both files of sentences, or neither.")
    if source is None and shows_sentences:
        raise UsageError(f"the format {format} shows the sentences; give them with `source` and `target`.")
    check_stdin(links.path, source, target)
    sides = read_sides(source, target, errors=errors)
    bitext = sides.bitext
    alignments = links.read(sides, sentences=sentences)
    if sure:
        alignments = alignments.only_sure()
    if reverse:
        alignments = swap_sides(alignments)
        bitext = None if bitext is None else Bitext(bitext.target, bitext.source)
    if format in LINK_COUNT_FORMATS:
        assert bitext is not None
        write_link_priors(bitext, alignments, output)
    else:
        write_links(output, alignments, format=format, base=base, bitext=bitext)
