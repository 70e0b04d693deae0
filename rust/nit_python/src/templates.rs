//! F-strings, and strings that stand next to each other.

use nit_syntax::ast::{Node, NodeKind, flag};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::values::Builder;

impl<'py> Builder<'_, 'py> {
    /// An f-string, or strings that stand next to each other.
    pub fn template(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
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
        let run = self.run.as_ref();
        let next = run.and_then(|run| run.uses.as_slice().first());
        next.is_some_and(|found| found.is_whole())
            && self.tree.node(index).kind == NodeKind::Template
            && self.tree.has_reference(index)
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
        let value = self.value(index + 1)?;
        let conversion = conversion(node);
        let spec = self.spec(index, node);
        let Some(run) = &self.run else {
            return Ok(value);
        };
        let arguments = (value, conversion, spec, node.start, node.end);
        run.host.call_method1(intern!(self.py, "text"), arguments)
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
                if let Some(run) = &self.run {
                    let arguments = (limit, "bytes", node.start, node.end);
                    run.host.call_method1(intern!(py, "too_large"), arguments)?;
                }
                return Err(PyRuntimeError::new_err("`too_large` returned"));
            }
        }
        let parts = PyList::new(py, parts)?;
        PyString::new(py, "").call_method1(intern!(py, "join"), (parts,))
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
