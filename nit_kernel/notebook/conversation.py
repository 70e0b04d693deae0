"""The notebook's conversation with a model: made at the first message, set up by `NitMagics`.

Nothing of `nit_kernel.model` is imported before: it takes its time, and most notebooks begin
without it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Generator

    from nit_kernel.conversation import Chat
    from nit_kernel.model.download import Progress
    from nit_kernel.model.endpoint import Api, Endpoint
    from nit_kernel.model.local import LocalServer
    from nit_kernel.model.permission import Confirm
    from nit_kernel.model.provider import Provider
    from nit_kernel.notebook.front_end import FrontEnd
    from nit_kernel.notebook.magics import NitMagics
    from nit_kernel.session import Session


class Conversation:
    """The chat of one notebook, and what the person set for it.

    Args:
        session: Where its scripts run.
        settings: What the person set; looked at before each message.
    """

    def __init__(self, session: Session, settings: NitMagics) -> None:
        self.scripts: list[str] = []
        """The model's scripts in the order in which they were shown, for `%nit keep`."""
        self.is_told_of_legacy = False
        """Whether the person was told what `NitMagics.legacy` gives up."""
        self._session = session
        self._settings = settings
        self._chat: Chat | None = None
        self._applied: dict[str, object] = {}
        self._endpoint: Endpoint | None = None
        self._providers: dict[Endpoint, Provider] = {}
        self._local: LocalServer | None = None
        self._request: object = None
        self._count = 0

    @property
    def chat(self) -> Chat:
        """The chat, as the settings are now."""
        if self._chat is None:
            from nit_kernel.conversation import Chat  # noqa: PLC0415 - takes its time

            self._chat = Chat(session=self._session, client=self._provider(self._wanted()))
            self._endpoint = self._wanted()
        self._apply(self._chat)
        return self._chat

    @property
    def has_begun(self) -> bool:
        """Whether anybody asked for the chat yet."""
        return self._chat is not None

    @contextmanager
    def speaking_to(self, model: str | None) -> Generator[Chat]:
        """The chat, for one message with another model of the same server if one is named."""
        chat = self.chat
        if not model:
            yield chat
            return
        from dataclasses import replace  # noqa: PLC0415 - only here

        chat.connect(client=self._provider(replace(self._wanted(), model=model)))
        try:
            yield chat
        finally:
            chat.connect(client=self._provider(self._wanted()))

    def key(self, front_end: FrontEnd) -> str | None:
        """The name of a cell's turn: running the cell again replaces it.

        `None` where the front end does not tell which cell it is.
        """
        cell, request = front_end.cell_id, front_end.request_id
        if cell is None:
            return None
        # A cell of Python may ask several times.
        self._count = self._count + 1 if request == self._request else 0
        self._request = request
        return f"{cell}/{self._count}" if self._count else cell

    def keep(self, script: str) -> int:
        """Note a script of the model; its number for `%nit keep`."""
        self.scripts.append(script)
        return len(self.scripts)

    # Which model

    @property
    def is_set_up(self) -> bool:
        """Whether there is a key or an address."""
        endpoint = self._wanted()
        return endpoint.api_key is not None or endpoint.base_url is not None

    @property
    def local(self) -> LocalServer | None:
        """The server on this machine, where `%nit model local` started one."""
        return self._local

    def start_local(self, file: str | None, progress: Progress) -> LocalServer:
        """Serve a model on this machine and speak to it from now on; takes its time.

        Raises:
            ModelError: The file cannot be had, or the server does not start.
        """
        from nit_kernel.model.local import local_model  # noqa: PLC0415 - only here

        server = local_model(file, progress=progress)
        self.leave_local()
        self._local = server
        return server

    def leave_local(self) -> None:
        """Speak to the server of the settings again."""
        server, self._local = self._local, None
        if server is not None:
            server.close()

    # The end

    def reset(self) -> int:
        """Forget the messages; how many of the person's those were."""
        self.scripts.clear()
        if self._chat is None:
            return 0
        count = sum(m.get("role") == "user" and "kind" not in m for m in self._chat.history)
        self._chat.reset()
        return count

    def close(self) -> None:
        """Stop what goes on, and the server on this machine."""
        if self._chat is not None:
            self._chat.close()
        server, self._local = self._local, None
        if server is not None:
            # A kernel that ends is not held up.
            server.let_go()

    # Settings

    def _wanted(self) -> Endpoint:
        from nit_kernel.model.endpoint import Endpoint  # noqa: PLC0415 - takes its time

        settings = self._settings
        if self._local is not None:
            return Endpoint(base_url=self._local.base_url, model=self._local.model, api_key="")
        # The environment counts as it is now: a person sets the key in a cell, and goes on.
        return Endpoint(
            base_url=settings.base_url or None,
            api_key=settings.api_key or None,
            model=settings.model or None,
            api=cast("Api", settings.api),
        ).filled_in()

    def _provider(self, endpoint: Endpoint) -> Provider:
        from nit_kernel.model.provider import Provider  # noqa: PLC0415 - takes its time

        return self._providers.setdefault(endpoint, Provider(endpoint))

    def _apply(self, chat: Chat) -> None:
        """Carry over what has changed: what the person set on `nit.chat` itself stays."""
        from nit_kernel.model.turn import Caps  # noqa: PLC0415 - takes its time

        settings = self._settings
        wanted = self._wanted()
        if wanted != self._endpoint:
            chat.connect(client=self._provider(wanted))
            self._endpoint = wanted
        caps = Caps(
            rounds=settings.max_rounds,
            tokens=settings.max_tokens,
            seconds=settings.max_seconds,
            decode_retries=chat.caps.decode_retries,
        )
        codec = _codec(settings)
        changed = {
            name: value
            for name, value in (
                ("caps", caps),
                ("codec", codec),
                ("system", settings.system),
                ("confirm", settings.confirm),
            )
            if self._applied.get(name) != value
        }
        for name, value in changed.items():
            if name == "confirm":
                chat.permission.confirm = cast("Confirm", settings.confirm)
            elif name == "codec":
                chat.codec = _made(codec)
            else:
                setattr(chat, name, value)
            self._applied[name] = value


def _codec(settings: NitMagics) -> str:
    """The codec's name; `"nit_legacy"` where NIT 1.0 blocks run, too."""
    is_legacy = settings.legacy and settings.codec in ("auto", "nit")
    return "nit_legacy" if is_legacy else settings.codec


def _made(codec: str) -> Any:
    if codec != "nit_legacy":
        return codec
    from nit_kernel.model.codecs.nit import nit_codec  # noqa: PLC0415 - takes its time

    return nit_codec(legacy=True)
