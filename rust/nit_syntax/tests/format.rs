//! The canonical layout: what it is, that it stays, and that it says the same.
#![allow(clippy::expect_used, reason = "tests may fail loudly")]

use nit_syntax::ast::NodeKind;
use nit_syntax::format::{FormatOptions, format};
use nit_syntax::literal::{normalize, piece_text, string_text, tool_name, variable_name};
use nit_syntax::parser::{Options, Parsed, parse};
use proptest::prelude::*;

fn formatted(source: &str) -> String {
    format(source, &FormatOptions::default()).0.expect(source)
}

fn upgraded(source: &str) -> String {
    let options = FormatOptions {
        upgrade: true,
        ..FormatOptions::default()
    };
    format(source, &options).0.expect(source)
}

/// What a script says, without its layout.
fn meaning(source: &str) -> Vec<String> {
    let Parsed { tree, diagnostics } = parse(source, &Options::default());
    assert!(
        !diagnostics
            .iter()
            .any(nit_syntax::diagnostic::Diagnostic::is_error),
        "{source}\n{diagnostics:?}"
    );
    let mut said = Vec::new();
    for statement in tree.statements() {
        said.push(format!("statement {}", statement.is_async));
    }
    for index in 0..tree.node_count() {
        let node = tree.node(index);
        let text = node.span().text(source);
        let word = match node.kind {
            NodeKind::String | NodeKind::ExactTool | NodeKind::QuotedArgument => {
                string_text(source, node.span(), node.flags).into_owned()
            }
            NodeKind::Text | NodeKind::RawText => piece_text(text, node.flags).into_owned(),
            NodeKind::Target | NodeKind::Variable => variable_name(text).into_owned(),
            NodeKind::Tool => tool_name(text).into_owned(),
            NodeKind::Argument | NodeKind::Key | NodeKind::Field | NodeKind::Bare => {
                normalize(text).into_owned()
            }
            NodeKind::Int | NodeKind::Float => text.replace([' ', '\n', '\t'], ""),
            NodeKind::Spec => text.to_owned(),
            NodeKind::Slice | NodeKind::Interpolation => node.flags.to_string(),
            _ => String::new(),
        };
        let kind = match node.kind {
            NodeKind::RawText => NodeKind::String,
            kind => kind,
        };
        said.push(format!("{kind:?} {} {word}", node.next - index));
    }
    said
}

fn check(source: &str, expected: &str) {
    let once = formatted(source);
    assert_eq!(once, expected);
    assert_eq!(formatted(&once), once);
    assert_eq!(meaning(&once), meaning(source));
}

#[test]
fn blanks_and_punctuation_have_one_form() {
    check(
        "$x=search( q = 'a' ,n=+ 3,tags=[ 1,2, ] ,opt={ 'a':1,b : $y [ 0 ] . c,3:null} )\n",
        "$x = search(q='a', n=+3, tags=[1, 2], opt={'a': 1, b: $y[0].c, 3: null})\n",
    );
    check("f( );g( 1 , )", "f()\ng(1)\n");
    check("$x [ 1 : ][:2][ : ] [-1]", "$x[1:][:2][:][-1]\n");
    check("(1,)\n( 1 )\n()\n(1 ,2)", "(1,)\n(1)\n()\n(1, 2)\n");
    check(
        "$t = async  files . read(path= 'a' 'b')",
        "$t = async files.read(path='a' 'b')\n",
    );
    check(
        "call( 'get-weather' ,'Api-Version' = 2)",
        "call('get-weather', 'Api-Version'=2)\n",
    );
    check("$x = f(1)[ 'a' ].b", "$x = f(1)['a'].b\n");
    check("", "");
    check("\n \n", "");
}

#[test]
fn numbers_and_strings_keep_their_spelling() {
    check(
        "f(a=007, b=1.50, c=1_000, d=0xFF, e='x', g=\"\\u00e9\", h=r'\\d', i=f\"{$x:>5}\", j=.5)",
        "f(a=007, b=1.50, c=1_000, d=0xFF, e='x', g=\"\\u00e9\", h=r'\\d', i=f\"{$x:>5}\", j=.5)\n",
    );
    check("f(a='''x\r\n  y''')", "f(a='''x\n  y''')\n");
}

#[test]
fn slips_are_written_the_right_way() {
    check("f（a=“x”，b=【1】）；g()", "f(a=\"x\", b=[1])\ng()\n");
    check("f(a=“say \"x\" now”)", "f(a='say \"x\" now')\n");
    check(">>> f()\n... g()", "f()\ng()\n");
    check("```nit\nf()\n```", "f()\n");
    check("<nit>\nf() # c\n</nit>", "f()  # c\n");
    check("  await f()\n  g()", "f()\ng()\n");
    check("f(a=u'x')", "f(a='x')\n");
    assert_eq!(formatted("x = f(y)"), "$x = f(y)\n");
}

#[test]
fn a_long_call_gets_one_argument_a_line() {
    check(
        "$summary = summarize(content=\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", limit=10, style='short')",
        "$summary = summarize(\n    content=\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\n    limit=10,\n    style='short',\n)\n",
    );
    // a hundred columns fit, one more does not; wide characters take two
    let fits = format!("f(a='{}')\n", "x".repeat(93));
    check(&fits, &fits);
    let over = format!("f(a='{}')\n", "x".repeat(94));
    check(&over, &format!("f(\n    a='{}',\n)\n", "x".repeat(94)));
    let wide = format!("f(a='{}')\n", "漢".repeat(47));
    check(&wide, &format!("f(\n    a='{}',\n)\n", "漢".repeat(47)));
    check(
        &format!(
            "f(a=[{0}, {{k: {0}, l: g({0})}}], b=(({0})), c=({0},))[0].x",
            "'aaaaaaaaaaaaaaaaaaaaaaaaaa'"
        ),
        concat!(
            "f(\n",
            "    a=[\n",
            "        'aaaaaaaaaaaaaaaaaaaaaaaaaa',\n",
            "        {k: 'aaaaaaaaaaaaaaaaaaaaaaaaaa', l: g('aaaaaaaaaaaaaaaaaaaaaaaaaa')},\n",
            "    ],\n",
            "    b=(('aaaaaaaaaaaaaaaaaaaaaaaaaa')),\n",
            "    c=('aaaaaaaaaaaaaaaaaaaaaaaaaa',),\n",
            ")[0].x\n",
        ),
    );
}

#[test]
fn a_text_of_several_lines_stays_in_its_call() {
    let source = "write(path=\"a\", text=\"\"\"one\n  two\n\"\"\", mode='w')\n";
    check(source, source);
}

#[test]
fn comments_stay_where_they_belong() {
    check(
        "# first\n\n\n#second\nf()   # behind f\n\n\n\n# before g\ng( # why\n  1, # one\n  # two\n  2\n  # last\n)\n# end",
        concat!(
            "# first\n\n#second\nf()  # behind f\n\n# before g\n",
            "g(\n    # why\n    1,  # one\n    # two\n    2,\n    # last\n)\n# end\n",
        ),
    );
    check("f( # nothing\n)", "f(\n    # nothing\n)\n");
    check("$y = $x[ # index\n 0]", "# index\n$y = $x[0]\n");
    check(
        "f(a = # name\n [1 # one\n ], b= # two\n 2)",
        "f(\n    # name\n    a=[\n        1,  # one\n    ],\n    # two\n    b=2,\n)\n",
    );
    check(
        "f('a' # one\n 'b', # two\n)",
        "f(\n    # one\n    'a' 'b',  # two\n)\n",
    );
    check("f( # a\n); g() # b", "f(\n    # a\n)\ng()  # b\n");
    check(
        "f({ # k\n 'a' # b\n : # c\n 1})",
        "f(\n    {\n        # k\n        # b\n        # c\n        'a': 1,\n    },\n)\n",
    );
    check(
        "f('# no', \"\"\"\n# no\n\"\"\")",
        "f('# no', \"\"\"\n# no\n\"\"\")\n",
    );
    check("(1 # x\n)", "(\n    1  # x\n)\n");
}

#[test]
fn nit_1_blocks_stay_or_become_calls() {
    let source = "a()\n[[[NIT_CALL]]]\nfiles.write\npath: [START] a.md [END]\ntext-body: [START]\none \"x\"\ntwo\n[END]\n[[[NIT_END]]]\n\nb()\n";
    check(source, source);
    let upgraded_text = upgraded(source);
    assert_eq!(
        upgraded_text,
        "a()\nfiles.write(path=\"a.md\", \"text-body\"=\"\"\"one \"x\"\ntwo\"\"\")\n\nb()\n"
    );
    assert_eq!(meaning(&upgraded_text), meaning(source));
    for source in [
        "[[[NIT_CALL]]] now [[[NIT_END]]]",
        "a() [[[NIT_CALL]]] b [[[NIT_END]]] c()",
        "[[[NIT_CALL]]]get-weather\ncity: [START]it's \"x\"\\[END]\n[[[NIT_END]]]",
        "[[[NIT_CALL]]]f\na: [START]x\ny \"\"\" z[END]b: [START]x\ny\"[END] c: [START][END]\n[[[NIT_END]]]",
        "[[[NIT_CALL]]]f\na: [START]x\r\ny[END]\n[[[NIT_END]]]",
    ] {
        let text = upgraded(source);
        assert_eq!(meaning(&text), meaning(source), "{text}");
        assert_eq!(formatted(&text), text);
    }
}

#[test]
fn a_script_with_errors_is_not_formatted() {
    let (text, diagnostics) = format("f(\ng()", &FormatOptions::default());
    assert_eq!(text, None);
    assert!(
        diagnostics
            .iter()
            .any(nit_syntax::diagnostic::Diagnostic::is_error)
    );
}

#[test]
fn hostile_layouts_take_linear_time() {
    // each takes minutes if what is too long for its line is measured again and again
    for source in [
        format!(
            "{}{}{}",
            "[".repeat(99),
            "1,".repeat(100_000),
            "]".repeat(99)
        ),
        format!(
            "{}{}{}",
            "f(\n".repeat(90),
            "1, # c\n".repeat(30_000),
            ")".repeat(90)
        ),
        format!("f(\n{})", "$x[ # c\n 0],".repeat(18_000)),
        format!("$x{}", "[f(a=$y[0])]".repeat(18_000)),
        format!("f({})", "'a' ".repeat(60_000)),
        "# c\n".repeat(60_000),
    ] {
        let once = formatted(&source);
        assert!(!once.is_empty());
    }
}

/// Scripts with every construct, blanks and comments where they may stand.
fn scripts() -> impl Strategy<Value = String> {
    let blank = prop::sample::select(vec!["", "", " ", "\n", "  # c\n", " # it's [\n\n"]);
    let leaf = prop::sample::select(vec![
        "1",
        "-2.50",
        "007",
        "'a'",
        "\"b # c\"",
        "\"\"\"x\ny\"\"\"",
        "r'\\d'",
        "f'{$a.b[0]!r:>5}'",
        "true",
        "None",
        "$v",
        "$v.items[0]",
        "$v['k'][:2]",
        "'a' 'b'",
        "()",
        "[]",
        "{}",
        "now()",
        "'a text that is long enough to make a line too long for one line of the page'",
    ])
    .prop_map(str::to_owned);
    let value = leaf.prop_recursive(4, 24, 4, move |inner| {
        let spaced = (blank.clone(), inner.clone(), blank.clone())
            .prop_map(|(before, value, after)| format!("{before}{value}{after}"));
        let items = prop::collection::vec(spaced.clone(), 1..4).prop_map(|items| items.join(","));
        let named = (
            prop::sample::select(vec!["a", "from", "\"x-y\"", "名"]),
            blank.clone(),
            spaced.clone(),
        )
            .prop_map(|(name, blank, value)| format!("{name}{blank}={value}"));
        let arguments = prop::collection::vec(named, 1..4).prop_map(|items| items.join(","));
        prop_oneof![
            items.clone().prop_map(|items| format!("[{items}]")),
            items.clone().prop_map(|items| format!("({items})")),
            items.clone().prop_map(|items| format!("({items},)")),
            spaced
                .clone()
                .prop_map(|value| format!("{{k:{value}, 1 :2,}}")),
            arguments
                .clone()
                .prop_map(|arguments| format!("f({arguments})")),
            (items, arguments)
                .prop_map(|(first, rest)| format!("files.read({first},{rest},)[0].x")),
            spaced.prop_map(|value| format!("$v[{value}:].y")),
        ]
    });
    let statement = (prop::sample::select(vec!["", "$x = ", "y=", ">>> "]), value)
        .prop_map(|(head, value)| format!("{head}{value}"));
    let end = prop::sample::select(vec!["\n", ";", " # t\n", "\n\n\n# own\n", "\r\n"]);
    prop::collection::vec((statement, end), 0..5).prop_map(|parts| {
        parts
            .into_iter()
            .map(|(statement, end)| statement + end)
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_formatted_script_says_the_same_and_stays(source in scripts()) {
        let parsed = parse(&source, &Options::default());
        prop_assume!(parsed.is_ok());
        let once = formatted(&source);
        prop_assert_eq!(formatted(&once), &*once);
        let mut said = meaning(&source);
        // a name without its `$` gets one
        said.retain(|word| !word.is_empty());
        prop_assert_eq!(meaning(&once), said);
        let words = |text: &str| text.matches("# c").count() + text.matches("# it's [").count()
            + text.matches("# t").count() + text.matches("# own").count();
        prop_assert_eq!(words(&once), words(&source));
    }

    #[test]
    fn no_text_makes_the_formatter_panic(source in "\\PC{0,60}") {
        let _ = format(&source, &FormatOptions { upgrade: true, ..FormatOptions::default() });
    }
}
