//! Codes from 150 and from 250 on: what models write and what is accepted with a warning.

use super::{code_point, shown};
use crate::chars;
use crate::diagnostic::Diagnostic;
use crate::span::Span;

pub(crate) fn wide_punctuation(span: Span, text: &str) -> Diagnostic {
    let twin = text
        .chars()
        .next()
        .and_then(chars::narrow)
        .map_or(' ', char::from);
    let message = format!("the full-width `{}` was read as `{twin}`", shown(text));
    Diagnostic::warning("NIT150", span, message).hint(format!("write `{twin}`"))
}

pub(crate) fn typographic_quotes(span: Span, text: &str) -> Diagnostic {
    let quote = |c: Option<char>| c.map(|c| c.to_string()).unwrap_or_default();
    let (open, close) = (quote(text.chars().next()), quote(text.chars().next_back()));
    let message = format!("the typographic quotes `{open}..{close}` were read as `\"..\"`");
    Diagnostic::warning("NIT151", span, message).hint("write strings in `\"..\"` or `'..'`")
}

pub(crate) fn odd_blank(span: Span, text: &str) -> Diagnostic {
    let name = text.chars().next().map(code_point).unwrap_or_default();
    Diagnostic::warning("NIT152", span, format!("{name} was read as a blank"))
        .hint("write a plain space")
}

pub(crate) fn leading_zeros(span: Span, text: &str) -> Diagnostic {
    let text = shown(text);
    let message = format!("the number `{text}` has leading zeros");
    let hint = format!("write it without them, or as text in quotes: `\"{text}\"`");
    Diagnostic::warning("NIT153", span, message).hint(hint)
}

pub(crate) fn unicode_prefix(span: Span) -> Diagnostic {
    Diagnostic::warning("NIT154", span, "the prefix `u` of a string means nothing")
        .hint("leave it out")
}

pub(crate) fn bare_target(span: Span, name: &str) -> Diagnostic {
    let name = shown(name);
    let message = format!("`{name} = ..` was read as `${name} = ..`");
    Diagnostic::warning("NIT250", span, message)
        .hint(format!("write `${name}`: variables begin with `$`"))
}

pub(crate) fn needless_await(span: Span) -> Diagnostic {
    Diagnostic::warning("NIT251", span, "`await` is not needed and was left out")
        .hint("a plain call waits; a variable of a background task is waited for when it is used")
}

pub(crate) fn prompt(span: Span, text: &str) -> Diagnostic {
    let message = format!("the prompt `{text}` was left out");
    Diagnostic::warning("NIT252", span, message).hint("write the statement alone")
}

pub(crate) fn indentation(span: Span) -> Diagnostic {
    Diagnostic::warning(
        "NIT253",
        span,
        "the statement is indented, which means nothing",
    )
    .hint("begin statements at the start of the line")
}

pub(crate) fn fence(span: Span) -> Diagnostic {
    Diagnostic::warning(
        "NIT254",
        span,
        "the Markdown fence around the script was left out",
    )
    .hint("write the script alone")
}

pub(crate) fn strings_on_two_lines(first: Span, second: Span) -> Diagnostic {
    Diagnostic::warning(
        "NIT255",
        second,
        "two strings on two lines were joined to one: a comma is probably missing",
    )
    .hint("write a comma between them, or one pair of brackets around the parts of one text")
    .label(first, "joined with this")
}
