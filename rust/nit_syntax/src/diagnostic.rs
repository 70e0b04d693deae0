//! Findings about a script, as values: a stable code, a place, what was expected, what to do.

use std::borrow::Cow;

use crate::span::Span;

/// Most diagnostics that one script gets.
pub const MOST_DIAGNOSTICS: usize = 100;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The script must not run.
    Error,
    /// Accepted all the same.
    Warning,
}

impl Severity {
    /// `"error"` or `"warning"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable code such as `NIT201`.
    pub code: Cow<'static, str>,
    /// How bad it is.
    pub severity: Severity,
    /// One line without a final dot; names stand in backticks.
    pub message: String,
    /// The place.
    pub span: Span,
    /// The next action.
    pub hint: Option<String>,
    /// Further places, each with a few words.
    pub labels: Vec<(Span, String)>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            code: Cow::Borrowed(code),
            severity: Severity::Error,
            message: message.into(),
            span,
            hint: None,
            labels: Vec::new(),
        }
    }

    /// A warning.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, span, message)
        }
    }

    /// Say what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Point at a further place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    /// Whether the script must not run.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Collects findings: at most 100 of them, errors before warnings where not all fit, one error for
/// each statement, and one warning of a kind for each statement.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    failed: bool,
    first_warning: usize,
}

impl Findings {
    /// A new statement begins.
    pub(crate) fn begin_statement(&mut self) {
        self.failed = false;
        self.first_warning = self.warnings.len();
    }

    /// Whether the statement has an error.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether there is room for another error.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= MOST_DIAGNOSTICS
    }

    /// Note a finding.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.is_error() {
            if !self.failed && !self.is_full() {
                self.errors.push(diagnostic);
            }
            self.failed = true;
        } else if self.warnings.len() < MOST_DIAGNOSTICS {
            let since = self.warnings.get(self.first_warning..).unwrap_or_default();
            if !since.iter().any(|other| other.code == diagnostic.code) {
                self.warnings.push(diagnostic);
            }
        }
    }

    /// All of them in the order of the text.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.warnings
            .truncate(MOST_DIAGNOSTICS.saturating_sub(self.errors.len()));
        self.errors.append(&mut self.warnings);
        self.errors.sort_by_key(|diagnostic| diagnostic.span.start);
        self.errors
    }
}
