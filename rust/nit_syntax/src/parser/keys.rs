//! Equal keys of a dict, which are an error, also where only JSON makes them equal.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Parser;
use crate::ast::{Node, NodeKind};
use crate::literal::{self, Integer};
use crate::mistakes;

/// Up to this many keys are compared each with each.
const FEW: usize = 8;

impl<'s> Parser<'s> {
    /// Report the first key of a finished dict that equals an earlier one.
    pub(super) fn check_keys(&mut self, dict: u32) {
        let end = self.tree.node(dict).next;
        let mut few: [&[u8]; FEW] = [&[]; FEW];
        let mut count = 0;
        let mut index = dict + 1;
        while index < end {
            // What stands in the source as it is differs if its bytes do.
            let (Some(key), Some(place)) = (self.plain_key(index), few.get_mut(count)) else {
                return self.check_many_keys(dict);
            };
            *place = key;
            count += 1;
            index = self.tree.after_value(self.tree.node(index).next);
        }
        let keys = few.get(..count).unwrap_or_default();
        for (position, second) in keys.iter().enumerate() {
            if keys.iter().take(position).any(|first| first == second) {
                return self.check_many_keys(dict);
            }
        }
    }

    /// The text of a key that stands in the source as it is.
    #[inline]
    fn plain_key(&self, index: u32) -> Option<&'s [u8]> {
        let node = self.tree.node(index);
        let (start, end) = (node.start as usize, node.end as usize);
        match node.kind {
            NodeKind::String if node.flags == 0 => {
                self.source.as_bytes().get(start + 1..end.saturating_sub(1))
            }
            NodeKind::Key => {
                let text = self.source.as_bytes().get(start..end)?;
                text.is_ascii().then_some(text)
            }
            _ => None,
        }
    }

    #[cold]
    fn check_many_keys(&mut self, dict: u32) {
        let end = self.tree.node(dict).next;
        let mut texts: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut index = dict + 1;
        let mut found = None;
        while index < end && found.is_none() {
            let node = self.tree.node(index);
            if let Some((text, number)) = self.key_text(index) {
                if let Some(first) = texts.insert(text, index) {
                    found = Some((first, index));
                } else if let Some(first) = number.and_then(|bits| numbers.insert(bits, index)) {
                    found = Some((first, index));
                }
            }
            debug_assert!(node.next > index);
            index = self.tree.after_value(self.tree.after_value(index));
        }
        if let Some((first, second)) = found {
            let (first, second) = (*self.tree.node(first), *self.tree.node(second));
            let is_number = |node: Node| matches!(node.kind, NodeKind::Int | NodeKind::Float);
            let as_json = is_number(first) != is_number(second);
            let key = second.span().text(self.source);
            let (first, second) = (first.span(), second.span());
            self.findings
                .push(mistakes::duplicate_key(second, first, key, as_json));
        }
    }

    /// The key as JSON writes it, and the bits of its value where it is a number; `None` where only
    /// the run knows it.
    fn key_text(&self, index: u32) -> Option<(Cow<'_, str>, Option<u64>)> {
        let node = self.tree.node(index);
        let text = node.span().text(self.source);
        Some(match node.kind {
            NodeKind::String => {
                let text = literal::string_text(self.source, node.span(), node.flags);
                (text, None)
            }
            NodeKind::Concat => {
                let parts = (index + 1..node.next).map(|part| self.tree.node(part));
                let text = parts
                    .map(|part| literal::string_text(self.source, part.span(), part.flags))
                    .collect::<String>();
                (Cow::Owned(text), None)
            }
            NodeKind::Key => (literal::normalize(text), None),
            NodeKind::Int => match literal::integer(text) {
                Integer::Small(value) => {
                    #[expect(clippy::cast_precision_loss, reason = "compared with floats")]
                    let bits = (value as f64).to_bits();
                    // Only where the float is the very same number may the two be equal.
                    let exact = value.unsigned_abs() < 1 << 53;
                    (Cow::Owned(value.to_string()), exact.then_some(bits))
                }
                Integer::Large {
                    negative,
                    radix,
                    digits,
                } => (Cow::Owned(format!("{negative} {radix} {digits}")), None),
            },
            NodeKind::Float => {
                let value = literal::float(text);
                let value = if value == 0.0 { 0.0 } else { value };
                (Cow::Owned(python_float(value)), Some(value.to_bits()))
            }
            _ => return None,
        })
    }
}

/// A float as Python and its JSON write it.
pub(crate) fn python_float(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let text = value.to_string();
    if text.contains('.') {
        text
    } else {
        text + ".0"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_look_as_in_python() {
        let values = [
            1.0,
            1.5,
            1e16,
            1e15,
            1e-5,
            0.0001,
            -2.5e-7,
            123_456.789,
            1e100,
        ];
        let texts = [
            "1.0",
            "1.5",
            "1e+16",
            "1000000000000000.0",
            "1e-05",
            "0.0001",
            "-2.5e-07",
            "123456.789",
            "1e+100",
        ];
        assert_eq!(values.map(python_float), texts);
    }
}
