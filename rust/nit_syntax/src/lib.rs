//! NIT syntax.
pub mod grammar;
pub mod stream_filter;
