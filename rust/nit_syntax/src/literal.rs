//! What literals and names mean: escapes, numbers, normal forms.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::lexer::literal_parts;
use crate::span::{Span, offset};
use crate::token::form;

/// What is wrong with an escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EscapeFault {
    /// Too few hexadecimal digits.
    Truncated,
    /// Beyond U+10FFFF.
    OutOfRange,
    /// One half of a surrogate pair.
    LoneSurrogate,
    /// `\N{...}`
    Named,
}

/// The identifier as the language compares it (NFKC).
pub fn normalize(name: &str) -> Cow<'_, str> {
    if name.is_ascii() || is_nfkc_quick(name.chars()) == IsNormalized::Yes {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.nfkc().collect())
    }
}

/// The name of a variable from its text with the `$`.
pub fn variable_name(text: &str) -> Cow<'_, str> {
    normalize(text.trim_start_matches(['$', '＄']))
}

/// The dotted name of a tool: normal form, no blanks around the dots.
pub fn tool_name(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    if text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut name = String::new();
    for character in text.chars() {
        match character {
            '．' => name.push('.'),
            _ if character == '.' || crate::chars::is_name_continue(character) => {
                name.push(character);
            }
            _ => {}
        }
    }
    if text.contains(['#', '\\']) {
        // Comments or joined lines between the parts: read the name word by word.
        name = words_of(text);
    }
    Cow::Owned(normalize(&name).into_owned())
}

fn words_of(text: &str) -> String {
    use crate::token::TokenKind;
    let mut lexer = crate::lexer::Lexer::new(text, 0, offset(text.len()));
    lexer.stay_inside_brackets();
    let mut name = String::new();
    loop {
        let token = lexer.next_token();
        match token.kind {
            TokenKind::End => return name,
            TokenKind::Dot => name.push('.'),
            _ => name.push_str(token.text(text)),
        }
    }
}

/// The text that a plain string literal means. Bad escapes stay as they are.
pub fn string_text(source: &str, span: Span, flags: u8) -> Cow<'_, str> {
    // `VERBATIM` is the same bit as `BRACES`, which no whole literal has.
    if flags & form::VERBATIM != 0 {
        return Cow::Borrowed(span.text(source));
    }
    piece_text(
        literal_parts(source, span, flags).content.text(source),
        flags,
    )
}

/// The text that the inside of a literal, or a piece of a template, means.
pub fn piece_text(content: &str, flags: u8) -> Cow<'_, str> {
    let escaped = flags & (form::ESCAPED | form::RAW) == form::ESCAPED;
    if !escaped && flags & (form::RETURN | form::BRACES) == 0 {
        return Cow::Borrowed(content);
    }
    let mut text = String::with_capacity(content.len());
    let mut pieces = Pieces::new(content, flags);
    while let Some(piece) = pieces.next_piece() {
        match piece {
            Piece::Verbatim(verbatim) | Piece::Fault(_, verbatim) => text.push_str(verbatim),
            Piece::Character(character) => text.push(character),
        }
    }
    Cow::Owned(text)
}

/// The first bad escape inside a literal, with its offset and length there.
pub(crate) fn find_bad_escape(content: &str, flags: u8) -> Option<(EscapeFault, Span)> {
    if flags & (form::ESCAPED | form::RAW) != form::ESCAPED {
        return None;
    }
    let bytes = content.as_bytes();
    let mut pieces = Pieces::new(content, flags);
    while let Some(found) = memchr::memchr(b'\\', bytes.get(pieces.position..)?) {
        let at = pieces.position + found;
        if !matches!(bytes.get(at + 1), Some(b'x' | b'u' | b'U' | b'N')) {
            pieces.position = at + 2;
            continue;
        }
        if let Piece::Fault(fault, verbatim) = pieces.escape(at) {
            let start = offset(at);
            return Some((fault, Span::new(start, start + offset(verbatim.len()))));
        }
    }
    None
}

enum Piece<'s> {
    Verbatim(&'s str),
    Character(char),
    Fault(EscapeFault, &'s str),
}

/// Goes through the inside of a literal.
struct Pieces<'s> {
    content: &'s str,
    position: usize,
    escaped: bool,
    braces: bool,
    typographic: bool,
}

impl<'s> Pieces<'s> {
    fn new(content: &'s str, flags: u8) -> Self {
        Self {
            content,
            position: 0,
            escaped: flags & form::RAW == 0,
            braces: flags & form::BRACES != 0,
            typographic: flags & form::TYPOGRAPHIC != 0,
        }
    }

    fn slice(&self, start: usize, end: usize) -> &'s str {
        self.content.get(start..end).unwrap_or_default()
    }

    fn next_piece(&mut self) -> Option<Piece<'s>> {
        let start = self.position;
        let rest = self.content.get(start..)?;
        let first = rest.chars().next()?;
        Some(match first {
            '\\' if self.escaped => self.escape(start),
            '\r' => {
                self.position += 1 + usize::from(rest.as_bytes().get(1) == Some(&b'\n'));
                Piece::Character('\n')
            }
            '{' | '}' if self.braces => {
                // Doubled; a single one does not reach this point.
                self.position += 2.min(rest.len());
                Piece::Character(first)
            }
            _ => {
                let special = |byte: &u8| match byte {
                    b'\\' => self.escaped,
                    b'{' | b'}' => self.braces,
                    _ => *byte == b'\r',
                };
                let length = rest.bytes().position(|byte| special(&byte));
                self.position += length.unwrap_or(rest.len());
                Piece::Verbatim(self.slice(start, self.position))
            }
        })
    }

    fn escape(&mut self, start: usize) -> Piece<'s> {
        let rest = self.slice(start + 1, self.content.len());
        let Some(letter) = rest.chars().next() else {
            self.position = self.content.len();
            return Piece::Verbatim(self.slice(start, self.position));
        };
        self.position = start + 1 + letter.len_utf8();
        let character = match letter {
            '\n' => return Piece::Verbatim(""),
            '\r' => {
                self.position += usize::from(rest.as_bytes().get(1) == Some(&b'\n'));
                return Piece::Verbatim("");
            }
            '\\' | '\'' | '"' | '/' => letter,
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{C}',
            'v' => '\u{B}',
            '0'..='7' => return self.octal(start),
            'x' => return self.hex(start, 2),
            'u' => return self.hex(start, 4),
            'U' => return self.hex(start, 8),
            'N' => return Piece::Fault(EscapeFault::Named, self.slice(start, self.position)),
            '“' | '”' | '‘' | '’' | '「' | '」' | '『' | '』' | '«' | '»' | '＂' | '＇'
                if self.typographic =>
            {
                letter
            }
            _ => return Piece::Verbatim(self.slice(start, self.position)),
        };
        Piece::Character(character)
    }

    fn octal(&mut self, start: usize) -> Piece<'s> {
        let digits = self.slice(start + 1, self.content.len());
        let length = digits
            .bytes()
            .take(3)
            .take_while(|d| matches!(d, b'0'..=b'7'))
            .count();
        self.position = start + 1 + length;
        let value = u32::from_str_radix(self.slice(start + 1, self.position), 8);
        // At most `\777`, which is a character.
        Piece::Character(value.ok().and_then(char::from_u32).unwrap_or('\u{FFFD}'))
    }

    fn hex(&mut self, start: usize, length: usize) -> Piece<'s> {
        let Some(value) = self.hex_value(start + 2, length) else {
            let digits = self.slice(start + 2, self.content.len()).bytes();
            let count = digits
                .take(length)
                .take_while(u8::is_ascii_hexdigit)
                .count();
            self.position = start + 2 + count;
            return Piece::Fault(EscapeFault::Truncated, self.slice(start, self.position));
        };
        self.position = start + 2 + length;
        if let Some(character) = char::from_u32(value) {
            return Piece::Character(character);
        }
        if value > 0x10_FFFF {
            return Piece::Fault(EscapeFault::OutOfRange, self.slice(start, self.position));
        }
        // A high surrogate, as JSON writes it, takes its low half along.
        let is_pair = length == 4 && value < 0xDC00 && self.slice(start + 6, start + 8) == "\\u";
        if is_pair {
            if let Some(low @ 0xDC00..=0xDFFF) = self.hex_value(start + 8, 4) {
                let code = 0x1_0000 + ((value - 0xD800) << 10) + (low - 0xDC00);
                self.position = start + 12;
                return Piece::Character(char::from_u32(code).unwrap_or('\u{FFFD}'));
            }
        }
        Piece::Fault(EscapeFault::LoneSurrogate, self.slice(start, self.position))
    }

    fn hex_value(&self, start: usize, length: usize) -> Option<u32> {
        let digits = self.content.get(start..start + length)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        u32::from_str_radix(digits, 16).ok()
    }
}

/// An integer literal, ready to be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Integer {
    /// It fits.
    Small(i64),
    /// It does not: the digits without sign, leading zeros and underscores.
    Large {
        /// Whether it is below zero.
        negative: bool,
        /// 2, 8, 10 or 16.
        radix: u32,
        /// Digits of that radix.
        digits: String,
    },
}

/// Read an integer literal with its sign.
pub fn integer(text: &str) -> Integer {
    let (negative, unsigned) = split_sign(text);
    if unsigned.len() <= 18 {
        let mut value: i64 = 0;
        let decimal = unsigned.bytes().all(|byte| {
            value = value * 10 + i64::from(byte.wrapping_sub(b'0'));
            byte.is_ascii_digit()
        });
        if decimal {
            return Integer::Small(if negative { -value } else { value });
        }
    }
    let (radix, digits) = match unsigned.get(..2) {
        Some("0x" | "0X") => (16, unsigned.get(2..)),
        Some("0o" | "0O") => (8, unsigned.get(2..)),
        Some("0b" | "0B") => (2, unsigned.get(2..)),
        _ => (10, Some(unsigned)),
    };
    let digits: String = digits
        .unwrap_or_default()
        .chars()
        .filter(|c| *c != '_')
        .collect();
    let significant = digits.trim_start_matches('0');
    match i64::from_str_radix(significant, radix) {
        Ok(value) => Integer::Small(if negative { -value } else { value }),
        Err(_) if significant.is_empty() => Integer::Small(0),
        Err(_) => Integer::Large {
            negative,
            radix,
            digits: significant.to_owned(),
        },
    }
}

/// Most decimal digits of an integer: Python's own limit.
const MOST_DIGITS: usize = 4300;
/// Most bits of a number that has at most that many decimal digits for certain.
const MOST_BITS: usize = 14_284;

/// Whether an integer has more digits than the language allows.
pub(crate) fn is_integer_too_long(text: &str) -> bool {
    if text.len() <= MOST_DIGITS / 2 {
        return false;
    }
    match integer(text) {
        Integer::Small(_) => false,
        Integer::Large { radix, digits, .. } => {
            let bits = |each: usize| digits.len() * each > MOST_BITS;
            match radix {
                2 => bits(1),
                8 => bits(3),
                16 => bits(4),
                _ => digits.len() > MOST_DIGITS,
            }
        }
    }
}

/// Read a float literal with its sign; infinite where it is too large.
pub fn float(text: &str) -> f64 {
    let (negative, unsigned) = split_sign(text);
    let value: f64 = if unsigned.contains('_') {
        unsigned.replace('_', "").parse()
    } else {
        unsigned.parse()
    }
    .unwrap_or(f64::NAN);
    if negative { -value } else { value }
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, trim_blanks(text.get(1..).unwrap_or_default())),
        Some(b'+') => (false, trim_blanks(text.get(1..).unwrap_or_default())),
        _ => (false, text),
    }
}

fn trim_blanks(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '.')
}

/// The source text of a number without blanks behind its sign.
pub fn number_text(text: &str) -> Cow<'_, str> {
    let unsigned = split_sign(text).1;
    let sign = text.get(..1).filter(|sign| matches!(*sign, "+" | "-"));
    match sign {
        Some(sign) if unsigned.len() + 1 < text.len() => Cow::Owned(format!("{sign}{unsigned}")),
        _ => Cow::Borrowed(text),
    }
}
