"""Models of Hugging Face's transformers as encoders of words in their context."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from cepts.encoders.encoder import Matrix, Sentences, encodable
from cepts.encoders.install import imported
from cepts.encoders.pooling import padded, pooled
from cepts.errors import ModelError, UsageError, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_LAYER = 8  # of awesome-align and SimAlign, for models of twelve layers
LONGEST = 512


class TransformerEncoder:
    """The hidden states of one layer of a transformer, sub-words averaged to words.

    A sentence that is longer than the model takes is cut into windows that overlap by half. PyTorch runs on one thread,
    so that the last bits do not depend on how many there are.

    Parameters
    ----------
    directory
        A model directory with its tokeniser, as `save_pretrained` writes it. Nothing is downloaded.
    layer
        Which layer: 0 is the embeddings, 1 the first layer, -1 the last one. None is 8, or the last layer of a smaller
        model.
    batch
        How many windows are encoded together.
    """

    contextual = True

    def __init__(self, directory: str | Path, *, layer: int | None = None, batch: int = 32) -> None:
        self._torch = imported("torch", "torch", extra="encoder")
        transformers = imported("transformers", "transformers", extra="encoder")
        self.name, self.batch = f"hf:{directory}", batch
        if not Path(directory).is_dir():
            raise ModelError(
                f"{directory}: found no such directory, wanted a model directory with config.json; download the model "
                f"and name its directory."
            )
        try:
            with _quiet(transformers):
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(str(directory), local_files_only=True)
                self._model = transformers.AutoModel.from_pretrained(str(directory), local_files_only=True)
        except Exception as error:  # whatever the library raises about a directory that it cannot read
            raise ModelError(f"{directory}: the model cannot be loaded: {reason_of(error)}.") from error
        self._model.eval()
        config = self._model.config
        layers = int(config.num_hidden_layers)
        self.layer = chosen_layer(layer, layers, str(directory))
        self.width = int(config.hidden_size)
        self._start, self._end = self._marks()
        self.longest = self._longest() - len(self._start) - len(self._end)

    def _marks(self) -> tuple[list[int], list[int]]:
        """The sub-words that the tokeniser puts before and after a sentence."""
        tokenizer = self._tokenizer
        start = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
        end = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
        return ([] if start is None else [start]), ([] if end is None else [end])

    def _longest(self) -> int:
        config = self._model.config
        places = getattr(config, "max_position_embeddings", LONGEST)
        # RoBERTa and its kin number positions from the number of padding on.
        offset = (config.pad_token_id or 0) + 1 if "roberta" in str(config.model_type) else 0
        return min(int(places) - offset, int(self._tokenizer.model_max_length))

    def encode(self, sentences: Sentences, side: int) -> Matrix:
        """One vector for each word in its sentence."""
        how: dict[str, Any] = {"longest": self.longest, "batch": self.batch, "width": self.width}
        return pooled(sentences, self._pieces, self._encode, **how)

    def _pieces(self, word: str) -> list[int]:
        found = self._tokenizer([encodable(word)], is_split_into_words=True, add_special_tokens=False)["input_ids"]
        unknown = self._tokenizer.unk_token_id
        return list(found) or ([] if unknown is None else [unknown])

    def _encode(self, windows: Sequence[Sequence[int]]) -> list[NDArray]:
        torch = self._torch
        marks = self._start, self._end, self._tokenizer.pad_token_id or 0
        ids, mask = map(torch.from_numpy, padded(windows, *marks))
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.inference_mode():
                states = self._model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        finally:
            torch.set_num_threads(before)
        layer = states[self.layer].float().numpy()
        first = len(self._start)
        return [layer[number, first : first + len(window)] for number, window in enumerate(windows)]


def chosen_layer(layer: int | None, layers: int, name: str) -> int:
    """The number of a layer, counted from the embeddings, which are 0."""
    if layer is None:
        return min(DEFAULT_LAYER, layers)
    if not -layers - 1 <= layer <= layers:
        raise UsageError(
            f"`layer` must lie between {-layers - 1} and {layers}, the layers of {name}. Got {layer} instead."
        )
    return layer if layer >= 0 else layers + 1 + layer


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Without the notes and the progress bars that the library prints while it loads a model."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
