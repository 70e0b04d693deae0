//! The `nit_kernel._syntax` extension module.
use pyo3::prelude::*;

mod grammar;
mod stream_filter;

/// The Rust side of NIT.
#[pymodule]
fn _syntax(module: &Bound<'_, PyModule>) -> PyResult<()> {
    grammar::register(module)?;
    stream_filter::register(module)
}
