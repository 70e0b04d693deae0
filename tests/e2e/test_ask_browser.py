"""`%%ask` in JupyterLab, as a person sees it.

`NIT_SCREENSHOTS=DIR` keeps the pictures; `ask.png` of the README is one of them.
"""

import os
from pathlib import Path

import pytest
from lab import Page, write_notebook

from nit_kernel.testing import FakeModel, Pause, Script, Think, openai_server

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.timeout(180)]

SETUP = """import os
os.environ["OPENAI_BASE_URL"] = "{url}"
get_ipython().run_line_magic("config", "NitMagics.codec='nit'")
import asyncio

@nit.tool(side_effects="none")
async def load_sales(year: int) -> list:
    \"\"\"The sales of a year, a row a month.\"\"\"
    await asyncio.sleep(0.4)
    return [{{"month": m, "units": 900 + 37 * m * (year % 5)}} for m in range(1, 13)]

@nit.tool(side_effects="none")
def compare(before: list, after: list) -> dict:
    \"\"\"Compare two years month by month.\"\"\"
    change = [b["units"] / a["units"] - 1 for a, b in zip(before, after)]
    best = max(range(12), key=change.__getitem__)
    return {{"best_month": best + 1, "growth": round(change[best], 3)}}

@nit.tool
def send_mail(to: str, text: str) -> str:
    \"\"\"Send a mail.\"\"\"
    return "sent"
"""


@pytest.fixture
def opened(lab, browser):
    """Opens a notebook whose model is scripted."""
    pages = []

    def open_page(name, url, *cells):
        (lab.root / "shop.py").write_text(SETUP.format(url=url), encoding="utf-8")
        write_notebook(lab.root / name, "%run -i shop.py", *cells)
        page = Page(lab, browser, name, height=760)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
        assert page.errors == []


def picture(page, name):
    folder = os.environ.get("NIT_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.shot(Path(folder) / f"{name}.png")


def slowly(text):
    """A text as a model writes it."""
    parts = []
    for word in text.split(" "):
        parts += [word + " ", Pause(0.02)]
    return parts


def test_words_a_folded_script_and_the_cost_are_seen(opened):
    turns = [
        [
            Think("Both years are needed before I can compare them."),
            *slowly("I load both years at the same time and compare them month by month.\n\n"),
            Script(
                "$before = async load_sales(year=2023)\n"
                "$after = async load_sales(year=2024)\n"
                "$change = compare(before=$before, after=$after)\n"
            ),
        ],
        [
            *slowly(
                "**December** grew the most. Twelve rows a year stayed in the notebook as "
                "`$before` and `$after`; I only read `$change`:\n\n"
                "| month | growth |\n|---|---|\n| December | 19.9 % |\n"
            ),
        ],
    ]
    with openai_server(FakeModel(turns, name="qwen2.5-coder-7b")) as server:
        page = opened(
            "ask.ipynb",
            server.base_url,
            "%%ask\nWhich month of 2024 grew the most against 2023?",
            'after[-1], change["best_month"]',
        )
        page.run_all()
        page.idle(30)
        picture(page, "ask-folded")
        summary = page.page.locator("summary", has_text="script 1")
        assert not page.page.locator("details").last.evaluate("e => e.open")
        summary.click()
        page.page.locator("td code", has_text="compare(").first.wait_for()
        page.page.locator(".jp-Notebook .jp-CodeCell").nth(1).scroll_into_view_if_needed()
        picture(page, "ask")
        shown = page.outputs(1)

        assert "December grew the most." in shown
        assert "3 calls" in shown
        assert "%nit keep 1" in shown
        assert "2 rounds" in shown
        assert page.page.locator(".jp-RenderedMarkdown strong", has_text="December").count() == 1
        assert "12" in page.outputs(2)


def test_words_are_seen_while_they_come(opened):
    pieces = [part for n in range(60) for part in (f"word{n} ", Pause(0.05))]
    with openai_server(FakeModel([pieces])) as server:
        page = opened("streaming.ipynb", server.base_url, "%%ask\ngo")
        page.run_all()
        page.wait_for("word5")
        assert "word59" not in page.outputs(1)
        page.wait_for("word59")
        page.idle()


def test_the_question_is_answered_by_a_button(opened):
    turns = [[Script('send_mail(to="ann", text="<b>hi</b>")')], "Sent."]
    with openai_server(FakeModel(turns)) as server:
        page = opened("question.ipynb", server.base_url, "%%ask\nmail ann")
        page.run_all()
        page.wait_for("The model wants to call notebook.send_mail")
        picture(page, "ask-question")
        assert "<b>hi</b>" in page.page.locator("textarea").first.input_value()
        page.click("Run")
        page.wait_for("Sent.")
        page.idle()

        assert "notebook.send_mail: allowed" in page.outputs(1)
        assert page.count("button:visible:has-text('Reject')") == 0


def test_words_of_a_model_run_nothing_on_the_page(opened):
    hostile = "<img src=q onerror=\"document.title='HIT'\"> [l](javascript:void(0)) <b>5 < 6</b>"
    with openai_server(FakeModel([f"{hostile}\n\n![x](http://127.0.0.1:9/leak.png)"])) as server:
        page = opened("hostile-words.ipynb", server.base_url, "%%ask\ngo")
        page.run_all()
        page.idle()
        page.page.wait_for_timeout(500)

        assert "<b>5 < 6</b>" in page.outputs(1)
        assert page.page.title() != "HIT"
        assert page.count(".jp-OutputArea img") == 0


def test_a_script_is_kept_as_a_cell(opened):
    turns = [[Script("$sales = load_sales(year=2024)")], "Loaded."]
    with openai_server(FakeModel(turns)) as server:
        page = opened("keep.ipynb", server.base_url, "%%ask\nload", "%nit keep 1")
        page.run_all()
        cells = page.page.locator(".jp-Notebook .jp-CodeCell")
        page.page.wait_for_function(
            "() => document.querySelectorAll('.jp-Notebook .jp-CodeCell').length == 4"
        )

        assert "load_sales" in cells.nth(3).inner_text()
