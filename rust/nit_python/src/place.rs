//! `Span`.

use nit_syntax::span::Span;
use pyo3::prelude::*;

use crate::source::Source;

/// A half-open range of a source text.
#[pyclass(
    name = "Span",
    frozen,
    eq,
    hash,
    get_all,
    module = "nit_kernel._syntax"
)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PySpan {
    start: u32,
    end: u32,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

impl PySpan {
    pub fn of(py: Python<'_>, span: Span, source: &Source) -> Self {
        let text = source.text(py);
        let from = source.lines(py).position(text, span.start);
        let to = source.lines(py).position(text, span.end);
        Self {
            start: span.start,
            end: span.end,
            line: from.line,
            column: from.column,
            end_line: to.line,
            end_column: to.column,
        }
    }
}

#[pymethods]
impl PySpan {
    #[new]
    fn new(start: u32, end: u32, line: u32, column: u32, end_line: u32, end_column: u32) -> Self {
        Self {
            start,
            end,
            line,
            column,
            end_line,
            end_column,
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "Span(start={}, end={}, line={}, column={}, end_line={}, end_column={})",
            self.start, self.end, self.line, self.column, self.end_line, self.end_column
        )
    }
}
