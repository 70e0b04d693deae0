//! Expressions: one loop over a stack of open brackets.

use super::{Parse, Parser};
use crate::ast::{NodeKind, flag};
use crate::mistakes;
use crate::span::{Span, offset};
use crate::token::{Token, TokenKind, form};

/// An open bracket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub kind: FrameKind,
    /// The node of what the bracket belongs to.
    pub node: u32,
    /// The bracket itself.
    pub open: Span,
    /// Call: an argument with a name was seen. Dict: a key was read, its value comes. Index: the
    /// upper end of a slice comes. Group: a comma was seen.
    pub is_second: bool,
    /// Index: the reference or call that has the path.
    pub base: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    Call,
    List,
    Group,
    Dict,
    Index,
}

impl FrameKind {
    pub(super) fn closer(self) -> &'static str {
        match self {
            Self::Call | Self::Group => ")",
            Self::List | Self::Index => "]",
            Self::Dict => "}",
        }
    }

    #[inline]
    fn closing(self) -> TokenKind {
        match self {
            Self::Call | Self::Group => TokenKind::RightParen,
            Self::List | Self::Index => TokenKind::RightBracket,
            Self::Dict => TokenKind::RightBrace,
        }
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// The argument of a call.
    Argument,
    /// A value.
    Operand,
    /// The key of a dict.
    Key,
    /// Perhaps a path behind the reference or call at this index.
    Path(u32),
    /// Whatever may follow a finished value.
    After,
}

impl Parser<'_> {
    /// `expression := call path | value`
    pub(super) fn expression(&mut self) -> Parse {
        self.expression_from(Next::Operand, self.frames.len())
    }

    /// The rest of an expression of which something has been read; `outside` of it, so many
    /// brackets were open.
    pub(super) fn expression_from(&mut self, first: Next, outside: usize) -> Parse {
        let mut next = first;
        loop {
            next = match next {
                Next::Argument => self.argument()?,
                Next::Operand => self.operand()?,
                Next::Key => self.key()?,
                Next::Path(base) => self.path(base)?,
                Next::After => Next::After,
            };
            if matches!(next, Next::After) {
                if self.frames.len() <= outside {
                    return Ok(());
                }
                next = self.after_value()?;
            }
        }
    }

    #[inline]
    fn operand(&mut self) -> Parse<Next> {
        match self.token.kind {
            TokenKind::String => {
                let token = self.bump();
                self.strings(token).map(|()| Next::After)
            }
            TokenKind::Int | TokenKind::Float => {
                let token = self.bump();
                self.number(token, token.start).map(|()| Next::After)
            }
            TokenKind::Variable => {
                let token = self.bump();
                self.refuse_dunder(token)?;
                let node = self.push(NodeKind::Variable, 0, token.span());
                Ok(Next::Path(node))
            }
            TokenKind::Name => {
                let token = self.bump();
                self.name(token)
            }
            TokenKind::LeftBracket => self.bracketed(NodeKind::List, FrameKind::List),
            TokenKind::LeftBrace => self.bracketed(NodeKind::Dict, FrameKind::Dict),
            TokenKind::LeftParen => self.bracketed(NodeKind::Group, FrameKind::Group),
            TokenKind::Sign => self.signed(),
            _ => self.unexpected_operand(),
        }
    }

    /// A list, dict, tuple or value in brackets.
    fn bracketed(&mut self, kind: NodeKind, frame: FrameKind) -> Parse<Next> {
        if self.in_template {
            return self.fail(mistakes::not_a_reference(self.token.span()));
        }
        let open = self.bump();
        let node = self.push(kind, 0, open.span());
        self.open(frame, node, open)?;
        if self.at(frame.closing()) {
            if frame == FrameKind::Group {
                self.change(node, |node| node.kind = NodeKind::List);
            }
            return Ok(self.close());
        }
        Ok(match frame {
            FrameKind::Dict => Next::Key,
            _ => Next::Operand,
        })
    }

    /// Enter a bracket, whose token has been taken.
    pub(super) fn open(&mut self, kind: FrameKind, node: u32, open: Token) -> Parse {
        let limit = self.options.limits.nesting;
        if self.frames.len() >= limit as usize {
            return self.fail(mistakes::nesting_too_deep(open.span(), limit));
        }
        self.frames.push(Frame {
            kind,
            node,
            open: open.span(),
            is_second: false,
            base: 0,
        });
        Ok(())
    }

    /// Leave the innermost bracket, whose closing one is at hand.
    #[inline]
    pub(super) fn close(&mut self) -> Next {
        let closing = self.bump();
        let Some(frame) = self.frames.pop() else {
            return Next::After;
        };
        self.finish(frame.node, closing.end);
        match frame.kind {
            FrameKind::Call => Next::Path(frame.node),
            FrameKind::List | FrameKind::Group => Next::After,
            FrameKind::Dict => {
                self.check_keys(frame.node);
                Next::After
            }
            FrameKind::Index => {
                let path = self.tree.node(frame.base).next;
                self.finish(path, closing.end);
                Next::Path(frame.base)
            }
        }
    }

    /// What may follow a value inside a bracket.
    #[inline]
    fn after_value(&mut self) -> Parse<Next> {
        let Some(frame) = self.frames.last() else {
            return Ok(Next::After);
        };
        let (kind, is_second) = (frame.kind, frame.is_second);
        let after_comma = match (self.token.kind, kind) {
            (TokenKind::Comma, FrameKind::Call) => Next::Argument,
            (TokenKind::Comma, FrameKind::List) => Next::Operand,
            (TokenKind::Comma, FrameKind::Dict) if is_second => {
                self.set_second(false);
                Next::Key
            }
            (TokenKind::Comma, FrameKind::Group) => {
                self.group_is_list();
                Next::Operand
            }
            (TokenKind::Colon, FrameKind::Dict) if !is_second => {
                self.bump();
                self.set_second(true);
                return Ok(Next::Operand);
            }
            (TokenKind::Colon, FrameKind::Index) if is_second => {
                return self.fail(mistakes::slice_step(self.token.span()));
            }
            (TokenKind::Colon, FrameKind::Index) => return self.slice(flag::LOW),
            (TokenKind::RightBrace, FrameKind::Dict) if !is_second => {
                return self.fail(mistakes::set_literal(self.token.span()));
            }
            (closing, _) if closing == kind.closing() => return Ok(self.close()),
            _ => return self.unexpected_in_bracket(),
        };
        self.bump();
        if self.token.kind == kind.closing() {
            return Ok(self.close());
        }
        Ok(after_comma)
    }

    pub(super) fn set_second(&mut self, is_second: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_second = is_second;
        }
    }

    /// `argument := ( IDENT | STRING ) "=" expression | expression`
    #[inline]
    fn argument(&mut self) -> Parse<Next> {
        match self.token.kind {
            TokenKind::Name => {
                let name = self.bump();
                match self.token.kind {
                    TokenKind::Equal => {
                        self.bump();
                        self.refuse_dunder(name)?;
                        self.push(NodeKind::Argument, 0, name.span());
                        self.set_second(true);
                        self.operand()
                    }
                    TokenKind::Colon => {
                        let text = self.text(name);
                        self.fail(mistakes::colon_argument(self.token.span(), text))
                    }
                    _ => {
                        self.check_positional(name)?;
                        self.name(name)
                    }
                }
            }
            TokenKind::String => {
                let string = self.bump();
                if !self.at(TokenKind::Equal) {
                    self.check_positional(string)?;
                    return self.strings(string).map(|()| Next::After);
                }
                if string.flags & form::TEMPLATE != 0 {
                    let found = self.describe(string);
                    return self.fail(mistakes::bad_argument_name(string.span(), &found));
                }
                self.bump();
                self.check_string(string);
                self.push(NodeKind::QuotedArgument, string.flags, string.span());
                self.set_second(true);
                self.operand()
            }
            _ => {
                self.check_positional(self.token)?;
                self.operand()
            }
        }
    }

    /// An argument without a name may not follow one with a name.
    #[inline]
    fn check_positional(&mut self, first: Token) -> Parse {
        if self.frames.last().is_some_and(|frame| frame.is_second) {
            return self.refuse_positional(first);
        }
        Ok(())
    }

    #[cold]
    fn refuse_positional(&mut self, first: Token) -> Parse {
        if !begins_value(first.kind) {
            return Ok(());
        }
        let second = if first == self.token {
            self.peek()
        } else {
            self.token
        };
        if self.begins_statement(first, second) {
            return self.fail_unclosed(first.span()).map(|_| ());
        }
        self.findings
            .push(mistakes::positional_after_keyword(first.span()));
        Ok(())
    }

    /// `key := STRING | NUMBER | IDENT | reference`
    #[inline]
    fn key(&mut self) -> Parse<Next> {
        match self.token.kind {
            TokenKind::String => {
                let first = self.bump();
                let node = self.tree.nodes.len();
                self.strings(first)?;
                let parts = self.tree.nodes.get(node..).unwrap_or_default();
                if parts.iter().any(|part| part.kind == NodeKind::Template) {
                    let found = self.describe(first);
                    return self.fail(mistakes::bad_key(first.span(), &found));
                }
            }
            TokenKind::Name => {
                let name = self.bump();
                if matches!(self.token.kind, TokenKind::LeftParen | TokenKind::Dot) {
                    let found = format!("`{}`", mistakes::shown(self.text(name)));
                    return self.fail(mistakes::bad_key(name.span(), &found));
                }
                self.refuse_dunder(name)?;
                self.push(NodeKind::Key, 0, name.span());
            }
            TokenKind::Int | TokenKind::Float => {
                let token = self.bump();
                self.number(token, token.start)?;
            }
            TokenKind::Sign => {
                self.signed()?;
            }
            TokenKind::Variable => return self.operand(),
            _ => return self.unexpected_key(),
        }
        Ok(Next::After)
    }

    /// A word, which has been taken: a constant, a call, or a name that stands where a value should.
    pub(super) fn name(&mut self, token: Token) -> Parse<Next> {
        let text = self.text(token);
        if !self.at(TokenKind::LeftParen) {
            if let Some(kind) = constant(text) {
                self.push(kind, 0, token.span());
                return Ok(Next::After);
            }
            if text == "await" && matches!(self.token.kind, TokenKind::Name | TokenKind::Variable) {
                self.findings.push(mistakes::needless_await(token.span()));
                return self.operand();
            }
        }
        self.refuse_word(token)?;
        self.refuse_dunder(token)?;
        if self.at(TokenKind::LeftParen) {
            return self.call(token.span());
        }
        let bare = self.push(NodeKind::Bare, 0, token.span());
        while self.at(TokenKind::Dot) {
            self.path(bare)?;
            if self.at(TokenKind::LeftParen) {
                let name = Span::new(token.start, self.previous_end);
                self.tree.nodes.truncate(bare as usize);
                return self.call(name);
            }
        }
        Ok(Next::Path(bare))
    }

    /// `call := NAME "(" [ argument { "," argument } [ "," ] ] ")"`; the `(` is at hand.
    fn call(&mut self, name: Span) -> Parse<Next> {
        if self.in_template {
            return self.fail(mistakes::not_a_reference(name));
        }
        let open = self.bump();
        let node = self.push(NodeKind::Call, 0, name);
        self.open(FrameKind::Call, node, open)?;
        if name.text(self.source) == "call" {
            return self.exact_call(node);
        }
        self.push(NodeKind::Tool, 0, name);
        if self.at(TokenKind::RightParen) {
            return Ok(self.close());
        }
        Ok(Next::Argument)
    }

    /// `call("exact name", ..)`: the first argument is the tool.
    fn exact_call(&mut self, call: u32) -> Parse<Next> {
        let name = self.token;
        let mut is_plain = false;
        if name.kind == TokenKind::String && name.flags & form::TEMPLATE == 0 {
            self.bump();
            is_plain = matches!(self.token.kind, TokenKind::Comma | TokenKind::RightParen);
        }
        let is_string = self.at(TokenKind::String);
        if self.previous_end == name.end && !is_string && begins_value(self.token.kind) {
            let (span, found) = (self.token.span(), self.describe(self.token));
            return self.fail(mistakes::missing_comma(span, ")", &found));
        }
        if !is_plain {
            let found = self.describe(name);
            return self.fail(mistakes::exact_name(name.span(), &found));
        }
        self.check_string(name);
        self.change(call, |node| node.flags |= flag::EXACT);
        self.push(NodeKind::ExactTool, name.flags, name.span());
        self.eat(TokenKind::Comma);
        if self.at(TokenKind::RightParen) {
            return Ok(self.close());
        }
        Ok(Next::Argument)
    }

    /// Check what one expression of the statement makes against the limits.
    pub(super) fn check_size(&mut self, first: u32, span: Span) -> Parse {
        let limits = self.options.limits;
        let count = offset(self.tree.nodes.len()) - first;
        if count as usize > limits.value_nodes || span.len() as usize > limits.value_bytes {
            return self.check_large_values(first);
        }
        Ok(())
    }
}

fn constant(text: &str) -> Option<NodeKind> {
    match text {
        "true" | "True" => Some(NodeKind::True),
        "false" | "False" => Some(NodeKind::False),
        "null" | "None" => Some(NodeKind::Null),
        _ => None,
    }
}

/// Whether a value may begin with this token.
pub(super) fn begins_value(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::String
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Variable
            | TokenKind::Name
            | TokenKind::LeftBracket
            | TokenKind::LeftBrace
            | TokenKind::LeftParen
            | TokenKind::Sign
    )
}
