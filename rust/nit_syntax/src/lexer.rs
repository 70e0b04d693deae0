//! Text to tokens, without copying: a token is a kind and a place.
//!
//! The lexer never fails. What is no token comes as [`TokenKind::Bad`] with its [`Fault`]; what is
//! accepted with a warning is also written down as a [`Note`]. Line breaks inside brackets are
//! blank, so the lexer counts the brackets that it has seen open.

mod fault;
mod number;
mod string;

pub use fault::{Fault, Note, NoteKind};
pub(crate) use string::literal_parts;

use crate::chars::{self, Class, class};
use crate::span::{Span, offset};
use crate::token::{Token, TokenKind, form};

/// An offset; sources that need more bits are refused at the door.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a source has less than 4 GiB"
)]
fn short(offset: usize) -> u32 {
    offset as u32
}

/// Splits a source into tokens.
#[derive(Clone, Debug)]
pub struct Lexer<'s> {
    source: &'s str,
    bytes: &'s [u8],
    position: usize,
    /// Where the last token began, and its flags.
    start: usize,
    flags: u8,
    trivia: bool,
    depth: u32,
    notes: Vec<Note>,
}

impl<'s> Lexer<'s> {
    /// A lexer for `source[start..end]`, without comments and blank line breaks. Offsets are those
    /// of the whole source.
    pub fn new(source: &'s str, start: u32, end: u32) -> Self {
        let source = source.get(..end as usize).unwrap_or(source);
        Self {
            source,
            bytes: source.as_bytes(),
            position: start as usize,
            start: 0,
            flags: 0,
            trivia: false,
            depth: 0,
            notes: Vec::new(),
        }
    }

    /// A lexer whose tokens include [`TokenKind::Comment`] and [`TokenKind::Break`], for the
    /// formatter.
    pub fn with_trivia(source: &'s str) -> Self {
        let mut lexer = Self::new(source, 0, offset(source.len()));
        lexer.keep_trivia();
        if source.starts_with('\u{FEFF}') {
            lexer.position = '\u{FEFF}'.len_utf8();
        }
        lexer
    }

    /// From now on, return comments and blank line breaks too.
    pub(crate) fn keep_trivia(&mut self) {
        self.trivia = true;
    }

    /// Count this many brackets as open.
    pub(crate) fn set_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// Go on at another place, outside of all brackets, and forget notes from there on.
    pub(crate) fn jump(&mut self, to: u32) {
        self.position = to as usize;
        self.depth = 0;
        self.notes.retain(|note| note.span.start < to);
    }

    /// Count line breaks as blank, whatever the brackets say.
    pub(crate) fn stay_inside_brackets(&mut self) {
        self.depth = u32::MAX / 2;
    }

    /// The notes so far.
    pub(crate) fn notes(&mut self) -> &mut Vec<Note> {
        &mut self.notes
    }

    /// The next token; [`TokenKind::End`] for ever at the end.
    #[inline]
    pub fn next_token(&mut self) -> Token {
        // Put together here, where it is used: a returned struct would go through memory.
        Token {
            kind: self.next_kind(),
            flags: self.flags,
            start: short(self.start),
            end: short(self.position),
        }
    }

    /// Read a token: its kind is returned, its place and flags are left in the lexer.
    fn next_kind(&mut self) -> TokenKind {
        // By far the most frequent blank is one space.
        if self.peek() == Some(b' ') {
            self.position += 1;
        }
        loop {
            let start = self.position;
            self.start = start;
            self.flags = 0;
            let Some(&byte) = self.bytes.get(start) else {
                return TokenKind::End;
            };
            self.position = start + 1;
            let kind = match class(byte) {
                Class::Blank => continue,
                Class::Letter => return self.name(start),
                Class::Quote => return self.string(start, 0),
                Class::Dollar => return self.variable(),
                Class::Digit => return self.number(start),
                Class::Open => return self.open(start, byte),
                Class::Close => return self.close(byte),
                Class::Comma => TokenKind::Comma,
                Class::Colon => return self.colon(),
                Class::Semicolon => TokenKind::Semicolon,
                Class::Equal => return self.equal(),
                Class::Dot => return self.dot(start),
                Class::Newline => match self.newline(byte) {
                    Some(kind) => kind,
                    None => continue,
                },
                Class::Hash => {
                    self.comment(start);
                    if self.trivia {
                        TokenKind::Comment
                    } else {
                        continue;
                    }
                }
                Class::Sign | Class::Operator => return self.operator(start, byte),
                Class::Backslash => match self.peek() {
                    Some(b'\n') => {
                        self.position += 1;
                        continue;
                    }
                    Some(b'\r') => {
                        self.position += 1 + usize::from(self.bytes.get(start + 2) == Some(&b'\n'));
                        continue;
                    }
                    _ => return self.bad(Fault::StrayBackslash),
                },
                Class::Wide | Class::Other => match self.odd_character(start) {
                    Some(token) => return token,
                    None => continue,
                },
            };
            return kind;
        }
    }

    #[inline]
    fn flagged(&mut self, kind: TokenKind, flags: u8) -> TokenKind {
        self.flags = flags;
        kind
    }

    fn bad(&mut self, fault: Fault) -> TokenKind {
        self.flagged(TokenKind::Bad, fault as u8)
    }

    fn note(&mut self, kind: NoteKind, start: usize) {
        let span = Span::new(offset(start), offset(self.position));
        self.notes.push(Note { kind, span });
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn character(&self, at: usize) -> Option<char> {
        self.source.get(at..)?.chars().next()
    }

    fn starts_with(&self, at: usize, text: &[u8]) -> bool {
        self.bytes
            .get(at..)
            .is_some_and(|rest| rest.starts_with(text))
    }

    fn newline(&mut self, byte: u8) -> Option<TokenKind> {
        if byte == b'\r' && self.peek() == Some(b'\n') {
            self.position += 1;
        }
        if self.depth == 0 {
            Some(TokenKind::Newline)
        } else if self.trivia {
            Some(TokenKind::Break)
        } else {
            None
        }
    }

    fn comment(&mut self, start: usize) {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        self.position = start + length;
        let text = self.source.get(start..self.position).unwrap_or_default();
        if text.is_ascii() {
            return;
        }
        let odd = |c: &(usize, char)| chars::is_bidi_control(c.1) || chars::is_zero_width(c.1);
        if let Some((at, character)) = text.char_indices().find(odd) {
            let from = offset(start + at);
            let span = Span::new(from, from + offset(character.len_utf8()));
            self.notes.push(Note {
                kind: NoteKind::InvisibleInComment,
                span,
            });
        }
    }

    #[inline]
    fn name(&mut self, start: usize) -> TokenKind {
        self.rest_of_name();
        if let Some(quote @ (b'"' | b'\'')) = self.peek() {
            let prefix = self.bytes.get(start..self.position).unwrap_or_default();
            if let Some(flags) = string::prefix_flags(prefix) {
                let opening = self.position;
                self.position += 1;
                debug_assert!(quote == b'"' || quote == b'\'');
                return self.string(opening, flags);
            }
        }
        TokenKind::Name
    }

    /// Move behind the identifier of which at least one character has been read.
    #[inline]
    fn rest_of_name(&mut self) {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let length = rest.iter().position(|byte| !chars::continues_name(*byte));
        let length = length.unwrap_or(rest.len());
        self.position += length;
        if let Some(0x80..) = rest.get(length) {
            self.rest_of_wide_name();
        }
    }

    #[cold]
    fn rest_of_wide_name(&mut self) {
        while let Some(character) = self.character(self.position) {
            if !chars::is_name_continue(character) {
                return;
            }
            self.position += character.len_utf8();
        }
    }

    /// A `$` has been read.
    #[inline]
    fn variable(&mut self) -> TokenKind {
        match self.peek() {
            Some(byte) if class(byte) == Class::Letter => self.position += 1,
            Some(0x80..) => match self.character(self.position) {
                Some(character) if chars::is_name_start(character) => {
                    self.position += character.len_utf8();
                }
                _ => return self.bad(Fault::LoneDollar),
            },
            _ => return self.bad(Fault::LoneDollar),
        }
        self.rest_of_name();
        TokenKind::Variable
    }

    #[inline]
    fn open(&mut self, start: usize, byte: u8) -> TokenKind {
        let kind = match byte {
            b'(' => TokenKind::LeftParen,
            b'{' => TokenKind::LeftBrace,
            _ => {
                if self.depth == 0 && self.starts_with(start, b"[[[NIT_") {
                    for marker in [&b"[[[NIT_CALL]]]"[..], b"[[[NIT_END]]]"] {
                        if self.starts_with(start, marker) {
                            self.position = start + marker.len();
                            return TokenKind::Marker;
                        }
                    }
                }
                TokenKind::LeftBracket
            }
        };
        self.depth += 1;
        kind
    }

    #[inline]
    fn close(&mut self, byte: u8) -> TokenKind {
        self.depth = self.depth.saturating_sub(1);

        match byte {
            b')' => TokenKind::RightParen,
            b']' => TokenKind::RightBracket,
            _ => TokenKind::RightBrace,
        }
    }

    #[inline]
    fn colon(&mut self) -> TokenKind {
        if self.peek() == Some(b'=') {
            self.position += 1;
            return TokenKind::Operator;
        }
        TokenKind::Colon
    }

    #[inline]
    fn equal(&mut self) -> TokenKind {
        match self.peek() {
            Some(b'=') => {
                self.position += 1;
                TokenKind::Comparison
            }
            Some(b'>') => {
                self.position += 1;
                TokenKind::Operator
            }
            _ => TokenKind::Equal,
        }
    }

    fn dot(&mut self, start: usize) -> TokenKind {
        match self.peek() {
            Some(b'0'..=b'9') => self.number(start),
            Some(b'.') if self.starts_with(start, b"...") => {
                self.position = start + 3;
                TokenKind::Ellipsis
            }
            _ => TokenKind::Dot,
        }
    }

    #[cold]
    fn operator(&mut self, start: usize, byte: u8) -> TokenKind {
        let second = self.peek();
        let doubled = matches!(byte, b'*' | b'/' | b'<' | b'>') && second == Some(byte);
        if byte == b'>' && self.starts_with(start, b">>>") {
            self.position = start + 3;
            return TokenKind::Prompt;
        }
        if byte == b'-' && second == Some(b'>') {
            self.position += 1;
            return TokenKind::Operator;
        }
        self.position += usize::from(doubled);
        let assigns = self.peek() == Some(b'=') && byte != b'~';
        self.position += usize::from(assigns);

        match byte {
            b'<' | b'>' | b'!' if !doubled && (assigns || byte != b'!') => TokenKind::Comparison,
            b'!' => TokenKind::Operator,
            _ if assigns => TokenKind::AugmentedAssign,
            b'+' | b'-' => TokenKind::Sign,
            b'*' => TokenKind::Star,
            _ => TokenKind::Operator,
        }
    }

    /// A character outside ASCII, or one without a use; `None` where it is a blank.
    #[cold]
    fn odd_character(&mut self, start: usize) -> Option<TokenKind> {
        let character = self.character(start)?;
        self.position = start + character.len_utf8();
        if chars::is_name_start(character) {
            return Some(self.name(start));
        }
        if let Some(byte) = chars::narrow(character) {
            self.note(NoteKind::WidePunctuation, start);
            return self.wide_punctuation(start, byte);
        }
        if chars::is_odd_blank(character) {
            self.note(NoteKind::OddBlank, start);
            return None;
        }
        let closers = chars::typographic_closers(character);
        if !closers.is_empty() {
            return Some(self.typographic_string(start, closers));
        }
        let fault = if chars::is_invisible(character) {
            Fault::Invisible
        } else {
            Fault::UnknownCharacter
        };
        Some(self.bad(fault))
    }

    fn wide_punctuation(&mut self, start: usize, byte: u8) -> Option<TokenKind> {
        let kind = match class(byte) {
            Class::Open => self.open(start, byte),
            Class::Close => self.close(byte),
            Class::Comma => TokenKind::Comma,
            Class::Colon => TokenKind::Colon,
            Class::Semicolon => TokenKind::Semicolon,
            Class::Dot => TokenKind::Dot,
            Class::Dollar => self.variable(),
            Class::Hash => {
                self.comment(start);
                if !self.trivia {
                    return None;
                }
                TokenKind::Comment
            }
            _ => self.equal(),
        };
        if !matches!(kind, TokenKind::Bad | TokenKind::Variable) {
            self.flags = form::WIDE;
        }
        Some(kind)
    }
}
