"""A model's words as Markdown in which nothing runs and nothing is fetched."""

import html
import re
from html.parser import HTMLParser

import mistune
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nit_kernel.notebook.words import Words, as_markdown


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a < b && c > d", "a < b && c > d"),
        ("<b>5 < 6</b>", "&lt;b>5 < 6&lt;/b>"),
        ("use `<div>` here", "use `<div>` here"),
        ("```html\n<p>x</p>\n```\n<p>", "```html\n<p>x</p>\n```\n&lt;p>"),
        ("~~~\n<p>\n", "~~~\n<p>\n"),
        ("| a | `x|<img>` |", "| a | `x|<\u200cimg>` |"),
        ("odd ` tick\n`<img>`", "odd ` tick\n`<\u200cimg>`"),
        ("    <img>", "    <\u200cimg>"),
        ("- a\n\n  ```\nfoo <script>", "- a\n\n  ```\nfoo <\u200cscript>"),
        ("$$\n```\n$$\n<img>\n", "$$\n```\n$$\n<\u200cimg>\n"),
        ("[x](javascript:alert(1))", "[x]\\(javascript:alert(1))"),
        ("[x](JaVa&#115;cript:alert(1))", "[x]\\(JaVa&#115;cript:alert(1))"),
        ("[x](data:text/html,hi)", "[x]\\(data:text/html,hi)"),
        ("[x](https://e.org/a:b) [y](#z) [z](f.md)", "[x](https://e.org/a:b) [y](#z) [z](f.md)"),
        ("[x]: javascript:alert(1)", "\\[x]: javascript:alert(1)"),
        ("![x](https://e.org/?secret)", "[x](https://e.org/?secret)"),
        ("a\n```nit\n\n```\nb", "a\nb"),
        ("a\n```nit\n", "a"),
        ("```\na\n```\n\n```\nb\n```", "```\na\n```\n\n```\nb\n```"),
        ("1 <- 2, <3, <-, <=", "1 <- 2, <3, <-, <="),
        ("<!-- x --> <?php ?> </b>", "&lt;!-- x --> &lt;?php ?> &lt;/b>"),
    ],
)
def test_markdown_of_words(text, markdown):
    assert as_markdown(text).rstrip("\n") == markdown.rstrip("\n")


class Tags(HTMLParser):
    """Collects what a page would take for an element, with its attributes."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


ATTACK = "<img src=q onerror=hit>"
PIECES = [
    ATTACK, "<script>hit</script>", "`", "``", "```", "~~~", "\n", "\n\n", "- ", "> ", "    ",
    "\t", "\\", "|", "$", "$$", "[a](", "![a](", ")", "[a]: ", "javascript:hit", "x", " ", "# ",
    "\\begin{a}", "\\end{a}", "*", "1. ", "<", ">", "&lt;", "<a", "<!--", "-->", "<http://x`>",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_a_renderer_that_passes_html_on_makes_no_element_of_a_models_words(text):
    rendered = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "math"])(
        as_markdown(text)
    )
    parser = Tags()
    parser.feed(rendered)

    for tag, attributes in parser.found:
        assert tag not in ("img", "script"), (text, rendered)
        assert "onerror" not in attributes, (text, rendered)
        link = html.unescape(attributes.get("href") or "")
        assert not re.match(r"\s*javascript:", link, re.IGNORECASE), (text, rendered)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_words_without_tags_links_and_images_are_untouched(text):
    plain = re.sub(r"[<!\[\]~`]", "", text)
    assert as_markdown(plain) == plain


def said(*steps):
    words = Words()
    for step in steps:
        if step is None:
            words.leave_out()
        else:
            words.add(step)
    return str(words)


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (["a\n\n", None, "\n", "\n", "b"], "a\n\nb"),
        (["a ", None, " b"], "a b"),
        (["a", None, "b"], "ab"),
        ([None, "\n\nb"], "b"),
        (["a:\n", None, "\n    code"], "a:\n\n    code"),
        (["a\n", None, "\n", None, "\nb"], "a\n\nb"),
        (["a\n\n", None], "a"),
        (["a\n", "\nb\n"], "a\n\nb\n"),
    ],
)
def test_the_gap_of_a_script_is_one_empty_line(steps, text):
    assert said(*steps) == text


def test_replies_follow_each_other_as_paragraphs_and_one_can_be_withdrawn():
    words = Words()
    words.add("one\n")
    words.begin_reply()
    words.add("wrong")
    withdrawn = words.withdraw()
    words.begin_reply()
    words.add("two")

    assert withdrawn == "wrong"
    assert str(words) == "one\n\ntwo"
