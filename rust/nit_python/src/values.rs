//! The values of a step: from the tree to Python objects, at the moment they are needed.
//!
//! Recursive: the parser's nesting limit bounds the depth.

use nit_syntax::ast::{Node, NodeKind, Tree, flag};
use nit_syntax::literal::{self, Integer};
use nit_syntax::lower::Use;
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PySet, PyString, PyTuple};

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

/// A value, and whether the path behind its node is in it already.
type Based<'py> = (Bound<'py, PyAny>, bool);

impl<'py> Builder<'_, 'py> {
    /// The value at a node, its path included.
    #[inline]
    pub fn value(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        let node = self.tree.node(index);
        let py = self.py;
        let text = || node.span().text(self.source);
        Ok(match node.kind {
            NodeKind::String => {
                let text = literal::string_text(self.source, node.span(), node.flags);
                PyString::new(py, &text).into_any()
            }
            NodeKind::RawText | NodeKind::Text => {
                PyString::new(py, &literal::piece_text(text(), node.flags)).into_any()
            }
            NodeKind::Int => self.literal(text(), integer(py, text())?)?,
            NodeKind::Float => {
                self.literal(text(), PyFloat::new(py, literal::float(text())).into_any())?
            }
            NodeKind::True | NodeKind::False => {
                let value = (node.kind == NodeKind::True).into_pyobject(py)?;
                self.literal(text(), value.to_owned().into_any())?
            }
            NodeKind::Variable | NodeKind::Bare | NodeKind::Call => self.reference(index)?,
            NodeKind::List => self.list(index)?,
            NodeKind::Dict => self.dict(index)?,
            NodeKind::Group => return self.value(index + 1),
            NodeKind::Template | NodeKind::Concat => self.template(index)?,
            _ => py.None().into_bound(py),
        })
    }

    fn literal(&self, text: &str, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !self.raw {
            return Ok(value);
        }
        let raw = LiteralValue::new(literal::number_text(text).into_owned(), value.unbind());
        Ok(Bound::new(self.py, raw)?.into_any())
    }

    fn list(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        let end = self.tree.node(index).next;
        let list = PyList::empty(self.py);
        let mut item = index + 1;
        while item < end {
            list.append(self.value(item)?)?;
            item = self.tree.after_value(item);
        }
        Ok(list.into_any())
    }

    fn dict(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        let end = self.tree.node(index).next;
        let dict = PyDict::new(self.py);
        let mut seen: Option<Bound<'py, PySet>> = None;
        let mut key_at = index + 1;
        while key_at < end {
            let node = self.tree.node(key_at);
            let key = self.key(key_at, node)?;
            let value_at = self.tree.after_value(key_at);
            if node.kind == NodeKind::Variable && seen.is_none() {
                let texts = PySet::empty(self.py)?;
                for earlier in dict.keys() {
                    texts.add(earlier.str()?)?;
                }
                seen = Some(texts);
            }
            if let Some(seen) = &seen {
                let text = key.str()?;
                if dict.contains(&key)? || seen.contains(&text)? {
                    return Err(self.duplicate_key(&key, key_at));
                }
                seen.add(text)?;
            }
            let value = self.value(value_at)?;
            dict.set_item(key, value)?;
            key_at = self.tree.after_value(value_at);
        }
        Ok(dict.into_any())
    }

    /// A key is never raw.
    fn key(&mut self, index: u32, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match node.kind {
            NodeKind::Key => {
                let name = literal::normalize(node.span().text(self.source));
                return Ok(PyString::new(py, &name).into_any());
            }
            NodeKind::Variable => {}
            _ => {
                let raw = std::mem::replace(&mut self.raw, false);
                let key = self.value(index);
                self.raw = raw;
                return key;
            }
        }
        let value = self.reference(index)?;
        let Some(run) = &self.run else {
            return Ok(value);
        };
        let span = self.tree.value_span(index);
        run.host
            .call_method1(intern!(py, "key"), (value, span.start, span.end))
    }

    fn duplicate_key(&self, key: &Bound<'py, PyAny>, index: u32) -> PyErr {
        let span = self.tree.value_span(index);
        let name = intern!(self.py, "duplicate_key");
        let Some(run) = &self.run else {
            return PyRuntimeError::new_err("equal keys in a dict");
        };
        match run.host.call_method1(name, (key, span.start, span.end)) {
            Ok(_) => PyRuntimeError::new_err("duplicate_key returned"),
            Err(error) => error,
        }
    }

    /// A variable, a bare name, or a nested call, with its path.
    #[inline]
    fn reference(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        if self.run.is_none() {
            return self.view(index);
        }
        let (value, is_whole) = self.next_use()?;
        match self.tree.path(index) {
            Some(path) if !is_whole => self.path(value, path),
            _ => Ok(value),
        }
    }

    fn next_use(&mut self) -> PyResult<Based<'py>> {
        let outside = || PyIndexError::new_err("more reads than the step has");
        let run = self.run.as_mut().ok_or_else(outside)?;
        let found = *run.uses.next().ok_or_else(outside)?;
        Ok((run.values.get(found.index())?, found.is_whole()))
    }

    fn path(&mut self, base: Bound<'py, PyAny>, path: u32) -> PyResult<Bound<'py, PyAny>> {
        let end = self.tree.node(path).next;
        let mut value = base;
        let mut step = path + 1;
        while step < end {
            let node = self.tree.node(step);
            let (kind, key) = self.path_step(step, node)?;
            let Some(run) = &self.run else {
                break;
            };
            let arguments = (value, kind, key, node.start, node.end);
            value = run
                .host
                .call_method1(intern!(self.py, "access"), arguments)?;
            step = node.next;
        }
        Ok(value)
    }

    /// What stands in one step of a path: 0 and a name, 1 and an index, 2 and two ends.
    pub fn path_step(&mut self, step: u32, node: &Node) -> PyResult<(u8, Bound<'py, PyAny>)> {
        let py = self.py;
        Ok(match node.kind {
            NodeKind::Field => {
                let name = literal::normalize(node.span().text(self.source));
                (0, PyString::intern(py, &name).into_any())
            }
            NodeKind::Slice => {
                let mut ends = [py.None().into_bound(py), py.None().into_bound(py)];
                let mut at = step + 1;
                for (end, has) in ends.iter_mut().zip([flag::LOW, flag::HIGH]) {
                    if node.has(has) {
                        *end = self.plain_value(at)?;
                        at = self.tree.after_value(at);
                    }
                }
                (2, PyTuple::new(py, ends)?.into_any())
            }
            _ => (1, self.plain_value(step + 1)?),
        })
    }

    /// A value in which literals are not raw.
    fn plain_value(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        let raw = std::mem::replace(&mut self.raw, false);
        let value = self.value(index);
        self.raw = raw;
        value
    }

    /// An f-string, or strings that stand next to each other.
    fn template(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        if self.run.is_none() {
            return self.template_view(index);
        }
        if self.is_whole_template(index) {
            return Ok(self.next_use()?.0);
        }
        let node = self.tree.node(index);
        let mut parts = Vec::new();
        self.template_parts(index, &mut parts)?;
        self.join(&parts, node)
    }

    /// Whether a step of its own has made the text already.
    fn is_whole_template(&self, index: u32) -> bool {
        let node = self.tree.node(index);
        let has_reference =
            (index + 1..node.next).any(|at| self.tree.node(at).kind == NodeKind::Interpolation);
        let next = self
            .run
            .as_ref()
            .and_then(|run| run.uses.as_slice().first());
        node.kind == NodeKind::Template
            && has_reference
            && next.is_some_and(|found| found.is_whole())
    }

    fn template_parts(
        &mut self,
        index: u32,
        parts: &mut Vec<Bound<'py, PyString>>,
    ) -> PyResult<()> {
        let end = self.tree.node(index).next;
        let mut at = index + 1;
        while at < end {
            let node = self.tree.node(at);
            let part = match node.kind {
                NodeKind::Interpolation => self.interpolation(at, node)?,
                _ => self.value(at)?,
            };
            parts.push(part.cast_into::<PyString>()?);
            at = node.next;
        }
        Ok(())
    }

    fn interpolation(&mut self, index: u32, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let value = self.reference(index + 1)?;
        let conversion = conversion(node);
        let spec = self.spec(index, node);
        let Some(run) = &self.run else {
            return Ok(value);
        };
        let arguments = (value, conversion, spec, node.start, node.end);
        run.host.call_method1(intern!(self.py, "text"), arguments)
    }

    /// The place of a value.
    pub fn place(&self, index: u32) -> PySpan {
        PySpan::of(self.py, self.tree.value_span(index), self.places)
    }

    /// The format spec of an interpolation.
    pub fn spec(&self, index: u32, node: &Node) -> Option<&str> {
        let spec = self.tree.node(self.tree.after_value(index + 1));
        node.has(flag::SPEC).then(|| spec.span().text(self.source))
    }

    /// The parts as one text, within the limit.
    fn join(&self, parts: &[Bound<'py, PyString>], node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let limit = self.run.as_ref().map_or(usize::MAX, |run| run.value_bytes);
        let mut characters = 0_usize;
        for part in parts {
            characters = characters.saturating_add(part.len()?);
        }
        // A character has at most four bytes: only near the limit they must be counted.
        if characters > limit / 4 {
            let mut bytes = 0_usize;
            for part in parts {
                bytes = bytes.saturating_add(byte_length(part)?);
            }
            if bytes > limit {
                return Err(self.too_large(limit, node));
            }
        }
        let parts = PyList::new(py, parts)?;
        PyString::new(py, "").call_method1(intern!(py, "join"), (parts,))
    }

    fn too_large(&self, limit: usize, node: &Node) -> PyErr {
        let Some(run) = &self.run else {
            return PyRuntimeError::new_err("a text is too large");
        };
        let arguments = (limit, "bytes", node.start, node.end);
        match run
            .host
            .call_method1(intern!(self.py, "too_large"), arguments)
        {
            Ok(_) => PyRuntimeError::new_err("too_large returned"),
            Err(error) => error,
        }
    }
}

/// Bytes of a text in UTF-8.
fn byte_length(text: &Bound<'_, PyString>) -> PyResult<usize> {
    match text.to_str() {
        Ok(utf8) => Ok(utf8.len()),
        Err(_) => text
            .call_method1(intern!(text.py(), "encode"), ("utf-8", "surrogatepass"))?
            .len(),
    }
}

/// `r`, `s` or nothing.
pub fn conversion(node: &Node) -> Option<&'static str> {
    if node.has(flag::REPR) {
        Some("r")
    } else if node.has(flag::STR) {
        Some("s")
    } else {
        None
    }
}

/// So many digits of any radix fit into 64 bits.
const CHUNK: usize = 15;

/// An integer of any size, whatever limit Python sets on the digits that it reads.
pub fn integer<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let (negative, radix, digits) = match literal::integer(text) {
        Integer::Small(value) => return Ok(value.into_pyobject(py)?.into_any()),
        Integer::Large {
            negative,
            radix,
            digits,
        } => (negative, radix, digits),
    };
    let mut value = 0_i64.into_pyobject(py)?.into_any();
    for chunk in digits.as_bytes().chunks(CHUNK) {
        let mut part = 0_u64;
        let mut scale = 1_u64;
        for digit in chunk {
            let digit = char::from(*digit).to_digit(radix).unwrap_or_default();
            part = part * u64::from(radix) + u64::from(digit);
            scale *= u64::from(radix);
        }
        value = value.mul(scale)?.add(part)?;
    }
    if negative {
        value = value.neg()?;
    }
    Ok(value.cast_into::<PyInt>()?.into_any())
}
