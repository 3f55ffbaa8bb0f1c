"""The rooms joined: from files to files."""

from cepts.pipeline.align import CeptCounts, Summary, align
from cepts.pipeline.align_files import (
    AlignJob,
    AlignOutputs,
    AlignReport,
    BitextFiles,
    WordTraining,
    align_files,
)
from cepts.pipeline.link_files import LinkFile, combine_links
from cepts.pipeline.lists import list_alignments, list_segmentations
from cepts.pipeline.matrices import MatrixFile, align_matrices, matrix_to_draw
from cepts.pipeline.models import load, load_scorer, model_parameters, new_model
from cepts.pipeline.phrases import align_pair_files, align_pairs

__all__ = [
    "AlignJob",
    "AlignOutputs",
    "AlignReport",
    "BitextFiles",
    "CeptCounts",
    "LinkFile",
    "MatrixFile",
    "Summary",
    "WordTraining",
    "align",
    "align_files",
    "align_matrices",
    "align_pair_files",
    "align_pairs",
    "combine_links",
    "list_alignments",
    "list_segmentations",
    "load",
    "load_scorer",
    "matrix_to_draw",
    "model_parameters",
    "new_model",
]
