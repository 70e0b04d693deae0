//! NIT 1.0 blocks parse among statements and alone, and become the same calls of NIT 2.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nit_fuzz::{LEGACY_WORDS, check_format, check_script, text};
use nit_syntax::parser::{Legacy, Options};

fuzz_target!(|input: &[u8]| {
    let source = text(input, &LEGACY_WORDS);
    for legacy in [Legacy::Off, Legacy::Only] {
        check_script(
            &source,
            &Options {
                legacy,
                ..Options::default()
            },
        );
    }
    let parsed = check_script(&source, &Options::default());
    check_format(&source, &parsed, false);
    check_format(&source, &parsed, true);
});
