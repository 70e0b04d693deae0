//! Shapes: calls that look alike share one.

use super::{Lowering, NEVER};
use crate::ast::{Node, NodeKind, flag};
use crate::names::{Seed, Slots};
use crate::program::{Shape, argument_name, tool_name};
use crate::span::offset;

/// The shapes that are known by their words.
pub(super) struct Shapes {
    seed: Seed,
    slots: Slots,
    /// The words of each shape, one after the other, and where each ends.
    words: Vec<u32>,
    ends: Vec<u32>,
    /// The words of the shape at hand.
    current: Vec<u32>,
}

impl Shapes {
    pub(super) fn new() -> Self {
        Self {
            seed: Seed::random(),
            slots: Slots::new(),
            words: Vec::new(),
            ends: Vec::new(),
            current: Vec::new(),
        }
    }
}

impl Lowering<'_> {
    /// The shape of a call; collects what its arguments use on the way.
    pub(super) fn shape(&mut self, call: u32, reads: u32) -> u32 {
        let tree = self.tree;
        let node = tree.node(call);
        let tool = self.intern(&tool_name(self.source, tree.node(call + 1)));
        self.shapes.current.clear();
        self.shapes.current.push(tool);
        self.shapes.current.push(if node.has(flag::LEGACY) {
            // Each NIT 1.0 block is a shape of its own: the value of a key may name its tool.
            u32::MAX - call
        } else {
            u32::from(node.flags & flag::EXACT)
        });
        let mut index = call + 2;
        while index < node.next {
            let argument = tree.node(index);
            let name = match argument.kind {
                NodeKind::Argument | NodeKind::QuotedArgument => {
                    index += 1;
                    self.intern(&argument_name(self.source, argument)) + 1
                }
                _ => 0,
            };
            let end = tree.after_value(index);
            let before = self.program.uses.len();
            self.uses(index, end, reads, NEVER);
            let is_literal = before == self.program.uses.len();
            let kind = if is_literal { self.kind(index) } else { b'?' };
            self.shapes.current.push(name);
            self.shapes.current.push(u32::from(kind));
            index = end;
        }
        self.intern_shape(node)
    }

    fn intern_shape(&mut self, call: &Node) -> u32 {
        let shapes = &mut self.shapes;
        let (words, ends) = (&shapes.words, &shapes.ends);
        let words_of = |shape: u32| {
            let at = |index: u32| ends.get(index as usize).copied().unwrap_or_default() as usize;
            let start = if shape == 0 { 0 } else { at(shape - 1) };
            words.get(start..at(shape)).unwrap_or_default()
        };
        if shapes.slots.is_crowded() {
            let seed = shapes.seed;
            shapes.slots.grow(|shape| seed.hash_words(words_of(shape)));
        }
        let hash = shapes.seed.hash_words(&shapes.current);
        let wanted = &shapes.current;
        let (shape, is_new) = shapes
            .slots
            .find(hash, |shape| words_of(shape) == wanted.as_slice());
        if is_new {
            shapes.words.extend_from_slice(&shapes.current);
            shapes.ends.push(offset(shapes.words.len()));
            let arguments = shapes.current.get(2..).unwrap_or_default();
            let pairs = arguments.chunks_exact(2);
            let pair = |pair: &[u32]| match *pair {
                [name, kind] => (name.checked_sub(1), char::from_u32(kind).unwrap_or('?')),
                _ => (None, '?'),
            };
            let (names, kinds) = pairs.map(pair).unzip();
            let tool = shapes.current.first().copied().unwrap_or_default();
            let tool = Box::from(self.names.text(tool));
            self.program.shapes.push(Shape {
                tool,
                names,
                kinds,
                exact: call.has(flag::EXACT),
                legacy: call.has(flag::LEGACY),
            });
        }
        shape
    }

    /// The letter of a value without references.
    fn kind(&self, index: u32) -> u8 {
        match self.tree.node(index).kind {
            NodeKind::Int => b'i',
            NodeKind::Float => b'f',
            NodeKind::True | NodeKind::False => b'b',
            NodeKind::Null => b'n',
            NodeKind::List => b'l',
            NodeKind::Dict => b'd',
            NodeKind::Group => self.kind(index + 1),
            _ => b's',
        }
    }
}
