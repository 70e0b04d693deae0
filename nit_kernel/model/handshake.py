"""The id that makes a block of a reply a command: new for every turn, known to its prompt alone."""

from __future__ import annotations

import secrets
import string

_ALPHABET = string.digits + string.ascii_uppercase
_LENGTH = 4
EXAMPLE_ID = "XXXX"
"""What the prompt tells the model to write where it only shows the form; never an id."""


class Handshake:
    """Gives out ids, none of them twice in a session."""

    def __init__(self) -> None:
        self._used: set[str] = {EXAMPLE_ID}

    def fresh(self) -> str:
        """Return a new id of 4 characters of `0-9A-Z`, from the system's secure source.

        Raises:
            RuntimeError: All 1.7 million ids were used.
        """
        if len(self._used) > len(_ALPHABET) ** _LENGTH - 1:
            message = "this session has used every handshake id; begin a new one"
            raise RuntimeError(message)
        while True:
            fresh = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
            if fresh not in self._used:
                self._used.add(fresh)
                return fresh

    def __repr__(self) -> str:
        return f"<Handshake: {len(self._used) - 1} ids used>"
