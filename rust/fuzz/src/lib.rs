//! What the fuzz targets share: inputs made of words of the language, and what must hold of every
//! script.

use nit_syntax::ast::Tree;
use nit_syntax::equality::{Sourced, are_equal};
use nit_syntax::format::{FormatOptions, format};
use nit_syntax::lower::lower;
use nit_syntax::parser::{Options, Parsed, parse};
use nit_syntax::program::dollar_strings;
use nit_syntax::render::{render, terse};
use nit_syntax::span::{LineIndex, Span};
use nit_syntax::stream_filter::{StreamEvent, StreamFilter};

/// A text from bytes: those below the number of `words` stand for one of them, others for
/// themselves.
pub fn text(bytes: &[u8], words: &[&str]) -> String {
    let mut text = Vec::with_capacity(bytes.len() * 4);
    for byte in bytes {
        match words.get(usize::from(*byte)) {
            Some(word) => text.extend_from_slice(word.as_bytes()),
            None => text.push(*byte),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn assert_inside(span: Span, source: &str, outer: Span) {
    assert!(
        source.get(span.start as usize..span.end as usize).is_some(),
        "{span:?}"
    );
    assert!(
        outer.start <= span.start && span.end <= outer.end,
        "{span:?} in {outer:?}"
    );
}

/// Parses a script and checks its tree, its diagnostics and its steps.
pub fn check_script(source: &str, options: &Options) -> Parsed {
    let parsed = parse(source, options);
    assert!(parsed.diagnostics.len() <= 100);
    let all = Span::new(0, u32::try_from(source.len()).unwrap());
    let lines = LineIndex::new(source);
    let mut last = 0;
    for found in &parsed.diagnostics {
        assert_inside(found.span, source, all);
        assert!(
            last <= found.span.start,
            "diagnostics are in the order of the text"
        );
        last = found.span.start;
        for (span, _) in &found.labels {
            assert_inside(*span, source, all);
        }
        assert!(!terse(found, source, &lines).contains('\n'));
        render(found, source, &lines, true);
    }
    check_tree(source, &parsed.tree, all);
    lower(source, &parsed.tree);
    dollar_strings(source, &parsed.tree);
    let side = Sourced {
        source,
        tree: &parsed.tree,
    };
    assert!(are_equal(side, side));
    parsed
}

fn check_tree(source: &str, tree: &Tree, all: Span) {
    let mut end = 0;
    for (index, statement) in tree.statements().iter().enumerate() {
        assert_inside(statement.span, source, all);
        assert!(end <= statement.span.start);
        end = statement.span.end;
        // children lie in their parents
        let mut parents: Vec<(u32, Span)> = vec![(tree.statement_end(index), statement.span)];
        for at in statement.first..tree.statement_end(index) {
            while parents.len() > 1 && parents.last().is_some_and(|(next, _)| *next <= at) {
                parents.pop();
            }
            let node = tree.node(at);
            let (next, outer) = *parents.last().unwrap();
            assert!(at < node.next && node.next <= next);
            assert_inside(node.span(), source, outer);
            parents.push((node.next, node.span()));
        }
    }
}

/// Checks that a good script in its canonical layout says the same and stays.
pub fn check_format(source: &str, parsed: &Parsed, upgrade: bool) {
    let options = FormatOptions {
        upgrade,
        ..FormatOptions::default()
    };
    let (text, diagnostics) = format(source, &options);
    assert_eq!(diagnostics, parsed.diagnostics);
    assert_eq!(text.is_some(), parsed.is_ok());
    let Some(text) = text else {
        return;
    };
    // a longer script may pass the limit
    if text.len() > options.options.limits.script_bytes {
        return;
    }
    let again = parse(&text, &options.options);
    assert!(
        again.is_ok(),
        "{source}\n---\n{text}\n{:?}",
        again.diagnostics
    );
    let (left, right) = (
        Sourced {
            source,
            tree: &parsed.tree,
        },
        Sourced {
            source: &text,
            tree: &again.tree,
        },
    );
    assert!(are_equal(left, right), "{source}\n---\n{text}");
    assert_eq!(
        format(&text, &options).0.as_deref(),
        Some(&*text),
        "{source}"
    );
    if !upgrade {
        assert_eq!(
            comments(source, parsed),
            comments(&text, &again),
            "{source}\n---\n{text}"
        );
    }
}

/// Checks that the stream filter cuts a good script out of a reply as a whole, whatever its strings
/// and comments hold. Typographic quotes and NIT 1.0 blocks are no strings to the filter.
pub fn check_filter(source: &str, parsed: &Parsed) {
    let typographic = ['“', '”', '„', '‘', '’', '‚', '«', '»', '＂', '＇'];
    if !parsed.is_ok() || source.contains(typographic) || source.contains("[[[NIT") {
        return;
    }
    let mut filter = StreamFilter::new("A1B2", false, &[]).unwrap();
    let mut events = Vec::new();
    filter.feed(
        format!("<nit-A1B2>{source}\n</nit-A1B2>").as_bytes(),
        &mut events,
    );
    filter.finish(&mut events);
    let script = format!("{source}\n").into_bytes();
    let block = StreamEvent::Block {
        script,
        legacy: false,
    };
    assert_eq!(
        events,
        [StreamEvent::BlockOpen { legacy: false }, block],
        "{source}"
    );
}

/// How many `#` stand in no literal of the script, which is to say in its comments.
fn comments(source: &str, parsed: &Parsed) -> usize {
    let tree = &parsed.tree;
    let total = source.matches('#').count();
    let inside: usize = (0..tree.node_count())
        .filter(|at| is_text(tree, *at))
        .map(|at| tree.node(at).span().text(source).matches('#').count())
        .sum();
    total - inside
}

fn is_text(tree: &Tree, at: u32) -> bool {
    use nit_syntax::ast::NodeKind;
    matches!(
        tree.node(at).kind,
        NodeKind::String
            | NodeKind::Template
            | NodeKind::RawText
            | NodeKind::ExactTool
            | NodeKind::QuotedArgument
    )
}

/// The words of NIT 2 that a fuzzer would take long to find.
pub const WORDS: [&str; 32] = [
    "$x", "$y = ", "async ", "call(", "f(", "a=", "\"\"\"", "'", "\"", "f\"{$x", "r'", "\\", "\n",
    "# c\n", ")", "[", "]", "{", "}", ", ", ": ", ".name", "(", "-1.5e3", "true", "null", ";",
    "<nit>", "</nit>", "```\n", "“", "（",
];

/// The parts of a NIT 1.0 block.
pub const LEGACY_WORDS: [&str; 16] = [
    "[[[NIT_CALL]]]",
    "[[[NIT_END]]]",
    "[START]",
    "[END]",
    "\n",
    "tool",
    "key: ",
    "a-b",
    "：",
    "\"",
    "\"\"\"",
    "\\",
    "\r\n",
    "f(a='x')\n",
    "# c\n",
    " ",
];
