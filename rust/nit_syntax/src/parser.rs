//! Tokens to a tree: statements, and what surrounds them.
//!
//! A hand-written parser with one token in hand. Brackets are kept on a stack of its own, not on
//! the machine's, so that no depth of input can exhaust that. A mistake fails its statement; the
//! parser then goes on at the next one (`recovery.rs`) and so finds them all.

mod expression;
mod keys;
mod literal;
mod options;
mod path;
mod recovery;
mod template;
mod unexpected;

use crate::ast::{Node, NodeKind, Statement, Tree, flag};
use crate::chars;
use crate::diagnostic::{Diagnostic, Findings};
use crate::envelope;
use crate::lexer::{Lexer, NoteKind};
use crate::literal as literals;
use crate::mistakes;
use crate::span::{Span, offset};
use crate::token::{Token, TokenKind};

pub use options::{Legacy, Limits, Options};

use expression::{Frame, Next};

/// A tree and what was found on the way.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The statements without mistakes.
    pub tree: Tree,
    /// What was found, in the order of the text, at most 100.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Whether no diagnostic is an error.
    pub fn is_ok(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Parse a script. Whatever is wrong with it is in the diagnostics.
pub fn parse(source: &str, options: &Options) -> Parsed {
    let mut parser = Parser::new(source, *options);
    let limit = options.limits.script_bytes.min(u32::MAX as usize - 1);
    if source.len() > limit {
        parser
            .findings
            .push(mistakes::source_too_long(source.len(), limit));
    } else if options.legacy == Legacy::Only {
        parser.legacy_inside();
    } else {
        let body = envelope::strip(source, &mut parser.findings);
        parser.begin(body);
        parser.script();
    }
    Parsed {
        tree: parser.tree,
        diagnostics: parser.findings.finish(),
    }
}

/// The statement has failed; its diagnostic is written down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

type Parse<T = ()> = Result<T, Failed>;

pub(crate) struct Parser<'s> {
    pub(crate) source: &'s str,
    pub(crate) options: Options,
    pub(crate) findings: Findings,
    pub(crate) tree: Tree,
    lexer: Lexer<'s>,
    /// The token at hand.
    token: Token,
    /// Where the token before ended.
    previous_end: u32,
    frames: Vec<Frame>,
    /// Strings on two lines of `( .. )`: a warning if that turns out to be a list.
    joined: Vec<(u32, Diagnostic)>,
    in_template: bool,
    /// The end of the part of the source that is read.
    end: u32,
    /// Where the statement begins, and the line of the last one that began a line.
    statement_start: u32,
    line_start: u32,
    /// The target of the statement, for later ones if it fails.
    target: Option<Span>,
    has_indentation_warning: bool,
}

const NO_TOKEN: Token = Token {
    kind: TokenKind::End,
    flags: 0,
    start: 0,
    end: 0,
};

impl<'s> Parser<'s> {
    fn new(source: &'s str, options: Options) -> Self {
        Self {
            source,
            options,
            findings: Findings::default(),
            tree: Tree::default(),
            lexer: Lexer::new(source, 0, 0),
            token: NO_TOKEN,
            previous_end: 0,
            frames: Vec::new(),
            joined: Vec::new(),
            in_template: false,
            end: 0,
            statement_start: 0,
            line_start: 0,
            target: None,
            has_indentation_warning: false,
        }
    }

    /// Begin to read a part of the source.
    fn begin(&mut self, body: Span) {
        // Pages that are not touched cost nothing.
        self.tree.nodes.reserve(body.len() as usize / 8);
        self.lexer = Lexer::new(self.source, body.start, body.end);
        self.end = body.end;
        self.line_start = body.start - u32::try_from(self.column(body.start)).unwrap_or_default();
        self.fill();
    }

    fn fill(&mut self) {
        self.token = self.lexer.next_token();
    }

    /// Go on at another place, outside of all brackets.
    pub(crate) fn jump(&mut self, to: u32) {
        self.lexer.jump(to);
        self.frames.clear();
        self.fill();
    }

    /// Take the token at hand.
    #[inline]
    fn bump(&mut self) -> Token {
        let token = self.token;
        self.previous_end = token.end;
        self.token = self.lexer.next_token();
        token
    }

    /// The token behind the one at hand; where a mistake is looked into.
    #[cold]
    fn peek(&self) -> Token {
        self.lexer.clone().next_token()
    }

    #[inline]
    fn at(&self, kind: TokenKind) -> bool {
        self.token.kind == kind
    }

    /// Take the token at hand if it is of that kind.
    #[inline]
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn text(&self, token: Token) -> &'s str {
        token.text(self.source)
    }

    /// Write down an error and fail the statement.
    #[cold]
    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        self.findings.push(diagnostic);
        Err(Failed)
    }

    /// The index of the next node: there are fewer nodes than bytes.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a source has less than 4 GiB"
    )]
    fn node_index(&self) -> u32 {
        self.tree.nodes.len() as u32
    }

    #[inline]
    pub(crate) fn push(&mut self, kind: NodeKind, flags: u8, span: Span) -> u32 {
        let index = self.node_index();
        self.tree.nodes.push(Node {
            kind,
            flags,
            start: span.start,
            end: span.end,
            next: index + 1,
        });
        index
    }

    /// Change a node that has been pushed.
    #[inline]
    fn change(&mut self, index: u32, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.tree.nodes.get_mut(index as usize) {
            change(node);
        }
    }

    /// The last node is the last descendant of this one, and its text ends here.
    #[inline]
    pub(crate) fn finish(&mut self, index: u32, end: u32) {
        let next = self.node_index();
        self.change(index, |node| {
            node.next = next;
            node.end = end;
        });
    }

    /// The call names its tool exactly.
    pub(crate) fn mark_exact(&mut self, call: u32) {
        self.change(call, |node| node.flags |= flag::EXACT);
    }

    /// Check the arguments of a block against the limits.
    pub(crate) fn check_block_size(&mut self, first: u32, span: Span) -> bool {
        self.check_size(first, span).is_ok()
    }

    /// `script := { [ statement ] ( NEWLINE | ";" ) } [ statement ]`
    fn script(&mut self) {
        while !self.findings.is_full() {
            match self.token.kind {
                TokenKind::End => break,
                TokenKind::Newline => {
                    self.line_start = self.token.end;
                    self.bump();
                    continue;
                }
                TokenKind::Semicolon => {
                    self.bump();
                    continue;
                }
                _ => {}
            }
            self.findings.begin_statement();
            if self.tree.statements.len() >= self.options.limits.statements {
                let limit = self.options.limits.statements;
                let span = self.token.span();
                self.findings
                    .push(mistakes::too_many_statements(span, limit));
                break;
            }
            self.one_statement();
        }
        self.findings.begin_statement();
        self.report_notes(self.end + 1);
    }

    fn one_statement(&mut self) {
        let first = offset(self.tree.nodes.len());
        self.statement_start = self.token.start;
        self.target = None;
        self.joined.clear();
        let outcome = if self.at(TokenKind::Marker) {
            self.legacy_block(self.token.span(), self.end);
            Ok(())
        } else {
            self.check_indentation();
            self.statement(first)
        };
        if outcome.is_err() || self.findings.has_failed() {
            self.tree.nodes.truncate(first as usize);
            if let Some(target) = self.target {
                let before = offset(self.tree.statements.len());
                self.tree.lost_targets.push((before, target));
            }
        }
        if outcome.is_err() {
            self.recover();
        }
        self.report_notes(self.token.start);
    }

    fn check_indentation(&mut self) {
        let before = Span::new(self.line_start, self.token.start);
        if before.is_empty() || self.has_indentation_warning {
            return;
        }
        // Ends at the first word if the line does not begin with this statement.
        let is_blank = |c: char| c.is_ascii_whitespace() || chars::is_odd_blank(c);
        if before.text(self.source).chars().all(is_blank) {
            self.has_indentation_warning = true;
            self.findings.push(mistakes::indentation(before));
        }
    }

    /// `statement := [ VARIABLE "=" ] ( "async" call | expression )`
    fn statement(&mut self, first: u32) -> Parse {
        if matches!(self.token.kind, TokenKind::Prompt | TokenKind::Ellipsis) {
            let prompt = self.bump();
            let text = self.text(prompt);
            self.findings.push(mistakes::prompt(prompt.span(), text));
            if matches!(self.token.kind, TokenKind::Newline | TokenKind::End) {
                return Ok(());
            }
        }
        let start = self.token.start;
        let is_async = self.target_and_value()?;
        if !self.at_statement_end() {
            return self.unexpected_after_statement();
        }
        let span = Span::new(start, self.previous_end);
        self.check_size(first, span)?;
        if !self.findings.has_failed() {
            self.tree.statements.push(Statement {
                span,
                first,
                is_async,
            });
        }
        Ok(())
    }

    fn at_statement_end(&self) -> bool {
        matches!(
            self.token.kind,
            TokenKind::Newline | TokenKind::Semicolon | TokenKind::End | TokenKind::Marker
        )
    }

    /// The whole statement up to its end; whether it is an `async` one.
    fn target_and_value(&mut self) -> Parse<bool> {
        match self.token.kind {
            TokenKind::Variable => {
                let token = self.bump();
                self.refuse_dunder(token)?;
                if self.eat(TokenKind::Equal) {
                    self.bind(token);
                    return self.assigned_value();
                }
                let node = self.push(NodeKind::Variable, 0, token.span());
                self.expression_from(Next::Path(node), 0)?;
            }
            TokenKind::Name => {
                self.refuse_reserved_statement()?;
                let token = self.bump();
                let name = self.text(token);
                if self.at(TokenKind::Equal) {
                    if unexpected::is_constant(name) || name == "async" {
                        return self.fail(mistakes::not_a_target(token.span(), name));
                    }
                    self.bump();
                    self.refuse_dunder(token)?;
                    self.findings
                        .push(mistakes::bare_target(token.span(), name));
                    self.bind(token);
                    return self.assigned_value();
                }
                if name == "async" {
                    return self.async_call(token).map(|()| true);
                }
                let next = self.name(token)?;
                self.expression_from(next, 0)?;
            }
            _ => self.expression()?,
        }
        Ok(false)
    }

    fn bind(&mut self, target: Token) {
        self.push(NodeKind::Target, 0, target.span());
        self.target = Some(target.span());
    }

    /// What stands behind `$x =`; whether it is an `async` call.
    fn assigned_value(&mut self) -> Parse<bool> {
        if self.at(TokenKind::Name) && self.text(self.token) == "async" {
            let word = self.bump();
            return self.async_call(word).map(|()| true);
        }
        self.expression().map(|()| false)
    }

    /// The call behind the word `async`, which has been taken.
    fn async_call(&mut self, word: Token) -> Parse {
        let call = self.node_index();
        loop {
            if !self.at(TokenKind::Name) {
                let found = self.describe(self.token);
                return self.fail(mistakes::async_without_call(word.span(), &found));
            }
            self.refuse_reserved_statement()?;
            let token = self.bump();
            if self.text(token) == "await" && self.at(TokenKind::Name) {
                self.findings.push(mistakes::needless_await(token.span()));
                continue;
            }
            let next = self.name(token)?;
            self.expression_from(next, 0)?;
            break;
        }
        if self.tree.node(call).kind != NodeKind::Call {
            let span = self.tree.node(call).span();
            let found = format!("`{}`", mistakes::shown(span.text(self.source)));
            return self.fail(mistakes::async_without_call(word.span(), &found));
        }
        if let Some(path) = self.tree.path(call) {
            let span = self.tree.node(path).span();
            return self.fail(mistakes::path_after_async(span));
        }
        Ok(())
    }

    /// Names that begin with two underscores are refused.
    #[inline]
    fn refuse_dunder(&mut self, token: Token) -> Parse {
        let at = token.start as usize + usize::from(token.kind == TokenKind::Variable);
        // What becomes an underscore in normal form does not begin a name.
        match self.source.as_bytes().get(at) {
            Some(b'_' | 0x80..) => self.refuse_underscores(token),
            _ => Ok(()),
        }
    }

    #[cold]
    fn refuse_underscores(&mut self, token: Token) -> Parse {
        let name = self.text(token).trim_start_matches(['$', '＄']);
        if literals::normalize(name).starts_with("__") {
            return self.fail(mistakes::dunder(token.span(), name));
        }
        Ok(())
    }

    /// Turn what the lexer noticed before an offset into diagnostics.
    pub(crate) fn report_notes(&mut self, before: u32) {
        if self.lexer.notes().is_empty() {
            return;
        }
        let notes = std::mem::take(self.lexer.notes());
        for note in notes {
            if note.span.start >= before {
                self.lexer.notes().push(note);
                continue;
            }
            let text = note.span.text(self.source);
            self.findings.push(match note.kind {
                NoteKind::OddBlank => mistakes::odd_blank(note.span, text),
                NoteKind::WidePunctuation => mistakes::wide_punctuation(note.span, text),
                NoteKind::TypographicQuotes => mistakes::typographic_quotes(note.span, text),
                NoteKind::LeadingZeros => mistakes::leading_zeros(note.span, text),
                NoteKind::InvisibleInComment => {
                    mistakes::invisible(note.span, text.chars().next().unwrap_or_default())
                }
            });
        }
    }
}
