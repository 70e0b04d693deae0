"""Fetching one page: bounded in bytes (also unpacked), redirects and time, public hosts only.

```
check_url -> resolve -> check_addresses -> connect to a checked address -> read, unpack, count
    ^                                                                            |
    +------------------------------- redirect -----------------------------------+
```

The connection goes to the very address that was checked: a name that means another host a moment
later (DNS rebinding) is never asked again. Proxies of the environment are not used, since they
would look the name up themselves.
"""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field

import httpcore
import httpx

from .addresses import IpAddress, RefusedAddressError, check_addresses, check_url, resolve

MAX_RECEIVED_BYTES = 5_000_000
MAX_UNPACKED_BYTES = 10_000_000
MAX_REDIRECTS = 5
TOTAL_S = 30.0
_STEP_S = 10.0
_MAX_ADDRESSES = 4

_HEADERS = {
    "User-Agent": "nit-kernel",
    "Accept": "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}

Resolver = Callable[[str, int], Awaitable[list[IpAddress]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What came back: the final address, the kind of content, and the bytes, unpacked."""

    url: str
    content_type: str
    charset: str | None
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetcher:
    """Fetches pages. The tests put their own resolver and network in.

    Attributes:
        allow_private: Whether hosts that are not public may be fetched from.
        resolver: Gives the addresses of a host.
        network: Opens the connection to an address that was checked.
    """

    allow_private: bool = False
    resolver: Resolver = resolve
    network: httpcore.AsyncNetworkBackend = field(default_factory=httpcore.AnyIOBackend)
    total_s: float = TOTAL_S

    @classmethod
    def from_environment(cls) -> Fetcher:
        """The fetcher as `NIT_WEB_ALLOW_PRIVATE` says."""
        return cls(allow_private=os.environ.get("NIT_WEB_ALLOW_PRIVATE", "") in ("1", "true"))

    async def fetch(self, url: str) -> Page:
        """Fetch one page.

        Raises:
            RefusedAddressError: The address, or one that it leads to, must not be fetched.
            OSError: No answer, one that is too large, or one that says no.
        """
        url = url.strip()
        try:
            async with asyncio.timeout(self.total_s):
                return await self._fetch(url)
        except TimeoutError:
            raise TimeoutError(f"{url} took longer than {self.total_s:g} seconds") from None
        except httpx.TimeoutException:
            raise TimeoutError(f"{url} did not answer within {_STEP_S:g} seconds") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            raise RefusedAddressError(f"{url!r} is no address: {error}") from None
        except httpx.HTTPError as error:
            raise ConnectionError(
                f"{url} cannot be read: {error or type(error).__name__}"
            ) from error

    async def _fetch(self, url: str) -> Page:
        timeout = httpx.Timeout(_STEP_S)
        transport = _CheckedTransport(_CheckedNetwork(self))
        async with httpx.AsyncClient(
            transport=transport, timeout=timeout, headers=_HEADERS, trust_env=False
        ) as client:
            check_url(url)
            request = client.build_request("GET", url)
            for _ in range(MAX_REDIRECTS + 1):
                response = await client.send(request, stream=True)
                try:
                    if response.next_request is None:
                        return await self._read(response)
                    request = response.next_request
                    check_url(str(request.url))
                finally:
                    await response.aclose()
        raise ConnectionError(f"{url} leads on more than {MAX_REDIRECTS} times")

    async def _read(self, response: httpx.Response) -> Page:
        if response.status_code >= httpx.codes.BAD_REQUEST:
            reason = f"{response.status_code} {response.reason_phrase}".strip()
            raise ConnectionError(f"{response.url} answered {reason}")
        unpacker = _Unpacker(response.headers.get("content-encoding", ""))
        received = 0
        content = bytearray()
        async for chunk in response.aiter_raw():
            received += len(chunk)
            if received > MAX_RECEIVED_BYTES:
                raise ConnectionError(f"{response.url} is longer than {MAX_RECEIVED_BYTES:,} bytes")
            content += unpacker.unpack(chunk, MAX_UNPACKED_BYTES + 1 - len(content))
            if len(content) > MAX_UNPACKED_BYTES:
                raise ConnectionError(
                    f"{response.url} is longer than {MAX_UNPACKED_BYTES:,} bytes when unpacked"
                )
        kind, _, _ = response.headers.get("content-type", "").partition(";")
        return Page(
            url=str(response.url),
            content_type=kind.strip().lower(),
            charset=response.charset_encoding,
            content=bytes(content),
        )


class _Unpacker:
    """Unpacks one layer of compression, never more than is asked for at a time."""

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ConnectionError(f"the page is packed as {encoding!r}, which was not asked for")
        self._is_packed = name not in ("", "identity")
        self._may_be_raw = name == "deflate"
        # 32: with a gzip or zlib head, whichever it is.
        self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def unpack(self, chunk: bytes, most: int) -> bytes:
        """Unpack at most so many bytes; what is left over then is thrown away."""
        if not self._is_packed:
            return chunk[:most]
        if self._stream.eof:
            return b""
        try:
            unpacked = self._stream.decompress(chunk, most)
        except zlib.error as error:
            if not self._may_be_raw:
                raise ConnectionError(f"the page cannot be unpacked: {error}") from None
            # Some servers send deflate without its head.
            self._stream = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
            self._may_be_raw = False
            return self.unpack(chunk, most)
        self._may_be_raw = False
        return unpacked


class _CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Looks a host up, checks what it stands for, and connects to exactly that."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            addresses = await self._fetcher.resolver(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the host {host!r} is not known: {error}") from error
        if not self._fetcher.allow_private:
            check_addresses(host, addresses)
        failed: Exception = httpcore.ConnectError(f"the host {host!r} has no address")
        for address in addresses[:_MAX_ADDRESSES]:
            try:
                return await self._fetcher.network.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _CheckedTransport(httpx.AsyncBaseTransport):
    """Carries requests over a pool whose network checks each connection."""

    def __init__(self, network: _CheckedNetwork) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(), network_backend=network, http2=False
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        wanted = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            extensions=request.extensions,
        )
        try:
            response = await self._pool.handle_async_request(wanted)
        except httpcore.TimeoutException as error:
            raise httpx.ReadTimeout(str(error)) from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise httpx.ReadError(str(error)) from error
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.aiter_stream():
                yield chunk
        except httpcore.TimeoutException as error:
            raise httpx.ReadTimeout(str(error)) from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise httpx.ReadError(str(error)) from error

    async def aclose(self) -> None:
        await self._response.aclose()
