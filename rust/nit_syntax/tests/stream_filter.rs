//! The stream filter against a slow reading of its rules, for every way to cut a text.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may fail loudly"
)]

use nit_syntax::stream_filter::{StreamEvent, StreamFilter};
use proptest::prelude::*;

const OPEN: &[u8] = b"<nit-A1B2>";
const CLOSE: &[u8] = b"</nit-A1B2>";
const CALL: &[u8] = b"[[[NIT_CALL]]]";
const END: &[u8] = b"[[[NIT_END]]]";
const LONGEST: usize = CALL.len();

fn filter(legacy: bool) -> StreamFilter {
    StreamFilter::new("A1B2", legacy, &["think", "thought", "[THINK]"]).unwrap()
}

/// Events of one kind in a row are one; empty ones are none.
fn push(events: &mut Vec<StreamEvent>, event: StreamEvent) {
    if event == StreamEvent::Text(Vec::new()) {
        return;
    }
    match (events.last_mut(), event) {
        (Some(StreamEvent::Text(last)), StreamEvent::Text(more))
        | (Some(StreamEvent::Reasoning(last)), StreamEvent::Reasoning(more)) => last.extend(more),
        (_, event) => events.push(event),
    }
}

fn run<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, legacy: bool) -> Vec<StreamEvent> {
    let mut filter = filter(legacy);
    let mut merged = Vec::new();
    let mut events = Vec::new();
    for chunk in chunks {
        if filter.pass_through(chunk) {
            events.push(StreamEvent::Text(chunk.to_vec()));
        } else {
            filter.feed(chunk, &mut events);
        }
        for event in events.drain(..) {
            push(&mut merged, event);
        }
    }
    filter.finish(&mut events);
    for event in events {
        push(&mut merged, event);
    }
    merged
}

fn whole(text: &str) -> Vec<StreamEvent> {
    run([text.as_bytes()], false)
}

fn text(text: &str) -> StreamEvent {
    StreamEvent::Text(text.into())
}

fn reasoning(text: &str) -> StreamEvent {
    StreamEvent::Reasoning(text.into())
}

fn open() -> StreamEvent {
    StreamEvent::BlockOpen { legacy: false }
}

fn block(script: &str) -> StreamEvent {
    StreamEvent::Block {
        script: script.into(),
        legacy: false,
    }
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    (from..text.len()).find(|&at| text[at..].starts_with(what))
}

/// The end of a plain string that opens before `from`: `Ok` after its quote, `Err` at the
/// unescaped line break, or the end of the text, that leaves it open.
fn plain_string(text: &[u8], mut at: usize, quote: u8) -> Result<usize, usize> {
    while at < text.len() {
        match text[at] {
            b'\\' if text[at + 1..].starts_with(b"\r\n") => at += 3,
            b'\\' => at += 2,
            b'\r' | b'\n' => return Err(at),
            byte if byte == quote => return Ok(at + 1),
            _ => at += 1,
        }
    }
    Err(text.len())
}

/// Where the closing tag of a block starts, by the rules, with all of the text at hand.
fn closing_tag(text: &[u8], mut at: usize) -> Option<usize> {
    while at < text.len() {
        let rest = &text[at..];
        let quote = rest[0];
        if rest.starts_with(CLOSE) {
            return Some(at);
        } else if rest.starts_with(b"\"\"\"") || rest.starts_with(b"'''") {
            at += 3;
            while at < text.len() && !text[at..].starts_with(&[quote; 3]) {
                at += if text[at] == b'\\' { 2 } else { 1 };
            }
            at += 3;
        } else if quote == b'"' || quote == b'\'' {
            match plain_string(text, at + 1, quote) {
                Ok(end) => at = end,
                Err(end) => {
                    if let Some(tag) = find(&text[..end], at, CLOSE) {
                        return Some(tag);
                    }
                    at = end;
                }
            }
        } else if quote == b'#' {
            let end = (at..text.len()).find(|&i| matches!(text[i], b'\r' | b'\n'));
            let end = end.unwrap_or(text.len());
            if let Some(tag) = find(&text[..end], at, CLOSE) {
                return Some(tag);
            }
            at = end;
        } else {
            at += 1;
        }
    }
    None
}

fn rejected_length(rest: &[u8]) -> Option<usize> {
    if rest.len() < 5 || !rest[..4].eq_ignore_ascii_case(b"<nit") {
        return None;
    }
    if rest[4] == b'>' {
        return Some(5);
    }
    let id = rest[4..].strip_prefix(b"-")?;
    let length = id
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    ((1..=8).contains(&length) && id.get(length) == Some(&b'>')).then_some(length + 6)
}

/// What must come of a text, read without any regard to speed or streaming.
fn oracle(text: &[u8], legacy: bool) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let quoted = at > 0 && matches!(text[at - 1], b'`' | b'"' | b'\'');
        let span: Option<(&[u8], &[u8])> = [
            (&b"<think>"[..], &b"</think>"[..]),
            (&b"<thought>"[..], &b"</thought>"[..]),
            (&b"[THINK]"[..], &b"[/THINK]"[..]),
        ]
        .into_iter()
        .find(|(open, _)| !quoted && rest.starts_with(open));
        if rest.starts_with(OPEN) {
            events.push(open());
            let from = at + OPEN.len();
            if let Some(end) = closing_tag(text, from) {
                events.push(StreamEvent::Block {
                    script: text[from..end].into(),
                    legacy: false,
                });
                at = end + CLOSE.len();
            } else {
                events.push(StreamEvent::Unclosed(text[from..].into()));
                at = text.len();
            }
        } else if legacy && rest.starts_with(CALL) {
            events.push(StreamEvent::BlockOpen { legacy: true });
            let from = at + CALL.len();
            if let Some(end) = find(text, from, END) {
                events.push(StreamEvent::Block {
                    script: text[from..end].into(),
                    legacy: true,
                });
                at = end + END.len();
            } else {
                events.push(StreamEvent::Unclosed(text[from..].into()));
                at = text.len();
            }
        } else if let Some((opening, closing)) = span {
            let from = at + opening.len();
            let end = find(text, from, closing);
            let inside = &text[from..end.unwrap_or(text.len())];
            if !inside.is_empty() {
                push(&mut events, StreamEvent::Reasoning(inside.into()));
            }
            at = end.map_or(text.len(), |end| end + closing.len());
        } else if let Some(length) = rejected_length(rest) {
            push(&mut events, StreamEvent::Text(rest[..length].into()));
            events.push(StreamEvent::Rejected(rest[..length].into()));
            at += length;
        } else {
            push(&mut events, StreamEvent::Text(vec![text[at]]));
            at += 1;
        }
    }
    events
}

#[test]
fn a_block_between_prose_is_cut_out_at_every_cut() {
    let source = b"Sure.<nit-A1B2>\nnote(msg=\"k-17\")\n</nit-A1B2> Done.";
    let expected = vec![
        text("Sure."),
        open(),
        block("\nnote(msg=\"k-17\")\n"),
        text(" Done."),
    ];
    for first in 0..=source.len() {
        for second in first..=source.len() {
            let chunks = [&source[..first], &source[first..second], &source[second..]];
            assert_eq!(run(chunks, false), expected, "cut at {first} and {second}");
        }
    }
    assert_eq!(run(source.chunks(1), false), expected);
}

#[test]
fn prose_that_resembles_a_tag_passes_byte_for_byte() {
    for source in [
        "<nitrogen> is at 5 %, the prefix is `<nit`, and a<n, n<=i, 1<<3 is 8 <3 end.",
        "<nitpick> <nit- < nit> <nit-A1B2 </nit-A1B2> </think> [[[NIT_CALL]]] x [[[NIT_END]]]",
        "<nit-A1B2",
        "a < b",
        "<think",
        "the `<think>` tag, \"<think>\" and '<think>' are mentions",
        "表达式 a<b 与 <div>😀</div>",
    ] {
        assert_eq!(whole(source), [text(source)]);
    }
}

#[test]
fn a_near_miss_is_passed_on_and_rejected() {
    for tag in [
        "<nit>",
        "<NIT>",
        "<nit-QQ77>",
        "<NIT-A1B2>",
        "<nit-a1b2>",
        "<Nit-A1B>",
        "<nit-XXXX>",
    ] {
        let source = format!("x {tag}\nf()\n</nit> tail");
        let expected = vec![
            text(&format!("x {tag}")),
            StreamEvent::Rejected(tag.into()),
            text("\nf()\n</nit> tail"),
        ];
        assert_eq!(whole(&source), expected);
        assert_eq!(run(source.as_bytes().chunks(1), false), expected);
    }
}

#[test]
fn a_closing_tag_in_a_string_does_not_close() {
    for script in [
        r#"f(text="</nit-A1B2>")"#,
        r"f(text='</nit-A1B2>')",
        r#"f(text="a\"</nit-A1B2>")"#,
        "f(text=\"\"\"a\n</nit-A1B2>\"\n\"\"\")",
        "f(text='''\\'''</nit-A1B2>''')",
        r#"f(text=r"\"</nit-A1B2>")"#,
        r#"f(text=f"{$a}</nit-A1B2>")"#,
        "f(text=\"a\\\n</nit-A1B2>\")",
        "f(text=\"a\\\r\n</nit-A1B2>\")",
        r#"f(a="", b="</nit-A1B2>")"#,
        r#"f(a="it's </nit-A1B2>")"#,
        "# it's\nf(a='</nit-A1B2>')",
        r#"f(a="<think></nit-A1B2>")"#,
        "f(a=\"<nit-A1B2>\")",
    ] {
        let source = format!("a{}{script}{}b", "<nit-A1B2>", "</nit-A1B2>");
        let expected = vec![text("a"), open(), block(script), text("b")];
        assert_eq!(whole(&source), expected);
        assert_eq!(run(source.as_bytes().chunks(1), false), expected);
    }
}

#[test]
fn a_closing_tag_counts_in_comments_and_in_strings_that_their_line_leaves_open() {
    for (script, tail) in [
        ("# the end: ", " \"\nmore"),
        ("f(a=\"x", " and\nmore\""),
        ("f(a='x", ""),
        ("f(a='x", " tail"),
        ("f(a='x", " \\' \\"),
        ("f(a='it", "\rmore'"),
        ("f(a=\"\"\"x\"\"\" \"", "\n\""),
        ("$x = it's fine\n", " '"),
        ("f(a=\u{201c}x", "\u{201d}"),
    ] {
        let source = format!("{}{script}{}{tail}", "<nit-A1B2>", "</nit-A1B2>");
        let mut expected = vec![open(), block(script)];
        expected.extend((!tail.is_empty()).then(|| text(tail)));
        assert_eq!(whole(&source), expected, "{source}");
        assert_eq!(run(source.as_bytes().chunks(1), false), expected);
    }
}

#[test]
fn a_line_that_is_read_again_may_hold_further_blocks() {
    let source =
        "<nit-A1B2>a(\"</nit-A1B2> b <nit-A1B2>\\\" </nit-A1B2>c<nit-A1B2>d('')</nit-A1B2>e\nf";
    let expected = vec![
        open(),
        block("a(\""),
        text(" b "),
        open(),
        block("\\\" "),
        text("c"),
        open(),
        block("d('')"),
        text("e\nf"),
    ];
    assert_eq!(whole(source), expected);
    assert_eq!(run(source.as_bytes().chunks(1), false), expected);
}

#[test]
fn a_triple_quoted_string_that_never_ends_swallows_the_tag() {
    let source = "<nit-A1B2>f(\"\"\"</nit-A1B2> x\n";
    assert_eq!(
        whole(source),
        [
            open(),
            StreamEvent::Unclosed("f(\"\"\"</nit-A1B2> x\n".into())
        ]
    );
}

#[test]
fn blocks_in_reasoning_are_drafts() {
    let draft = "I could send <nit-A1B2>\nwipe(target=\"all\")\n</nit-A1B2> but <nit> is rude.";
    let source =
        format!("<think>{draft}</think>Listing.<nit-A1B2>\nls(path=\"<think>.md\")\n</nit-A1B2>");
    let expected = vec![
        reasoning(draft),
        text("Listing."),
        open(),
        block("\nls(path=\"<think>.md\")\n"),
    ];
    assert_eq!(whole(&source), expected);
    assert_eq!(run(source.as_bytes().chunks(1), false), expected);
}

#[test]
fn reasoning_may_stand_between_brackets() {
    let source = "a[[THINK]b [/TH <nit-A1B2>f()</nit-A1B2></think>[/THINK]c '[THINK]' [THIN";
    let expected = vec![
        text("a["),
        reasoning("b [/TH <nit-A1B2>f()</nit-A1B2></think>"),
        text("c '[THINK]' [THIN"),
    ];
    assert_eq!(whole(source), expected);
    assert_eq!(run(source.as_bytes().chunks(1), false), expected);
}

#[test]
fn an_unclosed_reasoning_span_runs_to_the_end() {
    assert_eq!(
        whole("<think>a <nit-A1B2>f()</nit-A1B2></thin"),
        [reasoning("a <nit-A1B2>f()</nit-A1B2></thin")]
    );
}

#[test]
fn a_block_that_never_closes_is_named_with_all_of_its_text() {
    assert_eq!(
        whole("a<nit-A1B2>f()</nit-A1B"),
        [
            text("a"),
            open(),
            StreamEvent::Unclosed("f()</nit-A1B".into())
        ]
    );
}

#[test]
fn nit_1_markers_count_only_with_legacy() {
    let source = b"a [[[[NIT_CALL]]]x [[[[NIT_END]]] b";
    let expected = vec![
        text("a ["),
        StreamEvent::BlockOpen { legacy: true },
        StreamEvent::Block {
            script: b"x [".to_vec(),
            legacy: true,
        },
        text(" b"),
    ];
    assert_eq!(run([&source[..]], true), expected);
    assert_eq!(run(source.chunks(1), true), expected);
    assert_eq!(
        run([&source[..]], false),
        [StreamEvent::Text(source.to_vec())]
    );
}

#[test]
fn a_finished_filter_is_as_new() {
    let mut filter = filter(true);
    for beginning in [
        "<nit-A1B2>f('</nit-A1B2>",
        "<think>",
        "<nit-A",
        "[[[NIT_CALL]]]x",
        "`",
    ] {
        let mut events = Vec::new();
        filter.feed(beginning.as_bytes(), &mut events);
        filter.finish(&mut events);
        events.clear();
        filter.feed(b"<think>a</think>b", &mut events);
        filter.finish(&mut events);
        assert_eq!(events, [reasoning("a"), text("b")], "after {beginning}");
    }
}

#[test]
fn ids_and_names_that_cannot_stand_in_a_tag_are_refused() {
    for id in ["", "A B", "A<", "é", &"A".repeat(33)] {
        assert!(StreamFilter::new(id, false, &[]).is_err(), "{id}");
    }
    let long = "a".repeat(65);
    for name in [
        "", "a b", "<think>", "/think", "nit-A1B2", &long, "[]", "[", "[a", "a]", "[[a]]", "[/a]",
    ] {
        assert!(StreamFilter::new("A1B2", false, &[name]).is_err(), "{name}");
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    // each takes many minutes if a byte is looked at again and again
    let n = 300_000;
    for unit in [
        "<",
        "<nit-",
        "\"",
        "'\"",
        "[",
        "[[[NIT_CALL]]",
        "<nit-A1B2>\\\"</nit-A1B2>",
        "<nit-A1B2>\\\"</nit-A1B2>\\'",
        "<nit-A1B2>\"</nit-A1B2>\n",
        "</nit-A1B2",
        "<think></think",
        "\\",
        "`<think>",
        "[THINK][/THINK",
    ] {
        for start in [
            "",
            "<nit-A1B2>",
            "<nit-A1B2>\"</nit-A1B2>",
            "<nit-A1B2>'''",
            "<think>",
        ] {
            let source = format!("{start}{}", unit.repeat(n / unit.len()));
            run([source.as_bytes()], true);
            run(source.as_bytes().chunks(7), true);
        }
    }
}

fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static [u8]> = vec![
        OPEN,
        OPEN,
        CLOSE,
        CLOSE,
        CLOSE,
        CALL,
        END,
        b"<think>",
        b"</think>",
        b"<thought>",
        b"</thought>",
        b"[THINK]",
        b"[/THINK]",
        b"[/TH",
        b"\"",
        b"\"",
        b"'",
        b"'",
        b"\"\"\"",
        b"'''",
        b"\\",
        b"\\",
        b"\n",
        b"\r",
        b"\r\n",
        b"#",
        b"<",
        b"<nit",
        b"<nit-",
        b"<nit-ZZ99>",
        b"<NIT>",
        b"</nit-A1",
        b"[",
        b"[[",
        b"`",
        b"x",
        b" ",
        "é漢😀".as_bytes(),
        b"\xed\xa0\xbd",
        b"A1B2>",
        b"]]]",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn any_cutting_gives_what_the_rules_say(
        source in fragments(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        legacy: bool,
    ) {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(source.len() + 1)).collect();
        places.extend([0, source.len()]);
        places.sort_unstable();
        let expected = oracle(&source, legacy);
        let chunks = places.windows(2).map(|pair| &source[pair[0]..pair[1]]);
        prop_assert_eq!(run(chunks, legacy), &*expected);
        prop_assert_eq!(run([&source[..]], legacy), &*expected);
        prop_assert_eq!(run(source.chunks(1), legacy), &*expected);
    }

    #[test]
    fn no_more_than_the_beginning_of_a_tag_is_held_back(source in fragments(), legacy: bool) {
        let mut filter = filter(legacy);
        let mut events = Vec::new();
        for byte in source.chunks(1) {
            filter.feed(byte, &mut events);
            let mut rest = Vec::new();
            filter.clone().finish(&mut rest);
            if let Some(StreamEvent::Text(held) | StreamEvent::Reasoning(held)) = rest.first() {
                prop_assert!(held.len() < LONGEST);
                let tags: [&[u8]; 8] = [
                    OPEN,
                    CALL,
                    b"<think>",
                    b"<thought>",
                    b"[THINK]",
                    b"</think>",
                    b"</thought>",
                    b"[/THINK]",
                ];
                prop_assert!(tags.iter().any(|tag| tag.starts_with(held)));
            }
        }
    }
}
