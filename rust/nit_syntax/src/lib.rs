//! NIT syntax.
pub mod stream_filter;
