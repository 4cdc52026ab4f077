//! Differences between two texts, line by line.

use std::ops::Range;

use hpimount_record::Value;

use super::difference::Differences;

/// Maximum number of lines that are removed and added. Texts that differ more
/// are the lines that both begin and end with, and other ones.
const MAX_EDITS: usize = 512;

/// A line of one of two texts alone, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Removed(usize),
    Added(usize),
}

/// Adds the lines that only one of two texts has.
pub(super) fn compare(name: &str, texts: [&str; 2], found: &mut Differences) {
    let [olds, news] = texts.map(|text| text.lines().collect::<Vec<_>>());
    let line = |line: &str| Some(Value::text(line.to_owned()));
    let field = |number: usize| format!("{name}: line {}", number + 1);
    for [old, new] in hunks(&olds, &news) {
        old.for_each(|number| found.add(field(number), line(olds[number]), None));
        new.for_each(|number| found.add(field(number), None, line(news[number])));
    }
}

/// Returns the parts of two lists that differ, between equal ones.
pub(super) fn hunks<T: PartialEq>(olds: &[T], news: &[T]) -> Vec<[Range<usize>; 2]> {
    let (start, end) = ends_in_common(olds, news);
    let ends = [olds.len() - end, news.len() - end];
    let all = || vec![[start..ends[0], start..ends[1]]];
    let Some(edits) = edits(&olds[start..ends[0]], &news[start..ends[1]]) else {
        return all();
    };
    let mut hunks: Vec<[Range<usize>; 2]> = Vec::new();
    // Positions that both lists have been followed to.
    let mut at = [start; 2];
    for edit in edits {
        let (side, number) = match edit {
            Edit::Removed(number) => (0, start + number),
            Edit::Added(number) => (1, start + number),
        };
        let same = number - at[side];
        at = at.map(|at| at + same);
        if same > 0 || hunks.is_empty() {
            hunks.push(at.map(|at| at..at));
        }
        at[side] += 1;
        if let Some(hunk) = hunks.last_mut() {
            hunk[side].end = at[side];
        }
    }
    hunks
}

/// Returns the fewest edits that make one list from another; `None` if they are
/// more than [`MAX_EDITS`].
///
/// This is Myers' algorithm: for each number of edits, it finds how far in the
/// first list each diagonal (position in it less the position in the other) can
/// be followed.
fn edits<T: PartialEq>(olds: &[T], news: &[T]) -> Option<Vec<Edit>> {
    let most = MAX_EDITS.min(olds.len() + news.len()) as isize;
    // Diagonal 0 is at `most`.
    let mut furthest = vec![0_isize; 2 * most as usize + 2];
    // For each number of edits, the diagonals that it starts from.
    let mut before: Vec<Vec<isize>> = Vec::new();
    for count in 0..=most {
        before.push(furthest[(most - count) as usize..=(most + count) as usize].to_vec());
        for diagonal in (-count..=count).step_by(2) {
            let at = (diagonal + most) as usize;
            let is_added = is_added(diagonal, count, |step| {
                furthest[at.wrapping_add_signed(step)]
            });
            let mut old = match is_added {
                true => furthest[at + 1],
                false => furthest[at - 1] + 1,
            };
            let same = |old: isize| {
                let old_item = olds.get(old as usize)?;
                let new_item = news.get(usize::try_from(old - diagonal).ok()?)?;
                (old_item == new_item).then_some(())
            };
            while same(old).is_some() {
                old += 1;
            }
            furthest[at] = old;
            if old >= olds.len() as isize && old - diagonal >= news.len() as isize {
                return Some(backwards(&before, [olds.len(), news.len()]));
            }
        }
    }
    None
}

/// Returns whether the last of `count` edits on a diagonal is an added item.
/// `furthest` is how far the diagonals beside it, at -1 and 1, were followed.
fn is_added(diagonal: isize, count: isize, furthest: impl Fn(isize) -> isize) -> bool {
    diagonal == -count || (diagonal != count && furthest(-1) < furthest(1))
}

/// Returns the edits, found from the ends of the lists.
fn backwards(before: &[Vec<isize>], ends: [usize; 2]) -> Vec<Edit> {
    let [mut old, mut new] = ends.map(|end| end as isize);
    let mut edits = Vec::new();
    for (count, furthest) in before.iter().enumerate().skip(1).rev() {
        let count = count as isize;
        let diagonal = old - new;
        let at = |step: isize| furthest[(diagonal + step + count) as usize];
        let is_added = is_added(diagonal, count, at);
        let step = if is_added { 1 } else { -1 };
        old = at(step);
        new = old - (diagonal + step);
        edits.push(match is_added {
            true => Edit::Added(new as usize),
            false => Edit::Removed(old as usize),
        });
    }
    edits.reverse();
    edits
}

/// Returns how many items two lists have in common at their starts, and at their
/// ends after that.
pub(super) fn ends_in_common<T: PartialEq>(olds: &[T], news: &[T]) -> (usize, usize) {
    let pairs = olds.iter().zip(news);
    let start = pairs.take_while(|(old, new)| old == new).count();
    let pairs = olds[start..].iter().rev().zip(news[start..].iter().rev());
    (start, pairs.take_while(|(old, new)| old == new).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diff::difference::Difference;

    #[test]
    fn the_lines_between_equal_ones_differ() {
        let mut found = Differences::default();
        compare("a.txt", ["a\nb\nc\n", "a\nx\ny\nc\n"], &mut found);
        let fields = found
            .finish()
            .into_iter()
            .map(|difference| match difference {
                Difference::Field { field, old, new } => (field, old.is_some(), new.is_some()),
                Difference::Note(text) => (text, false, false),
            });
        let expected = [
            ("a.txt: line 2".to_owned(), true, false),
            ("a.txt: line 2".to_owned(), false, true),
            ("a.txt: line 3".to_owned(), false, true),
        ];
        assert!(fields.eq(expected));
    }

    /// Makes the second list from the first one by the edits.
    fn applied(olds: &[u8], news: &[u8], edits: &[Edit]) -> Vec<u8> {
        let mut made = olds.to_vec();
        for edit in edits.iter().rev() {
            if let Edit::Removed(at) = *edit {
                made.remove(at);
            }
        }
        for edit in edits {
            if let Edit::Added(at) = *edit {
                made.insert(at, news[at]);
            }
        }
        made
    }

    #[test]
    fn changes_far_apart_are_told_apart() {
        let (olds, news) = (b"abcde", b"axcdye");
        let expected = [Edit::Removed(1), Edit::Added(1), Edit::Added(4)];
        assert_eq!(edits(olds, news).unwrap(), expected);
        assert_eq!(edits(b"", b"").unwrap(), []);
        let long = vec![1; MAX_EDITS + 1];
        assert_eq!(edits(&long, &[]), None);
        assert_eq!(edits(&long[1..], &[]).unwrap().len(), MAX_EDITS);
    }

    proptest::proptest! {
        #[test]
        fn edits_make_one_list_from_another(
            olds in proptest::collection::vec(0_u8..4, 0..30),
            news in proptest::collection::vec(0_u8..4, 0..30),
        ) {
            let found = edits(&olds, &news).unwrap();
            proptest::prop_assert_eq!(applied(&olds, &news, &found), news);
        }
    }

    #[test]
    fn ends_do_not_overlap() {
        assert_eq!(ends_in_common(&[1, 1], &[1, 1, 1]), (2, 0));
        assert_eq!(ends_in_common(&[1, 2, 3], &[1, 3]), (1, 1));
        assert_eq!(ends_in_common::<u8>(&[], &[]), (0, 0));
    }
}
