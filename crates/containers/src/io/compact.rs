//! Lists without much memory that they do not use: while they grow, and when they are
//! finished.

/// Minimum size of a block of memory that the allocator maps separately, in
/// bytes. It can shrink such a block without leaving a gap.
pub const LARGE_BLOCK: usize = 1 << 20;

/// A list that allocates little memory that it does not use.
pub trait Compact {
    /// Makes room for `more` elements. At most a fifth of a long list is spare.
    fn make_room(&mut self, more: usize);

    /// Frees it. A small list is moved: if it were shrunk in place, it would
    /// leave a gap that is too small for the next list of its kind. The gaps
    /// between many lists take as much memory as a fifth of the lists.
    fn compact(&mut self);
}

/// Returns how many elements a list of `length` makes room for, to get `more`.
fn room(length: usize, more: usize) -> usize {
    more.max(length / 4).max(16)
}

impl<T> Compact for Vec<T> {
    fn make_room(&mut self, more: usize) {
        if self.capacity() - self.len() < more {
            self.reserve_exact(room(self.len(), more));
        }
    }

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
    fn make_room(&mut self, more: usize) {
        if self.capacity() - self.len() < more {
            self.reserve_exact(room(self.len(), more));
        }
    }

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
    fn a_growing_list_has_little_spare_room() {
        let (mut list, mut text) = (Vec::new(), String::new());
        for number in 0..10_000 {
            list.make_room(1);
            list.push(number);
            text.make_room(3);
            text.push_str("xyz");
            assert!(list.capacity() - list.len() <= (list.len() / 4).max(16));
            assert!(text.capacity() - text.len() <= (text.len() / 4).max(16));
        }
    }

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
