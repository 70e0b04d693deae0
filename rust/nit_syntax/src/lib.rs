//! The syntax of NIT: text to a tree and diagnostics, a token stream to text and blocks.
//!
//! Pure: no I/O, no globals, no Python. Nothing here panics, whatever the input.

pub mod ast;
mod chars;
pub mod diagnostic;
mod envelope;
pub mod equality;
pub mod format;
pub mod grammar;
mod legacy;
pub mod lexer;
pub mod literal;
pub mod lower;
mod mistakes;
mod names;
pub mod parser;
pub mod program;
pub mod quote;
pub mod render;
pub mod span;
pub mod stream_filter;
pub mod token;

pub use chars::is_identifier;
pub use mistakes::lone_surrogate;
pub use parser::{Legacy, Limits, Options, Parsed, parse};
