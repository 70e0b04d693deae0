"""A small model on this machine: `%nit model local [FILE.gguf]`.

```
this process ── starts ──> python -m nit_kernel.model.local_server FILE     (llama.cpp)
             <── READY http://127.0.0.1:PORT/v1
             ── its standard input closes ──> it ends: no server outlives the process that began it
```
Without a file, Qwen's official one is fetched from its hub, once, and checked against a pinned sum.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from nit_kernel.errors import ModelError
from nit_kernel.model.download import PinnedFile, Progress, fetch

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

_HUB = "https://huggingface.co/Qwen"

OFFICIAL_FILES = {
    "qwen2.5-coder-1.5b": PinnedFile(
        name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        url=f"{_HUB}/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
    ),
    "qwen2.5-coder-0.5b": PinnedFile(
        name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        url=f"{_HUB}/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
    ),
}
"""The models that can be fetched by name."""

DEFAULT_MODEL = "qwen2.5-coder-1.5b"

READY = "NIT-READY "
"""What the server prints before its address when it answers."""

_START_SECONDS = 300.0
_STOP_SECONDS = 5.0
_LOG_LINES = 30


class LocalServer:
    """A running server for one model file. Close it, or use it as a context manager.

    Attributes:
        base_url: Its address, ending in `/v1`.
        model: The model's name there.
        path: The file that it serves.
    """

    base_url: str
    model: str
    path: Path

    def __init__(
        self,
        path: Path,
        *,
        context_tokens: int = 8192,
        threads: int | None = None,
        start_s: float = _START_SECONDS,
    ) -> None:
        _check_file(path)
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelError(
                "a model on this machine needs the package `xllamacpp`",
                code="NIT684",
                hint="pip install 'nit-kernel[local]'",
            )
        self.path = path
        self.model = path.stem
        command = [sys.executable, "-m", "nit_kernel.model.local_server", str(path)]
        command += ["--context", str(context_tokens), "--alias", self.model]
        if threads is not None:
            command += ["--threads", str(threads)]
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            # Ctrl-C in a terminal is for the conversation, not for the server.
            start_new_session=True,
        )
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, name="nit-local-model", daemon=True)
        self._reader.start()
        atexit.register(self.close)
        try:
            self.base_url = self._wait_until_ready(start_s)
        except BaseException:
            self.close()
            raise

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self._process.poll() is None

    @property
    def log(self) -> str:
        """The last lines that the server wrote."""
        return "\n".join(self._log)

    def close(self) -> None:
        """End the process, by force if it does not go. May be called twice."""
        atexit.unregister(self.close)
        process = self._process
        if process.stdin is not None and not process.stdin.closed:
            process.stdin.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._reader.join(_STOP_SECONDS)
        if process.stdout is not None:
            process.stdout.close()

    def let_go(self) -> None:
        """Have the process end by itself, soon, for whoever cannot wait for it."""
        atexit.unregister(self.close)
        process = self._process
        if process.stdin is not None and not process.stdin.closed:
            process.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "running" if self.is_running else "ended"
        return f"<LocalServer {self.model} at {getattr(self, 'base_url', '?')}: {state}>"

    def _read(self) -> None:
        """Follow what the server prints, so that its pipe never fills."""
        output = self._process.stdout
        if output is None:
            return
        for line in output:
            if line.startswith(READY):
                self._address = line.removeprefix(READY).strip()
                self._ready.set()
            else:
                self._log.append(line.rstrip())
        self._ready.set()

    _address: str = ""

    def _wait_until_ready(self, seconds: float) -> str:
        in_time = self._ready.wait(seconds)
        if self._address:
            return self._address
        why = f"it did not answer within {seconds:g} s"
        if in_time:
            status = self._process.wait(_STOP_SECONDS)
            said = next((line for line in reversed(self._log) if line.strip()), "nothing")
            why = f"it ended with status {status} and said: {said[:300]}"
        raise ModelError(
            f"the server for `{self.path.name}` did not start: {why}",
            code="NIT685",
            hint="check that the file is a whole GGUF model and that memory is free",
        )


def local_model(
    file: str | os.PathLike[str] | None = None,
    *,
    context_tokens: int = 8192,
    threads: int | None = None,
    progress: Progress | None = None,
) -> LocalServer:
    """Serve a model on this machine.

    Args:
        file: A GGUF file, or the name of one of `OFFICIAL_FILES`; the default one if left out. An
            official file is fetched first if it is not there yet.
        context_tokens: How much the model can read at once.
        threads: How many threads it computes with; all processors by default.
        progress: Told of the bytes while a file is fetched.

    Raises:
        ModelError: The file cannot be had, is no GGUF, or the server does not start.
    """
    path = find_file(file, progress=progress)
    return LocalServer(path, context_tokens=context_tokens, threads=threads)


def find_file(
    file: str | os.PathLike[str] | None = None, *, progress: Progress | None = None
) -> Path:
    """Return the path of a person's file, or of an official one, fetched if need be."""
    name = os.fspath(file) if file is not None else DEFAULT_MODEL
    official = OFFICIAL_FILES.get(name.lower())
    if official is not None:
        return fetch(official, model_folder(), progress=progress)
    path = Path(name).expanduser()
    if not path.is_file():
        known = ", ".join(OFFICIAL_FILES)
        raise ModelError(
            f"there is no file {path}",
            code="NIT683",
            hint=f"give the path of a GGUF file, or one of the names {known}",
        )
    return path


def model_folder() -> Path:
    """Return where fetched models are kept: `NIT_MODEL_DIR`, else the user's cache."""
    chosen = os.environ.get("NIT_MODEL_DIR")
    if chosen:
        return Path(chosen).expanduser()
    cache = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "nit-kernel" / "models"


def _check_file(path: Path) -> None:
    with path.open("rb") as source:
        if source.read(4) != b"GGUF":
            raise ModelError(
                f"{path} is no GGUF file",
                code="NIT683",
                hint="llama.cpp reads models in this form; most hubs offer them as `..-GGUF`",
            )
