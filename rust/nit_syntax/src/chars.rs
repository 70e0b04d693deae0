//! Characters: what each byte may begin, and the odd characters that models write.

use unicode_ident::{is_xid_continue, is_xid_start};

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Blank,
    Newline,
    Hash,
    Letter,
    Digit,
    Quote,
    Dollar,
    Dot,
    Open,
    Close,
    Comma,
    Colon,
    Semicolon,
    Equal,
    Sign,
    Operator,
    Backslash,
    Wide,
    Other,
}

const fn class_of(byte: u8) -> Class {
    match byte {
        b' ' | b'\t' | 0x0C => Class::Blank,
        b'\n' | b'\r' => Class::Newline,
        b'#' => Class::Hash,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b'"' | b'\'' => Class::Quote,
        b'$' => Class::Dollar,
        b'.' => Class::Dot,
        b'(' | b'[' | b'{' => Class::Open,
        b')' | b']' | b'}' => Class::Close,
        b',' => Class::Comma,
        b':' => Class::Colon,
        b';' => Class::Semicolon,
        b'=' => Class::Equal,
        b'+' | b'-' => Class::Sign,
        b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<' | b'>' | b'!' => {
            Class::Operator
        }
        b'\\' => Class::Backslash,
        0x80.. => Class::Wide,
        _ => Class::Other,
    }
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::indexing_slicing,
            reason = "byte < 256"
        )]
        {
            classes[byte] = class_of(byte as u8);
        }
        byte += 1;
    }
    classes
};

const CONTINUES_NAME: [bool; 256] = {
    let mut continues = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::indexing_slicing, reason = "byte < 256")]
        {
            continues[byte] = matches!(CLASSES[byte], Class::Letter | Class::Digit);
        }
        byte += 1;
    }
    continues
};

/// What the byte may begin.
#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "a byte is a valid index of 256 entries"
)]
pub(crate) fn class(byte: u8) -> Class {
    CLASSES[byte as usize]
}

/// Whether an ASCII byte continues an identifier.
#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "a byte is a valid index of 256 entries"
)]
pub(crate) fn continues_name(byte: u8) -> bool {
    CONTINUES_NAME[byte as usize]
}

/// Whether a character begins an identifier.
pub(crate) fn is_name_start(character: char) -> bool {
    character == '_' || (is_xid_start(character) && !is_invisible(character))
}

/// Whether a character continues an identifier.
pub(crate) fn is_name_continue(character: char) -> bool {
    is_xid_continue(character) && !is_invisible(character)
}

/// Whether the text is one identifier of the language.
pub fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(is_name_start) && characters.all(is_name_continue)
}

/// Blanks that are neither space, tab nor form feed: accepted with a warning. U+2028, U+2029 and
/// U+0085 are among them: they are no line breaks.
pub(crate) fn is_odd_blank(character: char) -> bool {
    matches!(
        character,
        '\u{0B}' | '\u{1C}'..='\u{1F}' | '\u{85}' | '\u{A0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200A}' | '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}'
    )
}

/// Characters that turn the direction of the text around.
pub(crate) fn is_bidi_control(character: char) -> bool {
    matches!(
        character,
        '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
    )
}

/// Characters of no width and the byte order mark.
pub(crate) fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}')
}

/// Whatever a reader cannot see (Unicode: default ignorable): refused outside strings.
pub(crate) fn is_invisible(character: char) -> bool {
    is_bidi_control(character)
        || is_zero_width(character)
        || matches!(
            character,
            '\u{AD}' | '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'
                ..='\u{180F}' | '\u{2061}'..='\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}'
                | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// The ASCII twin of a full-width punctuation mark.
pub(crate) fn narrow(character: char) -> Option<u8> {
    Some(match character {
        '（' => b'(',
        '）' => b')',
        '，' | '、' => b',',
        '＝' => b'=',
        '：' => b':',
        '【' | '［' => b'[',
        '】' | '］' => b']',
        '；' => b';',
        '｛' => b'{',
        '｝' => b'}',
        '．' => b'.',
        '＄' => b'$',
        '＃' => b'#',
        _ => return None,
    })
}

/// The characters that may close what a typographic quote opens.
pub(crate) fn typographic_closers(opener: char) -> &'static [char] {
    match opener {
        '“' | '”' => &['”'],
        '‘' => &['’'],
        '„' => &['”', '“'],
        '‚' => &['’', '‘'],
        '«' => &['»'],
        '「' => &['」'],
        '『' => &['』'],
        '＂' => &['＂'],
        '＇' => &['＇'],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_follow_xid() {
        let good = ["a", "_", "_a1", "变量", "été", "ａ"];
        let bad = [
            "",
            "1a",
            "a-b",
            "a b",
            "a\u{200B}",
            "\u{3164}",
            "a\u{FE0F}",
            "·",
        ];
        assert!(good.into_iter().all(is_identifier));
        assert!(!bad.into_iter().any(is_identifier));
    }
}
