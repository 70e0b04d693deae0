//! The comments of a source, each with its place.

use crate::ast::{NodeKind, Tree};
use crate::lexer::Lexer;
use crate::span::{Span, offset};
use crate::token::TokenKind;

/// A comment without the blanks behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'s> {
    pub(super) text: &'s str,
    pub(super) start: u32,
    /// How many line breaks stand between it and what comes before.
    pub(super) lines: usize,
}

/// The comments inside one statement; each is taken once.
#[derive(Debug, Default)]
pub(super) struct Comments<'s> {
    all: Vec<Comment<'s>>,
    is_taken: Vec<bool>,
}

impl<'s> Comments<'s> {
    pub(super) fn of_statement(source: &'s str, statement: Span) -> Self {
        let mut all = Vec::new();
        if statement.text(source).contains('#') {
            let mut lexer =
                Lexer::with_trivia(source.get(..statement.end as usize).unwrap_or(source));
            lexer.jump(statement.start);
            let mut end = statement.start;
            loop {
                let token = lexer.next_token();
                match token.kind {
                    TokenKind::End => break,
                    TokenKind::Comment => {
                        let before = Span::new(end, token.start).text(source);
                        all.push(Comment {
                            text: token.text(source).trim_end(),
                            start: token.start,
                            lines: line_breaks(before),
                        });
                    }
                    TokenKind::Break | TokenKind::Newline => continue,
                    _ => {}
                }
                end = token.end;
            }
        }
        let is_taken = vec![false; all.len()];
        Self { all, is_taken }
    }

    fn waiting(&self, span: Span) -> impl Iterator<Item = (usize, Comment<'s>)> {
        let from = self
            .all
            .partition_point(|comment| comment.start < span.start);
        self.all
            .iter()
            .zip(&self.is_taken)
            .enumerate()
            .skip(from)
            .take_while(move |(_, (comment, _))| comment.start < span.end)
            .filter(|(_, (_, is_taken))| !**is_taken)
            .map(|(index, (comment, _))| (index, *comment))
    }

    /// Whether a comment waits in that part of the source.
    pub(super) fn any_in(&self, span: Span) -> bool {
        self.waiting(span).next().is_some()
    }

    /// Takes the comments of that part of the source.
    pub(super) fn take(&mut self, span: Span) -> Vec<Comment<'s>> {
        self.take_where(span, |_| true)
    }

    /// Takes those comments of an item that stand in none of its brackets.
    pub(super) fn take_loose(
        &mut self,
        tree: &Tree,
        nodes: (u32, u32),
        span: Span,
    ) -> Vec<Comment<'s>> {
        if !self.any_in(span) {
            return Vec::new();
        }
        let mut brackets = Vec::new();
        let (mut index, end) = nodes;
        while index < end {
            let node = tree.node(index);
            if is_bracket(node.kind) {
                brackets.push(node.span());
                index = node.next;
            } else {
                index += 1;
            }
        }
        let mut brackets = brackets.into_iter().peekable();
        self.take_where(span, |comment| {
            while brackets
                .next_if(|bracket| bracket.end <= comment.start)
                .is_some()
            {}
            brackets
                .peek()
                .is_none_or(|bracket| comment.start < bracket.start)
        })
    }

    fn take_where(
        &mut self,
        span: Span,
        mut choose: impl FnMut(&Comment<'s>) -> bool,
    ) -> Vec<Comment<'s>> {
        let chosen: Vec<_> = self
            .waiting(span)
            .filter(|(_, comment)| choose(comment))
            .collect();
        for (index, _) in &chosen {
            if let Some(is_taken) = self.is_taken.get_mut(*index) {
                *is_taken = true;
            }
        }
        chosen.into_iter().map(|(_, comment)| comment).collect()
    }
}

/// Whether what stands inside may be laid out over several lines.
pub(super) fn is_bracket(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Call | NodeKind::List | NodeKind::Dict | NodeKind::Group
    )
}

/// The comments between two statements, and the line breaks behind the last of them.
pub(super) fn of_gap(source: &str, gap: Span) -> (Vec<Comment<'_>>, usize) {
    let text = gap.text(source);
    let mut comments = Vec::new();
    let mut end = 0;
    while let Some(at) = text.get(end..).and_then(|rest| rest.find('#')) {
        let start = end + at;
        let comment = text.get(start..).unwrap_or_default();
        let length = comment.find(['\n', '\r']).unwrap_or(comment.len());
        comments.push(Comment {
            text: comment.get(..length).unwrap_or_default().trim_end(),
            start: gap.start + offset(start),
            lines: line_breaks(text.get(end..start).unwrap_or_default()),
        });
        end = start + length;
    }
    (comments, line_breaks(text.get(end..).unwrap_or_default()))
}

fn line_breaks(text: &str) -> usize {
    let feeds = text.bytes().filter(|&byte| byte == b'\n').count();
    let returns = text.bytes().filter(|&byte| byte == b'\r').count();
    feeds + returns - text.matches("\r\n").count()
}
