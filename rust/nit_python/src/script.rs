//! `Script` and `parse`.

use std::sync::{Arc, OnceLock};

use nit_syntax::ast::{NodeKind, Tree};
use nit_syntax::diagnostic::{Diagnostic, Severity};
use nit_syntax::equality::{Sourced, are_equal};
use nit_syntax::lower::lower;
use nit_syntax::program::{self, NameRead, Program, Read, Step, Target};
use nit_syntax::span::Span;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::diagnostic::PyDiagnostic;
use crate::place::PySpan;
use crate::shape::Shape;
use crate::source::Source;
use crate::values::{Builder, Run, Values};
use crate::views::Statement;

/// The kind of a step that is a call.
pub const CALL: u8 = 0;
/// The kind of a step that is a value.
pub const VALUE: u8 = 1;

/// A parsed script.
#[pyclass(frozen, module = "nit_kernel._syntax")]
pub struct Script {
    source: Arc<Source>,
    tree: Tree,
    findings: Vec<Diagnostic>,
    value_bytes: usize,
    program: OnceLock<Program>,
    /// The names of the program as Python has them, each made when it is first asked for.
    names: OnceLock<Vec<PyOnceLock<Py<PyString>>>>,
    diagnostics: PyOnceLock<Py<PyTuple>>,
    statements: PyOnceLock<Py<PyTuple>>,
    shapes: PyOnceLock<Py<PyTuple>>,
}

type Row<'py, T> = PyResult<(u32, T, Bound<'py, PyAny>, Bound<'py, PyAny>, u32, u32)>;

impl Script {
    /// A parsed source, of which nothing has been asked yet.
    pub fn new(source: Source, tree: Tree, findings: Vec<Diagnostic>, value_bytes: usize) -> Self {
        Self {
            source: Arc::new(source),
            tree,
            findings,
            value_bytes,
            program: OnceLock::new(),
            names: OnceLock::new(),
            diagnostics: PyOnceLock::new(),
            statements: PyOnceLock::new(),
            shapes: PyOnceLock::new(),
        }
    }

    fn text<'a>(&'a self, py: Python<'a>) -> &'a str {
        self.source.text(py)
    }

    /// A place of the source for Python.
    pub fn place(&self, py: Python<'_>, span: Span) -> PySpan {
        PySpan::of(py, span, &self.source)
    }

    fn program(&self, py: Python<'_>) -> &Program {
        self.program
            .get_or_init(|| lower(self.text(py), &self.tree))
    }

    fn name<'a, 'py>(&'a self, py: Python<'py>, number: u32) -> &'a Bound<'py, PyString> {
        let names = self.names.get_or_init(|| {
            let count = self.program(py).names.len();
            (0..count).map(|_| PyOnceLock::new()).collect()
        });
        let make = || {
            let text = self.program(py).names.get(number as usize);
            PyString::intern(py, text.map_or("", |text| text)).unbind()
        };
        if let Some(name) = names.get(number as usize) {
            name.get_or_init(py, make).bind(py)
        } else {
            pyo3::intern!(py, "")
        }
    }

    fn find_step<'a>(&'a self, py: Python<'a>, index: usize) -> PyResult<&'a Step> {
        let step = self.program(py).steps.get(index);
        step.ok_or_else(|| PyIndexError::new_err("no such step"))
    }

    fn find_call<'a>(&'a self, py: Python<'a>, index: usize) -> PyResult<&'a Step> {
        let step = self.find_step(py, index)?;
        if step.shape.is_none() {
            return Err(PyValueError::new_err("the step is no call"));
        }
        Ok(step)
    }

    fn builder<'a, 'py>(&'a self, py: Python<'py>, run: Option<Run<'a, 'py>>) -> Builder<'a, 'py>
    where
        'py: 'a,
    {
        Builder {
            py,
            source: self.text(py),
            tree: &self.tree,
            places: &self.source,
            raw: false,
            depth: 0,
            run,
        }
    }

    fn run<'a, 'py>(
        &'a self,
        py: Python<'py>,
        step: &Step,
        values: &'a Bound<'py, PyAny>,
        host: &'a Bound<'py, PyAny>,
    ) -> Run<'a, 'py>
    where
        'py: 'a,
    {
        let uses = &self.program(py).uses;
        Run {
            values: Values::new(values),
            uses: uses
                .get(step.first_use as usize..)
                .unwrap_or_default()
                .iter(),
            host,
            value_bytes: self.value_bytes,
        }
    }

    /// The first node of each argument's value, with the node of its name.
    fn arguments_of(&self, call: u32) -> impl Iterator<Item = (Option<u32>, u32)> {
        let end = self.tree.node(call).next;
        let mut index = call + 2;
        std::iter::from_fn(move || {
            if index >= end {
                return None;
            }
            let kind = self.tree.node(index).kind;
            let has_name = matches!(kind, NodeKind::Argument | NodeKind::QuotedArgument);
            let name = has_name.then_some(index);
            let value = index + u32::from(has_name);
            index = self.tree.after_value(value);
            Some((name, value))
        })
    }
}

#[pymethods]
impl Script {
    #[getter]
    fn source(&self, py: Python<'_>) -> Py<PyString> {
        self.source.given.clone_ref(py)
    }

    #[getter]
    fn diagnostics(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let make = || {
            let findings = self.findings.iter().cloned();
            let objects = findings.map(|finding| PyDiagnostic::new(finding, self.source.clone()));
            let objects: PyResult<Vec<_>> = objects.map(|object| Bound::new(py, object)).collect();
            PyTuple::new(py, objects?).map(Bound::unbind)
        };
        Ok(self.diagnostics.get_or_try_init(py, make)?.clone_ref(py))
    }

    #[getter]
    fn ok(&self) -> bool {
        !self.findings.iter().any(Diagnostic::is_error)
    }

    #[getter]
    fn statements(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let make = || {
            let mut builder = self.builder(py, None);
            let mut views = Vec::with_capacity(self.tree.statements().len());
            for index in 0..self.tree.statements().len() {
                views.extend(Statement::of(&mut builder, self, index)?);
            }
            PyTuple::new(py, views).map(Bound::unbind)
        };
        Ok(self.statements.get_or_try_init(py, make)?.clone_ref(py))
    }

    #[getter]
    fn statement_count(&self) -> usize {
        self.tree.statements().len()
    }

    #[getter]
    fn step_count(&self, py: Python<'_>) -> usize {
        self.program(py).steps.len()
    }

    #[getter]
    fn slot_count(&self, py: Python<'_>) -> u32 {
        self.program(py).slot_count
    }

    #[getter]
    fn shapes(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let make = || {
            let program = self.program(py);
            let shapes: PyResult<Vec<_>> = program
                .shapes
                .iter()
                .map(|shape| Bound::new(py, Shape::of(shape, &program.names)))
                .collect();
            PyTuple::new(py, shapes?).map(Bound::unbind)
        };
        Ok(self.shapes.get_or_try_init(py, make)?.clone_ref(py))
    }

    #[getter]
    fn free_variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let row = |read: &NameRead| {
            (
                self.name(py, read.name).clone(),
                read.span.start,
                read.span.end,
            )
        };
        let rows: Vec<_> = self.program(py).free_variables.iter().map(row).collect();
        PyTuple::new(py, rows)
    }

    #[getter]
    fn bare_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let row = |read: &NameRead| {
            let name = self.name(py, read.name).clone();
            (name, read.span.start, read.span.end, read.assigned)
        };
        let rows: Vec<_> = self.program(py).bare_names.iter().map(row).collect();
        PyTuple::new(py, rows)
    }

    #[getter]
    fn dollar_strings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let found = program::dollar_strings(self.text(py), &self.tree);
        let rows: Vec<_> = found
            .iter()
            .map(|(name, span)| (name.as_ref(), span.start, span.end))
            .collect();
        PyTuple::new(py, rows)
    }

    #[pyo3(signature = (index, /))]
    fn statement<'py>(&self, py: Python<'py>, index: usize) -> Row<'py, u32> {
        let program = self.program(py);
        let first = program.first_steps.get(index).copied();
        let end = program.first_steps.get(index + 1).copied();
        match (self.tree.statements().get(index), first, end) {
            (Some(statement), Some(first), Some(end)) => {
                let target = program.targets.get(index).copied().flatten();
                let target = match target {
                    Some(name) => self.name(py, name).clone().into_any(),
                    None => py.None().into_bound(py),
                };
                let is_async = statement.is_async.into_pyobject(py)?.to_owned().into_any();
                let span = statement.span;
                Ok((first, end, target, is_async, span.start, span.end))
            }
            _ => Err(PyIndexError::new_err("no such statement")),
        }
    }

    #[pyo3(signature = (index, /))]
    fn step<'py>(&self, py: Python<'py>, index: usize) -> Row<'py, i64> {
        let step = self.find_step(py, index)?;
        let (kind, shape) = match step.shape {
            Some(shape) => (CALL, i64::from(shape)),
            None => (VALUE, -1),
        };
        let target = match step.target {
            Target::None => py.None().into_bound(py),
            Target::Name(name) => self.name(py, name).clone().into_any(),
            Target::Slot(slot) => slot.into_pyobject(py)?.into_any(),
        };
        let (start, end) = step.reads;
        let reads = self.program(py).reads.get(start as usize..end as usize);
        let reads: Vec<_> = reads
            .unwrap_or_default()
            .iter()
            .map(|read| match read {
                Read::Name(name) => Ok(self.name(py, *name).clone().into_any()),
                Read::Slot(slot) => slot.into_pyobject(py).map(Bound::into_any),
            })
            .collect::<Result<_, _>>()?;
        let reads = PyTuple::new(py, reads)?.into_any();
        let span = step.span;
        Ok((u32::from(kind), shape, target, reads, span.start, span.end))
    }

    #[pyo3(signature = (step, /))]
    fn argument_spans<'py>(&self, py: Python<'py>, step: usize) -> PyResult<Bound<'py, PyTuple>> {
        let call = self.find_call(py, step)?.node;
        let row = |(name, value): (Option<u32>, u32)| {
            let value = self.tree.value_span(value);
            let name = name.map_or(Span::at(value.start), |name| self.tree.node(name).span());
            (name.start, name.end, value.start, value.end)
        };
        PyTuple::new(py, self.arguments_of(call).map(row).collect::<Vec<_>>())
    }

    #[pyo3(signature = (step, /))]
    fn tool_span(&self, py: Python<'_>, step: usize) -> PyResult<(u32, u32)> {
        let call = self.find_call(py, step)?.node;
        let span = self.tree.node(call + 1).span();
        Ok((span.start, span.end))
    }

    #[pyo3(signature = (step, names, values, host, raw = false, /))]
    fn arguments<'py>(
        &self,
        step: usize,
        names: &Bound<'py, PyTuple>,
        values: &Bound<'py, PyAny>,
        host: &Bound<'py, PyAny>,
        raw: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = names.py();
        let step = self.find_call(py, step)?;
        let mut builder = self.builder(py, Some(self.run(py, step, values, host)));
        builder.raw = raw;
        let arguments = PyDict::new(py);
        let mut count = 0;
        for (_, value) in self.arguments_of(step.node) {
            let name = names.get_borrowed_item(count)?;
            let value = builder.value(value)?;
            if !name.is_none() {
                arguments.set_item(name, value)?;
            }
            count += 1;
        }
        if count != names.len() {
            return Err(PyValueError::new_err("one name for each argument, please"));
        }
        Ok(arguments)
    }

    #[pyo3(signature = (step, values, host, /))]
    fn value<'py>(
        &self,
        step: usize,
        values: &Bound<'py, PyAny>,
        host: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = values.py();
        let step = self.find_step(py, step)?;
        if step.shape.is_some() {
            return Err(PyValueError::new_err("the step is a call"));
        }
        self.builder(py, Some(self.run(py, step, values, host)))
            .value(step.node)
    }

    #[pyo3(signature = (step, /))]
    fn literal_arguments<'py>(
        &self,
        py: Python<'py>,
        step: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let step = self.find_call(py, step)?;
        let mut builder = self.builder(py, None);
        builder.raw = true;
        let is_open = |kind| matches!(kind, NodeKind::Variable | NodeKind::Bare | NodeKind::Call);
        let mut rows = Vec::new();
        for (index, (_, value)) in self.arguments_of(step.node).enumerate() {
            let end = self.tree.after_value(value);
            if !(value..end).any(|at| is_open(self.tree.node(at).kind)) {
                rows.push((index, builder.value(value)?));
            }
        }
        PyTuple::new(py, rows)
    }

    #[pyo3(signature = (start, end, /))]
    fn span(&self, py: Python<'_>, start: u32, end: u32) -> PySpan {
        self.place(py, Span::new(start, end))
    }

    #[pyo3(signature = (code, message, start, end, *, severity = "error", hint = None, labels = vec![]))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a diagnostic")]
    fn diagnostic(
        &self,
        code: String,
        message: String,
        start: u32,
        end: u32,
        severity: &str,
        hint: Option<String>,
        labels: Vec<(u32, u32, String)>,
    ) -> PyResult<PyDiagnostic> {
        let severity = match severity {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => {
                return Err(PyValueError::new_err(
                    "severity is \"error\" or \"warning\"",
                ));
            }
        };
        let labels = labels.into_iter();
        let finding = Diagnostic {
            code: code.into(),
            severity,
            message,
            span: Span::new(start, end),
            hint,
            labels: labels
                .map(|(start, end, text)| (Span::new(start, end), text))
                .collect(),
        };
        Ok(PyDiagnostic::new(finding, self.source.clone()))
    }

    fn __eq__(&self, other: &Self, py: Python<'_>) -> bool {
        let left = Sourced {
            source: self.text(py),
            tree: &self.tree,
        };
        let right = Sourced {
            source: other.text(py),
            tree: &other.tree,
        };
        are_equal(left, right)
    }

    fn __len__(&self) -> usize {
        self.tree.statements().len()
    }

    fn __str__(&self, py: Python<'_>) -> Py<PyString> {
        self.source(py)
    }

    fn __repr__(&self) -> String {
        format!("<Script of {} statements>", self.tree.statements().len())
    }
}
