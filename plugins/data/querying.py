"""One query in a database of its own, which can read what it is given and nothing else.

```
sql ──statements──> one that reads? ──tokens──> functions allowed?  files below the root?
                                                        │
      database: no external access but for exactly those files, configuration locked
```

DuckDB itself refuses every file that is not on the list, whatever way a query finds to name it; a
link is resolved before its target is put there. The database is in memory and thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import duckdb
import pandas as pd

from .files import FilesBelow
from .tokens import check_functions, explained, find_files, spliced

if TYPE_CHECKING:
    from pathlib import Path

MAX_RESULT_BYTES = 1_000_000_000
_MEMORY = "1GB"
_CHUNK_VECTORS = 50
_READING = ("SELECT", "EXPLAIN")
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    # Variables of the calling Python code are not tables.
    "python_enable_replacements": "false",
    "memory_limit": _MEMORY,
    "threads": "2",
    # Nothing spills to the disk.
    "temp_directory": "",
}


class Query:
    """A database for one query."""

    def __init__(self, root: Path) -> None:
        self._files = FilesBelow(root)
        self._connection = duckdb.connect(":memory:", config=_CONFIG)
        self._is_interrupted = False

    def interrupt(self) -> None:
        """Stop the query that is running in another thread."""
        self._is_interrupted = True
        self._connection.interrupt()

    def run(
        self,
        sql: str,
        tables: Mapping[str, object],
        values: Mapping[str, object],
        max_rows: int,
    ) -> pd.DataFrame:
        """Run the query, and throw the database away.

        Raises:
            ValueError: It is not one statement that reads, or DuckDB refuses it.
            FileNotFoundError: It names a file that is not there.
            PermissionError: It names something outside the root.
        """
        try:
            return self._run(sql, tables, values, max_rows)
        except duckdb.PermissionException as error:
            raise PermissionError(
                "a query reads files of the working folder only, named in quotes after FROM or in a"
                f" reader such as read_csv('a.csv'): {_first_line(error)}"
            ) from error
        except duckdb.Error as error:
            raise ValueError(str(error)) from error
        finally:
            self._connection.close()

    def _run(
        self,
        sql: str,
        tables: Mapping[str, object],
        values: Mapping[str, object],
        max_rows: int,
    ) -> pd.DataFrame:
        connection = self._connection
        frames = {name: as_frame(name, table) for name, table in _mapping(tables, "tables").items()}
        statement = _one_reading_statement(sql)
        check_functions(statement, connection)
        uses = find_files(statement, self._files, frames)
        allowed = sorted({path for use in uses for path in use.paths})
        connection.execute("SET allowed_paths = $paths", {"paths": allowed})
        connection.execute("SET enable_external_access = false")
        for name, frame in frames.items():
            connection.register(name, frame)
        for use in uses:
            if use.view is not None:
                connection.execute(use.view)
        connection.execute("SET lock_configuration = true")
        given = dict(_mapping(values, "values"))
        connection.execute(spliced(statement, uses), given or None)
        return self._fetched(max_rows)

    def _fetched(self, max_rows: int) -> pd.DataFrame:
        chunks: list[pd.DataFrame] = []
        rows = size = 0
        while not self._is_interrupted:
            chunk = self._connection.fetch_df_chunk(_CHUNK_VECTORS)
            if chunks and not len(chunk):
                break
            chunks.append(chunk)
            rows += len(chunk)
            size += int(chunk.memory_usage(deep=True).sum())
            if rows > max_rows:
                raise ValueError(
                    f"the result has more than {max_rows:,} rows: narrow the query, add a LIMIT,"
                    " or pass max_rows"
                )
            if size > MAX_RESULT_BYTES:
                raise ValueError(
                    f"the result is larger than {MAX_RESULT_BYTES:,} bytes: narrow the query"
                )
            if not len(chunk):
                break
        if len(chunks) > 1 and not len(chunks[-1]):
            chunks.pop()
        return chunks[0] if len(chunks) == 1 else pd.concat(chunks, ignore_index=True)


def as_frame(name: str, table: object) -> pd.DataFrame:
    """Take a table in any of the forms that scripts pass around.

    Raises:
        TypeError: It is no table.
    """
    if isinstance(table, pd.DataFrame):
        # Labels that are not text, and an index that says something, become columns.
        frame = table if isinstance(table.index, pd.RangeIndex) else table.reset_index()
        return frame.rename(columns=str)
    if isinstance(table, pd.Series):
        return table.to_frame(name=str(table.name or "value"))
    if isinstance(table, Mapping):
        columns = dict(table)
        if columns and all(isinstance(column, list | tuple) for column in columns.values()):
            return pd.DataFrame(columns)
        return pd.DataFrame([columns])
    if isinstance(table, list | tuple):
        rows = list(table)
        if rows and all(isinstance(row, Mapping) for row in rows):
            return pd.DataFrame.from_records([dict(row) for row in rows])
        if rows and all(isinstance(row, list | tuple) for row in rows):
            return pd.DataFrame(rows).rename(columns=lambda number: f"column{number}")
        return pd.DataFrame({"value": rows})
    convert = getattr(table, "to_pandas", None)
    if callable(convert):
        # polars, pyarrow and their like.
        return as_frame(name, convert())
    raise TypeError(f"`{name}` is no table: wanted a DataFrame or a list of objects")


def _mapping(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"`{what}` is an object, such as {{name: $table}}")
    return {str(name): member for name, member in value.items()}


def _one_reading_statement(sql: str) -> str:
    if "\0" in sql:
        raise ValueError("a query holds no NUL")
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1:
        raise ValueError(f"wanted one statement, got {len(statements)}")
    kind = statements[0].type.name
    if kind not in _READING:
        raise PermissionError(f"only statements that read are run (SELECT, FROM, ..), not {kind}")
    if kind == "EXPLAIN":
        # `EXPLAIN ANALYZE` runs what it explains.
        _one_reading_statement(explained(statements[0].query))
    return statements[0].query


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
