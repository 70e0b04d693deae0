//! Finds the end of a block: its closing tag outside the strings of the script.

use memchr::memrchr;

/// What a scan of the next bytes of a block came to; `end` counts from their start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scan {
    /// The block goes on.
    Consumed,
    /// The closing tag ends at `end`.
    Closed { end: usize },
    /// The line ends at `end` (its line break is the next byte) within a plain string that holds
    /// a closing tag: the tag counts after all.
    LineLeftOpen { end: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    #[default]
    Code,
    Comment,
    /// After one quote: the start of a plain string, an empty one, or a third of three quotes.
    Quote(u8),
    /// After two quotes.
    TwoQuotes(u8),
    Plain(u8),
    PlainEscape(u8),
    /// After a backslash and a carriage return, whose line feed may follow.
    PlainEscapeReturn(u8),
    /// In a triple-quoted string, after `run` of its closing quotes.
    Triple {
        quote: u8,
        run: u8,
    },
    TripleEscape(u8),
}

/// Where a scan stands; it takes any cut between two bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockScanner {
    mode: Mode,
    /// How many bytes of the closing tag the last bytes are.
    matched: usize,
    /// Bytes of the block before the ones that are being scanned.
    scanned: usize,
    /// Where, in the block, the first closing tag in the open plain string ends.
    candidate: Option<usize>,
}

impl BlockScanner {
    pub(super) fn has_candidate(&self) -> bool {
        self.candidate.is_some()
    }

    pub(super) fn candidate_end(&self) -> usize {
        self.candidate.unwrap_or(usize::MAX)
    }

    /// Scans the next bytes of the block. `line` is what is known of them where they are the rest
    /// of one line.
    pub(super) fn scan(&mut self, bytes: &[u8], close: &[u8], line: Option<&LineQuotes>) -> Scan {
        let mut at = 0;
        while let Some(tail) = bytes.get(at..).filter(|tail| !tail.is_empty()) {
            if self.matched == 0 {
                let stops = stops_of(self.mode);
                let skipped = tail.iter().position(|&byte| class(byte) & stops != 0);
                at += skipped.unwrap_or(tail.len());
            }
            let Some(&byte) = bytes.get(at) else {
                break;
            };
            if let Mode::Quote(quote) = self.mode
                && quote != byte
            {
                self.mode = Mode::Plain(quote);
                if line.is_some_and(|line| !line.has_unescaped(quote, bytes.len() - at)) {
                    return self.scan_open_string(bytes, at, close);
                }
            }
            let is_tag = self.match_tag(byte, close);
            if self.candidate.is_some() && self.leaves_line_open(byte) {
                return Scan::LineLeftOpen { end: at };
            }
            self.step(byte);
            at += 1;
            if is_tag {
                match self.mode {
                    Mode::Code | Mode::Comment => return Scan::Closed { end: at },
                    Mode::Plain(_) if self.candidate.is_none() => {
                        self.candidate = Some(self.scanned + at);
                    }
                    _ => {}
                }
            }
        }
        self.scanned += bytes.len();
        Scan::Consumed
    }

    /// A plain string begins at `at` and is known to be left open by its line, which ends with
    /// `bytes`: its first closing tag counts.
    fn scan_open_string(&mut self, bytes: &[u8], at: usize, close: &[u8]) -> Scan {
        let mut from = at;
        while let Some(offset) = bytes
            .get(from..)
            .and_then(|tail| memchr::memchr(b'<', tail))
        {
            from += offset;
            if bytes
                .get(from..)
                .is_some_and(|tail| tail.starts_with(close))
            {
                return Scan::Closed {
                    end: from + close.len(),
                };
            }
            from += 1;
        }
        self.matched = 0;
        self.scanned += bytes.len();
        Scan::Consumed
    }

    /// Counts `byte` towards the closing tag, in which `<` comes first and nowhere else.
    fn match_tag(&mut self, byte: u8, close: &[u8]) -> bool {
        if close.get(self.matched) == Some(&byte) {
            self.matched += 1;
        } else {
            self.matched = usize::from(byte == b'<');
        }
        let is_whole = self.matched == close.len();
        if is_whole {
            self.matched = 0;
        }
        is_whole
    }

    fn leaves_line_open(&self, byte: u8) -> bool {
        match self.mode {
            Mode::Plain(_) => is_line_break(byte),
            Mode::PlainEscapeReturn(_) => byte == b'\r',
            _ => false,
        }
    }

    fn step(&mut self, byte: u8) {
        self.mode = match self.mode {
            Mode::Quote(quote) => Mode::TwoQuotes(quote),
            Mode::TwoQuotes(quote) if byte == quote => Mode::Triple { quote, run: 0 },
            Mode::Code | Mode::TwoQuotes(_) => match byte {
                b'"' | b'\'' => Mode::Quote(byte),
                b'#' => Mode::Comment,
                _ => Mode::Code,
            },
            Mode::Comment if is_line_break(byte) => Mode::Code,
            Mode::Comment => Mode::Comment,
            Mode::PlainEscape(quote) if byte == b'\r' => Mode::PlainEscapeReturn(quote),
            Mode::PlainEscape(quote) => Mode::Plain(quote),
            Mode::PlainEscapeReturn(quote) if byte == b'\n' => Mode::Plain(quote),
            Mode::Plain(quote) | Mode::PlainEscapeReturn(quote) => {
                if byte == quote || is_line_break(byte) {
                    self.candidate = None;
                    Mode::Code
                } else if byte == b'\\' {
                    Mode::PlainEscape(quote)
                } else {
                    Mode::Plain(quote)
                }
            }
            Mode::Triple { quote, run } => match byte {
                b'\\' => Mode::TripleEscape(quote),
                _ if byte != quote => Mode::Triple { quote, run: 0 },
                _ if run == 2 => Mode::Code,
                _ => Mode::Triple {
                    quote,
                    run: run + 1,
                },
            },
            Mode::TripleEscape(quote) => Mode::Triple { quote, run: 0 },
        };
    }
}

/// Which quotes still come, unescaped, on the rest of a line.
///
/// Whether a quote is escaped depends on the backslashes before it alone, not on where the string
/// began; so one number a quote says for every place of the line whether a string that begins
/// there is left open.
#[derive(Debug)]
pub(super) struct LineQuotes {
    /// How many bytes remain at the last unescaped `"`, itself included.
    double: usize,
    single: usize,
}

impl LineQuotes {
    pub(super) fn of(rest_of_line: &[u8]) -> Self {
        Self {
            double: bytes_from_last_unescaped(b'"', rest_of_line),
            single: bytes_from_last_unescaped(b'\'', rest_of_line),
        }
    }

    /// Whether `quote` comes unescaped among the last `remaining` bytes of the line.
    fn has_unescaped(&self, quote: u8, remaining: usize) -> bool {
        let from_last = if quote == b'"' {
            self.double
        } else {
            self.single
        };
        from_last != 0 && from_last <= remaining
    }
}

fn bytes_from_last_unescaped(quote: u8, line: &[u8]) -> usize {
    let mut head = line;
    while let Some(at) = memrchr(quote, head) {
        head = head.get(..at).unwrap_or_default();
        let backslashes = head.iter().rev().take_while(|&&byte| byte == b'\\').count();
        if backslashes % 2 == 0 {
            return line.len() - at;
        }
    }
    0
}

fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

const IN_CODE: u8 = 1;
const IN_COMMENT: u8 = 2;
const IN_PLAIN: u8 = 4;
const IN_TRIPLE: u8 = 8;
const ANYWHERE: u8 = 16;

/// The classes of bytes at which a mode must stop; between them nothing happens.
fn stops_of(mode: Mode) -> u8 {
    match mode {
        Mode::Code => IN_CODE,
        Mode::Comment => IN_COMMENT,
        Mode::Plain(_) => IN_PLAIN,
        Mode::Triple { run: 0, .. } => IN_TRIPLE,
        _ => ANYWHERE,
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const CLASSES: [u8; 256] = {
    let mut classes = [ANYWHERE; 256];
    classes[b'"' as usize] |= IN_CODE | IN_PLAIN | IN_TRIPLE;
    classes[b'\'' as usize] |= IN_CODE | IN_PLAIN | IN_TRIPLE;
    classes[b'#' as usize] |= IN_CODE;
    classes[b'<' as usize] |= IN_CODE | IN_COMMENT | IN_PLAIN | IN_TRIPLE;
    classes[b'\n' as usize] |= IN_COMMENT | IN_PLAIN;
    classes[b'\r' as usize] |= IN_COMMENT | IN_PLAIN;
    classes[b'\\' as usize] |= IN_PLAIN | IN_TRIPLE;
    classes
};

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(ANYWHERE)
}
