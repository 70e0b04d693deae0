"""The files plugin: useful below its root, and blind to everything else."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plugins.shipped import function_of, load_shipped, module_of

Files = Callable[..., Any]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "root-beside").mkdir()
    (tmp_path / "root-beside" / "secret.txt").write_text("secret", encoding="utf-8")
    monkeypatch.setenv("NIT_FILES_ROOT", str(folder))
    return folder


@pytest.fixture(params=["walked", "resolved"])
def files(root: Path, request: pytest.FixtureRequest) -> Files:
    """Calls a tool; both ways of keeping inside are tested (the second one is that of Windows)."""
    plugin = load_shipped("files")
    rooted = module_of(plugin, "rooted")
    assert rooted.CAN_WALK
    rooted.CAN_WALK = request.param == "walked"
    return lambda tool, **arguments: function_of(plugin, tool)(**arguments)


def test_what_is_written_can_be_read(files: Files, root: Path) -> None:
    written = files("write_file", path="notes/a.txt", content="héllo\n世界\n")
    assert written == {"path": "notes/a.txt", "bytes": 14, "created": True}
    assert (root / "notes" / "a.txt").read_text("utf-8") == "héllo\n世界\n"
    assert files("read_file", path="notes/a.txt") == "héllo\n世界\n"
    assert files("read_file", path="./notes//../notes/a.txt") == "héllo\n世界\n"
    assert files("read_file", path=str(root / "notes" / "a.txt")) == "héllo\n世界\n"
    assert [path.name for path in (root / "notes").iterdir()] == ["a.txt"]


def test_a_file_that_exists_is_not_lost_by_chance(files: Files, root: Path) -> None:
    (root / "a.txt").write_text("old", encoding="utf-8")
    (root / "a.txt").chmod(0o640)
    with pytest.raises(FileExistsError, match='pass if_exists="overwrite" or "append"'):
        files("write_file", path="a.txt", content="new")
    assert (root / "a.txt").read_text("utf-8") == "old"
    files("write_file", path="a.txt", content=" more", if_exists="append")
    assert (root / "a.txt").read_text("utf-8") == "old more"
    result = files("write_file", path="a.txt", content="new", if_exists="overwrite")
    assert result == {"path": "a.txt", "bytes": 3, "created": False}
    assert (root / "a.txt").read_text("utf-8") == "new"
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o640


def test_lines_can_be_read_from_the_middle(files: Files, root: Path) -> None:
    (root / "a.txt").write_bytes("one\r\ntwo\u2028still two\nthree\rfour".encode())
    read = {"path": "a.txt"}
    assert files("read_file", **read) == "one\r\ntwo\u2028still two\nthree\rfour"
    assert files("read_file", **read, start_line=2, max_lines=1) == "two\u2028still two\n"
    assert files("read_file", **read, start_line=3) == "three\rfour"
    assert files("read_file", **read, start_line=9) == ""


def test_a_long_file_must_be_read_in_parts(files: Files, root: Path) -> None:
    with (root / "long.txt").open("w", encoding="utf-8") as file:
        file.writelines(f"line {number}\n" for number in range(1, 1_000_001))
    with pytest.raises(ValueError, match="ask for some of its lines with start_line and max_lines"):
        files("read_file", path="long.txt")
    assert files("read_file", path="long.txt", start_line=999_999) == "line 999999\nline 1000000\n"
    with pytest.raises(ValueError, match="these lines are longer than"):
        files("read_file", path="long.txt", start_line=2)


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        ("déjà".encode("latin-1"), "latin-1", "déjà"),
        ("世界".encode("gbk"), "GBK", "世界"),
        ("世界".encode("utf-16"), None, "世界"),
        ("\ufeff世界".encode(), None, "世界"),
    ],
)
def test_other_encodings_are_read(
    files: Files, root: Path, content: bytes, encoding: str | None, text: str
) -> None:
    (root / "a.txt").write_bytes(content)
    assert files("read_file", path="a.txt", encoding=encoding) == text


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (
            b"caf\xe9 au lait",
            None,
            'is no UTF-8 text .byte 3.: name its encoding, such as encoding="latin-1"',
        ),
        (b"\x89PNG\x0d\x0a\0\0", None, "is no text file"),
        (b"x", "zlib", "'zlib' is no text encoding"),
        (b"x", "punycode", "'punycode' is no text encoding"),
        (b"x", "no\0such", "is no text encoding"),
        (b"\xff\xfe", "utf-8", "is no utf-8 text"),
    ],
)
def test_what_is_no_text_is_not_read(
    files: Files, root: Path, content: bytes, encoding: str | None, message: str
) -> None:
    (root / "a.bin").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        files("read_file", path="a.bin", encoding=encoding)


def test_folders_are_listed_in_order(files: Files, root: Path) -> None:
    (root / "b" / "c").mkdir(parents=True)
    (root / "b" / "c" / "x.csv").write_text("1", encoding="utf-8")
    (root / "a.csv").write_text("12", encoding="utf-8")
    (root / ".hidden").write_text("", encoding="utf-8")
    (root / "link").symlink_to(root / "a.csv")

    def listed(**arguments: object) -> list[tuple[str, str, int]]:
        found = files("list_files", **arguments)
        return [
            (entry["path"], entry["kind"], entry["bytes"])
            for entry in found
            if entry["kind"] == "file"
        ]

    assert [e["path"] for e in files("list_files")] == ["a.csv", "b", "link"]
    assert [e["kind"] for e in files("list_files")] == ["file", "folder", "link"]
    assert listed(recursive=True) == [("a.csv", "file", 2), ("b/c/x.csv", "file", 1)]
    assert listed(recursive=True, pattern="b/*") == [("b/c/x.csv", "file", 1)]
    assert listed(hidden=True) == [(".hidden", "file", 0), ("a.csv", "file", 2)]
    assert listed(path="b", recursive=True) == [("b/c/x.csv", "file", 1)]
    assert files("list_files")[0]["modified"].endswith("+00:00")


def test_lines_are_found(files: Files, root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("import os\nOS = 1\n# no\n", encoding="utf-8")
    (root / "b.txt").write_text("os again", encoding="utf-8")
    (root / "c.bin").write_bytes(b"os\0os")
    assert files("search_files", text="os") == [
        {"path": "b.txt", "line": 1, "text": "os again"},
        {"path": "src/a.py", "line": 1, "text": "import os"},
        {"path": "src/a.py", "line": 2, "text": "OS = 1"},
    ]
    assert files("search_files", text="OS", match_case=True, pattern="*.py") == [
        {"path": "src/a.py", "line": 2, "text": "OS = 1"}
    ]
    assert len(files("search_files", text="os", max_results=1)) == 1


def test_a_wrong_name_gets_a_near_one(files: Files, root: Path) -> None:
    (root / "sales.csv").write_text("", encoding="utf-8")
    with pytest.raises(
        FileNotFoundError, match=r"there is no file `sale.csv`: did you mean `sales.csv`\?"
    ):
        files("read_file", path="sale.csv")
    with pytest.raises(FileNotFoundError):
        files("list_files", path="nowhere")


OUTSIDE = [
    "../secret.txt",
    "/etc/passwd",
    "a/../../secret.txt",
    "./../secret.txt",
    "..",
    "../root-beside/secret.txt",
    "//etc/passwd",
    "ROOT-beside/secret.txt",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_outside(files: Files, root: Path, path: str) -> None:
    (root / "a").mkdir()
    path = path.replace("ROOT", str(root))
    for tool, more in (("read_file", {}), ("list_files", {}), ("search_files", {"text": "secret"})):
        with pytest.raises(PermissionError, match="leads outside the working folder"):
            files(tool, path=path, **more)
    for how in ("error", "overwrite", "append"):
        with pytest.raises(PermissionError):
            files("write_file", path=path, content="evil", if_exists=how)
    assert (root.parent / "secret.txt").read_text("utf-8") == "secret"


def test_no_link_leads_outside(files: Files, root: Path) -> None:
    outside = root.parent
    (root / "file").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    (root / "relative").symlink_to("../secret.txt")
    (root / "chain").symlink_to("file")
    (root / "new").symlink_to(outside / "new.txt")
    (root / "round").symlink_to("round")
    paths = ["file", "folder/secret.txt", "relative", "chain", "folder/root-beside/secret.txt"]
    for path in paths:
        with pytest.raises(PermissionError):
            files("read_file", path=path)
        with pytest.raises(PermissionError):
            files("write_file", path=path, content="evil", if_exists="overwrite")
    with pytest.raises(PermissionError):
        files("write_file", path="new", content="evil")
    with pytest.raises(PermissionError):
        files("write_file", path="folder/made/x.txt", content="evil")
    with pytest.raises(PermissionError):
        files("list_files", path="folder")
    with pytest.raises((OSError, RuntimeError)):
        files("read_file", path="round")
    assert files("search_files", text="secret") == []
    assert [e["path"] for e in files("list_files", recursive=True)] == sorted(
        ["file", "folder", "relative", "chain", "new", "round"]
    )
    assert (outside / "secret.txt").read_text("utf-8") == "secret"
    assert not (outside / "new.txt").exists()
    assert not (outside / "made").exists()


def test_a_link_inside_is_followed(files: Files, root: Path) -> None:
    (root / "data").mkdir()
    (root / "data" / "a.txt").write_text("inside", encoding="utf-8")
    (root / "relative").symlink_to("data/a.txt")
    (root / "absolute").symlink_to(root / "data")
    (root / "data" / "up").symlink_to("../data/a.txt")
    assert files("read_file", path="relative") == "inside"
    assert files("read_file", path="absolute/a.txt") == "inside"
    assert files("read_file", path="data/up") == "inside"
    files("write_file", path="relative", content="changed", if_exists="overwrite")
    assert (root / "relative").is_symlink()
    assert (root / "data" / "a.txt").read_text("utf-8") == "changed"


def test_a_root_that_is_a_link_itself_is_the_folder_behind_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.txt").write_text("inside", encoding="utf-8")
    link = root.parent / "link"
    link.symlink_to(root)
    monkeypatch.setenv("NIT_FILES_ROOT", str(link))
    read_file = function_of(load_shipped("files"), "read_file")
    assert read_file(path="a.txt") == "inside"
    assert read_file(path=str(link / "a.txt")) == "inside"
    assert read_file(path=str(root / "a.txt")) == "inside"


def test_special_files_are_refused_without_waiting(files: Files, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        # The path of a socket must be short.
        os.chdir(root)
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
    (root / "folder").mkdir()
    for path, kind in (("pipe", "a pipe"), ("socket", "a socket"), ("folder", "a folder")):
        for call in (
            lambda path=path: files("read_file", path=path),
            lambda path=path: files("write_file", path=path, content="x", if_exists="overwrite"),
            lambda path=path: files("write_file", path=path, content="x", if_exists="append"),
        ):
            with pytest.raises(PermissionError, match=f"is {kind}, not a regular file"):
                call()
    assert files("search_files", text="x") == []


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no devices here")
def test_devices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIT_FILES_ROOT", "/dev")
    read_file = function_of(load_shipped("files"), "read_file")
    with pytest.raises(PermissionError, match="`zero` is a device, not a regular file"):
        read_file(path="zero")


@pytest.mark.parametrize("path", ["", "\0", "a\0b", "a.txt\0.png"])
def test_names_with_nul_and_empty_ones_are_refused(files: Files, path: str) -> None:
    with pytest.raises(ValueError, match="holds no NUL"):
        files("read_file", path=path)
    with pytest.raises(ValueError, match="holds no NUL"):
        files("write_file", path=path, content="x")


@pytest.mark.parametrize(
    "path", ["x" * 300, "/".join("x" * 10 for _ in range(2000)), "~", "~root/.bashrc"]
)
def test_odd_names_are_plain_errors(files: Files, path: str) -> None:
    with pytest.raises(OSError):
        files("read_file", path=path)


def test_a_folder_swapped_for_a_link_is_not_entered(root: Path) -> None:
    """Between the look at a name and its opening, the name may come to mean something else."""
    plugin = load_shipped("files")
    rooted = module_of(plugin, "rooted")
    (root / "folder").mkdir()
    real_stat = os.stat

    def stat_then_swap(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        result = real_stat(path, *args, **kwargs)
        if path == "folder" and "dir_fd" in kwargs:
            (root / "folder").rmdir()
            (root / "folder").symlink_to(root.parent)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rooted.os, "stat", stat_then_swap)
        with pytest.raises(OSError, match=r"folder/secret\.txt"):
            function_of(plugin, "read_file")(path="folder/secret.txt")


def test_too_much_text_is_not_written(files: Files, root: Path) -> None:
    with pytest.raises(ValueError, match="longer than 10,000,000 bytes"):
        files("write_file", path="a.txt", content="x" * 10_000_001)
    assert list(root.iterdir()) == []


def test_text_that_the_encoding_cannot_hold_leaves_nothing_behind(files: Files, root: Path) -> None:
    with pytest.raises(ValueError, match="write it as utf-8"):
        files("write_file", path="a.txt", content="世界", encoding="latin-1")
    with pytest.raises(ValueError, match="write it as utf-8"):
        files("write_file", path="a.txt", content="\ud800")
    assert list(root.iterdir()) == []


def test_a_failed_write_leaves_the_old_file_and_no_other(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = load_shipped("files")
    texts = module_of(plugin, "texts")
    (root / "a.txt").write_text("old", encoding="utf-8")

    def no_space(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(texts.os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        function_of(plugin, "write_file")(path="a.txt", content="new", if_exists="overwrite")
    assert [(p.name, p.read_text("utf-8")) for p in root.iterdir()] == [("a.txt", "old")]


def test_the_root_is_the_folder_of_now_where_none_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NIT_FILES_ROOT")
    monkeypatch.chdir(root)
    (root / "a.txt").write_text("here", encoding="utf-8")
    read_file = function_of(load_shipped("files"), "read_file")
    monkeypatch.chdir(root.parent)
    assert read_file(path="a.txt") == "here"


def test_a_root_that_is_not_there_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIT_FILES_ROOT", str(root / "gone"))
    read_file = function_of(load_shipped("files"), "read_file")
    with pytest.raises(FileNotFoundError, match=r"the working folder .*gone` is not there"):
        read_file(path="a.txt")
