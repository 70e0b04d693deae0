"""The stream filter on real prose, real scripts and the reported faults, however they are cut."""

import itertools
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nit_kernel._syntax import (
    Block,
    BlockOpen,
    Event,
    Reasoning,
    Rejected,
    StreamFilter,
    Text,
    Unclosed,
)

ID = "A1B2"
OPEN, CLOSE = f"<nit-{ID}>", f"</nit-{ID}>"


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def filtered(chunks: Iterable[str], **options: object) -> list[Event]:
    """All events of a stream, neighbouring texts merged."""
    stream = StreamFilter(ID, **options)
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    merged: list[Event] = []
    for event in events + stream.finish():
        last = merged[-1] if merged else None
        if isinstance(event, Text) and isinstance(last, Text):
            merged[-1] = Text(last.text + event.text)
        elif isinstance(event, Reasoning) and isinstance(last, Reasoning):
            merged[-1] = Reasoning(last.text + event.text)
        else:
            merged.append(event)
    return merged


def visible(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def scripts(events: list[Event]) -> list[str]:
    return [event.script for event in events if isinstance(event, Block)]


def cuttings(text: str, *, limit: int = 400) -> Iterator[list[str]]:
    """The whole text, one character at a time, and every cut (evenly sampled if too many)."""
    yield [text]
    yield list(text)
    step = max(1, len(text) // limit)
    for place in range(1, len(text), step):
        yield [text[:place], text[place:]]


def assert_same_for_every_cutting(text: str, expected: list[Event], *, limit: int = 400) -> None:
    for chunks in cuttings(text, limit=limit):
        assert filtered(chunks) == expected, [len(chunk) for chunk in chunks[:3]]


@pytest.fixture(scope="module")
def faults(shared: Path) -> dict[str, dict]:
    return {row["id"]: row for row in rows(shared / "cases" / "bugs.jsonl")}


def test_a_tag_is_found_at_every_cut_and_every_pair_of_cuts(faults: dict[str, dict]) -> None:
    text = faults["B01"]["input"]["text"]
    places = range(len(text) + 1)
    for first, second in itertools.combinations_with_replacement(places, 2):
        events = filtered([text[:first], text[first:second], text[second:]])
        assert visible(events) == "Sure. Done."
        assert [script.strip() for script in scripts(events)] == ['note(msg="k-17")']
    assert_same_for_every_cutting(text, filtered([text]))


def test_maths_and_foreign_tags_pass_as_text(faults: dict[str, dict]) -> None:
    for case in faults["B03"]["input"]["cases"]:
        text = case["text"]
        events = filtered([text])
        assert visible(events) == text
        assert scripts(events) == []
        assert_same_for_every_cutting(text, events)
    texts = [case["text"] for case in faults["B03"]["input"]["cases"]]
    rejected = [[e.tag for e in filtered([t]) if isinstance(e, Rejected)] for t in texts]
    assert rejected == [[], ["<nit-QQ77>"], ["<NIT-a1b2>"]]


def test_a_closing_tag_inside_a_string_does_not_close(faults: dict[str, dict]) -> None:
    text = faults["B05"]["input"]["text"]
    inside = text.removeprefix("Writing." + OPEN).removesuffix(CLOSE + "After")
    expected = [Text("Writing."), BlockOpen(ID), Block(inside, ID), Text("After")]
    assert_same_for_every_cutting(text, expected)


def test_a_draft_in_reasoning_is_no_block(faults: dict[str, dict]) -> None:
    text = faults["B07"]["input"]["text"]
    events = filtered([text])
    assert scripts(events) == ['\nls(path="<think>.md")\n']
    assert visible(events) == "Listing instead."
    assert events[0] == Reasoning(
        f'I could send {OPEN}\nwipe(target="all")\n{CLOSE} but that is rude.'
    )
    assert_same_for_every_cutting(text, events)


def test_every_prose_message_passes_unchanged(shared: Path) -> None:
    for row in rows(shared / "corpus" / "codec" / "assistant_prose.jsonl"):
        text = row["text"]
        expected = [Text(text)] if text else []
        assert filtered([text]) == expected
        assert filtered(text) == expected
        assert filtered([text], legacy=True) == expected
        for chunks in cuttings(text, limit=20):
            assert filtered(chunks) == expected


def corpus_files(shared: Path) -> list[Path]:
    return [*sorted((shared / "corpus" / "scripts").glob("*.jsonl")), shared / "corpus/big.jsonl"]


def test_every_corpus_script_comes_out_whole_between_two_messages(shared: Path) -> None:
    prose = [row["text"] for row in rows(shared / "corpus" / "codec" / "assistant_prose.jsonl")]
    chooser = random.Random(20)
    count = 0
    for path in corpus_files(shared):
        for row in rows(path):
            script = f"\n{row['script']}\n"
            before, after = chooser.choice(prose), chooser.choice(prose)
            text = before + OPEN + script + CLOSE + after
            expected = [Text(before), BlockOpen(ID), Block(script, ID), Text(after)]
            expected = [event for event in expected if event != Text("")]
            assert_same_for_every_cutting(text, expected, limit=12)
            # all cuts in and around the tags
            for tag_at in (len(before), len(before + OPEN + script)):
                for place in range(tag_at - 1, tag_at + len(CLOSE) + 2):
                    assert filtered([text[:place], text[place:]]) == expected
            cuts = sorted(chooser.randrange(len(text)) for _ in range(20))
            pieces = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
            assert filtered(pieces) == expected
            count += 1
    assert count > 3_800


def test_every_cut_of_the_short_corpus_scripts_gives_the_same(shared: Path) -> None:
    for path in corpus_files(shared):
        short = [row["script"] for row in rows(path) if len(row["script"]) < 300]
        for script in short[:40]:
            text = f"Before.{OPEN}{script}{CLOSE} After."
            expected = [Text("Before."), BlockOpen(ID), Block(script, ID), Text(" After.")]
            assert_same_for_every_cutting(text, expected)


def test_the_other_spellings_of_a_corpus_script_come_out_whole(shared: Path) -> None:
    for path in corpus_files(shared):
        for row in rows(path):
            for script in row.get("alts", {}).values():
                expected = [BlockOpen(ID), Block(script, ID), Text("x")]
                assert filtered([OPEN + script + CLOSE + "x"]) == expected
                assert filtered(OPEN + script + CLOSE + "x") == expected


def test_lone_surrogate_halves_keep_their_place() -> None:
    text = f"a\ud83d{OPEN}f('\ude00')\udfff{CLOSE}\ud83d\ude00 b"
    events = [Text("a\ud83d"), BlockOpen(ID), Block("f('\ude00')\udfff", ID)]
    assert_same_for_every_cutting(text, [*events, Text("\ud83d\ude00 b")])


def test_a_chunk_without_a_tag_is_passed_on_as_it_is() -> None:
    chunk = "表 text " * 20
    (event,) = StreamFilter(ID).feed(chunk)
    assert isinstance(event, Text)
    assert event.text is chunk


def test_neighbouring_text_of_one_chunk_is_one_event() -> None:
    stream = StreamFilter(ID)
    assert stream.feed("a<ni") == [Text("a")]
    assert stream.feed("t a <b <nit") == [Text("<nit a <b ")]
    assert stream.finish() == [Text("<nit")]


def test_what_a_broken_stream_held_back_is_released_and_forgotten() -> None:
    stream = StreamFilter(ID, legacy=True)
    assert stream.feed(f"{OPEN}f(") == [BlockOpen(ID)]
    assert stream.finish() == [Unclosed("f(")]
    assert stream.feed("<thin") == []
    assert stream.finish() == [Text("<thin")]
    assert stream.feed("plain") == [Text("plain")]
    assert stream.finish() == []
    assert stream.feed("") == []


def test_nit_1_blocks_are_found_among_the_others() -> None:
    text = f"a[[[NIT_CALL]]]\nf\n[[[NIT_END]]]b{OPEN}g(){CLOSE}[[c"
    for chunks in cuttings(text):
        assert filtered(chunks, legacy=True) == [
            Text("a"),
            BlockOpen(""),
            Block("\nf\n", "", True),
            Text("b"),
            BlockOpen(ID),
            Block("g()", ID),
            Text("[[c"),
        ]


def test_the_reasoning_tags_can_be_named() -> None:
    text = "<thinking>a</thinking>b<seed:think>c</seed:think><think>d"
    events = [Reasoning("a"), Text("b"), Reasoning("c"), Text("<think>d")]
    for chunks in cuttings(text):
        assert filtered(chunks, reasoning=("thinking", "seed:think")) == events
    assert filtered([text], reasoning=()) == [Text(text)]


def test_a_bad_id_or_reasoning_name_is_refused() -> None:
    with pytest.raises(ValueError, match='1 to 32 ASCII letters and digits, not "A 1"'):
        StreamFilter("A 1")
    with pytest.raises(ValueError, match='"<think>" cannot name a reasoning tag'):
        StreamFilter(ID, reasoning=("<think>",))
    with pytest.raises(TypeError):
        StreamFilter(ID, reasoning="think")


def test_events_are_values() -> None:
    assert Block("f()", ID) == Block("f()", ID, False)
    assert Block("f()", ID) != Block("f()", ID, True)
    assert Text("a") != Reasoning("a")
    assert len({Text("a"), Text("a"), Reasoning("a"), Block("a", ID), Block("a", ID)}) == 3
    events = [Text("a"), Reasoning("r"), BlockOpen(ID), Rejected("<nit>"), Unclosed("u")]
    assert repr(events) == (
        "[Text('a'), Reasoning('r'), BlockOpen('A1B2'), Rejected('<nit>'), Unclosed('u')]"
    )
    assert repr(Block("a", "", True)) == "Block('a', '', legacy=True)"
    match events[0], Block("f()", ID, True):
        case Text(text), Block(script, id_, legacy):
            assert (text, script, id_, legacy) == ("a", "f()", ID, True)


PIECES = [OPEN, CLOSE, "<nit>", "<think>", "</think>", "[[[NIT_CALL]]]", "[[[NIT_END]]]"]
PIECES += ['"', "'", '"""', "\\", "\n", "#", "<", "[", "`", "é", "😀", "\ud83d", "x"]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30), st.data(), st.booleans())
def test_any_cutting_gives_the_same_events(
    pieces: list[str], data: st.DataObject, legacy: bool
) -> None:
    text = "".join(pieces)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    chunks = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    expected = filtered([text], legacy=legacy)
    assert filtered(chunks, legacy=legacy) == expected
    assert filtered(text, legacy=legacy) == expected
