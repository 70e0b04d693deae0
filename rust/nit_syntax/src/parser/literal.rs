//! Literals: strings and their neighbours, numbers, and how large they may be.

use super::expression::{FrameKind, Next};
use super::{Parse, Parser};
use crate::ast::NodeKind;
use crate::lexer::literal_parts;
use crate::literal;
use crate::mistakes;
use crate::span::{Span, offset};
use crate::token::{Token, TokenKind, form};

impl Parser<'_> {
    /// One string literal or several next to each other.
    #[inline]
    pub(super) fn strings(&mut self) -> Parse {
        if self.following.kind != TokenKind::String {
            let token = self.bump();
            return self.string(token);
        }
        let concat = self.push(NodeKind::Concat, 0, self.token.span());
        let mut last = self.token;
        while self.at(TokenKind::String) {
            let token = self.bump();
            if token.start != last.start {
                self.check_neighbours(last, token);
            }
            self.string(token)?;
            last = token;
        }
        self.finish(concat, last.end);
        Ok(())
    }

    #[inline]
    fn string(&mut self, token: Token) -> Parse {
        if token.flags & form::TEMPLATE != 0 {
            return self.template(token);
        }
        self.check_string(token);
        self.push(NodeKind::String, token.flags, token.span());
        Ok(())
    }

    /// Report what is wrong with a plain string.
    #[inline]
    pub(super) fn check_string(&mut self, token: Token) {
        if token.flags & (form::ESCAPED | form::ODD_PREFIX) == 0 {
            return;
        }
        let parts = literal_parts(self.source, token.span(), token.flags);
        if token.flags & form::ODD_PREFIX != 0 {
            let prefix = parts.prefix;
            self.findings
                .push(if prefix.text(self.source).contains(['b', 'B']) {
                    mistakes::bytes_literal(token.span())
                } else {
                    mistakes::unicode_prefix(prefix)
                });
        }
        self.check_escapes(parts.content, token.flags);
    }

    pub(super) fn check_escapes(&mut self, content: Span, flags: u8) {
        let text = content.text(self.source);
        if let Some((fault, at)) = literal::find_bad_escape(text, flags) {
            let span = Span::new(content.start + at.start, content.start + at.end);
            let text = span.text(self.source);
            self.findings.push(mistakes::bad_escape(span, fault, text));
        }
    }

    /// Two strings on two lines of a list or call: a comma is probably missing.
    fn check_neighbours(&mut self, first: Token, second: Token) {
        let between = Span::new(first.end, second.start).text(self.source);
        if !between.contains(['\n', '\r']) {
            return;
        }
        let joined = mistakes::strings_on_two_lines(first.span(), second.span());
        match self.frames.last() {
            // The usual way to write long text; but the bracket may still turn out a list.
            Some(frame) if frame.kind == FrameKind::Group && !frame.is_second => {
                self.joined.push((frame.node, joined));
            }
            Some(_) => self.findings.push(joined),
            None => {}
        }
    }

    /// A comma was found in `( .. )`: it is a list after all.
    pub(super) fn group_is_list(&mut self) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        frame.is_second = true;
        let node = frame.node;
        let found = self.joined.iter().position(|(group, _)| *group == node);
        if let Some(found) = found {
            let (_, joined) = self.joined.swap_remove(found);
            self.findings.push(joined);
        }
    }

    /// A number whose sign, if it has one, stands at `start`.
    #[inline]
    pub(super) fn number(&mut self, token: Token, start: u32) -> Parse {
        let span = Span::new(start, token.end);
        let kind = if token.kind == TokenKind::Int {
            if span.len() > 2000 && literal::is_integer_too_long(span.text(self.source)) {
                return self.fail(mistakes::integer_too_long(span));
            }
            NodeKind::Int
        } else {
            let text = span.text(self.source);
            let may_overflow = text.len() > 300 || text.contains(['e', 'E']);
            if may_overflow && literal::float(text).is_infinite() {
                return self.fail(mistakes::number_too_large(span, text));
            }
            NodeKind::Float
        };
        self.push(kind, 0, span);
        Ok(())
    }

    /// `+` or `-` where a value may start.
    pub(super) fn signed(&mut self) -> Parse<Next> {
        let sign = self.bump();
        if !matches!(self.token.kind, TokenKind::Int | TokenKind::Float) {
            let text = self.text(sign);
            return self.fail(mistakes::sign(sign.span(), text));
        }
        let token = self.bump();
        self.number(token, sign.start).map(|()| Next::After)
    }

    /// The statement is large: measure what each of its expressions makes.
    #[cold]
    pub(super) fn check_large_values(&mut self, first: u32) -> Parse {
        let limits = self.options.limits;
        let end = offset(self.tree.nodes.len());
        let mut expressions = vec![];
        let mut index = first;
        while index < end {
            let node = self.tree.node(index);
            match node.kind {
                // What stands inside a call belongs to its arguments.
                NodeKind::Call | NodeKind::Target | NodeKind::Path => index += 1,
                NodeKind::Tool
                | NodeKind::ExactTool
                | NodeKind::Argument
                | NodeKind::QuotedArgument => index = node.next,
                _ => {
                    expressions.push(index);
                    index = self.tree.after_value(index);
                }
            }
        }
        for index in expressions {
            let end = self.tree.after_value(index);
            let span = self.tree.value_span(index);
            let count = (index..end)
                .filter(|at| is_value(self.tree.node(*at).kind))
                .count();
            if count > limits.value_nodes {
                let limit = limits.value_nodes;
                return self.fail(mistakes::value_too_large(span, limit, "values"));
            }
            if span.len() as usize > limits.value_bytes {
                let bytes: usize = (index..end).map(|at| self.text_bytes(at)).sum();
                if bytes > limits.value_bytes {
                    let limit = limits.value_bytes;
                    return self.fail(mistakes::value_too_large(span, limit, "bytes of text"));
                }
            }
        }
        Ok(())
    }

    fn text_bytes(&self, index: u32) -> usize {
        let node = self.tree.node(index);
        match node.kind {
            NodeKind::String => literal::string_text(self.source, node.span(), node.flags).len(),
            NodeKind::Text => literal::piece_text(node.span().text(self.source), node.flags).len(),
            NodeKind::RawText | NodeKind::Key => node.span().len() as usize,
            _ => 0,
        }
    }
}

/// Whether a node counts as a value against the limit.
fn is_value(kind: NodeKind) -> bool {
    !matches!(
        kind,
        NodeKind::Key
            | NodeKind::Group
            | NodeKind::Text
            | NodeKind::Interpolation
            | NodeKind::Spec
            | NodeKind::Path
            | NodeKind::Field
            | NodeKind::Index
            | NodeKind::Slice
    )
}
