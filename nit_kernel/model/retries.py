"""Tells the person of the retries that the client library makes by itself, while it makes them.

The library says nothing of them but on its log; the hooks of its transport see each attempt.
"""

from __future__ import annotations

import contextvars
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from nit_kernel.model.client import Notify

_LONGEST_WAIT_SECONDS = 120.0
_RETRIED = frozenset({408, 409, 429})


@contextmanager
def told_of_retries(notify: Notify, address: str, max_retries: int) -> Generator[None]:
    """Pass the retries of the requests that are sent inside on to `notify`."""
    token = _WATCH.set(_Watch(notify, address, max_retries))
    try:
        yield
    finally:
        _WATCH.reset(token)


async def on_request(request: Any) -> None:
    """Hook: an attempt begins."""
    watch = _WATCH.get()
    attempt = int(request.headers.get("x-stainless-retry-count") or 0)
    if watch is not None and attempt > watch.told_attempt:
        watch.told_attempt = attempt
        total = watch.max_retries + 1
        watch.notify(f"no answer from {watch.address}; trying again ({attempt + 1} of {total})")


async def on_response(response: Any) -> None:
    """Hook: an attempt was answered; the library decides the same way whether it tries again."""
    watch = _WATCH.get()
    if watch is None or response.status_code < 400:
        return
    headers = response.headers
    attempt = int(response.request.headers.get("x-stainless-retry-count") or 0)
    asked = headers.get("x-should-retry")
    retried = response.status_code in _RETRIED or response.status_code >= 500
    if asked in ("true", "false"):
        retried = asked == "true"
    wait = _seconds(headers.get("retry-after"))
    if not retried or attempt >= watch.max_retries or (wait or 0) > _LONGEST_WAIT_SECONDS:
        return
    watch.told_attempt = attempt + 1
    what = "limits the rate" if response.status_code == 429 else "failed"
    pause = f" in {wait:g} s" if wait else ""
    watch.notify(
        f"{watch.address} {what} (HTTP {response.status_code}); trying again{pause} "
        f"({attempt + 2} of {watch.max_retries + 1})"
    )


def _seconds(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


class _Watch:
    """What one request's retries have to tell the person."""

    def __init__(self, notify: Notify, address: str, max_retries: int) -> None:
        self.notify = notify
        self.address = address
        self.max_retries = max_retries
        self.told_attempt = 0


_WATCH: contextvars.ContextVar[_Watch | None] = contextvars.ContextVar("nit_watch", default=None)
