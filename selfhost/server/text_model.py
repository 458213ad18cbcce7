"""A model over texts: its tokenizer and its ONNX graph. Embedders and rerankers are made of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from selfhost.errors import SetupError
from selfhost.server.onnx_session import open_session

PADDING_TOKENS = ("[PAD]", "<pad>")
# Even where a token is a long word, no text gets beyond this; the rest is not even tokenized, so
# that a megabyte of text costs no more than what is read of it.
MAX_CHARS_A_TOKEN = 64


@dataclass(frozen=True)
class Tokens:
    """One text, or a pair of them, as a model reads it: one dimension, without padding."""

    ids: NDArray[np.int64]
    type_ids: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)


class TextTokenizer:
    """Cuts texts into tokens. Any thread may use it.

    Args:
        file: a tokenizer.json.
        max_tokens: of one text or pair, marks included; what is beyond is left out.
    """

    def __init__(self, file: Path, max_tokens: int) -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises nothing more specific
            raise SetupError(f"{file} cannot be read as a tokenizer: {error}") from error
        padding = self._tokenizer.padding
        known = (self._tokenizer.token_to_id(token) for token in PADDING_TOKENS)
        found = padding["pad_id"] if padding else next((id_ for id_ in known if id_ is not None), 0)
        self.pad_id: int = found
        self.max_tokens = max_tokens
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens, strategy="longest_first")

    def texts(self, texts: Sequence[str]) -> list[Tokens]:
        """Each text by itself."""
        return self._encoded([self._cut(text) for text in texts])

    def pairs(self, first: str, seconds: Sequence[str]) -> list[Tokens]:
        """`first` together with each of `seconds`; where a pair is too long, its longer text is
        cut."""
        return self._encoded([(self._cut(first), self._cut(second)) for second in seconds])

    def _cut(self, text: str) -> str:
        cut = text[: self.max_tokens * MAX_CHARS_A_TOKEN]
        # JSON can carry half of a surrogate pair, which is no character and breaks the tokenizer.
        return cut.encode(errors="replace").decode()

    def _encoded(self, given: Sequence[Any]) -> list[Tokens]:
        encodings: list[Encoding] = self._tokenizer.encode_batch(given)
        return [
            Tokens(np.array(one.ids, np.int64), np.array(one.type_ids, np.int64))
            for one in encodings
        ]


class TextGraph:
    """A graph over token ids. Not for two threads at once.

    Args:
        file: the ONNX file; it may keep its weights in others beside it.
        outputs: names of the output that is wanted, the first that the graph has.
        pad_id: the token that fills up shorter texts of a batch. Some graphs count positions by it.
        device, threads: as for `open_session`.

    Raises:
        SetupError: it cannot be loaded, or is a graph of another kind.
    """

    def __init__(
        self, file: Path, *, outputs: Sequence[str], pad_id: int, device: str, threads: int
    ) -> None:
        self._session = open_session(file, device=device, threads=threads)
        self._pad_id = pad_id
        self._inputs = {node.name for node in self._session.get_inputs()}
        offered = [node.name for node in self._session.get_outputs()]
        self._output = next((name for name in outputs if name in offered), None)
        if self._output is None or "input_ids" not in self._inputs:
            raise SetupError(
                f"{file} is no graph of the expected kind: it takes "
                f"{', '.join(sorted(self._inputs))} and gives {', '.join(offered)}; expected "
                f"input_ids, and one of: {', '.join(outputs)}."
            )

    def run(self, batch: Sequence[Tokens]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """
        Returns:
            The output, with a row for each of `batch`, and the mask [rows, longest] that is 1
            where a token is.
        """
        shape = (len(batch), max(len(tokens) for tokens in batch))
        ids = np.full(shape, self._pad_id, np.int64)
        type_ids = np.zeros(shape, np.int64)
        mask = np.zeros(shape, np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens.ids
            type_ids[row, : len(tokens)] = tokens.type_ids
            mask[row, : len(tokens)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": type_ids}
        feed = {name: value for name, value in given.items() if name in self._inputs}
        (output,) = self._session.run([self._output], feed)
        return np.asarray(output, np.float32), mask
