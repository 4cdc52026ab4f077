//! The names in a file.

use get_size2::GetSize;

use hpimount_containers::io::{Error, Result};
use hpimount_containers::text::windows_1252;

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["psh"];

/// Maximum number of digits of an index.
const MAX_DIGITS: usize = 5;

/// The parent of a root part.
const ROOT: &str = "scene root";

/// The names of a character.
#[derive(Debug, Clone, Default, PartialEq, Eq, GetSize)]
pub struct Psh {
    /// Parts.
    pub parts: Vec<Part>,
    /// Animations.
    pub animations: Vec<Named>,
}

/// A part of a character.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Part {
    /// Name and the index of its object.
    pub named: Named,
    /// Name of its parent.
    pub parent: Option<String>,
}

/// A name with an index.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Named {
    /// The index.
    pub index: u32,
    /// The name, in lower case.
    pub name: String,
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if it has no names.
pub fn parse(bytes: &[u8]) -> Result<Psh> {
    let text = windows_1252(bytes);
    let mut psh = Psh::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(named) = defined(line, "PART_") {
            let parent = lines.peek().and_then(|next| parent(next));
            psh.parts.push(Part {
                named,
                parent: parent.filter(|parent| parent != ROOT),
            });
        } else if let Some(named) = defined(line, "ANIM_") {
            psh.animations.push(named);
        }
    }
    if psh.parts.is_empty() && psh.animations.is_empty() {
        return Err(Error::damaged(0, "text", "defines no parts or animations"));
    }
    Ok(psh)
}

/// Parses the definition in a line: `#define`, a word that contains this mark followed
/// by the name, and the index.
fn defined(line: &str, mark: &str) -> Option<Named> {
    let mut words = line.split_whitespace();
    if words.next()? != "#define" {
        return None;
    }
    let word = words.next()?;
    let (_, name) = word.split_once(mark)?;
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() || !is_name(word) {
        return None;
    }
    let index = words.next()?;
    let digits = index.len() - index.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_whole = !index[digits..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if digits > MAX_DIGITS || !is_whole {
        return None;
    }
    Some(Named {
        index: index[..digits].parse().ok()?,
        name: name.to_ascii_lowercase(),
    })
}

/// Returns the name in a comment about a parent.
fn parent(line: &str) -> Option<String> {
    let comment = line.trim().strip_prefix("//")?.trim_start();
    let name = comment.strip_prefix("parent:")?.trim();
    (!name.is_empty()).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(index: u32, name: &str) -> Named {
        Named {
            index,
            name: name.into(),
        }
    }

    #[test]
    fn parts_have_the_parent_of_the_next_line() {
        let text = b"#ifndef X\n#define XPART_HIPS 0\n//   parent: Scene Root\n\
            #define XPART_LEG_L\t1\r\n// parent: hips\r\n#define XANIM_JUMP 12\n#define XPART_B 2\n";
        let psh = parse(text).unwrap();
        let part = |index, name, parent: Option<&str>| Part {
            named: named(index, name),
            parent: parent.map(str::to_owned),
        };
        let expected = [
            part(0, "hips", None),
            part(1, "leg_l", Some("hips")),
            part(2, "b", None),
        ];
        assert_eq!(psh.parts, expected);
        assert_eq!(psh.animations, [named(12, "jump")]);
    }

    #[test]
    fn other_definitions_are_ignored() {
        for line in [
            "#define XPART_ 1",
            "#define XPART_A 123456",
            "#define XPART_A 1x",
            "#define XPART_A",
            "#define X 1",
            "define XPART_A 1",
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
