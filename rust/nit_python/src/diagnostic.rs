//! `Diagnostic`.

use std::sync::Arc;

use nit_syntax::diagnostic::Diagnostic;
use nit_syntax::render;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::place::PySpan;
use crate::source::Source;

/// One finding about a script: a stable code, its place, what was expected, what to do.
#[pyclass(name = "Diagnostic", frozen, module = "nit_kernel._syntax")]
pub struct PyDiagnostic {
    finding: Diagnostic,
    source: Arc<Source>,
}

impl PyDiagnostic {
    pub fn new(finding: Diagnostic, source: Arc<Source>) -> Self {
        Self { finding, source }
    }
}

#[pymethods]
impl PyDiagnostic {
    #[getter]
    fn code(&self) -> &str {
        &self.finding.code
    }

    #[getter]
    fn severity(&self) -> &'static str {
        self.finding.severity.as_str()
    }

    #[getter]
    fn message(&self) -> &str {
        &self.finding.message
    }

    #[getter]
    fn span(&self, py: Python<'_>) -> PySpan {
        PySpan::of(py, self.finding.span, &self.source)
    }

    #[getter]
    fn hint(&self) -> Option<&str> {
        self.finding.hint.as_deref()
    }

    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let labels = self.finding.labels.iter();
        let labels: Vec<_> = labels
            .map(|(span, text)| (PySpan::of(py, *span, &self.source), text.as_str()))
            .collect();
        PyTuple::new(py, labels)
    }

    #[getter]
    fn source_line<'a>(&'a self, py: Python<'a>) -> &'a str {
        let (text, lines) = (self.source.text(py), self.source.lines(py));
        let line = lines.line(self.finding.span.start);
        lines.line_span(text, line).text(text)
    }

    #[pyo3(signature = (color = false))]
    fn render(&self, py: Python<'_>, color: bool) -> String {
        let (text, lines) = (self.source.text(py), self.source.lines(py));
        render::render(&self.finding, text, lines, color)
    }

    fn terse(&self, py: Python<'_>) -> String {
        render::terse(&self.finding, self.source.text(py), self.source.lines(py))
    }

    fn __eq__(&self, other: &Self, py: Python<'_>) -> bool {
        self.finding == other.finding && self.source.text(py) == other.source.text(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Diagnostic({:?})", self.terse(py))
    }
}
