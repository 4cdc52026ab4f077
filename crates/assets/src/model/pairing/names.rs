//! Which name of an edited model is which one of the shown model.

use std::collections::{HashMap, HashSet};

/// Returns the name as programs compare it that ignore case, and that write blanks as
/// underscores.
pub(super) fn key(name: &str) -> String {
    name.trim().to_lowercase().replace('_', " ")
}

/// Splits off the number that Blender puts behind a name that is taken: `arm.001` is
/// the second of its name.
pub(super) fn numbered(name: &str) -> Option<(&str, usize)> {
    let (stem, digits) = name.rsplit_once('.')?;
    let is_number = digits.len() >= 3 && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    Some((stem, number))
}

/// Returns the name without case and signs, as a game may have it that cannot store them.
fn plain(name: &str) -> String {
    let letters = name.trim().chars();
    let letters = letters.map(|letter| match letter.is_alphanumeric() {
        true => letter.to_ascii_lowercase(),
        false => ' ',
    });
    letters.collect()
}

/// Returns the number of the shown name for each edited one. Of equal names, the n-th
/// is that with number n, or the n-th without one. What has no name then may have one
/// that differs by signs.
pub(super) fn pairs<'a>(
    shown: impl Iterator<Item = &'a str>,
    edited: &[String],
) -> Vec<Option<usize>> {
    let (mut named, mut plainly): (Numbers, Numbers) = Default::default();
    for (number, name) in shown.enumerate() {
        named.entry(key(name)).or_default().push(number);
        plainly.entry(plain(name)).or_default().push(number);
    }
    // How many of each name without a number were there before.
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut pairs: Vec<Option<usize>> = edited
        .iter()
        .map(|name| {
            let key = key(name);
            let all = named.get(&key)?;
            let place = taken.entry(key).or_default();
            *place += 1;
            all.get(*place - 1).copied()
        })
        .collect();
    let mut used: HashSet<usize> = pairs.iter().flatten().copied().collect();
    let by_number = |name: &str| {
        let (stem, number) = numbered(name)?;
        named.get(&key(stem))?.get(number).copied()
    };
    let by_letters = |name: &str| plainly.get(&plain(name))?.first().copied();
    let others: [FindName<'_>; 2] = [&by_number, &by_letters];
    for find in others {
        for (pair, name) in pairs.iter_mut().zip(edited) {
            if pair.is_none() {
                *pair = find(name).filter(|&found| used.insert(found));
            }
        }
    }
    pairs
}

/// Finds the number of a name.
type FindName<'a> = &'a dyn Fn(&str) -> Option<usize>;

/// Numbers by name.
type Numbers = HashMap<String, Vec<usize>>;

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(shown: &[&str], edited: &[&str]) -> Vec<Option<usize>> {
        let edited: Vec<String> = edited.iter().map(|&name| name.to_owned()).collect();
        pairs(shown.iter().copied(), &edited)
    }

    #[test]
    fn names_are_compared_without_case_and_underscores() {
        let found = paired(&["Base", "left arm"], &["Left_Arm", "base", "other"]);
        assert_eq!(found, [Some(1), Some(0), None]);
    }

    #[test]
    fn equal_names_are_told_apart_by_number_or_else_by_order() {
        let shown = ["arm", "leg", "arm", "arm"];
        let found = paired(&shown, &["arm.002", "arm", "arm.001", "arm.003", "leg.001"]);
        assert_eq!(found, [Some(3), Some(0), Some(2), None, None]);
        assert_eq!(
            paired(&shown, &["arm", "arm", "arm", "arm"])[1..],
            [Some(2), Some(3), None]
        );
        // The first one was deleted.
        assert_eq!(paired(&shown, &["arm.001"]), [Some(2)]);
    }

    #[test]
    fn a_name_that_was_stored_without_signs_is_found_again() {
        let found = paired(&["turret", "turret_001"], &["turret", "turret.001"]);
        assert_eq!(found, [Some(0), Some(1)]);
    }

    #[test]
    fn a_name_that_ends_with_a_number_is_itself() {
        assert_eq!(
            paired(&["arm.001", "arm"], &["arm", "arm.001"]),
            [Some(1), Some(0)]
        );
    }
}
