"""`nit_kernel.Chat`: a conversation that makes a session of its own where none is given."""

from __future__ import annotations

from typing import Any

from nit_kernel.language.schema import JsonObject
from nit_kernel.model.chat import Chat as _Chat
from nit_kernel.model.codecs.codec import ToolCallCodec
from nit_kernel.model.endpoint import Api
from nit_kernel.model.permission import Ask, Confirm
from nit_kernel.session import Session


class Chat(_Chat):
    """A conversation with a model; see `nit_kernel.model.chat.Chat` for its methods and arguments.

    Without `session` it makes one with the plugins that are found, and closes it in `close()`.
    """

    def __init__(
        self,
        model: str | None = None,
        session: Session | None = None,
        codec: str | ToolCallCodec = "auto",
        client: Any = None,
        confirm: Confirm = "side-effects",
        ask: Ask | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        api: Api = "chat",
        fallback: str | ToolCallCodec | None = "auto",
        system: str = "",
        extra: JsonObject | None = None,
        max_rounds: int = 10,
        max_tokens: int | None = None,
        max_seconds: float | None = None,
        max_decode_retries: int = 2,
        timeout: float = 300.0,
        max_retries: int = 2,
    ) -> None:
        own: Session | None = None
        if session is None:
            from nit_kernel.sources.plugin_places import default_places  # noqa: PLC0415  slow

            session = own = Session(plugins=default_places())
        super().__init__(
            model,
            session,
            codec,
            client,
            confirm,
            ask,
            base_url=base_url,
            api_key=api_key,
            api=api,
            fallback=fallback,
            system=system,
            extra=extra,
            max_rounds=max_rounds,
            max_tokens=max_tokens,
            max_seconds=max_seconds,
            max_decode_retries=max_decode_retries,
            timeout=timeout,
            max_retries=max_retries,
        )
        self._own_session = own

    def close(self) -> None:
        """Stop what goes on, close connections, and the session if it is the conversation's own."""
        super().close()
        if self._own_session is not None:
            self._own_session.close()
