//! Textures: RWTX and TEXS, which are RenderWare texture dictionaries
//! (FORMATS, HIP assets 4).

use bytes::Bytes;

use crate::{Parsed, read_into};
use hpimount_containers::io::{Endian, Error, Result, Warnings};
use hpimount_renderware::texture::{AlphaFlag, Rules, read};
pub use hpimount_renderware::texture::{Format, Level, MAX_SIDE, Sampling, Texture};
use hpimount_renderware::{Chunk, Chunks, kind};

/// The rules of these games' textures.
const RULES: Rules = Rules {
    may_be_cut: true,
    alpha: AlphaFlag::Blocks,
};

/// A texture dictionary.
#[derive(Debug, Default)]
pub struct Textures {
    /// Number of textures according to the dictionary.
    pub declared: Option<u16>,
    /// The textures, in file order; assets of the games have one.
    pub textures: Vec<Texture>,
    /// Warnings.
    pub warnings: Warnings,
}

/// Parses an RWTX or TEXS asset.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) with the textures so far if
/// the structure is broken: no texture, a truncated header, an unknown
/// format, a size out of range, or fewer than half of the pixels of level 0.
pub fn parse(bytes: &Bytes) -> Parsed<Textures> {
    read_into(bytes, Textures::default(), |model| dictionary(bytes, model))
}

fn dictionary(bytes: &Bytes, model: &mut Textures) -> Result<()> {
    let mut chunks = Chunks::new(bytes.clone(), 0);
    for chunk in chunks.by_ref() {
        match chunk.kind {
            kind::TEXTURE_DICTIONARY => entries(&chunk, model)?,
            kind::TEXTURE_NATIVE => texture(&chunk, model)?,
            other => {
                return Err(Error::damaged(
                    chunk.offset - 12,
                    "texture dictionary",
                    format!("is a chunk of type {other:#x}"),
                ));
            }
        }
    }
    if chunks.left() == bytes.len() {
        return Err(Error::damaged(
            0,
            "texture dictionary",
            format!("needs 12 bytes, {} are left", bytes.len()),
        ));
    }
    Ok(())
}

fn entries(dictionary: &Chunk, model: &mut Textures) -> Result<()> {
    if dictionary.is_cut() {
        model.warnings.push(format!(
            "texture dictionary at {:#x}: needs {} bytes, {} are left",
            dictionary.offset,
            dictionary.declared_size,
            dictionary.body.len()
        ));
    }
    for chunk in dictionary.children() {
        match chunk.kind {
            kind::STRUCT => {
                chunk.check_whole("texture dictionary")?;
                model.declared = Some(chunk.cursor(Endian::Little).u16("texture count")?);
            }
            kind::TEXTURE_NATIVE => texture(&chunk, model)?,
            _ => {}
        }
    }
    let found = model.textures.len();
    if let Some(declared) = model.declared.filter(|&count| usize::from(count) != found) {
        model.warnings.push(format!(
            "texture count at {:#x}: is {declared}, found {found}",
            dictionary.offset + 12
        ));
    }
    Ok(())
}

fn texture(native: &Chunk, model: &mut Textures) -> Result<()> {
    let number = model.textures.len();
    let texture = read(native, RULES, &mut model.warnings);
    let texture = texture.map_err(|error| error.within(format!("texture {number}")))?;
    model.textures.push(texture);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_asset_has_no_textures() {
        let model = parse(&Bytes::new()).unwrap();
        assert!(model.textures.is_empty() && model.warnings.is_empty());
    }

    #[test]
    fn other_chunks_are_an_error() {
        let error = |bytes: &'static [u8]| parse(&bytes.into()).unwrap_err().error.to_string();
        assert_eq!(
            error(b"\x16\0\0\0\0\0\0\0"),
            "texture dictionary at 0x0: needs 12 bytes, 8 are left"
        );
        assert_eq!(
            error(b"\x10\0\0\0\0\0\0\0\0\0\0\0"),
            "texture dictionary at 0x0: is a chunk of type 0x10"
        );
    }
}
