//! All changes of an asset, written together.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::ops::Range;

use hpimount_record::Value;

use super::{Disagreement, Edit, Problem};
use crate::view::node::Counted;
use crate::view::place::Place;

/// A change of an asset.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// The path of the value, such as `links[2].target`.
    pub(super) path: String,
    /// The edited value; a list has none.
    pub(super) value: Value,
    /// The new bytes or elements.
    pub(super) content: Content,
}

impl Change {
    /// Returns true if the asset already has the new bytes.
    pub(super) fn is_in(&self, asset: &[u8]) -> bool {
        match &self.content {
            Content::Bytes {
                offset,
                bytes,
                mask,
            } => {
                let old = asset.get(*offset..).unwrap_or_default();
                if bytes.len() > mask.len() {
                    return false;
                }
                let mut bits = old.iter().zip(bytes).zip(mask);
                old.len() >= bytes.len() && bits.all(|((old, new), mask)| (old ^ new) & mask == 0)
            }
            Content::List { ranges, order, .. } => {
                let kept = (0..ranges.len()).map(Element::Old);
                kept.eq(order.iter().cloned())
            }
        }
    }
}

/// The new content of a part of an asset. Offsets refer to the old asset.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// Bytes that replace others.
    Bytes {
        /// Offset of the first one.
        offset: usize,
        /// The new bytes. Bytes past the mask are inserted after the replaced ones.
        bytes: Vec<u8>,
        /// The bits that are new.
        mask: Vec<u8>,
    },
    /// The elements of a list.
    List {
        /// Ranges of the old elements.
        ranges: Vec<Range<usize>>,
        /// Offset for the first element of an empty list.
        start: usize,
        /// The numbers that follow from it.
        counts: Vec<(Place, Counted)>,
        /// The least length of the list in bytes.
        least_length: usize,
        /// The elements.
        order: Vec<Element>,
    },
}

/// An element of a changed list.
#[derive(Debug, Clone)]
pub(super) enum Element {
    /// The old element with this number, and its own changes.
    Old(usize),
    /// A new element: its bytes, and the edited values.
    New(Vec<u8>, Value),
}

impl PartialEq for Element {
    /// New elements are equal if their bytes are.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Old(one), Self::Old(other)) => one == other,
            (Self::New(one, _), Self::New(other, _)) => one == other,
            _ => false,
        }
    }
}

/// A change with the number of its edit.
type Placed = (Change, usize);

/// The splicing order of lists, by start, end and path. The last list comes first, so
/// that the offsets of the others stay valid. Of two empty lists at one offset, the one
/// with the smaller path is spliced last: the `links` of an object are behind its
/// `list`.
type Turn<'c> = (Reverse<(usize, usize)>, &'c str);

/// Applies changes, sorted by rank and each with the number of its edit, to an asset.
/// Returns the asset and flags of the applied changes. A change that conflicts with an
/// edit of a higher rank is left out.
pub(super) fn patched(
    asset: &[u8],
    changes: &[Placed],
    edits: &[Edit],
) -> Result<(Vec<u8>, Vec<bool>), Vec<Problem>> {
    let mut out = asset.to_vec();
    let mut written = Written::new(asset.len());
    let mut grown: Grown<'_> = BTreeMap::new();
    let mut lists: BTreeMap<Turn<'_>, usize> = BTreeMap::new();
    let mut verdicts = Verdicts::new(changes, edits);
    for (number, (change, _)) in changes.iter().enumerate() {
        let other = match &change.content {
            Content::Bytes {
                offset,
                bytes: new,
                mask,
            } => {
                // None of a shorter text, which another one with the same beginning must not
                // get either.
                let tail = new.get(mask.len()..).unwrap_or_default();
                let end = offset + mask.len();
                match grown.get(&end) {
                    Some((known, other)) if *known != tail => Some(*other),
                    _ => {
                        let other = written.add(&mut out, *offset, (new, mask), number as u32);
                        if other.is_none() {
                            grown.entry(end).or_insert((tail, number));
                        }
                        other
                    }
                }
            }
            Content::List {
                ranges,
                start,
                order,
                ..
            } => {
                let place = Reverse((*start, end_of(ranges, *start)));
                let key = (place, change.path.as_str());
                let known = *lists.entry(key).or_insert(number);
                let is_other = match &changes[known].0.content {
                    Content::List { order: known, .. } => known != order,
                    Content::Bytes { .. } => true,
                };
                is_other.then_some(known)
            }
        };
        if let Some(other) = other {
            verdicts.disagree(number, other, disagreement);
        }
    }
    lists.retain(|_, list| {
        let mut inside: Vec<usize> = deleted(&changes[*list].0)
            .flat_map(|range| written.in_range(range))
            .collect();
        inside.dedup();
        inside
            .into_iter()
            .for_each(|change| verdicts.disagree(change, *list, deletion));
        verdicts.is_written[*list]
    });
    let is_written = verdicts.finish()?;
    for ((Reverse((start, end)), _), list) in lists {
        insert(&mut out, grown.split_off(&(end + 1)));
        if let Content::List {
            ranges,
            counts,
            least_length,
            order,
            ..
        } = &changes[list].0.content
        {
            let inside = grown.split_off(&(start + 1));
            let least = *least_length;
            splice(&mut out, (ranges, &inside), (start, least), counts, order);
        }
    }
    insert(&mut out, grown);
    Ok((out, is_written))
}

/// Decisions about changes.
struct Verdicts<'c> {
    changes: &'c [Placed],
    edits: &'c [Edit],
    is_written: Vec<bool>,
    problems: Vec<Problem>,
}

/// A change with the place of its edit.
type At<'c> = (&'c Change, &'c str);

impl<'c> Verdicts<'c> {
    fn new(changes: &'c [Placed], edits: &'c [Edit]) -> Self {
        Self {
            changes,
            edits,
            is_written: vec![true; changes.len()],
            problems: Vec::new(),
        }
    }

    /// Resolves a conflict of two changes, which `say` describes.
    fn disagree(&mut self, change: usize, other: usize, say: fn(At<'c>, At<'c>) -> String) {
        let at = |number: usize| {
            let (change, edit) = &self.changes[number];
            (change, &self.edits[*edit], *edit)
        };
        let ((one, edit, number), (two, other_edit, with)) = (at(change), at(other));
        match edit.rank.cmp(&other_edit.rank) {
            Ordering::Less => self.is_written[change] = false,
            Ordering::Greater => self.is_written[other] = false,
            Ordering::Equal => self.problems.push(Problem {
                edit: number,
                text: say((one, &edit.place), (two, &other_edit.place)),
                disagreement: (number != with).then(|| Disagreement {
                    with,
                    path: one.path.clone(),
                }),
            }),
        }
    }

    fn finish(mut self) -> Result<Vec<bool>, Vec<Problem>> {
        self.problems.sort_by_key(|problem| problem.edit);
        self.problems.dedup();
        match self.problems.is_empty() {
            true => Ok(self.is_written),
            false => Err(self.problems),
        }
    }
}

/// The excess of new bytes that are longer than the replaced ones, by the end of the
/// replaced bytes, with the number of the change.
type Grown<'c> = BTreeMap<usize, (&'c [u8], usize)>;

/// Inserts the excess of grown bytes.
fn insert(out: &mut Vec<u8>, grown: Grown<'_>) {
    for (end, (tail, _)) in grown.into_iter().rev() {
        let end = end.min(out.len());
        out.splice(end..end, tail.iter().copied());
    }
}

/// The written bytes of an asset, with their changes. Takes five bytes of memory for
/// each byte of the asset.
struct Written {
    /// The bits that are written.
    masks: Vec<u8>,
    /// The number of the first change that wrote each byte.
    changes: Vec<u32>,
}

impl Written {
    fn new(length: usize) -> Self {
        Self {
            masks: vec![0; length],
            changes: vec![0; length],
        }
    }

    /// Writes the bits of a mask at an offset of `out`. If another change wrote
    /// different bits there, returns its number.
    fn add(
        &mut self,
        out: &mut [u8],
        offset: usize,
        (bytes, masks): (&[u8], &[u8]),
        number: u32,
    ) -> Option<usize> {
        let new = || {
            let all = (offset..out.len()).zip(bytes.iter().zip(masks));
            all.filter(|(_, (_, mask))| **mask != 0)
        };
        let is_other = |(at, (new, mask)): &(usize, (&u8, &u8))| {
            (out[*at] ^ *new) & self.masks[*at] & *mask != 0
        };
        if let Some((at, _)) = new().find(is_other) {
            return Some(self.changes[at] as usize);
        }
        for (at, (new, mask)) in new() {
            let (byte, known) = (&mut out[at], &mut self.masks[at]);
            if *known == 0 {
                self.changes[at] = number;
            }
            *byte = *byte & !mask | new & mask;
            *known |= mask;
        }
        None
    }

    /// Returns the numbers of the changes of the bytes of a range.
    fn in_range(&self, range: Range<usize>) -> impl Iterator<Item = usize> {
        let masks = self.masks.get(range.clone()).unwrap_or_default();
        let changes = self.changes.get(range).unwrap_or_default();
        let written = masks.iter().zip(changes).filter(|(mask, _)| **mask != 0);
        written.map(|(_, change)| *change as usize)
    }
}

/// Returns the ranges of the elements that a change deletes.
fn deleted(list: &Change) -> impl Iterator<Item = Range<usize>> {
    let (ranges, order): (&[_], &[_]) = match &list.content {
        Content::List { ranges, order, .. } => (ranges, order),
        Content::Bytes { .. } => (&[], &[]),
    };
    let mut is_kept = vec![false; ranges.len()];
    for element in order {
        if let Element::Old(index) = element
            && let Some(is_kept) = is_kept.get_mut(*index)
        {
            *is_kept = true;
        }
    }
    let deleted = ranges.iter().zip(is_kept).filter(|(_, is_kept)| !is_kept);
    deleted.map(|(range, _)| range.clone())
}

/// Describes the conflict of a deleted element with a change in it.
fn deletion((change, _): At<'_>, (list, in_file): At<'_>) -> String {
    let place = place(in_file, &list.path);
    format!("{}: is deleted by {place}", change.path)
}

/// Says that two changes are not the same.
fn disagreement((change, file): At<'_>, (other, in_file): At<'_>) -> String {
    match file == in_file {
        true => format!("{} and {} disagree", other.path, change.path),
        false => {
            let place = place(in_file, &other.path);
            format!("{}: disagrees with {place}", change.path)
        }
    }
}

/// Names a path in a file.
fn place(file: &str, path: &str) -> String {
    match file {
        "" => path.to_owned(),
        _ => format!("{path} in {file}"),
    }
}

fn splice(
    out: &mut Vec<u8>,
    (ranges, grown): (&[Range<usize>], &Grown<'_>),
    (start, least): (usize, usize),
    counts: &[(Place, Counted)],
    order: &[Element],
) {
    let mut list: Vec<u8> = Vec::new();
    for element in order {
        match element {
            Element::Old(index) => {
                let mut range = ranges.get(*index).cloned().unwrap_or_default();
                for (&end, (tail, _)) in grown.range(range.start + 1..=range.end) {
                    list.extend(out.get(range.start..end).unwrap_or_default());
                    list.extend(*tail);
                    range.start = end;
                }
                list.extend(out.get(range).unwrap_or_default());
            }
            Element::New(bytes, _) => list.extend(bytes),
        }
    }
    for (place, counted) in counts {
        let number = match counted {
            Counted::Elements => order.len(),
            Counted::Bytes => list.len(),
        };
        let number = place.with_number(number as u32);
        if let Some(field) = out.get_mut(place.offset..place.offset + number.len()) {
            field.copy_from_slice(&number);
        }
    }
    list.resize(list.len().max(least), 0);
    let end = end_of(ranges, start).min(out.len());
    out.splice(start.min(out.len())..end, list);
}

/// Returns where the elements of a list end.
fn end_of(ranges: &[Range<usize>], start: usize) -> usize {
    ranges.last().map_or(start, |last| last.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::edit::{Form, What};
    use hpimount_containers::io::Endian;

    fn bytes(path: &str, offset: usize, bytes: &[u8], mask: &[u8]) -> Change {
        let content = Content::Bytes {
            offset,
            bytes: bytes.to_vec(),
            mask: mask.to_vec(),
        };
        Change {
            path: path.to_owned(),
            value: Value::Null,
            content,
        }
    }

    #[test]
    fn changes_of_several_files_are_written_together_if_they_agree() {
        let flags = bytes("flags", 1, &[0x1C], &[0xFF]);
        let enabled = bytes("enabled", 1, &[0], &[1]);
        let new = of_files(&[9, 0x1D], [&flags, &enabled], 0);
        assert_eq!(new, Ok(vec![9, 0x1C]));
        let disabled = bytes("enabled", 1, &[1], &[1]);
        let new = of_files(&[9, 0x1D], [&flags, &disabled], 0);
        let text = "enabled: disagrees with flags in a.json".to_owned();
        assert_eq!(new, Err(vec![disagreeing(text, "enabled")]));
    }

    #[test]
    fn of_changes_that_disagree_the_one_with_the_higher_rank_counts() {
        let one = bytes("number", 0, &[1, 2], &[0xFF; 2]);
        let other = bytes("number", 0, &[3, 4], &[0xFF; 2]);
        assert!(of_files(&[0, 0], [&one, &other], 0).is_err());
        assert_eq!(of_files(&[0, 0], [&other, &one], 1), Ok(vec![3, 4]));
        let list = list(vec![Element::Old(0)]);
        let inside = bytes("list[1].x", 3, &[8, 8], &[0xFF; 2]);
        let before = [2, 1, 1, 2, 2];
        assert_eq!(of_files(&before, [&list, &inside], 1), Ok(vec![1, 1, 1]));
        let after = of_files(&before, [&inside, &list], 1);
        assert_eq!(after, Ok(vec![2, 1, 1, 8, 8]));
    }

    /// Applies a change of `a.json` with a given rank, and one of `b.tsv`.
    fn of_files(asset: &[u8], changes: [&Change; 2], rank: u64) -> Result<Vec<u8>, Vec<Problem>> {
        let [first, second] = changes.map(Change::clone);
        let edit = |place: &str| Edit::new(place.to_owned(), What::Values(Value::Null));
        let first_edit = Edit {
            rank,
            ..edit("a.json")
        };
        let edits = [first_edit, edit("b.tsv")];
        patched(asset, &[(first, 0), (second, 1)], &edits).map(|(new, _)| new)
    }

    /// Returns the conflict of the second file with the first one.
    fn disagreeing(text: String, path: &str) -> Problem {
        let path = path.to_owned();
        Problem {
            disagreement: Some(Disagreement { with: 0, path }),
            ..Problem::new(1, text)
        }
    }

    /// Returns a change of a list of two elements of two bytes after their count.
    fn list(order: Vec<Element>) -> Change {
        let place = Place::new(0, Endian::Big, Form::U8);
        let content = Content::List {
            ranges: vec![1..3, 3..5],
            start: 1,
            counts: vec![(place, Counted::Elements)],
            least_length: 0,
            order,
        };
        Change {
            path: "list".to_owned(),
            value: Value::Null,
            content,
        }
    }

    #[test]
    fn a_list_is_spliced_after_its_elements_have_changed() {
        let list = list(vec![
            Element::Old(1),
            Element::New(vec![7, 7], Value::Null),
            Element::Old(0),
        ]);
        let changed = bytes("list[1]", 3, &[8], &[0xFF]);
        let new = of_files(&[2, 1, 1, 2, 2, 9], [&list, &changed], 0);
        assert_eq!(new, Ok(vec![3, 8, 2, 7, 7, 1, 1, 9]));
    }

    #[test]
    fn bytes_that_grow_move_what_follows_also_within_lists() {
        let grown = |at: usize, tail: &[u8]| {
            let value = [&[8][..], tail].concat();
            bytes(&format!("text at {at}"), at, &value, &[0xFF])
        };
        let (first, second) = (grown(2, &[6]), grown(4, &[7, 7]));
        let (last, behind) = (grown(5, &[4]), list(vec![Element::Old(1), Element::Old(0)]));
        let all = [&first, &behind, &second, &last].map(|change| (change.clone(), 0));
        let edit = Edit::new(String::new(), What::Values(Value::Null));
        let new = patched(&[2, 1, 1, 2, 2, 9, 3], &all, &[edit]).unwrap().0;
        assert_eq!(new, [2, 2, 8, 7, 7, 1, 8, 6, 8, 4, 3]);

        let (other, before) = (grown(2, &[5]), [2, 1, 1, 2, 2, 9]);
        let text = "text at 2: disagrees with text at 2 in a.json".to_owned();
        let refused = Err(vec![disagreeing(text, "text at 2")]);
        assert_eq!(of_files(&before, [&first, &other], 0), refused);
        let new = of_files(&before, [&first, &other], 1);
        assert_eq!(new, Ok(vec![2, 1, 8, 6, 2, 2, 9]));
    }

    #[test]
    fn a_text_disagrees_with_a_shorter_one_that_it_begins_with() {
        let shorter = bytes("short", 1, &[8], &[0xFF]);
        let longer = bytes("long", 1, &[8, 6], &[0xFF]);
        let before = [2, 1, 9];
        for (changes, after) in [
            ([&shorter, &longer], vec![2, 8, 9]),
            ([&longer, &shorter], vec![2, 8, 6, 9]),
        ] {
            assert!(of_files(&before, changes, 0).is_err());
            assert_eq!(of_files(&before, changes, 1), Ok(after));
        }
    }

    #[test]
    fn changes_of_an_element_that_another_file_deletes_are_refused() {
        let list = list(vec![Element::Old(0)]);
        let kept = bytes("list[0].x", 2, &[8], &[0xFF]);
        let inside = bytes("list[1].x", 3, &[8, 8], &[0xFF; 2]);
        let new = of_files(&[2, 1, 1, 2, 2], [&list, &kept], 0);
        assert_eq!(new, Ok(vec![1, 1, 8]));
        let new = of_files(&[2, 1, 1, 2, 2], [&list, &inside], 0);
        let text = "list[1].x: is deleted by list in a.json".to_owned();
        assert_eq!(new, Err(vec![disagreeing(text, "list[1].x")]));
    }
}
