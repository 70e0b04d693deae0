"""A real kernel under test: it runs cells and keeps every message with the cell that it belongs to.

One reader serves all channels (`pump`), so nothing arrives unseen and no thread is needed. Widgets
are tracked as a front end does it: the state of every open comm, and `click` presses a button.
"""

import contextlib
import os
import queue
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

STOCK = "ipykernel_launcher"
NIT = "nit_kernel"


@dataclass
class Message:
    """One message of the kernel, and when it came (seconds since the kernel was ready)."""

    at: float
    kind: str
    content: dict


@dataclass
class Cell:
    """What came back for one execute request."""

    name: str
    sent: float
    messages: list[Message] = field(default_factory=list)
    reply: dict | None = None
    replied: float | None = None
    is_idle: bool = False

    @property
    def done(self):
        return self.reply is not None and self.is_idle

    @property
    def status(self):
        return None if self.reply is None else self.reply["status"]

    @property
    def seconds(self):
        """From the request to its reply."""
        return None if self.replied is None else self.replied - self.sent

    def of(self, *kinds):
        return [m.content for m in self.messages if m.kind in kinds]

    def stream(self, name="stdout"):
        return "".join(c["text"] for c in self.of("stream") if c["name"] == name)

    @property
    def stdout(self):
        return self.stream("stdout")

    @property
    def stderr(self):
        return self.stream("stderr")

    @property
    def result(self):
        """The text of the cell's own value, or `None`."""
        found = [c["data"].get("text/plain") for c in self.of("execute_result")]
        return found[-1] if found else None

    @property
    def displays(self):
        """The bundles that were shown or updated, in order."""
        return [c["data"] for c in self.of("display_data", "update_display_data")]

    @property
    def error(self):
        """The error as a person sees it, without colours; empty if there is none."""
        return "\n".join(without_colors("\n".join(c["traceback"])) for c in self.of("error"))

    @property
    def error_name(self):
        names = [c["ename"] for c in self.of("error")]
        return names[-1] if names else None

    @property
    def text(self):
        """Everything that stands under the cell, as text."""
        parts = []
        for message in self.messages:
            if message.kind == "stream":
                parts.append(message.content["text"])
            elif message.kind in ("execute_result", "display_data", "update_display_data"):
                parts.append(message.content["data"].get("text/plain", ""))
            elif message.kind == "error":
                parts.append(without_colors("\n".join(message.content["traceback"])))
        return "\n".join(parts)


class Kernel:
    """A running kernel.

    Args:
        module: The module to run as a kernel.
        env: Further variables of its environment.
        extra: Further words of its command line.
        cwd: The folder in which it works.
    """

    def __init__(self, module=NIT, *, env=None, extra=(), cwd=None, log=None):
        self.manager = KernelManager()
        self.manager._kernel_spec = KernelSpec(
            argv=[sys.executable, "-m", module, "-f", "{connection_file}", *extra],
            display_name="under test",
            language="python",
        )
        environment = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
        environment.update(env or {})
        self.log = Path(log or os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        started = time.monotonic()
        self.manager.start_kernel(env=environment, stderr=self.log, cwd=cwd)
        self.client = self.manager.client()
        self.client.start_channels()
        try:
            self.client.wait_for_ready(timeout=60)
        except BaseException:
            self.close()
            raise
        self.seconds_to_ready = time.monotonic() - started
        self.zero = time.monotonic()
        self.cells = {}
        self.replies = {}
        self.strays = []
        self.widgets = {}
        self.input_requests = []
        self.widget_subshell = None

    def now(self):
        return time.monotonic() - self.zero

    # Cells

    def send(self, code, name=None, **options):
        """Send a cell and return at once."""
        identity = self.client.execute(code, **options)
        cell = Cell(name or f"cell{len(self.cells)}", self.now())
        self.cells[identity] = cell
        return cell

    def run(self, code, *, timeout=30, settle=0.0, **options):
        """Run a cell to its end; `settle` waits for more messages afterwards."""
        cell = self.send(code, **options)
        self.until(lambda: cell.done, timeout)
        if settle:
            self.pump(settle)
        return cell

    def until(self, holds, timeout=30):
        """Read messages until something holds, and fail if it does not."""
        end = time.monotonic() + timeout
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"did not come about within {timeout} s; {self.describe()}")
            self.pump(0.05, holds)

    def pump(self, seconds, until=lambda: False):
        """Read messages for a while."""
        end = time.monotonic() + seconds
        while not until():
            found = self._drain()
            left = end - time.monotonic()
            if left <= 0:
                return
            if not found:
                with contextlib.suppress(queue.Empty):
                    self._take_iopub(self.client.get_iopub_msg(timeout=min(left, 0.02)))

    def _drain(self):
        found = False
        for channel, take in (
            ("iopub", self._take_iopub),
            ("shell", self._take_reply),
            ("control", self._take_reply),
            ("stdin", self._take_stdin),
        ):
            get = getattr(self.client, f"get_{channel}_msg")
            for _ in range(1000):
                try:
                    message = get(timeout=0)
                except queue.Empty:
                    break
                found = True
                take(message)
        return found

    def _take_iopub(self, message):
        kind, content = message["msg_type"], message["content"]
        if kind.startswith("comm_"):
            self._take_comm(kind, content)
        cell = self.cells.get(message["parent_header"].get("msg_id"))
        record = Message(self.now(), kind, content)
        if cell is None:
            self.strays.append(record)
            return
        cell.messages.append(record)
        if kind == "status" and content["execution_state"] == "idle":
            cell.is_idle = True

    def _take_comm(self, kind, content):
        identity, content_data = content["comm_id"], content.get("data", {})
        if kind == "comm_open":
            self.widgets[identity] = dict(content_data.get("state", {}))
        elif kind == "comm_msg" and content_data.get("method") in ("update", "echo_update"):
            self.widgets.setdefault(identity, {}).update(content_data.get("state", {}))
        elif kind == "comm_close":
            self.widgets.pop(identity, None)

    def _take_reply(self, message):
        identity = message["parent_header"].get("msg_id")
        self.replies[identity] = message["content"]
        cell = self.cells.get(identity)
        if cell is not None:
            cell.reply, cell.replied = message["content"], self.now()

    def _take_stdin(self, message):
        self.input_requests.append(message["content"])

    # Other requests

    def ask(self, identity, timeout=30):
        """Wait for the reply to a request of another kind (its message's id)."""
        self.until(lambda: identity in self.replies, timeout)
        return self.replies[identity]

    def complete(self, code, cursor=None, timeout=30):
        return self.ask(self.client.complete(code, cursor), timeout)

    def inspect(self, code, cursor=None, timeout=30):
        return self.ask(self.client.inspect(code, cursor), timeout)

    def is_complete(self, code, timeout=30):
        return self.ask(self.client.is_complete(code), timeout)

    def interrupt(self):
        """What the stop button does; returns when it was pressed."""
        self.manager.interrupt_kernel()
        return self.now()

    def new_subshell(self):
        """Ask for a subshell; its id."""
        request = self.client.session.msg("create_subshell_request", {})
        self.client.control_channel.send(request)
        return self.ask(request["header"]["msg_id"])["subshell_id"]

    def run_in_subshell(self, code, timeout=30):
        """Run a cell in a subshell of its own."""
        session, client = self.client.session, self.client
        subshell = self.new_subshell()
        message = session.msg(
            "execute_request",
            {
                "code": code,
                "silent": False,
                "store_history": True,
                "user_expressions": {},
                "allow_stdin": True,
                "stop_on_error": True,
            },
        )
        message["header"]["subshell_id"] = subshell
        cell = self.cells[message["header"]["msg_id"]] = Cell("subshell", self.now())
        client.shell_channel.send(message)
        self.until(lambda: cell.done, timeout)
        return cell

    # Widgets

    def models(self, name):
        """The states of all open widgets of one kind, such as `"ButtonModel"`."""
        return {i: s for i, s in self.widgets.items() if s.get("_model_name") == name}

    def click(self, identity, *, way="subshell"):
        """Press a button, as a front end does.

        JupyterLab sends what widgets say to a subshell, others to the shell; while a cell waits,
        kernels before ipykernel 7.4 hear only the first.
        """
        self._say(identity, {"method": "custom", "content": {"event": "click"}}, way)

    def change(self, identity, *, way="subshell", **state):
        """Change what a widget holds, as typing into it does."""
        self._say(identity, {"method": "update", "state": state, "buffer_paths": []}, way)

    def _say(self, identity, data, way):
        content = {"comm_id": identity, "data": data}
        message = self.client.session.msg("comm_msg", content)
        if way == "subshell":
            self.widget_subshell = self.widget_subshell or self.new_subshell()
            message["header"]["subshell_id"] = self.widget_subshell
        self.client.shell_channel.send(message)

    # End

    def shutdown(self, timeout=10):
        """Ask the kernel to end, and return how long it took (a fault if it had to be killed)."""
        started = time.monotonic()
        self.client.shutdown()
        while self.manager.is_alive():
            if time.monotonic() - started > timeout:
                raise AssertionError(f"the kernel did not end within {timeout} s")
            time.sleep(0.01)
        return time.monotonic() - started

    def close(self):
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel(now=True)
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def describe(self):
        lines = [f"{c.name}: {c.status}, {len(c.messages)} messages" for c in self.cells.values()]
        return "; ".join(lines[-4:])


def without_colors(text):
    """Drop the terminal's colour codes."""
    parts = text.split("\x1b[")
    return parts[0] + "".join(p.partition("m")[2] for p in parts[1:])
