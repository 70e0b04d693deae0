"""The data plugin: SQL over files below the root and over passed tables, and nothing else."""

import asyncio
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from plugins.shipped import function_of, load_shipped, module_of

Rows = list[dict[str, Any]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "sales.csv").write_text("region,total\nnorth,5\nsouth,7\n", encoding="utf-8")
    (folder / "sub" / "a.csv").write_text("n\n1\n", encoding="utf-8")
    (folder / "sub" / "b.csv").write_text("n\n2\n", encoding="utf-8")
    (folder / "rows.jsonl").write_text('{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    (folder / "packed.csv.gz").write_bytes(gzip.compress(b"n\n3\n"))
    (folder / "it's.csv").write_text("n\n4\n", encoding="utf-8")
    (folder / "数据.csv").write_text("列\n5\n", encoding="utf-8")
    (tmp_path / "secret.csv").write_text("secret\nkey\n", encoding="utf-8")
    monkeypatch.setenv("NIT_FILES_ROOT", str(folder))
    # Relative names belong to the root, wherever the process is.
    monkeypatch.chdir("/")
    return folder


@pytest.fixture
def query(root: Path) -> Callable[..., pd.DataFrame]:
    call = function_of(load_shipped("data"), "query")
    return lambda sql, **more: asyncio.run(call(sql=sql, **more))


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT sum(total) AS s FROM 'sales.csv'", [{"s": 12.0}]),
        ("SELECT total FROM \"sales.csv\" WHERE region = 'north'", [{"total": 5}]),
        ("FROM './sub/../sales.csv' LIMIT 1", [{"region": "north", "total": 5}]),
        ("FROM 'sub/*.csv' ORDER BY n", [{"n": 1}, {"n": 2}]),
        ("SELECT count(*) AS c FROM read_text('**/*.csv')", [{"c": 5}]),
        ("FROM read_csv(['sub/a.csv', 'sub/b.csv']) ORDER BY n", [{"n": 1}, {"n": 2}]),
        ("FROM read_csv('sub/*.csv', header = true) ORDER BY n", [{"n": 1}, {"n": 2}]),
        ("FROM 'rows.jsonl'", [{"a": 1}, {"a": 2}]),
        ("FROM 'packed.csv.gz'", [{"n": 3}]),
        ("FROM 'it''s.csv'", [{"n": 4}]),
        ("FROM read_csv('it''s.csv')", [{"n": 4}]),
        ("FROM '数据.csv'", [{"列": 5}]),
        ("SELECT t.n FROM 'sub/a.csv' t JOIN 'packed.csv.gz' u ON t.n < u.n", [{"n": 1}]),
        ("SELECT b.n FROM 'sub/a.csv' AS a, 'sub/b.csv' AS b", [{"n": 2}]),
        ("SELECT 'sales.csv' AS a, '/etc/x.csv' AS b", [{"a": "sales.csv", "b": "/etc/x.csv"}]),
        ("SELECT content FROM read_text('sub/a.csv')", [{"content": "n\n1\n"}]),
        ("WITH t AS (FROM 'sub/a.csv') SELECT n + 1 AS m FROM t; -- 'b.csv'", [{"m": 2}]),
        ("FROM /* 'x.csv' */ 'sub/a.csv' -- read_text('/etc/passwd')", [{"n": 1}]),
        ("SELECT 1 AS one WHERE false", []),
    ],
)
def test_files_below_the_root_are_tables(
    query: Callable[..., pd.DataFrame], sql: str, rows: Rows
) -> None:
    result = query(sql)
    assert isinstance(result, pd.DataFrame)
    assert result.to_dict("records") == rows


@pytest.mark.parametrize(
    "sql", ["DESCRIBE 'sales.csv'", "SUMMARIZE 'sales.csv'", "EXPLAIN FROM 'sales.csv'"]
)
def test_a_table_can_be_described(query: Callable[..., pd.DataFrame], sql: str) -> None:
    assert len(query(sql)) >= 1


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
        [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
        ({"a": 1, "b": "x"}, {"a": 2, "b": "y"}),
        {"a": [1, 2], "b": ["x", "y"]},
        pd.DataFrame({"b": ["x", "y"]}, index=pd.Index([1, 2], name="a")),
    ],
    ids=["DataFrame", "objects", "a tuple", "columns", "an index"],
)
def test_passed_tables_have_the_names_they_are_given(
    query: Callable[..., pd.DataFrame], table: object
) -> None:
    result = query('SELECT a, b FROM "my table" ORDER BY a DESC', tables={"my table": table})
    assert result.to_dict("records") == [{"a": 2, "b": "y"}, {"a": 1, "b": "x"}]


def test_other_values_become_tables_too(query: Callable[..., pd.DataFrame]) -> None:
    assert query("SELECT sum(value) s FROM t", tables={"t": [1, 2]})["s"].tolist() == [3]
    assert query("SELECT column1 FROM t", tables={"t": [[1, "x"]]})["column1"].tolist() == ["x"]
    assert query("FROM t", tables={"t": {"a": 1}}).to_dict("records") == [{"a": 1}]
    assert query("FROM t", tables={"t": pd.Series([1], name="s")})["s"].tolist() == [1]
    with pytest.raises(TypeError, match="`t` is no table"):
        query("FROM t", tables={"t": 5})
    with pytest.raises(TypeError, match="`tables` is an object"):
        query("FROM t", tables=[1])


def test_a_passed_table_comes_before_a_file_of_its_name(query: Callable[..., pd.DataFrame]) -> None:
    assert query("FROM 'sales.csv'", tables={"sales.csv": [{"a": 1}]}).to_dict("records") == [
        {"a": 1}
    ]


def test_values_fill_placeholders(query: Callable[..., pd.DataFrame]) -> None:
    result = query(
        "SELECT region FROM 'sales.csv' WHERE total > $low AND region <> $name",
        values={"low": 5, "name": "'; DROP TABLE x; --"},
    )
    assert result["region"].tolist() == ["south"]


def test_the_passed_table_is_not_changed(query: Callable[..., pd.DataFrame]) -> None:
    frame = pd.DataFrame({1: [1, 2]})
    query('SELECT "1" * 2 AS x FROM t', tables={"t": frame})
    assert list(frame.columns) == [1]


OUTSIDE = [
    "FROM '../secret.csv'",
    "FROM 'sub/../../secret.csv'",
    "FROM 'ROOT/../secret.csv'",
    "FROM read_csv('../secret.csv')",
    "FROM read_csv(['sales.csv', '../secret.csv'])",
    "FROM \"read_text\"('/etc/passwd')",
    "FROM main.read_text('/etc/passwd')",
    "FROM read_text('/etc/passwd')",
    "FROM read_text(['/etc/passwd'])",
    "FROM read_blob('/proc/self/environ')",
    "FROM read_text('../' || 'secret.csv')",
    "FROM read_text(concat('..', '/secret.csv'))",
    "FROM read_text($$/etc/passwd$$)",
    "FROM read_text(E'/etc/passwd')",
    "FROM read_text($path)",
    "FROM read_csv('file:///etc/passwd')",
    "FROM sniff_csv('/etc/passwd')",
    "FROM parquet_schema('/etc/passwd')",
    "FROM read_json('/etc/passwd')",
    "FROM read_duckdb('/etc/x.db')",
    "FROM glob('/etc/*')",
    "FROM glob('../*')",
    "SELECT * FROM query('FROM read_text(''/etc/passwd'')')",
    "SELECT * FROM query_table('/etc/passwd')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''/etc/passwd'')'))",
    "FROM 'http://127.0.0.1:9/x.csv'",
    "FROM read_csv('http://127.0.0.1:9/x.csv')",
    "FROM read_parquet('s3://bucket/x.parquet')",
    "FROM read_csv('https://example.com/x.csv')",
    "FROM '/dev/stdin'",
    "FROM read_csv('/dev/stdin')",
    "FROM duckdb_secrets()",
    "FROM which_secret('s3://x', 's3')",
    "FROM duckdb_extensions()",
    "FROM duckdb_settings()",
    "FROM sqlite_scan('x.db', 't')",
    "FROM postgres_scan('', '', '')",
    "FROM enable_logging(storage = 'file')",
    "FROM enable_profiling()",
    "FROM checkpoint()",
    "SELECT sleep_ms(1000)",
    "SELECT write_log('x')",
    "SELECT getenv('HOME')",
]


@pytest.mark.parametrize("sql", OUTSIDE)
def test_no_query_reads_anything_else(
    query: Callable[..., pd.DataFrame], root: Path, sql: str
) -> None:
    with pytest.raises((PermissionError, FileNotFoundError, ValueError)) as caught:
        query(
            sql.replace("ROOT", str(root)),
            values={"path": "/etc/passwd"} if "$path" in sql else None,
        )
    assert "root:" not in str(caught.value)
    assert "key" not in str(caught.value)


WRITING = [
    "COPY (SELECT 1) TO 'out.csv'",
    "COPY (SELECT 1) TO '/tmp/out.csv'",
    "CREATE TABLE t AS SELECT 1",
    "CREATE VIEW v AS SELECT 1",
    "CREATE MACRO m(p) AS TABLE FROM read_text(p)",
    "CREATE SECRET (TYPE s3, KEY_ID 'x', SECRET 'y')",
    "INSERT INTO t VALUES (1)",
    "DELETE FROM t",
    "DROP TABLE t",
    "ATTACH 'x.db'",
    "ATTACH ':memory:' AS other",
    "EXPORT DATABASE 'out'",
    "IMPORT DATABASE 'out'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "FORCE INSTALL spatial FROM community",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET allowed_paths",
    "PRAGMA enable_profiling",
    "PRAGMA database_list",
    "CALL enable_logging()",
    "CHECKPOINT",
    "VACUUM",
    "USE other",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "BEGIN",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY (SELECT 1) TO 'out.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'",
    "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
    "EXPLAIN (ANALYZE, FORMAT json) CREATE TABLE t AS SELECT 1",
    "EXPLAIN ANALYZE COPY (FROM 'sales.csv') TO 'ROOT/sales.csv' (USE_TMP_FILE false)",
    "EXPLAIN /* x */ ANALYZE --\n COPY (FROM 'sales.csv') TO 'ROOT/sales.csv' (USE_TMP_FILE false)",
    "EXPLAIN EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
    "WITH t AS (COPY (SELECT 1) TO 'out.csv') FROM t",
    "FROM (COPY (SELECT 1) TO 'out.csv')",
    "WITH t AS (INSERT INTO x VALUES (1) RETURNING *) FROM t",
    "",
    "-- nothing",
    ";;",
]


@pytest.mark.parametrize("sql", WRITING)
def test_no_query_writes_installs_or_changes_settings(
    query: Callable[..., pd.DataFrame], root: Path, sql: str
) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    with pytest.raises((PermissionError, ValueError)):
        query(sql.replace("ROOT", str(root)))
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert not Path("/tmp/out.csv").exists()


def test_links_that_lead_outside_are_as_good_as_not_there(
    query: Callable[..., pd.DataFrame], root: Path
) -> None:
    (root / "link.csv").symlink_to(root.parent / "secret.csv")
    (root / "folder").symlink_to(root.parent)
    (root / "inside.csv").symlink_to("sub/a.csv")
    (root / "round.csv").symlink_to("round.csv")
    for sql in (
        "FROM 'link.csv'",
        "FROM read_csv('link.csv')",
        "FROM 'folder/secret.csv'",
        "FROM 'folder/*.csv'",
        "FROM read_text('folder/root/../secret.csv')",
        "FROM 'round.csv'",
    ):
        with pytest.raises(OSError, match=r"outside|no file"):
            query(sql)
    assert query("FROM 'inside.csv'").to_dict("records") == [{"n": 1}]
    assert query("SELECT count(*) AS c FROM read_text('*.csv')")["c"].tolist() == [4]


def test_special_files_are_not_opened(query: Callable[..., pd.DataFrame], root: Path) -> None:
    os.mkfifo(root / "pipe.csv")
    (root / "folder.csv").mkdir()
    for sql in ("FROM 'pipe.csv'", "FROM read_csv('pipe.csv')", "FROM 'folder.csv'"):
        with pytest.raises(PermissionError, match="is no regular file"):
            query(sql)
    assert query("FROM 'sub/*.csv' SELECT count(*) AS c")["c"].tolist() == [2]


def test_names_with_nul_are_refused(query: Callable[..., pd.DataFrame]) -> None:
    for sql in ("FROM 'sales\0.csv'", "FROM read_csv('sales.csv\0')", "SELECT 1\0"):
        with pytest.raises((ValueError, PermissionError, OSError)):
            query(sql)


def test_variables_of_the_calling_code_are_no_tables(query: Callable[..., pd.DataFrame]) -> None:
    frame = pd.DataFrame({"a": [1]})
    with pytest.raises(ValueError, match="Table with name frame does not exist"):
        query("FROM frame")
    assert len(frame) == 1


def test_a_wrong_name_gets_a_near_one(query: Callable[..., pd.DataFrame]) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"there is no file 'sub/c.csv': did you mean 'sub/"
    ):
        query("FROM 'sub/c.csv'")
    with pytest.raises(ValueError, match=r'Referenced column "totl" not found'):
        query("SELECT totl FROM 'sales.csv'")


def test_a_result_that_is_too_long_is_an_error(query: Callable[..., pd.DataFrame]) -> None:
    with pytest.raises(ValueError, match="the result has more than 1,000,000 rows"):
        query("FROM range(1000001)")
    assert len(query("FROM range(300000)")) == 300_000
    with pytest.raises(ValueError, match="more than 10 rows"):
        query("FROM range(11)", max_rows=10)


def test_memory_is_bounded(query: Callable[..., pd.DataFrame]) -> None:
    with pytest.raises(ValueError, match=r"Out of Memory|failed to pin|could not allocate"):
        query("SELECT list(range) FROM range(400000000)")


def test_a_packed_bomb_ends_in_numbers_or_an_error(
    query: Callable[..., pd.DataFrame], root: Path
) -> None:
    (root / "bomb.csv.gz").write_bytes(gzip.compress(b"n\n" + b"1\n" * 3_000_000, 1))
    assert query("SELECT sum(n) AS s FROM 'bomb.csv.gz'")["s"].tolist() == [3_000_000]
    (root / "line.csv.gz").write_bytes(gzip.compress(b"x" * 10_000_000, 1))
    with pytest.raises(ValueError, match=r"line|size"):
        query("SELECT count(*) FROM 'line.csv.gz'")


def test_cancelling_stops_the_database(root: Path) -> None:
    plugin = load_shipped("data")
    querying = module_of(plugin, "querying")
    ended: list[str] = []
    real_run = querying.Query.run

    def run(self: Any, *arguments: Any) -> Any:
        try:
            return real_run(self, *arguments)
        except ValueError as error:
            ended.append(str(error).partition("\n")[0])
            raise

    async def cancel() -> None:
        call = function_of(plugin, "query")
        task = asyncio.get_running_loop().create_task(
            call(sql="SELECT count(*) FROM range(100000000) a, range(100000) b")
        )
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(querying.Query, "run", run)
        # `asyncio.run` waits for the thread: it would go on for hours.
        asyncio.run(cancel())
    assert ended == ["INTERRUPT Error: Interrupted!"]
