"""The worked example of section 5 of onmf: sentence 1023 of the Hansards' trial set.

The counts are not the authors', who print none: they are made to what the paper says of its Figure 5. The largest are
145 to 150, there is a background of 3 to 5, `ont` is shared by `they` and `need`, which has slightly more, and both
`de` are mostly at null.
"""

from __future__ import annotations

import numpy as np
import pytest

from cepts.factor import SELECTIONS, factorise, plsa

SOURCE = ["they", "need", "toys", "and", "entertainment", "."]
TARGET = ["les", "enfants", "ont", "besoin", "de", "jouets", "et", "de", "loisirs", "."]
COUNTS = {
    ("they", "les"): 147,
    ("they", "enfants"): 145,
    ("they", "ont"): 66,
    ("need", "ont"): 75,
    ("need", "besoin"): 148,
    ("toys", "jouets"): 149,
    ("and", "et"): 150,
    ("entertainment", "loisirs"): 146,
    (".", "."): 150,
}
MATRIX = np.array(
    [[COUNTS.get((e, f), 3 + (5 * i + 2 * j) % 3) for j, f in enumerate(TARGET)] for i, e in enumerate(SOURCE)], float
)
NULL = {"source_null": [4, 3, 5, 4, 3, 4], "target_null": [5, 4, 8, 3, 148, 4, 3, 146, 5, 4]}
CEPTS = [
    ("they", "les enfants"),
    ("need", "ont besoin"),
    ("toys", "jouets"),
    ("and", "et"),
    ("entertainment", "loisirs"),
    (".", "."),
]


def words_of(found):
    """The words of each cept."""
    return [
        (" ".join(SOURCE[i] for i in cept.source), " ".join(TARGET[j] for j in cept.target))
        for cept in found.alignments.cepts[0]
    ]


@pytest.mark.parametrize("selection", [*SELECTIONS, 6])
@pytest.mark.parametrize("noise", [True, False])
def test_six_cepts_and_both_de_at_null(selection, noise):
    found = factorise(MATRIX, cepts=selection, noise=noise, **NULL)
    assert words_of(found) == CEPTS
    assert [TARGET[j] for j in np.flatnonzero(found.alignments.cepts.target < 0)] == ["de", "de"]
    assert (found.alignments.cepts.source >= 0).all()
    # The authors' is 0.00053.
    assert found.alignments.cepts.noise[0] < 0.02


@pytest.mark.parametrize("selection", SELECTIONS)
def test_both_criteria_are_highest_at_six_cepts(selection):
    found = factorise(MATRIX, cepts=selection, **NULL)
    assert np.nanargmax(found.aic) == np.nanargmax(found.bic) == 5
    assert np.diff(found.log_likelihoods).min() > 0


def test_ont_is_of_two_cepts_and_goes_with_the_more_probable():
    """The authors' probabilities are 0.40 and 0.54."""
    found = factorise(MATRIX, **NULL)
    they, need = found.factors.target_posterior[TARGET.index("ont")][[1, 2]]
    assert 0.35 < they < need < 0.6
    confidence = dict(zip(found.alignments[0].links, found.alignments[0].confidence.tolist(), strict=True))
    certain = confidence[SOURCE.index("toys"), TARGET.index("jouets")]
    assert confidence[SOURCE.index("need"), TARGET.index("ont")] < 0.5 * certain


def test_other_words_are_sure_of_their_cepts():
    found = factorise(MATRIX, **NULL).alignments
    doubtful = {TARGET[j] for j in np.flatnonzero(found.cepts.target_confidence < 0.75)}
    assert doubtful == {"ont"}
    sure = {(SOURCE[i], TARGET[j]) for (i, j), is_sure in zip(found[0].links, found[0].sure, strict=True) if is_sure}
    assert {("toys", "jouets"), ("and", "et"), (".", ".")} <= sure
    assert ("need", "ont") not in sure


def test_one_large_cept_is_no_better_explanation():
    """A 2-4 alignment of they, need and les, enfants, ont, besoin, as the paper has it, is not what is found."""
    five, six = (plsa(MATRIX, cepts, restarts=20).log_likelihood for cepts in (5, 6))
    assert six - five > len(SOURCE) + len(TARGET) - 1


def test_without_null_every_word_is_in_a_cept():
    found = factorise(MATRIX)
    assert (found.alignments.cepts.target >= 0).all()
    assert len(found.alignments.cepts[0]) == 6
