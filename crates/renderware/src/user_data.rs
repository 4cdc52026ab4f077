//! Named values that modeling programs attach to frames, materials and geometries
//! (FORMATS, GTA 5.6).

use super::Chunk;
use hpimount_assets::parse::count::count;
use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// A named list of values.
#[derive(Debug, Clone, PartialEq)]
pub struct UserData {
    /// Name.
    pub name: String,
    /// Values.
    pub values: Values,
}

/// The values of [`UserData`], all of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Integers.
    Integers(Vec<i32>),
    /// Floats.
    Floats(Vec<f32>),
    /// Strings.
    Strings(Vec<String>),
}

/// Types of values.
const INTEGERS: u32 = 1;
const FLOATS: u32 = 2;
const STRINGS: u32 = 3;

/// Reads the user data of a plugin.
///
/// # Errors
/// Returns [`Error::Damaged`] if a count or string does not fit, or the type of
/// values is unknown.
pub fn read(plugin: &Chunk) -> Result<Vec<UserData>> {
    let mut cursor = plugin.cursor(Endian::Little);
    // A name, a type and a count each.
    let lists = count(&mut cursor, 12, "user data")?;
    (0..lists).map(|_| list(&mut cursor)).collect()
}

fn list(cursor: &mut Cursor<'_>) -> Result<UserData> {
    let name = string(cursor, "user data name")?;
    let at = cursor.offset();
    let kind = cursor.u32("user data type")?;
    let count = count(cursor, 4, "user data count")?;
    let field = "user data value";
    let values = match kind {
        INTEGERS => Values::Integers(
            (0..count)
                .map(|_| cursor.i32(field))
                .collect::<Result<_>>()?,
        ),
        FLOATS => Values::Floats(
            (0..count)
                .map(|_| cursor.f32(field))
                .collect::<Result<_>>()?,
        ),
        STRINGS => Values::Strings(
            (0..count)
                .map(|_| string(cursor, field))
                .collect::<Result<_>>()?,
        ),
        _ if count == 0 => Values::Integers(Vec::new()),
        other => {
            let problem = format!("is {other}, which is unknown");
            return Err(Error::damaged(at, "user data type", problem));
        }
    };
    Ok(UserData { name, values })
}

fn string(cursor: &mut Cursor<'_>, field: &'static str) -> Result<String> {
    let length = count(cursor, 1, field)?;
    Ok(until_nul(cursor.take(length, field)?))
}

/// Returns the value of the list `name` if it is a single string: some exporters store
/// the names of frames this way.
pub(super) fn text(plugin: &Chunk, name: &str) -> Option<String> {
    let lists = read(plugin).ok()?;
    let list = lists.into_iter().find(|list| list.name == name)?;
    match list.values {
        Values::Strings(texts) => texts.into_iter().next(),
        Values::Integers(_) | Values::Floats(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Version, kind};

    fn plugin(words: &[&[u8]]) -> Chunk {
        let body = words.concat();
        Chunk {
            kind: kind::USER_DATA,
            version: Version(0x1803_FFFF),
            declared_size: body.len() as u32,
            offset: 0,
            is_mended: false,
            body: body.into(),
        }
    }

    fn word(value: u32) -> [u8; 4] {
        value.to_le_bytes()
    }

    #[test]
    fn the_name_of_a_frame_is_a_string() {
        let bytes: [&[u8]; 11] = [
            &word(2),
            &word(2),
            b"n\0",
            &word(1),
            &word(1),
            &word(7),
            &word(5),
            b"name\0",
            &word(3),
            &word(1),
            &[&word(4)[..], b"door"].concat(),
        ];
        let plugin = plugin(&bytes);
        let lists = read(&plugin).unwrap();
        assert_eq!(lists[0].values, Values::Integers(vec![7]));
        assert_eq!(text(&plugin, "name").as_deref(), Some("door"));
        assert_eq!(text(&plugin, "n"), None);
    }

    #[test]
    fn counts_that_do_not_fit_are_errors() {
        assert!(read(&plugin(&[&word(u32::MAX)])).is_err());
        let strings: [&[u8]; 4] = [&word(1), &word(0), &word(3), &word(u32::MAX)];
        assert!(read(&plugin(&strings)).is_err());
    }
}
