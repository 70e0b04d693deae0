//! A source text as Python and Rust both see it.

use std::sync::OnceLock;

use nit_syntax::span::{LineIndex, Span, offset};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The text of a script. Python keeps the bytes; Rust borrows them.
pub struct Source {
    /// The text that was given.
    pub given: Py<PyString>,
    /// The same without halves of surrogate pairs, which UTF-8 has not.
    clean: Option<Py<PyString>>,
    lines: OnceLock<LineIndex>,
}

impl Source {
    /// Take a text; also the place of the first half of a surrogate pair in it.
    pub fn new(text: &Bound<'_, PyString>) -> PyResult<(Self, Option<Span>)> {
        let mut source = Self {
            given: text.clone().unbind(),
            clean: None,
            lines: OnceLock::new(),
        };
        if text.to_str().is_ok() {
            return Ok((source, None));
        }
        let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        let mut bytes = encoded.cast::<PyBytes>()?.as_bytes().to_vec();
        let mut first = None;
        let mut at = 0;
        while let Err(error) = std::str::from_utf8(bytes.get(at..).unwrap_or_default()) {
            at += error.valid_up_to();
            let Some(half) = bytes.get_mut(at..at + 3) else {
                break;
            };
            // U+FFFD has three bytes, as a half has here: offsets stay what they are.
            half.copy_from_slice("\u{FFFD}".as_bytes());
            first.get_or_insert(Span::new(offset(at), offset(at) + 3));
            at += 3;
        }
        let clean = String::from_utf8_lossy(&bytes);
        source.clean = Some(PyString::new(text.py(), &clean).unbind());
        Ok((source, first))
    }

    /// The text as UTF-8.
    pub fn text<'a>(&'a self, py: Python<'a>) -> &'a str {
        let text = self.clean.as_ref().unwrap_or(&self.given);
        text.bind(py).to_str().unwrap_or_default()
    }

    /// Where its lines begin.
    pub fn lines<'a>(&'a self, py: Python<'a>) -> &'a LineIndex {
        self.lines.get_or_init(|| LineIndex::new(self.text(py)))
    }
}
