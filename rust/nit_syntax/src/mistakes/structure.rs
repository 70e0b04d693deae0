//! Codes from 200 on: what is wrong with how words follow each other.

use std::fmt::Write;

use super::shown;
use crate::diagnostic::Diagnostic;
use crate::span::Span;

pub(crate) fn unexpected(span: Span, expected: &str, found: &str) -> Diagnostic {
    Diagnostic::error(
        "NIT201",
        span,
        format!("expected {expected}, found {found}"),
    )
}

pub(crate) fn unclosed_bracket(open: Span, bracket: &str, closer: &str) -> Diagnostic {
    let message = format!("`{bracket}` is never closed: expected `{closer}`");
    Diagnostic::error("NIT202", open, message).hint(format!(
        "add the missing `{closer}`; a script that was cut off does not run"
    ))
}

pub(crate) fn unclosed_in_template(open: Span) -> Diagnostic {
    Diagnostic::error("NIT202", open, "`[` is never closed inside the f-string").hint(
        "the quote around the f-string cannot be used inside its braces: \
         write f\"{$d['key']}\"",
    )
}

pub(crate) fn wrong_closer(span: Span, open: Span, expected: &str, found: &str) -> Diagnostic {
    let message = format!("expected `{expected}`, found `{found}`");
    Diagnostic::error("NIT203", span, message)
        .hint(format!(
            "close the bracket with `{expected}`, or add what is missing"
        ))
        .label(open, "the bracket that is open")
}

pub(crate) fn surplus_closer(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("NIT203", span, format!("`{found}` closes nothing")).hint("remove it")
}

pub(crate) fn missing_comma(span: Span, closer: &str, found: &str) -> Diagnostic {
    let message = format!("expected `,` or `{closer}`, found {found}");
    Diagnostic::error("NIT204", span, message).hint("a comma is missing before this")
}

/// The hint for a word that stands directly behind a closing quote.
pub(crate) fn after_quote(quote: char) -> String {
    let other = if quote == '"' { '\'' } else { '"' };
    match quote {
        '"' | '\'' => format!(
            "the text ended at the quote before this: inside a text write `\\{quote}`, or put \
             the text in `{other}`"
        ),
        _ => "the text ended at the quote before this: put it in `\"..\"`".to_owned(),
    }
}

/// A typographic quote directly behind the letters of a prefix.
pub(crate) fn prefix_before_typographic(span: Span, prefix: &str) -> Diagnostic {
    let message = format!("`{}` is no prefix of a typographic quote", shown(prefix));
    Diagnostic::error("NIT204", span, message).hint("write the text in straight quotes: `\"..\"`")
}

pub(crate) fn semicolon_in_brackets(span: Span, closer: &str) -> Diagnostic {
    let message = format!("expected `,` or `{closer}`, found `;`");
    Diagnostic::error("NIT204", span, message).hint("what stands in brackets is separated by `,`")
}

pub(crate) fn operator(span: Span, text: &str) -> Diagnostic {
    let text = shown(text);
    let message = format!("NIT has no operators: `{text}` cannot stand here");
    let hint = "join text with an f-string such as f\"{$a} {$b}\"; for anything else call a tool";
    Diagnostic::error("NIT205", span, message).hint(hint)
}

pub(crate) fn sign(span: Span, text: &str) -> Diagnostic {
    let message = format!(
        "expected a number behind `{}`: NIT has no operators",
        shown(text)
    );
    Diagnostic::error("NIT205", span, message)
        .hint("a sign belongs to a number, as in `-5`; for anything else call a tool")
}

pub(crate) fn comparison(span: Span, text: &str) -> Diagnostic {
    let message = format!(
        "NIT has no comparisons: `{}` cannot stand here",
        shown(text)
    );
    Diagnostic::error("NIT206", span, message)
        .hint("let a tool decide, or read the value and decide in your next reply")
}

pub(crate) fn stray_tag(span: Span) -> Diagnostic {
    Diagnostic::error("NIT236", span, "a `<nit>` tag stands inside the script")
        .hint("tags may only surround the whole script")
}

pub(crate) fn augmented_assignment(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{}` cannot change a variable", shown(text));
    Diagnostic::error("NIT207", span, message)
        .hint("NIT has no operators: write `$x = tool(..)`, or join text with an f-string")
}

pub(crate) fn path_assignment(span: Span, place: &str) -> Diagnostic {
    let message = format!(
        "`{}` cannot be assigned to: only a whole variable can",
        shown(place)
    );
    Diagnostic::error("NIT208", span, message)
        .hint("write `$name = ..` with a new value, such as a dict that holds what you need")
}

pub(crate) fn not_a_target(span: Span, place: &str) -> Diagnostic {
    let message = format!(
        "`{}` cannot be assigned to: only a variable can",
        shown(place)
    );
    Diagnostic::error("NIT208", span, message).hint("write `$name = ..`")
}

pub(crate) fn unpacking(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{text}` cannot unpack a value here");
    let hint = if text == "**" {
        "write each argument or key out: `f(a=$d.a, b=$d.b)`"
    } else {
        "write each item out: `f($l[0], $l[1])`, or pass the whole list as one argument"
    };
    Diagnostic::error("NIT209", span, message).hint(hint)
}

pub(crate) fn reserved(span: Span, word: &str, is_called: bool) -> Diagnostic {
    let (message, mut hint) = match word {
        "import" | "from" => (
            format!("`{word}` is not possible: a script uses the tools that it is given"),
            "call a tool by its name; nothing is imported".to_owned(),
        ),
        "lambda" | "def" | "class" => (
            format!("`{word}` is reserved: a script cannot define functions or classes"),
            "call tools, one statement after the other".to_owned(),
        ),
        "parallel" => (
            "`parallel` is reserved".to_owned(),
            "write `$a = async f(..)` for each call that is to run at the same time".to_owned(),
        ),
        "return" => (
            "`return` is reserved".to_owned(),
            "the value of the last statement is the script's value: write just `$x`".to_owned(),
        ),
        "and" | "or" | "not" | "in" => (
            format!("`{word}` is reserved: NIT has no operators"),
            "let a tool decide, or decide on results in your next reply".to_owned(),
        ),
        _ => (
            format!("`{word}` is reserved: NIT has no conditions, loops or blocks"),
            "write plain calls; decide on results in your next reply".to_owned(),
        ),
    };
    if is_called {
        let _ = write!(
            hint,
            "; a tool of that name is called by `call(\"{word}\", ..)`"
        );
    }
    Diagnostic::error("NIT210", span, message).hint(hint)
}

pub(crate) fn reserved_tool(span: Span, word: &str) -> Diagnostic {
    let message = format!("`{word}` is reserved and cannot be the bare name of a tool");
    Diagnostic::error("NIT210", span, message).hint(format!(
        "write `plugin.{word}(..)` or `call(\"{word}\", ..)`"
    ))
}

pub(crate) fn async_without_call(span: Span, found: &str) -> Diagnostic {
    let message = format!("`async` must be followed by a call, found {found}");
    Diagnostic::error("NIT211", span, message).hint("write `$x = async tool(..)`")
}

pub(crate) fn async_inside(span: Span) -> Diagnostic {
    Diagnostic::error(
        "NIT212",
        span,
        "`async` cannot stand inside a value or an argument",
    )
    .hint("write `$x = async g(..)` as a statement of its own, then use `$x`")
}

pub(crate) fn path_after_async(span: Span) -> Diagnostic {
    Diagnostic::error("NIT211", span, "a path cannot follow an `async` call")
        .hint("write `$x = async f(..)`, then `$x.name`")
}

pub(crate) fn path_after_literal(span: Span, path: &str) -> Diagnostic {
    let message = format!("`{}` cannot follow this value", shown(path));
    Diagnostic::error("NIT213", span, message).hint(
        "only variables and calls have paths: assign the value to a variable; text has no methods",
    )
}

pub(crate) fn called_value(span: Span, callee: &str) -> Diagnostic {
    let message = format!("`{}` cannot be called: only tools can", shown(callee));
    Diagnostic::error("NIT214", span, message)
        .hint("values have no methods: call a tool and pass the value, as in `tool(text=$x)`")
}

pub(crate) fn dotted_index(span: Span, before: &str, text: &str) -> Diagnostic {
    let index = text.trim_start_matches('.');
    let message = format!("`{}` is not a field", shown(text));
    Diagnostic::error("NIT215", span, message).hint(format!(
        "write `{}[{}]`",
        shown(before),
        shown(index)
    ))
}

pub(crate) fn slice_step(span: Span) -> Diagnostic {
    Diagnostic::error("NIT216", span, "slices have no steps")
        .hint("write `[low:high]`; for anything else call a tool")
}

pub(crate) fn empty_index(span: Span) -> Diagnostic {
    Diagnostic::error("NIT201", span, "expected an index, found `]`")
        .hint("write `[0]`, `[\"key\"]` or `[low:high]`")
}

pub(crate) fn index_list(span: Span) -> Diagnostic {
    Diagnostic::error(
        "NIT201",
        span,
        "expected `]`, found `,`: one index at a time",
    )
    .hint("write `[0][1]`")
}

pub(crate) fn not_a_reference(span: Span) -> Diagnostic {
    let message = "an f-string holds only variables with their paths in its braces";
    Diagnostic::error("NIT217", span, message).hint(
        "call the tool in a statement before, `$x = tool(..)`, then write `{$x}`; \
         write `{{` and `}}` for braces",
    )
}

pub(crate) fn bare_in_template(span: Span, name: &str) -> Diagnostic {
    let name = shown(name);
    let message = format!("expected a variable in the braces of the f-string, found `{name}`");
    Diagnostic::error("NIT217", span, message).hint(format!(
        "write `{{${name}}}`, or `{{{{` and `}}}}` for braces"
    ))
}

pub(crate) fn unclosed_brace(span: Span) -> Diagnostic {
    Diagnostic::error("NIT218", span, "`{` is not closed inside the f-string").hint(
        "add `}`; the quote around the f-string cannot be used inside its braces; \
         write `{{` for a brace",
    )
}

pub(crate) fn single_brace(span: Span) -> Diagnostic {
    Diagnostic::error("NIT218", span, "a single `}` stands in the f-string")
        .hint("write `}}` for a brace")
}

pub(crate) fn bad_conversion(span: Span, text: &str) -> Diagnostic {
    let message = format!("expected `!r` or `!s`, found `{}`", shown(text));
    Diagnostic::error("NIT219", span, message).hint("leave it out to get the value's text")
}

pub(crate) fn bad_format_spec(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{}` is not a format spec", shown(text));
    Diagnostic::error("NIT220", span, message)
        .hint("write it as Python does, without braces: `{$x:>10}`, `{$x:.2f}`, `{$x:,}`")
}

pub(crate) fn format_too_wide(span: Span, limit: u32) -> Diagnostic {
    let message = format!("the width or precision of the format spec is over {limit}");
    Diagnostic::error("NIT220", span, message).hint("use a smaller one")
}

pub(crate) fn duplicate_key(span: Span, first: Span, key: &str, as_json: bool) -> Diagnostic {
    let key = shown(key);
    let message = if as_json {
        format!("the key `{key}` appears twice in the dict once it is JSON")
    } else {
        format!("the key `{key}` appears twice in the dict")
    };
    Diagnostic::error("NIT221", span, message)
        .hint("remove or rename one of them")
        .label(first, "first here")
}

pub(crate) fn bad_key(span: Span, found: &str) -> Diagnostic {
    let message = format!("expected the key of a dict, found {found}");
    Diagnostic::error("NIT222", span, message).hint(
        "a key is a string, a number, a name or a variable; assign anything else to a variable",
    )
}

pub(crate) fn positional_after_keyword(span: Span) -> Diagnostic {
    let message = "an argument without a name follows one with a name";
    Diagnostic::error("NIT223", span, message).hint("write `name=` before it")
}

pub(crate) fn exact_name(span: Span, found: &str) -> Diagnostic {
    let message = format!("expected the exact name of a tool in quotes, found {found}");
    Diagnostic::error("NIT224", span, message)
        .hint("write `call(\"get-weather\", q=1)`: the name comes first and is plain text")
}

pub(crate) fn nesting_too_deep(span: Span, limit: u32) -> Diagnostic {
    let message = format!("brackets and calls are nested more than {limit} deep");
    Diagnostic::error("NIT225", span, message).hint("assign the inner parts to variables first")
}

pub(crate) fn too_many_statements(span: Span, limit: usize) -> Diagnostic {
    let message = format!("the script has more than {limit} statements");
    Diagnostic::error("NIT226", span, message).hint("split the script")
}

pub(crate) fn value_too_large(span: Span, limit: usize, unit: &str) -> Diagnostic {
    let message = format!("the value has more than {limit} {unit}");
    Diagnostic::error("NIT227", span, message).hint("read large data with a tool")
}

pub(crate) fn comprehension(span: Span) -> Diagnostic {
    Diagnostic::error("NIT228", span, "NIT has no comprehensions or loops")
        .hint("write the items out, or pass the whole list to a tool")
}

pub(crate) fn conditional(span: Span) -> Diagnostic {
    Diagnostic::error("NIT229", span, "NIT has no conditional values")
        .hint("decide in your next reply, or let a tool decide")
}

pub(crate) fn several_targets(span: Span) -> Diagnostic {
    Diagnostic::error("NIT230", span, "one statement assigns one variable")
        .hint("write `$r = f(..)`, then `$a = $r[0]` and `$b = $r[1]`")
}

pub(crate) fn colon_argument(span: Span, name: &str) -> Diagnostic {
    let name = shown(name);
    let message = format!("expected `=` behind the argument's name `{name}`, found `:`");
    Diagnostic::error("NIT231", span, message).hint(format!("write `{name}=..`"))
}

pub(crate) fn bad_argument_name(span: Span, found: &str) -> Diagnostic {
    let message = format!("expected the name of an argument before `=`, found {found}");
    Diagnostic::error("NIT232", span, message)
        .hint("write `name=value`; an unusual name goes in quotes: `\"Api-Version\"=\"2\"`")
}

pub(crate) fn missing_separator(span: Span, found: &str) -> Diagnostic {
    let message = format!("expected the end of the statement, found {found}");
    Diagnostic::error("NIT233", span, message)
        .hint("write one statement a line; text needs quotes, a tool's arguments need `(..)`")
}

pub(crate) fn missing_item(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("NIT234", span, format!("expected a value, found {found}"))
        .hint("remove the surplus comma, or write the value")
}

pub(crate) fn unclosed_fence(span: Span) -> Diagnostic {
    Diagnostic::error("NIT235", span, "the Markdown fence is never closed").hint(
        "close it with the same marks, or leave it out; a script that was cut off does not run",
    )
}

pub(crate) fn unmatched_tag(span: Span, tag: &str, missing: &str) -> Diagnostic {
    let message = format!("the tag `{}` has no `{}`", shown(tag), shown(missing));
    Diagnostic::error("NIT236", span, message)
        .hint("write both tags or none; a script that was cut off does not run")
}

pub(crate) fn set_literal(span: Span) -> Diagnostic {
    Diagnostic::error(
        "NIT237",
        span,
        "expected `:` and a value behind the key of a dict",
    )
    .hint("write `{\"key\": value}`; a list is `[..]`")
}

pub(crate) fn prose(span: Span, found: &str) -> Diagnostic {
    let message = format!("expected a statement, found {found}");
    Diagnostic::error("NIT238", span, message)
        .hint("write `$x = tool(name=value)`; a remark begins with `#`")
}
