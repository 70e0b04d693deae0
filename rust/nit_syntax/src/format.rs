//! The canonical layout of a script.
//!
//! What is printed depends on the tree and the comments alone, never on the layout of the source;
//! so a formatted script stays as it is. One statement a line; a bracket whose line would pass
//! [`WIDTH`] columns gets one item a line and a comma after each. Strings and numbers keep their
//! spelling, since a parameter may want the source text. What the parser accepts with a warning is
//! written the right way.

mod comments;
mod layout;

use crate::ast::{NodeKind, Statement, Tree, flag};
use crate::diagnostic::{Diagnostic, Findings};
use crate::envelope;
use crate::parser::{Options, parse};
use crate::span::Span;

use comments::{Comment, Comments};
use layout::{Printer, with_line_feeds};

/// Columns of a line.
pub const WIDTH: usize = 100;

/// How to format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatOptions {
    /// The limits of the parser.
    pub options: Options,
    /// Whether NIT 1.0 blocks become calls of NIT 2.
    pub upgrade: bool,
}

/// The script in its canonical layout, or `None` where it has errors; and what was found.
pub fn format(source: &str, options: &FormatOptions) -> (Option<String>, Vec<Diagnostic>) {
    let parsed = parse(source, &options.options);
    let text = parsed
        .is_ok()
        .then(|| write(source, &parsed.tree, options.upgrade));
    (text, parsed.diagnostics)
}

fn write(source: &str, tree: &Tree, upgrade: bool) -> String {
    let body = envelope::strip(source, &mut Findings::default());
    let mut printer = Printer::new(source, tree);
    let mut end = body.start;
    for (index, statement) in tree.statements().iter().enumerate() {
        let lines = write_gap(&mut printer, Span::new(end, statement.span.start));
        if lines > 1 {
            printer.empty_line();
        }
        let nodes = (statement.first, tree.statement_end(index));
        write_statement(&mut printer, tree, statement, nodes, upgrade);
        end = statement.span.end;
    }
    write_gap(&mut printer, Span::new(end, body.end));
    printer.finish()
}

/// Prints the comments between two statements; returns how many line breaks come after the last
/// of them.
fn write_gap(printer: &mut Printer<'_>, gap: Span) -> usize {
    let (comments, lines) = comments::of_gap(printer.source(), gap);
    for Comment { text, lines, .. } in comments {
        if lines == 0 && !printer.is_empty() {
            printer.trail(text);
            continue;
        }
        if lines > 1 {
            printer.empty_line();
        }
        printer.line(0, text);
    }
    lines
}

fn write_statement(
    printer: &mut Printer<'_>,
    tree: &Tree,
    statement: &Statement,
    nodes: (u32, u32),
    upgrade: bool,
) {
    let root = tree.root(statement);
    if tree.node(root).kind == NodeKind::Call && tree.node(root).has(flag::LEGACY) {
        if upgrade {
            printer.begin_line(0);
            printer.upgraded_call(root);
        } else {
            let block = statement.span.text(printer.source());
            printer.line(0, &with_line_feeds(block));
        }
        return;
    }
    printer.set_comments(Comments::of_statement(printer.source(), statement.span));
    for comment in printer.loose_comments(nodes, statement.span) {
        printer.line(0, comment.text);
    }
    printer.begin_line(0);
    if let Some(target) = tree.target(statement) {
        printer.variable(target);
        printer.push(" = ");
    }
    if statement.is_async {
        printer.push("async ");
    }
    printer.value(root, 0, 0);
}
