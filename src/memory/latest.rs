//! The latest few of many.

/// A list of the latest few items, such as the readers of a source. Putting one
/// more into a full list drops the oldest.
#[derive(Debug)]
pub struct Latest<T> {
    /// The latest one last.
    items: Vec<T>,
    max: usize,
}

impl<T> Latest<T> {
    /// Creates an empty list of at most `max` items.
    pub fn new(max: usize) -> Self {
        Self {
            items: Vec::new(),
            max,
        }
    }

    /// Takes the latest item that `is_it` accepts out of the list.
    pub fn take(&mut self, is_it: impl FnMut(&T) -> bool) -> Option<T> {
        let number = self.items.iter().rposition(is_it)?;
        Some(self.items.remove(number))
    }

    /// Adds an item as the latest one.
    pub fn put(&mut self, item: T) {
        if self.items.len() == self.max {
            self.items.remove(0);
        }
        self.items.push(item);
    }

    /// Returns the latest item.
    pub fn last(&self) -> Option<&T> {
        self.items.last()
    }

    /// Returns the items, the latest one first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().rev()
    }

    /// Returns the items for changing them, the latest one first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_list_drops_the_item_that_was_put_in_longest_ago() {
        let mut list = Latest::new(2);
        list.put(1);
        list.put(2);
        assert_eq!(list.take(|&item| item == 1), Some(1));
        list.put(1);
        list.put(3);
        assert_eq!(Vec::from_iter(list.iter()), [&3, &1]);
        assert_eq!(list.take(|&item| item == 2), None);
    }
}
