//! Pairing of the rows of an edited table with shown rows.

/// Message for a table that takes too many comparisons.
pub(super) const TOO_MANY: &str = "has too many rows with equal keys to tell them apart";

/// The pairs of rows with one key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    /// Numbers of shown and of edited rows.
    pub(super) pairs: Vec<(usize, usize)>,
    /// Surplus edited rows.
    pub(super) extra: Vec<usize>,
    /// The first edited row that may be one of several shown ones.
    pub(super) ambiguous: Option<usize>,
}

/// Pairs the rows with one key: first equal rows, in order, then the others in order.
/// If equal rows were reordered or rows are missing, two or more different rows are
/// ambiguous.
///
/// Returns `None` if that takes more than `left` comparisons, which are subtracted from
/// it.
pub(super) fn pair(
    shown: &[usize],
    edited: &[usize],
    left: &mut usize,
    is_equal: &dyn Fn(usize, usize) -> bool,
) -> Option<Pairs> {
    let mut result = Pairs::default();
    let mut is_paired = vec![false; shown.len()];
    let mut others = Vec::new();
    // The expected place of the next row if the order is kept.
    let (mut next, mut is_ordered) = (0, true);
    for &row in edited {
        let mut found = None;
        for place in (next..shown.len()).chain(0..next) {
            *left = left.checked_sub(1)?;
            if !is_paired[place] && is_equal(shown[place], row) {
                found = Some(place);
                break;
            }
        }
        match found {
            Some(place) => {
                is_ordered &= place >= next;
                is_paired[place] = true;
                result.pairs.push((shown[place], row));
                next = place + 1;
            }
            None => others.push(row),
        }
    }
    let unpaired = shown.iter().zip(is_paired);
    let unpaired: Vec<_> = unpaired
        .filter(|(_, is_paired)| !is_paired)
        .map(|(&row, _)| row)
        .collect();
    let is_missing = others.len() < unpaired.len();
    if unpaired.len() > 1 && (is_missing || !is_ordered) {
        result.ambiguous = others.first().copied();
    }
    result.extra = others.split_off(unpaired.len().min(others.len()));
    result.pairs.extend(unpaired.into_iter().zip(others));
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs rows of letters.
    fn paired(shown: &str, edited: &str) -> Pairs {
        let (old, new) = (shown.as_bytes(), edited.as_bytes());
        let numbers = |text: &str| (0..text.len()).collect::<Vec<_>>();
        let is_equal = |a: usize, b: usize| old[a] == new[b];
        pair(&numbers(shown), &numbers(edited), &mut 100, &is_equal).unwrap()
    }

    #[test]
    fn equal_rows_are_paired_first_and_others_by_their_order() {
        assert_eq!(paired("abc", "axc").pairs, [(0, 0), (2, 2), (1, 1)]);
        assert_eq!(paired("abc", "cba").pairs, [(2, 0), (1, 1), (0, 2)]);
        assert_eq!(paired("aaa", "aa").pairs, [(0, 0), (1, 1)]);
        assert_eq!(paired("ab", "xyz").extra, [2]);
        assert_eq!(paired("ab", "abz").extra, [2]);
    }

    #[test]
    fn rows_that_cannot_be_told_apart_are_ambiguous() {
        assert_eq!(paired("abcd", "dxyc").ambiguous, Some(1));
        assert_eq!(paired("abc", "xc").ambiguous, Some(0));
        assert_eq!(paired("abc", "cax").ambiguous, None);
        assert_eq!(paired("abcd", "xycd").ambiguous, None);
    }

    #[test]
    fn comparisons_are_bounded() {
        assert_eq!(pair(&[0; 100], &[0; 100], &mut 200, &|_, _| false), None);
    }
}
