//! The costs of the parts: `cargo bench`. Peers are measured in `benchmarks/` by way of Python.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use nit_syntax::format::{FormatOptions, format};
use nit_syntax::lexer::Lexer;
use nit_syntax::parser::{Options, parse};
use nit_syntax::stream_filter::StreamFilter;
use nit_syntax::token::TokenKind;

fn main() {
    divan::main();
}

/// A thousand lines of calls with texts, numbers, lists and references.
fn script() -> String {
    let part = "$page = fetch(url=\"https://example.org/page\", limit=20, tags=[1, 'two', null])
$text = summarize(content=$page.body[:500], style=\"a 'short' one\", ratio=0.5)
async notify(msg=f\"page {$text.title}\", options={\"to\": [\"a\", \"b\"], loud: false})
# a comment on what comes next
";
    part.repeat(250)
}

fn prose() -> String {
    "The report lists what changed since Monday, and why a < b holds. ".repeat(2_000)
}

#[divan::bench]
fn lexer(bencher: Bencher) {
    let source = script();
    bencher.counter(BytesCount::of_str(&source)).bench(|| {
        let mut lexer = Lexer::new(black_box(&source), 0, u32::try_from(source.len()).unwrap());
        let mut count = 0_u32;
        while lexer.next_token().kind != TokenKind::End {
            count += 1;
        }
        count
    });
}

#[divan::bench]
fn parser(bencher: Bencher) {
    let source = script();
    bencher
        .counter(BytesCount::of_str(&source))
        .bench(|| parse(black_box(&source), &Options::default()));
}

#[divan::bench]
fn formatter(bencher: Bencher) {
    let source = script();
    bencher
        .counter(BytesCount::of_str(&source))
        .bench(|| format(black_box(&source), &FormatOptions::default()));
}

fn filter(bencher: Bencher, text: &str, chunk: usize) {
    bencher.counter(BytesCount::of_str(text)).bench(|| {
        let mut filter = StreamFilter::new("A1B2", true, &["think"]).unwrap();
        let mut events = Vec::new();
        for chunk in black_box(text).as_bytes().chunks(chunk) {
            if !filter.pass_through(chunk) {
                filter.feed(chunk, &mut events);
                events.clear();
            }
        }
        filter.finish(&mut events);
        events
    });
}

#[divan::bench(args = [4, 40, 1_000_000])]
fn filter_prose(bencher: Bencher, chunk: usize) {
    filter(bencher, &prose(), chunk);
}

#[divan::bench(args = [4, 40, 1_000_000])]
fn filter_block(bencher: Bencher, chunk: usize) {
    filter(
        bencher,
        &format!("<nit-A1B2>{}</nit-A1B2>", script()),
        chunk,
    );
}
