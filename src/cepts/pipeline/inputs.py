"""Reading what users give: sentence pairs, links, paraphrases, documents, dictionaries, saved spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import (
    COLUMNS,
    KENLM_MAGIC,
    Alignments,
    Bitext,
    Dictionary,
    Documents,
    SentencePair,
    as_bitext,
    tokenisation_notice,
)
from cepts.errors import DataError, UsageError, check_choice, listed
from cepts.io import (
    bitext_parts,
    read_arpa,
    read_bitext,
    read_dictionary,
    read_documents,
    read_links,
    read_text,
    read_vectors,
    swap_sides,
)
from cepts.io.files import InputFile, PathLike, check_stdin, last_suffix, name_of
from cepts.io.languages import split_named
from cepts.io.lines import check_even
from cepts.names import TOKENISING
from cepts.pipeline.notices import note_tokens
from cepts.pipeline.passing import PassingText
from cepts.progress import Progress

if TYPE_CHECKING:
    # Loaded where they are used: most jobs read files of one room alone.
    from cepts.lm import BackgroundSource
    from cepts.phrases import PhraseAligner
    from cepts.spaces import SpaceModel

ARPA_START = b"\\data\\"
HEAD_BYTES = 1 << 12
SAMPLE = 2_000  # sentence pairs that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class BitextFiles:
    """Where sentence pairs are; see `cepts.io.read_bitext`."""

    source: str | Path
    target: str | Path | None = None
    format: str = "auto"
    errors: str = "strict"
    languages: tuple[str, str] | None = None
    columns: tuple[str, str] | None = None

    def read(self, notices: list[str] | None = None, progress: Progress | None = None) -> Bitext:
        """The sentence pairs; `notices` gets what was chosen among several, and lines about tokens that look wrong."""
        bitext = read_bitext(**asdict(self), notices=notices, progress=progress)
        if notices is not None:
            note_tokens(self.names, bitext, notices)
        return bitext

    def passing(self, notices: list[str] | None = None, progress: Progress | None = None) -> PassingText:
        """The sentence pairs, part by part; `notices` gets what `read` adds, by the first part.

        That files have different numbers of lines is found out here, before the text is used.
        """
        text = PassingText(lambda report: bitext_parts(**asdict(self), notices=notices, progress=report), progress)
        try:
            if self.target is not None and not text.is_one_part:
                check_even(self.source, self.target, progress=progress)
            if notices is not None:
                note_tokens(self.names, text.now, notices)
        except BaseException:
            text.close()
            raise
        return text

    @property
    def names(self) -> tuple[str, str]:
        """What messages call the two sides."""
        if self.target is None:
            name = name_of(self.source)
            return f"{name}, source", f"{name}, target"
        return name_of(self.source), name_of(self.target)


# -- links -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sides:
    """What is known of the sentences: all, one side's lengths, or nothing."""

    bitext: Bitext | None = None
    source_lengths: NDArray[np.int64] | None = None
    target_lengths: NDArray[np.int64] | None = None

    @property
    def pairs(self) -> int | None:
        """Number of sentence pairs, where it is known."""
        for lengths in (self.source_lengths, self.target_lengths):
            if lengths is not None:
                return len(lengths)
        return None


@dataclass(frozen=True, slots=True)
class LinkFile:
    """A file of links and how it is read; see `cepts.io.read_links`."""

    path: PathLike
    format: str = "auto"
    base: int = 0

    def read(
        self, sides: Sides | None = None, *, sentences: int | None = None, target_source: bool = False
    ) -> Alignments:
        """The links, which must lie within the sentences of `sides`, where these are known.

        `sentences` is the number of sentence pairs, and with `target_source` the file has target-source links.
        """
        lengths = (None, None) if sides is None else (sides.source_lengths, sides.target_lengths)
        source_lengths, target_lengths = lengths[::-1] if target_source else lengths
        return read_links(
            self.path,
            format=self.format,
            base=self.base,
            sentences=sentences,
            source_lengths=source_lengths,
            target_lengths=target_lengths,
        )

    @property
    def can_reread(self) -> bool:
        """Whether the file can be read a second time, unlike a pipe."""
        return Path(self.path).is_file()


def read_sides(
    source: PathLike | None, target: PathLike | None, bitext: PathLike | None = None, *, errors: str = "strict"
) -> Sides:
    """Read the sentences of either side, of both, or of none; `bitext` is one file with both sides.

    `errors` is that of `read_bitext`.
    """
    if bitext is not None and (source is not None or target is not None):
        raise UsageError("give either `bitext` or `source` and `target`, not both.")
    both = None
    if bitext is not None:
        both = read_bitext(bitext, errors=errors)
    elif source is not None and target is not None:
        both = read_bitext(source, target, errors=errors)
    if both is not None:
        return Sides(both, both.source.lengths, both.target.lengths)
    return Sides(
        source_lengths=None if source is None else read_text(source, errors=errors).lengths,
        target_lengths=None if target is None else read_text(target, errors=errors).lengths,
    )


def read_directions(
    forward: LinkFile, reverse: LinkFile, sides: Sides | None = None, *, transpose_reverse: bool = False
) -> tuple[Alignments, Alignments]:
    """Read the links of two directions, of the same number of sentence pairs.

    Links must lie within the sentences of `sides`, where these are known. With `transpose_reverse`, the file `reverse`
    has target-source links.
    """
    first = forward.read(sides)
    second = reverse.read(sides, target_source=transpose_reverse)
    # NAACL files do not say how many pairs there are; any other file that is too short is refused by name.
    if len(first) < len(second) and forward.can_reread:
        first = forward.read(sentences=len(second))
    elif len(second) < len(first) and reverse.can_reread:
        second = reverse.read(sentences=len(first))
    return first, swap_sides(second) if transpose_reverse else second


# -- paraphrases -------------------------------------------------------------------------------------------------------


def load_phrase_aligner(model: str, *, threads: int | None = None, max_length: int | None = None) -> PhraseAligner:
    """The aligner of a directory or, by name, an English one; `max_length` takes the place of that of training."""
    from cepts.phrases import PhraseAligner

    aligner = PhraseAligner.load(model, threads=threads)
    return aligner if max_length is None else aligner.set_params(max_length=max_length)


def check_input(
    aligner: PhraseAligner, columns: Sequence[str], pairs: Sequence[SentencePair], path: str, before: int = 0
) -> None:
    """Refuse the pairs of a file without the columns of training, before any work; `before` pairs came before these."""
    if aligner.language is None:  # otherwise the annotator of the language fills them in
        check_columns_of(pairs, columns, path, before)


def without_columns(pair: SentencePair) -> SentencePair:
    """The pair without tags, chunks and lemmas, so that a model fills them in."""
    sides = {side: replace(getattr(pair, side), **dict.fromkeys(COLUMNS)) for side in ("source", "target")}
    return replace(pair, **sides)


def check_columns_of(pairs: Sequence[SentencePair], columns: Sequence[str], path: str, before: int = 0) -> None:
    """Refuse pairs of a file that lack a column; `before` pairs came before these."""
    from cepts.phrases.annotate import check_columns

    try:
        check_columns(pairs, columns, before)
    except DataError as error:
        raise DataError(f"{name_of(path)}: {error}") from None


def tokenise_pairs(
    aligner: PhraseAligner, pairs: list[SentencePair], path: str, *, tokenise: str = "auto", notices: list[str] | None
) -> list[SentencePair]:
    """Cut the running text of pairs into tokens, if the aligner is English.

    Parameters
    ----------
    pairs, path
        The pairs, and the file that they come from. Lists of tokens, sentences with columns, and pairs with gold links
        stay as they are.
    tokenise
        ``yes``, ``no``, or ``auto``: if the text looks as if nobody had tokenised it.
    notices
        Gets a line that says that the text was tokenised or, of other languages, that it should be.
    """
    from cepts.phrases.tokeniser import tokenised

    return tokenised(pairs) if are_running(aligner, pairs, path, tokenise=tokenise, notices=notices) else pairs


def are_running(
    aligner: PhraseAligner, pairs: list[SentencePair], path: str, *, tokenise: str = "auto", notices: list[str] | None
) -> bool:
    """Whether `tokenise_pairs`, whose parameters these are, cuts the text of pairs."""
    from cepts.phrases.tokeniser import is_running, looks_untokenised

    check_choice("tokenise", tokenise, TOKENISING)
    if tokenise == "yes" and aligner.language is None:
        raise UsageError("`tokenise` must be no or auto, because the model is of no language that cepts tokenises.")
    wanted = tokenise == "yes" or (tokenise == "auto" and aligner.language is not None and looks_untokenised(pairs))
    if wanted:
        if notices is not None and tokenise == "auto":
            notices.append(
                f"{name_of(path)}: the text is not tokenised, so words and punctuation were separated; links count "
                f"these tokens (`tokenise` no keeps the text as it is)."
            )
    elif tokenise == "auto" and notices is not None and any(map(is_running, pairs)):
        name, sample = name_of(path), pairs[:: max(len(pairs) // SAMPLE, 1)]
        note_tokens((f"{name}, source", f"{name}, target"), as_bitext(sample), notices)
    return wanted


def check_gold(pairs: Sequence[SentencePair], path: str) -> None:
    """Refuse the pairs of a file of which one has no gold links."""
    for number, pair in enumerate(pairs, start=1):
        if pair.sure is None:
            raise DataError(
                f"{name_of(path)}, pair {number:,}: found no gold links, wanted `sure`, or [] where there are none, "
                f"in every pair; or give them in a separate file."
            )


# -- documents ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
    """How texts are read: the parameters of `read_documents` that do not depend on the model."""

    format: str = "auto"
    errors: str = "strict"

    def read(
        self,
        paths: Sequence[PathLike],
        *,
        lowercase: bool = False,
        notices: list[str] | None = None,
        several_wanted: bool = False,
        progress: Progress | None = None,
    ) -> Documents:
        """Read documents; that there is only one is noted where `several_wanted`."""
        own: list[str] = []
        found = read_documents(
            paths, format=self.format, lowercase=lowercase, errors=self.errors, notices=own, progress=progress
        )
        if notices is not None:
            notices += own if several_wanted or len(found) > 1 else own[:-1]
            name = name_of(paths[0]) if len(paths) == 1 else f"{len(paths)} texts"
            notice = tokenisation_notice(name, found.text)
            notices += [] if notice is None else [notice]
        return found


AS_FOUND = TextReading()


def read_background(
    path: PathLike,
    *,
    reading: TextReading = AS_FOUND,
    lowercase: bool = False,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> BackgroundSource:
    """Read a background: an ARPA model, a KenLM binary, or documents, as its first bytes and its name tell."""
    if path == "-":
        raise UsageError("a background cannot come from standard input; name its file.")
    if not Path(path).is_dir():
        with InputFile(path) as file:
            head = file.read_fully(HEAD_BYTES)
            plain = file.plain
        if head.startswith(KENLM_MAGIC) or b"\0" in head:
            if not plain:
                raise DataError(f"{path}: found a compressed binary, wanted a plain one; decompress it first.")
            from cepts.lm import KenLMModel

            return KenLMModel(str(path))
        if head.lstrip().startswith(ARPA_START) or last_suffix(path) == ".arpa":
            return read_arpa(path, notices=notices, progress=progress)
    return reading.read([path], lowercase=lowercase, notices=notices, several_wanted=True, progress=progress)


# -- spaces ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSpace:
    """A model directory, and how it is opened.

    Attributes
    ----------
    directory
        What `SpaceModel.save` wrote.
    vectors
        Files of vectors as ``LANGUAGE:FILE``, for a space that was saved without.
    notices
        Gets a line for each thing that is no error but that a user should know.
    """

    directory: str
    vectors: tuple[str, ...] = ()
    threads: int | None = None
    notices: list[str] = field(default_factory=list)
    progress: Progress | None = None

    def open(self) -> SpaceModel:
        """Load the space; files of vectors are read as those that it was fitted on."""
        from cepts.spaces import SpaceModel

        model = SpaceModel.load(self.directory, threads=self.threads)
        names = model.space_.languages
        for value in self.vectors:
            languages, path = split_named("vectors", value, names)
            if len(languages) != 1:
                raise UsageError(f"`vectors` {value}: wanted LANGUAGE:FILE, such as {names[0]}:{path}.")
            reading = model.record_.reading[model.space_.view(languages[0])]
            how: dict[str, Any] = {"lowercase": reading.lowercase, "max_vocabulary": reading.max_vocabulary}
            model.attach(read_vectors(path, name=languages[0], **how, notices=self.notices, progress=self.progress))
        return model


def read_dictionaries(
    values: Sequence[str], names: Sequence[str], notices: list[str] | None = None, *, beside: Sequence[str] = ()
) -> list[Dictionary]:
    """The dictionaries of files, each with the languages of its columns before a colon where they are given.

    `names` are the languages of the space, `beside` the files that are read with them.
    """
    asked = [split_named("dictionaries", value, names) for value in values]
    check_stdin(*beside, *(path for _, path in asked))
    return [_read_dictionary(languages, path, names, notices) for languages, path in asked]


def _read_dictionary(languages: list[str], path: str, names: Sequence[str], notices: list[str] | None) -> Dictionary:
    if len(languages) == 1:
        raise UsageError(
            f"`dictionaries` {languages[0]}:{path}: found one language, wanted two or more, such as en-fr:."
        )
    found = read_dictionary(path, languages=languages or None, notices=notices)
    if not languages and len(found.languages) != len(names) and not set(found.languages) <= set(names):
        remedy = (
            "name the languages of its columns, in a first line that starts with # or as in en-fr:FILE"
            if len(found.languages) < len(names)
            else "remove columns, or give the vectors of their languages too"
        )
        raise DataError(
            f"{path}: found {len(found.languages)} columns ({listed(found.languages)}), wanted one for each of the "
            f"languages {', '.join(names)}; {remedy}."
        )
    return found
