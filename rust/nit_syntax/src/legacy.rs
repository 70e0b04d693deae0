//! Blocks of NIT 1.0: `[[[NIT_CALL]]] tool key: [START]value[END] [[[NIT_END]]]`.
//!
//! A block makes the same nodes as its NIT 2 equivalent, with the call marked
//! [`flag::LEGACY`]. Source: `legacy.md`.

use crate::ast::{NodeKind, Statement, flag};
use crate::chars;
use crate::mistakes;
use crate::parser::{Legacy, Parser};
use crate::span::{Span, offset};
use crate::token::form;

const CALL: &str = "[[[NIT_CALL]]]";
const END: &str = "[[[NIT_END]]]";
const VALUE_START: &str = "[START]";
const VALUE_END: &str = "[END]";

type Block<T> = Result<T, crate::diagnostic::Diagnostic>;

impl Parser<'_> {
    /// A whole block, whose marker is at hand. Goes on behind it, also after a mistake.
    pub(crate) fn legacy_block(&mut self, marker: Span, limit: u32) {
        let to = self.read_block(marker, limit);
        self.jump(to);
    }

    fn read_block(&mut self, marker: Span, limit: u32) -> u32 {
        if marker.text(self.source) == END {
            self.findings.push(mistakes::stray_end(marker));
            return marker.end;
        }
        if self.options.legacy == Legacy::Off {
            self.findings.push(mistakes::blocks_are_off(marker));
            return self.block_end(marker.end, limit);
        }
        let first = self.tree.node_count();
        let mut reader = Reader {
            source: self.source,
            at: marker.end,
            limit,
            terminator: Some(marker),
        };
        match self.block(&mut reader) {
            Ok(()) => {
                let span = Span::new(marker.start, reader.at);
                self.push_block(first, span);
                reader.at
            }
            Err(diagnostic) => {
                self.findings.push(diagnostic);
                self.block_end(reader.at, limit)
            }
        }
    }

    /// The source is the inside of one block.
    pub(crate) fn legacy_inside(&mut self) {
        let limit = offset(self.source.len());
        let mut reader = Reader {
            source: self.source,
            at: 0,
            limit,
            terminator: None,
        };
        match self.block(&mut reader) {
            Ok(()) => self.push_block(0, Span::new(0, limit)),
            Err(diagnostic) => {
                self.findings.push(diagnostic);
                self.tree.nodes.clear();
            }
        }
    }

    fn push_block(&mut self, first: u32, span: Span) {
        if self.check_block_size(first, span) && !self.findings.has_failed() {
            self.tree.statements.push(Statement {
                span,
                first,
                is_async: false,
            });
        }
    }

    /// Behind the end of a broken block, or before the next one if that begins a line.
    fn block_end(&self, from: u32, limit: u32) -> u32 {
        let rest = Span::new(from, limit).text(self.source);
        let end = rest.find(END).map(|at| at + END.len());
        let begins_line = |at: &usize| {
            let head = Span::new(0, from + offset(*at)).text(self.source);
            head.trim_end_matches([' ', '\t']).ends_with(['\n', '\r'])
        };
        let mut calls = rest.match_indices(CALL).map(|(at, _)| at);
        let call = match end {
            Some(end) => calls.take_while(|at| *at < end).find(begins_line),
            None => calls.find(begins_line),
        };
        call.or(end).map_or(limit, |at| from + offset(at))
    }

    fn block(&mut self, reader: &mut Reader<'_>) -> Block<()> {
        let name = reader.name()?;
        let call = self.push(NodeKind::Call, flag::LEGACY, name);
        let is_name = name.text(self.source).split('.').all(chars::is_identifier);
        let (kind, flags) = if is_name {
            (NodeKind::Tool, 0)
        } else {
            (NodeKind::ExactTool, form::VERBATIM)
        };
        self.refuse_hidden(name)?;
        self.push(kind, flags, name);
        let mut end = name.end;
        while let Some(key) = reader.key()? {
            self.refuse_hidden(key)?;
            let value = reader.value(key)?;
            let text = value.text(self.source);
            if chars::is_identifier(key.text(self.source)) {
                self.push(NodeKind::Argument, 0, key);
            } else {
                self.push(NodeKind::QuotedArgument, form::VERBATIM, key);
            }
            let flags = if text.contains('\r') { form::RETURN } else { 0 };
            self.push(NodeKind::RawText, form::RAW | flags, value);
            end = reader.at;
        }
        self.finish(call, end);
        if !is_name {
            self.mark_exact(call);
        }
        Ok(())
    }

    fn refuse_hidden(&self, name: Span) -> Block<()> {
        let text = name.text(self.source);
        if text.split('.').any(|part| part.starts_with("__")) {
            return Err(mistakes::dunder(name, text));
        }
        Ok(())
    }
}

/// Reads the parts of one block.
struct Reader<'s> {
    source: &'s str,
    at: u32,
    limit: u32,
    /// The marker that opened the block and wants an end; `None` where the source is its inside.
    terminator: Option<Span>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        Span::new(self.at, self.limit).text(self.source)
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        let skipped = rest.len() - rest.trim_start().len();
        self.at += offset(skipped);
    }

    /// The first line that is not blank.
    fn name(&mut self) -> Block<Span> {
        self.skip_blanks();
        let rest = self.rest();
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default();
        let line = line.find(END).and_then(|at| line.get(..at)).unwrap_or(line);
        let name = line.trim_end();
        let span = Span::new(self.at, self.at + offset(name.len()));
        let is_pair = name.contains(VALUE_START) || name.contains(VALUE_END);
        if name.is_empty() || is_pair || name.contains("[[[") {
            let place = self.terminator.filter(|_| name.is_empty()).unwrap_or(span);
            return Err(mistakes::block_without_name(place));
        }
        self.at += offset(line.len());
        Ok(span)
    }

    /// The next key, `None` at the end of the block; reads up to the value.
    fn key(&mut self) -> Block<Option<Span>> {
        self.skip_blanks();
        let rest = self.rest();
        match self.terminator {
            Some(_) if rest.starts_with(END) => {
                self.at += offset(END.len());
                return Ok(None);
            }
            Some(marker) if rest.is_empty() || rest.starts_with(CALL) => {
                return Err(mistakes::unclosed_block(marker));
            }
            None if rest.is_empty() => return Ok(None),
            _ => {}
        }
        let is_key = |c: char| c == '-' || chars::is_name_continue(c);
        let length = rest.find(|c| !is_key(c)).unwrap_or(rest.len());
        let key = Span::new(self.at, self.at + offset(length));
        let after = rest.get(length..).unwrap_or_default().trim_start();
        let value = after.strip_prefix([':', '：']).map(str::trim_start);
        match value.and_then(|value| value.strip_prefix(VALUE_START)) {
            Some(value) if !key.is_empty() => {
                self.at = self.limit - offset(value.len());
                Ok(Some(key))
            }
            _ => {
                let line = rest.split(['\n', '\r']).next().unwrap_or_default();
                let span = Span::new(self.at, self.at + offset(line.trim_end().len()));
                Err(mistakes::bad_pair(span, line.trim_end()))
            }
        }
    }

    /// The value of a key, stripped; reads behind its `[END]`.
    fn value(&mut self, key: Span) -> Block<Span> {
        let rest = self.rest();
        let name = key.text(self.source);
        let end = rest.find(VALUE_END);
        let inside = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let markers = [VALUE_START, CALL, END];
        let marker = markers
            .iter()
            .filter_map(|marker| inside.find(marker).map(|at| (at, marker)))
            .min();
        match (end, marker) {
            (Some(_), Some((at, marker))) => {
                let start = self.at + offset(at);
                let span = Span::new(start, start + offset(marker.len()));
                Err(mistakes::marker_in_value(span, marker, name))
            }
            (None, _) => Err(mistakes::missing_end(key, name)),
            (Some(end), None) => {
                let front = inside.len() - inside.trim_start().len();
                let start = self.at + offset(front);
                let span = Span::new(start, start + offset(inside.trim().len()));
                self.at += offset(end + VALUE_END.len());
                Ok(span)
            }
        }
    }
}
