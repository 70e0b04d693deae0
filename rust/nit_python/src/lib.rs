//! The `nit_kernel._syntax` extension module.
use pyo3::prelude::*;

mod diagnostic;
mod format;
mod grammar;
mod place;
mod script;
mod source;
mod stream_filter;
mod values;
mod views;

/// The Rust side of NIT.
#[pymodule]
fn _syntax(module: &Bound<'_, PyModule>) -> PyResult<()> {
    script::register(module)?;
    format::register(module)?;
    grammar::register(module)?;
    stream_filter::register(module)
}
