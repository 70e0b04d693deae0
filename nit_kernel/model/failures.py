"""What can go wrong with a model's server: one function a failure, each with what to set.

No text here, nor any exception's cause, holds more of a key than a short mask.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from nit_kernel.errors import ModelError

_KEY_LIKE = re.compile(r"\b(sk|pk|rk|gsk|xai|hf|AIza)[-_][A-Za-z0-9*._-]{6,}")
_BEARER = re.compile(r"(?i)\b(bearer\s+)\S+")
_MESSAGE_CHARS = 300


def mask(key: str) -> str:
    """Return what may be shown of a key: enough to tell two keys apart, no more."""
    return f"{key[:3]}…" if len(key) >= 12 else "…"


def redact(text: str, keys: Iterable[str] = ()) -> str:
    """Return a server's text on one line, shortened, with every key masked."""
    for key in keys:
        for form in {key, key.strip(), "".join(key.split())}:
            if len(form) >= 4:
                text = text.replace(form, mask(form))
    text = _KEY_LIKE.sub(lambda found: f"{found[1]}-…", text)
    text = _BEARER.sub(r"\1…", text)
    text = " ".join(text.split())
    return text if len(text) <= _MESSAGE_CHARS else f"{text[:_MESSAGE_CHARS]}…"


def nothing_set() -> ModelError:
    """Neither a key nor an address is known."""
    return ModelError(
        "no model is set up: set OPENAI_API_KEY and NIT_MODEL, or OPENAI_BASE_URL for a server",
        code="NIT650",
        hint="`%nit model local` (or `nit chat --local`) runs a small model on this machine",
    )


def no_model(address: str, offered: Iterable[str] = ()) -> ModelError:
    """No model was named, and the server has none or several."""
    names = ", ".join(f"`{name}`" for name in list(offered)[:8])
    return ModelError(
        f"no model is named for {address}" + (f", which offers {names}" if names else ""),
        code="NIT651",
        hint="name one: NIT_MODEL, `%nit model NAME`, `--model` or `Chat(model=..)`",
    )


def unreachable(address: str, why: str) -> ModelError:
    """Nobody answers at the address."""
    return ModelError(
        f"no answer from {address}: {why}",
        code="NIT652",
        hint="start the server, or set OPENAI_BASE_URL (`base_url`) to where it runs",
    )


def timed_out(address: str, seconds: float) -> ModelError:
    """The server is silent for too long."""
    return ModelError(
        f"{address} sent nothing for {seconds:g} s",
        code="NIT653",
        hint="try again, or raise the time with `timeout=`",
    )


def unauthorised(address: str, model: str, key: str | None, said: str) -> ModelError:
    """The key is missing, wrong, or not allowed to use the model."""
    what = f"the API key `{mask(key)}` is not accepted" if key else "an API key is needed"
    return ModelError(
        f"{what} by {address} (model `{model}`): {said}",
        code="NIT654",
        hint="set OPENAI_API_KEY to a valid key of that server",
    )


def unknown_model(address: str, model: str, said: str) -> ModelError:
    """The server does not know the model."""
    return ModelError(
        f"{address} has no model `{model}`: {said}",
        code="NIT655",
        hint="name another: NIT_MODEL, `%nit model NAME`, `--model` or `Chat(model=..)`",
    )


def wrong_address(address: str, said: str) -> ModelError:
    """Something answers, but it does not speak this API."""
    return ModelError(
        f"{address} does not answer as an OpenAI-compatible server: {said}",
        code="NIT656",
        hint="check OPENAI_BASE_URL (`base_url`): it usually ends in /v1",
    )


def server_failed(address: str, status: int | None, said: str) -> ModelError:
    """The server has a fault of its own."""
    number = f" (HTTP {status})" if status else ""
    return ModelError(
        f"{address} failed{number}: {said}",
        code="NIT657",
        hint="send the message again; if it goes on, the server's log says why",
    )


def broken(address: str, why: str) -> ModelError:
    """The stream ended before the reply did."""
    return ModelError(
        f"the reply from {address} broke off: {why}",
        code="NIT658",
        hint="send the message again",
    )


def rate_limited(address: str, retry_after: str | None, said: str) -> ModelError:
    """Too many requests, still after the retries; or nothing left to spend."""
    wait = f"; it asks to wait {retry_after} s" if retry_after else ""
    return ModelError(
        f"{address} limits the rate (HTTP 429){wait}: {said}",
        code="NIT659",
        hint="wait and send the message again, or check the account's limits and credit",
    )


def too_long(address: str, model: str, said: str) -> ModelError:
    """The conversation does not fit into the model's context."""
    return ModelError(
        f"the conversation is too long for `{model}` at {address}: {said}",
        code="NIT660",
        hint="begin anew (`chat.reset()`, `%nit reset`, `%%ask --fresh`) or take a model that "
        "reads more",
    )


def refused(address: str, model: str, status: int, said: str) -> ModelError:
    """The server does not take the request."""
    return ModelError(
        f"{address} refused the request (HTTP {status}, model `{model}`): {said}",
        code="NIT661",
        hint="change what it names, by `extra=` or another codec (`codec=`, `--codec`)",
    )


def odd_key(address: str) -> ModelError:
    """The key cannot be sent at all."""
    return ModelError(
        f"the API key for {address} holds characters that no key can have",
        code="NIT654",
        hint="set OPENAI_API_KEY to the key alone",
    )


def no_openai(found: str) -> ModelError:
    """The client library is missing or too old."""
    return ModelError(
        f"talking to a model needs the package `openai` of major version 3, found {found}",
        code="NIT662",
        hint="pip install 'openai>=3,<4'",
    )


def of_status(
    address: str,
    status: int,
    code: str | None,
    model: str,
    key: str | None,
    said: str,
    *,
    retry_after: str | None = None,
) -> ModelError:
    """Make the error for an HTTP status; `code` is the error's code as OpenAI names it."""
    if status in (401, 403):
        return unauthorised(address, model, key, said)
    if status == 404 and (code == "model_not_found" or "model" in said.lower()):
        return unknown_model(address, model, said)
    if status in (404, 405):
        return wrong_address(address, said)
    if status == 429:
        return rate_limited(address, retry_after, said)
    if status >= 500:
        return server_failed(address, status, said)
    if is_too_long(code, said):
        return too_long(address, model, said)
    return refused(address, model, status, said)


def is_too_long(code: str | None, said: str) -> bool:
    """Return whether a server says that the conversation does not fit into the context."""
    if code in ("context_length_exceeded", "exceed_context_size_error"):
        return True
    return re.search(r"(?i)context (length|size|window)|maximum context|n_ctx", said) is not None
