//! Interned names: equal names get equal numbers, in order of first appearance.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Multiplies the words of a key into each other; the seed differs in each table, so that nobody
/// can choose keys that collide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) fn random() -> Self {
        Self(RandomState::new().build_hasher().finish() | 1)
    }

    #[inline]
    fn fold(self, state: u64, word: u64) -> u64 {
        let product = u128::from(state ^ word) * u128::from(self.0 ^ 0x9E37_79B9_7F4A_7C15);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "both halves are folded together"
        )]
        let folded = (product as u64) ^ ((product >> 64) as u64);
        folded
    }

    #[inline]
    pub(crate) fn hash_bytes(self, bytes: &[u8]) -> u64 {
        let mut state = self.0 ^ (bytes.len() as u64);
        let words = bytes.chunks_exact(8);
        let mut rest = 0_u64;
        for (index, byte) in words.remainder().iter().enumerate() {
            rest |= u64::from(*byte) << (8 * index);
        }
        for word in words {
            state = self.fold(
                state,
                u64::from_le_bytes(word.try_into().unwrap_or_default()),
            );
        }
        self.fold(state, rest)
    }

    #[inline]
    pub(crate) fn hash_words(self, words: &[u32]) -> u64 {
        let start = self.0 ^ (words.len() as u64);
        words
            .iter()
            .fold(start, |state, word| self.fold(state, u64::from(*word)))
    }
}

/// Open addressing from hashes to numbers that count up from 0.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// Number plus one and the upper half of the hash; 0 is free.
    slots: Vec<(u32, u32)>,
    count: u32,
}

impl Slots {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![(0, 0); 64],
            count: 0,
        }
    }

    /// The number of a key, and whether it is new. `is_equal` compares with an earlier number.
    #[inline]
    pub(crate) fn find(&mut self, hash: u64, is_equal: impl Fn(u32) -> bool) -> (u32, bool) {
        let mask = self.slots.len() - 1;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the upper half is its own check"
        )]
        let (mut at, check) = (hash as usize & mask, (hash >> 32) as u32);
        loop {
            match self.slots.get_mut(at) {
                Some((number, found)) if *number != 0 => {
                    if *found == check && is_equal(*number - 1) {
                        return (*number - 1, false);
                    }
                }
                Some(slot) => {
                    self.count += 1;
                    *slot = (self.count, check);
                    return (self.count - 1, true);
                }
                None => return (0, false),
            }
            at = (at + 1) & mask;
        }
    }

    /// Whether the table should grow before the next key.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.count as usize * 2 >= self.slots.len()
    }

    /// Make room, given the hash of each number.
    #[cold]
    pub(crate) fn grow(&mut self, hash_of: impl Fn(u32) -> u64) {
        let size = self.slots.len() * 4;
        let count = std::mem::take(&mut self.count);
        self.slots = vec![(0, 0); size];
        for number in 0..count {
            self.find(hash_of(number), |_| false);
        }
    }
}

/// A table of names.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    seed: Seed,
    slots: Slots,
    texts: Vec<Box<str>>,
}

impl Names {
    pub(crate) fn new() -> Self {
        Self {
            seed: Seed::random(),
            slots: Slots::new(),
            texts: Vec::new(),
        }
    }

    /// The number of a name.
    #[inline]
    pub(crate) fn intern(&mut self, name: &str) -> u32 {
        if self.slots.is_crowded() {
            let (seed, texts) = (self.seed, &self.texts);
            self.slots.grow(|number| {
                let text = texts.get(number as usize);
                seed.hash_bytes(text.map_or(&[], |text| text.as_bytes()))
            });
        }
        let texts = &self.texts;
        let hash = self.seed.hash_bytes(name.as_bytes());
        let (number, is_new) = self.slots.find(hash, |number| {
            texts
                .get(number as usize)
                .is_some_and(|text| **text == *name)
        });
        if is_new {
            self.texts.push(Box::from(name));
        }
        number
    }

    /// The name with this number.
    pub(crate) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }

    /// All names in the order of their numbers.
    pub(crate) fn into_texts(self) -> Vec<Box<str>> {
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_equal_numbers_however_many_there_are() {
        let mut names = Names::new();
        for round in 0..2 {
            for number in 0..5000_u32 {
                let name = format!("name_{number}");
                assert_eq!(names.intern(&name), number, "round {round}");
            }
        }
        assert_eq!(names.text(17), "name_17");
        assert_eq!(&*names.into_texts()[4999], "name_4999");
    }
}
