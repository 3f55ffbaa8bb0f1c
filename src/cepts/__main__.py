"""Runs the command line: `python -m cepts`."""

import sys

from cepts.cli import main

if __name__ == "__main__":
    sys.exit(main())
