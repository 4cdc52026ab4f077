//! Freeing memory that a finished list has allocated but does not use.

/// Minimum size of a block of memory that the allocator maps separately, in
/// bytes. It can shrink such a block without leaving a gap.
pub const LARGE_BLOCK: usize = 1 << 20;

/// A list that can free the memory that it does not use.
pub trait Compact {
    /// Frees it. A small list is moved: if it were shrunk in place, it would
    /// leave a gap that is too small for the next list of its kind. The gaps
    /// between many lists take as much memory as a fifth of the lists.
    fn compact(&mut self);
}

impl<T> Compact for Vec<T> {
    fn compact(&mut self) {
        if self.capacity() * size_of::<T>() >= LARGE_BLOCK {
            return self.shrink_to_fit();
        }
        let mut exact = Self::with_capacity(self.len());
        exact.append(self);
        *self = exact;
    }
}

impl Compact for String {
    fn compact(&mut self) {
        match self.capacity() < LARGE_BLOCK {
            true => *self = self.as_str().into(),
            false => self.shrink_to_fit(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_elements_and_no_unused_memory() {
        for length in [0, 1, 1000, 300_000] {
            let mut list = Vec::with_capacity(2 * length + 7);
            list.extend(0..length);
            list.compact();
            assert!(list.iter().copied().eq(0..length));
            assert_eq!(list.capacity(), length);

            let mut text = "x".repeat(length);
            text.reserve(length + 7);
            text.compact();
            assert_eq!((text.len(), text.capacity()), (length, length));
        }
    }
}
