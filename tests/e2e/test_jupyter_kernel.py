"""The NIT kernel against `jupyter_kernel_test`, which asks what every kernel must answer."""

import jupyter_kernel_test as jkt
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


@pytest.fixture(autouse=True, scope="module")
def own_history(tmp_path_factory):
    """A history without what was typed on this machine before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        yield


class NitKernelTests(jkt.KernelTests):
    """The library wants a class."""

    kernel_name = "nit"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    code_page_something = "zip?"
    code_clear_output = "from IPython.display import clear_output; clear_output()"
    code_generate_error = "%%nit\nno_such_tool()\n"
    code_inspect_sample = "zip"
    code_history_pattern = "6?*?7"
    supported_history_operations = ("tail", "search")
    completion_samples = (
        {"text": "zi", "matches": {"zip"}},
        {"text": "%%nit\nhel", "matches": {"help"}},
    )
    complete_code_samples = ("1", "print('x')", "%%nit\n$a = f()\n\n\n", "<nit>\nf()\n</nit>")
    incomplete_code_samples = ("%%nit\n$a = f()", "def f():", "<nit>\nf()\n")
    invalid_code_samples = ("import = 7q",)
    code_execute_result = (
        {"code": "6 * 7", "result": "42"},
        {"code": "%%nit\n[1, 2]", "result": "[1, 2]"},
        {"code": "<nit>\n[1, 2]\n</nit>", "result": "[1, 2]"},
    )
    code_display_data = (
        {
            "code": "from IPython.display import HTML, display; display(HTML('x'))",
            "mime": "text/html",
        },
    )
