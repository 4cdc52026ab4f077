//! A list of textures.

use bytes::Bytes;
use get_size2::GetSize;

use crate::dds::Dds;
use crate::view::stem;
use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of the files.
pub const DDX_EXTENSIONS: &[&str] = &["ddx"];

/// Bytes of a name, and of an entry.
const NAME: usize = 256;
const ENTRY: usize = NAME + 8;

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Ddx {
    /// Length of the file in bytes, as it is stored.
    pub size: u32,
    /// Where the textures begin.
    pub data: u32,
    /// The textures.
    pub entries: Vec<Entry>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A texture of the list.
#[derive(Debug, Clone, GetSize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its offset.
    pub offset: u64,
    /// Its length in bytes.
    pub size: u32,
    /// The file; empty if it is not inside.
    #[get_size(ignore)]
    pub bytes: Bytes,
    /// The texture.
    pub dds: Option<Dds>,
    /// What is wrong with it.
    pub problem: Option<String>,
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if the header is wrong, or the entries do not
/// fit.
pub fn parse(bytes: &Bytes) -> Result<Ddx> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let first = cursor.u32("first word")?;
    if first != 0 {
        return Err(Error::damaged(
            0,
            "first word",
            format!("is {first}, not 0"),
        ));
    }
    let (size, data) = (cursor.u32("size")?, cursor.u32("data")?);
    let count = cursor.u32("entries")?;
    let count = cursor.check_count(count.into(), ENTRY, "entries")?;
    let mut ddx = Ddx {
        size,
        data,
        entries: Vec::with_capacity(count),
        warnings: Warnings::default(),
    };
    if size as usize != bytes.len() {
        let there = bytes.len();
        ddx.warnings.push(format!(
            "the stored size is {size}, the file has {there} bytes"
        ));
    }
    for index in 0..count {
        let entry = Entry::read(&mut cursor, bytes, data)?;
        if let Some(problem) = &entry.problem {
            ddx.warnings.push(format!("texture {index}: {problem}"));
        }
        ddx.entries.push(entry);
    }
    Ok(ddx)
}

impl Entry {
    fn read(cursor: &mut Cursor<'_>, file: &Bytes, data: u32) -> Result<Self> {
        let (offset, size) = (cursor.u32("offset")?, cursor.u32("size")?);
        let name = until_nul(cursor.take(NAME, "name")?);
        let start = u64::from(data) + u64::from(offset);
        let is_inside = start + u64::from(size) <= file.len() as u64;
        let bytes = match is_inside {
            true => file.slice(start as usize..start as usize + size as usize),
            false => Bytes::new(),
        };
        let dds = Dds::read(&bytes);
        let problem = match &dds {
            _ if !is_inside => Some("is outside of the file".to_owned()),
            None => Some("is no DDS file".to_owned()),
            Some(dds) => dds.problem(),
        };
        Ok(Self {
            name,
            offset: start,
            size,
            bytes,
            dds,
            problem,
        })
    }

    /// Returns its name without directories and extension.
    pub fn stem(&self) -> &str {
        stem(&self.name)
    }

    /// Returns the texture if it can be shown.
    pub fn shown(&self) -> Option<&Dds> {
        self.dds.as_ref().filter(|_| self.problem.is_none())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::dds::tests::file as dds;

    /// Returns a list of textures of 1 by 1 pixels with these names.
    pub(crate) fn list(names: &[&str]) -> Vec<u8> {
        let texture = dds([1, 1], &[0; 4], 32, &[1, 2, 3, 255]);
        let data = 16 + ENTRY * names.len();
        let size = data + texture.len() * names.len();
        let words = |words: [usize; 2]| words.map(|word| (word as u32).to_le_bytes()).concat();
        let mut file = [words([0, size]), words([data, names.len()])].concat();
        for (index, name) in names.iter().enumerate() {
            file.extend(words([texture.len() * index, texture.len()]));
            let mut name = name.as_bytes().to_vec();
            name.resize(NAME, 0);
            file.extend(name);
        }
        file.extend(texture.repeat(names.len()));
        file
    }

    #[test]
    fn textures_are_found_after_the_list() {
        let ddx = parse(&list(&["a\\floor.DDS", "wall"]).into()).unwrap();
        let stems: Vec<_> = ddx.entries.iter().map(Entry::stem).collect();
        assert_eq!(stems, ["floor", "wall"]);
        let picture = ddx.entries[1].shown().unwrap().picture().unwrap();
        assert_eq!(picture.rgba(), [[3, 2, 1, 255]]);
        assert!(ddx.warnings.is_empty());
    }

    #[test]
    fn textures_outside_of_the_file_are_warnings() {
        let mut file = list(&["a", "b"]);
        file.pop();
        let ddx = parse(&file.clone().into()).unwrap();
        assert!(ddx.entries[0].shown().is_some());
        assert!(ddx.entries[1].shown().is_none());
        assert_eq!(ddx.warnings.len(), 2);
        file[15] = 0x10;
        let error = parse(&file.into()).unwrap_err().to_string();
        assert!(error.starts_with("entries at 0x10: "), "{error}");
    }
}
