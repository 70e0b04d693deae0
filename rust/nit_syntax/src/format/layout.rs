//! Values on lines.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

use super::WIDTH;
use super::comments::{Comment, Comments, is_bracket};
use crate::ast::{Node, NodeKind, Tree, flag};
use crate::lexer::literal_parts;
use crate::literal::{piece_text, string_text, tool_name};
use crate::quote::quote;
use crate::span::Span;
use crate::token::form;

const INDENT: usize = 4;

/// What stands between two commas of a bracket.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// The name of an argument or the key of an entry.
    name: Option<u32>,
    value: u32,
    /// The index behind its nodes.
    end: u32,
    span: Span,
}

/// Writes a script.
#[derive(Debug)]
pub(super) struct Printer<'a> {
    source: &'a str,
    tree: &'a Tree,
    comments: Comments<'a>,
    out: String,
    /// Columns of the line that is being written.
    column: usize,
    /// Whether everything goes on one line, and whether that line has become too long.
    is_flat: bool,
    is_over: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(source: &'a str, tree: &'a Tree) -> Self {
        Self {
            source,
            tree,
            comments: Comments::default(),
            out: String::new(),
            column: 0,
            is_flat: false,
            is_over: false,
        }
    }

    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    pub(super) fn finish(mut self) -> String {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// Begins a statement, whose comments are these.
    pub(super) fn set_comments(&mut self, comments: Comments<'a>) {
        self.comments = comments;
    }

    /// Takes the comments of a statement that stand in none of its brackets.
    pub(super) fn loose_comments(&mut self, nodes: (u32, u32), span: Span) -> Vec<Comment<'a>> {
        self.comments.take_loose(self.tree, nodes, span)
    }

    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
        if let Some((first, _)) = text.split_once('\n') {
            // a line inside a string is as long as it is
            self.is_over |= self.column + first.width() > WIDTH;
            self.column = 0;
        }
        let last = text.rsplit('\n').next().unwrap_or_default();
        self.column += last.width();
        self.is_over |= self.column > WIDTH;
    }

    pub(super) fn begin_line(&mut self, indent: usize) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Prints a whole line.
    pub(super) fn line(&mut self, indent: usize, text: &str) {
        self.begin_line(indent);
        self.push(text);
    }

    /// Prints an empty line, but not as the first.
    pub(super) fn empty_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Prints a comment behind what stands on the line.
    pub(super) fn trail(&mut self, comment: &str) {
        self.push("  ");
        self.push(comment);
    }

    fn node(&self, index: u32) -> &'a Node {
        self.tree.node(index)
    }

    fn text(&self, index: u32) -> &'a str {
        self.node(index).span().text(self.source)
    }

    pub(super) fn variable(&mut self, span: Span) {
        self.push("$");
        self.push(span.text(self.source).trim_start_matches(['$', '＄']));
    }

    /// Prints a value with its path. Continued lines are indented by `indent`; `after` columns will
    /// stand behind it on its last line.
    pub(super) fn value(&mut self, index: u32, indent: usize, after: usize) {
        if !is_bracket(self.node(index).kind) {
            self.simple(index);
        } else if self.is_flat {
            self.flat_bracket(index);
        } else if !self.comments.any_in(self.tree.value_span(index)) {
            if let Some(flat) = self.flat(index, after) {
                self.push(&flat);
                return;
            }
            self.broken_bracket(index, indent);
        } else if self.comments.any_in(self.node(index).span()) {
            self.broken_bracket(index, indent);
        } else {
            self.flat_bracket(index);
        }
        self.path(index, indent, after);
    }

    /// The value on one line behind what stands on it, if that line does not become too long.
    fn flat(&self, index: u32, after: usize) -> Option<String> {
        let mut printer = Self::new(self.source, self.tree);
        printer.is_flat = true;
        printer.column = self.column;
        printer.value(index, 0, 0);
        (!printer.is_over && printer.column + after <= WIDTH).then_some(printer.out)
    }

    /// Prints a value that is no bracket, without its path.
    fn simple(&mut self, index: u32) {
        let node = self.node(index);
        match node.kind {
            NodeKind::Variable => self.variable(node.span()),
            NodeKind::Concat => {
                let mut part = index + 1;
                while part < node.next {
                    if part > index + 1 {
                        self.push(" ");
                    }
                    self.simple(part);
                    part = self.node(part).next;
                }
            }
            _ => {
                let text = self.literal(index);
                self.push(&text);
            }
        }
    }

    /// The text of a literal, name or key.
    fn literal(&self, index: u32) -> Cow<'a, str> {
        let node = self.node(index);
        let text = self.text(index);
        match node.kind {
            NodeKind::String | NodeKind::ExactTool | NodeKind::QuotedArgument => {
                if node.has(form::TYPOGRAPHIC) {
                    return quote(&string_text(self.source, node.span(), node.flags)).into();
                }
                let prefix = literal_parts(self.source, node.span(), node.flags).prefix;
                let skipped = if node.has(form::ODD_PREFIX) {
                    prefix.len()
                } else {
                    0
                };
                with_line_feeds(text.get(skipped as usize..).unwrap_or(text))
            }
            NodeKind::Template => with_line_feeds(text),
            NodeKind::Int | NodeKind::Float if text.starts_with(['+', '-', '＋', '－']) => {
                let sign = if text.starts_with(['-', '－']) {
                    '-'
                } else {
                    '+'
                };
                let is_digit = |c: char| c.is_ascii_digit() || c == '.';
                let digits = text.find(is_digit).and_then(|at| text.get(at..));
                format!("{sign}{}", digits.unwrap_or_default()).into()
            }
            NodeKind::Tool => tool_name(text),
            _ => text.into(),
        }
    }

    fn path(&mut self, index: u32, indent: usize, after: usize) {
        let Some(path) = self.tree.path(index) else {
            return;
        };
        let end = self.node(path).next;
        let mut step = path + 1;
        while step < end && !(self.is_flat && self.is_over) {
            let node = self.node(step);
            match node.kind {
                NodeKind::Field => {
                    self.push(".");
                    self.push(self.text(step));
                }
                NodeKind::Index => {
                    self.push("[");
                    self.value(step + 1, indent, after + 1);
                    self.push("]");
                }
                _ => {
                    let mut bound = step + 1;
                    self.push("[");
                    if node.has(flag::LOW) {
                        self.value(bound, indent, after + 2);
                        bound = self.tree.after_value(bound);
                    }
                    self.push(":");
                    if node.has(flag::HIGH) {
                        self.value(bound, indent, after + 1);
                    }
                    self.push("]");
                }
            }
            step = node.next;
        }
    }

    /// Prints a call, list, dict, tuple or group on one line, without its path.
    fn flat_bracket(&mut self, index: u32) {
        self.open(index);
        let mut count = 0;
        for item in self.items(index) {
            if count > 0 {
                self.push(", ");
            }
            self.item(&item, index, 0, 0);
            if self.is_flat && self.is_over {
                return;
            }
            count += 1;
        }
        if self.is_tuple(index) && count == 1 {
            self.push(",");
        }
        self.close(index);
    }

    /// Prints the same with one item a line.
    fn broken_bracket(&mut self, index: u32, indent: usize) {
        let node = self.node(index);
        let inner = indent + INDENT;
        // a comma would make a tuple of a group
        let comma = if node.kind == NodeKind::Group {
            ""
        } else {
            ","
        };
        self.open(index);
        let mut seen = None;
        for item in self.items(index) {
            let before = Span::new(seen.unwrap_or(node.start), item.span.start);
            self.own_lines(before, seen, inner);
            let first = item.name.unwrap_or(item.value);
            for comment in self
                .comments
                .take_loose(self.tree, (first, item.end), item.span)
            {
                self.line(inner, comment.text);
            }
            self.begin_line(inner);
            self.item(&item, index, inner, comma.len());
            self.push(comma);
            seen = Some(item.span.end);
        }
        let behind = Span::new(seen.unwrap_or(node.start), node.end);
        self.own_lines(behind, seen, inner);
        self.begin_line(indent);
        self.close(index);
    }

    /// Prints the comments between two items; one that begins on the last line of the item before
    /// stays there.
    fn own_lines(&mut self, between: Span, item_end: Option<u32>, indent: usize) {
        for comment in self.comments.take(between) {
            let gap = item_end.map(|end| Span::new(end, comment.start).text(self.source));
            if gap.is_some_and(|gap| !gap.contains(['\n', '\r'])) {
                self.trail(comment.text);
            } else {
                self.line(indent, comment.text);
            }
        }
    }

    fn item(&mut self, item: &Item, bracket: u32, indent: usize, after: usize) {
        if let Some(name) = item.name {
            let is_dict = self.node(bracket).kind == NodeKind::Dict;
            if is_dict {
                self.value(name, indent, 2);
                self.push(": ");
            } else {
                let text = self.literal(name);
                self.push(&text);
                self.push("=");
            }
        }
        self.value(item.value, indent, after);
    }

    fn items(&self, index: u32) -> impl Iterator<Item = Item> + use<'a> {
        let tree = self.tree;
        let node = tree.node(index);
        let mut at = index + 1;
        if tree.node(at).kind == NodeKind::Tool {
            at = tree.node(at).next;
        }
        std::iter::from_fn(move || {
            if at >= node.next {
                return None;
            }
            let first = tree.node(at);
            let (name, value) = match (node.kind, first.kind) {
                (NodeKind::Call, NodeKind::Argument | NodeKind::QuotedArgument) => {
                    (Some(at), first.next)
                }
                (NodeKind::Dict, _) => (Some(at), tree.after_value(at)),
                _ => (None, at),
            };
            let end = tree.after_value(value);
            let span = first.span().to(tree.value_span(value));
            at = end;
            Some(Item {
                name,
                value,
                end,
                span,
            })
        })
    }

    fn is_tuple(&self, index: u32) -> bool {
        self.node(index).kind == NodeKind::List && !self.text(index).starts_with(['[', '【'])
    }

    fn open(&mut self, index: u32) {
        let node = self.node(index);
        match node.kind {
            NodeKind::Call => {
                if node.has(flag::EXACT) {
                    self.push("call");
                } else {
                    let name = self.literal(index + 1);
                    self.push(&name);
                }
                self.push("(");
            }
            NodeKind::Dict => self.push("{"),
            NodeKind::List if !self.is_tuple(index) => self.push("["),
            _ => self.push("("),
        }
    }

    fn close(&mut self, index: u32) {
        let closing = match self.node(index).kind {
            NodeKind::Dict => "}",
            NodeKind::List if !self.is_tuple(index) => "]",
            _ => ")",
        };
        self.push(closing);
    }

    /// Prints a NIT 1.0 block as a call.
    pub(super) fn upgraded_call(&mut self, index: u32) {
        let node = self.node(index);
        let tool = index + 1;
        let mut arguments = Vec::new();
        let head = if self.node(tool).kind == NodeKind::Tool {
            format!("{}(", self.literal(tool))
        } else {
            arguments.push(quote(self.text(tool)));
            "call(".to_owned()
        };
        let mut at = self.node(tool).next;
        while at < node.next {
            let value = self.node(at).next;
            let text = piece_text(self.text(value), self.node(value).flags);
            let name = if self.node(at).kind == NodeKind::Argument {
                self.text(at).to_owned()
            } else {
                quote(self.text(at))
            };
            arguments.push(format!("{name}={}", string_literal(&text)));
            at = self.node(value).next;
        }
        let mut flat = Self::new(self.source, self.tree);
        flat.push(&format!("{head}{})", arguments.join(", ")));
        if !flat.is_over {
            self.push(&flat.out);
            return;
        }
        self.push(&head);
        for argument in arguments {
            self.line(INDENT, &argument);
            self.push(",");
        }
        self.line(0, ")");
    }
}

/// A text as a literal that a person likes to read.
fn string_literal(text: &str) -> String {
    let is_plain = |c: char| c == '\n' || c == '\t' || !(c.is_control() || c == '\\');
    if text.contains('\n')
        && text.chars().all(is_plain)
        && !text.contains("\"\"\"")
        && !text.ends_with('"')
    {
        format!("\"\"\"{text}\"\"\"")
    } else {
        quote(text)
    }
}

pub(super) fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n").into()
    } else {
        text.into()
    }
}
