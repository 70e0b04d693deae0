"""JupyterLab in a real browser, as a person sees it.

`NIT_SCREENSHOTS=DIR` keeps the pictures.
"""

import os
from pathlib import Path

import pytest
from kernel_tools import TOOLS
from lab import Page, copy_notebook, write_notebook

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.timeout(180)]

RUN_TOOLS = "%run -i tools.py"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def opened(lab, browser):
    """Opens notebooks, and closes what was opened."""
    pages = []

    (lab.root / "tools.py").write_text(TOOLS, encoding="utf-8")

    def open_page(name, *cells, **options):
        write_notebook(lab.root / name, *cells, **options)
        return show(name)

    def show(name):
        page = Page(lab, browser, name)
        pages.append(page)
        return page

    open_page.existing = show
    yield open_page
    for page in pages:
        page.close()
        assert page.errors == []


def picture(page, name, cell=0):
    folder = os.environ.get("NIT_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.shot(Path(folder) / f"{name}.png", cell)


def test_the_quickstart_shows_its_values(lab, opened):
    name = copy_notebook(EXAMPLES / "quickstart.ipynb", lab.root)
    page = opened.existing(name)
    page.run_all()
    page.idle()
    picture(page, "quickstart")
    shown = [page.outputs(i) for i in range(page.count(".jp-Notebook .jp-CodeCell"))]

    assert any("118.60" in text or "EUR, there in" in text for text in shown), shown
    assert any("(3.5" in text or "39.0" in text for text in shown), shown
    assert any("notify_user" in text and "done" in text for text in shown), shown
    assert not any("Traceback" in text for text in shown), shown


def test_cells_of_nit_are_highlighted_and_python_cells_are_not(opened):
    page = opened(
        "colors.ipynb",
        "%%nit\n# a comment\n$a = find(query='x', limit=10)[0].url\nasync tell(to=$a, now=true)\n",
        "def f(x):\n    return [x, 'text', 10]\n",
        "<nit>\n$b = f(x=1)\n</nit>\n",
    )
    page.page.wait_for_selector(".nit-tok")
    picture(page, "colors")
    cells = page.page.locator(".jp-Notebook .jp-CodeCell")

    assert cells.nth(0).locator(".nit-tok").count() > 10
    assert cells.nth(1).locator(".nit-tok").count() == 0
    assert cells.nth(2).locator(".nit-tok").count() > 3


def test_cancel_works_while_the_cell_waits(opened):
    page = opened(
        "cancel-waiting.ipynb", RUN_TOOLS, "%%nit\n$slow = async doze(seconds=60)\n$slow\n"
    )
    page.run_all()
    page.wait_for("running")
    page.wait_for("Cancel")
    picture(page, "cancel-waiting")
    page.click("Cancel")
    page.idle(20)
    shown = page.outputs(1)

    assert "was cancelled" in shown
    assert "cancelled" in shown
    assert page.count("button:visible:has-text('Cancel')") == 0


def test_cancel_works_when_the_kernel_is_idle(opened):
    page = opened(
        "cancel-idle.ipynb",
        RUN_TOOLS,
        "%%nit\n$one = async doze(seconds=60)\n$two = async doze(seconds=60)\n",
        "print('idle now')",
    )
    page.run_all()
    page.idle()
    page.wait_for("idle now")
    page.click("Cancel", 1)
    page.page.wait_for_function("() => document.body.innerText.includes('cancelled')")
    picture(page, "cancel-idle")
    assert page.outputs(1).count("running") == 1
    page.click("Cancel", 0)
    page.page.wait_for_function(
        "() => (document.body.innerText.match(/cancelled/g) || []).length == 2"
    )

    assert page.count("button:visible:has-text('Cancel')") == 0


def test_progress_is_seen_while_the_cell_runs_and_the_end_is_saved(lab, opened):
    seen = lab.root / "page-2-was-seen"
    page = opened(
        "progress.ipynb",
        RUN_TOOLS + "\nfrom pathlib import Path\n"
        "@nit.tool\nasync def pages(n: int, ctx: nit.ToolContext) -> str:\n"
        "    for i in range(n):\n        ctx.progress((i + 1) / n, f'page {i + 1} of {n}')\n"
        f"        while i == 1 and not Path({str(seen)!r}).exists():\n"
        "            await asyncio.sleep(0.05)\n    return 'read'\n",
        '%%nit --name "Reading"\n$a = async pages(n=10)\n$b = async pages(n=5)\n'
        '$c = async boom(msg="<b>no</b> luck")\n[$a, $b]\n',
    )
    page.run_all()
    page.wait_for("page 2 of 10")
    picture(page, "progress")
    seen.touch()
    page.idle()
    picture(page, "progress-end")
    shown = page.outputs(1)
    saved = page.save()
    bundles = [o["data"] for o in saved["cells"][1]["outputs"] if "text/html" in o.get("data", {})]

    assert "page 10 of 10" in shown
    assert "['read', 'read']" in shown
    assert "<b>no</b> luck" in shown
    text = "".join(bundles[-1]["text/plain"])
    assert [line.split()[:2] for line in text.splitlines()] == [
        ["a", "done"],
        ["b", "done"],
        ["c", "failed"],
    ]


def test_a_reopened_notebook_shows_the_rows_without_a_kernel_of_then(opened):
    page = opened("reopened.ipynb", RUN_TOOLS, "%%nit\n$a = async doze(seconds=0.2)\n$a\n")
    page.run_all()
    page.idle()
    page.save()
    page.command("kernelmenu:restart")
    page.page.locator("button", has_text="Restart").last.click()
    page.idle()
    page.reload()
    page.wait_for("done")
    picture(page, "reopened")

    assert "done" in page.outputs(1)


def test_the_stop_button_acts_at_once(opened):
    page = opened(
        "stop.ipynb", RUN_TOOLS, "%%nit\nchatter(n=1, pause=0, word='begun')\ndoze(seconds=60)\n"
    )
    page.run_all()
    page.wait_for("begun")
    page.command("notebook:interrupt-kernel")
    page.idle(15)
    picture(page, "stop")

    assert "interrupted" in page.outputs(1)


def test_text_of_tools_runs_nothing_on_the_page(opened):
    hostile = "<img src=q onerror=\"document.title='HIT'\">"
    page = opened(
        "hostile.ipynb",
        RUN_TOOLS + f"\nhostile = {hostile!r}\n"
        "@nit.tool\nasync def shout(text: str, ctx: nit.ToolContext) -> str:\n"
        "    ctx.progress(0.5, text)\n    await asyncio.sleep(0.3)\n    return text\n",
        "%%nit\n$t = async shout(text=$hostile)\n$t\n",
        "%nit vars",
    )
    page.run_all()
    page.idle()
    page.page.wait_for_timeout(500)

    assert hostile in page.outputs(1)
    assert page.page.title() != "HIT"
    assert page.count(".jp-OutputArea img") == 0
