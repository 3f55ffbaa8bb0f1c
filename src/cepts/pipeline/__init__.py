"""The rooms joined: from files to files."""

from cepts.pipeline.align import Summary, align_bitext
from cepts.pipeline.nbest import ListSummary, list_bitext

__all__ = ["ListSummary", "Summary", "align_bitext", "list_bitext"]
