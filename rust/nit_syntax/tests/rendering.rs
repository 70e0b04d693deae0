//! What a person and a model read.

use nit_syntax::diagnostic::Diagnostic;
use nit_syntax::render::{render, terse};
use nit_syntax::span::LineIndex;
use nit_syntax::{Options, parse};

fn rendered(source: &str) -> String {
    let lines = LineIndex::new(source);
    let found = parse(source, &Options::default()).diagnostics;
    let texts: Vec<_> = found
        .iter()
        .map(|found| render(found, source, &lines, false))
        .collect();
    texts.join("\n\n")
}

fn first(source: &str) -> Diagnostic {
    parse(source, &Options::default()).diagnostics.remove(0)
}

#[test]
fn a_finding_shows_its_line_a_caret_and_a_hint() {
    insta::assert_snapshot!(rendered("$rows = search(q=\"x\")\n$rows.0.title\n"), @r#"
    error[NIT215]: `.0` is not a field
     --> line 2, column 6
      |
    2 | $rows.0.title
      |      ^^
      |
      = hint: write `$rows[0]`
    "#);
}

#[test]
fn carets_line_up_under_wide_characters() {
    insta::assert_snapshot!(rendered("echo(msg=\"你好，世界\", n=1 + 2)"), @r#"
    error[NIT205]: NIT has no operators: `+` cannot stand here
     --> line 1, column 23
      |
    1 | echo(msg="你好，世界", n=1 + 2)
      |                            ^
      |
      = hint: join text with an f-string such as f"{$a} {$b}"; for anything else call a tool
    "#);
}

#[test]
fn further_places_are_named() {
    insta::assert_snapshot!(rendered("f(\n  a=[1, 2,\n  b=3\n)\n"), @r#"
    error[NIT201]: expected `,` or `]`, found `=`
     --> line 3, column 4
      |
    3 |   b=3
      |    ^
    "#);
    insta::assert_snapshot!(rendered("$a = f(x=1\n$b = g()\n"), @r#"
    error[NIT202]: `(` is never closed: expected `)`
     --> line 1, column 7
      |
    1 | $a = f(x=1
      |       ^
    2 | $b = g()
      | -- this does not belong into the bracket
      |
      = hint: add the missing `)`; a script that was cut off does not run
    "#);
    insta::assert_snapshot!(rendered("{\"a\": 1, \"b\": 2, \"a\": 3}"), @r#"
    error[NIT221]: the key `"a"` appears twice in the dict
     --> line 1, column 18
      |
    1 | {"a": 1, "b": 2, "a": 3}
      |  --- first here  ^^^
      |
      = hint: remove or rename one of them
    "#);
}

#[test]
fn a_place_at_the_end_and_one_on_many_lines_are_shown() {
    insta::assert_snapshot!(rendered("$x = "), @r#"
    error[NIT201]: expected a value, found the end of the script
     --> line 1, column 6
      |
    1 | $x = 
      |      ^
    "#);
    insta::assert_snapshot!(rendered("f(t=\"\"\"one\ntwo\n"), @r#"
    error[NIT106]: unterminated string: its closing `"""` is missing
     --> line 1, column 5
      |
    1 | f(t="""one
      |     ^^^
      |
      = hint: add the closing `"""`; a script that was cut off does not run
    "#);
}

#[test]
fn line_breaks_of_all_kinds_count_as_one_line_each() {
    insta::assert_snapshot!(rendered("f()\rg()\r\nh(1 2)"), @r#"
    error[NIT204]: expected `,` or `)`, found `2`
     --> line 3, column 5
      |
    3 | h(1 2)
      |     ^
      |
      = hint: a comma is missing before this
    "#);
}

#[test]
fn very_long_lines_are_cut_around_the_place() {
    let source = format!(
        "f(a=\"{}\", b=$x.5, c=\"{}\")",
        "x".repeat(5000),
        "你".repeat(5000)
    );
    insta::assert_snapshot!(rendered(&source), @r#"
    error[NIT215]: `.5` is not a field
     --> line 1, column 5013
      |
    1 | …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", b=$x.5, c="你你你你你你你你你你你你你你你你你你你你你你你你你你你你你你你...
      |                                                               ^^
      |
      = hint: write `$x[5]`
    "#);
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let text = rendered("f(\"\x1b[31m\", 1 2, \x07)");
    assert!(!text.contains(['\x1b', '\x07']), "{text:?}");
}

#[test]
fn colour_is_on_request() {
    let source = "$x.5";
    let lines = LineIndex::new(source);
    let found = first(source);
    assert!(render(&found, source, &lines, true).contains("\x1b["));
    assert!(!render(&found, source, &lines, false).contains('\x1b'));
}

#[test]
fn a_model_gets_one_line() {
    let source = "f()\n  $变.a = 1";
    let lines = LineIndex::new(source);
    let texts: Vec<_> = parse(source, &Options::default())
        .diagnostics
        .iter()
        .map(|found| terse(found, source, &lines))
        .collect();
    insta::assert_snapshot!(texts.join("\n"), @r#"
    NIT253 warning at line 2, column 1: the statement is indented, which means nothing; hint: begin statements at the start of the line
    NIT208 error at line 2, column 3: `$变.a` cannot be assigned to: only a whole variable can; hint: write `$name = ..` with a new value, such as a dict that holds what you need
    "#);
}
