from __future__ import annotations

import json

from bitexts_words import TOY, bitext_of
from cepts.pipeline import Summary, list_alignments
from cepts.words import IBM1


def test_lists_are_written_as_the_aligner_finds_them_and_counted(tmp_path):
    bitext = bitext_of([*TOY, ("das", ""), ("das " * 9, "the")])
    aligner = IBM1(threads=1, max_length=8).fit(bitext)
    summary = list_alignments(aligner, bitext, tmp_path / "lists", count=4)
    records = [json.loads(line) for line in (tmp_path / "lists").read_text("utf-8").splitlines()]
    forward, reverse = aligner.nbest(bitext, 4)
    for pair, record in enumerate(records):
        for lists, name in ((forward, "forward"), (reverse, "reverse")):
            rows = [[-1 if i is None else i for i in alignment["positions"]] for alignment in record[name]]
            assert rows == lists[pair][1].tolist()
    assert summary == Summary(
        pairs=len(TOY) + 2,
        source_words=len(bitext.source.ids),
        target_words=len(bitext.target.ids),
        listed="both",
        forward_listed=4 * len(TOY),
        reverse_listed=4 * len(TOY),
        empty=1,
        too_long=1,
        max_length=8,
    )
    one = list_alignments(aligner, bitext, tmp_path / "lists", count=4, direction="reverse", format="giza")
    assert (one.forward_listed, one.reverse_listed) == (0, 4 * len(TOY))
