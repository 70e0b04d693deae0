"""The text plugin: summaries without a model, in any language, whatever the text."""

import pytest
from plugins.shipped import function_of, load_shipped

summarize_text = function_of(load_shipped("text"), "summarize_text")

ENGLISH = (
    "The river rose again on Monday. Dr. Lee of the water board said the dam holds. Nobody was"
    " hurt."
    " The dam was built in 1962 and holds 3.5 million litres of river water. People in the valley"
    " watched the dam all night. Somebody made tea. The board will look at the dam and the river"
    " again on Friday."
)
CHINESE = (
    "今天的屏幕上打开了三个窗口。第一个窗口是浏览器，里面显示的是公司的季度财务报告！"
    "报告中提到，第三季度的收入增长了百分之十二。"
    "第二个窗口是代码编辑器；其中有一个尚未保存的文件。"
    "第三个窗口是聊天软件，没有新的消息。季度财务报告还指出，成本下降了百分之三。请问还有什么问题吗？"
)


def test_the_first_line_says_how_the_summary_was_made() -> None:
    first, *rest = summarize_text(content=ENGLISH, sentences=2).split("\n")
    assert first == (
        "Summary (no model used; 2 of 7 sentences, chosen by the frequency of their words; 295"
        " characters):"
    )
    assert rest == [
        "The river rose again on Monday.",
        "The dam was built in 1962 and holds 3.5 million litres of river water.",
    ]


def test_chinese_sentences_are_told_apart() -> None:
    first, *rest = summarize_text(content=CHINESE, sentences=2, max_chars=100).split("\n")
    assert first.startswith("Summary (no model used; 2 of 8 sentences")
    assert len(rest) == 2
    assert all(line in CHINESE for line in rest)


def test_sentences_are_taken_word_for_word_and_in_order() -> None:
    for text in (ENGLISH, CHINESE):
        _, *rest = summarize_text(content=text, sentences=4, max_chars=1000).split("\n")
        places = [text.index(line) for line in rest]
        assert len(rest) == 4
        assert places == sorted(places)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", "Summary (no model used): the text is empty."),
        (" \n -- !!! ", "Summary (no model used): the text is empty."),
        (
            "One short note",
            "Summary (no model used; the whole text, 14 characters):\nOne short note",
        ),
        ("a\n\nb", "Summary (no model used; the whole text, 4 characters):\na\n\nb"),
    ],
)
def test_a_short_text_is_its_own_summary(text: str, result: str) -> None:
    assert summarize_text(content=text) == result


def test_a_summary_is_no_longer_than_asked() -> None:
    text = " ".join(
        f"Sentence number {n} speaks of {'things ' * (n % 30)}here." for n in range(400)
    )
    for most in (100, 500, 3_000):
        _, _, body = summarize_text(content=text, sentences=50, max_chars=most).partition("\n")
        assert 0 < len(body) <= most
    _, _, body = summarize_text(content="word " * 10_000, max_chars=150).partition("\n")
    assert len(body) <= 150
    assert body.endswith("…")


@pytest.mark.parametrize(
    "unit",
    ["word ", "a. ", ".", "\n", "\n ", "。", "1. ", '."', "字", "one two three. ", "\u200b", "\0"],
)
@pytest.mark.timeout(50)
def test_long_odd_text_takes_linear_time(unit: str) -> None:
    result = summarize_text(content=unit * (3_000_000 // len(unit)), sentences=100, max_chars=5_000)
    assert len(result) < 6_000


def test_of_a_very_long_text_head_and_tail_are_read_and_that_is_said() -> None:
    text = "The first thing. " + "Filler goes here. " * 100_000 + "The last thing."
    first, *rest = summarize_text(content=text, sentences=3).split("\n")
    assert first.endswith("of which the middle 800,032 were not read):")
    assert "The first thing." in rest
