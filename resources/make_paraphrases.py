"""Make a table of paraphrases from files of PPDB.

    cd resources
    PPDB=../../shared/data/mono/resources/ppdb
    python make_paraphrases.py $PPDB/ppdb-1.0-eng-xxxl.pruned-20.lexical.pair.gz \
        $PPDB/ppdb-1.0-xxxl-lexical.extended.synonyms.uniquepairs.gz expressions.txt \
        $PPDB/ppdb_RTE06MSR_PARAPHRASE08CCL_upTo4grams.txt.gz -o ../src/cepts/phrases/english/paraphrases.safetensors

makes the English table that comes with cepts. A file has either pairs (`word TAB word`; of more texts with tabs between
them, each two are a pair) or PPDB's rules (`[symbol] ||| source ||| target ||| name=value ...`, further fields are
passed over), plain or compressed. The first file of pairs gives bit 0 of each entry, all others bit 1. Rules with gaps,
such as `the [NNS,1] of [NP,2]`, are left out. `expressions.txt` is our own list of common expressions of several words.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cepts.errors import DataError
from cepts.pipeline.paraphrases import read_paraphrases


def main() -> None:
    """Read the files and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", help="files of pairs or of rules")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the table")
    arguments = parser.parse_args()
    try:
        table = read_paraphrases(arguments.files)
        table.save(arguments.output)
    except DataError as error:
        sys.exit(f"error: {error}")
    print(f"{table}; {arguments.output.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
