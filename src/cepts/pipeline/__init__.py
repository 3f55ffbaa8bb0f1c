"""Whole jobs from files to files: read sentence pairs, train or load models, align, and write the results."""

from cepts.pipeline.align_files import (
    AlignJob,
    AlignOutputs,
    WordTraining,
    align_files,
)
from cepts.pipeline.inputs import BitextFiles, LinkFile
from cepts.pipeline.link_files import combine_links
from cepts.pipeline.lists import list_alignments
from cepts.pipeline.loop import CeptCounts, Summary, align
from cepts.pipeline.matrices import MatrixFile, align_matrices, matrix_to_draw
from cepts.pipeline.models import load, load_scorer, model_parameters, new_model

__all__ = [
    "AlignJob",
    "AlignOutputs",
    "BitextFiles",
    "CeptCounts",
    "LinkFile",
    "MatrixFile",
    "Summary",
    "WordTraining",
    "align",
    "align_files",
    "align_matrices",
    "combine_links",
    "list_alignments",
    "load",
    "load_scorer",
    "matrix_to_draw",
    "model_parameters",
    "new_model",
]
