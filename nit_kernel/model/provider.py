"""Real model servers, by the `openai` package (major version 3), which only this file imports.

```
Provider.stream(request) ─> wire.chat_body / responses_body ─> openai ─> chunks.* ─> StreamItem
```

Chat Completions and Responses, any base URL. The package retries a request with back-off before
its stream begins; a stream that breaks raises, and the conversation decides what to do. Errors come
out as `ModelError`, made outside the `except` block: the package's own exceptions hold the
server's text, which may hold the key, and a chained exception would show it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import ssl
import weakref
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import urlsplit

from nit_kernel.errors import ModelError
from nit_kernel.model import failures
from nit_kernel.model.chunks import ChatReader, ResponsesReader, ServerSaidError
from nit_kernel.model.client import ModelFacts, Notify, StreamItem
from nit_kernel.model.endpoint import OPENAI_ADDRESS, Endpoint, is_local, is_loopback
from nit_kernel.model.retries import on_request, on_response, told_of_retries
from nit_kernel.model.wire import chat_body, responses_body

if TYPE_CHECKING:
    from nit_kernel.language.schema import JsonObject
    from nit_kernel.model.messages import Request

_NO_KEY = "no-key-set"
_CONNECT_SECONDS = 10.0
_PROBE_SECONDS = 5.0


class Provider:
    """A model behind an OpenAI-compatible server.

    Args:
        endpoint: Where it is; what is left out comes from the environment.
        client: A ready `openai.AsyncOpenAI` (or `OpenAI`, whose settings are taken over) in place
            of one of our own.
    """

    def __init__(self, endpoint: Endpoint | None = None, *, client: Any = None) -> None:
        self._endpoint = (endpoint or Endpoint()).filled_in()
        self._given = client
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = (
            weakref.WeakKeyDictionary()
        )
        self._facts: ModelFacts | None = None
        self._usage_is_asked = True
        self._length_name: str | None = None

    @property
    def address(self) -> str:
        """The base URL, for messages; never holds user or password."""
        url = str(self._given.base_url) if self._given is not None else self._endpoint.base_url
        parts = urlsplit(url or OPENAI_ADDRESS)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path}".rstrip("/")

    def known(self) -> ModelFacts:
        """Return what is known without asking the server; the model's name may be empty."""
        if self._facts is not None:
            return self._facts
        return ModelFacts(
            model=self._endpoint.model or "",
            address=self.address,
            is_local=is_local(self.address),
            takes_stop=self._endpoint.api == "chat",
        )

    async def facts(self) -> ModelFacts:
        """Return what is known of the model and its server, asking the server at most once."""
        if self._facts is None:
            endpoint = self._endpoint
            if self._given is None and endpoint.base_url is None and endpoint.api_key is None:
                raise failures.nothing_set()
            self._facts = await self._find_out()
        return self._facts

    def body(self, request: Request) -> JsonObject:
        """Return the body that `stream` would send."""
        if self._endpoint.api == "responses":
            body = responses_body(request)
        else:
            body = chat_body(request)
            if self._endpoint.stream and self._usage_is_asked:
                body["stream_options"] = {"include_usage": True}
            if self._length_name is not None:
                for name in ("max_tokens", "max_completion_tokens"):
                    if name in body and name != self._length_name:
                        body[self._length_name] = body.pop(name)
        return {**body, "stream": True} if self._endpoint.stream else body

    async def stream(
        self, request: Request, *, notify: Notify = lambda _: None
    ) -> AsyncGenerator[StreamItem]:
        """Send a request and yield its reply's items.

        Raises:
            ModelError: With a code of `docs/diagnostics.d/model.md` and what to set.
        """
        if not request.model:
            request = replace(request, model=(await self.facts()).model)
        failure: ModelError | None = None
        try:
            async with contextlib.aclosing(self._items(request, notify)) as items:
                async for item in items:
                    yield item
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001  the wall of the provider call
            failure = self._explained(error, request.model)
        if failure is not None:
            raise failure

    async def aclose(self) -> None:
        """Close the connections that this loop opened."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None and client is not self._given:
            await client.close()

    # Sending

    async def _items(self, request: Request, notify: Notify) -> AsyncGenerator[StreamItem]:
        async with contextlib.AsyncExitStack() as stack:
            answer = await self._send(request, notify)
            reader = ChatReader() if self._endpoint.api == "chat" else ResponsesReader()
            if not self._endpoint.stream:
                for item in reader.whole(_plain(answer)):
                    yield item
                return
            stack.push_async_callback(answer.close)
            try:
                async for chunk in cast("AsyncIterator[Any]", answer):
                    for item in reader.read(_plain(chunk)):
                        yield item
            except Exception as error:  # the wall of the provider call
                if not isinstance(error, _broken_errors()):
                    raise
                if not reader.has_ended:
                    raise _BrokeOffError(_reason(error)) from None
            if not reader.begun:
                raise ServerSaidError("the reply was empty", code="empty")
            for item in reader.end():
                yield item

    async def _send(self, request: Request, notify: Notify) -> Any:
        """Send the request, and again without what this server turns out not to know."""
        while True:
            body = self.body(request)
            try:
                return await self._post(body, notify)
            except Exception as error:  # the wall of the provider call
                if getattr(error, "status_code", None) not in (400, 422):
                    raise
                if not self._learn(str(error), body):
                    raise

    def _learn(self, said: str, body: JsonObject) -> bool:
        """Return whether a refusal names something that we can do without, and note it."""
        if "stream_options" in body and re.search("stream_options|include_usage", said):
            self._usage_is_asked = False
            return True
        for name, other in (
            ("max_tokens", "max_completion_tokens"),
            ("max_completion_tokens", "max_tokens"),
        ):
            if name in body and name in said and self._length_name is None:
                self._length_name = other
                return True
        return False

    async def _post(self, body: JsonObject, notify: Notify) -> Any:
        client = self._client()
        rest = {key: value for key, value in body.items() if key not in ("model", "stream")}
        with told_of_retries(notify, self.address, client.max_retries):
            # The body goes through `extra_body`: the package sends it as it is and does not
            # reshape fields that it does not know.
            if self._endpoint.api == "responses":
                return await client.responses.create(
                    model=body["model"], stream=self._endpoint.stream, extra_body=rest
                )
            return await client.chat.completions.create(
                model=body["model"], messages=[], stream=self._endpoint.stream, extra_body=rest
            )

    # The client

    def _client(self) -> Any:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._make_client()
        return client

    def _make_client(self) -> Any:
        openai = _openai()
        if isinstance(self._given, openai.AsyncOpenAI):
            return self._given
        endpoint = self._endpoint
        key, url = endpoint.api_key, endpoint.base_url or OPENAI_ADDRESS
        timeout = openai.Timeout(endpoint.timeout_s, connect=_CONNECT_SECONDS)
        headers, retries = endpoint.headers, endpoint.max_retries
        account: dict[str, Any] = {}
        if self._given is not None:
            given = self._given
            if type(given) is not openai.OpenAI:
                message = f"give the asynchronous twin of {type(given).__name__}"
                raise TypeError(message)
            key, url = given.api_key, str(given.base_url)
            timeout, retries = given.timeout, given.max_retries
            account = {"organization": given.organization, "project": given.project}
        if key is not None and not (key.isascii() and key.isprintable()):
            raise failures.odd_key(self.address)
        transport = openai.DefaultAsyncHttpx2Client(
            timeout=timeout,
            event_hooks={"request": [on_request], "response": [on_response]},
            # A proxy for the wide world is no way to this machine.
            trust_env=not is_loopback(url),
        )
        return openai.AsyncOpenAI(
            api_key=key or _NO_KEY,
            base_url=url,
            timeout=timeout,
            max_retries=retries,
            default_headers=headers,
            http_client=transport,
            **account,
        )

    async def _find_out(self) -> ModelFacts:
        address = self.address
        facts = self.known()
        if address == OPENAI_ADDRESS:
            if not facts.model:
                raise failures.no_model(address)
            return facts
        models: list[Any] = []
        problem: ModelError | None = None
        try:
            quick = self._client().with_options(timeout=_PROBE_SECONDS, max_retries=0)
            page = await quick.models.list()
            models = [_plain(each) for each in cast("list[Any]", page.data or [])]
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001  a server need not list its models
            problem = self._explained(error, facts.model)
        owner = str(models[0].get("owned_by", "")) if models else ""
        names = [str(each.get("id", "")) for each in models]
        server = {"llamacpp": "llama.cpp"}.get(owner, owner)
        if not facts.model:
            if len(names) != 1:
                connection = problem is not None and problem.code in ("NIT652", "NIT653", "NIT654")
                raise problem if connection and problem else failures.no_model(address, names)
            facts = replace(facts, model=names[0])
        grammar: Literal["gbnf", "lark"] | None = None
        if self._endpoint.api == "chat":
            if server == "llama.cpp":
                grammar = "gbnf"
            elif server == "vllm":
                grammar = "lark"
        return replace(facts, server=server, grammar=grammar)

    # Errors

    def _explained(self, error: Exception, model: str) -> ModelError:
        """Make the `ModelError` that says in one line what happened and what to set."""
        address = self.address
        key = self._endpoint.api_key
        if self._given is not None:
            key = self._given.api_key
        keys = [each for each in (key, os.environ.get("OPENAI_API_KEY")) if each]
        if isinstance(error, _BrokeOffError):
            return failures.broken(address, failures.redact(str(error), keys))
        if isinstance(error, ServerSaidError):
            said = failures.redact(str(error), keys)
            return _of_code(address, model, error.code, said)
        openai = _openai()
        said = failures.redact(_said(error), keys)
        if isinstance(error, openai.APITimeoutError):
            return failures.timed_out(address, self._endpoint.timeout_s)
        if isinstance(error, openai.APIConnectionError):
            return failures.unreachable(address, _reason(error))
        status = getattr(error, "status_code", None)
        if isinstance(status, int):
            response: Any = getattr(error, "response", None)
            wait = response.headers.get("retry-after") if response is not None else None
            code = _code_of(error)
            return failures.of_status(address, status, code, model, key, said, retry_after=wait)
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            return failures.wrong_address(address, "its answer is not JSON")
        if isinstance(error, openai.APIError):
            return _of_code(address, model, _code_of(error), said)
        return failures.server_failed(address, None, f"{type(error).__name__}: {said}")


class _BrokeOffError(Exception):
    """The connection ended in the middle of a reply."""


def _openai() -> Any:
    """Import the client library when it is first needed."""
    try:
        import openai  # noqa: PLC0415  heavy: half a second
    except ImportError:
        raise failures.no_openai("none") from None
    if openai.VERSION.partition(".")[0] != "3":
        raise failures.no_openai(openai.VERSION)
    return openai


def is_openai_client(value: object) -> bool:
    """Return whether the value is a client of the `openai` package, without importing it."""
    return any(cls.__module__.partition(".")[0] == "openai" for cls in type(value).__mro__)


def _broken_errors() -> tuple[type[Exception], ...]:
    return (_openai().APIConnectionError, ConnectionError, ssl.SSLError)


def _plain(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else value.to_dict(warnings=False)  # pyright: ignore[reportUnknownVariableType]


def _reason(error: BaseException) -> str:
    """Say why a connection failed, from the deepest cause, in words."""
    cause: BaseException = error
    while (deeper := cause.__cause__ or cause.__context__) is not None:
        cause = deeper
    if isinstance(cause, ConnectionRefusedError) or "refused" in str(cause).lower():
        return "connection refused"
    if "Name or service not known" in str(cause) or "getaddrinfo" in str(cause):
        return "no such host"
    if cause is error:
        return "the connection failed"
    text = str(cause) or type(cause).__name__
    return failures.redact(text)[:120]


def _said(error: Exception) -> str:
    """The server's own message."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict):
        inner: Any = body.get("error", body)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        if isinstance(inner, dict) and inner.get("message"):  # pyright: ignore[reportUnknownMemberType]
            return str(inner["message"])  # pyright: ignore[reportUnknownArgumentType]
        if isinstance(inner, str):
            return inner
        detail: Any = body.get("detail") or body.get("message")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        if isinstance(detail, str):
            return detail
    text = str(getattr(error, "message", "") or error)
    return "it answers with a web page" if "<html" in text.lower() else text


def _code_of(error: Exception) -> str | None:
    body: Any = getattr(error, "body", None)
    inner: Any = body.get("error", body) if isinstance(body, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    code: Any = inner.get("code") if isinstance(inner, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return code if isinstance(code, str) else getattr(error, "code", None)


def _of_code(address: str, model: str, code: str | None, said: str) -> ModelError:
    """Make the error for what a server says inside a stream that began well."""
    if code == "empty":
        return failures.wrong_address(address, said)
    if code in ("rate_limit_exceeded", "insufficient_quota"):
        return failures.rate_limited(address, None, said)
    if failures.is_too_long(code, said):
        return failures.too_long(address, model, said)
    return failures.server_failed(address, None, said)
