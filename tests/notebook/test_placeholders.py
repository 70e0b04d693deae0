"""`{name}` in a message: what is a placeholder, and what is sent as it stands."""

import base64
import json

import pytest

from nit_kernel.notebook.placeholders import Filled, fill


class Config:
    def __init__(self):
        self.token = "t-test"


class Picture:
    def _repr_png_(self):
        return b"\x89PNG data"


class Broken:
    def __str__(self):
        raise ValueError("no text")


NAMES = {
    "name": "Ada",
    "cfg": Config(),
    "n": 3,
    "rows": [{"a": 1}],
    "braces": "{n} and {name}",
    "pic": Picture(),
    "broken": Broken(),
    "json": json,
    "Config": Config,
    "fill": fill,
    "größe": "groß",
    "a": "A",
    "b": "B",
    "x": "X",
}


def sent(body, **options):
    return fill(body, NAMES, chars=options.pop("chars", 1000), **options).content


@pytest.mark.parametrize(
    "body",
    [
        "explain: {'a': 1} and {v: k for k, v in d.items()}",
        "{cfg.__init__.__globals__}",
        "{cfg.token}",
        "{cfg}",
        "{name!r:>10} {0} {}",
        "{name!r} {name:>10} {name[0]} { name } {name }",
        "const f = () => { return {x: 1}; }",
        "const s = `hello ${name}`;",
        "a template: {{name}} and {{{name}}}",
        r"\frac{a}{b} + \sqrt[n]{x} + \text{name}",
        "{json} {Config} {fill} {broken} {unknown}",
        "{ {x",
        "{\nname\n}",
    ],
)
def test_what_is_no_placeholder_is_sent_as_it_stands(body):
    assert sent(body) == body


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("Hello {name}, keep {unknown}", "Hello Ada, keep {unknown}"),
        ("{n}{name}{n}", "3Ada3"),
        ("rows: {rows}", "rows: [{'a': 1}]"),
        ("{größe}", "groß"),
        ("{braces}", "{n} and {name}"),
        ('{"who": "{name}"}', '{"who": "Ada"}'),
    ],
)
def test_a_placeholder_becomes_the_value_and_is_not_read_again(body, message):
    assert sent(body) == message


def test_names_of_ipython_are_no_variables_of_the_person():
    assert sent("{name} {n}", hidden=["n"]) == "Ada {n}"


def test_a_long_value_is_shortened_and_that_is_said():
    filled = fill("{long}", {"long": "x" * 5000}, chars=200)

    assert len(filled.content) <= 200
    assert filled.notes == (
        "{long} (5,000 chars) was shortened to 200 characters; `%nit share long` lets the model's "
        "scripts work with all of it",
    )


def test_a_picture_becomes_an_image_part_with_its_name_in_the_text():
    address = "data:image/png;base64," + base64.b64encode(b"\x89PNG data").decode()

    assert fill("see {pic} and {pic}, {name}", NAMES, chars=100) == Filled(
        [
            {"type": "text", "text": "see [image: pic] and [image: pic], Ada"},
            {"type": "text", "text": "[image: pic]"},
            {"type": "image_url", "image_url": {"url": address}},
        ]
    )


def test_a_figure_of_matplotlib_becomes_a_png():
    pyplot = pytest.importorskip("matplotlib.figure")
    figure = pyplot.Figure()
    figure.subplots().plot([1, 2])
    parts = fill("{figure}", {"figure": figure}, chars=100).content
    head = "data:image/png;base64,"
    url = parts[2]["image_url"]["url"]

    assert url.startswith(head)
    assert base64.b64decode(url.removeprefix(head)).startswith(b"\x89PNG\r\n")
