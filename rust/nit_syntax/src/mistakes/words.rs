//! Codes from 100 on: what is wrong with single words.

use super::{code_point, shown};
use crate::chars;
use crate::diagnostic::Diagnostic;
use crate::literal::EscapeFault;
use crate::span::Span;

pub(crate) fn source_too_long(bytes: usize, limit: usize) -> Diagnostic {
    let message = format!("the script has {bytes} bytes, more than the limit of {limit}");
    Diagnostic::error("NIT101", Span::at(0), message)
        .hint("split the script, or read long text from a file with a tool")
}

/// A half of a surrogate pair in the source text itself.
pub fn lone_surrogate(span: Span) -> Diagnostic {
    Diagnostic::error(
        "NIT102",
        span,
        "half of a surrogate pair stands in the text, which is no character",
    )
    .hint("remove it, or write the whole character")
}

pub(crate) fn invisible(span: Span, character: char) -> Diagnostic {
    let kind = if chars::is_bidi_control(character) {
        "a control character that turns the text around"
    } else {
        "an invisible character"
    };
    let message = format!("{kind}, {}, stands outside a string", code_point(character));
    Diagnostic::error("NIT103", span, message).hint("remove it; inside a string it may stay")
}

pub(crate) fn unknown_character(span: Span, character: char) -> Diagnostic {
    let name = if character.is_control() {
        format!("the control character {}", code_point(character))
    } else {
        format!(
            "`{}` ({})",
            shown(&character.to_string()),
            code_point(character)
        )
    };
    let hint = match character {
        '−' | '–' | '—' | '－' => "write `-` for minus; text needs quotes",
        '‘' | '’' | '“' | '”' | '´' | '`' => "write strings in `\"..\"` or `'..'`",
        '０'..='９' => "write numbers with the digits 0 to 9",
        _ => "text needs quotes: `\"..\"`",
    };
    Diagnostic::error("NIT104", span, format!("{name} has no meaning here")).hint(hint)
}

pub(crate) fn backquote(span: Span) -> Diagnostic {
    Diagnostic::error("NIT104", span, "a backquote has no meaning here")
        .hint("write strings in `\"..\"`; a Markdown fence may only surround the whole script")
}

pub(crate) fn stray_backslash(span: Span) -> Diagnostic {
    Diagnostic::error("NIT104", span, "`\\` has no meaning outside a string")
        .hint("remove it; at the end of a line it joins the line with the next one")
}

pub(crate) fn line_break_in_string(span: Span) -> Diagnostic {
    Diagnostic::error(
        "NIT105",
        span,
        "unterminated string: the line ends inside it",
    )
    .hint("write `\\n` for a line break, or use triple quotes: `\"\"\"..\"\"\"`")
}

pub(crate) fn unclosed_string(span: Span) -> Diagnostic {
    Diagnostic::error(
        "NIT106",
        span,
        "unterminated string: its closing quote is missing",
    )
    .hint("add the closing quote; a script that was cut off does not run")
}

/// The hint for a plain string whose quote is escaped and never closed, such as `"C:\dir\"`.
pub(crate) const ESCAPED_QUOTE: &str =
    "a backslash escapes the quote behind it: write `\\\\` for a backslash, or `/`";

pub(crate) fn unclosed_triple_string(span: Span, quotes: &str) -> Diagnostic {
    let message = format!("unterminated string: its closing `{quotes}` is missing");
    Diagnostic::error("NIT106", span, message).hint(format!(
        "add the closing `{quotes}`; a script that was cut off does not run"
    ))
}

pub(crate) fn bad_escape(span: Span, fault: EscapeFault, text: &str) -> Diagnostic {
    let text = shown(text);
    match fault {
        EscapeFault::Truncated => {
            let digits = match text.as_bytes().get(1) {
                Some(b'x') => 2,
                Some(b'u') => 4,
                _ => 8,
            };
            let message = format!("the escape `{text}` wants {digits} hexadecimal digits");
            Diagnostic::error("NIT107", span, message)
                .hint("complete it, or write `\\\\` for a backslash")
        }
        EscapeFault::OutOfRange => Diagnostic::error(
            "NIT107",
            span,
            format!("the escape `{text}` is beyond the last character, U+10FFFF"),
        )
        .hint("write the character itself"),
        EscapeFault::LoneSurrogate => Diagnostic::error(
            "NIT108",
            span,
            format!("the escape `{text}` is half of a surrogate pair, which is no character"),
        )
        .hint("write both halves, as in `\"\\ud83d\\ude00\"`, or the character itself"),
        EscapeFault::Named => Diagnostic::error(
            "NIT109",
            span,
            "characters cannot be written by name (`\\N{..}`)",
        )
        .hint("write the character itself, `\\uXXXX`, or `\\\\N` for a backslash and an N"),
    }
}

pub(crate) fn malformed_number(span: Span, text: &str) -> Diagnostic {
    let text = shown(text);
    Diagnostic::error("NIT110", span, format!("`{text}` is not a number"))
        .hint(format!("text needs quotes: `\"{text}\"`"))
}

pub(crate) fn number_too_large(span: Span, text: &str) -> Diagnostic {
    let message = format!("the number `{}` is too large for a float", shown(text));
    Diagnostic::error("NIT111", span, message)
        .hint("write it as text in quotes if its digits matter")
}

pub(crate) fn integer_too_long(span: Span) -> Diagnostic {
    Diagnostic::error("NIT112", span, "the integer has more than 4300 digits")
        .hint("write it as text in quotes")
}

pub(crate) fn complex_number(span: Span, text: &str) -> Diagnostic {
    let text = shown(text);
    Diagnostic::error(
        "NIT113",
        span,
        format!("`{text}` is a complex number, which NIT has not"),
    )
    .hint(format!("text needs quotes: `\"{text}\"`"))
}

pub(crate) fn lone_dollar(span: Span, next: Option<char>) -> Diagnostic {
    let (message, hint) = match next {
        Some(digit) if digit.is_ascii_digit() => (
            "the name of a variable cannot begin with a digit",
            "write `$` and a name such as `$x1`; an amount of money is text in quotes",
        ),
        Some('{') => (
            "`${..}` is not how a variable is written",
            "write `$name` without braces",
        ),
        Some('$') => ("`$$` is not a variable", "write `$name` with one `$`"),
        _ => (
            "`$` without a name behind it",
            "write the variable's name directly behind the `$`, as in `$result`",
        ),
    };
    Diagnostic::error("NIT114", span, message).hint(hint)
}

pub(crate) fn dunder(span: Span, name: &str) -> Diagnostic {
    let message = format!("the name `{}` begins with two underscores", shown(name));
    Diagnostic::error("NIT115", span, message)
        .hint("such names are not allowed; a key of data can be read as `[\"..\"]`")
}

pub(crate) fn unpaired_quote(span: Span, quote: &str) -> Diagnostic {
    let quote = shown(quote);
    Diagnostic::error(
        "NIT116",
        span,
        format!("unterminated string: the quote `{quote}` has no partner on its line"),
    )
    .hint("write strings in `\"..\"` or `'..'`")
}

pub(crate) fn bytes_literal(span: Span) -> Diagnostic {
    Diagnostic::error("NIT117", span, "NIT has no bytes literals")
        .hint("write the text without the `b`")
}

pub(crate) fn not_a_constant(span: Span, name: &str) -> Diagnostic {
    let message = format!("`{name}` is not a value of NIT");
    Diagnostic::error("NIT118", span, message).hint("write `null`, or the word in quotes")
}
