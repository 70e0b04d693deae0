"""Fetching a model file: resumed, checked, put in place whole; from a real server on loopback."""

from __future__ import annotations

import hashlib
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nit_kernel.errors import ModelError
from nit_kernel.model.download import PinnedFile, fetch, sha256_of
from nit_kernel.model.local import OFFICIAL_FILES, find_file, local_model, model_folder

CONTENT = bytes(range(256)) * 5_000
SUM = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Host:
    """A file server whose faults a test chooses, one a request."""

    url: str = ""
    ranges: list[str | None] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    content: bytes = CONTENT


@contextmanager
def file_host(*faults: str, content: bytes = CONTENT):
    host = Host(faults=list(faults), content=content)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args) -> None:
            pass

        def do_GET(self) -> None:
            fault = host.faults.pop(0) if host.faults else ""
            asked = self.headers.get("range")
            host.ranges.append(asked)
            if fault.isdigit():
                self.send_response(int(fault))
                self.send_header("content-length", "0")
                self.end_headers()
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            if fault == "no ranges":
                start = 0
            if start >= len(host.content):
                self.send_response(416)
                self.send_header("content-length", "0")
                self.end_headers()
                return
            body = host.content[start:]
            self.send_response(206 if start else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if fault == "break":
                body = body[: len(body) // 2]
            self.wfile.write(body)
            if fault == "break":
                self.wfile.flush()
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    host.url = f"http://127.0.0.1:{server.server_address[1]}/model.gguf"
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def pinned(host: Host, sha256: str = SUM) -> PinnedFile:
    return PinnedFile(name="model.gguf", url=host.url, sha256=sha256)


def test_a_file_is_fetched_once_and_its_progress_told(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    with file_host() as host:
        path = fetch(pinned(host), tmp_path / "new", progress=lambda *step: seen.append(step))
        again = fetch(pinned(host), tmp_path / "new")
    assert path == again == tmp_path / "new" / "model.gguf"
    assert path.read_bytes() == CONTENT
    assert host.ranges == [None]
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [each.name for each in path.parent.iterdir()] == ["model.gguf"]


def test_a_download_that_breaks_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with file_host("break", "500", "break") as host:
        path = fetch(pinned(host), tmp_path, pause_s=0)
    half, rest = len(CONTENT) // 2, len(CONTENT) - len(CONTENT) // 2
    assert path.read_bytes() == CONTENT
    later = half + rest // 2
    assert host.ranges == [None, f"bytes={half}-", f"bytes={half}-", f"bytes={later}-"]


def test_what_an_earlier_try_left_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "model.gguf.part").write_bytes(CONTENT[:1000])
    with file_host() as host:
        assert fetch(pinned(host), tmp_path).read_bytes() == CONTENT
    assert host.ranges == ["bytes=1000-"]


def test_a_whole_part_is_only_checked(tmp_path: Path) -> None:
    (tmp_path / "model.gguf.part").write_bytes(CONTENT)
    with file_host() as host:
        assert sha256_of(fetch(pinned(host), tmp_path)) == SUM


def test_a_server_without_ranges_sends_the_whole_again(tmp_path: Path) -> None:
    (tmp_path / "model.gguf.part").write_bytes(b"something else")
    with file_host("no ranges") as host:
        assert fetch(pinned(host), tmp_path).read_bytes() == CONTENT


def test_a_file_with_another_sum_is_thrown_away(tmp_path: Path) -> None:
    with file_host() as host, pytest.raises(ModelError) as caught:
        fetch(pinned(host, sha256="0" * 64), tmp_path)
    assert caught.value.code == "NIT682"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("faults", "tries"), [(["404"], 1), (["503"] * 20, 6)])
def test_a_file_that_cannot_be_had_says_why(tmp_path: Path, faults: list[str], tries: int) -> None:
    with file_host(*faults) as host, pytest.raises(ModelError) as caught:
        fetch(pinned(host), tmp_path, pause_s=0)
    assert caught.value.code == "NIT680"
    assert faults[0] in caught.value.message
    assert len(host.ranges) == tries


def test_a_disk_that_is_too_small_is_told_before_anything_is_written(tmp_path, monkeypatch) -> None:
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with file_host() as host, pytest.raises(ModelError) as caught:
        fetch(pinned(host), tmp_path)
    assert caught.value.code == "NIT681"
    assert list(tmp_path.iterdir()) == []


def test_official_files_are_pinned_and_kept_in_the_chosen_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("NIT_MODEL_DIR", str(tmp_path))
    assert model_folder() == tmp_path
    for name, file in OFFICIAL_FILES.items():
        assert len(file.sha256) == 64
        assert file.url.startswith("https://")
        (tmp_path / file.name).write_bytes(b"there already")
        assert find_file(name) == tmp_path / file.name


def test_a_missing_file_names_what_can_be_given(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        find_file(tmp_path / "nothing.gguf")
    assert caught.value.code == "NIT683"
    assert "qwen2.5-coder-1.5b" in str(caught.value.hint)


def test_a_file_of_another_form_is_refused_before_anything_starts(tmp_path: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_text("<html>", encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        local_model(path)
    assert caught.value.code == "NIT683"


def test_a_server_that_cannot_start_says_what_it_said(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(64))
    with pytest.raises(ModelError) as caught:
        local_model(path)
    assert caught.value.code == "NIT685"


def test_a_missing_wheel_names_the_extra(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModelError) as caught:
        local_model(path)
    assert (caught.value.code, caught.value.hint) == (
        "NIT684",
        "pip install 'nit-kernel[local]'",
    )
