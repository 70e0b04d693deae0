//! The `nit_kernel._syntax` extension module.
use pyo3::prelude::*;

/// The Rust side of NIT.
#[pymodule]
fn _syntax(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
