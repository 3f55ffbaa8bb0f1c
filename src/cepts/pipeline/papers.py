"""The settings of papers on word alignment: what `cepts align --paper` sets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from cepts.extract import ASSOCIATIONS
from cepts.factor import EXHAUSTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentPaper:
    """The settings of a paper, by the names of options; other options have their defaults.

    Attributes
    ----------
    training
        The model, and the parameters of its class that the paper sets.
    links
        How links are made: parameters of `cepts.extract.Extraction` and of `cepts.factor.Factoring`.

    Examples
    --------
    >>> ONMF.options(given={"cepts": "bic"})["cepts"]
    'bic'
    """

    training: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, Any] = field(default_factory=dict)

    def options(self, given: Mapping[str, Any], *, without: Collection[str] = ()) -> dict[str, Any]:
        """The settings together with the options that the user gave, which take precedence.

        If another extractor is given, the links are made as it makes them by default, and a setting that does not go
        with what is given is left out: the length of lists with an association that has none, random starts without a
        search. With ``training`` in `without`, the settings of the model are left out, because it is already trained.
        """
        training = {} if "training" in without else self.training
        other = given.get("combine", self.links["combine"]) != self.links["combine"]
        links = {} if other else dict(self.links)
        chosen = {**links, **given}
        if "nbest" in links and not ASSOCIATIONS[chosen["association"]].lists:
            del links["nbest"]
        if "restarts" in links and chosen["cepts"] not in EXHAUSTIVE:
            del links["restarts"]
        return {**training, **links, **given}


# Aziz (2016): exact EM, eq. (25). The links are the best alignment of one direction, P(target | source). The notes do
# not say how often to iterate; after 20 iterations the likelihood hardly rises any more.
IBM1 = AlignmentPaper(
    training={"model": "ibm1", "lexicon": "ml", "agreement": False, "iterations": 20},
    links={"combine": "forward"},
)
IBM2 = AlignmentPaper(
    training={"model": "ibm2", "lexicon": "ml", "agreement": False, "start_iterations": 5, "iterations": 20},
    links={"combine": "forward"},
)
# Goutte et al. (2004), section 5: Model 4 of either direction by maximum likelihood, and plain counts in their lists of
# the 100 best alignments. Section 4.1: every number of cepts is tried, AIC or BIC chooses. Section 7.1: "a few random
# restarts", 10 here. Eq. (7): the most probable cept. Section 7.3 has two ways to treat orphans; this is the second.
ONMF = AlignmentPaper(
    training={"model": "ibm4", "lexicon": "ml", "agreement": False},
    links={
        "combine": "onmf",
        "association": "nbest-plain",
        "nbest": 100,
        "spread": 0.0,
        "cepts": "aic",
        "restarts": 10,
        "assign": "map",
        "orphans": "retrain",
    },
)
