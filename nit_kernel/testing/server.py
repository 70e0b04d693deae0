"""A real HTTP server on loopback that speaks both of OpenAI's APIs for a `FakeModel`.

```
with openai_server(FakeModel([..])) as server:
    client pointed at server.base_url
    server.requests          every request, headers and body
```
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from nit_kernel.testing.fake_model import End, FakeModel, Piece
from nit_kernel.testing.parts import Disconnect, Pause, RawDelta, Refuse, Think, Wait
from nit_kernel.testing.recorded import RecordedRequest
from nit_kernel.testing.responses_events import response_body, response_events

_POLL_SECONDS = 0.005
_LONGEST_BODY = 64_000_000


class _HangUpError(Exception):
    """The connection is to be closed without an end."""


@dataclass(frozen=True, slots=True)
class OpenAIServer:
    """A running server.

    Attributes:
        base_url: Its address, ending in `/v1`.
        model: The model behind it.
    """

    base_url: str
    model: FakeModel

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request for a reply so far, in order."""
        return self.model.requests


@dataclass(frozen=True, slots=True)
class _Behaviour:
    model: FakeModel
    api_key: str | None
    refuses: tuple[str, ...]
    owned_by: str
    stopping: threading.Event = field(default_factory=threading.Event)


@contextmanager
def openai_server(
    model: FakeModel,
    *,
    api_key: str | None = None,
    refuses: Sequence[str] = (),
    owned_by: str = "nit-testing",
) -> Generator[OpenAIServer]:
    """Serve a model over HTTP while the block runs.

    Chat Completions and Responses, streamed or not, and the list of models.

    Args:
        model: Its turns are the replies.
        api_key: The key that requests must carry; `None`: any, or none.
        refuses: Fields of the body that are answered with status 400, such as `stream_options`.
        owned_by: What the list of models says of its owner; clients guess the server from it.
    """
    behaviour = _Behaviour(model, api_key, tuple(refuses), owned_by)

    class Handler(_Handler):
        pass

    Handler.behaviour = behaviour
    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        host, port = cast("tuple[str, int]", server.server_address[:2])
        yield OpenAIServer(f"http://{host}:{port}/v1", model)
    finally:
        behaviour.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up in tests all the time; that is no news."""


class _Handler(BaseHTTPRequestHandler):
    behaviour: _Behaviour
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer the list of models."""
        if self.path.rstrip("/").endswith("/models"):
            name, owner = self.behaviour.model.name, self.behaviour.owned_by
            entry = {"id": name, "object": "model", "created": 0, "owned_by": owner}
            self._send_json(200, {"object": "list", "data": [entry]})
        else:
            self._send_error(Refuse(404, f"no such page: {self.path}"))

    def do_POST(self) -> None:
        """Answer a request for a reply."""
        body = self._read_body()
        if body is None:
            return
        request = RecordedRequest(body, path=self.path, headers=dict(self.headers.items()))
        path = self.path.rstrip("/")
        if not path.endswith(("/chat/completions", "/responses")):
            self._send_error(Refuse(404, f"no such page: {self.path}"))
            return
        problem = self._problem(request)
        if problem is not None:
            self._send_error(problem)
            return
        try:
            pieces = self.behaviour.model.begin(request)
        except AssertionError as error:
            self._send_error(Refuse(500, str(error), headers={"x-should-retry": "false"}))
            return
        try:
            self._answer(request, pieces, path)
        except (_HangUpError, OSError):
            self._hang_up()

    # What the request is answered with

    def _problem(self, request: RecordedRequest) -> Refuse | None:
        key = self.behaviour.api_key
        sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        if key is not None and sent != key:
            return Refuse(401, f"Incorrect API key provided: {sent}", code="invalid_api_key")
        for name in self.behaviour.refuses:
            if name in request:
                return Refuse(400, f"Unrecognized request argument supplied: {name}")
        return None

    def _answer(self, request: RecordedRequest, pieces: list[Piece], path: str) -> None:
        reads = iter(pieces)
        held: list[Piece] = []
        for piece in reads:
            # Waits and refusals before the first word come before the status line.
            if isinstance(piece, Wait | Pause):
                self._hold(piece, request)
            elif isinstance(piece, Refuse):
                self._send_error(piece)
                return
            elif isinstance(piece, Disconnect):
                raise _HangUpError
            else:
                held.append(piece)
                break
        spoken = self._spoken([*held, *reads], request)
        is_chat = path.endswith("/chat/completions")
        name = str(request.get("model") or self.behaviour.model.name)
        if request.get("stream"):
            self._start_stream()
            options: Any = request.get("stream_options") or {}
            events = (
                _chat_events(spoken, name, counted=bool(options.get("include_usage")))
                if is_chat
                else response_events(spoken, name)
            )
            for event in events:
                self._send_chunk(event)
            self.wfile.write(b"0\r\n\r\n")
        else:
            whole = list(spoken)
            failed = next((each for each in whole if isinstance(each, Refuse)), None)
            if failed is not None:
                self._send_error(failed)
                return
            make: Callable[[list[Piece], str], dict[str, Any]]
            make = _chat_completion if is_chat else response_body
            self._send_json(200, make(whole, name))

    def _spoken(self, pieces: list[Piece], request: RecordedRequest) -> Iterator[Piece]:
        """Yield what is said, holding where the reply holds and hanging up where it breaks."""
        for piece in pieces:
            if isinstance(piece, Wait | Pause):
                self._hold(piece, request)
            elif isinstance(piece, Disconnect):
                raise _HangUpError
            else:
                if self._client_is_gone():
                    request.gone.set()
                    raise _HangUpError
                yield piece
                if isinstance(piece, Refuse):
                    return

    def _hold(self, piece: Wait | Pause, request: RecordedRequest) -> None:
        end = time.monotonic() + piece.seconds if isinstance(piece, Pause) else None
        event = piece.event if isinstance(piece, Wait) else self.behaviour.stopping
        while not event.wait(_POLL_SECONDS):
            if end is not None and time.monotonic() >= end:
                return
            if self._client_is_gone():
                request.gone.set()
                raise _HangUpError
            if self.behaviour.stopping.is_set():
                raise _HangUpError

    # The wire

    def _read_body(self) -> dict[str, Any] | None:
        length = int(self.headers.get("content-length") or 0)
        if length > _LONGEST_BODY:
            self._send_error(Refuse(413, "the body is too long"))
            return None
        try:
            body: Any = json.loads(self.rfile.read(length))
        except ValueError:
            self._send_error(Refuse(400, "the body is not JSON"))
            return None
        if not isinstance(body, dict):
            self._send_error(Refuse(400, "the body is not an object"))
            return None
        return cast("dict[str, Any]", body)

    def _send_json(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _send_error(self, refusal: Refuse) -> None:
        self._send_json(refusal.status, _error_body(refusal), dict(refusal.headers))

    def _start_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.wfile.flush()

    def _send_chunk(self, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _client_is_gone(self) -> bool:
        """Return whether the client has closed its end; it sends nothing while it waits."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        if not readable:
            return False
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def _hang_up(self) -> None:
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


def _error_body(refusal: Refuse) -> dict[str, Any]:
    kind = "server_error" if refusal.status >= 500 else "invalid_request_error"
    error = {"message": refusal.message, "type": kind, "param": None, "code": refusal.code}
    return {"error": error}


def _sse(data: object) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _chat_events(pieces: Iterator[Piece], model: str, *, counted: bool) -> Iterator[str]:
    """The events of a streamed Chat Completion."""

    def chunk(delta: dict[str, Any], **choice: Any) -> str:
        one = {"index": 0, "delta": delta, "finish_reason": None, **choice}
        return _sse(_chat_head(model, "chat.completion.chunk") | {"choices": [one]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces:
        match piece:
            case str():
                yield chunk({"content": piece})
            case Think(text=text, field=name):
                yield chunk({name: text})
            case RawDelta(entry=entry):
                yield chunk({"tool_calls": [dict(entry)]})
            case Refuse():
                yield _sse(_error_body(piece))
                return
            case End():
                named = {"stop_reason": piece.stop} if piece.stop else {}
                yield chunk({}, finish_reason=piece.finish, **named)
                if counted and piece.is_counted:
                    head = _chat_head(model, "chat.completion.chunk")
                    none: list[object] = []
                    yield _sse({**head, "choices": none, "usage": _chat_usage(piece)})
            case _:
                raise AssertionError(piece)
    yield "data: [DONE]\n\n"


def _chat_completion(pieces: list[Piece], model: str) -> dict[str, Any]:
    """The body of a Chat Completion that is not streamed."""
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    for piece in pieces:
        if isinstance(piece, Think):
            message[piece.field] = message.get(piece.field, "") + piece.text
    calls = join_calls(pieces)
    if calls:
        message["tool_calls"] = calls
    end = next(piece for piece in pieces if isinstance(piece, End))
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": end.finish}
    if end.stop:
        choice["stop_reason"] = end.stop
    head = _chat_head(model, "chat.completion")
    body = head | {"choices": [choice]}
    return body | {"usage": _chat_usage(end)} if end.is_counted else body


def join_calls(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    """The tool calls that well-behaved deltas add up to."""
    calls: dict[int, dict[str, Any]] = {}
    for piece in pieces:
        if not isinstance(piece, RawDelta):
            continue
        entry: dict[str, Any] = dict(piece.entry)
        index = int(entry.pop("index", len(calls)) or 0)
        call = calls.setdefault(index, {"function": {"name": "", "arguments": ""}})
        function: dict[str, Any] = entry.pop("function", None) or {}
        call.update(entry)
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""
    return [calls[index] for index in sorted(calls)]


def _chat_head(model: str, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-fake", "object": kind, "created": 0, "model": model}


def _chat_usage(end: End) -> dict[str, int]:
    return {
        "prompt_tokens": end.prompt_tokens,
        "completion_tokens": end.completion_tokens,
        "total_tokens": end.prompt_tokens + end.completion_tokens,
    }
