//! Whether two scripts say the same: layout and the spelling of literals aside.

use std::borrow::Cow;

use crate::ast::{Node, NodeKind, Tree, flag};
use crate::literal;
use crate::program::{argument_name, tool_name};

/// A tree with its source.
#[derive(Clone, Copy, Debug)]
pub struct Sourced<'s> {
    /// The source.
    pub source: &'s str,
    /// Its tree.
    pub tree: &'s Tree,
}

/// Whether the statements of two scripts are equal.
pub fn are_equal(left: Sourced<'_>, right: Sourced<'_>) -> bool {
    let count = left.tree.statements.len();
    count == right.tree.statements.len() && (0..count).all(|at| is_statement_equal(left, right, at))
}

fn is_statement_equal(left: Sourced<'_>, right: Sourced<'_>, index: usize) -> bool {
    let side = |side: Sourced<'_>| {
        let statement = side.tree.statements.get(index)?;
        let root = side.tree.root(statement);
        Some((statement.is_async, root, side.tree.after_value(root)))
    };
    match (side(left), side(right)) {
        (Some((left_async, left_root, left_end)), Some((right_async, right_root, right_end))) => {
            left_async == right_async
                && left.target(index) == right.target(index)
                && left.is_range_equal((left_root, left_end), right, (right_root, right_end))
        }
        _ => false,
    }
}

/// What a text literal is made of.
#[derive(PartialEq, Eq)]
enum Piece<'s> {
    Text(Cow<'s, str>),
    Reference(u32),
}

impl<'s> Sourced<'s> {
    fn target(self, index: usize) -> Option<Cow<'s, str>> {
        let span = self.tree.target(self.tree.statements.get(index)?)?;
        Some(literal::variable_name(span.text(self.source)))
    }

    fn text(self, node: &Node) -> &'s str {
        node.span().text(self.source)
    }

    /// Whether the values in two runs of nodes are equal. A loop: depth does not matter.
    fn is_range_equal(self, (mut at, end): (u32, u32), other: Self, range: (u32, u32)) -> bool {
        let (mut other_at, other_end) = range;
        loop {
            at = self.skip_groups(at, end);
            other_at = other.skip_groups(other_at, other_end);
            if at >= end || other_at >= other_end {
                return at >= end && other_at >= other_end;
            }
            let (node, twin) = (self.tree.node(at), other.tree.node(other_at));
            if is_text(node.kind) && is_text(twin.kind) {
                if !self.is_text_equal(at, other, other_at) {
                    return false;
                }
                (at, other_at) = (node.next, twin.next);
                continue;
            }
            if !self.is_node_equal(at, other, other_at) {
                return false;
            }
            at += 1;
            other_at += 1;
        }
    }

    fn skip_groups(self, mut at: u32, end: u32) -> u32 {
        while at < end && self.tree.node(at).kind == NodeKind::Group {
            at += 1;
        }
        at
    }

    /// Whether two nodes are equal, what they hold aside.
    fn is_node_equal(self, at: u32, other: Self, other_at: u32) -> bool {
        let (node, twin) = (self.tree.node(at), other.tree.node(other_at));
        let is_name = |kind| matches!(kind, NodeKind::Variable | NodeKind::Bare);
        if is_name(node.kind) && is_name(twin.kind) {
            let name = |side: Self, node| literal::variable_name(side.text(node));
            return node.has(flag::HAS_PATH) == twin.has(flag::HAS_PATH)
                && name(self, node) == name(other, twin);
        }
        let is_argument = |kind| matches!(kind, NodeKind::Argument | NodeKind::QuotedArgument);
        if is_argument(node.kind) && is_argument(twin.kind) {
            return argument_name(self.source, node) == argument_name(other.source, twin);
        }
        if node.kind != twin.kind {
            return false;
        }
        let bits = flag::HAS_PATH | flag::EXACT;
        match node.kind {
            NodeKind::Tool | NodeKind::ExactTool => {
                tool_name(self.source, node) == tool_name(other.source, twin)
            }
            NodeKind::Int => {
                literal::integer(self.text(node)) == literal::integer(other.text(twin))
            }
            NodeKind::Float => {
                literal::float(self.text(node)).to_bits()
                    == literal::float(other.text(twin)).to_bits()
            }
            NodeKind::Field => {
                literal::normalize(self.text(node)) == literal::normalize(other.text(twin))
            }
            NodeKind::Call => {
                node.flags & bits == twin.flags & bits
                    && self.tree.child_count(at) == other.tree.child_count(other_at)
            }
            NodeKind::Slice => node.flags == twin.flags,
            NodeKind::List | NodeKind::Dict | NodeKind::Path => {
                self.tree.child_count(at) == other.tree.child_count(other_at)
            }
            _ => true,
        }
    }

    fn is_text_equal(self, at: u32, other: Self, other_at: u32) -> bool {
        let (pieces, twins) = (self.pieces(at), other.pieces(other_at));
        let is_equal = |(piece, twin): (&Piece<'_>, &Piece<'_>)| match (piece, twin) {
            (Piece::Text(text), Piece::Text(twin)) => text == twin,
            (Piece::Reference(at), Piece::Reference(twin)) => {
                self.is_interpolation_equal(*at, other, *twin)
            }
            _ => false,
        };
        pieces.len() == twins.len() && pieces.iter().zip(&twins).all(is_equal)
    }

    fn is_interpolation_equal(self, at: u32, other: Self, other_at: u32) -> bool {
        let (node, twin) = (self.tree.node(at), other.tree.node(other_at));
        let spec = |side: Self, at: u32, node: &Node| {
            let end = side.tree.after_value(at + 1);
            let spec = node.has(flag::SPEC).then(|| side.text(side.tree.node(end)));
            (end, spec)
        };
        let (end, text) = spec(self, at, node);
        let (other_end, other_text) = spec(other, other_at, twin);
        node.flags == twin.flags
            && text == other_text
            && self.is_range_equal((at + 1, end), other, (other_at + 1, other_end))
    }

    /// The texts and references of a text literal; neighbouring texts are one.
    fn pieces(self, index: u32) -> Vec<Piece<'s>> {
        let mut pieces: Vec<Piece<'s>> = Vec::new();
        let end = self.tree.node(index).next;
        let mut at = index;
        while at < end {
            let node = self.tree.node(at);
            let text = match node.kind {
                NodeKind::String => literal::string_text(self.source, node.span(), node.flags),
                NodeKind::Text | NodeKind::RawText => {
                    literal::piece_text(self.text(node), node.flags)
                }
                NodeKind::Key => literal::normalize(self.text(node)),
                NodeKind::Interpolation => {
                    pieces.push(Piece::Reference(at));
                    at = node.next;
                    continue;
                }
                _ => Cow::Borrowed(""),
            };
            at += 1;
            match pieces.last_mut() {
                _ if text.is_empty() => {}
                Some(Piece::Text(before)) => before.to_mut().push_str(&text),
                _ => pieces.push(Piece::Text(text)),
            }
        }
        pieces
    }
}

fn is_text(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::String
            | NodeKind::Concat
            | NodeKind::Template
            | NodeKind::RawText
            | NodeKind::Key
    )
}
