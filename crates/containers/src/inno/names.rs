//! The names of files with one destination: none of them is hidden.

use std::collections::{HashMap, HashSet};
use std::ops::RangeFrom;

use super::data::DataEntry;
use super::item::Item;

/// Gives files with the same path, ignoring case, different ones: the one that remains
/// after the installation keeps the name, unless the files are for different languages
/// or architectures. The names of the others have their language, architecture or
/// component.
pub(super) fn make_unique(items: &mut [Item], data: &[DataEntry]) {
    let mut groups: HashMap<String, Group> = HashMap::new();
    for (number, item) in items.iter().enumerate() {
        let of_path = groups.entry(item.path.to_lowercase());
        let group = of_path.or_insert(Group {
            last: number,
            others: Vec::new(),
        });
        if group.last == number {
            continue;
        }
        match replaces(item, &items[group.last], data) {
            true => group
                .others
                .push(std::mem::replace(&mut group.last, number)),
            false => group.others.push(number),
        }
    }
    let mut taken: HashSet<String> = groups.keys().cloned().collect();
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.retain(|group| !group.others.is_empty());
    groups.sort_unstable_by_key(|group| group.last);
    for group in groups {
        let last = &items[group.last];
        let differs = |differ: fn(&Item, &Item) -> bool| {
            let mut others = group.others.iter();
            others.any(|&other| differ(&items[other], last))
        };
        let differs = Differences {
            components: differs(|one, other| one.components != other.components),
            languages: differs(|one, other| one.languages != other.languages),
            architectures: differs(|one, other| one.architectures != other.architectures),
        };
        let of_last = Differences {
            components: false,
            ..differs
        };
        let mut numbers = 0..;
        let suffix = of_last.suffix(last);
        if !suffix.is_empty() {
            rename(&mut items[group.last], &suffix, &mut numbers, &mut taken);
        }
        for other in group.others {
            let suffix = differs.suffix(&items[other]);
            rename(&mut items[other], &suffix, &mut numbers, &mut taken);
        }
    }
}

/// Files with one destination.
struct Group {
    /// The one that remains after the installation.
    last: usize,
    others: Vec<usize>,
}

/// The attributes that distinguish the files of a group.
#[derive(Clone, Copy)]
struct Differences {
    components: bool,
    languages: bool,
    architectures: bool,
}

impl Differences {
    /// Returns the end that the name of a file gets.
    fn suffix(self, item: &Item) -> String {
        let mut suffix = String::new();
        let parts = [
            (self.components, '#', &item.components),
            (self.languages, '@', &item.languages),
        ];
        for (differs, mark, condition) in parts {
            if differs && is_name(condition) {
                suffix.push(mark);
                suffix.push_str(&condition.replace(['\\', '/'], "_"));
            }
        }
        let architectures = item.architectures;
        match (architectures.has_32_bits, architectures.has_64_bits) {
            (true, false) if self.architectures => suffix += "@32bit",
            (false, true) if self.architectures => suffix += "@64bit",
            _ => {}
        }
        suffix
    }
}

/// Returns whether a condition is one name, and no expression.
fn is_name(condition: &str) -> bool {
    let is_operator = |character: char| character.is_whitespace() || "()!".contains(character);
    !condition.is_empty() && !condition.contains(is_operator)
}

/// Appends `suffix` to the name of a file, and the next number if the suffix is empty or
/// the name is taken.
fn rename(
    item: &mut Item,
    suffix: &str,
    numbers: &mut RangeFrom<u64>,
    taken: &mut HashSet<String>,
) {
    let numbers = numbers.map(|number| format!("{}{suffix}${number}", item.path));
    let plain = (!suffix.is_empty()).then(|| format!("{}{suffix}", item.path));
    let mut names = plain.into_iter().chain(numbers);
    if let Some(name) = names.find(|name| taken.insert(name.to_lowercase())) {
        item.path = name;
    }
}

/// Returns whether the installer replaces `old` by `new`.
fn replaces(new: &Item, old: &Item, data: &[DataEntry]) -> bool {
    let data_of = |item: &Item| data.get(item.location()? as usize);
    let (Some(new_data), Some(old_data)) = (data_of(new), data_of(old)) else {
        return true;
    };
    let rules = new.replacement;
    let mut compares_times = rules.compares_times;
    if !rules.ignores_version {
        match (new_data.version, old_data.version) {
            (new, Some(old)) if new.is_none_or(|new| new < old) => {
                compares_times = false;
                if !rules.newer {
                    return false;
                }
            }
            (Some(new), Some(old)) if new == old && !rules.same_version => {
                let is_same = new_data.checksum == old_data.checksum;
                if rules.other_contents && is_same || !compares_times {
                    return false;
                }
            }
            (None, None) => {}
            _ => compares_times = false,
        }
    }
    let is_older = new_data.modified < old_data.modified && !rules.newer;
    !(compares_times && (new_data.modified == old_data.modified || is_older))
}
