//! `format_source`, `quote` and `is_identifier`.

use std::sync::Arc;

use nit_syntax::format::{FormatOptions, format};
use nit_syntax::quote;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::diagnostic::PyDiagnostic;
use crate::source::Source;

type Formatted<'py> = (Option<String>, Bound<'py, PyTuple>);

#[pyfunction]
#[pyo3(signature = (source, *, upgrade = false))]
fn format_source<'py>(source: &Bound<'py, PyString>, upgrade: bool) -> PyResult<Formatted<'py>> {
    let py = source.py();
    let (source, half) = Source::new(source)?;
    let options = FormatOptions {
        upgrade,
        ..FormatOptions::default()
    };
    let (mut text, mut findings) = format(source.text(py), &options);
    if let Some(place) = half {
        text = None;
        findings.push(nit_syntax::lone_surrogate(place));
        findings.sort_by_key(|finding| finding.span.start);
    }
    let source = Arc::new(source);
    let diagnostics = findings
        .into_iter()
        .map(|finding| Py::new(py, PyDiagnostic::new(finding, source.clone())))
        .collect::<PyResult<Vec<_>>>()?;
    Ok((text, PyTuple::new(py, diagnostics)?))
}

/// A half of a surrogate pair, which no literal can hold, becomes U+FFFD.
#[pyfunction]
#[pyo3(name = "quote", signature = (text))]
fn quote_text(text: &Bound<'_, PyString>) -> PyResult<String> {
    let (source, _) = Source::new(text)?;
    Ok(quote::quote(source.text(text.py())))
}

/// A half of a surrogate pair is no letter.
#[pyfunction]
fn is_identifier(text: &Bound<'_, PyString>) -> PyResult<bool> {
    let (source, half) = Source::new(text)?;
    Ok(half.is_none() && nit_syntax::is_identifier(source.text(text.py())))
}

/// Adds the functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(format_source, module)?)?;
    module.add_function(wrap_pyfunction!(quote_text, module)?)?;
    module.add_function(wrap_pyfunction!(is_identifier, module)?)
}
