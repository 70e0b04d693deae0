"""The notify plugin: a message is shown at once, as plain text, and nothing waits for it."""

import pytest
from plugins.shipped import function_of, load_shipped

notify_user = function_of(load_shipped("notify"), "notify_user")


class Context:
    def __init__(self) -> None:
        self.shown: list[object] = []

    def display(self, value: object) -> None:
        self.shown.append(value)


@pytest.mark.parametrize(
    ("msg", "level", "shown"),
    [
        ("正在分析屏幕内容...", "info", "ℹ 正在分析屏幕内容..."),
        ("done", "success", "✓ done"),
        ("a\nb", "warning", "⚠ a\nb"),
        ("<img src=q onerror=alert(1)>", "error", "✗ <img src=q onerror=alert(1)>"),
        ("\x1b[31mred\x07\r\u202e", "info", "ℹ \ufffd[31mred\ufffd\ufffd\ufffd"),
        ("x" * 3_000, "info", "ℹ " + "x" * 2_000 + "… [1,000 characters left out]"),
    ],
)
def test_a_message_is_shown_as_plain_text(msg: str, level: str, shown: str) -> None:
    ctx = Context()
    assert notify_user(msg=msg, level=level, ctx=ctx) is None
    (notice,) = ctx.shown
    assert repr(notice) == shown
    # Nothing but its plain text is ever offered to a front end.
    assert not [
        name for name in dir(notice) if name.startswith("_repr_") or name == "_ipython_display_"
    ]


def test_without_a_context_it_goes_to_the_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    notify_user(msg="hello")
    assert capsys.readouterr() == ("", "ℹ hello\n")
