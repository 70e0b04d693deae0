//! Places in a source text.
//!
//! A [`Span`] is two byte offsets. Lines and columns, which only people need, are worked out late,
//! from a [`LineIndex`].

/// A half-open range of UTF-8 byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` to `end`; an `end` before `start` gives an empty span at `start`.
    pub fn new(start: u32, end: u32) -> Self {
        Self {
            start,
            end: end.max(start),
        }
    }

    /// The empty span at one offset.
    pub fn at(offset: u32) -> Self {
        Self::new(offset, offset)
    }

    /// The smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The text of the span, empty where the span does not fit the source.
    pub fn text(self, source: &str) -> &str {
        source
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }

    /// Length in bytes.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A length or offset of a source as `u32`; sources that do not fit are refused at the door.
pub fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// A line and a column, both 1-based; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// 1-based line.
    pub line: u32,
    /// 1-based column in characters.
    pub column: u32,
}

/// Where the lines of a source begin. Line breaks are `\n`, `\r\n` and `\r`, and nothing else.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Find the line starts of a source.
    pub fn new(source: &str) -> Self {
        let bytes = source.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let is_pair = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            if !is_pair {
                starts.push(offset(at + 1));
            }
        }
        Self { starts }
    }

    /// Number of lines.
    pub fn line_count(&self) -> u32 {
        offset(self.starts.len())
    }

    /// The 1-based line of an offset.
    pub fn line(&self, at: u32) -> u32 {
        offset(self.starts.partition_point(|start| *start <= at))
    }

    /// The line and column of an offset.
    pub fn position(&self, source: &str, at: u32) -> Position {
        let line = self.line(at);
        let start = self.line_span(source, line).start as usize;
        let before = source
            .as_bytes()
            .get(start..at as usize)
            .unwrap_or_default();
        // Every byte that does not continue a character begins one.
        let characters = before.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        Position {
            line,
            column: offset(characters) + 1,
        }
    }

    /// The span of a 1-based line without its line break.
    pub fn line_span(&self, source: &str, line: u32) -> Span {
        let at = |index: u32| self.starts.get(index as usize).copied();
        let start = at(line.saturating_sub(1)).unwrap_or_else(|| offset(source.len()));
        let mut end = at(line).unwrap_or_else(|| offset(source.len()));
        let bytes = source.as_bytes();
        while end > start && matches!(bytes.get(end as usize - 1), Some(b'\n' | b'\r')) {
            end -= 1;
        }
        Span::new(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_three_line_breaks_of_the_language_begin_a_line() {
        let source = "a\nb\r\nc\rd\u{2028}e\u{85}f";
        let lines = LineIndex::new(source);
        assert_eq!(lines.line_count(), 4);
        let texts: Vec<_> = (1..=4)
            .map(|n| lines.line_span(source, n).text(source))
            .collect();
        assert_eq!(texts, ["a", "b", "c", "d\u{2028}e\u{85}f"]);
    }

    #[test]
    fn columns_count_characters() {
        let source = "x\n你好 ok";
        let lines = LineIndex::new(source);
        let at = source.find("ok").unwrap();
        let expected = Position { line: 2, column: 4 };
        assert_eq!(lines.position(source, offset(at)), expected);
    }
}
