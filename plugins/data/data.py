"""SQL over files and tables, with DuckDB."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from .querying import Query

ROOT = Path(os.environ.get("NIT_FILES_ROOT") or Path()).expanduser().absolute()


async def query(
    sql: str,
    tables: Mapping[str, object] | None = None,
    values: Mapping[str, object] | None = None,
    max_rows: int = 1_000_000,
) -> pd.DataFrame:
    """Run one query that only reads; cancelling it stops the database, too."""
    import asyncio

    running = await asyncio.to_thread(_begin)
    try:
        return await asyncio.to_thread(running.run, sql, tables or {}, values or {}, max_rows)
    except asyncio.CancelledError:
        running.interrupt()
        raise


def _begin() -> Query:
    # DuckDB and pandas take half a second to import.
    from .querying import Query

    return Query(ROOT)
