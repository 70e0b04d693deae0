"""What a query names: the functions that it calls and the files that it reads.

DuckDB's own lexer splits the query, so that a comment or a string is never taken for anything else.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from collections.abc import Container

    from .files import FilesBelow

_READERS = {
    "read_csv": "csv",
    "read_csv_auto": "csv",
    "sniff_csv": "csv",
    "read_parquet": "parquet",
    "parquet_scan": "parquet",
    "parquet_schema": "parquet",
    "parquet_metadata": "parquet",
    "parquet_file_metadata": "parquet",
    "parquet_kv_metadata": "parquet",
    "read_json": "json",
    "read_json_auto": "json",
    "read_json_objects": "json",
    "read_json_objects_auto": "json",
    "read_ndjson": "json",
    "read_ndjson_auto": "json",
    "read_ndjson_objects": "json",
    "read_text": "text",
    "read_blob": "blob",
}
# Functions that give tables and look at nothing but their arguments or the database's own words.
_PURE_TABLES = frozenset(
    "generate_series range unnest repeat repeat_row json_each json_tree summary"
    " duckdb_columns duckdb_tables duckdb_views duckdb_types duckdb_functions duckdb_keywords"
    " icu_calendar_names pg_timezone_names pragma_version pragma_table_info pragma_show"
    " histogram histogram_values".split()
)
_STATEMENT_STARTS = frozenset({"select", "from", "with", "values", "table", "("})
_NEVER = frozenset({"write_log", "sleep_ms", "setval"})
_FORMATS = (
    (re.compile(r"\.(csv|tsv|txt)(\.(gz|zst))?$", re.IGNORECASE), "read_csv"),
    (re.compile(r"\.(json|jsonl|ndjson)(\.(gz|zst))?$", re.IGNORECASE), "read_json"),
    (re.compile(r"\.(parquet|pq)$", re.IGNORECASE), "read_parquet"),
)
_BEFORE_A_TABLE = frozenset({"from", "join"})
_MAYBE_BEFORE_A_TABLE = frozenset({",", "table", "summarize", "describe", "show"})


@dataclass(frozen=True, slots=True)
class Token:
    """One token that is no comment; offsets are UTF-8 bytes."""

    text: str
    start: int
    end: int

    @property
    def name(self) -> str | None:
        """The name, where this can be one."""
        if self.text.startswith('"'):
            return self.text[1:-1].replace('""', '"')
        return self.text.lower() if re.fullmatch(r"[^\W\d]\w*", self.text) else None

    @property
    def string(self) -> str | None:
        """The value of a plain string."""
        if self.text.startswith("'") and self.text.endswith("'") and len(self.text) > 1:
            return self.text[1:-1].replace("''", "'")
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUse:
    """A place in a query that names files.

    Attributes:
        paths: The real paths.
        start: Of what is replaced, in UTF-8 bytes.
        end: Its end; equal to `start` where nothing is.
        text: What takes its place.
        view: The statement that makes a view of the name, where a table's name is a file's.
    """

    paths: list[str]
    start: int = 0
    end: int = 0
    text: str = ""
    view: str | None = None


def tokens_of(sql: str) -> list[Token]:
    """Split a query, comments left out."""
    raw = sql.encode()
    found = duckdb.tokenize(sql)
    ends = [start for start, _ in found[1:]] + [len(raw)]
    tokens: list[Token] = []
    for (start, kind), limit in zip(found, ends, strict=True):
        if kind == duckdb.token_type.comment:
            continue
        text = raw[start:limit].decode("utf-8", "replace").rstrip()
        tokens.append(Token(text, start, start + len(text.encode())))
    return tokens


def explained(sql: str) -> str:
    """The statement behind `EXPLAIN`, `EXPLAIN ANALYZE` and `EXPLAIN (..)`."""
    tokens = _split_brackets(tokens_of(sql))
    index = 1
    depth = 0
    while index < len(tokens):
        text = tokens[index].text.lower()
        depth += (text == "(") - (text == ")")
        is_option = depth > 0 or text in (")", "analyze", "analyse", "verbose")
        # A bracket that does not hold options begins the statement itself.
        if not is_option or (text == "(" and tokens[index + 1].text.lower() in _STATEMENT_STARTS):
            break
        index += 1
    return sql.encode()[tokens[index].start :].decode() if index < len(tokens) else ""


def check_functions(sql: str, connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse functions that give tables of something else than their arguments.

    Raises:
        PermissionError: One is called.
    """
    listed = connection.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions()"
        " WHERE function_type IN ('table', 'table_macro', 'pragma')"
    ).fetchall()
    refused = {str(row[0]).lower() for row in listed} - _READERS.keys() - _PURE_TABLES
    tokens = tokens_of(sql)
    for token, following in itertools.pairwise(tokens):
        name = token.name
        if name is None or following.text[:1] != "(":
            continue
        if name.lower() in refused or name.lower() in _NEVER:
            raise PermissionError(f"the function `{name}` is not for queries here")


def find_files(sql: str, files: FilesBelow, tables: Container[str]) -> list[FileUse]:
    """Find the files that a query names as tables or gives to a reader.

    Raises:
        FileNotFoundError: There is no such file.
        PermissionError: It lies outside the root.
    """
    uses: list[FileUse] = []
    tokens = tokens_of(sql)
    index = 0
    while index < len(tokens):
        after = _reader_arguments(tokens, index)
        if after is not None:
            uses += [_for_reader(token, is_alone, files) for token, is_alone in after]
            index += 1
            continue
        use = _as_table(tokens, index, files, tables)
        if use is not None:
            uses.append(use)
        index += 1
    return uses


def spliced(sql: str, uses: list[FileUse]) -> str:
    """The query with its files' real paths in place."""
    raw = sql.encode()
    for use in sorted(uses, key=lambda item: item.start, reverse=True):
        if use.view is None:
            raw = raw[: use.start] + use.text.encode() + raw[use.end :]
    return raw.decode()


def _reader_arguments(tokens: list[Token], index: int) -> list[tuple[Token, bool]] | None:
    """The strings in `reader('..'` or `reader(['..', '..']`, each with whether it is alone."""
    name = tokens[index].name
    if name is None or name.lower() not in _READERS:
        return None
    rest = _split_brackets(tokens[index + 1 : index + 3 + 2 * 1_000])
    if not rest or rest[0].text != "(":
        return None
    if len(rest) > 1 and rest[1].string is not None:
        return [(rest[1], True)]
    if len(rest) > 1 and rest[1].text == "[":
        strings: list[tuple[Token, bool]] = []
        for token in rest[2:]:
            if token.text == "]":
                break
            if token.string is not None:
                strings.append((token, False))
        return strings
    return None


def _split_brackets(tokens: list[Token]) -> list[Token]:
    """The lexer joins neighbouring operators, such as `([`: take them apart."""
    parts: list[Token] = []
    for token in tokens:
        if len(token.text) > 1 and set(token.text) <= set("()[],"):
            parts += [
                Token(character, token.start + offset, token.start + offset + 1)
                for offset, character in enumerate(token.text)
            ]
        else:
            parts.append(token)
    return parts


def _for_reader(token: Token, is_alone: bool, files: FilesBelow) -> FileUse:
    name = token.string or ""
    paths = _found(name, files)
    listed = ", ".join(map(_quoted, paths))
    text = f"[{listed}]" if is_alone and len(paths) > 1 else listed
    return FileUse(paths=paths, start=token.start, end=token.end, text=text)


def _as_table(
    tokens: list[Token], index: int, files: FilesBelow, tables: Container[str]
) -> FileUse | None:
    token = tokens[index]
    name = token.string if token.string is not None else token.name
    before = tokens[index - 1].text.lower() if index else ""
    if name is None or name in tables or not (token.text.startswith(("'", '"'))):
        return None
    is_table = before in _BEFORE_A_TABLE
    if (
        not is_table
        and before[-1:] not in _MAYBE_BEFORE_A_TABLE
        and before not in _MAYBE_BEFORE_A_TABLE
    ):
        return None
    reader = next((reader for ending, reader in _FORMATS if ending.search(name)), None)
    if reader is None:
        return None
    try:
        paths = _found(name, files)
    except OSError:
        # After a comma it may be a plain text; DuckDB itself refuses what is not allowed.
        if is_table:
            raise
        return None
    listed = ", ".join(map(_quoted, paths))
    quoted = '"' + name.replace('"', '""') + '"'
    view = f"CREATE OR REPLACE TEMP VIEW {quoted} AS SELECT * FROM {reader}([{listed}])"
    return FileUse(paths=paths, view=view)


def _found(name: str, files: FilesBelow) -> list[str]:
    paths = files.find(name)
    if not paths:
        raise FileNotFoundError(f"there is no file '{name}'{files.nearest(name)}")
    return paths


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"
