//! What begins a block, a reasoning span or a rejected tag, and how far a text is into one.

use std::fmt;

const LEGACY_OPEN: &[u8] = b"[[[NIT_CALL]]]";
/// The marker that ends a NIT 1.0 block.
pub(super) const LEGACY_CLOSE: &[u8] = b"[[[NIT_END]]]";

/// Ids of other lengths count as near misses up to this many characters.
const REJECTED_ID_CHARS: usize = 8;
const ID_CHARS: usize = 32;
const REASONING_NAME_BYTES: usize = 64;

/// An id or the name of a reasoning tag that cannot stand in a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidTagName {
    /// The id is not 1 to 32 ASCII letters and digits.
    Id(String),
    /// The name is empty, too long, holds a blank or one of `< > / [ ]`, or is a block's.
    Reasoning(String),
}

impl fmt::Display for InvalidTagName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(
                formatter,
                "the id must be 1 to {ID_CHARS} ASCII letters and digits, not {id:?}"
            ),
            Self::Reasoning(name) => write!(
                formatter,
                "{name:?} cannot name a reasoning tag: give the bare name, as in \"think\", or one \
                 in brackets, as in \"[THINK]\""
            ),
        }
    }
}

impl std::error::Error for InvalidTagName {}

/// Whether `id` can stand in a block's tag.
pub fn check_id(id: &str) -> Result<(), InvalidTagName> {
    let is_id = |byte: u8| byte.is_ascii_alphanumeric();
    if id.is_empty() || id.len() > ID_CHARS || !id.bytes().all(is_id) {
        return Err(InvalidTagName::Id(id.to_owned()));
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagKind {
    Open,
    LegacyOpen,
    /// The reasoning tag with this index.
    Reasoning(usize),
    Rejected,
}

/// What a text is that begins with `<` or `[`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// All of the text is the beginning of a tag; held back only if that tag is not text anyway.
    Partial {
        is_held: bool,
    },
    Tag {
        kind: TagKind,
        length: usize,
    },
}

#[derive(Debug, Clone)]
struct ReasoningTag {
    open: Vec<u8>,
    close: Vec<u8>,
}

/// The tags of one filter.
#[derive(Debug, Clone)]
pub(super) struct Tags {
    open: Vec<u8>,
    close: Vec<u8>,
    reasoning: Vec<ReasoningTag>,
    legacy: bool,
    /// Whether a tag may begin with `[`.
    brackets: bool,
    rejected_id_chars: usize,
    longest: usize,
    /// Which bytes can follow a `<` that begins a tag.
    second: [bool; 256],
}

impl Tags {
    pub(super) fn new(id: &str, legacy: bool, reasoning: &[&str]) -> Result<Self, InvalidTagName> {
        check_id(id)?;
        let block_name = format!("nit-{id}");
        let mut spans = Vec::with_capacity(reasoning.len());
        for &name in reasoning {
            let bracketed = name
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'));
            let bare = bracketed.unwrap_or(name);
            let is_bad = |c: char| matches!(c, '<' | '>' | '/' | '[' | ']') || c.is_whitespace();
            if bare.is_empty()
                || bare.len() > REASONING_NAME_BYTES
                || bare.contains(is_bad)
                || bare == block_name
            {
                return Err(InvalidTagName::Reasoning(name.to_owned()));
            }
            let (open, close) = if bracketed.is_some() {
                (format!("[{bare}]"), format!("[/{bare}]"))
            } else {
                (format!("<{bare}>"), format!("</{bare}>"))
            };
            spans.push(ReasoningTag {
                open: open.into_bytes(),
                close: close.into_bytes(),
            });
        }
        let brackets = legacy || spans.iter().any(|span| span.open.starts_with(b"["));
        let open = format!("<{block_name}>").into_bytes();
        let rejected_id_chars = REJECTED_ID_CHARS.max(id.len());
        let longest = spans
            .iter()
            .map(|span| span.open.len())
            .chain([LEGACY_OPEN.len(), "<nit->".len() + rejected_id_chars])
            .fold(open.len(), usize::max);
        let mut second = [false; 256];
        for byte in spans
            .iter()
            .filter_map(|span| span.open.get(1))
            .chain(b"nN")
        {
            if let Some(slot) = second.get_mut(usize::from(*byte)) {
                *slot = true;
            }
        }
        Ok(Self {
            open,
            close: format!("</{block_name}>").into_bytes(),
            reasoning: spans,
            legacy,
            brackets,
            rejected_id_chars,
            longest,
            second,
        })
    }

    pub(super) fn brackets(&self) -> bool {
        self.brackets
    }

    /// The length of the longest tag that `find` can find.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn close(&self) -> &[u8] {
        &self.close
    }

    pub(super) fn reasoning_close(&self, index: usize) -> &[u8] {
        self.reasoning.get(index).map_or(&[], |span| &span.close)
    }

    /// Looks for a tag at the start of `text`, which begins with `<`, or with `[` where `brackets`
    /// says so; `before` is the byte before it.
    ///
    /// A reasoning tag directly after a quotation mark or back-tick is a mention of it.
    pub(super) fn find(&self, text: &[u8], before: u8) -> Found {
        if text.first() == Some(&b'[') {
            let marker = if self.legacy {
                exact(text, LEGACY_OPEN, TagKind::LegacyOpen)
            } else {
                Found::Nothing
            };
            return if marker == Found::Nothing {
                self.reasoning_tag(text, before)
            } else {
                marker
            };
        }
        let can_follow = |byte: u8| self.second.get(usize::from(byte)).copied().unwrap_or(false);
        if text.get(1).is_some_and(|&byte| !can_follow(byte)) {
            return Found::Nothing;
        }
        let opening = exact(text, &self.open, TagKind::Open);
        if opening != Found::Nothing {
            return opening;
        }
        let opening = self.reasoning_tag(text, before);
        if opening != Found::Nothing {
            return opening;
        }
        self.near_miss(text)
    }

    fn reasoning_tag(&self, text: &[u8], before: u8) -> Found {
        if matches!(before, b'`' | b'"' | b'\'') {
            return Found::Nothing;
        }
        let spans = self.reasoning.iter().enumerate();
        spans
            .map(|(index, span)| exact(text, &span.open, TagKind::Reasoning(index)))
            .find(|opening| *opening != Found::Nothing)
            .unwrap_or(Found::Nothing)
    }

    /// `<nit>` and `<nit-..>` in any case and with any id.
    fn near_miss(&self, text: &[u8]) -> Found {
        let partial = Found::Partial { is_held: false };
        let (name, rest) = text.split_at(text.len().min("<nit".len()));
        if !b"<nit"
            .get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
        {
            return Found::Nothing;
        }
        let id_chars = match rest.split_first() {
            None => return partial,
            Some((b'>', _)) => 0,
            Some((b'-', id)) => {
                let length = id
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric())
                    .count();
                match id.get(length) {
                    _ if length > self.rejected_id_chars => return Found::Nothing,
                    None => return partial,
                    Some(b'>') if length > 0 => length + 1,
                    Some(_) => return Found::Nothing,
                }
            }
            Some(_) => return Found::Nothing,
        };
        Found::Tag {
            kind: TagKind::Rejected,
            length: "<nit>".len() + id_chars,
        }
    }
}

fn exact(text: &[u8], tag: &[u8], kind: TagKind) -> Found {
    if text.starts_with(tag) {
        Found::Tag {
            kind,
            length: tag.len(),
        }
    } else if tag.starts_with(text) {
        Found::Partial { is_held: true }
    } else {
        Found::Nothing
    }
}
