"""Reading the screen by OCR, or the notebook's last cells; which of both can be read here."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys

from nit_kernel.runtime.surroundings import SURROUNDINGS, Surroundings

_CELLS = 5
_MAX_CHARS = 20_000
_MAX_OUTPUT = 4_000
_OCR_S = 30
# Read together where tesseract has their data: English and the languages of NIT's own users.
_LANGUAGES = ("eng", "chi_sim", "chi_tra", "jpn", "kor", "deu", "fra", "spa", "rus")
_INSTALL = 'pip install "nit-kernel[screen]"'


class NothingToSeeError(RuntimeError):
    """There is neither a screen nor a notebook that could be read."""


def look(source: str) -> str:
    """Return what can be seen, after a line that says where.

    Raises:
        NothingToSeeError: It cannot be read; the message says what is missing.
    """
    provider = SURROUNDINGS.get()
    if source == "notebook":
        if provider is None:
            raise NothingToSeeError("this script does not run in a notebook")
        return _notebook(provider)
    missing = _missing_for_screen()
    if missing is None:
        try:
            return _screen()
        except Exception as error:
            if source == "screen" or provider is None:
                raise NothingToSeeError(f"the screen cannot be read: {error}") from error
            missing = f"the screen cannot be read: {error}"
    if source == "screen":
        raise NothingToSeeError(missing)
    if provider is None:
        raise NothingToSeeError(
            f"neither a screen nor a notebook can be read: {missing}; and this script does not run"
            " in a notebook"
        )
    return _notebook(provider)


def _missing_for_screen() -> str | None:
    """What keeps the screen from being read, with what to do about it."""
    has_display = bool(os.environ.get("DISPLAY"))
    if sys.platform in ("win32", "darwin"):
        has_display = True
    if not has_display:
        if os.environ.get("WAYLAND_DISPLAY"):
            return "a Wayland display cannot be read without Xwayland (no DISPLAY is set)"
        return "there is no display (DISPLAY is not set)"
    for module in ("mss", "pytesseract", "PIL"):
        if importlib.util.find_spec(module) is None:
            return f"the package {module} is not installed: {_INSTALL}"
    if shutil.which("tesseract") is None:
        return (
            "the program tesseract is not installed (Debian: apt install tesseract-ocr; macOS: brew"
            " install tesseract; Windows: winget install UB-Mannheim.TesseractOCR)"
        )
    return None


def _screen() -> str:
    import mss
    import pytesseract
    from PIL import Image

    # `mss.mss` is deprecated from 10.2 on, and all there is before.
    with (getattr(mss, "MSS", None) or mss.mss)() as camera:
        # The first entry is all monitors together.
        shot = camera.grab(camera.monitors[0])
    image = Image.frombytes("RGB", shot.size, shot.rgb)
    installed = set(pytesseract.get_languages(config=""))
    languages = "+".join(name for name in _LANGUAGES if name in installed)
    text = pytesseract.image_to_string(image, lang=languages or None, timeout=_OCR_S)
    lines = (line.rstrip() for line in text.splitlines())
    body = _shortened("\n".join(line for line in lines if line), _MAX_CHARS)
    head = f"Screen ({shot.width} x {shot.height}), read by OCR:"
    return f"{head}\n{body or '[no text was recognised]'}"


def _notebook(provider: Surroundings) -> str:
    # One more than is shown: the last one is the cell that asks.
    cells = list(provider.recent_cells(_CELLS + 1))
    parts = [f"Notebook, the last {len(cells)} cells with their outputs:"]
    for cell in cells:
        parts.append(f"In [{cell.number}]:\n{_shortened(cell.source.rstrip(), _MAX_OUTPUT)}")
        parts += [
            f"Out [{cell.number}]:\n{_shortened(output.rstrip(), _MAX_OUTPUT)}"
            for output in cell.outputs
            if output.strip()
        ]
    if not cells:
        return "Notebook: no cell has been run yet."
    return _shortened("\n\n".join(parts), _MAX_CHARS)


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3], text[-(most // 3) :]
    return f"{head}\n[{len(text) - len(head) - len(tail):,} characters left out]\n{tail}"
