//! F-strings: text, and references in braces.

use super::expression::Next;
use super::{Parse, Parser};
use crate::ast::{NodeKind, flag};
use crate::lexer::{Lexer, literal_parts};
use crate::mistakes;
use crate::span::{Span, offset};
use crate::token::{Token, TokenKind, form};

/// Largest width or precision of a format spec. Source: NIT 2.2.
const LARGEST_WIDTH: u32 = 10_000;

impl Parser<'_> {
    /// An f-string, whose token has been taken.
    pub(super) fn template(&mut self, token: Token) -> Parse {
        let content = literal_parts(self.source, token.span(), token.flags).content;
        let node = self.push(NodeKind::Template, token.flags, token.span());
        let mut at = content.start;
        while at < content.end {
            at = self.template_text(Span::new(at, content.end), token.flags)?;
            if at < content.end {
                at = self.interpolation(Span::new(at, content.end))?;
            }
        }
        self.finish(node, token.end);
        Ok(())
    }

    /// The text up to the next reference; returns where that begins.
    fn template_text(&mut self, content: Span, flags: u8) -> Parse<u32> {
        let text = content.text(self.source);
        let bytes = text.as_bytes();
        let mut flags = flags & (form::RAW | form::ESCAPED | form::RETURN);
        let mut at = 0;
        while let Some(found) = memchr::memchr2(b'{', b'}', bytes.get(at..).unwrap_or_default()) {
            at += found;
            if bytes.get(at) == bytes.get(at + 1) {
                flags |= form::BRACES;
                at += 2;
            } else if bytes.get(at) == Some(&b'{') {
                break;
            } else {
                let start = content.start + offset(at);
                return self.fail(mistakes::single_brace(Span::new(start, start + 1)));
            }
        }
        let is_over = !matches!(bytes.get(at), Some(b'{')) || at >= bytes.len();
        let end = if is_over {
            content.end
        } else {
            content.start + offset(at)
        };
        let piece = Span::new(content.start, end);
        if !piece.is_empty() {
            self.check_escapes(piece, flags);
            self.push(NodeKind::Text, flags, piece);
        }
        Ok(end)
    }

    /// `{reference}`, `{reference!r:spec}`; returns where the text goes on.
    fn interpolation(&mut self, content: Span) -> Parse<u32> {
        let open = Span::new(content.start, content.start + 1);
        let node = self.push(NodeKind::Interpolation, 0, open);
        let at = self.reference_in_braces(open, content)?;
        let rest = Span::new(at, content.end).text(self.source);
        let bytes = rest.as_bytes();
        let mut flags = 0;
        let mut position = 0;
        if bytes.first() == Some(&b'!') {
            let length = rest.find([':', '}']).unwrap_or(rest.len());
            flags |= match rest.get(..length).map(str::trim_end) {
                Some("!r") => flag::REPR,
                Some("!s") => flag::STR,
                _ => {
                    let span = Span::new(at, at + offset(length));
                    let text = span.text(self.source);
                    return self.fail(mistakes::bad_conversion(span, text));
                }
            };
            position = length;
        }
        if bytes.get(position) == Some(&b':') {
            position += 1;
            let spec = rest.get(position..).unwrap_or_default();
            let Some(length) = memchr::memchr(b'}', spec.as_bytes()) else {
                return self.fail(mistakes::unclosed_brace(open));
            };
            if length > 0 {
                let start = at + offset(position);
                let span = Span::new(start, start + offset(length));
                self.check_format_spec(span)?;
                self.push(NodeKind::Spec, 0, span);
                flags |= flag::SPEC;
            }
            position += length;
        }
        if bytes.get(position) != Some(&b'}') {
            let span = Span::new(content.start, at + offset(position));
            return self.fail(if position == bytes.len() {
                mistakes::unclosed_brace(open)
            } else {
                mistakes::not_a_reference(span)
            });
        }
        let end = at + offset(position) + 1;
        self.finish(node, end);
        self.change(node, |node| node.flags = flags);
        Ok(end)
    }

    /// The reference behind `{`, read with the parser itself on that part of the source; returns
    /// where the token behind it begins.
    fn reference_in_braces(&mut self, open: Span, content: Span) -> Parse<u32> {
        let mut lexer = Lexer::new(self.source, open.end, content.end);
        lexer.stay_inside_brackets();
        let outer = (
            std::mem::replace(&mut self.lexer, lexer),
            self.token,
            self.previous_end,
        );
        self.in_template = true;
        self.fill();
        let result = self.reference(open);
        let at = self.token.start;
        self.report_notes(at);
        self.in_template = false;
        (self.lexer, self.token, self.previous_end) = outer;
        result.map(|()| at)
    }

    fn reference(&mut self, open: Span) -> Parse {
        match self.token.kind {
            TokenKind::Variable => {
                let token = self.bump();
                self.refuse_dunder(token)?;
                let node = self.push(NodeKind::Variable, 0, token.span());
                let outside = self.frames.len();
                let result = self.expression_from(Next::Path(node), outside);
                if result.is_err() {
                    self.frames.truncate(outside);
                }
                result
            }
            TokenKind::End => self.fail(mistakes::unclosed_brace(open)),
            TokenKind::Name if self.peek().kind != TokenKind::LeftParen => {
                let name = self.text(self.token);
                self.fail(mistakes::bare_in_template(self.token.span(), name))
            }
            TokenKind::Bad => self.fail_bad_token(self.token),
            _ => {
                let span = Span::new(open.start, self.token.end);
                self.fail(mistakes::not_a_reference(span))
            }
        }
    }

    fn check_format_spec(&mut self, span: Span) -> Parse {
        let text = span.text(self.source);
        let mut digits = text.split(|c: char| !c.is_ascii_digit());
        let is_wide = |digits: &str| {
            let digits = digits.trim_start_matches('0');
            digits.len() > 5 || digits.parse().is_ok_and(|width: u32| width > LARGEST_WIDTH)
        };
        if digits.any(is_wide) {
            return self.fail(mistakes::format_too_wide(span, LARGEST_WIDTH));
        }
        if is_format_spec(text) || is_time_format(text) {
            return Ok(());
        }
        self.fail(mistakes::bad_format_spec(span, text))
    }
}

/// Python's `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`.
fn is_format_spec(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    let is_align = |index: usize| matches!(characters.get(index), Some('<' | '>' | '=' | '^'));
    if is_align(1) {
        at = 2;
    } else if is_align(0) {
        at = 1;
    }
    let mut take = |allowed: &dyn Fn(char) -> bool, most: usize| {
        let found = characters.iter().skip(at).take(most);
        let count = found.take_while(|c| allowed(**c)).count();
        at += count;
        count
    };
    take(&|c| matches!(c, '+' | '-' | ' '), 1);
    take(&|c| c == 'z', 1);
    take(&|c| c == '#', 1);
    take(&|c| c.is_ascii_digit(), usize::MAX);
    take(&|c| matches!(c, ',' | '_'), 1);
    if take(&|c| c == '.', 1) == 1 && take(&|c| c.is_ascii_digit(), usize::MAX) == 0 {
        return false;
    }
    take(&|c| "bcdeEfFgGnosxX%".contains(c), 1);
    at == characters.len()
}

/// Dates and times have their own format: `{$day:%d.%m.%Y}`.
fn is_time_format(text: &str) -> bool {
    let after_percent =
        |pair: &[u8]| matches!(pair, [b'%', letter] if letter.is_ascii_alphabetic());
    text.as_bytes().windows(2).any(after_percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_specs_are_those_of_python() {
        let good = [
            ">10", "*^20", "+.2f", ",", "08.3f", "x", "#x", "_d", ".3", "%", ".1%", "<", "z.1f",
            " d", "你>5", "=+8",
        ];
        let bad = ["abc", ">>>5", ".f", "5.", "s5", "!r", "1 2"];
        assert_eq!(good.map(is_format_spec), [true; 16]);
        assert_eq!(bad.map(is_format_spec), [false; 7]);
    }
}
