"""What the documents say is true: codes are listed, links lead somewhere, examples run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
CODE = re.compile(r"\bNIT\d{3}\b")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_every_code_that_the_sources_use_is_listed() -> None:
    sources = [
        *(ROOT / "nit_kernel").rglob("*.py"),
        *(ROOT / "rust" / "nit_syntax" / "src").rglob("*.rs"),
        *(ROOT / "rust" / "nit_python" / "src").rglob("*.rs"),
    ]
    shipped = ROOT / "nit_kernel" / "plugins"  # a copy that a build leaves
    used = {
        code
        for path in sources
        if shipped not in path.parents
        for code in CODE.findall(text_of(path))
    }
    listed = {
        code
        for path in (ROOT / "docs" / "diagnostics.d").glob("*.md")
        for code in CODE.findall(text_of(path))
    }
    rows = [
        code
        for path in (ROOT / "docs" / "diagnostics.d").glob("*.md")
        for code in re.findall(r"^\| (NIT\d{3}) \|", text_of(path), re.MULTILINE)
    ]
    assert sorted(rows) == sorted(set(rows))
    # Boundaries of the ranges, which comparisons name.
    assert used - listed - {"NIT300", "NIT400"} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_of_a_document_leads_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text_of(document))
    local = [target for target in targets if not re.match(r"[a-z]+:", target)]
    assert [target for target in local if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_every_source_file_that_a_guide_names_is_there(name: str) -> None:
    folders = [ROOT / "nit_kernel", ROOT / "plugins", *(ROOT / "rust").glob("*/src")]
    there = [path.as_posix() for folder in folders for path in folder.rglob("*.*")]
    named = set(re.findall(r"`([\w./-]+\.(?:py|pyi|rs))`", text_of(ROOT / name)))
    missing = [each for each in named if not any(path.endswith(f"/{each}") for path in there)]
    assert named
    assert missing == []


def test_the_python_examples_of_the_readme_run(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", text_of(ROOT / "README.md"), re.DOTALL)
    whole = [block for block in blocks if "import nit_kernel" in block]
    assert whole
    for block in whole:
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out == "3\n"
