//! Pairing of the elements of an edited and a shown list.

use std::collections::HashSet;
use std::ops::Range;

use hpimount_record::Value;

/// Maximum number of compared pairs of two lists. Longer lists are paired by position
/// between their equal ends.
const MAX_PAIRS: usize = 1 << 20;

/// Returns true if an edited value equals the shown one. Ignores keys that an edited
/// map lacks.
pub fn is_same(shown: &Value, edited: &Value) -> bool {
    match (shown, edited) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(shown), Value::Bool(edited)) => shown == edited,
        (Value::Bool(shown), Value::Text(text)) => shown.to_string().eq_ignore_ascii_case(text),
        (Value::Integer(shown), edited) => edited.integer() == Some(*shown),
        (Value::Float(shown), edited) => match edited.number() {
            Some(number) => number as f32 == *shown,
            None => edited.to_string() == shown.to_string(),
        },
        (Value::Double(shown), edited) => edited.number() == Some(*shown),
        (Value::Text(shown), Value::Text(edited)) => shown == edited,
        (Value::List(shown), Value::List(edited)) => {
            shown.len() == edited.len() && shown.iter().zip(edited).all(|(a, b)| is_same(a, b))
        }
        (Value::Map(_), Value::Map(edited)) => edited
            .iter()
            .all(|(key, value)| shown.get(key).is_some_and(|shown| is_same(shown, value))),
        _ => false,
    }
}

/// Returns the changed entries of an edited map. Other values are returned whole.
pub(super) fn changed(shown: &Value, edited: &Value) -> Value {
    let mut changed = edited.clone();
    if let Value::Map(entries) = &mut changed {
        entries.retain(|(key, value)| !shown.get(key).is_some_and(|shown| is_same(shown, value)));
    }
    changed
}

/// Pairs edited elements with shown ones. Elements with different values of the field
/// `kind` are never paired.
pub(super) fn paired(shown: &[Value], edited: &[Value], kind: Option<&str>) -> Vec<Option<usize>> {
    let is_equal = |(old, new): (usize, usize)| is_same(&shown[old], &edited[new]);
    let common = shown.len().min(edited.len());
    let first = (0..common).take_while(|&n| is_equal((n, n))).count();
    let from_end = |n: usize| (shown.len() - 1 - n, edited.len() - 1 - n);
    let last = (0..common - first)
        .take_while(|&n| is_equal(from_end(n)))
        .count();
    let mut pairs: Vec<Option<usize>> = vec![None; edited.len()];
    for (index, pair) in pairs.iter_mut().enumerate() {
        if index < first {
            *pair = Some(index);
        } else if index >= edited.len() - last {
            *pair = Some(index + shown.len() - edited.len());
        }
    }
    let old = first..shown.len() - last;
    let new = first..edited.len() - last;
    if old.len().saturating_mul(new.len()) <= MAX_PAIRS {
        for (old, new) in common_elements(&old, &new, is_equal) {
            pairs[new] = Some(old);
        }
    }
    pair_moved(&mut pairs, new.clone(), old.clone(), is_equal);
    pair_by_position(&mut pairs, new, old);
    let is_other = |(pair, edited): (Option<usize>, &Value)| {
        let old = shown.get(pair?)?.get(kind?)?;
        edited.get(kind?).map(|new| !is_same(old, new))
    };
    for (pair, edited) in pairs.iter_mut().zip(edited) {
        if is_other((*pair, edited)) == Some(true) {
            *pair = None;
        }
    }
    pairs
}

/// Returns the longest common subsequence, as pairs of positions.
fn common_elements(
    old: &Range<usize>,
    new: &Range<usize>,
    is_equal: impl Fn((usize, usize)) -> bool,
) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    let mut equal = vec![false; old.len() * new.len()];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            let is_pair = is_equal((old.start + row, new.start + column));
            equal[row * new.len() + column] = is_pair;
            let at = row * width + column;
            lengths[at] = match is_pair {
                true => lengths[at + width + 1] + 1,
                false => lengths[at + width].max(lengths[at + 1]),
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < old.len() && column < new.len() {
        let at = row * width + column;
        if equal[row * new.len() + column] {
            pairs.push((old.start + row, new.start + column));
            row += 1;
            column += 1;
        } else if lengths[at + width] >= lengths[at + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// Pairs elements that were moved.
fn pair_moved(
    pairs: &mut [Option<usize>],
    new: Range<usize>,
    old: Range<usize>,
    is_equal: impl Fn((usize, usize)) -> bool,
) {
    if old.len().saturating_mul(new.len()) > MAX_PAIRS {
        return;
    }
    let mut used: HashSet<usize> = pairs.iter().flatten().copied().collect();
    for index in new
        .filter(|&index| pairs[index].is_none())
        .collect::<Vec<_>>()
    {
        let mut left = old.clone().filter(|old| !used.contains(old));
        let found = left.find(|&old| is_equal((old, index)));
        used.extend(found);
        pairs[index] = found;
    }
}

/// Pairs the remaining elements between two pairs by position.
fn pair_by_position(pairs: &mut [Option<usize>], new: Range<usize>, old: Range<usize>) {
    let used: HashSet<usize> = pairs.iter().flatten().copied().collect();
    let mut next = old.start;
    for index in new {
        match pairs[index] {
            Some(old) => next = next.max(old + 1),
            None if next < old.end && !used.contains(&next) => {
                pairs[index] = Some(next);
                next += 1;
            }
            None => {}
        }
    }
}
