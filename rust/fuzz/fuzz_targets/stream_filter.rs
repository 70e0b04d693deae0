//! Any text in any chunks: the same events as the text at once, nothing lost, nothing invented.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nit_syntax::stream_filter::{StreamEvent, StreamFilter};

/// Bytes below this many stand for a piece of a tag or a string.
const PIECES: [&[u8]; 18] = [
    b"<nit-A1B2>",
    b"</nit-A1B2>",
    b"<think>",
    b"</think>",
    b"[THINK]",
    b"[/THINK]",
    b"[[[NIT_CALL]]]",
    b"[[[NIT_END]]]",
    b"<nit>",
    b"<NIT-ZZZZ>",
    b"\"\"\"",
    b"\n",
    b"\"",
    b"'",
    b"\\",
    b"<nit-A1",
    b"#",
    b"\xed\xa0\xbd",
];

fn run<'a>(legacy: bool, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<StreamEvent> {
    let mut filter = StreamFilter::new("A1B2", legacy, &["think", "[THINK]"]).unwrap();
    let mut events = Vec::new();
    for chunk in chunks {
        if filter.pass_through(chunk) {
            if let Some(StreamEvent::Text(text)) = events.last_mut() {
                text.extend_from_slice(chunk);
            } else if !chunk.is_empty() {
                events.push(StreamEvent::Text(chunk.to_vec()));
            }
        } else {
            // events that are already there merge with new ones
            filter.feed(chunk, &mut events);
        }
    }
    filter.finish(&mut events);
    events
}

fn size(events: &[StreamEvent]) -> usize {
    events
        .iter()
        .map(|event| match event {
            StreamEvent::Text(text) | StreamEvent::Reasoning(text) => text.len(),
            StreamEvent::Block { script, .. } | StreamEvent::Unclosed(script) => script.len(),
            StreamEvent::BlockOpen { .. } | StreamEvent::Rejected(_) => 0,
        })
        .sum()
}

fuzz_target!(|input: &[u8]| {
    let Some((head, rest)) = input.split_at_checked(9) else {
        return;
    };
    let legacy = head[0] & 1 == 1;
    let text: Vec<u8> = rest
        .iter()
        .flat_map(|byte| match PIECES.get(usize::from(*byte)) {
            Some(piece) => piece.to_vec(),
            None => vec![*byte],
        })
        .collect();
    let whole = run(legacy, [&text[..]]);
    assert!(size(&whole) <= text.len());
    let mut cuts: Vec<usize> = head[1..]
        .iter()
        .map(|cut| usize::from(*cut) * (text.len() + 1) / 256)
        .collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    assert_eq!(
        run(legacy, cuts.windows(2).map(|pair| &text[pair[0]..pair[1]])),
        whole
    );
    assert_eq!(run(legacy, text.chunks(1)), whole);
});
