//! Bytes of an asset that are replaced.

use std::collections::BTreeMap;
use std::ops::Range;

/// New bytes of an asset, by the ranges that they replace. No two ranges overlap. An
/// empty range precedes a range that begins at the same place.
#[derive(Debug, Default)]
pub struct Patches(BTreeMap<(usize, usize), Vec<u8>>);

impl Patches {
    /// Replaces the bytes of a range, also if they were replaced before.
    pub fn replace(&mut self, place: Range<usize>, bytes: impl Into<Vec<u8>>) {
        self.0.insert((place.start, place.end), bytes.into());
    }

    /// Returns the bytes that will be inserted at an offset.
    pub fn inserted(&mut self, offset: usize) -> &mut Vec<u8> {
        self.0.entry((offset, offset)).or_default()
    }

    /// Returns whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the asset with the new bytes, or `None` if a range is out of bounds.
    pub fn apply(&self, asset: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(asset.len());
        let mut at = 0;
        for (&(start, end), new) in &self.0 {
            out.extend_from_slice(asset.get(at..start)?);
            out.extend_from_slice(new);
            at = end;
        }
        out.extend_from_slice(asset.get(at..)?);
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_replaced_and_bytes_inserted() {
        let mut patches = Patches::default();
        assert!(patches.is_empty());
        patches.replace(2..4, *b"x");
        patches.replace(2..4, *b"yz");
        patches.inserted(2).extend(b"<");
        patches.inserted(2).extend(b">");
        patches.inserted(5).extend(b"!");
        assert_eq!(patches.apply(b"abcde").unwrap(), b"ab<>yze!");
        assert_eq!(patches.apply(b"abcd"), None);
    }
}
