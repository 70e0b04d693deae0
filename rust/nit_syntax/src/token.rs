//! The words of the language, each with its place.

use crate::span::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenKind {
    /// The end of the source.
    End,
    /// A line break that ends a statement.
    Newline,
    /// `;`
    Semicolon,
    /// A line break inside brackets, where it is blank. Only with trivia.
    Break,
    /// `#` up to the end of its line. Only with trivia.
    Comment,
    /// An identifier, also a constant or a reserved word.
    Name,
    /// `$name`
    Variable,
    /// An integer without its sign.
    Int,
    /// A float without its sign.
    Float,
    /// A string literal with its prefix and quotes; [`Token::flags`] tells its form.
    String,
    /// `(`
    LeftParen,
    /// `)`
    RightParen,
    /// `[`
    LeftBracket,
    /// `]`
    RightBracket,
    /// `{`
    LeftBrace,
    /// `}`
    RightBrace,
    /// `,`
    Comma,
    /// `=`
    Equal,
    /// `:`
    Colon,
    /// `.`
    Dot,
    /// `+` or `-`
    Sign,
    /// `>>>`
    Prompt,
    /// `...`
    Ellipsis,
    /// `+=`, `-=` and the like.
    AugmentedAssign,
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`
    Comparison,
    /// `*` or `**`
    Star,
    /// Any other operator of Python's: `/ // % @ & | ^ ~ << >> -> :=`
    Operator,
    /// A NIT 1.0 block marker, `[[[NIT_CALL]]]` or `[[[NIT_END]]]`.
    Marker,
    /// Something that is no token; [`Token::flags`] says why (see [`crate::lexer::Fault`]).
    Bad,
}

/// A word of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// The form of a string (the bits of [`form`]), the fault of a bad token, else 0 or
    /// [`form::WIDE`].
    pub flags: u8,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset behind its last byte.
    pub end: u32,
}

impl Token {
    /// The place of the token.
    pub fn span(self) -> Span {
        Span::new(self.start, self.end)
    }

    /// The text of the token.
    pub fn text(self, source: &str) -> &str {
        self.span().text(source)
    }
}

/// Bits of [`Token::flags`] and of a literal's node.
pub mod form {
    /// `r"..."`
    pub const RAW: u8 = 1;
    /// `f"..."`
    pub const TEMPLATE: u8 = 2;
    /// Three quotes.
    pub const TRIPLE: u8 = 4;
    /// A backslash stands in it.
    pub const ESCAPED: u8 = 8;
    /// A carriage return stands in it (line breaks become `\n`).
    pub const RETURN: u8 = 16;
    /// `b` or `u` stands in the prefix.
    pub const ODD_PREFIX: u8 = 32;
    /// Typographic quotes.
    pub const TYPOGRAPHIC: u8 = 64;
    /// The text of a template, in which `{{` and `}}` are braces.
    pub const BRACES: u8 = 128;
    /// A name that is its own text, without quotes (NIT 1.0).
    pub const VERBATIM: u8 = 128;
    /// A float with an exponent.
    pub const EXPONENT: u8 = 1;
    /// A punctuation mark written with a full-width character.
    pub const WIDE: u8 = 1;
}
