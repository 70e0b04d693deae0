//! String literals: where they end, and which parts they have.

use super::{Fault, Lexer, NoteKind};
use crate::span::{Span, offset};
use crate::token::{TokenKind, form};

/// The form bits of a prefix, `None` where it is no prefix of a string.
pub(super) fn prefix_flags(prefix: &[u8]) -> Option<u8> {
    Some(match *prefix {
        [b'r' | b'R'] => form::RAW,
        [b'f' | b'F'] => form::TEMPLATE,
        [b'b' | b'B' | b'u' | b'U'] => form::ODD_PREFIX,
        [b'r' | b'R', b'f' | b'F'] | [b'f' | b'F', b'r' | b'R'] => form::RAW | form::TEMPLATE,
        [b'r' | b'R', b'b' | b'B'] | [b'b' | b'B', b'r' | b'R'] => form::RAW | form::ODD_PREFIX,
        _ => return None,
    })
}

/// The parts of a literal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiteralParts {
    /// Between the quotes.
    pub content: Span,
    /// Before the opening quote.
    pub prefix: Span,
}

/// Take a string literal apart.
pub(crate) fn literal_parts(source: &str, span: Span, flags: u8) -> LiteralParts {
    let text = span.text(source);
    let prefix = offset(text.bytes().take_while(u8::is_ascii_alphabetic).count());
    let quotes = if flags & form::TRIPLE != 0 {
        (3, 3)
    } else if flags & form::TYPOGRAPHIC != 0 {
        let length = |character: Option<char>| character.map_or(0, char::len_utf8);
        (
            length(text.chars().next()),
            length(text.chars().next_back()),
        )
    } else {
        (1, 1)
    };
    let start = span.start + prefix + offset(quotes.0);
    LiteralParts {
        content: Span::new(start, span.end.saturating_sub(offset(quotes.1))),
        prefix: Span::new(span.start, span.start + prefix),
    }
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of each byte that is zero (and perhaps of bytes above such a one).
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(LOW) & !word & HIGH
}

/// The first quote, backslash or line break at or after `from`.
fn find_stop(bytes: &[u8], from: usize, quote: u8) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let quotes = u64::from(quote) * LOW;
    let mut at = from;
    let words = rest.chunks_exact(8);
    let tail = words.remainder();
    for word in words {
        let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
        let found = zero_bytes(word ^ quotes)
            | zero_bytes(word ^ (LOW * u64::from(b'\\')))
            | zero_bytes(word ^ (LOW * u64::from(b'\n')))
            | zero_bytes(word ^ (LOW * u64::from(b'\r')));
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let stop = |byte: &u8| *byte == quote || matches!(byte, b'\\' | b'\n' | b'\r');
    tail.iter().position(stop).map(|found| at + found)
}

impl Lexer<'_> {
    /// A literal whose first quote, at `opening`, has been read.
    #[inline]
    pub(super) fn string(&mut self, opening: usize, flags: u8) -> TokenKind {
        let quote = self.bytes.get(opening).copied().unwrap_or(b'"');
        if self.peek() == Some(quote) && self.bytes.get(opening + 2) == Some(&quote) {
            self.position = opening + 3;
            return self.triple_string(quote, flags | form::TRIPLE);
        }
        self.plain_string(quote, flags)
    }

    #[inline]
    fn plain_string(&mut self, quote: u8, mut flags: u8) -> TokenKind {
        loop {
            let Some(stop) = find_stop(self.bytes, self.position, quote) else {
                self.position = self.bytes.len();
                return self.bad(Fault::UnclosedString);
            };
            self.position = stop;
            match self.bytes.get(stop) {
                Some(b'\\') => {
                    flags |= form::ESCAPED;
                    self.escaped(&mut flags);
                }
                Some(b'\n' | b'\r') => return self.bad(Fault::LineBreakInString),
                _ => {
                    self.position += 1;
                    return self.flagged(TokenKind::String, flags);
                }
            }
        }
    }

    fn triple_string(&mut self, quote: u8, mut flags: u8) -> TokenKind {
        loop {
            let rest = self.bytes.get(self.position..).unwrap_or_default();
            let Some(stop) = memchr::memchr3(quote, b'\\', b'\r', rest) else {
                self.position = self.bytes.len();
                return self.bad(Fault::UnclosedTripleString);
            };
            self.position += stop;
            match self.peek() {
                Some(b'\\') => {
                    flags |= form::ESCAPED;
                    self.escaped(&mut flags);
                }
                Some(b'\r') => {
                    flags |= form::RETURN;
                    self.position += 1;
                }
                _ if self.starts_with(self.position, &[quote; 3]) => {
                    self.position += 3;
                    return self.flagged(TokenKind::String, flags);
                }
                _ => self.position += 1,
            }
        }
    }

    /// Move behind a backslash and the byte after it; a line break there is a whole one.
    fn escaped(&mut self, flags: &mut u8) {
        self.position += 1;
        match self.peek() {
            Some(b'\r') => {
                *flags |= form::RETURN;
                self.position += 1;
                self.position += usize::from(self.peek() == Some(b'\n'));
            }
            Some(_) => self.position += 1,
            None => {}
        }
    }

    /// A typographic quote has been read at `start`.
    pub(super) fn typographic_string(&mut self, start: usize, closers: &[char]) -> TokenKind {
        let mut flags = form::TYPOGRAPHIC;
        while let Some(character) = self.character(self.position) {
            match character {
                '\\' => {
                    flags |= form::ESCAPED;
                    self.position += 1;
                    match self.character(self.position) {
                        None | Some('\n' | '\r') => break,
                        Some(next) => self.position += next.len_utf8(),
                    }
                    continue;
                }
                '\n' | '\r' => break,
                _ => self.position += character.len_utf8(),
            }
            if closers.contains(&character) {
                self.note(NoteKind::TypographicQuotes, start);
                return self.flagged(TokenKind::String, flags);
            }
        }
        self.bad(Fault::UnpairedQuote)
    }
}
