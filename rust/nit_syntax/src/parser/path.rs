//! Paths behind references and calls.

use super::expression::{FrameKind, Next};
use super::{Parse, Parser};
use crate::ast::{NodeKind, flag};
use crate::mistakes;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// `path := { "." IDENT | "[" index "]" }`
    #[inline]
    pub(super) fn path(&mut self, base: u32) -> Parse<Next> {
        match self.token.kind {
            TokenKind::Dot => {
                let dot = self.bump();
                if !self.at(TokenKind::Name) {
                    let found = self.describe(self.token);
                    let expected = "the name of a field behind the `.`";
                    return self.fail(mistakes::unexpected(self.token.span(), expected, &found));
                }
                let name = self.bump();
                self.refuse_dunder(name)?;
                let path = self.begin_path(base, dot.start);
                self.push(NodeKind::Field, 0, name.span());
                self.finish(path, name.end);
                Ok(Next::Path(base))
            }
            TokenKind::LeftBracket => {
                let open = self.bump();
                self.begin_path(base, open.start);
                let node = self.push(NodeKind::Index, 0, open.span());
                self.open(FrameKind::Index, node, open)?;
                if let Some(frame) = self.frames.last_mut() {
                    frame.base = base;
                }
                match self.token.kind {
                    TokenKind::Colon => self.slice(0),
                    TokenKind::RightBracket => self.fail(mistakes::empty_index(self.token.span())),
                    _ => Ok(Next::Operand),
                }
            }
            TokenKind::LeftParen if !self.in_template => {
                let start = self.tree.node(base).start;
                let callee = Span::new(start, self.previous_end).text(self.source);
                self.fail(mistakes::called_value(self.token.span(), callee))
            }
            TokenKind::Int | TokenKind::Float if self.at_dotted_index() => {
                let start = self.tree.node(base).start;
                let before = Span::new(start, self.previous_end).text(self.source);
                let text = self.text(self.token);
                self.fail(mistakes::dotted_index(self.token.span(), before, text))
            }
            _ => Ok(Next::After),
        }
    }

    /// The path node of a reference or call: its own, or a new one.
    fn begin_path(&mut self, base: u32, start: u32) -> u32 {
        let node = self.tree.node(base);
        if node.has(flag::HAS_PATH) {
            return node.next;
        }
        self.change(base, |node| node.flags |= flag::HAS_PATH);
        self.push(NodeKind::Path, 0, Span::at(start))
    }

    /// The `:` of a slice is at hand.
    pub(super) fn slice(&mut self, flags: u8) -> Parse<Next> {
        self.bump();
        let Some(frame) = self.frames.last_mut() else {
            return Ok(Next::After);
        };
        frame.is_second = true;
        let node = frame.node;
        let has_high = !self.at(TokenKind::RightBracket);
        self.change(node, |node| {
            node.kind = NodeKind::Slice;
            node.flags = flags | if has_high { flag::HIGH } else { 0 };
        });
        match self.token.kind {
            TokenKind::RightBracket => Ok(self.close()),
            TokenKind::Colon => self.fail(mistakes::slice_step(self.token.span())),
            _ => Ok(Next::Operand),
        }
    }

    /// Whether the number at hand is the `.5` of `$x.5`.
    fn at_dotted_index(&self) -> bool {
        self.token.start == self.previous_end && self.text(self.token).starts_with('.')
    }
}
