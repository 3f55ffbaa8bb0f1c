"""ONNX models with the tokeniser of Hugging Face's tokenizers as encoders of words in their context."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.encoders.encoder import Matrix, Sentences, encodable
from cepts.encoders.install import imported
from cepts.encoders.pooling import padded, pooled
from cepts.errors import ModelError, UsageError, reason_of

LONGEST = 512
STATES = ("last_hidden_state", "token_embeddings", "hidden_states")  # names of outputs, the likeliest first
MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx", "model_fp16.onnx")


class OnnxEncoder:
    """The states of an ONNX model for each sub-word, averaged to words.

    A sentence that is longer than the model takes is cut into windows that overlap by half. The model runs on one
    thread, so that the last bits do not depend on how many there are.

    Parameters
    ----------
    directory
        Has ``tokenizer.json`` and ``model.onnx``, or one other file ``.onnx``, there or in ``onnx``; the
        ``config.json`` of the model says how many sub-words it takes, otherwise 512.
    layer
        Must be None: the layer was chosen when the model was exported.
    batch
        How many windows are encoded together.
    """

    contextual = True

    def __init__(self, directory: str | Path, *, layer: int | None = None, batch: int = 32) -> None:
        if layer is not None:
            raise UsageError("`layer` goes with hf: models; an ONNX model has the layer with which it was exported.")
        runtime = imported("onnxruntime", "onnxruntime", extra="onnx")
        tokenizers = imported("tokenizers", "tokenizers", extra="onnx")
        self.name, self.batch = f"onnx:{directory}", batch
        place = Path(directory)
        model, tokens = _model_file(place), place / "tokenizer.json"
        if not tokens.is_file():
            raise ModelError(f"{directory}: found no tokenizer.json, wanted the tokeniser beside the model.")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokens))
            options = runtime.SessionOptions()
            options.log_severity_level = 4
            options.intra_op_num_threads = 1
            self._session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise types of their own
            raise ModelError(f"{directory}: the model cannot be loaded: {reason_of(error)}.") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._output = self._states(str(directory))
        marked = self._tokenizer.encode("").ids
        # The marks around a sentence: what an empty one consists of.
        self._start, self._end = marked[: (len(marked) + 1) // 2], marked[(len(marked) + 1) // 2 :]
        self.longest = _longest(place) - len(marked)
        self.width = int(self._encode([[0]])[0].shape[1])

    def _states(self, name: str) -> str:
        """The output with one vector for each sub-word."""
        found = {output.name for output in self._session.get_outputs() if len(output.shape) == 3}
        chosen = next((known for known in STATES if known in found), None) or min(found, default=None)
        if chosen is None or "input_ids" not in self._inputs:
            raise ModelError(
                f"{name}: found a model without input_ids or without an output for each sub-word, wanted an encoder "
                f"that was exported with its hidden states."
            )
        return chosen

    def encode(self, sentences: Sentences, side: int) -> Matrix:
        """One vector for each word in its sentence."""
        how: dict[str, Any] = {"longest": self.longest, "batch": self.batch, "width": self.width}
        return pooled(sentences, self._pieces, self._encode, **how)

    def _pieces(self, word: str) -> list[int]:
        found: list[int] = self._tokenizer.encode([encodable(word)], is_pretokenized=True, add_special_tokens=False).ids
        return found

    def _encode(self, windows: Sequence[Sequence[int]]) -> list[NDArray]:
        ids, mask = padded(windows, self._start, self._end)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run([self._output], {name: given[name] for name in self._inputs if name in given})[0]
        first = len(self._start)
        return [states[number, first : first + len(window)] for number, window in enumerate(windows)]


def _model_file(directory: Path) -> Path:
    """The file of the model: one of the usual names, or the only one."""
    found = [directory / name for name in MODELS if (directory / name).is_file()]
    found = found or sorted(directory.glob("*.onnx")) + sorted((directory / "onnx").glob("*.onnx"))
    if not found:
        raise ModelError(f"{directory}: found no file .onnx, wanted a directory with model.onnx and tokenizer.json.")
    return found[0]


def _longest(directory: Path) -> int:
    """How many sub-words the model takes, with the marks of start and end."""
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        longest = config.get("max_position_embeddings", LONGEST)
    except (OSError, ValueError, AttributeError):
        return LONGEST
    return min(longest, LONGEST) if isinstance(longest, int) and longest > 2 else LONGEST
