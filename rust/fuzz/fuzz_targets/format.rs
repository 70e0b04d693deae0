//! A good script in its canonical layout says the same, keeps its comments, and stays; and a
//! stream filter cuts it out of a reply as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nit_fuzz::{WORDS, check_filter, check_format, check_script, text};
use nit_syntax::parser::Options;

fuzz_target!(|input: &[u8]| {
    let source = text(input, &WORDS);
    let parsed = check_script(&source, &Options::default());
    check_format(&source, &parsed, false);
    check_filter(&source, &parsed);
});
