//! TXD: texture dictionaries (FORMATS, GTA 2).

use std::collections::HashMap;

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_containers::io::{Endian, Error, Result, Warnings};
use hpimount_renderware::texture::{self, AlphaFlag, Level, Rules, Texture};
use hpimount_renderware::{Chunk, Chunks, HEADER, Version, kind};

/// Extensions of texture dictionaries.
pub const EXTENSIONS: &[&str] = &["txd"];

/// The rules for textures of these games.
const RULES: Rules = Rules {
    may_be_cut: false,
    alpha: AlphaFlag::NotSeparate,
};

/// Maximum number of textures of a dictionary, ten times as many as the games' files
/// have.
const MAX_TEXTURES: usize = 4096;

/// A texture dictionary.
#[derive(Debug, Default, GetSize)]
pub struct Txd {
    /// Version of the library that wrote it.
    #[get_size(ignore)]
    pub version: Version,
    /// Number of textures according to the dictionary.
    pub declared: u16,
    /// Number of the platform in the dictionary, which games ignore.
    pub device: u16,
    /// The textures, in the order of the file.
    pub textures: Vec<Entry>,
    /// Bytes after the dictionary.
    pub trailing: u64,
    /// Warnings.
    pub warnings: Warnings,
}

/// A texture of a dictionary. A broken texture does not hide the others.
#[derive(Debug, GetSize)]
pub struct Entry {
    /// Name; empty if it cannot be read.
    pub name: String,
    /// The texture, or the reason why it cannot be shown.
    #[get_size(size_fn = texture_size)]
    pub texture: Result<Texture>,
    /// Warnings.
    pub warnings: Warnings,
}

/// Returns the heap memory of a texture in bytes, without the stored pixels.
fn texture_size(texture: &Result<Texture>) -> usize {
    texture.as_ref().map_or(0, |texture| {
        let names = texture.name.capacity() + texture.mask.capacity();
        names + texture.levels.capacity() * size_of::<Level>()
    })
}

/// Returns whether a file begins like a texture dictionary: with its chunk that
/// contains a structure.
pub fn is_dictionary(bytes: &Bytes) -> bool {
    let first = Chunks::new(bytes.clone(), 0).next();
    let first = first.filter(|chunk| chunk.kind == kind::TEXTURE_DICTIONARY);
    let fields = first.and_then(|chunk| chunk.children().next());
    fields.is_some_and(|fields| fields.kind == kind::STRUCT && fields.body.len() == 4)
}

/// Parses a texture dictionary.
///
/// # Errors
/// Returns an error if the file does not begin with a dictionary, or the
/// dictionary has no header. A texture with an error is in the result.
pub fn parse(bytes: &Bytes) -> Result<Txd> {
    let mut txd = Txd::default();
    let mut chunks = Chunks::new(bytes.clone(), 0);
    let dictionary = chunks.next().ok_or_else(|| {
        let problem = format!("needs {HEADER} bytes, {} are left", bytes.len());
        Error::damaged(0, "texture dictionary", problem)
    })?;
    if dictionary.kind != kind::TEXTURE_DICTIONARY {
        let problem = format!("is a chunk of type {:#x}", dictionary.kind);
        return Err(Error::damaged(0, "texture dictionary", problem));
    }
    txd.version = dictionary.version;
    txd.trailing = chunks.left() as u64;
    if let Err(error) = dictionary.check_whole("texture dictionary") {
        txd.warnings.push(error.to_string());
    }
    let fields = dictionary.child(kind::STRUCT, "texture dictionary")?;
    let mut cursor = fields.cursor(Endian::Little);
    txd.declared = cursor.u16("texture count")?;
    txd.device = cursor.u16("device")?;
    let natives = dictionary.children();
    let natives = natives.filter(|chunk| chunk.kind == kind::TEXTURE_NATIVE);
    let mut known = HashMap::new();
    let mut found = 0;
    for native in natives {
        if found < MAX_TEXTURES {
            txd.textures.push(entry(found, &native, &mut known));
        }
        found += 1;
    }
    if found > MAX_TEXTURES {
        let more = found - MAX_TEXTURES;
        txd.warnings.push(format!(
            "{more} textures are not shown: a dictionary has at most {MAX_TEXTURES}"
        ));
    }
    if usize::from(txd.declared) != found {
        let (at, declared) = (fields.offset, txd.declared);
        txd.warnings.push(format!(
            "texture count at {at:#x}: is {declared}, found {found}"
        ));
    }
    Ok(txd)
}

/// Reads a texture. `known` has the numbers of earlier names.
fn entry(number: usize, native: &Chunk, known: &mut HashMap<String, usize>) -> Entry {
    let mut warnings = Warnings::default();
    if let Err(error) = native.check_whole("texture") {
        warnings.push(error.to_string());
    }
    let texture = texture::read(native, RULES, &mut warnings);
    let name = texture::name(native).unwrap_or_default();
    let first = *known.entry(name.to_ascii_lowercase()).or_insert(number);
    if first != number {
        let at = native.offset;
        warnings.push(format!(
            "texture name at {at:#x}: is also that of texture {first}"
        ));
    }
    Entry {
        name,
        texture: texture.map_err(|error| error.within(format!("texture {number}"))),
        warnings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::txd::{chunk, gray, txd};

    fn error(bytes: &[u8]) -> String {
        let bytes = Bytes::copy_from_slice(bytes);
        parse(&bytes).unwrap_err().to_string()
    }

    #[test]
    fn a_broken_texture_does_not_hide_the_others() {
        let mut broken = gray("b", [1, 2]);
        broken[0x18] = 2;
        let bytes = Bytes::from(txd(&[gray("a", [7, 9]), broken, gray("A", [3, 4])]));
        let model = parse(&bytes).unwrap();
        assert!(model.warnings.is_empty(), "{:?}", model.warnings.texts());
        let shown = |entry: &Entry| entry.texture.as_ref().ok().and_then(|one| one.rgba(0));
        let [a, b, c] = &model.textures[..] else {
            panic!("{:?}", model.textures)
        };
        assert_eq!(shown(a), Some(vec![[7, 7, 7, 255], [9, 9, 9, 255]]));
        let problem = b.texture.as_ref().unwrap_err().to_string();
        assert!(problem.contains("OpenGL"), "{problem}");
        assert!(problem.contains("0xb8"), "{problem}");
        assert_eq!((a.name.as_str(), c.name.as_str()), ("a", "A"));
        assert!(c.warnings.texts()[0].contains("also that of texture 0"));
    }

    #[test]
    fn bytes_after_the_dictionary_are_counted() {
        let bytes = [txd(&[gray("a", [7, 9])]), vec![0; 40]].concat();
        let model = parse(&bytes.into()).unwrap();
        assert_eq!((model.textures.len(), model.trailing), (1, 40));
        assert!(model.warnings.is_empty());
    }

    #[test]
    fn a_wrong_count_is_a_warning() {
        let mut bytes = txd(&[gray("a", [7, 9])]);
        bytes[24] = 3;
        let model = parse(&bytes.into()).unwrap();
        let warnings = model.warnings.texts();
        assert_eq!(warnings, ["texture count at 0x18: is 3, found 1"]);
    }

    #[test]
    fn another_file_is_an_error() {
        assert_eq!(
            error(b"short"),
            "texture dictionary at 0x0: needs 12 bytes, 5 are left"
        );
        assert_eq!(
            error(&chunk(0x10, b"")),
            "texture dictionary at 0x0: is a chunk of type 0x10"
        );
        assert_eq!(
            error(&chunk(0x16, b"")),
            "texture dictionary at 0xc: is missing"
        );
    }
}
