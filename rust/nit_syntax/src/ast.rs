//! The tree of a script, as one flat list of nodes.
//!
//! A node stands before its children and knows the index behind its last descendant, so that a
//! walk is a loop, and a tree of any size is freed at once. Values stay in the source text: a node
//! of a literal is a place and a form. What follows what:
//!
//! ```text
//! statement     := [Target] value
//! value         := leaf | List value* | Dict (key value)* | Group value | Concat part+
//!                | reference | call
//! reference     := (Variable | Bare) [Path step*]           Path only with flag HAS_PATH
//! call          := Call Tool ([Argument] value)* [Path step*]
//! step          := Field | Index value | Slice [value] [value]
//! Template      := (Text | Interpolation reference [Spec])*
//! ```

use crate::span::{Span, offset};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeKind {
    /// The variable that a statement binds, with its `$` (without one in `x = f()`).
    Target,
    /// A call, from its name to its closing bracket.
    Call,
    /// The dotted name of a call.
    Tool,
    /// The exact name of a tool, as a string literal.
    ExactTool,
    /// The name of the argument that follows.
    Argument,
    /// The same, written as a string literal.
    QuotedArgument,
    /// A plain string literal.
    String,
    /// An f-string.
    Template,
    /// Adjacent string literals.
    Concat,
    /// Text of a template.
    Text,
    /// A reference in a template, with its braces.
    Interpolation,
    /// The format spec of an interpolation.
    Spec,
    /// The text of a NIT 1.0 argument.
    RawText,
    /// An integer with its sign.
    Int,
    /// A float with its sign.
    Float,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
    /// A list or tuple.
    List,
    /// A dict: keys and values in turn.
    Dict,
    /// A key written as an identifier.
    Key,
    /// A value in brackets, `(x)`.
    Group,
    /// A variable with its `$`.
    Variable,
    /// A name that stands where a value should.
    Bare,
    /// The path of the reference or call before it.
    Path,
    /// `.name`
    Field,
    /// `[value]`
    Index,
    /// `[low:high]`
    Slice,
}

/// Bits of [`Node::flags`]; literals have those of [`crate::token::form`].
pub mod flag {
    /// A path follows the variable, bare name or call.
    pub const HAS_PATH: u8 = 1;
    /// The call names its tool exactly.
    pub const EXACT: u8 = 2;
    /// The call is a NIT 1.0 block.
    pub const LEGACY: u8 = 4;
    /// The slice has a lower end.
    pub const LOW: u8 = 1;
    /// The slice has an upper end.
    pub const HIGH: u8 = 2;
    /// The interpolation has `!r`.
    pub const REPR: u8 = 1;
    /// The interpolation has `!s`.
    pub const STR: u8 = 2;
    /// The interpolation has a format spec.
    pub const SPEC: u8 = 4;
}

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Its form.
    pub flags: u8,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset behind its last byte.
    pub end: u32,
    /// Index of the node behind its last descendant.
    pub next: u32,
}

impl Node {
    /// The place of the node.
    pub fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }

    /// Whether a bit of the flags is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// One statement: a run of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its place.
    pub span: Span,
    /// Index of its first node.
    pub first: u32,
    /// Whether it begins with `async`.
    pub is_async: bool,
}

/// All statements of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) statements: Vec<Statement>,
    /// Targets of statements that have errors, with the number of statements before.
    pub(crate) lost_targets: Vec<(u32, Span)>,
}

const NOTHING: Node = Node {
    kind: NodeKind::Null,
    flags: 0,
    start: 0,
    end: 0,
    next: u32::MAX,
};

impl Tree {
    /// The statements in the order of the text.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The node at an index; behind the last one a null that ends every walk.
    #[inline]
    pub fn node(&self, index: u32) -> &Node {
        self.nodes.get(index as usize).unwrap_or(&NOTHING)
    }

    /// Number of nodes.
    pub fn node_count(&self) -> u32 {
        offset(self.nodes.len())
    }

    /// The index behind the nodes of a statement.
    pub fn statement_end(&self, statement: usize) -> u32 {
        match self.statements.get(statement + 1) {
            Some(following) => following.first,
            None => self.node_count(),
        }
    }

    /// The target of a statement.
    pub fn target(&self, statement: &Statement) -> Option<Span> {
        let node = self.node(statement.first);
        (node.kind == NodeKind::Target).then(|| node.span())
    }

    /// The node of a statement's value or call.
    pub fn root(&self, statement: &Statement) -> u32 {
        statement.first + u32::from(self.target(statement).is_some())
    }

    /// The node behind a value, its path included.
    #[inline]
    pub fn after_value(&self, index: u32) -> u32 {
        let node = self.node(index);
        match self.path(index) {
            Some(path) => self.node(path).next,
            None => node.next,
        }
    }

    /// Number of the values, keys or arguments' parts directly inside a node.
    pub(crate) fn child_count(&self, index: u32) -> usize {
        let end = self.node(index).next;
        let mut count = 0;
        let mut at = index + 1;
        while at < end {
            count += 1;
            at = self.after_value(at);
        }
        count
    }

    /// Whether a template holds a reference.
    pub fn has_reference(&self, template: u32) -> bool {
        let end = self.node(template).next as usize;
        let parts = self.nodes.get(template as usize..end).unwrap_or_default();
        parts
            .iter()
            .any(|part| part.kind == NodeKind::Interpolation)
    }

    /// The path that follows a reference or call.
    #[inline]
    pub fn path(&self, index: u32) -> Option<u32> {
        let node = self.node(index);
        let may = matches!(
            node.kind,
            NodeKind::Variable | NodeKind::Bare | NodeKind::Call
        );
        (may && node.has(flag::HAS_PATH)).then_some(node.next)
    }

    /// The place of a value, its path included.
    pub fn value_span(&self, index: u32) -> Span {
        let span = self.node(index).span();
        self.path(index)
            .map_or(span, |path| span.to(self.node(path).span()))
    }
}
