"""The page on codecs: what it shows is what there is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import nit_kernel as nit
from nit_kernel.model.codecs import faults
from nit_kernel.model.codecs.text_calls import TEXT_FORMATS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "codecs.md").read_text(encoding="utf-8")


def test_the_codec_on_the_page_is_the_example_and_passes_the_check() -> None:
    example = (ROOT / "examples" / "custom_codec.py").read_text(encoding="utf-8")
    shown = next(
        block
        for block in re.findall(r"```python\n(.*?)```\n", PAGE, re.DOTALL)
        if "class AngleCodec" in block
    )
    assert shown == example
    namespace: dict[str, object] = {"__name__": "page"}
    exec(compile(shown, "docs/codecs.md", "exec"), namespace)
    assert nit.codec_conformance(namespace["AngleCodec"]())  # type: ignore[operator]


def test_every_setting_is_on_the_page_and_nothing_else() -> None:
    makers = (nit.nit_codec, nit.native_codec, nit.json_codec, nit.react_codec, nit.text_codec)
    settings = {name for maker in makers for name in inspect.signature(maker).parameters}
    rows = re.findall(r"^\| `(\w+)` \| (?:nit|json|native|react)", PAGE, re.MULTILINE)
    assert settings - {"form", "instructions", "result_chars"} == set(rows)
    assert {form for form in TEXT_FORMATS if f"`{form}`" in PAGE} == set(TEXT_FORMATS)


def test_every_code_is_listed_and_every_listed_code_is_used() -> None:
    listed = (ROOT / "docs" / "diagnostics.d" / "codecs.md").read_text(encoding="utf-8")
    used = {value for value in vars(faults).values() if re.fullmatch(r"NIT6\d\d", str(value))}
    assert set(re.findall(r"NIT\d+", listed)) == used
