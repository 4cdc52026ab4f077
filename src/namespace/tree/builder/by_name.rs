//! Sorting the entries of a directory by name, and numbering of equal names.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::namespace::tree::Tree;
use hpimount_containers::text::numbered;

/// Fills the `by_name` order of one directory.
pub(super) fn sort_by_name(tree: &mut Tree, range: Range<usize>) {
    let dentries = &tree.dentries[range.clone()];
    // Most names differ at their beginnings, which are compared without
    // accessing the names, which are scattered in memory.
    let beginnings = dentries
        .iter()
        .map(|dentry| beginning(tree.dentry_name(dentry)));
    let mut order: Vec<([u64; 2], u32)> = beginnings.zip(0..).collect();
    // Stable, and linear if the entries came in this order, as from most
    // packers, with companions after them.
    order.sort_by(|(a, first), (b, second)| {
        let entry = |position: u32| &dentries[position as usize];
        a.cmp(b)
            .then_with(|| tree.compare(entry(*first), entry(*second)))
    });
    for (dentry, (_, position)) in tree.dentries[range].iter_mut().zip(order) {
        dentry.by_name = position;
    }
}

/// Returns the first sixteen bytes of a name in lower case, as numbers that are
/// ordered as the names are.
fn beginning(name: &str) -> [u64; 2] {
    let mut bytes = [0; 16];
    let length = name.len().min(bytes.len());
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    bytes.make_ascii_lowercase();
    let number = u128::from_be_bytes(bytes);
    [(number >> 64) as u64, number as u64]
}

/// Returns the positions of the entries of a sorted directory that have equal
/// names, except for the last entry of each name.
pub(super) fn equal_names(tree: &Tree, range: Range<usize>) -> impl Iterator<Item = usize> {
    let start = range.start;
    let entry = move |position: usize| start + tree.dentries[position].by_name as usize;
    let pairs = range
        .skip(1)
        .map(move |position| (entry(position - 1), entry(position)));
    let equal = pairs.filter(|&(a, b)| {
        tree.dentry_name(&tree.dentries[a]) == tree.dentry_name(&tree.dentries[b])
    });
    equal.map(|(earlier, _)| earlier)
}

/// Numbers the entries of a sorted directory that have equal names, except for
/// the last entry of each name, which the games find. Returns whether there
/// were any.
pub(super) fn number_duplicates(tree: &mut Tree, range: Range<usize>) -> bool {
    let renamed: Vec<usize> = equal_names(tree, range.clone()).collect();
    if renamed.is_empty() {
        return false;
    }
    let mut taken: HashSet<String> = tree.dentries[range]
        .iter()
        .map(|dentry| tree.dentry_name(dentry).to_owned())
        .collect();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for position in renamed {
        let name = tree.dentry_name(&tree.dentries[position]).to_owned();
        let number = numbers.entry(name.clone()).or_default();
        let unique = loop {
            *number += 1;
            let candidate = numbered(&name, *number);
            if taken.insert(candidate.clone()) {
                break candidate;
            }
        };
        let inode = tree.dentries[position].inode;
        tree.raw_names.add(inode, name.as_bytes());
        tree.plain_names.insert(inode, name.as_bytes().into());
        tree.dentries[position].name = tree.names.len() as u32;
        tree.dentries[position].length = unique.len() as u8;
        tree.names.push_str(&unique);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::tree::compare_folded;

    #[test]
    fn beginnings_sort_like_the_whole_names() {
        let names = [
            "",
            "A",
            "ab",
            "AB ",
            "aB_",
            "b",
            "a234567",
            "a23456789012345",
            "A2345678901234567",
            "a2345678901234568",
            "\u{e9}",
            "Z",
            "~",
        ];
        for a in names {
            for b in names {
                let (by_name, by_beginning) =
                    (compare_folded(a, b), beginning(a).cmp(&beginning(b)));
                assert!(by_beginning == by_name || by_beginning.is_eq(), "{a} {b}");
                assert_eq!(
                    by_beginning.is_eq(),
                    by_name.is_eq() || a.len().min(b.len()) > 16
                );
            }
        }
    }
}
