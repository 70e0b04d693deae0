//! `parse`.

use nit_syntax::{Legacy, Limits, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::script::Script;
use crate::source::Source;

/// Longer sources are parsed without holding up Python's other threads.
const LONG_SOURCE: usize = 65_536;

/// Parse a script. Never raises for its text: what is wrong is in `diagnostics`.
#[pyfunction]
#[pyo3(signature = (source, *, script_bytes = 262_144, statements = 10_000, nesting = 100, value_bytes = 10_000_000, value_nodes = 1_000_000, legacy = "allow"))]
pub fn parse(
    source: &Bound<'_, PyString>,
    script_bytes: usize,
    statements: usize,
    nesting: usize,
    value_bytes: usize,
    value_nodes: usize,
    legacy: &str,
) -> PyResult<Script> {
    let py = source.py();
    let options = Options {
        limits: Limits {
            script_bytes,
            statements,
            nesting: u32::try_from(nesting).unwrap_or(u32::MAX),
            value_bytes,
            value_nodes,
        },
        legacy: match legacy {
            "allow" => Legacy::Allow,
            "off" => Legacy::Off,
            "only" => Legacy::Only,
            _ => {
                return Err(PyValueError::new_err(
                    "legacy is \"allow\", \"off\" or \"only\"",
                ));
            }
        },
    };
    let (source, surrogate) = Source::new(source)?;
    let text = source.text(py);
    let parsed = if text.len() > LONG_SOURCE {
        py.detach(|| nit_syntax::parse(text, &options))
    } else {
        nit_syntax::parse(text, &options)
    };
    let mut findings = parsed.diagnostics;
    if let Some(place) = surrogate {
        let at = findings.partition_point(|other| other.span.start < place.start);
        findings.insert(at, nit_syntax::lone_surrogate(place));
        findings.truncate(nit_syntax::diagnostic::MOST_DIAGNOSTICS);
    }
    Ok(Script::new(source, parsed.tree, findings, value_bytes))
}
