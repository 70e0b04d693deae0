"""Sees when a model asks for the very same again and gets the very same: small models never stop.

The second time it is told so; from the third time on it is asked once for the answer alone, without
tools, so that it can do nothing but speak.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nit_kernel.language.values import preview

if TYPE_CHECKING:
    from nit_kernel.model.events import BlockFinished

_TOLERATED = 3


class Repetition:
    """Counts how often one request of a model came in a row, with one outcome."""

    def __init__(self) -> None:
        self._last: list[tuple[str, str, str, str]] = []
        self._count = 0

    def note(self, blocks: Sequence[BlockFinished]) -> None:
        """Take what a round ran and what came of it; a round that ran nothing is no repetition."""
        now = [_outcome(block) for block in blocks]
        self._count = self._count + 1 if now and now == self._last else 1
        self._last = now

    @property
    def is_one(self) -> bool:
        """Whether the last round did what the one before it did."""
        return self._count > 1

    @property
    def is_hopeless(self) -> bool:
        """Whether to ask for the answer alone."""
        return self._count >= _TOLERATED


def _outcome(block: BlockFinished) -> tuple[str, str, str, str]:
    result = block.result
    value = "" if result is None else preview(result.value)
    bound = "" if result is None else preview(result.variables)
    return block.script, block.status, value, bound
