"""`%nit model local`: a model served by this machine, and what stands in its way."""

import os
from pathlib import Path

import pytest
from asking import FREE, run
from kernel_driver import NIT
from kernel_tools import start

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


@pytest.fixture
def kernel(plugin_folder):
    saved = {k: os.environ.pop(k, None) for k in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "NIT_MODEL")}
    try:
        with start(NIT, plugin_folder) as kernel:
            yield kernel
    finally:
        os.environ.update({k: v for k, v in saved.items() if v is not None})


def test_a_file_that_cannot_be_served_is_an_error_of_two_lines(kernel, tmp_path):
    (tmp_path / "text.gguf").write_text("no model", encoding="utf-8")
    for wrapper in ("", "%%time\n"):
        gone = kernel.run(f"{wrapper}%nit model local {tmp_path / 'gone.gguf'}")
        text = kernel.run(f"{wrapper}%nit model local '{tmp_path / 'text.gguf'}'")

        assert gone.error.splitlines()[0] == f"NIT683: there is no file {tmp_path / 'gone.gguf'}"
        assert "text.gguf is no GGUF file" in text.error
        assert len(gone.error.splitlines()) == len(text.error.splitlines()) == 2


@pytest.mark.model
@pytest.mark.timeout(1200)
def test_a_served_model_answers_and_ends_with_the_kernel(kernel):
    file = os.environ.get("NIT_TEST_GGUF")
    if not file or not Path(file).is_file():
        pytest.skip("set NIT_TEST_GGUF to a small model to test with it")
    kernel.run(FREE)
    started = kernel.run(f"%nit model local {file}", timeout=300)
    kernel.run("%config NitMagics.max_rounds = 1")
    cell = run(kernel, "%%ask --codec json\nSay hello.\n", timeout=800)
    process = kernel.run(
        "import os; p = next(c for c in os.listdir('/proc') if c.isdigit() and b'local_server' in "
        "open(f'/proc/{c}/cmdline', 'rb').read() and f'PPid:\\t{os.getpid()}\\n' in "
        "open(f'/proc/{c}/status').read()); int(p)"
    )
    seconds = kernel.shutdown()

    assert started.stdout.splitlines()[-1].startswith(f"model: {Path(file).stem}, at http://127.")
    assert cell.status == "ok", cell.text
    # With words or with a call, as it happens to like: a small model's choice is not the test.
    usage = [m.content["metadata"]["nit"] for m in cell.messages if m.content.get("metadata")]
    assert usage[-1]["completion_tokens"] > 0
    assert seconds < 3
    end = kernel.now() + 30
    while Path(f"/proc/{process.result}/cmdline").exists() and kernel.now() < end:
        kernel.pump(0.1)
    assert not Path(f"/proc/{process.result}").exists()
