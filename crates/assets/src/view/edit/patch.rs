//! All changes of an asset, written together.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use hpimount_record::Value;

use super::place::Place;
use crate::view::node::Counted;

/// A change of an asset.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// The path of the value, such as `links[2].target`.
    pub(super) path: String,
    /// The value as it was given; none of a list.
    pub(super) value: Value,
    /// The new bytes or elements.
    pub(super) content: Content,
}

impl Change {
    /// Returns whether it would leave an asset as it is.
    pub(super) fn is_in(&self, asset: &[u8]) -> bool {
        match &self.content {
            Content::Bytes {
                offset,
                bytes,
                mask,
            } => {
                let old = asset.get(*offset..).unwrap_or_default();
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

/// The new content of a part of an asset. Offsets are those before any change.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// Bytes that replace others.
    Bytes {
        /// Offset of the first one.
        offset: usize,
        /// The new bytes.
        bytes: Vec<u8>,
        /// The bits that are new.
        mask: Vec<u8>,
    },
    /// The elements of a list.
    List {
        /// Where the old elements are.
        ranges: Vec<Range<usize>>,
        /// Where the first one would be.
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
    /// The old one with this number, with its own changes.
    Old(usize),
    /// A new one: its bytes, and the values that were given.
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

/// The number of the edit that a change is from, and where it was made.
pub(super) type Origin<'c> = (usize, &'c str);

/// A change with its origin.
type Placed<'c> = (&'c Change, Origin<'c>);

/// The order in which lists are spliced, by start, end and path: the last list comes first,
/// so that the offsets of the others stay true. Of two empty lists at one offset, the one
/// with the lesser path is last: the `links` of an object are behind its `list`.
type Turn<'c> = (Reverse<(usize, usize)>, &'c str);

/// Returns an asset with changes, each with its origin.
///
/// # Errors
/// Returns which changes disagree. The same change from several places is one.
pub(super) fn patched<'c>(
    asset: &[u8],
    changes: impl Iterator<Item = Placed<'c>>,
) -> Result<Vec<u8>, Vec<super::Problem>> {
    let mut out = asset.to_vec();
    let mut written = Written::new(asset.len());
    let mut in_bytes: Vec<Placed<'_>> = Vec::new();
    let mut lists: BTreeMap<Turn<'_>, Placed<'_>> = BTreeMap::new();
    let mut problems = Vec::new();
    for (change, file) in changes {
        let other = match &change.content {
            Content::Bytes {
                offset,
                bytes: new,
                mask,
            } => {
                let number = in_bytes.len() as u32;
                in_bytes.push((change, file));
                let other = written.add(&mut out, *offset, (new, mask), number);
                other.map(|other| in_bytes[other as usize])
            }
            Content::List {
                ranges,
                start,
                order,
                ..
            } => {
                let place = Reverse((*start, end_of(ranges, *start)));
                let key = (place, change.path.as_str());
                let known = *lists.entry(key).or_insert((change, file));
                let is_other = match &known.0.content {
                    Content::List { order: known, .. } => known != order,
                    Content::Bytes { .. } => true,
                };
                is_other.then_some(known)
            }
        };
        if let Some((other, in_file)) = other {
            problems.push((file.0, disagreement((change, file.1), (other, in_file.1))));
        }
    }
    for (list, list_file) in lists.values() {
        let mut inside: Vec<u32> = deleted(list)
            .flat_map(|range| written.in_range(range))
            .collect();
        inside.dedup();
        problems.extend(inside.into_iter().map(|number| {
            let (change, file) = in_bytes[number as usize];
            let (path, place) = (&change.path, place(list_file.1, &list.path));
            (file.0, format!("{path}: is deleted by {place}"))
        }));
    }
    if !problems.is_empty() {
        problems.dedup();
        return Err(problems);
    }
    for (change, _) in lists.into_values() {
        if let Content::List {
            ranges,
            start,
            counts,
            least_length,
            order,
        } = &change.content
        {
            let least = *least_length;
            splice(&mut out, ranges, (*start, least), counts, order);
        }
    }
    Ok(out)
}

/// The written bytes of an asset, each with its change. It takes five bytes for each byte
/// of the asset.
struct Written {
    /// The bits that are written.
    masks: Vec<u8>,
    /// The number of the change that was first to write to a byte.
    changes: Vec<u32>,
}

impl Written {
    fn new(length: usize) -> Self {
        Self {
            masks: vec![0; length],
            changes: vec![0; length],
        }
    }

    /// Writes the bits of a mask at an offset of `out`. Returns the number of the change
    /// that has written other ones there, if any.
    fn add(
        &mut self,
        out: &mut [u8],
        offset: usize,
        (bytes, masks): (&[u8], &[u8]),
        number: u32,
    ) -> Option<u32> {
        let mut other = None;
        let new = (offset..out.len()).zip(bytes.iter().zip(masks));
        for (at, (new, mask)) in new.filter(|(_, (_, mask))| **mask != 0) {
            let (byte, known) = (&mut out[at], &mut self.masks[at]);
            if *known == 0 {
                self.changes[at] = number;
            }
            if (*byte ^ new) & *known & mask != 0 {
                other = other.or(Some(self.changes[at]));
            }
            *byte = *byte & !mask | new & mask;
            *known |= mask;
        }
        other
    }

    /// Returns the numbers of the changes of the bytes of a range.
    fn in_range(&self, range: Range<usize>) -> impl Iterator<Item = u32> {
        let masks = self.masks.get(range.clone()).unwrap_or_default();
        let changes = self.changes.get(range).unwrap_or_default();
        let written = masks.iter().zip(changes).filter(|(mask, _)| **mask != 0);
        written.map(|(_, change)| *change)
    }
}

/// Returns where the elements are that a change of a list deletes.
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

/// Says that two changes are not the same.
fn disagreement((change, file): (&Change, &str), (other, in_file): (&Change, &str)) -> String {
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
    ranges: &[Range<usize>],
    (start, least): (usize, usize),
    counts: &[(Place, Counted)],
    order: &[Element],
) {
    let mut list: Vec<u8> = Vec::new();
    for element in order {
        match element {
            Element::Old(index) => {
                let range = ranges.get(*index).cloned().unwrap_or_default();
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
    use crate::view::edit::Form;
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
        let all = [(&flags, (0, "a.json")), (&enabled, (1, "b.tsv"))];
        assert_eq!(patched(&[9, 0x1D], all.into_iter()), Ok(vec![9, 0x1C]));
        let disabled = bytes("enabled", 1, &[1], &[1]);
        let all = [(&flags, (0, "a.json")), (&disabled, (1, "b.tsv"))];
        assert_eq!(
            patched(&[9, 0x1D], all.into_iter()),
            Err(vec![(
                1,
                "enabled: disagrees with flags in a.json".to_owned()
            )])
        );
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
        let all = [(&list, (0, "")), (&changed, (0, ""))];
        let new = patched(&[2, 1, 1, 2, 2, 9], all.into_iter());
        assert_eq!(new, Ok(vec![3, 8, 2, 7, 7, 1, 1, 9]));
    }

    #[test]
    fn changes_of_an_element_that_another_file_deletes_are_refused() {
        let list = list(vec![Element::Old(0)]);
        let kept = bytes("list[0].x", 2, &[8], &[0xFF]);
        let inside = bytes("list[1].x", 3, &[8, 8], &[0xFF; 2]);
        let all = [(&list, (0, "a.json")), (&kept, (1, "b.tsv"))];
        assert_eq!(
            patched(&[2, 1, 1, 2, 2], all.into_iter()),
            Ok(vec![1, 1, 8])
        );
        let all = [(&list, (0, "a.json")), (&inside, (1, "b.tsv"))];
        let problem = "list[1].x: is deleted by list in a.json".to_owned();
        assert_eq!(
            patched(&[2, 1, 1, 2, 2], all.into_iter()),
            Err(vec![(1, problem)])
        );
    }
}
