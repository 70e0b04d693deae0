//! The word at hand fits nowhere: which mistake is that?

use super::expression::{FrameKind, Next, begins_value};
use super::{Parse, Parser};
use crate::ast::{Node, NodeKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::Fault;
use crate::mistakes;
use crate::span::Span;
use crate::token::{Token, TokenKind};

/// The words of Python's operators.
const OPERATOR_WORDS: [&str; 5] = ["and", "or", "not", "in", "is"];

pub(super) fn is_constant(name: &str) -> bool {
    matches!(name, "true" | "True" | "false" | "False" | "null" | "None")
}

/// Whether a word is reserved for later as the first word of a statement. Source: NIT 2.3.
fn is_reserved(name: &str) -> bool {
    match name.as_bytes().first() {
        Some(b'i') => matches!(name, "if" | "in" | "import"),
        Some(b'e') => matches!(name, "else" | "elif" | "except"),
        Some(b'c') => matches!(name, "continue" | "class"),
        Some(b'w') => matches!(name, "while" | "with"),
        Some(b'p') => name == "parallel",
        Some(b'a') => name == "and",
        Some(b'b') => name == "break",
        Some(b'd') => name == "def",
        Some(b'f') => name == "for",
        Some(b'l') => name == "lambda",
        Some(b'n') => name == "not",
        Some(b'o') => name == "or",
        Some(b'r') => name == "return",
        Some(b't') => name == "try",
        _ => false,
    }
}

impl Parser<'_> {
    /// How a message names a token.
    pub(super) fn describe(&self, token: Token) -> String {
        match token.kind {
            TokenKind::End => "the end of the script".to_owned(),
            TokenKind::Newline => "the end of the line".to_owned(),
            _ => format!("`{}`", mistakes::shown(self.text(token))),
        }
    }

    /// The first word of a statement may be reserved.
    pub(super) fn refuse_reserved_statement(&mut self) -> Parse {
        if !self.at(TokenKind::Name) {
            return Ok(());
        }
        let word = self.text(self.token);
        let is_import = word == "from" && self.peek().kind == TokenKind::Name;
        if is_reserved(word) || is_import {
            let is_called = self.peek().kind == TokenKind::LeftParen;
            return self.fail(mistakes::reserved(self.token.span(), word, is_called));
        }
        Ok(())
    }

    /// Words, which have been taken, that are neither a value nor the bare name of a tool.
    pub(super) fn refuse_word(&mut self, token: Token) -> Parse {
        let is_called = matches!(self.token.kind, TokenKind::LeftParen | TokenKind::Dot);
        let word = self.text(token);
        let span = token.span();
        if word == "async" {
            return self.fail(if self.frames.is_empty() && !self.at(TokenKind::Name) {
                let found = self.describe(self.token);
                mistakes::async_without_call(span, &found)
            } else {
                mistakes::async_inside(span)
            });
        }
        if is_constant(word) {
            return self.fail(mistakes::reserved_tool(span, word));
        }
        if is_reserved(word) {
            return self.fail(if is_called {
                mistakes::reserved_tool(span, word)
            } else {
                mistakes::reserved(span, word, false)
            });
        }
        let is_number = matches!(word, "NaN" | "Infinity" | "undefined");
        if is_number && !is_called {
            return self.fail(mistakes::not_a_constant(span, word));
        }
        Ok(())
    }

    /// A value should stand here.
    #[cold]
    pub(super) fn unexpected_operand(&mut self) -> Parse<Next> {
        let was_named = {
            let before = (self.previous_end as usize).checked_sub(1);
            before.and_then(|at| self.source.as_bytes().get(at)) == Some(&b'=')
        };
        if self.skip_continuation_prompt() {
            return Ok(match self.frames.last() {
                Some(frame) if frame.kind == FrameKind::Call && !was_named => Next::Argument,
                _ => Next::Operand,
            });
        }
        let token = self.token;
        let span = token.span();
        let found = self.describe(token);
        let diagnostic = match token.kind {
            TokenKind::Bad => return self.fail_bad_token(token).map(|()| Next::After),
            TokenKind::End if !self.frames.is_empty() => return self.fail_unclosed(span),
            TokenKind::Comma => mistakes::missing_item(span, &found),
            TokenKind::Star => mistakes::unpacking(span, self.text(token)),
            TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace
                if self.frames.is_empty() && self.previous_end <= self.statement_start =>
            {
                mistakes::surplus_closer(span, self.text(token))
            }
            TokenKind::Comparison | TokenKind::Operator | TokenKind::AugmentedAssign => {
                self.operator_mistake(token)
            }
            TokenKind::Marker => mistakes::block_inside(span),
            _ if span.start == self.statement_start => mistakes::prose(span, &found),
            _ => mistakes::unexpected(span, "a value", &found),
        };
        self.fail(diagnostic)
    }

    /// The key of a dict should stand here.
    #[cold]
    pub(super) fn unexpected_key(&mut self) -> Parse<Next> {
        if self.skip_continuation_prompt() {
            return Ok(Next::Key);
        }
        let token = self.token;
        let diagnostic = match token.kind {
            TokenKind::Bad => return self.fail_bad_token(token).map(|()| Next::After),
            TokenKind::End => return self.fail_unclosed(token.span()),
            TokenKind::Star => mistakes::unpacking(token.span(), self.text(token)),
            _ => mistakes::bad_key(token.span(), &self.describe(token)),
        };
        self.fail(diagnostic)
    }

    /// A value has ended inside a bracket; neither a comma nor the closing bracket follows.
    #[cold]
    pub(super) fn unexpected_in_bracket(&mut self) -> Parse<Next> {
        let Some(frame) = self.frames.last().copied() else {
            return Ok(Next::After);
        };
        if self.skip_continuation_prompt() {
            return Ok(Next::After);
        }
        let token = self.token;
        let span = token.span();
        let found = self.describe(token);
        if self.begins_statement(token, self.peek()) {
            return self.fail_unclosed(span);
        }
        let closer = frame.kind.closer();
        let diagnostic = match token.kind {
            TokenKind::Bad => return self.fail_bad_token(token).map(|()| Next::After),
            TokenKind::Semicolon if self.goes_on_in_bracket(closer) => {
                self.findings
                    .push(mistakes::semicolon_in_brackets(span, closer));
                self.bump();
                return Ok(match frame.kind {
                    FrameKind::Call => Next::Argument,
                    FrameKind::Dict => {
                        self.set_second(false);
                        Next::Key
                    }
                    _ => Next::Operand,
                });
            }
            TokenKind::End | TokenKind::Semicolon => return self.fail_unclosed(span),
            TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace => {
                mistakes::wrong_closer(span, frame.open, closer, self.text(token))
            }
            TokenKind::Comma if frame.kind == FrameKind::Index => mistakes::index_list(span),
            TokenKind::Equal if self.previous_line_begins_statement() => {
                return self.fail_unclosed(span);
            }
            TokenKind::Comma | TokenKind::Equal if frame.kind == FrameKind::Dict => {
                mistakes::set_literal(span)
            }
            TokenKind::Equal if frame.kind == FrameKind::Call => self.bad_argument_name(span),
            TokenKind::Colon if frame.kind == FrameKind::Call => {
                mistakes::unexpected(span, "`,` or `)`", "`:`").hint("write `name=value`")
            }
            _ => match self
                .word_mistake(token)
                .or_else(|| self.prefix_mistake(token))
            {
                Some(diagnostic) => diagnostic,
                None if frame.kind == FrameKind::Dict && !frame.is_second => {
                    mistakes::set_literal(span)
                }
                None if begins_value(token.kind) => {
                    self.mind_quote(token, mistakes::missing_comma(span, closer, &found))
                }
                None => mistakes::unexpected(span, &format!("`,` or `{closer}`"), &found),
            },
        };
        self.fail(diagnostic)
    }

    /// A `=` stands behind something that is no name of an argument.
    fn bad_argument_name(&self, equal: Span) -> Diagnostic {
        match self.tree.nodes.last() {
            Some(node) if node.end == self.previous_end && node.kind != NodeKind::Field => {
                let found = format!("`{}`", mistakes::shown(node.span().text(self.source)));
                mistakes::bad_argument_name(node.span(), &found)
            }
            _ => mistakes::bad_argument_name(equal, "a value"),
        }
    }

    /// A statement should have ended.
    #[cold]
    pub(super) fn unexpected_after_statement(&mut self) -> Parse {
        let token = self.token;
        let span = token.span();
        let found = self.describe(token);
        let before = Span::new(self.statement_start, self.previous_end);
        let is_bare = matches!(
            self.tree.nodes.last(),
            Some(node) if node.kind == NodeKind::Bare && node.start == self.statement_start
        );
        let diagnostic = match token.kind {
            TokenKind::Bad => return self.fail_bad_token(token),
            TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace => {
                mistakes::surplus_closer(span, self.text(token))
            }
            TokenKind::Equal => {
                let place = before.text(self.source);
                if place.starts_with(['$', '＄']) && self.target.is_none() {
                    mistakes::path_assignment(before, place)
                } else if self.target.is_some() {
                    let node = self.tree.nodes.last();
                    mistakes::several_targets(node.map_or(before, Node::span))
                } else {
                    mistakes::not_a_target(before, place)
                }
            }
            TokenKind::Comma if self.line_has_assignment() => mistakes::several_targets(before),
            TokenKind::Comma if !is_bare => {
                mistakes::missing_separator(span, &found).hint("a list needs brackets: `[.., ..]`")
            }
            TokenKind::Name if is_bare => self.prose(before),
            _ => match self.word_mistake(token) {
                Some(diagnostic) => diagnostic,
                None if is_bare => self.prose(before),
                None => self.mind_quote(token, mistakes::missing_separator(span, &found)),
            },
        };
        self.fail(diagnostic)
    }

    fn prose(&self, word: Span) -> Diagnostic {
        let found = format!("`{}`", mistakes::shown(word.text(self.source)));
        mistakes::prose(word, &found)
    }

    /// Operators, words of operators, and paths where none can be.
    fn word_mistake(&self, token: Token) -> Option<Diagnostic> {
        let span = token.span();
        let text = self.text(token);
        let is_close = token.start == self.previous_end;
        Some(match token.kind {
            TokenKind::Sign
            | TokenKind::Star
            | TokenKind::Operator
            | TokenKind::Comparison
            | TokenKind::AugmentedAssign => self.operator_mistake(token),
            TokenKind::Name if text == "for" => mistakes::comprehension(span),
            TokenKind::Name if text == "async" && !self.frames.is_empty() => {
                mistakes::async_inside(span)
            }
            TokenKind::Name if matches!(text, "if" | "else") => mistakes::conditional(span),
            TokenKind::Name if OPERATOR_WORDS.contains(&text) => mistakes::operator(span, text),
            TokenKind::Dot | TokenKind::LeftBracket => {
                let field = self.peek();
                let is_field = token.kind == TokenKind::Dot && field.kind == TokenKind::Name;
                let end = if is_field { field.end } else { token.end };
                let span = Span::new(token.start, end);
                if token.kind == TokenKind::LeftBracket && !is_close {
                    return None;
                }
                mistakes::path_after_literal(span, span.text(self.source))
            }
            TokenKind::Float if is_close && text.starts_with('.') => {
                mistakes::path_after_literal(span, text)
            }
            TokenKind::LeftParen if is_close => mistakes::called_value(span, "this value"),
            _ => return None,
        })
    }

    fn operator_mistake(&self, token: Token) -> Diagnostic {
        let span = token.span();
        let text = self.text(token);
        match token.kind {
            TokenKind::Comparison => {
                let rest = Span::new(token.start, self.end).text(self.source);
                if rest.starts_with("<nit") || rest.starts_with("</nit") {
                    return mistakes::stray_tag(span);
                }
                mistakes::comparison(span, text)
            }
            TokenKind::AugmentedAssign => mistakes::augmented_assignment(span, text),
            TokenKind::Sign if self.is_between_digits(token) => mistakes::operator(span, text)
                .hint("a date, range or phone number is text in quotes"),
            _ => mistakes::operator(span, text),
        }
    }

    /// Whether the sign stands in something like `2024-01-31`.
    fn is_between_digits(&self, token: Token) -> bool {
        let byte = |at: u32| self.source.as_bytes().get(at as usize);
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        is_digit(byte(token.start.wrapping_sub(1))) && is_digit(byte(token.end))
    }

    /// Fail with what the lexer found.
    pub(super) fn fail_bad_token(&mut self, token: Token) -> Parse {
        let span = token.span();
        let text = self.text(token);
        let first = text.chars().next().unwrap_or_default();
        let diagnostic = match Fault::of(token) {
            Some(Fault::Invisible) => mistakes::invisible(span, first),
            Some(Fault::UnknownCharacter) | None => match first {
                '`' => mistakes::backquote(span),
                _ => mistakes::unknown_character(span, first),
            },
            Some(Fault::StrayBackslash) => mistakes::stray_backslash(span),
            Some(fault @ (Fault::LineBreakInString | Fault::UnclosedString)) => {
                let diagnostic = if fault == Fault::UnclosedString {
                    mistakes::unclosed_string(span)
                } else {
                    mistakes::line_break_in_string(span)
                };
                let quote = text.chars().find(|c| matches!(c, '"' | '\''));
                if quote.is_some_and(|quote| text.contains(&format!("\\{quote}"))) {
                    diagnostic.hint(mistakes::ESCAPED_QUOTE)
                } else {
                    diagnostic
                }
            }
            Some(Fault::UnclosedTripleString) => {
                let quotes = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                let quotes = quotes.get(..3).unwrap_or("\"\"\"");
                let opening = Span::new(span.start, span.start + 3)
                    .text(self.source)
                    .len();
                let place = Span::new(span.start, span.start + crate::span::offset(opening));
                mistakes::unclosed_triple_string(place, quotes)
            }
            Some(Fault::UnpairedQuote) => mistakes::unpaired_quote(
                Span::new(
                    span.start,
                    span.start + crate::span::offset(first.len_utf8()),
                ),
                &first.to_string(),
            ),
            Some(Fault::MalformedNumber) => mistakes::malformed_number(span, text),
            Some(Fault::ComplexNumber) => mistakes::complex_number(span, text),
            Some(Fault::LoneDollar) => {
                let rest = Span::new(token.end, self.end).text(self.source);
                mistakes::lone_dollar(span, rest.chars().next())
            }
        };
        self.fail(diagnostic)
    }

    /// A hint of its own where a word stands directly behind a quote: both were meant as one text.
    fn mind_quote(&self, token: Token, diagnostic: Diagnostic) -> Diagnostic {
        let before = Span::new(0, token.start).text(self.source);
        let is_quote = |c: &char| matches!(c, '"' | '\'' | '”' | '“' | '’' | '‘');
        match before.chars().next_back().filter(is_quote) {
            Some(quote)
                if token.start == self.previous_end
                    && token.kind != TokenKind::String
                    && begins_value(token.kind) =>
            {
                diagnostic.hint(mistakes::after_quote(quote))
            }
            _ => diagnostic,
        }
    }

    /// `f“..”`: a prefix takes straight quotes.
    fn prefix_mistake(&self, token: Token) -> Option<Diagnostic> {
        let node = self.tree.nodes.last()?;
        let prefix = node.span().text(self.source);
        let is_prefix = matches!(prefix, "f" | "F" | "r" | "R" | "rf" | "fr")
            && node.end == token.start
            && token.kind == TokenKind::String;
        let span = Span::new(node.start, token.end);
        is_prefix.then(|| mistakes::prefix_before_typographic(span, prefix))
    }

    /// Whether the bracket goes on behind a `;`: its line closes it.
    fn goes_on_in_bracket(&self, closer: &str) -> bool {
        let rest = Span::new(self.token.end, self.end).text(self.source);
        let line = rest.split(['\n', '\r']).next().unwrap_or_default();
        line.split_once(closer)
            .is_some_and(|(between, _)| !between.contains(['(', '[', '{', '$']))
    }

    /// The innermost bracket is never closed; `at` is where that was seen.
    pub(super) fn fail_unclosed(&mut self, at: Span) -> Parse<Next> {
        let Some(frame) = self.frames.last().copied() else {
            let found = self.describe(self.token);
            return self.fail(mistakes::unexpected(at, "a value", &found));
        };
        if self.in_template {
            return self.fail(mistakes::unclosed_in_template(frame.open));
        }
        let bracket = frame.open.text(self.source);
        let closer = frame.kind.closer();
        let label = if self.at(TokenKind::End) {
            "the script ends here"
        } else {
            "this does not belong into the bracket"
        };
        self.fail(mistakes::unclosed_bracket(frame.open, bracket, closer).label(at, label))
    }

    /// Skip the `...` that begins a line inside brackets where somebody copied a session.
    fn skip_continuation_prompt(&mut self) -> bool {
        let between = Span::new(self.previous_end, self.token.start).text(self.source);
        let found = self.at(TokenKind::Ellipsis)
            && !self.frames.is_empty()
            && between.contains(['\n', '\r']);
        if found {
            let prompt = self.token.span();
            let text = self.text(self.token);
            self.findings.push(mistakes::prompt(prompt, text));
            self.bump();
        }
        found
    }

    /// Whether a token begins a line that looks like the next statement.
    pub(super) fn begins_statement(&self, first: Token, second: Token) -> bool {
        let before = Span::new(0, first.start).text(self.source);
        let before = before.trim_end_matches([' ', '\t']);
        before.ends_with(['\n', '\r']) && self.looks_like_statement(first, second)
    }

    /// Whether two words at the start of a line can only be the beginning of a statement, or look
    /// like one.
    pub(super) fn looks_like_statement(&self, first: Token, second: Token) -> bool {
        must_begin_statement(first, second)
            || first.kind == TokenKind::Name
                && self.column(first.start) <= self.column(self.statement_start)
                && match second.kind {
                    TokenKind::LeftParen | TokenKind::Dot => true,
                    _ => second.kind == TokenKind::Name && self.text(first) == "async",
                }
    }

    /// Whether the `=` at hand belongs to `$name =` at the start of a line.
    fn previous_line_begins_statement(&self) -> bool {
        let Some(node) = self.tree.nodes.last() else {
            return false;
        };
        let head = Span::new(0, node.start).text(self.source);
        node.kind == NodeKind::Variable
            && node.start > self.statement_start
            && head.trim_end_matches([' ', '\t']).ends_with(['\n', '\r'])
    }

    /// Whether a `=` follows on the line.
    fn line_has_assignment(&self) -> bool {
        let rest = Span::new(self.token.start, self.end).text(self.source);
        let line = rest.split(['\n', '\r', ';']).next().unwrap_or_default();
        line.split_once('=')
            .is_some_and(|(before, _)| !before.contains('('))
    }

    /// Bytes between the start of the line and an offset.
    pub(super) fn column(&self, at: u32) -> usize {
        let before = Span::new(0, at).text(self.source).as_bytes();
        let line = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |found| found + 1);
        before.len() - line
    }
}

/// Whether two words at the start of a line can only be the beginning of a statement.
pub(super) fn must_begin_statement(first: Token, second: Token) -> bool {
    match first.kind {
        TokenKind::Marker | TokenKind::Prompt => true,
        TokenKind::Variable => second.kind == TokenKind::Equal,
        _ => false,
    }
}
