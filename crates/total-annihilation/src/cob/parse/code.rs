//! The code as instructions (FORMATS, TA 5).

use std::ops::Range;

use super::opcode::{MAX_OPERANDS, OperandKind, Operation};
use crate::pointer::u32_at;

/// Minimum number of words that count as text between scripts.
const MIN_TEXT_LENGTH: usize = 4;

/// A part of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item<'a> {
    /// Index of its first word.
    pub at: u32,
    /// The item.
    pub content: Content<'a>,
}

/// The content of a part of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// An instruction.
    Instruction(Instruction),
    /// Text that a compiler left between scripts, without padding.
    Text(&'a [u8]),
    /// A word that is not a known opcode.
    Unknown(u32),
}

/// An instruction with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// Operation.
    pub operation: &'static Operation,
    operands: [u32; MAX_OPERANDS],
    /// Number of operands in the code, which may be truncated.
    count: usize,
}

impl Instruction {
    /// Returns its operands with their meanings.
    pub fn operands(&self) -> impl Iterator<Item = (OperandKind, u32)> {
        let values = &self.operands[..self.count];
        let kinds = self.operation.operands.iter();
        kinds.copied().zip(values.iter().copied())
    }

    /// Returns whether the code ends before the last operand.
    pub fn is_cut_off(&self) -> bool {
        self.count < self.operation.operands.len()
    }
}

/// An iterator over the parts of code, from the first to the last word.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    code: &'a [u8],
    /// Index of the next word.
    at: usize,
    /// Words before this one are unknown and not text.
    unknown_until: usize,
}

impl<'a> Items<'a> {
    /// Returns the parts of `code`, which consists of whole words.
    pub(super) fn new(code: &'a [u8]) -> Self {
        Self {
            code,
            at: 0,
            unknown_until: 0,
        }
    }

    /// Returns the parts of a range of the words of `code`.
    pub(super) fn within(code: &'a [u8], range: Range<usize>) -> Self {
        Self {
            at: range.start,
            ..Self::new(&code[..code.len().min(range.end.saturating_mul(4))])
        }
    }

    fn word(&self, index: usize) -> Option<u32> {
        u32_at(self.code, index)
    }

    /// Returns the text at the next word, if all words up to the next known opcode are
    /// text.
    fn text(&mut self) -> Option<&'a [u8]> {
        if self.at < self.unknown_until {
            return None;
        }
        let is_unknown = |&index: &usize| {
            let word = self.word(index);
            word.is_some_and(|word| Operation::find(word).is_none())
        };
        let count = (self.at..).take_while(is_unknown).count();
        let end = self.at + count;
        let bytes = &self.code[4 * self.at..4 * end];
        self.unknown_until = end;
        if count < MIN_TEXT_LENGTH || !is_text(padding_trimmed(bytes)) {
            return None;
        }
        self.at = end;
        Some(padding_trimmed(bytes))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let word = self.word(self.at)?;
        let at = self.at as u32;
        let content = if let Some(operation) = Operation::find(word) {
            self.at += 1;
            let mut operands = [0; MAX_OPERANDS];
            let mut count = 0;
            for slot in &mut operands[..operation.operands.len()] {
                let Some(value) = self.word(self.at) else {
                    break;
                };
                *slot = value;
                count += 1;
                self.at += 1;
            }
            Content::Instruction(Instruction {
                operation,
                operands,
                count,
            })
        } else if let Some(text) = self.text() {
            Content::Text(text)
        } else {
            self.at += 1;
            Content::Unknown(word)
        };
        Some(Item { at, content })
    }
}

/// Removes the NULs or spaces that compilers add as padding.
fn padding_trimmed(mut bytes: &[u8]) -> &[u8] {
    while let [rest @ .., 0 | b' '] = bytes {
        bytes = rest;
    }
    bytes
}

/// Returns whether at least nine of ten bytes are printable.
fn is_text(bytes: &[u8]) -> bool {
    let printable = bytes.iter().filter(|byte| matches!(byte, b' '..=b'~'));
    !bytes.is_empty() && 10 * printable.count() >= 9 * bytes.len()
}

/// A set of words of the code.
pub(super) struct WordSet(Vec<u64>);

impl WordSet {
    /// Creates an empty set for code of `words` words.
    pub(super) fn new(words: usize) -> Self {
        Self(vec![0; words.div_ceil(64)])
    }

    /// Adds a word. Ignores words outside of the code.
    pub(super) fn insert(&mut self, word: u32) {
        if let Some(bits) = self.0.get_mut(word as usize / 64) {
            *bits |= 1 << (word % 64);
        }
    }

    pub(super) fn contains(&self, word: u32) -> bool {
        let bits = self.0.get(word as usize / 64);
        bits.is_some_and(|bits| bits >> (word % 64) & 1 != 0)
    }
}
