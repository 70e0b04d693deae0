//! Any text parses to a tree and diagnostics whose places are right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nit_fuzz::{WORDS, check_script, text};
use nit_syntax::parser::{Limits, Options};

fuzz_target!(|input: &[u8]| {
    let Some((head, rest)) = input.split_first() else {
        return;
    };
    let mut options = Options::default();
    if head & 1 == 1 {
        options.limits = Limits {
            script_bytes: 200,
            statements: 3,
            nesting: 4,
            value_bytes: 50,
            value_nodes: 10,
        };
    }
    check_script(&text(rest, &WORDS), &options);
    if head & 2 == 2 {
        check_script(&String::from_utf8_lossy(rest), &options);
    }
});
