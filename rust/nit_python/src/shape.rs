//! `Shape`.

use nit_syntax::program;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What all calls that look alike have in common.
#[pyclass(frozen, eq, hash, module = "nit_kernel._syntax")]
#[derive(PartialEq, Eq, Hash)]
pub struct Shape {
    #[pyo3(get)]
    tool: String,
    #[pyo3(get)]
    kinds: String,
    #[pyo3(get)]
    exact: bool,
    #[pyo3(get)]
    legacy: bool,
    arguments: Vec<Option<String>>,
}

#[pymethods]
impl Shape {
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.arguments)
    }

    fn __repr__(&self) -> String {
        let (names, kinds) = (&self.arguments, &self.kinds);
        format!("Shape({:?}, {names:?}, {kinds:?})", self.tool)
    }
}

impl Shape {
    /// A shape of a program.
    pub fn of(shape: &program::Shape, names: &[Box<str>]) -> Self {
        let name = |number: u32| names.get(number as usize).map(ToString::to_string);
        Self {
            tool: shape.tool.to_string(),
            kinds: shape.kinds.clone(),
            exact: shape.exact,
            legacy: shape.legacy,
            arguments: shape
                .names
                .iter()
                .map(|number| number.and_then(name))
                .collect(),
        }
    }
}
