//! NIT syntax.
