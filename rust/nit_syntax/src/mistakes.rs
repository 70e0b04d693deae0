//! Every finding of the lexer and the parser: one function for each code.
//!
//! Messages are one line, name the thing in backticks and say what was expected and what was
//! found; the hint says what to write. Codes are stable and listed in `docs/diagnostics.d/syntax.md`.

mod blocks;
mod structure;
mod tolerances;
mod words;

pub(crate) use blocks::*;
pub(crate) use structure::*;
pub(crate) use tolerances::*;
pub use words::lone_surrogate;
pub(crate) use words::*;

/// Text of the source as it may stand in a message: one short line.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == LONGEST {
            shown.push('…');
            break;
        }
        match character {
            '\n' | '\r' => shown.push('⏎'),
            '`' => shown.push('\''),
            _ if character.is_control() || crate::chars::is_invisible(character) => {
                shown.push('\u{FFFD}');
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// `U+200B`
pub(crate) fn code_point(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}
