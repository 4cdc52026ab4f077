//! animgrp.dat: groups of animations (FORMATS, GTA 7.1).

use get_size2::GetSize;

use super::MAX_ROWS;
use crate::document::{bounded_lines, fields, text};
use hpimount_containers::io::{Result, Warnings};

/// The groups of a file.
#[derive(Debug, Default, GetSize)]
pub struct Groups {
    /// The groups, in the order of the file.
    pub groups: Vec<Group>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A group: the animations of a package for one kind of model.
#[derive(Debug, Default, Clone, PartialEq, Eq, GetSize)]
pub struct Group {
    /// Number of its first line, from 1.
    pub line: u32,
    /// Name.
    pub name: String,
    /// Name of its package, without extension.
    pub package: String,
    /// Name of the list of animations that it replaces.
    pub kind: String,
    /// Number of animations as declared.
    pub declared: String,
    /// Names of its animations.
    pub animations: Vec<String>,
}

impl Groups {
    /// Returns the group with this name, ignoring case.
    pub fn find(&self, name: &str) -> Option<&Group> {
        let mut groups = self.groups.iter();
        groups.find(|group| group.name.eq_ignore_ascii_case(name))
    }
}

/// Reads a file of groups.
///
/// # Errors
/// Returns [`Error::Damaged`](hpimount_containers::io::Error::Damaged) for a
/// file that is not a text or has more than 65,536 rows.
pub fn parse(bytes: &[u8]) -> Result<Groups> {
    let text = text(bytes)?;
    let mut found = Groups::default();
    let mut current: Option<Group> = None;
    for line in bounded_lines(&text, &['#'], MAX_ROWS) {
        let line = line?;
        let words: Vec<&str> = fields(line.text).collect();
        let Some(group) = &mut current else {
            match words[..] {
                [name, package, kind, declared] => {
                    current = Some(Group {
                        line: line.number,
                        name: name.to_owned(),
                        package: package.to_owned(),
                        kind: kind.to_owned(),
                        declared: declared.to_owned(),
                        animations: Vec::new(),
                    });
                }
                _ => found.warnings.push(format!(
                    "line {}: {} fields instead of the 4 of a group",
                    line.number,
                    words.len()
                )),
            }
            continue;
        };
        match words[..] {
            [only] if only.eq_ignore_ascii_case("end") => {
                found.groups.extend(current.take());
                found.check_last();
            }
            _ => group
                .animations
                .extend(words.first().map(ToString::to_string)),
        }
    }
    if let Some(group) = current {
        let problem = format!("group {:?} has no end", group.name);
        found.warnings.push(problem);
        found.groups.push(group);
    }
    Ok(found)
}

impl Groups {
    /// Warns if the number of animations of the last group is wrong.
    fn check_last(&mut self) {
        let Some(group) = self.groups.last() else {
            return;
        };
        let count = group.animations.len();
        if group.declared.parse() != Ok(count) {
            let (line, declared) = (group.line, &group.declared);
            self.warnings.push(format!(
                "line {line}: {declared} animations declared, {count} found"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_names_a_package_and_its_animations() {
        let text = b"# groups\nman, ped, walkcycle, 2\n\twalk_civi\n\trun_civi # fast\nEND\n";
        let found = parse(text).unwrap();
        let group = found.find("MAN").unwrap();
        assert_eq!((group.line, group.package.as_str()), (2, "ped"));
        assert_eq!(group.animations, ["walk_civi", "run_civi"]);
        assert!(found.warnings.is_empty());
    }

    #[test]
    fn odd_groups_are_warnings() {
        let text = b"man ped\nfat ped walk 3\nwalk_fat\nend\nold ped walk 1\nwalk_old\n";
        let found = parse(text).unwrap();
        assert_eq!(
            found.warnings.texts(),
            [
                "line 1: 2 fields instead of the 4 of a group",
                "line 2: 3 animations declared, 1 found",
                "group \"old\" has no end",
            ]
        );
        assert_eq!(found.groups.len(), 2);
    }
}
