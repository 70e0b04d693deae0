"""Cells of `%%ask` in a real kernel, as a page sends them: with the id of their cell."""

import contextlib

from kernel_driver import NIT, Cell
from kernel_tools import TOOLS, start

from nit_kernel.testing import FakeModel, openai_server

FREE = TOOLS.replace("@nit.tool\n", '@nit.tool(side_effects="none")\n')
"""The same tools, declared free of side effects: nobody is asked for them."""


@contextlib.contextmanager
def talking(plugin_folder, *turns, kind=NIT, setup=FREE, **options):
    """A kernel that speaks to a scripted model, and the model."""
    model = FakeModel(turns, **options)
    with openai_server(model) as server, start(kind, plugin_folder) as kernel:
        setup = (
            f"import os\nos.environ['OPENAI_BASE_URL'] = {server.base_url!r}\n"
            f"os.environ['OPENAI_API_KEY'] = 'sk-test-0123456789abcdef'\n{setup}"
        )
        cell = kernel.run(setup)
        assert cell.status == "ok", cell.text
        assert kernel.run("%config NitMagics.codec = 'nit'").status == "ok"
        yield kernel, model


def send(kernel, code, cell_id=None, *, allow_stdin=True):
    """Send a cell as a page does, and return at once."""
    client = kernel.client
    content = {
        "code": code,
        "silent": False,
        "store_history": True,
        "user_expressions": {},
        "allow_stdin": allow_stdin,
        "stop_on_error": True,
    }
    message = client.session.msg("execute_request", content)
    if cell_id is not None:
        message["metadata"] = {"cellId": cell_id}
    identity = message["header"]["msg_id"]
    cell = kernel.cells[identity] = Cell(cell_id or f"cell{len(kernel.cells)}", kernel.now())
    client.shell_channel.send(message)
    return cell


def run(kernel, code, cell_id=None, *, timeout=30, **options):
    """Run a cell to its end."""
    cell = send(kernel, code, cell_id, **options)
    kernel.until(lambda: cell.done, timeout)
    return cell


def words(cell):
    """The words as they stand on the page at last."""
    found = [d for d in cell.displays if "text/markdown" in d]
    return found[-1]["text/plain"] if found else ""


def notes(cell):
    """What stands under the words at last."""
    found = [d for d in cell.displays if "text/html" in d and "text/markdown" not in d]
    return found[-1]["text/plain"] if found else ""


def said(model, number=-1):
    """The person's messages in one request."""
    return model.requests[number].spoken("user")
