"""Writing n-best lists with the scores of a language model, or the best hypotheses alone."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence

from cepts.data import Utterance, words_of
from cepts.errors import DataError, check_choice
from cepts.io.files import PathLike
from cepts.io.lines import shown
from cepts.io.writer import Writer
from cepts.names import WRITABLE_HYPOTHESIS_FORMATS

HEADER = ("id", "total", "score", "lm_score", "text", "reference")


class HypothesisWriter(Writer):
    """Writes successive utterances to one file, which appears only when it is complete.

    Parameters
    ----------
    path
        The file, compressed by its suffix; `-` is standard output.
    format
        Whole lists, the best hypothesis first: ``tsv`` or ``jsonl``, which `read_hypotheses` reads. Costs of the
        language model in the order of the list (`utterance-1 12.5`), as in Kaldi's `lmwt` archives: ``kaldi``. The best
        hypotheses alone: ``text`` (`utterance word word`) or ``trn`` (`word word (utterance)`).
    """

    def __init__(self, path: PathLike, *, format: str = "tsv") -> None:
        check_choice("format", format, WRITABLE_HYPOTHESIS_FORMATS)
        super().__init__(path)
        self.format = format
        self._started = False

    def write(self, utterance: Utterance, lm_scores: Sequence[float], totals: Sequence[float]) -> None:
        """Write the next `utterance`, with the language model's score and the total score of each hypothesis.

        Hypotheses with equal totals keep their order.
        """
        count = len(utterance.hypotheses)
        for name, given in (("lm_scores", lm_scores), ("totals", totals)):
            if len(given) != count:
                raise ValueError(f"`{name}` must be one for each of {count} hypotheses. Got {len(given)} instead.")
            if not all(math.isfinite(number) for number in given):
                raise ValueError(f"`{name}` must be finite. Got {list(given)} instead.")
        self._check(utterance)
        file = self._open()
        if self.format == "tsv" and not self._started:
            file.write("\t".join(HEADER).encode() + b"\n")
        self._started = True
        order = sorted(range(count), key=lambda rank: -totals[rank])
        for line in _lines(self.format, utterance, lm_scores, totals, order):
            file.write(f"{line}\n".encode("utf-8", "surrogateescape"))

    def _check(self, utterance: Utterance) -> None:
        """Refuse utterances that could not be read back."""
        name = utterance.id
        good = words_of(name) == [name]
        if self.format == "jsonl":
            good = name != ""
        elif self.format == "tsv":
            good = name.strip(" ") == name != "" and not set(name) & set("\t\n\r")
        if not good:
            raise DataError(
                f"found the utterance {shown(name)}, wanted a name without white space for the format {self.format}; "
                f"write JSON lines."
            )
        for tokens in (*(hypothesis.tokens for hypothesis in utterance.hypotheses), utterance.reference or ()):
            if words_of(" ".join(tokens)) != list(tokens):
                raise DataError(
                    f"utterance {shown(name)}: found the tokens {shown(repr(tokens))}, wanted tokens that are neither "
                    f"empty nor hold white space."
                )


def write_hypotheses(
    path: PathLike, rescored: Iterable[tuple[Utterance, Sequence[float], Sequence[float]]], *, format: str = "tsv"
) -> None:
    """Write utterances with `lm_scores` and `totals` to `path`; the parameters are those of `HypothesisWriter`."""
    with HypothesisWriter(path, format=format) as writer:
        for utterance, lm_scores, totals in rescored:
            writer.write(utterance, lm_scores, totals)


def _lines(
    format: str, utterance: Utterance, lm_scores: Sequence[float], totals: Sequence[float], order: list[int]
) -> Iterator[str]:
    """The lines of `utterance`; `order` has its hypotheses, the best first."""
    texts = [" ".join(hypothesis.tokens) for hypothesis in utterance.hypotheses]
    scores = [float(hypothesis.score) for hypothesis in utterance.hypotheses]
    reference = None if utterance.reference is None else " ".join(utterance.reference)
    if format == "tsv":
        for rank in order:
            numbers = f"{totals[rank]:.6f}\t{scores[rank]!r}\t{lm_scores[rank]:.6f}"
            yield f"{utterance.id}\t{numbers}\t{texts[rank]}\t{reference or ''}"
    elif format == "jsonl":
        hypotheses = [
            {
                "text": texts[rank],
                "score": scores[rank],
                "lm_score": round(float(lm_scores[rank]), 6),
                "total": round(float(totals[rank]), 6),
            }
            for rank in order
        ]
        known = {} if reference is None else {"reference": reference}
        yield json.dumps({"id": utterance.id, "hypotheses": hypotheses, **known}, ensure_ascii=False)
    elif format == "kaldi":
        for rank, lm_score in enumerate(lm_scores, start=1):
            yield f"{utterance.id}-{rank} {-lm_score:.6f}"
    elif format == "text":
        yield f"{utterance.id} {texts[order[0]]}".rstrip(" ")
    else:
        yield f"{texts[order[0]]} ({utterance.id})".lstrip(" ")
