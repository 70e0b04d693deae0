"""JupyterLab in a real browser: one server, one page a test, steps as a person would do them."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

CHROMIUM = "/usr/bin/chromium"

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# No question about news over the page; every cell on the page, also where nobody looks.
_SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}

# The kernel's status alone is idle for a moment before a run begins.
_IDLE = """() => {
  const w = window.jupyterapp && window.jupyterapp.shell.currentWidget;
  return !!(w && w.context && w.context.isReady && w.sessionContext.session
    && w.sessionContext.session.kernel && w.sessionContext.session.kernel.status === 'idle'
    && ![...document.querySelectorAll('.jp-InputPrompt')].some(e => e.innerText.includes('*')));
}"""


# Run-all begins a moment after it was asked for.
_RAN = """() => {
  const cells = window.jupyterapp.shell.currentWidget.content.widgets
    .map(cell => cell.model).filter(model => model.type === 'code');
  const failed = cells.some(m => m.outputs.toJSON().some(o => o.output_type === 'error'));
  return failed || cells.every(m => m.executionCount !== null && m.executionState !== 'running');
}"""


class Lab:
    """A JupyterLab server on loopback, with settings of its own.

    Args:
        root: The folder that it serves and in which all of its files live.
        env: Further variables of its environment.
    """

    def __init__(self, root, env=None):
        self.root = root
        for name, values in _SETTINGS.items():
            path = root / ".settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values), encoding="utf-8")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        folders = {
            "JUPYTER_CONFIG_DIR": ".config",
            "JUPYTER_DATA_DIR": ".data",
            "JUPYTER_RUNTIME_DIR": ".runtime",
            "IPYTHONDIR": ".ipython",
            "JUPYTERLAB_SETTINGS_DIR": ".settings",
            "JUPYTERLAB_WORKSPACES_DIR": ".workspaces",
        }
        environment = {
            **os.environ,
            **{k: str(root / v) for k, v in folders.items()},
            **(env or {}),
        }
        environment.pop("PYTEST_CURRENT_TEST", None)
        self._log = (root / "lab.log").open("w", encoding="utf-8")
        self._server = subprocess.Popen(
            [
                sys.executable,
                *("-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
                f"--port={self.port}",
                "--ServerApp.port_retries=0",
                "--IdentityProvider.token=",
                "--ServerApp.disable_check_xsrf=True",
                f"--ServerApp.root_dir={root}",
                "--LabApp.expose_app_in_browser=True",
                "--KernelManager.shutdown_wait_time=1",
            ],
            env=environment,
            cwd=root,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._wait_until_up()

    def _wait_until_up(self):
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/status", timeout=1)
                return
            assert self._server.poll() is None, (self.root / "lab.log").read_text("utf-8")
            time.sleep(0.1)
        raise AssertionError("JupyterLab did not come up")

    def stop(self):
        self._server.terminate()
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._log.close()


class Page:
    """One notebook open in the browser."""

    def __init__(self, lab, browser, name, *, width=1200, height=900):
        self.path = lab.root / name
        self.errors = []
        context = browser.new_context(viewport={"width": width, "height": height})
        self.page = context.new_page()
        self.page.set_default_timeout(30_000)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(
            f"http://127.0.0.1:{lab.port}/doc/tree/{name}", wait_until="domcontentloaded"
        )
        self._opened()

    def _opened(self):
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
        self.page.wait_for_function(_IDLE, timeout=60_000)

    def run_all(self):
        """Start all cells and return at once."""
        self.command("notebook:run-all-cells")

    def command(self, name):
        self.page.evaluate("id => { window.jupyterapp.commands.execute(id) }", name)

    def idle(self, seconds=120):
        """Wait until nothing runs, and every cell has run unless one failed."""
        self.page.wait_for_function(_RAN, timeout=seconds * 1000)
        self.page.wait_for_function(_IDLE, timeout=seconds * 1000)

    def wait_for(self, text, seconds=30):
        """Wait for a text under any cell."""
        outputs = self.page.locator(".jp-OutputArea")
        outputs.get_by_text(text).first.wait_for(timeout=seconds * 1000)

    def click(self, label, index=0):
        self.page.locator("button:visible", has_text=label).nth(index).click()

    def outputs(self, cell):
        """The text of everything under a code cell."""
        area = self.page.locator(".jp-Notebook .jp-CodeCell").nth(cell)
        return area.locator(".jp-OutputArea").inner_text()

    def count(self, selector):
        return self.page.locator(selector).count()

    def show(self, cell):
        """Scroll so that a code cell and what is under it can be seen."""
        self.page.locator(".jp-Notebook .jp-CodeCell").nth(cell).scroll_into_view_if_needed()
        self.page.wait_for_timeout(300)

    def shot(self, path, cell=0):
        self.show(cell)
        self.page.screenshot(path=str(path))

    def save(self):
        """Save, and return the file's content."""
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('docmanager:save').then(() => 1)"
        )
        return json.loads(self.path.read_text(encoding="utf-8"))

    def reload(self):
        self.page.reload(wait_until="domcontentloaded")
        self._opened()

    def close(self):
        self.page.evaluate(
            "() => { const w = window.jupyterapp.shell.currentWidget;"
            " return w && w.sessionContext.shutdown().then(() => 1) }"
        )
        self.page.context.close()


def write_notebook(path, *cells, kernel="nit"):
    """Write a notebook of code cells, and of Markdown where a cell begins with `md:`."""
    listed = []
    for index, source in enumerate(cells):
        is_text = source.startswith("md:")
        cell = {
            "id": f"cell-{index}",
            "cell_type": "markdown" if is_text else "code",
            "metadata": {},
            "source": source.removeprefix("md:"),
        }
        if not is_text:
            cell |= {"outputs": [], "execution_count": None}
        listed.append(cell)
    name = {"nit": "NIT (Python 3)", "python3": "Python 3 (ipykernel)"}[kernel]
    notebook = {
        "cells": listed,
        "metadata": {
            "kernelspec": {"name": kernel, "display_name": name, "language": "python"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")
    return path


def why_no_browser():
    """What is missing for a browser test, or nothing."""
    if not Path(CHROMIUM).exists():
        return f"needs Chromium at {CHROMIUM}"
    return ""


@contextlib.contextmanager
def chromium():
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, headless=True, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def copy_notebook(source, root):
    """Copy a notebook into the folder of a server; its name there."""
    shutil.copy(source, root / source.name)
    return source.name
