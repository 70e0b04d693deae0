//! `StreamFilter` and its events.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nit_syntax::stream_filter as syntax;
use nit_syntax::stream_filter::StreamEvent;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

/// Text from Python as bytes, and back; the lone half of a surrogate pair keeps its place.
fn with_bytes<R>(text: &Bound<'_, PyString>, work: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Ok(utf8) = text.to_str() {
        return Ok(work(utf8.as_bytes()));
    }
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    Ok(work(encoded.cast::<PyBytes>()?.as_bytes()))
}

fn to_string(py: Python<'_>, bytes: &[u8]) -> PyResult<Py<PyString>> {
    let text = if let Ok(utf8) = std::str::from_utf8(bytes) {
        PyString::new(py, utf8)
    } else {
        let bytes = PyBytes::new(py, bytes);
        PyString::from_encoded_object(&bytes, Some(c"utf-8"), Some(c"surrogatepass"))?
    };
    Ok(text.unbind())
}

macro_rules! text_event {
    ($(#[$doc:meta])* $name:ident, $field:ident) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "nit_kernel._syntax")]
        pub struct $name {
            #[pyo3(get)]
            $field: Py<PyString>,
        }

        impl $name {
            fn object(py: Python<'_>, $field: Py<PyString>) -> PyResult<Py<PyAny>> {
                Ok(Py::new(py, Self { $field })?.into_any())
            }
        }

        #[pymethods]
        impl $name {
            #[classattr]
            fn __match_args__() -> (&'static str,) {
                (stringify!($field),)
            }

            #[new]
            fn new($field: Py<PyString>) -> Self {
                Self { $field }
            }

            fn __eq__(&self, other: &Self, py: Python<'_>) -> PyResult<bool> {
                self.$field.bind(py).as_any().eq(&other.$field)
            }

            fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                PyTuple::new(py, [PyString::new(py, stringify!($name)).as_any(), self.$field.bind(py).as_any()])?.hash()
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                Ok(format!(concat!(stringify!($name), "({})"), self.$field.bind(py).repr()?))
            }
        }
    };
}

text_event!(
    /// Visible text of a reply.
    Text,
    text
);
text_event!(
    /// Text of a reasoning span.
    Reasoning,
    text
);
text_event!(
    /// A block has begun.
    BlockOpen,
    id
);
text_event!(
    /// A tag that looks like an opening tag but is not this turn's; it was passed on as text.
    Rejected,
    tag
);
text_event!(
    /// A block that the stream never closed; it must not run.
    Unclosed,
    script
);

/// A whole block: the script between its tags.
#[pyclass(frozen, module = "nit_kernel._syntax")]
pub struct Block {
    #[pyo3(get)]
    script: Py<PyString>,
    #[pyo3(get)]
    id: Py<PyString>,
    #[pyo3(get)]
    legacy: bool,
}

impl Block {
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (self.script.bind(py), self.id.bind(py), self.legacy).into_pyobject(py)
    }
}

#[pymethods]
impl Block {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("script", "id", "legacy")
    }

    #[new]
    #[pyo3(signature = (script, id, legacy=false))]
    fn new(script: Py<PyString>, id: Py<PyString>, legacy: bool) -> Self {
        Self { script, id, legacy }
    }

    fn __eq__(&self, other: &Self, py: Python<'_>) -> PyResult<bool> {
        self.fields(py)?.eq(other.fields(py)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.fields(py)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (script, id) = (self.script.bind(py).repr()?, self.id.bind(py).repr()?);
        let legacy = if self.legacy { ", legacy=True" } else { "" };
        Ok(format!("Block({script}, {id}{legacy})"))
    }
}

/// Splits a model's reply, in chunks of any size, into text, reasoning and blocks.
#[pyclass(frozen, module = "nit_kernel._syntax")]
pub struct StreamFilter {
    id: Py<PyString>,
    filter: Mutex<syntax::StreamFilter>,
}

impl StreamFilter {
    /// The lock is never held while Python objects are made: that may run a finaliser, and with
    /// it anything.
    fn lock(&self) -> MutexGuard<'_, syntax::StreamFilter> {
        self.filter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, py: Python<'_>, event: &StreamEvent) -> PyResult<Py<PyAny>> {
        // a NIT 1.0 block carries no id
        let id = |legacy: bool| {
            if legacy {
                PyString::intern(py, "").unbind()
            } else {
                self.id.clone_ref(py)
            }
        };
        match event {
            StreamEvent::Text(text) => Text::object(py, to_string(py, text)?),
            StreamEvent::Reasoning(text) => Reasoning::object(py, to_string(py, text)?),
            StreamEvent::BlockOpen { legacy } => BlockOpen::object(py, id(*legacy)),
            StreamEvent::Block { script, legacy } => {
                let script = to_string(py, script)?;
                Ok(Py::new(
                    py,
                    Block {
                        script,
                        id: id(*legacy),
                        legacy: *legacy,
                    },
                )?
                .into_any())
            }
            StreamEvent::Rejected(tag) => Rejected::object(py, to_string(py, tag)?),
            StreamEvent::Unclosed(script) => Unclosed::object(py, to_string(py, script)?),
        }
    }

    fn list<'py>(&self, py: Python<'py>, events: &[StreamEvent]) -> PyResult<Bound<'py, PyList>> {
        let objects: PyResult<Vec<_>> = events.iter().map(|event| self.event(py, event)).collect();
        PyList::new(py, objects?)
    }
}

#[pymethods]
impl StreamFilter {
    #[new]
    #[pyo3(
        signature = (id, legacy=false, reasoning=vec!["think".to_owned()]),
        text_signature = "(id, legacy=False, reasoning=('think',))"
    )]
    #[expect(clippy::needless_pass_by_value, reason = "what pyo3 hands over")]
    fn new(id: Bound<'_, PyString>, legacy: bool, reasoning: Vec<String>) -> PyResult<Self> {
        let names: Vec<&str> = reasoning.iter().map(String::as_str).collect();
        let filter = syntax::StreamFilter::new(&id.to_cow()?, legacy, &names)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self {
            id: id.unbind(),
            filter: Mutex::new(filter),
        })
    }

    #[pyo3(signature = (chunk, /))]
    fn feed<'py>(&self, chunk: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        let py = chunk.py();
        let mut events = Vec::new();
        let is_text = with_bytes(chunk, |bytes| {
            let mut filter = self.lock();
            let is_text = filter.pass_through(bytes);
            if !is_text {
                filter.feed(bytes, &mut events);
            }
            is_text && !bytes.is_empty()
        })?;
        if is_text {
            let text = Text {
                text: chunk.clone().unbind(),
            };
            return PyList::new(py, [Py::new(py, text)?]);
        }
        self.list(py, &events)
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut events = Vec::new();
        self.lock().finish(&mut events);
        self.list(py, &events)
    }
}

/// Adds the classes of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let kinds = [
        py.get_type::<Text>(),
        py.get_type::<Reasoning>(),
        py.get_type::<BlockOpen>(),
        py.get_type::<Block>(),
        py.get_type::<Rejected>(),
        py.get_type::<Unclosed>(),
    ];
    let mut event = py.None().into_bound(py);
    for kind in kinds {
        module.add(kind.name()?, &kind)?;
        event = if event.is_none() {
            kind.into_any()
        } else {
            event.bitor(kind)?
        };
    }
    module.add("Event", event)?;
    module.add_class::<StreamFilter>()
}
