"""Any table as named columns of plain values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

MAX_ROWS = 200_000

Columns = dict[str, list[Any]]


def columns_of(table: object) -> tuple[Columns, str | None]:
    """Read a table in any of the forms that scripts pass around; all columns are equally long.

    Returns:
        The columns, and the name of the one that labels the rows, if one does.

    Raises:
        TypeError: It is no table.
        ValueError: It is empty, or too long to draw.
    """
    columns, index = _read(table)
    length = max(map(len, columns.values()), default=0)
    if not length:
        raise ValueError("the table has no rows")
    if length > MAX_ROWS:
        raise ValueError(f"the table has {length:,} rows, more than {MAX_ROWS:,}: group it first")
    even = {name: column + [None] * (length - len(column)) for name, column in columns.items()}
    return even, index


def number(value: object) -> float | None:
    """A value as a number, `None` where it is none (a missing one is `nan`)."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        # numpy's numbers; a missing value of pandas is none.
        item = getattr(value, "item", None)
        value = item() if callable(item) and getattr(value, "ndim", 0) == 0 else value
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.nan
    return math.nan if _is_missing(value) else None


def is_numeric(column: Iterable[object]) -> bool:
    """Whether a column holds numbers, missing ones aside, and at least one."""
    numbers = [number(value) for value in column]
    return None not in numbers and any(n == n for n in numbers if n is not None)


def as_dates(column: list[Any]) -> list[Any] | None:
    """A column as dates, where it holds dates or texts such as 2026-05-01; else `None`."""
    dates: list[Any] = []
    for value in column:
        if isinstance(value, str):
            try:
                value = datetime.fromisoformat(value)
            except ValueError:
                return None
        if _is_missing(value):
            value = None
        elif not isinstance(value, date):
            return None
        dates.append(value)
    aware = {d.tzinfo is not None for d in dates if isinstance(d, datetime)}
    return dates if any(dates) and len(aware) < 2 else None


def _read(table: object) -> tuple[Columns, str | None]:
    if isinstance(table, Mapping):
        return _from_mapping(table)
    if isinstance(table, list | tuple):
        return _from_rows(list(table)), None
    names = getattr(table, "columns", None)
    if names is not None:
        columns, index = _index(table)
        iloc = getattr(table, "iloc", None)
        for position, name in enumerate(names):
            column = table[name] if iloc is None else iloc[:, position]  # type: ignore[index]
            columns[str(name)] = list(column)
        return columns, index
    if hasattr(table, "__iter__") and not isinstance(table, str | bytes):
        columns, index = _index(table)
        columns[str(getattr(table, "name", None) or "value")] = list(table)
        return columns, index
    raise TypeError(f"wanted a table, got {type(table).__name__}")


def _index(table: object) -> tuple[Columns, str | None]:
    """The index of a pandas object as a column, where it says more than the numbers of rows."""
    index = getattr(table, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return {}, None
    name = str(index.name or "index")
    return {name: list(index)}, name


def _from_mapping(table: Mapping[Any, Any]) -> tuple[Columns, str | None]:
    if table and all(isinstance(column, list | tuple) for column in table.values()):
        return {str(name): list(column) for name, column in table.items()}, None
    # Numbers by name: two columns.
    return {"name": [str(name) for name in table], "value": list(table.values())}, "name"


def _from_rows(rows: list[Any]) -> Columns:
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(str(name) for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}
    if rows and all(isinstance(row, list | tuple) for row in rows):
        width = max(map(len, rows))
        return {
            f"column{i}": [row[i] if i < len(row) else None for row in rows] for i in range(width)
        }
    return {"value": rows}


def _is_missing(value: object) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # pandas' NA refuses to be true or false.
        return True
