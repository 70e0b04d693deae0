"""What a tool may know of the place where its script runs: the last cells of a notebook.

The runtime knows no notebook. Whoever runs scripts in one puts a provider into the context while
the script runs; worker threads and background tasks carry it, since they carry the context.

```python
with surroundings(provider):        # the notebook layer
    session.run(script)
SURROUNDINGS.get()                  # a tool: the provider, or None outside a notebook
```
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCell:
    """A cell as its person sees it: its number, its source, its outputs as plain text."""

    number: int
    source: str
    outputs: tuple[str, ...]


class Surroundings(Protocol):
    """Tells what is on the page around a script."""

    def recent_cells(self, count: int, /) -> Sequence[SeenCell]:
        """The last cells that were run, oldest first, the running one last."""
        ...


SURROUNDINGS: ContextVar[Surroundings | None] = ContextVar("nit_surroundings", default=None)
"""The provider for scripts of the running context."""


@contextmanager
def surroundings(provider: Surroundings) -> Generator[None]:
    """Let the scripts that are started inside know what is around them."""
    token = SURROUNDINGS.set(provider)
    try:
        yield
    finally:
        SURROUNDINGS.reset(token)
