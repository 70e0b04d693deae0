//! How to parse: limits, and what is allowed.

/// What a script may cost at most. Source: NIT 2, section 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the source.
    pub script_bytes: usize,
    /// Number of statements.
    pub statements: usize,
    /// Depth of brackets and calls.
    pub nesting: u32,
    /// Bytes of the text that one expression makes.
    pub value_bytes: usize,
    /// Values that one expression makes.
    pub value_nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            script_bytes: 262_144,
            statements: 10_000,
            nesting: 100,
            value_bytes: 10_000_000,
            value_nodes: 1_000_000,
        }
    }
}

/// Whether NIT 1.0 blocks may stand in a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Legacy {
    /// They may stand among the statements.
    #[default]
    Allow,
    /// They are errors.
    Off,
    /// The source is the inside of one.
    Only,
}

/// How to parse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The limits.
    pub limits: Limits,
    /// NIT 1.0.
    pub legacy: Legacy,
}
