//! The grammar of a reply that a server can hold a model to while it samples: prose, and at most
//! one block that calls the given tools with their own parameters.
//!
//! Arguments may come in any order, and the same one twice: to forbid that would take a rule for
//! every subset. What needs more than a grammar (equal keys of a dict, unknown variables, missing
//! arguments, bounds) is left to the parser and to the check before running.
//!
//! Source: `spec/model.md` 5.

mod language;
mod notation;

use language::listed;
use notation::{Grammar, Node, all, any, rule, text};

pub use notation::GrammarFormat;

use crate::quote::quote_with;
use crate::stream_filter::{InvalidTagName, check_id};

/// How many characters of prose may come before something else must.
const PROSE_CHARS: u32 = 600;

/// One kind of value that a parameter takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ValueRule {
    /// Any value.
    Any,
    /// Text; a number or boolean is also text in its source spelling.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`.
    Null,
    /// A list of such items.
    Array(Vec<ValueRule>),
    /// A dict.
    Object,
    /// Exactly this text.
    Text(String),
    /// Exactly this number or constant, as it is written in the language.
    Constant(String),
}

/// One parameter of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterRule {
    /// Its name as written in a script.
    pub name: String,
    /// What it takes; nothing stands for any value.
    pub values: Vec<ValueRule>,
}

/// One tool that a block may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRule {
    /// Its name as written in a script.
    pub name: String,
    /// Its exact name, where it is called through the built-in that takes that.
    pub exact: Option<String>,
    /// Its parameters.
    pub parameters: Vec<ParameterRule>,
    /// Whether it takes arguments that it does not declare.
    pub is_open: bool,
}

/// Writes the grammar of a reply whose block carries `id` and calls `tools` only.
pub fn grammar(
    tools: &[ToolRule],
    id: &str,
    format: GrammarFormat,
) -> Result<String, InvalidTagName> {
    check_id(id)?;
    let mut grammar = Grammar::default();
    language::rules(&mut grammar, id);
    let mut values = Values::default();
    let mut calls = Vec::with_capacity(tools.len());
    for (index, tool) in tools.iter().enumerate() {
        let name = format!("call_{index}");
        let argument = argument_of(tool, &mut values).map(|argument| {
            let name = format!("argument_{index}");
            grammar.rule(&*name, argument);
            rule(name)
        });
        grammar.rule(&*name, call_of(tool, argument));
        calls.push(rule(name));
    }
    let mut readings = vec![all([rule("variable"), rule("path")])];
    let mut actions = vec![rule("value")];
    if !calls.is_empty() {
        grammar.rule("call", Node::Any(calls));
        readings.push(all([rule("call"), rule("path")]));
        actions.push(all([text("async"), rule("blank"), rule("call")]));
    }
    grammar.rule("reading", Node::Any(readings));
    grammar.rule("action", Node::Any(actions));
    for (name, node) in values.rules {
        grammar.rule(name, node);
    }
    language::tokens(&mut grammar, PROSE_CHARS);
    Ok(grammar.write(format))
}

fn argument_of(tool: &ToolRule, values: &mut Values) -> Option<Node> {
    let mut groups: Vec<(Node, Vec<Node>)> = Vec::new();
    for parameter in &tool.parameters {
        let value = values.rule_of(&parameter.values);
        let name = text(&*parameter.name);
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, names)) => names.push(name),
            None => groups.push((value, vec![name])),
        }
    }
    if tool.is_open {
        groups.push((rule("value"), vec![rule("word")]));
    }
    let space = || rule("space").optional();
    let arguments: Vec<Node> = groups
        .into_iter()
        .map(|(value, names)| all([one_of(names), space(), text("="), space(), value]))
        .collect();
    if arguments.is_empty() {
        None
    } else {
        Some(one_of(arguments))
    }
}

fn call_of(tool: &ToolRule, argument: Option<Node>) -> Node {
    let space = || rule("space").optional();
    let name = text(&*tool.name);
    match (&tool.exact, argument) {
        (None, None) => all([name, text("("), space(), text(")")]),
        (None, Some(argument)) => all([name, listed("(", &argument, ")")]),
        (Some(exact), argument) => {
            let exact = any([text(quote_with(exact, '"')), text(quote_with(exact, '\''))]);
            let mut parts = vec![name, text("("), space(), exact];
            parts.extend(
                argument.map(|argument| all([space(), text(","), space(), argument]).many()),
            );
            parts.extend([space(), text(")")]);
            Node::All(parts)
        }
    }
}

fn one_of(mut choices: Vec<Node>) -> Node {
    if choices.len() == 1 {
        choices.remove(0)
    } else {
        Node::Any(choices)
    }
}

/// The rules of values that parameters share.
#[derive(Debug, Default)]
struct Values {
    known: Vec<(Vec<ValueRule>, String)>,
    rules: Vec<(String, Node)>,
}

impl Values {
    /// The rule for a value of any of these kinds.
    fn rule_of(&mut self, kinds: &[ValueRule]) -> Node {
        if kinds.is_empty() || kinds.contains(&ValueRule::Any) {
            return rule("value");
        }
        if let Some((_, name)) = self.known.iter().find(|(known, _)| known == kinds) {
            return rule(&**name);
        }
        let name = format!("value_{}", self.known.len());
        self.known.push((kinds.to_vec(), name.clone()));
        let mut choices: Vec<Node> = Vec::new();
        for kind in kinds {
            for choice in self.spellings(kind) {
                if !choices.contains(&choice) {
                    choices.push(choice);
                }
            }
        }
        choices.push(rule("reading"));
        self.rules.push((name.clone(), Node::Any(choices)));
        rule(name)
    }

    /// How a value of a kind is written, coercion that loses nothing included.
    fn spellings(&mut self, kind: &ValueRule) -> Vec<Node> {
        match kind {
            ValueRule::Any => vec![rule("value")],
            ValueRule::String => ["string", "template", "number", "boolean"].map(rule).into(),
            ValueRule::Integer => vec![rule("integer")],
            ValueRule::Number => vec![rule("number")],
            ValueRule::Boolean => vec![rule("boolean")],
            ValueRule::Null => vec![rule("null")],
            ValueRule::Object => vec![rule("dict")],
            ValueRule::Array(items) => {
                let item = self.rule_of(items);
                if item == rule("value") {
                    return vec![rule("list")];
                }
                let name = format!("list_of_{}", self.rules.len());
                self.rules.push((name.clone(), listed("[", &item, "]")));
                vec![rule(name)]
            }
            ValueRule::Text(value) => {
                vec![text(quote_with(value, '"')), text(quote_with(value, '\''))]
            }
            ValueRule::Constant(value) => match value.as_str() {
                "true" => vec![any(["true", "True"].map(text))],
                "false" => vec![any(["false", "False"].map(text))],
                "null" => vec![rule("null")],
                value => vec![text(value)],
            },
        }
    }
}
