"""The mirror: a NIT variable is a Python variable of the notebook, and the other way back.

```
$a = f()            push    user_ns["a"] is the value as soon as the statement ended
a = 5, del a        pull    the NIT variable follows before anything of NIT looks at it
$a = async f()      push    user_ns["a"] is the task, and its value after the cell in which it ended
```
Some names of the notebook are never touched (`_is_kept`). Their NIT variables live in the symbol
table alone, and one warning says so.
"""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
import threading
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Literal

from nit_kernel.runtime.symbols import ABSENT
from nit_kernel.runtime.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from IPython.core.interactiveshell import InteractiveShell

    from nit_kernel.runtime.symbols import SymbolTable

Author = Literal["person", "model"]

_IPYTHON_NAMES = re.compile(r"_+|_i+|_\d+|_i\d+|_(?:ih|oh|dh|exit_code|sh)|In|Out|__\w+")


class Mirror:
    """Keeps the variables of a session and of a notebook equal.

    Args:
        shell: Whose namespace it is.
        table: The variables of the session.
        tell: Takes the one note or warning about a name; `is_warning` says which.
    """

    def __init__(
        self,
        shell: InteractiveShell,
        table: SymbolTable,
        tell: Callable[[str, bool], None],
    ) -> None:
        self._shell = shell
        self._table = table
        self._tell = tell
        self._shown: dict[str, object] = {}
        self._authors: dict[str, Author] = {}
        self._shared: set[str] = set()
        self._told: set[tuple[str, str]] = set()
        self._lock = threading.RLock()

    @property
    def names(self) -> frozenset[str]:
        """The names that stand for NIT variables in the notebook now."""
        return frozenset(self._shown)

    def push(self, name: str, value: object, *, author: Author = "person") -> bool:
        """Show a NIT variable in the notebook; whether its name may be used for it.

        Args:
            name: The variable.
            value: What it holds, a task as it is.
            author: Who wrote the statement. A person's replaces a plain value of the notebook; a
                model's touches no name that NIT did not make.
        """
        with self._lock:
            self._authors[name] = author
            space = self._shell.user_ns
            here = space.get(name, ABSENT)
            if self._is_kept(name, here):
                self._warn(name)
                return False
            if author == "model" and name in self._shared and here is not value:
                # The person lent it to be read: from here on they are two.
                self._shared.discard(name)
                self._shown.pop(name, None)
            is_ours = name in self._shown
            if here is not ABSENT and not is_ours and here is not value:
                if author == "model":
                    self._warn(name)
                    return False
                self._note(name, here)
            self._put(name, value)
            return True

    def pull(self) -> None:
        """Take over what Python cells have rebound or deleted."""
        with self._lock:
            space, table = self._shell.user_ns, self._table
            for name, shown in list(self._shown.items()):
                here = space.get(name, ABSENT)
                if here is shown:
                    continue
                if here is ABSENT:
                    del self._shown[name]
                    table.pop(name, None)
                else:
                    self._shown[name] = here
                    table[name] = here

    def settle(self) -> None:
        """Between two cells: tasks that are done become their values, and both sides are equal."""
        with self._lock:
            self.pull()
            held = {name: _settled(value) for name, value in self._table.raw_items()}
            for name, value in held.items():
                if self._shown.get(name, ABSENT) is not value:
                    self.push(name, value, author=self._authors.get(name, "person"))
            for name in [name for name in self._shown if name not in held]:
                self.withdraw(name)

    def withdraw(self, name: str) -> None:
        """A NIT variable is gone: take it out of the notebook, unless it is the person's by now."""
        with self._lock:
            shown = self._shown.pop(name, ABSENT)
            if name in self._shared:
                # The person's own: what was lent stays theirs.
                self._shared.discard(name)
                return
            space = self._shell.user_ns
            if shown is not ABSENT and space.get(name, ABSENT) is shown:
                del space[name]

    def share(self, name: str) -> None:
        """Put a variable of the notebook into the symbol table; from then on they are one.

        Raises:
            KeyError: The notebook has no such variable.
            ValueError: No script could write the name.
        """
        with self._lock:
            value = self._shell.user_ns[name]
            self._table[name] = value
            if not self._is_kept(name, value):
                if name not in self._shown:
                    self._shared.add(name)
                self._shown[name] = value

    def _put(self, name: str, value: object) -> None:
        self._shown[name] = value
        self._shell.user_ns[name] = value
        # A name that IPython hid (`%who` leaves it out) is the person's now.
        self._shell.user_ns_hidden.pop(name, None)

    def _is_kept(self, name: str, here: object) -> bool:
        """Whether the notebook's name is never touched."""
        if keyword.iskeyword(name) or hasattr(builtins, name) or _IPYTHON_NAMES.fullmatch(name):
            return True
        if here is ABSENT:
            return False
        if self._shell.user_ns_hidden.get(name, ABSENT) is here:
            return True
        return (
            inspect.ismodule(here)
            or inspect.isclass(here)
            or inspect.isroutine(here)
            or isinstance(here, Tool)
        )

    def _warn(self, name: str) -> None:
        if ("kept", name) not in self._told:
            self._told.add(("kept", name))
            self._tell(
                f"`{name}` means something else in this notebook and was left alone; "
                f'the value of `${name}` is nit.vars["{name}"]',
                True,
            )

    def _note(self, name: str, here: object) -> None:
        if ("replaced", name) not in self._told:
            self._told.add(("replaced", name))
            kind = type(here).__name__
            self._tell(f"`{name}` ({kind}) of the notebook was replaced by `${name}`", False)


class NotebookNames(Mapping[str, object]):
    """The variables of the notebook that a person's script may read as `$name`."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def __getitem__(self, name: str) -> object:
        return self._shell.user_ns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._shell.user_ns

    def __iter__(self) -> Iterator[str]:
        hidden = self._shell.user_ns_hidden
        return iter(
            [
                name
                for name in list(self._shell.user_ns)
                if name not in hidden and not name.startswith("_")
            ]
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


class NotebookVariables(MutableMapping[str, object]):
    """`nit.vars`: the variables of the session, equal to the notebook's at every look."""

    def __init__(self, table: SymbolTable, mirror: Mirror) -> None:
        self._table = table
        self._mirror = mirror

    def __getitem__(self, name: str) -> object:
        self._mirror.pull()
        return self._table[name]

    def __setitem__(self, name: str, value: object) -> None:
        self._mirror.pull()
        self._table[name] = value
        self._mirror.push(name, value)

    def __delitem__(self, name: str) -> None:
        self._mirror.pull()
        del self._table[name]
        self._mirror.withdraw(name)

    def __contains__(self, name: object) -> bool:
        self._mirror.pull()
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        self._mirror.pull()
        return iter(self._table)

    def __len__(self) -> int:
        self._mirror.pull()
        return len(self._table)


def _settled(value: object) -> object:
    stands_for = getattr(type(value), "__nit_settled__", None)
    return value if stands_for is None else stands_for(value)
