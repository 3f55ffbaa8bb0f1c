"""The sample that comes with the package, aligned and scored."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files

from cepts.data import Alignments, Bitext
from cepts.evaluate import Interval, Scores, compare, intervals
from cepts.io import read_bitext, read_links
from cepts.progress import Progress, Stopwatch
from cepts.words import HMM

COMPARED = ("agreement", "grow-diag-final-and", "intersection")


@dataclass(frozen=True, slots=True, eq=False)
class AlignedSample:
    """The sample with its links by agreement; the first `checked` pairs have gold links.

    `scores` has for each extractor the scores against the gold links, and the interval of the alignment error rate.
    """

    bitext: Bitext
    checked: int
    links: Alignments
    scores: dict[str, tuple[Scores, Interval]]
    seconds: float


def align_sample(progress: Progress | None = None) -> AlignedSample:
    """Train an HMM on the sample, align it in several ways and compare them with its gold links."""
    stopwatch = Stopwatch()
    with as_file(files("cepts") / "sample") as sample:
        bitext = read_bitext(sample / "sample.en", sample / "sample.fr", progress=progress)
        gold = read_links(sample / "sample.gold.wa", format="naacl")
    aligner = HMM().fit(bitext, progress=progress)
    found = {method: aligner.align(bitext, combine=method) for method in COMPARED}
    seconds = stopwatch.seconds
    checked = bitext.part(0, len(gold))
    scores = {}
    for method, links in found.items():
        comparison = compare(
            gold,
            links.part(0, len(gold)),
            source_lengths=checked.source.lengths,
            target_lengths=checked.target.lengths,
        )
        scores[method] = comparison.scores, intervals(comparison)["aer"]
    return AlignedSample(bitext, len(gold), found["agreement"], scores, seconds)
