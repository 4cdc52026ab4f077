//! DDX: a list of textures, with its view: facts, a table, and each texture as DDS and
//! PNG.

use bytes::Bytes;
use get_size2::GetSize;

use crate::dds::Dds;
use hpimount_assets::model::padded;
use hpimount_assets::parse::name::until_nul;
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::io::{Cursor, Endian, Error, Result as Parsed, Warnings};
use hpimount_containers::text::stem;

/// Lists of textures of THPS2X.
pub const DDX_FORMAT: ViewFormat = ViewFormat {
    extensions: DDX_EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    preview: Some(Preview::new(6, &[])),
    left_out: &[
        Editable::new("*.png", "is a picture of a DDX, which is not encoded"),
        Editable::new(
            "*.dds",
            "is a picture of a DDX, which is not put together again",
        ),
    ],
    ..ViewFormat::new("DDX", open)
};

/// Extensions of the files.
pub const DDX_EXTENSIONS: &[&str] = &["ddx"];

/// Sizes of a name and of an entry in bytes.
const NAME: usize = 256;
const ENTRY: usize = NAME + 8;

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Ddx {
    /// Length of the file in bytes, as stored.
    pub size: u32,
    /// Offset of the textures.
    pub data: u32,
    /// The textures.
    pub entries: Vec<Entry>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A texture of the list.
#[derive(Debug, Clone, GetSize)]
pub struct Entry {
    /// Name.
    pub name: String,
    /// Offset.
    pub offset: u64,
    /// Length in bytes.
    pub size: u32,
    /// The file; empty if it is out of bounds.
    #[get_size(ignore)]
    pub bytes: Bytes,
    /// The texture.
    pub dds: Option<Dds>,
    /// The problem, if it cannot be shown.
    pub problem: Option<String>,
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if the header is wrong, or the entries do not
/// fit.
pub fn parse(bytes: &Bytes) -> Parsed<Ddx> {
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
    fn read(cursor: &mut Cursor<'_>, file: &Bytes, data: u32) -> Parsed<Self> {
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

    /// Returns the texture if it is visible.
    pub fn shown(&self) -> Option<&Dds> {
        self.dds.as_ref().filter(|_| self.problem.is_none())
    }
}

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut ddx = parse(bytes)?;
    let warnings = std::mem::take(&mut ddx.warnings);
    let mut page = Page::new(DDX_FORMAT.name, "DDX list of textures", warnings);
    page.fact("size", ddx.size)
        .fact("data", ddx.data)
        .rows("textures", textures)
        .measures(|ddx: &Ddx| {
            let found = ddx.entries.iter().filter_map(|entry| entry.dds.as_ref());
            Measures::pictures(found.map(|dds| [dds.width, dds.height]))
        });
    for (index, entry) in ddx.entries.iter().enumerate() {
        let name = format!("{} {}", padded(index, ddx.entries.len(), 2), entry.stem());
        if entry.shown().is_some() {
            page.picture(format!("{name}.png"), move |ddx: &Ddx| {
                ddx.entries[index].shown()?.picture()
            });
        }
        if entry.dds.is_some() {
            page.stored(format!("{name}.dds"), entry.bytes.clone());
        }
    }
    Ok(page.show(ddx, None))
}

fn textures(ddx: &Ddx) -> Rows<'_> {
    let columns = [
        "index", "name", "offset", "size", "width", "height", "mipmaps", "fourcc", "bits", "error",
    ];
    let rows = ddx.entries.iter().enumerate().map(|(index, entry)| {
        let dds = entry.dds.as_ref();
        [
            index.into(),
            entry.name.clone().into(),
            entry.offset.into(),
            entry.size.into(),
            dds.map(|dds| dds.width).into(),
            dds.map(|dds| dds.height).into(),
            dds.map(|dds| dds.mipmaps).into(),
            dds.map(|dds| dds.compression.clone()).into(),
            dds.map(|dds| dds.bits).into(),
            entry.problem.clone().into(),
        ]
    });
    Rows::new(columns, rows)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::dds::tests::file as dds;
    use hpimount_assets::view::{Alone, rendered_text};

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

    #[test]
    fn each_texture_is_a_picture_and_a_file() {
        let bytes = list(&["floor.dds"]);
        let view = open(&bytes.clone().into(), &Alone).unwrap();
        let names: Vec<_> = view
            .files()
            .into_iter()
            .skip(3)
            .map(|file| file.name)
            .collect();
        assert_eq!(names, ["00 floor.png", "00 floor.dds"]);
        assert_eq!(
            rendered_text(&DDX_FORMAT, &bytes, "textures.tsv").unwrap(),
            "index\tname\toffset\tsize\twidth\theight\tmipmaps\tfourcc\tbits\terror\n\
             0\tfloor.dds\t280\t132\t1\t1\t0\t\t32\t\n"
        );
    }
}
