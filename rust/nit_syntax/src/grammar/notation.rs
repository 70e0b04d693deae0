//! A grammar as a value, and the two notations in which servers take one.
//!
//! Both are written from the same rules. They differ in their names and in what is a token: GBNF
//! knows characters alone; what Lark names in capitals becomes one regular expression.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The notation of a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarFormat {
    /// llama.cpp's.
    Gbnf,
    /// Lark as llguidance reads it.
    Lark,
}

/// The right side of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// Exactly this text.
    Text(String),
    /// One character of a class, in the notation that regular expressions and GBNF share.
    Class(&'static str),
    /// What another rule says.
    Rule(String),
    All(Vec<Node>),
    Any(Vec<Node>),
    Repeat(Box<Node>, u32, Option<u32>),
}

impl Node {
    pub(super) fn optional(self) -> Self {
        self.repeat(0, Some(1))
    }

    pub(super) fn many(self) -> Self {
        self.repeat(0, None)
    }

    pub(super) fn repeat(self, least: u32, most: Option<u32>) -> Self {
        Self::Repeat(Box::new(self), least, most)
    }
}

pub(super) fn text(text: impl Into<String>) -> Node {
    Node::Text(text.into())
}

pub(super) fn rule(name: impl Into<String>) -> Node {
    Node::Rule(name.into())
}

pub(super) fn all<const N: usize>(parts: [Node; N]) -> Node {
    Node::All(parts.into())
}

pub(super) fn any<const N: usize>(choices: [Node; N]) -> Node {
    Node::Any(choices.into())
}

#[derive(Debug)]
struct Rule {
    name: String,
    node: Node,
    is_token: bool,
}

/// Rules in the order in which they are written. Names are lower-case words joined by `_`; the
/// first rule is the whole.
#[derive(Debug, Default)]
pub(super) struct Grammar {
    rules: Vec<Rule>,
}

impl Grammar {
    pub(super) fn rule(&mut self, name: impl Into<String>, node: Node) {
        self.rules.push(Rule {
            name: name.into(),
            node,
            is_token: false,
        });
    }

    /// Adds a rule that reads characters and refers to other tokens only.
    pub(super) fn token(&mut self, name: &str, node: Node) {
        self.rules.push(Rule {
            name: name.to_owned(),
            node,
            is_token: true,
        });
    }

    /// Writes the rules that the first one leads to.
    pub(super) fn write(&self, format: GrammarFormat) -> String {
        let rules: HashMap<&str, &Rule> = self
            .rules
            .iter()
            .map(|rule| (rule.name.as_str(), rule))
            .collect();
        let mut used: HashSet<&str> = HashSet::new();
        let mut waiting: Vec<&str> = self
            .rules
            .first()
            .map(|rule| &*rule.name)
            .into_iter()
            .collect();
        while let Some(name) = waiting.pop() {
            if !used.insert(name) {
                continue;
            }
            if let Some(rule) = rules.get(name) {
                references(&rule.node, &mut waiting);
            }
        }
        let mut out = String::new();
        let writer = Writer {
            format,
            rules: &rules,
        };
        for (index, rule) in self.rules.iter().enumerate() {
            if !used.contains(&*rule.name) {
                continue;
            }
            let name = if index == 0 {
                writer.first_name()
            } else {
                &writer.name(rule)
            };
            out.push_str(name);
            out.push_str(match format {
                GrammarFormat::Gbnf => " ::= ",
                GrammarFormat::Lark => ": ",
            });
            writer.body(&rule.node, true, &mut out);
            out.push('\n');
        }
        out
    }
}

fn references<'a>(node: &'a Node, found: &mut Vec<&'a str>) {
    match node {
        Node::Text(_) | Node::Class(_) => {}
        Node::Rule(name) => found.push(name),
        Node::All(nodes) | Node::Any(nodes) => {
            for node in nodes {
                references(node, found);
            }
        }
        Node::Repeat(node, ..) => references(node, found),
    }
}

struct Writer<'a> {
    format: GrammarFormat,
    rules: &'a HashMap<&'a str, &'a Rule>,
}

impl Writer<'_> {
    fn first_name(&self) -> &'static str {
        match self.format {
            GrammarFormat::Gbnf => "root",
            GrammarFormat::Lark => "start",
        }
    }

    fn name(&self, rule: &Rule) -> String {
        match self.format {
            GrammarFormat::Gbnf => rule.name.replace('_', "-"),
            GrammarFormat::Lark if rule.is_token => rule.name.to_uppercase(),
            GrammarFormat::Lark => rule.name.clone(),
        }
    }

    fn body(&self, node: &Node, is_outermost: bool, out: &mut String) {
        match node {
            Node::Text(text) => quote(text, out),
            Node::Class(class) => {
                let _ = match self.format {
                    GrammarFormat::Gbnf => write!(out, "[{class}]"),
                    GrammarFormat::Lark => write!(out, "/[{class}]/"),
                };
            }
            Node::Rule(name) => {
                if let Some(rule) = self.rules.get(name.as_str()) {
                    out.push_str(&self.name(rule));
                }
            }
            Node::All(nodes) => self.grouped(nodes, " ", is_outermost, out),
            Node::Any(nodes) => self.grouped(nodes, " | ", is_outermost, out),
            Node::Repeat(node, least, most) => {
                self.body(node, false, out);
                repetition(*least, *most, out);
            }
        }
    }

    fn grouped(&self, nodes: &[Node], joint: &str, is_outermost: bool, out: &mut String) {
        if !is_outermost {
            out.push('(');
        }
        for (index, node) in nodes.iter().enumerate() {
            if index > 0 {
                out.push_str(joint);
            }
            // a sequence needs no brackets among choices
            let is_bare = joint == " | " && matches!(node, Node::All(_));
            self.body(node, is_bare, out);
        }
        if !is_outermost {
            out.push(')');
        }
    }
}

fn repetition(least: u32, most: Option<u32>, out: &mut String) {
    let _ = match (least, most) {
        (0, Some(1)) => write!(out, "?"),
        (0, None) => write!(out, "*"),
        (1, None) => write!(out, "+"),
        (least, None) => write!(out, "{{{least},}}"),
        (least, Some(most)) if least == most => write!(out, "{{{most}}}"),
        (least, Some(most)) => write!(out, "{{{least},{most}}}"),
    };
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    out.push('"');
}
