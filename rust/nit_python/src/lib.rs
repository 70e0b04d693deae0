//! The `nit_kernel._syntax` extension module.
use pyo3::prelude::*;

mod diagnostic;
mod format;
mod grammar;
mod numbers;
mod parse;
mod place;
mod script;
mod shape;
mod source;
mod stream_filter;
mod templates;
mod values;
mod views;

/// The Rust side of NIT.
#[pymodule]
fn _syntax(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_scripts(module)?;
    format::register(module)?;
    grammar::register(module)?;
    stream_filter::register(module)
}

/// Add what belongs to scripts.
fn register_scripts(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("CALL", script::CALL)?;
    module.add("VALUE", script::VALUE)?;
    module.add_class::<script::Script>()?;
    module.add_class::<shape::Shape>()?;
    module.add_class::<diagnostic::PyDiagnostic>()?;
    module.add_class::<place::PySpan>()?;
    module.add_class::<views::Statement>()?;
    module.add_class::<views::Reference>()?;
    module.add_class::<views::Template>()?;
    module.add_class::<views::LiteralValue>()?;
    module.add_function(wrap_pyfunction!(parse::parse, module)?)
}
