//! Numbers, as Python writes them.

use super::{Fault, Lexer, NoteKind};
use crate::chars;
use crate::token::{TokenKind, form};

impl Lexer<'_> {
    /// A digit, or a dot before one, has been read at `start`.
    pub(super) fn number(&mut self, start: usize) -> TokenKind {
        self.position = start;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let digits = rest.iter().position(|byte| !byte.is_ascii_digit());
        let digits = digits.unwrap_or(rest.len());
        let ends = |byte: &u8| !chars::continues_name(*byte) && *byte != b'.' && *byte < 0x80;
        if digits > 0
            && rest.get(digits).is_none_or(ends)
            && (digits == 1 || rest.first() != Some(&b'0'))
        {
            // By far the most frequent form.
            self.position = start + digits;
            return TokenKind::Int;
        }
        let is_zero = self.peek() == Some(b'0');
        let radix = match self.bytes.get(start + 1) {
            Some(b'x' | b'X') if is_zero => 16,
            Some(b'o' | b'O') if is_zero => 8,
            Some(b'b' | b'B') if is_zero => 2,
            _ => 10,
        };
        if radix != 10 {
            self.position += 2;
            // Python allows `0x_1`: an underscore after the prefix.
            self.position += usize::from(self.peek() == Some(b'_'));
            let good = self.digits(radix);
            return self.finish_number(TokenKind::Int, good);
        }
        let mut kind = TokenKind::Int;
        let mut good = true;
        let mut flags = 0;
        if self.peek() != Some(b'.') {
            good = self.digits(10);
        }
        if self.peek() == Some(b'.') && !self.starts_with(self.position, b"..") {
            self.position += 1;
            kind = TokenKind::Float;
            if let Some(b'0'..=b'9' | b'_') = self.peek() {
                good = self.digits(10) && good;
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            let sign = matches!(self.bytes.get(self.position + 1), Some(b'+' | b'-'));
            let after = self.position + 1 + usize::from(sign);
            if matches!(self.bytes.get(after), Some(b'0'..=b'9')) {
                self.position = after;
                kind = TokenKind::Float;
                flags = form::EXPONENT;
                good = self.digits(10) && good;
            }
        }
        let kind = self.finish_number(kind, good);
        if kind == TokenKind::Float {
            self.flags = flags;
        }
        if kind == TokenKind::Int && is_zero {
            let digits = self.bytes.get(start..self.position).unwrap_or_default();
            if digits.iter().any(|digit| matches!(digit, b'1'..=b'9')) {
                self.note(NoteKind::LeadingZeros, start);
            }
        }
        kind
    }

    /// Digits with single underscores between them; whether there was one at least and all well.
    #[inline]
    fn digits(&mut self, radix: u32) -> bool {
        let mut good = true;
        let mut after_digit = false;
        loop {
            match self.peek() {
                Some(b'_') => {
                    good &= after_digit;
                    after_digit = false;
                }
                Some(b'0'..=b'9') if radix == 10 => after_digit = true,
                Some(byte) if char::from(byte).is_digit(radix) => after_digit = true,
                _ => return good && after_digit,
            }
            self.position += 1;
        }
    }

    /// What follows a number directly may not look like a part of it.
    fn finish_number(&mut self, kind: TokenKind, good: bool) -> TokenKind {
        let fault = match self.peek() {
            Some(b'j' | b'J') if good => {
                self.position += 1;
                match self.peek() {
                    Some(byte) if chars::continues_name(byte) => Fault::MalformedNumber,
                    _ => Fault::ComplexNumber,
                }
            }
            Some(byte) if chars::continues_name(byte) => Fault::MalformedNumber,
            Some(b'.') if matches!(self.bytes.get(self.position + 1), Some(b'0'..=b'9')) => {
                Fault::MalformedNumber
            }
            Some(0x80..) => match self.character(self.position) {
                Some(character) if chars::is_name_continue(character) => Fault::MalformedNumber,
                _ if good => return kind,
                _ => Fault::MalformedNumber,
            },
            _ if good => return kind,
            _ => Fault::MalformedNumber,
        };
        // The bad token takes in all that hangs together: `2024abc`, `1.2.3`, `0x`.
        loop {
            let before = self.position;
            self.rest_of_name();
            if self.peek() == Some(b'.')
                && self
                    .bytes
                    .get(self.position + 1)
                    .is_some_and(u8::is_ascii_alphanumeric)
            {
                self.position += 1;
            }
            if self.position == before {
                return self.bad(fault);
            }
        }
    }
}
