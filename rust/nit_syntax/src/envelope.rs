//! What may surround a whole script: `<nit>` tags (dropped), a Markdown fence (dropped, with a
//! warning), blanks and a byte order mark.

use crate::diagnostic::Findings;
use crate::mistakes;
use crate::span::{Span, offset};

/// The script inside its envelope. Offsets stay those of the source.
pub(crate) fn strip(source: &str, findings: &mut Findings) -> Span {
    let mut body = Span::new(0, offset(source.len()));
    // A fence may stand in the tags, or the tags in a fence.
    for _ in 0..6 {
        let trimmed = trimmed(source, body);
        let text = trimmed.text(source);
        if text.starts_with('\u{FEFF}') {
            body.start = trimmed.start + offset('\u{FEFF}'.len_utf8());
            continue;
        }
        let inner = if text.starts_with("<nit") || text.ends_with('>') {
            tags(source, trimmed, findings)
        } else if text.starts_with("```") || text.starts_with("~~~") {
            fence(source, trimmed, findings)
        } else {
            None
        };
        match inner {
            Some(inner) => body = inner,
            None => return body,
        }
    }
    body
}

fn trimmed(source: &str, span: Span) -> Span {
    let text = span.text(source);
    let front = text.len() - text.trim_start().len();
    let length = text.trim().len();
    let start = span.start + offset(front);
    Span::new(start, start + offset(length))
}

/// The inside of `<nit-A1B2>..</nit-A1B2>`.
fn tags(source: &str, span: Span, findings: &mut Findings) -> Option<Span> {
    let text = span.text(source);
    let opening = text
        .find('>')
        .and_then(|end| text.get(..=end))
        .and_then(|tag| {
            let name = tag.strip_prefix('<')?.strip_suffix('>')?;
            is_tag_name(name).then_some((tag, name))
        });
    let closing = text
        .rfind("</")
        .and_then(|at| text.get(at..))
        .and_then(|tag| {
            let name = tag.strip_prefix("</")?.strip_suffix('>')?;
            is_tag_name(name).then_some((tag, name))
        });
    let span_of = |at: u32, tag: &str| Span::new(at, at + offset(tag.len()));
    match (opening, closing) {
        (Some((open, name)), Some((close, other))) if name == other => Some(Span::new(
            span.start + offset(open.len()),
            span.end - offset(close.len()),
        )),
        (Some((open, name)), _) => {
            let place = span_of(span.start, open);
            findings.push(mistakes::unmatched_tag(place, open, &format!("</{name}>")));
            findings.begin_statement();
            Some(Span::new(place.end, span.end))
        }
        (None, Some((close, name))) => {
            let place = span_of(span.end - offset(close.len()), close);
            findings.push(mistakes::unmatched_tag(place, close, &format!("<{name}>")));
            findings.begin_statement();
            Some(Span::new(span.start, place.start))
        }
        (None, None) => None,
    }
}

fn is_tag_name(name: &str) -> bool {
    let id = match name.strip_prefix("nit") {
        Some("") => return true,
        Some(rest) => rest.strip_prefix('-').unwrap_or_default(),
        None => return false,
    };
    !id.is_empty()
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// The lines inside of a Markdown fence around everything.
fn fence(source: &str, span: Span, findings: &mut Findings) -> Option<Span> {
    let text = span.text(source);
    let mark = text.chars().next()?;
    let marks = text.len() - text.trim_start_matches(mark).len();
    let first_line = text.find(['\n', '\r'])?;
    let opening = Span::new(span.start, span.start + offset(first_line));
    if text.get(marks..first_line)?.contains(mark) {
        return None;
    }
    let inside = Span::new(opening.end, span.end);
    let last_line = text.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let closing = text.get(last_line..)?.trim();
    if closing.len() < marks || closing.chars().any(|c| c != mark) {
        findings.push(mistakes::unclosed_fence(opening));
        findings.begin_statement();
        return Some(inside);
    }
    findings.push(mistakes::fence(opening));
    findings.begin_statement();
    Some(Span::new(opening.end, span.start + offset(last_line)))
}
