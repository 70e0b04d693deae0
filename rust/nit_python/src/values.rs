//! The values of a step: from the tree to Python objects, at the moment they are needed.

use nit_syntax::ast::{Node, NodeKind, Tree, flag};
use nit_syntax::literal;
use nit_syntax::program::Use;
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PySet, PyString, PyTuple};

use crate::numbers::integer;
use crate::place::PySpan;
use crate::source::Source;
use crate::views::LiteralValue;

/// Builds the values of one step.
pub struct Builder<'a, 'py> {
    pub py: Python<'py>,
    pub source: &'a str,
    pub tree: &'a Tree,
    pub places: &'a Source,
    /// Whether number and boolean literals come with their text.
    pub raw: bool,
    /// How many views are being built inside each other.
    pub depth: u32,
    pub run: Option<Run<'a, 'py>>,
}

/// What a run adds to the tree.
pub struct Run<'a, 'py> {
    /// What the reads of the step are now.
    pub values: Values<'a, 'py>,
    /// Which read each use is; taken one by one in the order of the text.
    pub uses: std::slice::Iter<'a, Use>,
    pub host: &'a Bound<'py, PyAny>,
    /// Most bytes of a text that is made.
    pub value_bytes: usize,
}

/// A sequence of Python's.
pub enum Values<'a, 'py> {
    Tuple(&'a Bound<'py, PyTuple>),
    List(&'a Bound<'py, PyList>),
    Sequence(&'a Bound<'py, PyAny>),
}

impl<'a, 'py> Values<'a, 'py> {
    pub fn new(values: &'a Bound<'py, PyAny>) -> Self {
        if let Ok(list) = values.cast_exact::<PyList>() {
            Self::List(list)
        } else if let Ok(tuple) = values.cast_exact::<PyTuple>() {
            Self::Tuple(tuple)
        } else {
            Self::Sequence(values)
        }
    }

    fn get(&self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Tuple(values) => values.get_item(index as usize),
            Self::List(values) => values.get_item(index as usize),
            Self::Sequence(values) => values.get_item(index),
        }
    }
}

/// An unfinished value.
enum Frame<'py> {
    List {
        items: Bound<'py, PyList>,
        end: u32,
    },
    Dict {
        items: Bound<'py, PyDict>,
        end: u32,
        key: Option<Bound<'py, PyAny>>,
        key_at: u32,
        /// The texts of the keys, once a variable is among them.
        seen: Option<Bound<'py, PySet>>,
    },
    /// A reference or call with its path, which is applied up to `step`.
    Path {
        value: Bound<'py, PyAny>,
        step: u32,
        end: u32,
        /// The lower end of the slice whose upper end comes.
        low: Option<Bound<'py, PyAny>>,
    },
}

/// What the innermost frame does with a value.
enum Given<'py> {
    /// It wants another one: the node at this index.
    More(u32),
    /// It is finished: its own value, and the node behind it.
    Done(Bound<'py, PyAny>, u32),
}

impl<'py> Builder<'_, 'py> {
    /// The value at a node, its path included. A loop: depth does not matter.
    #[inline]
    pub fn value(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        match self.leaf(index, self.raw)? {
            Some(value) => Ok(value),
            None => self.compound(index),
        }
    }

    /// A value that has no parts.
    #[inline]
    fn leaf(&mut self, index: u32, raw: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
        let node = self.tree.node(index);
        let py = self.py;
        let text = node.span().text(self.source);
        let number = match node.kind {
            NodeKind::String => {
                let text = literal::string_text(self.source, node.span(), node.flags);
                return Ok(Some(PyString::new(py, &text).into_any()));
            }
            NodeKind::RawText | NodeKind::Text => {
                let text = literal::piece_text(text, node.flags);
                return Ok(Some(PyString::new(py, &text).into_any()));
            }
            NodeKind::Key => {
                let name = literal::normalize(text);
                return Ok(Some(PyString::new(py, &name).into_any()));
            }
            NodeKind::Null => return Ok(Some(py.None().into_bound(py))),
            NodeKind::Template | NodeKind::Concat => return self.template(index).map(Some),
            NodeKind::Variable | NodeKind::Bare | NodeKind::Call => {
                if self.run.is_none() {
                    return self.view(index).map(Some);
                }
                if self.tree.path(index).is_some() {
                    return Ok(None);
                }
                return self.next_use().map(|(value, _)| Some(value));
            }
            NodeKind::Int => integer(py, text)?,
            NodeKind::Float => PyFloat::new(py, literal::float(text)).into_any(),
            NodeKind::True | NodeKind::False => {
                let value = (node.kind == NodeKind::True).into_pyobject(py)?;
                value.to_owned().into_any()
            }
            _ => return Ok(None),
        };
        if !raw {
            return Ok(Some(number));
        }
        let raw = LiteralValue::new(literal::number_text(text).into_owned(), number.unbind());
        Ok(Some(Bound::new(py, raw)?.into_any()))
    }

    fn compound(&mut self, start: u32) -> PyResult<Bound<'py, PyAny>> {
        let mut frames: Vec<Frame<'py>> = Vec::new();
        let mut paths = 0_usize;
        let mut index = start;
        loop {
            // Literals in paths and keys are what they are.
            let in_key = matches!(frames.last(), Some(Frame::Dict { key: None, .. }));
            let raw = self.raw && paths == 0 && !in_key;
            let mut given = match self.leaf(index, raw)? {
                Some(value) => Given::Done(value, self.tree.after_value(index)),
                None => self.open(index, &mut frames, &mut paths)?,
            };
            loop {
                match given {
                    Given::More(next) => {
                        index = next;
                        break;
                    }
                    Given::Done(value, next) => match frames.pop() {
                        None => return Ok(value),
                        Some(frame) => {
                            paths -= usize::from(matches!(frame, Frame::Path { .. }));
                            given = self.give(frame, value, next, &mut frames)?;
                            let kept = matches!(given, Given::More(_));
                            let is_path = matches!(frames.last(), Some(Frame::Path { .. }));
                            paths += usize::from(kept && is_path);
                        }
                    },
                }
            }
        }
    }

    /// Begin a list, a dict, a value in brackets or a reference with a path.
    fn open(
        &mut self,
        index: u32,
        frames: &mut Vec<Frame<'py>>,
        paths: &mut usize,
    ) -> PyResult<Given<'py>> {
        let (py, node) = (self.py, self.tree.node(index));
        let end = node.next;
        match node.kind {
            NodeKind::List | NodeKind::Dict if index + 1 == end => {
                let empty = match node.kind {
                    NodeKind::List => PyList::empty(py).into_any(),
                    _ => PyDict::new(py).into_any(),
                };
                Ok(Given::Done(empty, end))
            }
            NodeKind::List => {
                let items = PyList::empty(py);
                frames.push(Frame::List { items, end });
                Ok(Given::More(index + 1))
            }
            NodeKind::Dict => {
                frames.push(Frame::Dict {
                    items: PyDict::new(py),
                    end,
                    key: None,
                    key_at: index + 1,
                    seen: None,
                });
                Ok(Given::More(index + 1))
            }
            NodeKind::Variable | NodeKind::Bare | NodeKind::Call => {
                let (value, is_whole) = self.next_use()?;
                if is_whole {
                    return Ok(Given::Done(value, self.tree.after_value(index)));
                }
                // The path node is the one behind the reference or call.
                let end = self.tree.node(node.next).next;
                let given = self.walk_path(value, node.next + 1, end, frames)?;
                *paths += usize::from(matches!(given, Given::More(_)));
                Ok(given)
            }
            // A value in brackets is just the value.
            _ => Ok(Given::More(index + 1)),
        }
    }

    /// Give a value to the frame that waits for it; `next` is the node behind the value.
    fn give(
        &mut self,
        frame: Frame<'py>,
        value: Bound<'py, PyAny>,
        next: u32,
        frames: &mut Vec<Frame<'py>>,
    ) -> PyResult<Given<'py>> {
        match frame {
            Frame::List { items, end } => {
                items.append(value)?;
                if next >= end {
                    return Ok(Given::Done(items.into_any(), end));
                }
                frames.push(Frame::List { items, end });
                Ok(Given::More(next))
            }
            Frame::Dict {
                items,
                end,
                key: None,
                key_at,
                mut seen,
            } => {
                let key = self.key(key_at, value, &items, &mut seen)?;
                frames.push(Frame::Dict {
                    items,
                    end,
                    key: Some(key),
                    key_at,
                    seen,
                });
                Ok(Given::More(next))
            }
            Frame::Dict {
                items,
                end,
                key: Some(key),
                seen,
                ..
            } => {
                items.set_item(key, value)?;
                if next >= end {
                    return Ok(Given::Done(items.into_any(), end));
                }
                frames.push(Frame::Dict {
                    items,
                    end,
                    key: None,
                    key_at: next,
                    seen,
                });
                Ok(Given::More(next))
            }
            Frame::Path {
                value: base,
                step,
                end,
                low,
            } => {
                let node = self.tree.node(step);
                let (kind, key) = match (node.kind, low) {
                    (NodeKind::Index, _) => (1, value),
                    (_, Some(low)) => (2, self.slice(low, value)?),
                    _ if !node.has(flag::HIGH) => (2, self.slice(value, self.null())?),
                    _ => {
                        frames.push(Frame::Path {
                            value: base,
                            step,
                            end,
                            low: Some(value),
                        });
                        return Ok(Given::More(next));
                    }
                };
                let value = self.access(base, kind, key, node)?;
                self.walk_path(value, node.next, end, frames)
            }
        }
    }

    /// Apply a path from one of its steps on, up to a step that needs a value.
    fn walk_path(
        &mut self,
        mut value: Bound<'py, PyAny>,
        mut step: u32,
        end: u32,
        frames: &mut Vec<Frame<'py>>,
    ) -> PyResult<Given<'py>> {
        while step < end {
            let node = self.tree.node(step);
            let (kind, key) = match node.kind {
                NodeKind::Field => {
                    let name = literal::normalize(node.span().text(self.source));
                    (0, PyString::intern(self.py, &name).into_any())
                }
                NodeKind::Slice if !node.has(flag::LOW | flag::HIGH) => {
                    (2, self.slice(self.null(), self.null())?)
                }
                _ => {
                    let has_low = node.kind == NodeKind::Index || node.has(flag::LOW);
                    let low = (!has_low).then(|| self.null());
                    frames.push(Frame::Path {
                        value,
                        step,
                        end,
                        low,
                    });
                    return Ok(Given::More(step + 1));
                }
            };
            value = self.access(value, kind, key, node)?;
            step = node.next;
        }
        Ok(Given::Done(value, end))
    }

    fn null(&self) -> Bound<'py, PyAny> {
        self.py.None().into_bound(self.py)
    }

    fn slice(
        &self,
        low: Bound<'py, PyAny>,
        high: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyTuple::new(self.py, [low, high])?.into_any())
    }

    /// One step of a path: kind 0 is `.key`, 1 `[key]`, 2 `[low:high]`.
    fn access(
        &self,
        value: Bound<'py, PyAny>,
        kind: u8,
        key: Bound<'py, PyAny>,
        node: &Node,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(run) = &self.run else {
            return Ok(value);
        };
        let arguments = (value, kind, key, node.start, node.end);
        run.host.call_method1(intern!(self.py, "access"), arguments)
    }

    /// The key of a dict, checked against the earlier ones where only the run can do that.
    fn key(
        &self,
        index: u32,
        value: Bound<'py, PyAny>,
        items: &Bound<'py, PyDict>,
        seen: &mut Option<Bound<'py, PySet>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(run) = &self.run else {
            return Ok(value);
        };
        let is_variable = self.tree.node(index).kind == NodeKind::Variable;
        if !is_variable && seen.is_none() {
            return Ok(value);
        }
        let (py, span) = (self.py, self.tree.value_span(index));
        let place = (span.start, span.end);
        let key = if is_variable {
            run.host
                .call_method1(intern!(py, "key"), (value, place.0, place.1))?
        } else {
            value
        };
        if seen.is_none() {
            let texts = PySet::empty(py)?;
            for earlier in items.keys() {
                texts.add(earlier.str()?)?;
            }
            *seen = Some(texts);
        }
        let text = key.str()?;
        let was_seen = match seen {
            Some(seen) => seen.contains(&text)?,
            None => false,
        };
        if was_seen || items.contains(&key)? {
            let name = intern!(py, "duplicate_key");
            run.host.call_method1(name, (key, place.0, place.1))?;
            return Err(PyRuntimeError::new_err("`duplicate_key` returned"));
        }
        if let Some(seen) = seen {
            seen.add(text)?;
        }
        Ok(key)
    }

    /// What the next use stands for, and whether the path of its node is in it already.
    pub fn next_use(&mut self) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let outside = || PyIndexError::new_err("more reads than the step has");
        let run = self.run.as_mut().ok_or_else(outside)?;
        let found = *run.uses.next().ok_or_else(outside)?;
        Ok((run.values.get(found.index())?, found.is_whole()))
    }

    /// The place of a value.
    pub fn place(&self, index: u32) -> PySpan {
        PySpan::of(self.py, self.tree.value_span(index), self.places)
    }
}
