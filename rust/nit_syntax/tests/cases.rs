//! The golden cases of `tests/cases`, which Python reads too: `*.nit` and what comes of it.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests may fail loudly"
)]

use std::fmt::Write;
use std::path::Path;

use nit_syntax::lower::lower;
use nit_syntax::program::{Program, Read, Target};
use nit_syntax::render::terse;
use nit_syntax::span::LineIndex;
use nit_syntax::{Options, parse};

/// What was found and which steps there are, as `tests/language/test_cases.py` writes it too.
fn outcome(source: &str) -> String {
    let parsed = parse(source, &Options::default());
    let lines = LineIndex::new(source);
    let mut text = String::new();
    for found in &parsed.diagnostics {
        text += &terse(found, source, &lines);
        text.push('\n');
    }
    let program = lower(source, &parsed.tree);
    for (index, statement) in parsed.tree.statements().iter().enumerate() {
        let place = lines.position(source, statement.span.start);
        let word = if statement.is_async { " async" } else { "" };
        writeln!(text, "{}:{}{word}", place.line, place.column).expect("a string");
        let first = program.first_steps[index] as usize;
        let end = program.first_steps[index + 1] as usize;
        for step in first..end {
            writeln!(text, "    {}", step_text(&program, step)).expect("a string");
        }
    }
    text
}

fn step_text(program: &Program, index: usize) -> String {
    let step = &program.steps[index];
    let name = |number: u32| format!("${}", program.names[number as usize]);
    let reads: Vec<_> = program.reads[step.reads.0 as usize..step.reads.1 as usize]
        .iter()
        .map(|read| match read {
            Read::Name(number) => name(*number),
            Read::Slot(slot) => format!("#{slot}"),
        })
        .collect();
    let what = match step.shape {
        None => "value".to_owned(),
        Some(shape) => {
            let shape = &program.shapes[shape as usize];
            let arguments: Vec<_> = shape
                .names
                .iter()
                .zip(shape.kinds.chars())
                .map(|(name, kind)| match name {
                    Some(number) => format!("{}={kind}", program.names[*number as usize]),
                    None => kind.to_string(),
                })
                .collect();
            let form = match (shape.exact, shape.legacy) {
                (true, _) => "call ",
                (_, true) => "block ",
                _ => "",
            };
            format!("{form}{}({})", shape.tool, arguments.join(", "))
        }
    };
    let target = match step.target {
        Target::None => String::new(),
        Target::Name(number) => format!(" -> {}", name(number)),
        Target::Slot(slot) => format!(" -> #{slot}"),
    };
    let reads = if reads.is_empty() {
        String::new()
    } else {
        format!(" reads {}", reads.join(" "))
    };
    format!("{what}{target}{reads}")
}

#[test]
fn every_case_comes_out_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut count = 0;
    let mut wrong = String::new();
    for entry in std::fs::read_dir(&folder).expect("the folder of the cases") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "nit") {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("UTF-8");
        let expected = std::fs::read_to_string(path.with_extension("txt")).unwrap_or_default();
        let found = outcome(&source);
        if found != expected {
            let name = path.display();
            writeln!(wrong, "{name}\n--- found\n{found}--- expected\n{expected}")
                .expect("a string");
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 10, "only {count} cases in {}", folder.display());
}
