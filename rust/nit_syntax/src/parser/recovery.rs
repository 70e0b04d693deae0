//! Where the next statement begins after a mistake.
//!
//! The rest of the failed statement is read word by word without being parsed. It ends at the line
//! break or `;` at which all brackets are closed. A bracket or quote that is never closed must not
//! swallow what follows; so a line that can only be a new statement (`$x =`) ends it too, and a line
//! that looks like one (`f(`, `async f`, no deeper than the failed statement) ends it if the brackets
//! are not closed later on.

use super::Parser;
use super::unexpected::must_begin_statement;
use crate::lexer::{Fault, Lexer};
use crate::token::{Token, TokenKind};

/// How far behind a line that looks like a statement the closing bracket is looked for.
const LOOK_AHEAD: u32 = 16_384;

impl Parser<'_> {
    /// Go on at the next statement.
    #[cold]
    pub(super) fn recover(&mut self) {
        let to = self.next_statement(self.token.start);
        self.jump(to);
    }

    fn next_statement(&self, failed_at: u32) -> u32 {
        let mut lexer = Lexer::new(self.source, self.statement_start, self.end);
        lexer.keep_trivia();
        let failed_line = failed_at - u32::try_from(self.column(failed_at)).unwrap_or(failed_at);
        let mut open: Vec<TokenKind> = Vec::new();
        let mut candidate: Option<u32> = None;
        let mut begins_line = false;
        let mut is_torn = false;
        loop {
            let token = lexer.next_token();
            match token.kind {
                TokenKind::End => return candidate.unwrap_or(self.end),
                TokenKind::Newline | TokenKind::Semicolon
                    if token.start >= failed_at && !is_torn =>
                {
                    return token.start;
                }
                TokenKind::Newline | TokenKind::Break => {
                    begins_line = true;
                    continue;
                }
                TokenKind::Comment => continue,
                _ => {}
            }
            if candidate.is_some_and(|found| token.start > found + LOOK_AHEAD) {
                return candidate.unwrap_or(self.end);
            }
            if begins_line && token.start > self.statement_start && token.start >= failed_line {
                let second = lexer.clone().next_token();
                let must = must_begin_statement(token, second);
                if must || is_torn && may_begin_statement(token, second) {
                    return candidate.unwrap_or(token.start);
                }
                if candidate.is_none()
                    && token.start >= failed_at
                    && self.looks_like_statement(token, second)
                {
                    candidate = Some(token.start);
                }
            }
            begins_line = false;
            is_torn |= is_torn_string(token) && token.end >= failed_at;
            match_bracket(&mut open, token.kind);
            lexer.set_depth(crate::span::offset(open.len()));
        }
    }
}

/// After a string that its line break has torn, any line that may be a statement is taken for one.
fn may_begin_statement(first: Token, second: Token) -> bool {
    match first.kind {
        TokenKind::Variable => matches!(
            second.kind,
            TokenKind::Dot
                | TokenKind::LeftBracket
                | TokenKind::Newline
                | TokenKind::Break
                | TokenKind::End
        ),
        TokenKind::Name => matches!(
            second.kind,
            TokenKind::LeftParen | TokenKind::Dot | TokenKind::Equal
        ),
        _ => false,
    }
}

fn is_torn_string(token: Token) -> bool {
    matches!(
        Fault::of(token),
        Some(Fault::LineBreakInString | Fault::UnpairedQuote)
    )
}

/// Keep the open brackets; a closing one also closes those that were opened inside its own.
fn match_bracket(open: &mut Vec<TokenKind>, kind: TokenKind) {
    let opener = match kind {
        TokenKind::LeftParen | TokenKind::LeftBracket | TokenKind::LeftBrace => {
            open.push(kind);
            return;
        }
        TokenKind::RightParen => TokenKind::LeftParen,
        TokenKind::RightBracket => TokenKind::LeftBracket,
        TokenKind::RightBrace => TokenKind::LeftBrace,
        _ => return,
    };
    if let Some(at) = open.iter().rposition(|kind| *kind == opener) {
        open.truncate(at);
    }
}
