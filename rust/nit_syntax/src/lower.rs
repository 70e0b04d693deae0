//! A tree to a flat list of steps, in the order of evaluation.
//!
//! ```text
//! $x = f(a=g(b=$y)[0], c=1)    CALL  g -> slot 0      reads $y
//!                              VALUE g()[0] -> slot 1  reads slot 0
//!                              CALL  f -> $x          reads slot 1
//! ```
//!
//! Arguments are evaluated from left to right. So what may fail (a path, an f-string) and stands
//! before a nested call becomes a step of its own before that call (it is *hoisted*).

mod shapes;

use crate::ast::{Node, NodeKind, Statement, Tree, flag};
use crate::literal;
use crate::names::Names;
use crate::program::{NameRead, Program, Read, Step, Target, Use};
use crate::span::{Span, offset};

use shapes::Shapes;

/// Lower a tree.
pub fn lower(source: &str, tree: &Tree) -> Program {
    let mut lowering = Lowering::new(source, tree);
    let mut lost = tree.lost_targets.iter().peekable();
    for (index, statement) in tree.statements.iter().enumerate() {
        while let Some((_, target)) = lost.next_if(|(before, _)| *before as usize <= index) {
            let name = lowering.intern_variable(*target);
            lowering.assign(name);
        }
        lowering.statement(statement, tree.statement_end(index));
    }
    lowering.finish()
}

const NEVER: u32 = u32::MAX;

/// What a name is to the steps so far.
#[derive(Clone, Copy)]
struct NameState {
    is_assigned: bool,
    /// The last step that reads the name, and the index of that read.
    step: u32,
    read: u32,
}

struct Lowering<'s> {
    source: &'s str,
    tree: &'s Tree,
    names: Names,
    states: Vec<NameState>,
    shapes: Shapes,
    /// The nodes of the statement whose value is in a slot, in the order of their index.
    in_slots: Vec<(u32, u32)>,
    next_slot: u32,
    program: Program,
}

/// Something that the walk over a statement is inside of.
#[derive(Clone, Copy)]
enum Inside {
    Call(u32),
    /// The path of a call.
    CallPath(u32),
    /// A reference with a path, or a template.
    Fallible(u32),
}

impl<'s> Lowering<'s> {
    fn new(source: &'s str, tree: &'s Tree) -> Self {
        let count = tree.statements.len();
        Self {
            source,
            tree,
            names: Names::new(),
            states: Vec::new(),
            shapes: Shapes::new(),
            in_slots: Vec::new(),
            next_slot: 0,
            program: Program {
                names: Vec::new(),
                steps: Vec::with_capacity(count),
                first_steps: Vec::with_capacity(count + 1),
                targets: Vec::with_capacity(count),
                reads: Vec::new(),
                uses: Vec::new(),
                shapes: Vec::new(),
                slot_count: 0,
                free_variables: Vec::new(),
                bare_names: Vec::new(),
            },
        }
    }

    fn finish(mut self) -> Program {
        let steps = offset(self.program.steps.len());
        self.program.first_steps.push(steps);
        self.program.names = self.names.into_texts();
        self.program
    }

    fn intern(&mut self, name: &str) -> u32 {
        let number = self.names.intern(name);
        if number as usize >= self.states.len() {
            self.states.push(NameState {
                is_assigned: false,
                step: NEVER,
                read: 0,
            });
        }
        number
    }

    fn intern_variable(&mut self, span: Span) -> u32 {
        self.intern(&literal::variable_name(span.text(self.source)))
    }

    fn assign(&mut self, name: u32) {
        if let Some(state) = self.states.get_mut(name as usize) {
            state.is_assigned = true;
        }
    }

    fn statement(&mut self, statement: &Statement, end: u32) {
        let first = offset(self.program.steps.len());
        self.program.first_steps.push(first);
        let target = self.tree.target(statement);
        let target = target.map(|span| self.intern_variable(span));
        self.program.targets.push(target);
        let to = target.map_or(Target::None, Target::Name);
        let root = self.tree.root(statement);
        let reads = (
            self.program.free_variables.len(),
            self.program.bare_names.len(),
        );
        self.next_slot = 0;
        self.in_slots.clear();
        let is_call = self.tree.node(root).kind == NodeKind::Call;
        let nested_from = root + u32::from(is_call);
        let nodes = self.tree.nodes.get(nested_from as usize..end as usize);
        let has_nested = nodes
            .unwrap_or_default()
            .iter()
            .any(|node| node.kind == NodeKind::Call);
        let has_path = is_call && self.tree.path(root).is_some();
        if has_nested || has_path {
            self.nested(root, end, to);
            let text_order = |read: &NameRead| read.span.start;
            let (free, bare) = reads;
            if let Some(new) = self.program.free_variables.get_mut(free..) {
                new.sort_unstable_by_key(text_order);
            }
            if let Some(new) = self.program.bare_names.get_mut(bare..) {
                new.sort_unstable_by_key(text_order);
            }
        } else {
            self.step(root, is_call, to);
        }
        self.program.slot_count = self.program.slot_count.max(self.next_slot);
        if let Some(target) = target {
            self.assign(target);
        }
    }

    /// A statement with nested calls, or with a path behind its call.
    fn nested(&mut self, root: u32, end: u32, target: Target) {
        let mut inside: Vec<(Inside, u32)> = Vec::new();
        // Finished parts that may fail and that no step has evaluated yet.
        let mut pending: Vec<u32> = Vec::new();
        let mut index = root;
        loop {
            while let Some((part, part_end)) = inside.last().copied() {
                if part_end > index {
                    break;
                }
                inside.pop();
                match part {
                    Inside::Fallible(node) => {
                        drop_inner(&mut pending, node);
                        pending.push(node);
                    }
                    Inside::Call(call) => {
                        drop_inner(&mut pending, call);
                        for node in std::mem::take(&mut pending) {
                            let slot = self.new_slot();
                            self.step(node, false, slot);
                            self.put_in_slot(node, slot);
                        }
                        let path = self.tree.path(call);
                        if call == root && path.is_none() {
                            self.step(call, true, target);
                        } else {
                            let slot = self.new_slot();
                            self.step(call, true, slot);
                            self.put_in_slot(call, slot);
                        }
                        if path.is_some() {
                            inside.push((Inside::CallPath(call), self.tree.after_value(call)));
                        }
                    }
                    Inside::CallPath(call) => {
                        drop_inner(&mut pending, call);
                        let is_root = call == root;
                        let slot = if is_root { target } else { self.new_slot() };
                        self.step(call, false, slot);
                        self.put_in_slot(call, slot);
                    }
                }
            }
            if index >= end {
                break;
            }
            let node = self.tree.node(index);
            match node.kind {
                NodeKind::Call => inside.push((Inside::Call(index), node.next)),
                NodeKind::Template if self.tree.has_reference(index) => {
                    inside.push((Inside::Fallible(index), node.next));
                }
                NodeKind::Variable | NodeKind::Bare if node.has(flag::HAS_PATH) => {
                    inside.push((Inside::Fallible(index), self.tree.after_value(index)));
                }
                _ => {}
            }
            index += 1;
        }
        if self.tree.node(root).kind != NodeKind::Call {
            self.step(root, false, target);
        }
    }

    fn new_slot(&mut self) -> Target {
        self.next_slot += 1;
        Target::Slot(self.next_slot - 1)
    }

    fn put_in_slot(&mut self, node: u32, target: Target) {
        let Target::Slot(slot) = target else {
            return;
        };
        // What is inside of the node, its earlier slot included, is not read any more.
        while self.in_slots.last().is_some_and(|entry| entry.0 >= node) {
            self.in_slots.pop();
        }
        self.in_slots.push((node, slot));
    }

    fn slot_of(&self, node: u32) -> Option<u32> {
        let found = self.in_slots.binary_search_by_key(&node, |entry| entry.0);
        found
            .ok()
            .and_then(|at| self.in_slots.get(at))
            .map(|entry| entry.1)
    }

    /// Write down one step.
    fn step(&mut self, node: u32, is_call: bool, target: Target) {
        let reads = offset(self.program.reads.len());
        let first_use = offset(self.program.uses.len());
        let (shape, span) = if is_call {
            let shape = self.shape(node, reads);
            (Some(shape), self.tree.node(node).span())
        } else {
            self.uses(node, self.tree.after_value(node), reads, node);
            (None, self.tree.value_span(node))
        };
        self.program.steps.push(Step {
            node,
            shape,
            target,
            reads: (reads, offset(self.program.reads.len())),
            first_use,
            span,
        });
    }

    /// Collect what the nodes of one value use. `base` is the value whose path is applied here:
    /// its own slot, if it has one, holds what stands before the path.
    fn uses(&mut self, start: u32, end: u32, reads: u32, base: u32) {
        let tree = self.tree;
        let mut index = start;
        while index < end {
            let node = tree.node(index);
            match node.kind {
                NodeKind::Call => {
                    let slot = self.slot_of(index).unwrap_or_default();
                    if index == base {
                        self.read_slot(slot, reads, 0);
                        index = node.next;
                    } else {
                        self.read_slot(slot, reads, Use::WHOLE);
                        index = tree.after_value(index);
                    }
                    continue;
                }
                NodeKind::Variable | NodeKind::Bare | NodeKind::Template
                    if !self.in_slots.is_empty() && index != base =>
                {
                    if let Some(slot) = self.slot_of(index) {
                        self.read_slot(slot, reads, Use::WHOLE);
                        index = tree.after_value(index);
                        continue;
                    }
                    if node.kind != NodeKind::Template {
                        self.read_name(node, reads);
                    }
                }
                NodeKind::Variable | NodeKind::Bare => self.read_name(node, reads),
                _ => {}
            }
            index += 1;
        }
    }

    fn read_slot(&mut self, slot: u32, reads: u32, whole: u32) {
        let read = offset(self.program.reads.len()) - reads;
        self.program.reads.push(Read::Slot(slot));
        self.program.uses.push(Use(read | whole));
    }

    #[inline]
    fn read_name(&mut self, node: &Node, reads: u32) {
        let name = self.intern_variable(node.span());
        let step = offset(self.program.steps.len());
        let Some(state) = self.states.get_mut(name as usize) else {
            return;
        };
        let assigned = state.is_assigned;
        if state.step != step {
            state.step = step;
            state.read = offset(self.program.reads.len()) - reads;
            self.program.reads.push(Read::Name(name));
        }
        self.program.uses.push(Use(state.read));
        let span = node.span();
        let read = NameRead {
            name,
            span,
            assigned,
        };
        if node.kind == NodeKind::Bare {
            self.program.bare_names.push(read);
        } else if !assigned {
            self.program.free_variables.push(read);
        }
    }
}

/// Forget the parts that belong to a later part, which begins at `node`.
fn drop_inner(pending: &mut Vec<u32>, node: u32) {
    while pending.last().is_some_and(|inner| *inner > node) {
        pending.pop();
    }
}
