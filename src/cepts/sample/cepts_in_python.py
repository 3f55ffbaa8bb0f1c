"""Align through cepts, which are groups of words that belong together, and factorise a matrix from a file.

python examples/cepts_in_python.py
"""

from __future__ import annotations

from pathlib import Path

import cepts
from cepts.data import Cept
from cepts.evaluate import compare
from cepts.factor import factorise
from cepts.io import read_association

EXAMPLES = Path(__file__).parent


def shown(cept: Cept, source: list[str], target: list[str]) -> str:
    """The words of a cept."""
    return f"{' '.join(source[i] for i in cept.source)} = {' '.join(target[j] for j in cept.target)}"


def main() -> None:
    """Show each step."""
    bitext = cepts.read_bitext(EXAMPLES / "sample.en", EXAMPLES / "sample.fr")
    aligner = cepts.HMM().fit(bitext)
    gold = cepts.read_links(EXAMPLES / "sample.gold.wa")
    few = bitext.part(0, len(gold))
    alignments = aligner.align(few, combine="onmf")
    assert alignments.cepts is not None
    print("Cepts of the first pair:")
    for cept in alignments.cepts[0]:
        print(f"  {shown(cept, *bitext[0])}")

    print(f"F1 on possible links of the first {len(gold)} pairs, with each association matrix:")
    for name in ("agreement", "nbest"):
        found = aligner.align(few, combine="onmf", association=name)
        print(f"  {name}  {100 * compare(gold, found).scores.possible_f1:.1f} %")

    matrices = read_association(EXAMPLES / "toys.jsonl")
    association = matrices.association
    assert matrices.source is not None and matrices.target is not None
    source, target = matrices.source[0], matrices.target[0]
    factorised = factorise(association[0], source_null=association.source_null, target_null=association.target_null)
    assert factorised.alignments.cepts is not None
    groups = factorised.alignments.cepts[0]
    print(f"Cepts of a matrix from a file: {'; '.join(shown(cept, source, target) for cept in groups)}")
    print("P(cept | ont):")
    names = ["null", *(shown(cept, source, target) for cept in groups)]
    for name, share in zip(names, factorised.factors.target_posterior[target.index("ont")], strict=True):
        if share >= 0.02:
            print(f"  {name}  {share:.2f}")


if __name__ == "__main__":
    main()
