//! The tokens and the tool-independent rules of the language, as a model is to write it.
//!
//! Narrower than the parser: no slips that it would accept with a warning, no positional
//! arguments, bounded blanks and numbers, so that a small model cannot wander.

use super::notation::{Grammar, Node, all, any, rule, text};

/// Characters of identifiers beyond ASCII: the common letters of XID that NFKC leaves alone.
const LETTERS: &str = r"a-zA-Z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0391-\u03a1\u03a3-\u03c9\u0410-\u044f\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3";

/// Letters, digits and `_`.
const WORD: &str = r"a-zA-Z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0391-\u03a1\u03a3-\u03c9\u0410-\u044f\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3";
/// What a comment holds: no closing tag, which would end the block, and nothing invisible.
const COMMENT: &str = r"^\n\r<\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff";
const LETTER_OR_DIGIT: &str = r"a-zA-Z0-9";
const HEX: &str = "0-9a-fA-F";
const DIGITS: &str = "0-9";

fn digits(least: u32, most: u32) -> Node {
    Node::Class(DIGITS).repeat(least, Some(most))
}

fn hex(count: u32) -> Node {
    Node::Class(HEX).repeat(count, Some(count))
}

/// Adds the tokens; `prose_chars` bounds a run of prose without `<`.
pub(super) fn tokens(grammar: &mut Grammar, prose_chars: u32) {
    grammar.token("prose_text", Node::Class("^<").repeat(1, Some(prose_chars)));
    // a `<` that cannot begin the tag
    grammar.token(
        "prose_angle",
        all([text("<").repeat(1, Some(8)), Node::Class("^n<")]),
    );
    grammar.token("blank", Node::Class(r" \t").repeat(1, Some(20)));
    grammar.token("space", Node::Class(r" \t\n").repeat(1, Some(60)));
    grammar.token("line_end", text("\n"));
    grammar.token(
        "comment",
        all([text("#"), Node::Class(COMMENT).repeat(0, Some(200))]),
    );
    grammar.token(
        "word",
        any([
            all([Node::Class(LETTERS), Node::Class(WORD).repeat(0, Some(63))]),
            all([
                text("_"),
                all([
                    Node::Class(LETTER_OR_DIGIT),
                    Node::Class(WORD).repeat(0, Some(62)),
                ])
                .optional(),
            ]),
        ]),
    );
    grammar.token("variable", all([text("$"), rule("word")]));
    numbers(grammar);
    strings(grammar);
    templates(grammar);
}

fn numbers(grammar: &mut Grammar) {
    let sign = || Node::Class("+-").optional();
    grammar.token(
        "decimal",
        any([
            text("0"),
            all([Node::Class("1-9"), digits(0, 39)]),
            all([
                Node::Class("1-9"),
                digits(0, 2),
                all([text("_"), digits(3, 3)]).repeat(1, Some(9)),
            ]),
        ]),
    );
    let fraction = all([text("."), text("0").repeat(1, Some(9))]).optional();
    grammar.token("integer", all([sign(), rule("decimal"), fraction]));
    let exponent = || all([Node::Class("eE"), sign(), digits(1, 2)]).optional();
    grammar.token(
        "number",
        all([
            sign(),
            any([
                all([
                    rule("decimal"),
                    all([text("."), digits(0, 40)]).optional(),
                    exponent(),
                ]),
                all([text("."), digits(1, 40), exponent()]),
                all([
                    text("0"),
                    Node::Class("xX"),
                    Node::Class(HEX).repeat(1, Some(16)),
                ]),
                all([
                    text("0"),
                    Node::Class("oO"),
                    Node::Class("0-7").repeat(1, Some(22)),
                ]),
                all([
                    text("0"),
                    Node::Class("bB"),
                    Node::Class("01").repeat(1, Some(64)),
                ]),
            ]),
        ]),
    );
    grammar.token("boolean", any(["true", "false", "True", "False"].map(text)));
    grammar.token("null", any(["null", "None"].map(text)));
}

/// A whole character by its number: no half of a surrogate pair stands alone.
fn numbered_character() -> Node {
    any([
        all([text("x"), hex(2)]),
        all([
            text("u"),
            any([
                all([Node::Class("0-9a-cA-CefEF"), hex(3)]),
                all([Node::Class("dD"), Node::Class("0-7"), hex(2)]),
                all([
                    Node::Class("dD"),
                    Node::Class("89abAB"),
                    hex(2),
                    text("\\u"),
                    Node::Class("dD"),
                    Node::Class("c-fC-F"),
                    hex(2),
                ]),
            ]),
        ]),
        all([text("U0001"), hex(4)]),
    ])
}

fn strings(grammar: &mut Grammar) {
    grammar.token(
        "escape",
        all([
            text("\\"),
            any([
                // any other letter keeps its backslash
                Node::Class(r"^NxuU0-9\r\n"),
                all([Node::Class("0-3"), Node::Class("0-7").repeat(0, Some(2))]),
                numbered_character(),
                text("\n"),
            ]),
        ]),
    );
    let plain = |quote: &str, class| {
        all([
            text(quote),
            any([Node::Class(class), rule("escape")]).many(),
            text(quote),
        ])
    };
    let triple = |quote: &str, class| {
        all([
            text(quote.repeat(3)),
            all([
                text(quote).repeat(0, Some(2)),
                any([Node::Class(class), rule("escape")]),
            ])
            .many(),
            text(quote.repeat(3)),
        ])
    };
    let raw = |quote: &str, class| {
        all([
            Node::Class("rR"),
            text(quote),
            any([Node::Class(class), all([text("\\"), Node::Class(r"^\r\n")])]).many(),
            text(quote),
        ])
    };
    let key = |quote: &str, class| {
        let character = any([Node::Class(class), rule("escape")]);
        all([text(quote), character.repeat(1, None), text(quote)])
    };
    // numbers as keys, and empty ones, are what nobody means
    grammar.token(
        "key",
        any([key("\"", "^\"\\\\\\r\\n"), key("'", "^'\\\\\\r\\n")]),
    );
    grammar.token(
        "string",
        any([
            plain("\"", "^\"\\\\\\r\\n"),
            plain("'", "^'\\\\\\r\\n"),
            triple("\"", "^\"\\\\"),
            triple("'", "^'\\\\"),
            raw("\"", "^\"\\\\\\r\\n"),
            raw("'", "^'\\\\\\r\\n"),
        ]),
    );
}

/// f-strings: references, a conversion, a format.
fn templates(grammar: &mut Grammar) {
    grammar.token(
        "template_escape",
        all([
            text("\\"),
            any([Node::Class("\\\\'\"nrtabfv"), numbered_character()]),
        ]),
    );
    grammar.token(
        "template_format",
        all([
            Node::Class("<>^").optional(),
            Node::Class("+-").optional(),
            text("0").optional(),
            all([Node::Class("1-9"), digits(0, 2)]).optional(),
            text(",").optional(),
            all([text("."), digits(1, 2)]).optional(),
            Node::Class("bcdeEfFgGnosxX%").optional(),
        ]),
    );
    let number = || all([text("-").optional(), digits(1, 9)]);
    let reference = |quote: &str, class| {
        let key = all([text(quote), Node::Class(class).many(), text(quote)]);
        let slice = all([number().optional(), text(":"), number().optional()]);
        let step = any([
            all([text("."), rule("word")]),
            all([text("["), any([number(), slice, key]), text("]")]),
        ]);
        all([
            text("{"),
            rule("variable"),
            step.many(),
            all([text("!"), Node::Class("rs")]).optional(),
            all([text(":"), rule("template_format")]).optional(),
            text("}"),
        ])
    };
    let part = |other_quote: &str, plain, key| {
        any([
            Node::Class(plain),
            rule("template_escape"),
            text("{{"),
            text("}}"),
            reference(other_quote, key),
        ])
    };
    let key = "^'\"\\\\{}\\r\\n";
    let double = all([
        text("\""),
        part("'", "^\"\\\\{}\\r\\n", key).many(),
        text("\""),
    ]);
    let single = all([
        text("'"),
        part("\"", "^'\\\\{}\\r\\n", key).many(),
        text("'"),
    ]);
    let triple = all([
        text("\"\"\""),
        all([text("\"").repeat(0, Some(2)), part("'", "^\"\\\\{}", key)]).many(),
        text("\"\"\""),
    ]);
    grammar.token(
        "template",
        all([Node::Class("fF"), any([double, single, triple])]),
    );
}

/// `,` between the items of a list, and around it what blanks and line breaks there may be.
pub(super) fn listed(open: &str, item: &Node, close: &str) -> Node {
    let space = || rule("space").optional();
    all([
        text(open),
        space(),
        all([
            item.clone(),
            all([space(), text(","), space(), item.clone()]).many(),
            all([space(), text(",")]).optional(),
            space(),
        ])
        .optional(),
        text(close),
    ])
}

/// Adds the rules that no tool changes, but for `call`.
pub(super) fn rules(grammar: &mut Grammar, id: &str) {
    let blank = || rule("blank").optional();
    let space = || rule("space").optional();
    grammar.rule(
        "reply",
        all([
            rule("prose"),
            all([rule("block"), rule("prose")]).optional(),
        ]),
    );
    grammar.rule(
        "prose",
        all([
            rule("prose_text").optional(),
            all([rule("prose_angle"), rule("prose_text").optional()]).many(),
        ]),
    );
    grammar.rule(
        "block",
        all([
            text(format!("<nit-{id}>")),
            rule("gap").many(),
            blank(),
            rule("statement"),
            all([rule("next"), rule("statement")]).many(),
            all([blank(), text(";")]).optional(),
            rule("gap").many(),
            blank(),
            text(format!("</nit-{id}>")),
        ]),
    );
    grammar.rule(
        "gap",
        all([blank(), rule("comment").optional(), rule("line_end")]),
    );
    grammar.rule(
        "next",
        any([
            all([blank(), text(";"), blank()]),
            all([
                all([blank(), text(";")]).optional(),
                rule("gap").repeat(1, None),
            ]),
        ]),
    );
    grammar.rule(
        "statement",
        all([
            all([rule("variable"), blank(), text("="), blank()]).optional(),
            rule("action"),
        ]),
    );
    grammar.rule(
        "path",
        any([
            all([text("."), rule("word")]),
            all([text("["), space(), rule("index"), space(), text("]")]),
        ])
        .many(),
    );
    let bound = || rule("bound").optional();
    grammar.rule(
        "index",
        any([
            rule("bound"),
            rule("string"),
            all([bound(), space(), text(":"), space(), bound()]),
        ]),
    );
    grammar.token(
        "whole",
        all([Node::Class("+-").optional(), rule("decimal")]),
    );
    grammar.rule("bound", any([rule("whole"), rule("reading")]));
    grammar.rule("list", listed("[", &rule("value"), "]"));
    grammar.rule("tuple", listed("(", &rule("value"), ")"));
    let key = any([
        rule("key"),
        rule("word"),
        all([rule("variable"), rule("path")]),
    ]);
    let pair = all([key, space(), text(":"), space(), rule("value")]);
    grammar.rule("pair", pair);
    grammar.rule("dict", listed("{", &rule("pair"), "}"));
    grammar.rule(
        "value",
        any([
            "string", "template", "number", "boolean", "null", "list", "tuple", "dict", "reading",
        ]
        .map(rule)),
    );
}
