//! Codes 270 to 279: what is wrong with blocks of NIT 1.0.

use super::shown;
use crate::diagnostic::Diagnostic;
use crate::span::Span;

pub(crate) fn blocks_are_off(span: Span) -> Diagnostic {
    Diagnostic::error("NIT270", span, "NIT 1.0 blocks are not accepted here")
        .hint("write a statement: `tool(key=\"value\")`")
}

pub(crate) fn block_without_name(span: Span) -> Diagnostic {
    Diagnostic::error(
        "NIT271",
        span,
        "the block does not begin with the name of a tool",
    )
    .hint("write the tool's name alone on the first line behind `[[[NIT_CALL]]]`")
}

pub(crate) fn missing_end(span: Span, key: &str) -> Diagnostic {
    let message = format!("the value of `{}` has no `[END]`", shown(key));
    Diagnostic::error("NIT272", span, message).hint("write `[END]` behind the value")
}

pub(crate) fn marker_in_value(span: Span, marker: &str, key: &str) -> Diagnostic {
    let message = format!("`{marker}` stands inside the value of `{}`", shown(key));
    Diagnostic::error("NIT273", span, message)
        .hint("write `[END]` before it; a value that holds markers needs NIT 2")
}

pub(crate) fn unclosed_block(span: Span) -> Diagnostic {
    Diagnostic::error("NIT274", span, "the block has no `[[[NIT_END]]]`")
        .hint("add it; a script that was cut off does not run")
}

pub(crate) fn bad_pair(span: Span, found: &str) -> Diagnostic {
    let message = format!(
        "expected `key: [START]value[END]`, found `{}`",
        shown(found)
    );
    Diagnostic::error("NIT275", span, message)
        .hint("write each argument as `key: [START]value[END]`")
}

pub(crate) fn stray_end(span: Span) -> Diagnostic {
    Diagnostic::error("NIT276", span, "`[[[NIT_END]]]` ends no block").hint("remove it")
}

pub(crate) fn block_inside(span: Span) -> Diagnostic {
    Diagnostic::error("NIT276", span, "a NIT 1.0 block is a statement of its own")
        .hint("write the call as `tool(key=\"value\")` here")
}
