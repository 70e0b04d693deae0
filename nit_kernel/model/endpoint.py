"""Where a model is, what the environment says about it, and what its address tells."""

from __future__ import annotations

import contextlib
import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

Api = Literal["chat", "responses"]

OPENAI_ADDRESS = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is and how to speak to it.

    Attributes:
        base_url: The server's address; `None`: `OPENAI_BASE_URL`, else OpenAI's own.
        api_key: `None`: `OPENAI_API_KEY`; a local server needs none.
        model: `None`: `NIT_MODEL`, else the only model that the server offers.
        api: Which of OpenAI's two APIs to speak.
        stream: Whether to ask for a stream; some servers cannot.
        timeout_s: Longest silence of the server, in seconds.
        max_retries: How often a request is tried again before its stream begins.
        headers: Further headers.
    """

    base_url: str | None = None
    api_key: str | None = None
    model: str | None = None
    api: Api = "chat"
    stream: bool = True
    timeout_s: float = 300.0
    max_retries: int = 2
    headers: Mapping[str, str] | None = None

    def filled_in(self) -> Endpoint:
        """Return a copy with what the environment says where nothing was given."""
        key = self.api_key if self.api_key is not None else os.environ.get("OPENAI_API_KEY", "")
        url = self.base_url or os.environ.get("OPENAI_BASE_URL", "")
        model = self.model or os.environ.get("NIT_MODEL", "")
        return replace(
            self,
            api_key="".join(key.split()) or None,
            base_url=url.strip().rstrip("/") or None,
            model=model.strip() or None,
        )


def is_loopback(url: str) -> bool:
    """Return whether the address is this machine."""
    host = urlsplit(url).hostname or ""
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        return address.is_loopback or address.is_unspecified
    return host == "localhost" or host.endswith(".localhost")


def is_local(url: str) -> bool:
    """Return whether the address is this machine or its own network."""
    host = urlsplit(url).hostname or ""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_private
    return is_loopback(url) or host.endswith(".local") or host == "host.docker.internal"
