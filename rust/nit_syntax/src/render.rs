//! Diagnostics as text: with source line and caret for a person, in one line for a model.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet, renderer::DecorStyle};

use crate::diagnostic::{Diagnostic, Severity};
use crate::span::{LineIndex, Position, Span, offset};

/// Stands for the place until the text is rendered: characters that nobody writes (private use).
const PLACE: &str = "\u{F8FF}\u{F8FE}";
/// Lines that are longer are shown as a window around the place.
const LONGEST_LINE: u32 = 400;
/// Characters on both sides of the place in such a window.
const WINDOW: usize = 60;
/// A further place that is more lines away is left out.
const FARTHEST_LINE: u32 = 50;

/// The finding with its source line, a caret and the hint.
pub fn render(diagnostic: &Diagnostic, source: &str, lines: &LineIndex, color: bool) -> String {
    let excerpt = Excerpt::new(diagnostic, source, lines);
    let mut snippet = Snippet::source(&excerpt.text)
        .line_start(excerpt.first_line as usize)
        .path(PLACE)
        .annotation(AnnotationKind::Primary.span(excerpt.primary));
    for (range, label) in excerpt.labels {
        snippet = snippet.annotation(AnnotationKind::Context.span(range).label(label));
    }
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.as_ref())
        .element(snippet);
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.with_name("hint").message(hint.as_str()));
    }
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let text = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
    with_place(&text, lines.position(source, diagnostic.span.start))
}

/// Put the place where the renderer has written a file's name and a place in the excerpt.
fn with_place(text: &str, place: Position) -> String {
    let Some((head, tail)) = text.split_once(PLACE) else {
        return text.to_owned();
    };
    let tail = tail.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
    format!("{head}line {}, column {}{tail}", place.line, place.column)
}

/// The finding in one line: code, place, message, hint.
pub fn terse(diagnostic: &Diagnostic, source: &str, lines: &LineIndex) -> String {
    let place = lines.position(source, diagnostic.span.start);
    let mut text = format!(
        "{} {} at line {}, column {}: {}",
        diagnostic.code,
        diagnostic.severity.as_str(),
        place.line,
        place.column,
        diagnostic.message
    );
    if let Some(hint) = &diagnostic.hint {
        text.push_str("; hint: ");
        text.push_str(hint);
    }
    text.replace(['\n', '\r'], " ")
}

type Range = std::ops::Range<usize>;

/// The lines that are shown, with places inside of them.
struct Excerpt<'d> {
    text: String,
    first_line: u32,
    primary: Range,
    labels: Vec<(Range, &'d str)>,
}

impl<'d> Excerpt<'d> {
    fn new(diagnostic: &'d Diagnostic, source: &str, lines: &LineIndex) -> Self {
        let line = lines.line(diagnostic.span.start);
        let is_near = |span: &Span| lines.line(span.start).abs_diff(line) <= FARTHEST_LINE;
        let labels = diagnostic.labels.iter();
        let near: Vec<_> = labels.filter(|(span, _)| is_near(span)).collect();
        let label_lines = near.iter().map(|(span, _)| lines.line(span.start));
        let first = label_lines.clone().fold(line, u32::min);
        let last = label_lines.fold(line, u32::max);
        let is_long = |line: u32| lines.line_span(source, line).len() > LONGEST_LINE;
        if (first..=last).any(is_long) {
            return Self::window(diagnostic, source, lines, line);
        }
        let mut excerpt = Self {
            text: String::new(),
            first_line: first,
            primary: 0..0,
            labels: Vec::new(),
        };
        for number in first..=last {
            let place = lines.line_span(source, number);
            let start = excerpt.text.len();
            // A place that goes on behind its first line is shown up to there.
            let inside = |span: Span| {
                let from = span.start.clamp(place.start, place.end) - place.start;
                let to = span.end.clamp(place.start, place.end) - place.start;
                start + from as usize..start + to.max(from) as usize
            };
            if number == line {
                excerpt.primary = inside(diagnostic.span);
            }
            for (span, label) in near.iter().copied() {
                if lines.line(span.start) == number {
                    excerpt.labels.push((inside(*span), label));
                }
            }
            excerpt.text.push_str(place.text(source));
            excerpt.text.push('\n');
        }
        excerpt
    }

    /// A part of one very long line.
    fn window(diagnostic: &Diagnostic, source: &str, lines: &LineIndex, line: u32) -> Self {
        let place = lines.line_span(source, line);
        let at = diagnostic.span.start.clamp(place.start, place.end);
        let before = Span::new(place.start, at).text(source);
        let behind = Span::new(at, place.end).text(source);
        let skipped = before
            .char_indices()
            .rev()
            .nth(WINDOW)
            .map_or(0, |(at, _)| at);
        let head = before.get(skipped..).unwrap_or_default();
        let kept = behind
            .char_indices()
            .nth(WINDOW)
            .map_or(behind.len(), |(at, _)| at);
        let tail = behind.get(..kept).unwrap_or_default();
        let mark = |is_cut: bool| if is_cut { "…" } else { "" };
        let text = format!(
            "{}{head}{tail}{}",
            mark(skipped > 0),
            mark(kept < behind.len())
        );
        let start = mark(skipped > 0).len() + head.len();
        let length = diagnostic.span.len().min(offset(tail.len())) as usize;
        let mut end = start + length;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self {
            text,
            first_line: line,
            primary: start..end,
            labels: Vec::new(),
        }
    }
}
