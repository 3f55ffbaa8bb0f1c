"""The rooms joined: from files to files."""

from cepts.pipeline.align import Summary, align_bitext

__all__ = ["Summary", "align_bitext"]
