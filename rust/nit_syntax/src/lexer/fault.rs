//! What is wrong with a bad token, and what the lexer noticed and went on.

use crate::span::Span;
use crate::token::{Token, TokenKind};

/// Why a token is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// A character that a reader cannot see, or that turns the text around.
    Invisible,
    /// A character that the language does not use.
    UnknownCharacter,
    /// A backslash outside a string that does not end its line.
    StrayBackslash,
    /// A line break inside a plain string.
    LineBreakInString,
    /// A plain string that the source does not close.
    UnclosedString,
    /// A triple-quoted string that the source does not close.
    UnclosedTripleString,
    /// A typographic quote without its partner.
    UnpairedQuote,
    /// A number followed by letters, or with misplaced `_` or digits.
    MalformedNumber,
    /// An imaginary number.
    ComplexNumber,
    /// A `$` without a name.
    LoneDollar,
}

impl Fault {
    const ALL: [Self; 10] = [
        Self::Invisible,
        Self::UnknownCharacter,
        Self::StrayBackslash,
        Self::LineBreakInString,
        Self::UnclosedString,
        Self::UnclosedTripleString,
        Self::UnpairedQuote,
        Self::MalformedNumber,
        Self::ComplexNumber,
        Self::LoneDollar,
    ];

    /// The fault of a bad token.
    pub fn of(token: Token) -> Option<Self> {
        if token.kind == TokenKind::Bad {
            Self::ALL.get(usize::from(token.flags)).copied()
        } else {
            None
        }
    }
}

/// What the lexer noticed and went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// A blank that is neither space nor tab.
    OddBlank,
    /// Punctuation written with a full-width character.
    WidePunctuation,
    /// A string in typographic quotes.
    TypographicQuotes,
    /// A decimal number with leading zeros.
    LeadingZeros,
    /// An invisible character in a comment: an error.
    InvisibleInComment,
}

/// What the lexer noticed, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub kind: NoteKind,
    /// Its place.
    pub span: Span,
}
