"""A web server on loopback, and a net in which public names lead to it."""

import contextlib
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

PUBLIC = "93.184.215.14"
"""A public address; in the net of these tests it leads to the server on loopback."""

Answer = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """Answers each path as `pages` says, and notes which were asked for."""

    def __init__(self, pages: dict[str, Answer], *, certificate: Path | None = None) -> None:
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.asked.append(f"{self.headers['Host']}{self.path}")
                answer = pages.get(self.path.partition("?")[0])
                if answer is None:
                    self.send_error(404)
                else:
                    answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                """A reader that leaves early is what these tests are about."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]

    @contextlib.contextmanager
    def running(self) -> Iterator["Server"]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def page(
    body: bytes | str,
    kind: str = "text/html; charset=utf-8",
    *,
    status: int = 200,
    **headers: str,
) -> Answer:
    """An answer with a body."""
    raw = body.encode() if isinstance(body, str) else body

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        if kind:
            request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        with contextlib.suppress(ConnectionError):
            request.wfile.write(raw)

    return answer


def redirect(target: str, status: int = 302) -> Answer:
    """An answer that leads on."""
    return page("", status=status, Location=target)


class Net:
    """Names and what they stand for; each look-up takes the next of its answers."""

    def __init__(self, port: int, names: dict[str, list[list[str]]] | None = None) -> None:
        self.port = port
        self.names = names or {}
        self.looked_up: list[str] = []
        self.connected: list[str] = []

    async def resolve(self, host: str, port: int) -> list[Any]:
        self.looked_up.append(host)
        answers = self.names.get(host)
        if answers is None:
            try:
                return [ipaddress.ip_address(host)]
            except ValueError:
                raise OSError("no such name") from None
        return [
            ipaddress.ip_address(a) for a in (answers.pop(0) if len(answers) > 1 else answers[0])
        ]

    def backend(self, httpcore: ModuleType) -> Any:
        net = self

        class Backend(httpcore.AnyIOBackend):  # type: ignore[name-defined, misc]
            async def connect_tcp(self, host: str, port: int, *args: Any, **kwargs: Any) -> Any:
                net.connected.append(host)
                return await super().connect_tcp("127.0.0.1", net.port, *args, **kwargs)

        return Backend()
