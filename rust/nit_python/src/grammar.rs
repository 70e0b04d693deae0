//! `grammar`.

use nit_syntax::grammar as syntax;
use nit_syntax::grammar::{GrammarFormat, ParameterRule, ToolRule, ValueRule};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

type ToolRow<'py> = (
    String,
    Option<String>,
    Vec<(String, Vec<Bound<'py, PyAny>>)>,
    bool,
);

fn value_rule(rule: &Bound<'_, PyAny>) -> PyResult<ValueRule> {
    if let Ok(kind) = rule.extract::<String>() {
        return match kind.as_str() {
            "any" => Ok(ValueRule::Any),
            "string" => Ok(ValueRule::String),
            "integer" => Ok(ValueRule::Integer),
            "number" => Ok(ValueRule::Number),
            "boolean" => Ok(ValueRule::Boolean),
            "null" => Ok(ValueRule::Null),
            "array" => Ok(ValueRule::Array(Vec::new())),
            "object" => Ok(ValueRule::Object),
            _ => Err(PyValueError::new_err(format!(
                "unknown kind of value {kind:?}"
            ))),
        };
    }
    let (kind, inside): (String, Bound<'_, PyAny>) = rule.extract()?;
    match kind.as_str() {
        "array" => Ok(ValueRule::Array(value_rules(&inside.extract::<Vec<_>>()?)?)),
        "text" => Ok(ValueRule::Text(inside.extract()?)),
        "constant" => Ok(ValueRule::Constant(inside.extract()?)),
        _ => Err(PyValueError::new_err(format!(
            "unknown kind of value {kind:?}"
        ))),
    }
}

fn value_rules(rules: &[Bound<'_, PyAny>]) -> PyResult<Vec<ValueRule>> {
    rules.iter().map(value_rule).collect()
}

fn tool_rule((name, exact, parameters, is_open): ToolRow<'_>) -> PyResult<ToolRule> {
    let parameters: PyResult<Vec<_>> = parameters
        .into_iter()
        .map(|(name, values)| {
            Ok(ParameterRule {
                name,
                values: value_rules(&values)?,
            })
        })
        .collect();
    Ok(ToolRule {
        name,
        exact,
        parameters: parameters?,
        is_open,
    })
}

#[pyfunction]
#[pyo3(signature = (tools, id, format="gbnf"))]
fn grammar(tools: Vec<ToolRow<'_>>, id: &str, format: &str) -> PyResult<String> {
    let format = match format {
        "gbnf" => GrammarFormat::Gbnf,
        "lark" => GrammarFormat::Lark,
        _ => {
            let message = format!("the format must be \"gbnf\" or \"lark\", not {format:?}");
            return Err(PyValueError::new_err(message));
        }
    };
    let tools: PyResult<Vec<_>> = tools.into_iter().map(tool_rule).collect();
    syntax::grammar(&tools?, id, format).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Adds the function of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(grammar, module)?)
}
