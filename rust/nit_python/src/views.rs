//! Readable views of a script, built on demand: `Statement`, `Reference`, `Template`, and the raw
//! literal.

use nit_syntax::ast::{NodeKind, flag};
use nit_syntax::literal;
use nit_syntax::program::{argument_name, tool_name};
use nit_syntax::quote::quote;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PySlice, PyString, PyTuple};

use crate::place::PySpan;
use crate::script::Script;
use crate::values::Builder;

/// How many views may stand inside each other.
const DEEPEST_VIEW: u32 = 120;

/// A number or boolean literal with its source text; only in raw values.
#[pyclass(frozen, module = "nit_kernel._syntax")]
pub struct LiteralValue {
    #[pyo3(get)]
    text: String,
    #[pyo3(get)]
    value: Py<PyAny>,
}

impl LiteralValue {
    pub fn new(text: String, value: Py<PyAny>) -> Self {
        Self { text, value }
    }
}

#[pymethods]
impl LiteralValue {
    fn __eq__(&self, other: &Self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.text == other.text && self.value.bind(py).eq(&other.value)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.value.bind(py).hash()
    }

    fn __repr__(&self) -> String {
        format!("LiteralValue({:?})", self.text)
    }
}

/// A variable with a path.
#[pyclass(frozen, module = "nit_kernel._syntax")]
pub struct Reference {
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    path: Py<PyTuple>,
    text: String,
}

#[pymethods]
impl Reference {
    fn __eq__(&self, other: &Self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.name == other.name && self.path.bind(py).as_any().eq(&other.path)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.name).hash()
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Reference({:?})", self.text)
    }
}

/// An f-string: texts and references.
#[pyclass(frozen, module = "nit_kernel._syntax")]
pub struct Template {
    #[pyo3(get)]
    parts: Py<PyTuple>,
    /// Conversion and format spec of each part.
    formats: Vec<String>,
}

#[pymethods]
impl Template {
    fn __eq__(&self, other: &Self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.formats == other.formats && self.parts.bind(py).as_any().eq(&other.parts)?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Template{}", self.parts.bind(py).repr()?))
    }
}

/// A readable view of one statement or nested call.
#[pyclass(frozen, module = "nit_kernel._syntax")]
pub struct Statement {
    #[pyo3(get)]
    target: Option<String>,
    #[pyo3(get)]
    tool: Option<String>,
    #[pyo3(get)]
    arguments: Py<PyDict>,
    #[pyo3(get)]
    path: Py<PyTuple>,
    #[pyo3(get)]
    value: Py<PyAny>,
    #[pyo3(get)]
    is_async: bool,
    #[pyo3(get)]
    span: Py<PySpan>,
    #[pyo3(get)]
    depends_on: Py<PyFrozenSet>,
    exact: bool,
}

#[pymethods]
impl Statement {
    fn __richcmp__(&self, other: &Self, op: CompareOp, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let is_equal = || -> PyResult<bool> {
            Ok(self.target == other.target
                && self.tool == other.tool
                && self.exact == other.exact
                && self.is_async == other.is_async
                && self.arguments.bind(py).as_any().eq(&other.arguments)?
                && self.path.bind(py).as_any().eq(&other.path)?
                && self.value.bind(py).eq(&other.value)?)
        };
        let result = match op {
            CompareOp::Eq => is_equal()?,
            CompareOp::Ne => !is_equal()?,
            _ => return Ok(py.NotImplemented()),
        };
        Ok(result.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let target = self.target.as_ref();
        let target = target.map(|name| format!("${name} = ")).unwrap_or_default();
        let word = if self.is_async { "async " } else { "" };
        let what = match &self.tool {
            Some(tool) => format!("{tool}{}", self.arguments.bind(py).repr()?),
            None => self.value.bind(py).repr()?.to_string(),
        };
        Ok(format!("<Statement {target}{word}{what}>"))
    }
}

impl Statement {
    /// The view of a statement.
    pub fn of<'py>(
        builder: &mut Builder<'_, 'py>,
        script: &Script,
        index: usize,
    ) -> PyResult<Option<Bound<'py, Self>>> {
        let (tree, source) = (builder.tree, builder.source);
        let Some(statement) = tree.statements().get(index) else {
            return Ok(None);
        };
        let target = tree.target(statement);
        let target = target.map(|span| literal::variable_name(span.text(source)).into_owned());
        let root = tree.root(statement);
        let mut view = Self::at(builder, root)?;
        view.target = target;
        view.is_async = statement.is_async;
        view.span = Py::new(builder.py, script.place(builder.py, statement.span))?;
        Bound::new(builder.py, view).map(Some)
    }

    fn at(builder: &mut Builder<'_, '_>, root: u32) -> PyResult<Self> {
        let (py, tree, source) = (builder.py, builder.tree, builder.source);
        let node = tree.node(root);
        let is_call = node.kind == NodeKind::Call;
        let arguments = PyDict::new(py);
        let value = if is_call {
            builder.argument_views(root, &arguments)?;
            py.None()
        } else {
            builder.value(root)?.unbind()
        };
        let end = tree.after_value(root);
        let is_name = |kind| matches!(kind, NodeKind::Variable | NodeKind::Bare);
        let names = (root..end)
            .map(|at| tree.node(at))
            .filter(|node| is_name(node.kind))
            .map(|node| literal::variable_name(node.span().text(source)));
        let path = match tree.path(root) {
            Some(path) if is_call => builder.path_view(path)?,
            _ => PyTuple::empty(py),
        };
        Ok(Self {
            target: None,
            tool: is_call.then(|| tool_name(source, tree.node(root + 1)).into_owned()),
            arguments: arguments.unbind(),
            path: path.unbind(),
            value,
            is_async: false,
            span: Py::new(py, builder.place(root))?,
            depends_on: PyFrozenSet::new(py, names.collect::<Vec<_>>())?.unbind(),
            exact: is_call && node.has(flag::EXACT),
        })
    }
}

impl<'py> Builder<'_, 'py> {
    /// A reference or a nested call as a view.
    pub fn view(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        if self.depth >= DEEPEST_VIEW {
            return Err(PyRecursionError::new_err(
                "the script is nested too deeply to be shown",
            ));
        }
        self.depth += 1;
        let view = self.view_inside(index);
        self.depth -= 1;
        view
    }

    fn view_inside(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        let node = self.tree.node(index);
        if node.kind == NodeKind::Call {
            let view = Statement::at(self, index)?;
            return Ok(Bound::new(self.py, view)?.into_any());
        }
        let path = match self.tree.path(index) {
            Some(path) => self.path_view(path)?,
            None => PyTuple::empty(self.py),
        };
        let reference = Reference {
            name: literal::variable_name(node.span().text(self.source)).into_owned(),
            path: path.unbind(),
            text: self.reference_text(index),
        };
        Ok(Bound::new(self.py, reference)?.into_any())
    }

    fn argument_views(&mut self, call: u32, arguments: &Bound<'py, PyDict>) -> PyResult<()> {
        let end = self.tree.node(call).next;
        let mut index = call + 2;
        let mut position = 0_usize;
        while index < end {
            let node = self.tree.node(index);
            match node.kind {
                NodeKind::Argument | NodeKind::QuotedArgument => {
                    index += 1;
                    let value = self.value(index)?;
                    arguments.set_item(argument_name(self.source, node), value)?;
                }
                _ => arguments.set_item(position, self.value(index)?)?,
            }
            position += 1;
            index = self.tree.after_value(index);
        }
        Ok(())
    }

    fn path_view(&mut self, path: u32) -> PyResult<Bound<'py, PyTuple>> {
        let end = self.tree.node(path).next;
        let mut steps = Vec::new();
        let mut step = path + 1;
        while step < end {
            let node = self.tree.node(step);
            steps.push(match node.kind {
                NodeKind::Field => {
                    let name = literal::normalize(node.span().text(self.source));
                    PyString::intern(self.py, &name).into_any()
                }
                NodeKind::Slice => self.slice_view(step)?,
                _ => self.value(step + 1)?,
            });
            step = node.next;
        }
        PyTuple::new(self.py, steps)
    }

    fn slice_view(&mut self, step: u32) -> PyResult<Bound<'py, PyAny>> {
        let node = self.tree.node(step);
        let mut ends = [
            self.py.None().into_bound(self.py),
            self.py.None().into_bound(self.py),
        ];
        let mut at = step + 1;
        for (end, bit) in ends.iter_mut().zip([flag::LOW, flag::HIGH]) {
            if node.has(bit) {
                *end = self.value(at)?;
                at = self.tree.after_value(at);
            }
        }
        let [low, high] = ends;
        self.py.get_type::<PySlice>().call1((low, high))
    }

    pub fn template_view(&mut self, index: u32) -> PyResult<Bound<'py, PyAny>> {
        let mut parts: Vec<Bound<'py, PyAny>> = Vec::new();
        let mut formats = Vec::new();
        let mut text = String::new();
        let end = self.tree.node(index).next;
        let mut at = index;
        while at < end {
            let node = self.tree.node(at);
            match node.kind {
                NodeKind::Interpolation => {
                    if !text.is_empty() {
                        parts.push(PyString::new(self.py, &std::mem::take(&mut text)).into_any());
                        formats.push(String::new());
                    }
                    parts.push(self.view(at + 1)?);
                    let conversion = crate::templates::conversion(node).unwrap_or_default();
                    let spec = self.spec(at, node).unwrap_or_default();
                    formats.push(format!("{conversion}:{spec}"));
                    at = node.next;
                    continue;
                }
                NodeKind::String => {
                    text += &literal::string_text(self.source, node.span(), node.flags);
                }
                NodeKind::Text => {
                    text += &literal::piece_text(node.span().text(self.source), node.flags);
                }
                _ => {}
            }
            at += 1;
        }
        if parts.is_empty() {
            return Ok(PyString::new(self.py, &text).into_any());
        }
        if !text.is_empty() {
            parts.push(PyString::new(self.py, &text).into_any());
            formats.push(String::new());
        }
        let template = Template {
            parts: PyTuple::new(self.py, parts)?.unbind(),
            formats,
        };
        Ok(Bound::new(self.py, template)?.into_any())
    }

    /// `$name.field[0]["key"][:5]`
    fn reference_text(&self, index: u32) -> String {
        let node = self.tree.node(index);
        let name = literal::variable_name(node.span().text(self.source));
        let mut text = format!("${name}");
        let Some(path) = self.tree.path(index) else {
            return text;
        };
        let end = self.tree.node(path).next;
        let mut step = path + 1;
        while step < end {
            let node = self.tree.node(step);
            match node.kind {
                NodeKind::Field => {
                    text.push('.');
                    text += &literal::normalize(node.span().text(self.source));
                }
                NodeKind::Slice => {
                    let mut at = step + 1;
                    text.push('[');
                    if node.has(flag::LOW) {
                        text += &self.index_text(at);
                        at = self.tree.after_value(at);
                    }
                    text.push(':');
                    if node.has(flag::HIGH) {
                        text += &self.index_text(at);
                    }
                    text.push(']');
                }
                _ => {
                    text = format!("{text}[{}]", self.index_text(step + 1));
                }
            }
            step = node.next;
        }
        text
    }

    fn index_text(&self, index: u32) -> String {
        let node = self.tree.node(index);
        match node.kind {
            NodeKind::Variable | NodeKind::Bare => self.reference_text(index),
            NodeKind::String => quote(&literal::string_text(self.source, node.span(), node.flags)),
            _ => self.tree.value_span(index).text(self.source).to_owned(),
        }
    }
}
