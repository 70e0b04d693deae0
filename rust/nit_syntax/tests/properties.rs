//! What holds for every input.
#![allow(
    clippy::expect_used,
    clippy::string_slice,
    clippy::indexing_slicing,
    reason = "tests may fail loudly"
)]

use nit_syntax::ast::{NodeKind, Tree};
use nit_syntax::equality::{Sourced, are_equal};
use nit_syntax::lexer::Lexer;
use nit_syntax::lower::lower;
use nit_syntax::program::dollar_strings;
use nit_syntax::render::{render, terse};
use nit_syntax::span::{LineIndex, Span};
use nit_syntax::token::TokenKind;
use nit_syntax::{Legacy, Options, Parsed, parse};
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "f",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "=",
    ":",
    ".",
    ";",
    "\n",
    "\r\n",
    " ",
    "  ",
    "$x",
    "$",
    "1",
    ".5",
    "1e9",
    "007",
    "\"a\"",
    "'b",
    "\"\"\"",
    "f\"{$x.y[0]!r:>5}\"",
    "f\"{",
    "}\"",
    "!",
    "#c",
    "\\",
    "-",
    "+",
    "*",
    "**",
    "==",
    "async ",
    "await ",
    "if ",
    "for ",
    "call(",
    "true",
    "null",
    "```",
    "<nit>",
    "</nit>",
    "[[[NIT_CALL]]]",
    "[[[NIT_END]]]",
    "[START]",
    "[END]",
    ">>> ",
    "...",
    "“",
    "”",
    "（",
    "）",
    "，",
    "\u{200B}",
    "\u{3000}",
    "\0",
    "变",
    "ｘ",
    "__a",
    "/",
    "g(a=1)",
    "$y = ",
    "\u{FEFF}",
    "\\ud83d",
];

fn scripts() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(proptest::sample::select(WORDS), 0..40).prop_map(|w| w.concat()),
        "\\PC{0,60}",
        any::<Vec<u8>>().prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    ]
}

fn good_scripts() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("-2.5".to_owned()),
        Just("\"te\\nxt\"".to_owned()),
        Just("$v.a[0][1:]".to_owned()),
        Just("f\"{$v}!\"".to_owned()),
        Just("null".to_owned()),
    ];
    let value = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|v| format!("[{}]", v.join(", "))),
            inner.clone().prop_map(|v| format!("{{k: {v}, \"l\": 2}}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("g({a}, b={b})[0]")),
            inner.prop_map(|v| format!("({v})")),
        ]
    });
    let statement = (value, any::<bool>()).prop_map(|(value, binds)| {
        let target = if binds { "$v = " } else { "" };
        format!("{target}tool(x={value})")
    });
    proptest::collection::vec(statement, 1..5).prop_map(|statements| statements.join("\n"))
}

/// Places lie inside the source and in each other; every node knows its last descendant.
fn check_tree(source: &str, tree: &Tree) {
    let mut before = 0;
    for (index, statement) in tree.statements().iter().enumerate() {
        assert!(statement.span.start >= before);
        assert!(statement.span.end as usize <= source.len());
        assert!(
            source
                .get(statement.span.start as usize..statement.span.end as usize)
                .is_some()
        );
        before = statement.span.end;
        check_nodes(
            source,
            tree,
            statement.first,
            tree.statement_end(index),
            statement.span,
        );
    }
}

fn check_nodes(source: &str, tree: &Tree, start: u32, end: u32, outer: Span) {
    let mut index = start;
    while index < end {
        let node = tree.node(index);
        assert!(outer.start <= node.start && node.start <= node.end && node.end <= outer.end);
        assert!(source.get(node.start as usize..node.end as usize).is_some());
        assert!(index < node.next && node.next <= end);
        if node.kind != NodeKind::Bare && node.kind != NodeKind::Variable {
            check_nodes(source, tree, index + 1, node.next, node.span());
        }
        index = node.next;
    }
}

fn check(source: &str, legacy: Legacy) -> Parsed {
    let options = Options {
        legacy,
        ..Options::default()
    };
    let parsed = parse(source, &options);
    check_tree(source, &parsed.tree);
    let lines = LineIndex::new(source);
    let mut before = 0;
    assert!(parsed.diagnostics.len() <= 100);
    for found in &parsed.diagnostics {
        assert!(found.span.start >= before);
        before = found.span.start;
        for span in std::iter::once(&found.span).chain(found.labels.iter().map(|label| &label.0)) {
            assert!(
                source.get(span.start as usize..span.end as usize).is_some(),
                "{found:?}"
            );
        }
        assert!(!found.message.contains('\n') && !found.message.ends_with('.'));
        assert!(!render(found, source, &lines, true).is_empty());
        assert!(!terse(found, source, &lines).contains('\n'));
    }
    let program = lower(source, &parsed.tree);
    assert_eq!(
        program.first_steps.len(),
        parsed.tree.statements().len() + 1
    );
    for step in &program.steps {
        assert!(step.reads.0 <= step.reads.1 && step.reads.1 as usize <= program.reads.len());
    }
    for (name, span) in dollar_strings(source, &parsed.tree) {
        assert!(!name.is_empty() && !span.text(source).is_empty());
    }
    let sourced = Sourced {
        source,
        tree: &parsed.tree,
    };
    assert!(are_equal(sourced, sourced));
    parsed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn no_input_panics_and_places_nest(source in scripts()) {
        check(&source, Legacy::Allow);
        check(&source, Legacy::Off);
        check(&source, Legacy::Only);
    }

    #[test]
    fn good_scripts_are_good_and_each_prefix_ends_in_a_value_or_a_finding(source in good_scripts()) {
        let parsed = check(&source, Legacy::Allow);
        prop_assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        for (end, _) in source.char_indices() {
            let prefix = &source[..end];
            let parsed = check(prefix, Legacy::Allow);
            let open = prefix.matches(['(', '[', '{']).count() - prefix.matches(')').count()
                - prefix.matches([']', '}']).count();
            if open > 0 && !prefix.contains('"') {
                prop_assert!(!parsed.is_ok(), "{}", prefix);
            }
        }
    }

    #[test]
    fn layout_does_not_matter(source in good_scripts()) {
        let spread = source.replace(", ", ",\n  ").replace('(', "( ").replace('\n', "\n  # remark\n");
        let (left, right) = (check(&source, Legacy::Allow), check(&spread, Legacy::Allow));
        let left = Sourced { source: &source, tree: &left.tree };
        let right = Sourced { source: &spread, tree: &right.tree };
        prop_assert!(are_equal(left, right), "{}", spread);
    }

    #[test]
    fn tokens_with_trivia_cover_all_but_blanks(source in scripts()) {
        let mut lexer = Lexer::with_trivia(&source);
        let mut end = 0;
        loop {
            let token = lexer.next_token();
            let between = source.get(end as usize..token.start as usize).expect("in order");
            let is_joined = |c: char| c.is_whitespace() || c == '\\' || c == '\u{FEFF}' || c.is_control();
            prop_assert!(between.chars().all(is_joined), "{:?}", between);
            prop_assert!(token.start <= token.end && token.end as usize <= source.len());
            if token.kind == TokenKind::End {
                break;
            }
            prop_assert!(token.end > token.start);
            end = token.end;
        }
    }
}
