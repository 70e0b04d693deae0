//! Literals: strings and their neighbours, numbers, and how large they may be.

use super::expression::{FrameKind, Next};
use super::{Parse, Parser};
use crate::ast::{Node, NodeKind};
use crate::lexer::literal_parts;
use crate::literal;
use crate::mistakes;
use crate::span::Span;
use crate::token::{Token, TokenKind, form};

impl Parser<'_> {
    /// One string literal, which has been taken, or several next to each other.
    #[inline]
    pub(super) fn strings(&mut self, first: Token) -> Parse {
        if !self.at(TokenKind::String) {
            return self.string(first);
        }
        let concat = self.push(NodeKind::Concat, 0, first.span());
        self.string(first)?;
        let mut last = first;
        while self.at(TokenKind::String) {
            let token = self.bump();
            self.check_neighbours(last, token);
            self.string(token)?;
            last = token;
        }
        self.finish(concat, last.end);
        Ok(())
    }

    #[inline]
    fn string(&mut self, token: Token) -> Parse {
        if token.flags & form::TEMPLATE != 0 {
            if self.in_template {
                return self.fail(mistakes::not_a_reference(token.span()));
            }
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
        self.change(node, |node| node.kind = NodeKind::List);
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
            if token.flags & form::EXPONENT != 0 || span.len() > 300 {
                let text = span.text(self.source);
                if literal::float(text).is_infinite() {
                    return self.fail(mistakes::number_too_large(span, text));
                }
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
        // What stands inside a call belongs to the call's arguments.
        let mut calls = vec![(first, self.tree.node_count())];
        while let Some((mut index, end)) = calls.pop() {
            while index < end {
                let node = *self.tree.node(index);
                match node.kind {
                    NodeKind::Target
                    | NodeKind::Tool
                    | NodeKind::ExactTool
                    | NodeKind::Argument
                    | NodeKind::QuotedArgument => index += 1,
                    _ => {
                        let (count, bytes) = self.measure(index, &mut calls);
                        let span = self.tree.value_span(index);
                        if count > limits.value_nodes {
                            let limit = limits.value_nodes;
                            return self.fail(mistakes::value_too_large(span, limit, "values"));
                        }
                        if bytes > limits.value_bytes {
                            let (limit, unit) = (limits.value_bytes, "bytes of text");
                            return self.fail(mistakes::value_too_large(span, limit, unit));
                        }
                        index = self.tree.after_value(index);
                    }
                }
            }
        }
        Ok(())
    }

    /// Values in one expression, and bytes of their text; notes the nested calls.
    fn measure(&self, start: u32, calls: &mut Vec<(u32, u32)>) -> (usize, usize) {
        let end = self.tree.after_value(start);
        let (mut count, mut keys, mut bytes) = (0_usize, 0, 0);
        let mut index = start;
        while index < end {
            let node = self.tree.node(index);
            index += 1;
            match node.kind {
                NodeKind::Group => continue,
                NodeKind::Path => {
                    index = node.next;
                    continue;
                }
                NodeKind::Key => bytes += node.span().len() as usize,
                NodeKind::Dict => keys += self.tree.child_count(index - 1) / 2,
                NodeKind::Call => {
                    calls.push((index, node.next));
                    index = node.next;
                }
                NodeKind::String | NodeKind::RawText => bytes += self.text_bytes(node),
                NodeKind::Template | NodeKind::Concat => {
                    let parts = index..node.next;
                    bytes += parts
                        .map(|at| self.text_bytes(self.tree.node(at)))
                        .sum::<usize>();
                    index = node.next;
                }
                _ => {}
            }
            count += 1;
        }
        (count - keys, bytes)
    }

    fn text_bytes(&self, node: &Node) -> usize {
        match node.kind {
            NodeKind::String => literal::string_text(self.source, node.span(), node.flags).len(),
            NodeKind::Text | NodeKind::RawText => {
                literal::piece_text(node.span().text(self.source), node.flags).len()
            }
            _ => 0,
        }
    }
}
