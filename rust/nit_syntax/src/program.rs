//! What a tree is lowered to: steps, shapes, and what they read.

use std::borrow::Cow;

use crate::ast::{Node, NodeKind, Tree};
use crate::literal;
use crate::span::{Span, offset};

/// Where the value of a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nowhere.
    None,
    /// The variable with this name.
    Name(u32),
    /// A temporary of the statement.
    Slot(u32),
}

/// What a step reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// The variable with this name.
    Name(u32),
    /// A temporary of the statement.
    Slot(u32),
}

/// One step: a call, or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node of the call or value.
    pub node: u32,
    /// Index of the call's shape; `None` for a value.
    pub shape: Option<u32>,
    /// Where the value goes.
    pub target: Target,
    /// Range in [`Program::reads`].
    pub reads: (u32, u32),
    /// Index in [`Program::uses`] of the first use.
    pub first_use: u32,
    /// Its place.
    pub span: Span,
}

/// A use of a value in a step: which of the step's reads it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use(pub(crate) u32);

impl Use {
    pub(crate) const WHOLE: u32 = 1 << 31;

    /// Index among the reads of the step.
    #[inline]
    pub fn index(self) -> u32 {
        self.0 & !Self::WHOLE
    }

    /// Whether the value is that of the node together with its path.
    #[inline]
    pub fn is_whole(self) -> bool {
        self.0 & Self::WHOLE != 0
    }
}

/// What all calls that look alike have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The tool's name.
    pub tool: Box<str>,
    /// The name of each argument, `None` for a positional one.
    pub names: Vec<Option<u32>>,
    /// One letter an argument: what kind of value it is.
    pub kinds: String,
    /// Whether the tool's name is the exact one.
    pub exact: bool,
    /// Whether the call is a NIT 1.0 block.
    pub legacy: bool,
}

/// A place that reads a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRead {
    /// The name.
    pub name: u32,
    /// The place, with the `$` if there is one.
    pub span: Span,
    /// Whether an earlier statement assigns the name.
    pub assigned: bool,
}

/// The steps of a script.
#[derive(Clone, Debug)]
pub struct Program {
    /// All names, by number.
    pub names: Vec<Box<str>>,
    /// All steps.
    pub steps: Vec<Step>,
    /// Index of the first step of each statement, and the number of steps at the end.
    pub first_steps: Vec<u32>,
    /// The target of each statement.
    pub targets: Vec<Option<u32>>,
    /// What the steps read.
    pub reads: Vec<Read>,
    /// For each node of a step that reads something, in the order of the text, which read it is.
    pub uses: Vec<Use>,
    /// The shapes of the calls.
    pub shapes: Vec<Shape>,
    /// Most slots that a statement needs.
    pub slot_count: u32,
    /// Reads of variables that no earlier statement assigns, in the order of the text.
    pub free_variables: Vec<NameRead>,
    /// Bare words that stand where a value should, in the order of the text.
    pub bare_names: Vec<NameRead>,
}

/// The name of a call's tool, from its [`NodeKind::Tool`] or [`NodeKind::ExactTool`] node.
pub fn tool_name<'s>(source: &'s str, node: &Node) -> Cow<'s, str> {
    match node.kind {
        NodeKind::ExactTool => literal::string_text(source, node.span(), node.flags),
        _ => literal::tool_name(node.span().text(source)),
    }
}

/// The name of an argument, from its node.
pub fn argument_name<'s>(source: &'s str, node: &Node) -> Cow<'s, str> {
    match node.kind {
        NodeKind::QuotedArgument => literal::string_text(source, node.span(), node.flags),
        _ => literal::normalize(node.span().text(source)),
    }
}

/// `$name` inside of plain strings: the name and its place, in the order of the text.
pub fn dollar_strings<'s>(source: &'s str, tree: &Tree) -> Vec<(Cow<'s, str>, Span)> {
    let mut found = Vec::new();
    for node in tree
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::String)
    {
        let text = node.span().text(source);
        for at in memchr::memchr_iter(b'$', text.as_bytes()) {
            let rest = text.get(at + 1..).unwrap_or_default();
            if !rest.starts_with(crate::chars::is_name_start) {
                continue;
            }
            let length = rest.find(|c| !crate::chars::is_name_continue(c));
            let name = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
            let start = node.start + offset(at);
            let span = Span::new(start, start + 1 + offset(name.len()));
            found.push((literal::normalize(name), span));
        }
    }
    found
}
