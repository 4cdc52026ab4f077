//! Pairing of names.

use std::collections::HashMap;

/// Normalizes a name for programs that ignore case and write spaces as underscores.
pub(super) fn key(name: &str) -> String {
    name.trim().to_lowercase().replace('_', " ")
}

/// Splits off the number that Blender appends to a duplicate name: `arm.001` is the
/// second `arm`.
pub fn numbered(name: &str) -> Option<(&str, usize)> {
    let (stem, digits) = name.rsplit_once('.')?;
    let is_number = digits.len() >= 3 && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    Some((stem, number))
}

/// Returns the name without case and punctuation, for games that cannot store them.
fn plain(name: &str) -> String {
    let letters = name.trim().chars();
    let letters = letters.map(|letter| match letter.is_alphanumeric() {
        true => letter.to_ascii_lowercase(),
        false => ' ',
    });
    letters.collect()
}

/// Pairs edited names with shown ones: exact matches first, then matches except for
/// case and underscores, then except for punctuation. The n-th of equal names is paired
/// with the n-th, or with the name that ends with the number n.
pub(super) fn pairs<'a>(
    shown: impl Iterator<Item = &'a str>,
    edited: &[String],
) -> Vec<Option<usize>> {
    let shown: Vec<&str> = shown.collect();
    let forms: [fn(&str) -> String; 3] = [str::to_owned, key, plain];
    let [mut exact, mut folded, mut plainly] = forms.map(|form| Names::new(&shown, form));
    let mut pairs = vec![None; edited.len()];
    let mut used = vec![false; shown.len()];
    let mut pass = |find: &mut dyn FnMut(&str, &[bool]) -> Option<usize>| {
        for (pair, name) in pairs.iter_mut().zip(edited) {
            if pair.is_none() {
                *pair = find(name, &used).filter(|&found| !used[found]);
                pair.iter().for_each(|&found| used[found] = true);
            }
        }
    };
    pass(&mut |name, used| exact.next(name, used));
    pass(&mut |name, used| folded.next(name, used));
    pass(&mut |name, _| exact.numbered(name));
    pass(&mut |name, _| folded.numbered(name));
    pass(&mut |name, used| plainly.next(name, used));
    pairs
}

/// The numbers of names, by a normalized form.
struct Names {
    form: fn(&str) -> String,
    /// The numbers of each name, and the count of those already used.
    numbers: HashMap<String, (Vec<usize>, usize)>,
}

impl Names {
    fn new(names: &[&str], form: fn(&str) -> String) -> Self {
        let mut numbers: HashMap<_, (Vec<usize>, usize)> = HashMap::new();
        for (number, name) in names.iter().enumerate() {
            numbers.entry(form(name)).or_default().0.push(number);
        }
        Self { form, numbers }
    }

    /// Returns the first unused number of a name.
    fn next(&mut self, name: &str, used: &[bool]) -> Option<usize> {
        let (numbers, start) = self.numbers.get_mut(&(self.form)(name))?;
        let rest = &numbers[*start..];
        let before = rest.iter().take_while(|&&number| used[number]).count();
        *start += before;
        rest.get(before).copied()
    }

    /// Returns the number of a name that ends with its ordinal among equal names.
    fn numbered(&self, name: &str) -> Option<usize> {
        let (stem, place) = numbered(name)?;
        let (numbers, _) = self.numbers.get(&(self.form)(stem))?;
        numbers.get(place).copied()
    }
}

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
    fn names_that_differ_by_case_are_not_exchanged() {
        let shown = ["arm", "Arm", "arm"];
        let found = paired(&shown, &["Arm", "arm", "arm.001"]);
        assert_eq!(found, [Some(1), Some(0), Some(2)]);
        assert_eq!(paired(&shown, &["ARM", "Arm"]), [Some(0), Some(1)]);
    }

    #[test]
    fn each_name_without_its_signs_is_found() {
        let found = paired(&["gun-1", "gun+1"], &["gun 1", "gun=1"]);
        assert_eq!(found, [Some(0), Some(1)]);
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
