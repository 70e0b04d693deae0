//! Splits a model's reply, in chunks of any size, into text, reasoning and blocks.
//!
//! ```text
//!            <nit-ID>                    [[[NIT_CALL]]] (only with `legacy`)
//!   Block <------------- Prose ------------------------> Legacy
//!     |  </nit-ID>       |   ^          [[[NIT_END]]]
//!     +----------------->|   | </think>
//!              <think>   v   |
//!                      Reasoning                       (or [THINK] and [/THINK])
//! ```
//!
//! Text is bytes: UTF-8, or its generalised form in which the lone half of a surrogate pair is
//! three bytes, so that a broken stream passes through unchanged. No state but `Block` and
//! `Legacy` keeps more than the beginning of a tag. Every byte is looked at a bounded number of
//! times, whatever the chunks.
//!
//! Source: `spec/model.md` 2.

mod block;
mod tags;

use block::{BlockScanner, LineQuotes, Scan};
use memchr::{memchr, memchr2};
use tags::{Found, LEGACY_CLOSE, TagKind, Tags};

pub use tags::{InvalidTagName, check_id};

/// What a filter has found. Text and scripts are bytes as they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// Visible text.
    Text(Vec<u8>),
    /// Text of a reasoning span.
    Reasoning(Vec<u8>),
    /// A block has begun.
    BlockOpen {
        /// Whether it is a NIT 1.0 block, which carries no id.
        legacy: bool,
    },
    /// A whole block: exactly what stands between its tags.
    Block {
        /// The text between the tags.
        script: Vec<u8>,
        /// Whether it is a NIT 1.0 block.
        legacy: bool,
    },
    /// A tag that looks like an opening tag and is not this turn's; it was passed on as text.
    Rejected(Vec<u8>),
    /// A block that the stream never closed.
    Unclosed(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Prose,
    /// Inside the reasoning span `index`, the last `matched` bytes begin its closing tag.
    Reasoning {
        index: usize,
        matched: usize,
    },
    Block,
    /// Inside a NIT 1.0 block, the last `matched` bytes begin its closing marker.
    Legacy {
        matched: usize,
    },
}

/// The filter: `feed` it chunks, then `finish` it; it is then as new.
#[derive(Debug, Clone)]
pub struct StreamFilter {
    tags: Tags,
    state: State,
    /// Bytes at the end of the prose that may still become a tag; never more than one tag.
    pending: Vec<u8>,
    /// Whether `pending` can only become a rejected tag, and so was passed on already.
    is_released: bool,
    /// The byte of prose before `pending`.
    before: u8,
    /// What has come of the open block.
    script: Vec<u8>,
    scanner: BlockScanner,
}

impl StreamFilter {
    /// Makes a filter for the blocks of one turn.
    ///
    /// `id` is the turn's handshake, `legacy` says whether NIT 1.0 markers count, `reasoning`
    /// names the tags around reasoning: `think` for `<think>..</think>`, `[THINK]` for
    /// `[THINK]..[/THINK]`.
    pub fn new(id: &str, legacy: bool, reasoning: &[&str]) -> Result<Self, InvalidTagName> {
        Ok(Self {
            tags: Tags::new(id, legacy, reasoning)?,
            state: State::Prose,
            pending: Vec::new(),
            is_released: false,
            before: 0,
            script: Vec::new(),
            scanner: BlockScanner::default(),
        })
    }

    /// Whether `chunk` is visible text as a whole and leaves nothing behind; it is then fed, and
    /// the caller passes it on without copying it.
    pub fn pass_through(&mut self, chunk: &[u8]) -> bool {
        if self.state != State::Prose || !self.pending.is_empty() {
            return false;
        }
        let found = if self.tags.brackets() {
            memchr2(b'<', b'[', chunk)
        } else {
            memchr(b'<', chunk)
        };
        if found.is_none() {
            self.before = chunk.last().copied().unwrap_or(self.before);
        }
        found.is_none()
    }

    /// Takes the next chunk and adds what it brought to `events`, neighbouring text merged.
    pub fn feed(&mut self, chunk: &[u8], events: &mut Vec<StreamEvent>) {
        self.consume(chunk, None, events);
    }

    /// Ends the stream: releases what was held back and names a block that is still open.
    pub fn finish(&mut self, events: &mut Vec<StreamEvent>) {
        if self.state == State::Block && self.scanner.has_candidate() {
            self.close_at_candidate(events);
        }
        match self.state {
            State::Prose if self.is_released => {}
            State::Prose => push_text(events, &self.pending),
            State::Reasoning { index, matched } => {
                push_reasoning(events, self.tags.reasoning_close(index).get(..matched));
            }
            State::Block | State::Legacy { .. } => {
                events.push(StreamEvent::Unclosed(std::mem::take(&mut self.script)));
            }
        }
        self.state = State::Prose;
        self.pending.clear();
        self.is_released = false;
        self.before = 0;
    }

    /// Runs through `rest`; `line` is given where `rest` is the remainder of a line that has been
    /// looked at before.
    fn consume(
        &mut self,
        mut rest: &[u8],
        line: Option<&LineQuotes>,
        events: &mut Vec<StreamEvent>,
    ) {
        while !rest.is_empty() {
            rest = match self.state {
                State::Prose if self.pending.is_empty() => self.prose(rest, events),
                State::Prose => self.resume_tag(rest, events),
                State::Reasoning { index, matched } => self.reasoning(index, matched, rest, events),
                State::Block => self.block(rest, line, events),
                State::Legacy { matched } => self.legacy(matched, rest, events),
            };
        }
    }

    fn prose<'a>(&mut self, rest: &'a [u8], events: &mut Vec<StreamEvent>) -> &'a [u8] {
        let mut from = 0;
        loop {
            let (seen, tail) = rest.split_at(from);
            let found = if self.tags.brackets() {
                memchr2(b'<', b'[', tail)
            } else {
                memchr(b'<', tail)
            };
            let Some(offset) = found else {
                push_text(events, rest);
                self.before = rest.last().copied().unwrap_or(self.before);
                return &[];
            };
            let at = seen.len() + offset;
            let (text, tail) = rest.split_at(at);
            let before = text.last().copied().unwrap_or(self.before);
            match self.tags.find(tail, before) {
                Found::Nothing => from = at + 1,
                Found::Partial { is_held } => {
                    push_text(events, if is_held { text } else { rest });
                    self.pending.extend_from_slice(tail);
                    self.is_released = !is_held;
                    self.before = before;
                    return &[];
                }
                Found::Tag { kind, length } => {
                    push_text(events, text);
                    let (tag, tail) = tail.split_at(length);
                    self.enter(kind, tag, events);
                    return tail;
                }
            }
        }
    }

    /// Goes on with a tag whose beginning stood at the end of an earlier chunk.
    fn resume_tag<'a>(&mut self, rest: &'a [u8], events: &mut Vec<StreamEvent>) -> &'a [u8] {
        let known = self.pending.len();
        let wanted = self.tags.longest().saturating_sub(known).min(rest.len());
        let mut tag = std::mem::take(&mut self.pending);
        tag.extend_from_slice(rest.get(..wanted).unwrap_or(rest));
        match self.tags.find(&tag, self.before) {
            Found::Tag { kind, length } => {
                tag.truncate(length);
                if kind == TagKind::Rejected && self.is_released {
                    push_text(events, tag.get(known..).unwrap_or_default());
                    events.push(StreamEvent::Rejected(tag));
                    self.before = b'>';
                } else {
                    self.enter(kind, &tag, events);
                }
                self.is_released = false;
                rest.get(length.saturating_sub(known)..).unwrap_or_default()
            }
            Found::Partial { is_held } => {
                if !is_held {
                    let from = if self.is_released { known } else { 0 };
                    push_text(events, tag.get(from..).unwrap_or_default());
                    self.is_released = true;
                }
                self.pending = tag;
                rest.get(wanted..).unwrap_or_default()
            }
            Found::Nothing => {
                tag.truncate(known);
                // no tag begins inside one that begins with `<`; `[[[[NIT_CALL]]]` holds one
                let again = tag.iter().skip(1).position(|&byte| byte == b'[');
                let released = again.map_or(known, |offset| offset + 1);
                if !self.is_released {
                    push_text(events, tag.get(..released).unwrap_or_default());
                }
                self.before = released
                    .checked_sub(1)
                    .and_then(|i| tag.get(i))
                    .copied()
                    .unwrap_or(0);
                tag.drain(..released);
                self.pending = tag;
                self.is_released = false;
                rest
            }
        }
    }

    fn enter(&mut self, kind: TagKind, tag: &[u8], events: &mut Vec<StreamEvent>) {
        self.before = b'>';
        match kind {
            TagKind::Open => {
                events.push(StreamEvent::BlockOpen { legacy: false });
                self.scanner = BlockScanner::default();
                self.state = State::Block;
            }
            TagKind::LegacyOpen => {
                events.push(StreamEvent::BlockOpen { legacy: true });
                self.state = State::Legacy { matched: 0 };
            }
            TagKind::Reasoning(index) => self.state = State::Reasoning { index, matched: 0 },
            TagKind::Rejected => {
                push_text(events, tag);
                events.push(StreamEvent::Rejected(tag.to_vec()));
            }
        }
    }

    fn reasoning<'a>(
        &mut self,
        index: usize,
        matched: usize,
        rest: &'a [u8],
        events: &mut Vec<StreamEvent>,
    ) -> &'a [u8] {
        let close = self.tags.reasoning_close(index);
        if matched > 0 {
            let wanted = close.get(matched..).unwrap_or_default();
            let length = common_prefix(rest, wanted);
            let tail = rest.get(length..).unwrap_or_default();
            if length == wanted.len() {
                self.state = State::Prose;
                self.before = b'>';
            } else if tail.is_empty() {
                self.state = State::Reasoning {
                    index,
                    matched: matched + length,
                };
            } else {
                push_reasoning(events, close.get(..matched + length));
                self.state = State::Reasoning { index, matched: 0 };
            }
            return tail;
        }
        let first = close.first().copied().unwrap_or(b'<');
        let mut from = 0;
        while let Some(offset) = rest.get(from..).and_then(|tail| memchr(first, tail)) {
            let (text, tail) = rest.split_at(from + offset);
            let length = common_prefix(tail, close);
            if length == close.len() || length == tail.len() {
                push_reasoning(events, Some(text));
                if length == close.len() {
                    self.state = State::Prose;
                    self.before = b'>';
                } else {
                    self.state = State::Reasoning {
                        index,
                        matched: length,
                    };
                }
                return tail.get(length..).unwrap_or_default();
            }
            from += offset + 1;
        }
        push_reasoning(events, Some(rest));
        &[]
    }

    fn block<'a>(
        &mut self,
        rest: &'a [u8],
        line: Option<&LineQuotes>,
        events: &mut Vec<StreamEvent>,
    ) -> &'a [u8] {
        match self.scanner.scan(rest, self.tags.close(), line) {
            Scan::Consumed => {
                self.script.extend_from_slice(rest);
                &[]
            }
            Scan::Closed { end } => {
                let (inside, tail) = rest.split_at(end);
                self.script.extend_from_slice(inside);
                let length = self.script.len().saturating_sub(self.tags.close().len());
                self.end_block(length, false, events);
                tail
            }
            Scan::LineLeftOpen { end } => {
                let (inside, tail) = rest.split_at(end);
                self.script.extend_from_slice(inside);
                self.close_at_candidate(events);
                tail
            }
        }
    }

    /// Closes the block at the tag in a plain string that its line has left open, and runs through
    /// the rest of that line again, as prose.
    ///
    /// In that second look no string can leave the line open unnoticed (`LineQuotes` knows), so
    /// there is no third.
    fn close_at_candidate(&mut self, events: &mut Vec<StreamEvent>) {
        let end = self.scanner.candidate_end().min(self.script.len());
        let again = self.script.split_off(end);
        self.end_block(end.saturating_sub(self.tags.close().len()), false, events);
        self.consume(&again, Some(&LineQuotes::of(&again)), events);
    }

    fn end_block(&mut self, length: usize, legacy: bool, events: &mut Vec<StreamEvent>) {
        let mut script = std::mem::take(&mut self.script);
        script.truncate(length);
        events.push(StreamEvent::Block { script, legacy });
        self.state = State::Prose;
        self.before = b'>';
    }

    fn legacy<'a>(
        &mut self,
        mut matched: usize,
        rest: &'a [u8],
        events: &mut Vec<StreamEvent>,
    ) -> &'a [u8] {
        let mut from = 0;
        while from < rest.len() {
            let tail = rest.get(from..).unwrap_or_default();
            if matched == 0 {
                let Some(offset) = memchr(b'[', tail) else {
                    break;
                };
                from += offset + 1;
                matched = 1;
                continue;
            }
            let byte = tail.first().copied().unwrap_or_default();
            if LEGACY_CLOSE.get(matched) == Some(&byte) {
                matched += 1;
            } else if byte == b'[' {
                // after `[[[` a fourth bracket leaves three; anywhere else it begins anew
                matched = if matched == 3 { 3 } else { 1 };
            } else {
                matched = 0;
            }
            from += 1;
            if matched == LEGACY_CLOSE.len() {
                let (inside, tail) = rest.split_at(from);
                self.script.extend_from_slice(inside);
                let length = self.script.len().saturating_sub(LEGACY_CLOSE.len());
                self.end_block(length, true, events);
                return tail;
            }
        }
        self.script.extend_from_slice(rest);
        self.state = State::Legacy { matched };
        &[]
    }
}

fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(a, b)| a == b).count()
}

fn push_text(events: &mut Vec<StreamEvent>, text: &[u8]) {
    if text.is_empty() {
        return;
    }
    if let Some(StreamEvent::Text(last)) = events.last_mut() {
        last.extend_from_slice(text);
    } else {
        events.push(StreamEvent::Text(text.to_vec()));
    }
}

fn push_reasoning(events: &mut Vec<StreamEvent>, text: Option<&[u8]>) {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return;
    };
    if let Some(StreamEvent::Reasoning(last)) = events.last_mut() {
        last.extend_from_slice(text);
    } else {
        events.push(StreamEvent::Reasoning(text.to_vec()));
    }
}
