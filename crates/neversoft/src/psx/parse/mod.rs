//! PSX: models, levels, characters and texture banks of Neversoft's "Big
//! Guns" engine (Apocalypse, Tony Hawk's Pro Skater 1 to 4, Spider-Man, Mat
//! Hoffman's Pro BMX) on PlayStation, PC and Dreamcast.
//!
//! Little-endian, with absolute offsets. Section numbers in the comments of this module
//! refer to `docs/formats/psx.md`.

mod animation;
mod check;
mod chunk;
mod compressed;
mod face;
mod limits;
mod model;
mod texture;

pub use animation::{
    AngleTransform, AnimationV1, AnimationV2, SpriteAnimation, SpriteFrame, Transform,
};
pub use chunk::{BlockMap, ChnkItem, Chunk, Content, Grid, Pulse, Wibble, WibbleMotion};
pub use face::{Face, Uv};
pub use model::{Bounds, FaceCounts, Lod, Model, SpriteCorner, Vertex, VertexRef};
pub use texture::{Palette, Texture, TextureData};

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{self as record, FixedSize, Hex, Record};

use hpimount_assets::parse::Incomplete;
use hpimount_assets::parse::count::count;
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Endian, Error, Result};
use limits::{Budget, counted_list, u32_list};

/// Extensions of PSX files.
pub const EXTENSIONS: &[&str] = &["psx"];

/// The layout of a file (FORMATS, PSX 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum Version {
    /// Apocalypse and Tony Hawk's Pro Skater: wide counts and vertex indices.
    V3,
    /// PlayStation and PC games since Spider-Man and THPS2.
    V4,
    /// Dreamcast, Xbox and some PC ports: 16-bit texture coordinates.
    V6,
}

impl Version {
    /// Returns the number in the magic.
    pub fn number(self) -> u16 {
        match self {
            Self::V3 => 3,
            Self::V4 => 4,
            Self::V6 => 6,
        }
    }
}

/// The purpose of a file, detected by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum Kind {
    /// Objects placed in a world.
    Level,
    /// Objects that form a hierarchy or move by keyframes.
    Character,
    /// Textures without models.
    TextureLibrary,
    /// Textures and the sprite animations that use them.
    SpriteBank,
    /// None of these.
    Empty,
}

/// A placed model (FORMATS, PSX 2).
#[derive(Debug, Clone, Default, PartialEq, Eq, GetSize, Record)]
#[record(table = "../../docs/formats/psx.md")]
pub struct Object {
    /// Bit 1: part of an animated character. The other bits are unknown.
    pub flags: Hex<u16>,
    /// Flags of the same kind, requested by the game elsewhere.
    pub inquiry: Hex<u16>,
    /// Position in vertex units with 12 fractional bits; x right, y down,
    /// z forward.
    pub position: [i32; 3],
    /// Euler angles about x, y and z; 4096 is a full turn. Almost always 0.
    pub angles: [i16; 3],
    /// Index of the model. May be out of range, with a warning.
    pub model: u16,
    /// Frame, tint, animation and region, one byte each, which the game sets at run
    /// time.
    pub extra: [i16; 2],
    /// Link to another object, which the game sets at run time.
    pub next: u32,
    /// Offset of the object's `RGBs` colors.
    #[record(derived)]
    pub palette_offset: u32,
}

/// The parsed contents of a PSX file.
#[derive(Debug, Clone, GetSize)]
pub struct Psx {
    /// Layout of the file.
    pub version: Version,
    /// Length of the file in bytes.
    pub file_size: u64,
    /// Offset of the tagged chunks.
    pub meta_offset: u32,
    /// Placed models, or the parts of a character.
    pub objects: Vec<Object>,
    /// Offset after the table of model pointers; 0 if it was not reached.
    pub pointer_table_end: u64,
    /// For version 3: presence of the LOD words in model headers (FORMATS, PSX 3).
    /// `None` if the file has no models.
    pub v3_has_lod: Option<bool>,
    /// Geometry, indexed by [`Object::model`].
    pub models: Vec<Model>,
    /// Tagged chunks in file order.
    pub chunks: Vec<Chunk>,
    /// Hash of each model's name: CRC-32 without the final inversion.
    pub model_names: Vec<u32>,
    /// Ids of textures, indexed by [`Face::texture`] and [`Texture::index`];
    /// the pixels may be in another file.
    pub texture_ids: Vec<u32>,
    /// Palettes of 16 colors, then of 256 colors.
    pub palettes: Vec<Palette>,
    /// Names of detail textures and of cube map textures, in version 6.
    pub texture_refs: Option<[Vec<String>; 2]>,
    /// Texture records.
    pub textures: Vec<Texture>,
    /// Offset after the last table or texture, according to their sizes.
    pub end: u64,
    /// Warnings about the file.
    pub warnings: Warnings,
}

/// Parses a whole file. Textures and poses of the model are slices of `bytes`.
///
/// # Errors
/// Returns an error if the bytes are not a PSX file, or if a table, chunk,
/// model or texture does not fit into the file; there is no model if the magic
/// is wrong. Models and tagged chunks are independent, so one is kept if the
/// other is damaged.
pub fn parse(bytes: &Bytes) -> std::result::Result<Psx, Box<Incomplete<Option<Psx>>>> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let incomplete = |error, model| Box::new(Incomplete { error, model });
    let mut psx = Psx::start(&mut cursor).map_err(|error| incomplete(error, None))?;
    match psx.read(cursor, bytes) {
        Ok(()) => Ok(psx),
        Err(error) => Err(incomplete(error, Some(psx))),
    }
}

impl Object {
    /// Returns the offset of the object with this number in a file.
    pub fn offset(number: usize) -> usize {
        const FIRST: usize = 12;
        FIRST + number * Self::SIZE
    }
}

impl Psx {
    /// Reads the magic and the offset after it (FORMATS, PSX 1).
    fn start(cursor: &mut Cursor) -> Result<Self> {
        let file_size = cursor.remaining() as u64;
        let magic = cursor.u32("magic")?;
        let version = match magic {
            0x0002_0003 => Version::V3,
            0x0002_0004 => Version::V4,
            0x0002_0006 => Version::V6,
            _ => {
                return Err(Error::damaged(
                    0,
                    "magic",
                    format!("is {magic:08x}, not that of a PSX model file"),
                ));
            }
        };
        Ok(Self {
            version,
            file_size,
            meta_offset: cursor.u32("meta")?,
            objects: Vec::new(),
            pointer_table_end: 0,
            v3_has_lod: None,
            models: Vec::new(),
            chunks: Vec::new(),
            model_names: Vec::new(),
            texture_ids: Vec::new(),
            palettes: Vec::new(),
            texture_refs: None,
            textures: Vec::new(),
            end: 0,
            warnings: Warnings::default(),
        })
    }

    /// Reads everything after the offset of the chunks.
    fn read(&mut self, mut cursor: Cursor, bytes: &Bytes) -> Result<()> {
        let file = cursor.clone();
        let objects = count(&mut cursor, Object::SIZE, "nobj")?;
        self.objects = (0..objects)
            .map(|_| record::read(&mut cursor))
            .collect::<Result<_>>()?;
        let pointers_at = cursor.offset() + 4;
        let pointers = counted_list(&mut cursor, "nmodel")?;
        self.pointer_table_end = cursor.offset();

        let mut budget = Budget::new(self.file_size);
        let models = self.read_models(&file, &pointers, pointers_at, &mut budget);
        let meta = self.read_meta(&file, bytes, pointers.len(), &mut budget);
        models.and(meta)?;
        let mut warnings = std::mem::take(&mut self.warnings);
        check::references(self, &mut warnings);
        self.warnings = warnings;
        Ok(())
    }

    /// Follows the model pointers at `pointers_at`.
    fn read_models(
        &mut self,
        file: &Cursor,
        pointers: &[u32],
        pointers_at: u64,
        budget: &mut Budget,
    ) -> Result<()> {
        if self.version == Version::V3 && !pointers.is_empty() {
            self.v3_has_lod = Some(model::v3_has_lod(file, pointers));
        }
        let has_lod = self.v3_has_lod.unwrap_or(true);
        for (index, &pointer) in pointers.iter().enumerate() {
            let name = format_args!("model {index}");
            let stored_at = pointers_at + 4 * index as u64;
            let model = file
                .follow(pointer.into(), stored_at, "pointer")
                .and_then(|mut cursor| Model::read(&mut cursor, self.version, has_lod))
                .map_err(|error| error.within(name))?;
            let length = (model.end - model.offset).max(Budget::RECORD);
            budget
                .spend(length, stored_at, "pointer")
                .map_err(|error| error.within(name))?;
            self.models.push(model);
        }
        Ok(())
    }

    /// Reads the chunks and the tables after them (FORMATS, PSX 5 to 8).
    fn read_meta(
        &mut self,
        file: &Cursor,
        bytes: &Bytes,
        model_count: usize,
        budget: &mut Budget,
    ) -> Result<()> {
        let mut cursor = file.follow(self.meta_offset.into(), 4, "meta")?;
        chunk::read_all(
            &mut cursor,
            bytes,
            self.objects.len(),
            &mut self.chunks,
            &mut self.warnings,
        )?;
        self.model_names = u32_list(&mut cursor, model_count, "model names")?;
        self.texture_ids = counted_list(&mut cursor, "ntexname")?;
        texture::read_palettes(&mut cursor, 16, &mut self.palettes)?;
        texture::read_palettes(&mut cursor, 256, &mut self.palettes)?;
        texture::read_textures(self, &mut cursor, bytes, budget)
    }

    /// Returns the purpose of the file.
    pub fn kind(&self) -> Kind {
        if self.objects.is_empty() && self.models.is_empty() {
            let sprites = |chunk: &Chunk| matches!(chunk.content, Content::Sprites(_));
            if self.chunks.iter().any(sprites) {
                Kind::SpriteBank
            } else if !self.textures.is_empty() {
                Kind::TextureLibrary
            } else {
                Kind::Empty
            }
        } else if self.is_animated() || self.parents().is_some() {
            Kind::Character
        } else {
            Kind::Level
        }
    }

    /// Returns whether the file has keyframe animations of either kind.
    pub fn is_animated(&self) -> bool {
        let keyframes = |chunk: &Chunk| {
            matches!(
                chunk.content,
                Content::AnimationsV1(_) | Content::AnimationsV2(_)
            )
        };
        self.chunks.iter().any(keyframes)
    }

    /// Returns the divisor that converts vertices and keyframe translations to
    /// the unit of object positions: 16 in animated files, except in
    /// Apocalypse; otherwise 1 (FORMATS, PSX 9).
    pub fn vertex_scale(&self) -> u8 {
        if self.is_animated() && self.v3_has_lod != Some(false) {
            16
        } else {
            1
        }
    }

    /// Returns the parents of the first objects, as indices of [`Psx::objects`]; a root
    /// is its own parent. `None` without a `HIER` chunk. Parents may be out of range or
    /// form cycles, with a warning.
    pub fn parents(&self) -> Option<&[u16]> {
        self.last_content(|content| match content {
            Content::Hierarchy(parents) => Some(parents.as_slice()),
            _ => None,
        })
    }

    /// Returns whether the objects are parts of a character that show the models with
    /// their own numbers: the game ignores [`Object::model`] in a file with `HIER`.
    pub(crate) fn has_model_for_each_part(&self) -> bool {
        self.parents().is_some() && self.models.len() >= self.objects.len()
    }

    /// Returns the model index of each object, which may be out of range.
    pub fn shown_models(&self) -> impl Iterator<Item = usize> {
        let is_by_number = self.has_model_for_each_part();
        let objects = self.objects.iter().enumerate();
        objects.map(move |(index, object)| match is_by_number {
            true => index,
            false => object.model.into(),
        })
    }

    /// Returns the animated colors in file order.
    pub fn pulses(&self) -> &[Pulse] {
        self.last_content(|content| match content {
            Content::Pulses(pulses) => Some(pulses.as_slice()),
            _ => None,
        })
        .unwrap_or_default()
    }

    /// Returns the colors for gouraud faces, as r, g, b.
    pub fn gouraud_colors(&self) -> Option<&[[u8; 3]]> {
        self.last_content(|content| match content {
            Content::Colors(colors) => Some(colors.as_slice()),
            _ => None,
        })
    }

    /// Returns the last result of `pick` over the chunks.
    fn last_content<'a, T>(&'a self, pick: impl Fn(&'a Content) -> Option<T>) -> Option<T> {
        self.chunks
            .iter()
            .rev()
            .find_map(|chunk| pick(&chunk.content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::psx::{File, HIER, RGBS, model, rich, words};

    fn error_of(bytes: &[u8]) -> String {
        parse(&Bytes::copy_from_slice(bytes))
            .unwrap_err()
            .error
            .to_string()
    }

    #[test]
    fn every_part_of_a_file_is_read() {
        let bytes = Bytes::from(rich().bytes());
        let psx = parse(&bytes).unwrap();
        assert_eq!(psx.objects[1].position, [10 << 12, -20 << 12, 30 << 12]);
        assert_eq!(psx.models[0].faces.len(), 2);
        assert_eq!(psx.model_names, [0x6F0F_6B9F; 2]);
        assert_eq!(psx.texture_ids, [0x1E, 0x1F]);
        assert_eq!(psx.parents().unwrap(), [0, 0]);
        assert_eq!(psx.gouraud_colors().unwrap(), [[255, 0, 0], [0, 255, 0]]);
        assert_eq!(psx.kind(), Kind::Character);
        assert_eq!(psx.end, bytes.len() as u64);
        let problems = psx.chunks.iter().filter(|chunk| chunk.problem.is_some());
        assert_eq!(problems.count(), 0);
        assert_eq!(
            psx.warnings.texts(),
            [format!(
                "palette 000000bb of texture {:#x} not in this file",
                psx.textures[1].offset
            )]
        );
    }

    #[test]
    fn other_files_with_the_same_extension_are_detected_by_their_magic() {
        for start in [
            &b"PS-X EXE"[..],
            &[0x10, 0, 0, 0],
            &[0, 2, 0, 4],
            &[5, 0, 2, 0],
        ] {
            let mut bytes = start.to_vec();
            bytes.resize(64, 0);
            let Incomplete { error, model } = *parse(&bytes.into()).unwrap_err();
            assert!(error.to_string().starts_with("magic at 0x0: "), "{error}");
            assert!(model.is_none());
        }
        assert_eq!(error_of(&[4]), "magic at 0x0: needs 4 bytes, 1 are left");
    }

    #[test]
    fn an_error_is_at_the_count_or_pointer_that_is_wrong() {
        let good = rich().bytes();
        let with = |at: usize, value: u32| {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            error_of(&bytes)
        };
        let models = 12 + 2 * 36;
        let textures = good.len() - (20 + 12 + 20 + 4 + 20) - 3 * 4;
        for (at, start) in [
            (4, "meta at 0x4: points to "),
            (8, "nobj at 0x8: "),
            (models, "nmodel at 0x54: "),
            (models + 8, "model 1: pointer at 0x5c: points to "),
            (textures - 4, "ntex at "),
            (textures + 4, "texture 1: pointer at "),
        ] {
            let error = with(at, 0xFFFF_FFF0);
            assert!(error.starts_with(start), "{error}");
        }
    }

    #[test]
    fn models_are_kept_if_chunks_are_damaged_and_vice_versa() {
        let good = rich().bytes();
        let partial = |at: usize| {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&[0xFF; 4]);
            parse(&bytes.into()).unwrap_err().model.unwrap()
        };
        let without_chunks = partial(4);
        assert_eq!(without_chunks.models.len(), 2);
        assert!(without_chunks.chunks.is_empty());
        let without_models = partial(12 + 2 * 36 + 4 + 4);
        assert_eq!(without_models.models.len(), 1);
        assert_eq!(without_models.textures.len(), 3);
    }

    #[test]
    fn the_purpose_of_a_file_follows_from_its_contents() {
        let kind = |file: &File| parse(&file.bytes().into()).unwrap().kind();
        let with_chunk = |tag, data: Vec<u8>| {
            let mut file = File::new(4);
            file.chunks.push((tag, data));
            file
        };
        assert_eq!(kind(&File::new(4)), Kind::Empty);
        assert_eq!(kind(&with_chunk(0x45, words(&[0]))), Kind::SpriteBank);
        let mut library = File::new(4);
        library.textures = rich().textures;
        assert_eq!(kind(&library), Kind::TextureLibrary);
        let mut level = File::new(4);
        level.models = vec![model((0x7FFF, -1), &[], &[])];
        assert_eq!(kind(&level), Kind::Level);
        level.chunks.push((HIER, Vec::new()));
        assert_eq!(kind(&level), Kind::Character);
    }

    #[test]
    fn only_animated_files_that_are_not_from_apocalypse_have_fine_vertices() {
        let mut psx = parse(&rich().bytes().into()).unwrap();
        assert_eq!(psx.vertex_scale(), 16);
        psx.v3_has_lod = Some(false);
        assert_eq!(psx.vertex_scale(), 1);
        psx.v3_has_lod = None;
        psx.chunks.retain(|chunk| chunk.name() == "HIER");
        assert_eq!(psx.vertex_scale(), 1);
    }

    #[test]
    fn the_last_of_several_chunks_with_a_tag_is_used() {
        let mut file = rich();
        file.chunks.push((RGBS, vec![1, 2, 3, 0]));
        let psx = parse(&file.bytes().into()).unwrap();
        assert_eq!(psx.gouraud_colors().unwrap(), [[1, 2, 3]]);
    }

    #[test]
    fn pointers_may_repeat_within_a_limit() {
        let mut file = File::new(4);
        file.models = vec![model((0x7FFF, -1), &[[0; 4]; 40], &[])];
        let mut bytes = file.bytes();
        let repeat = |bytes: &[u8], times: u32| {
            let mut repeated = words(&[0x0002_0004, 0, 0, times]);
            let first = 16 + 4 * times;
            repeated.extend(words(&vec![first; times as usize]));
            repeated.extend(&bytes[20..]);
            let meta = first + model((0, 0), &[[0; 4]; 40], &[]).len() as u32;
            repeated[4..8].copy_from_slice(&meta.to_le_bytes());
            let names = meta as usize + 4;
            repeated.splice(names..names, words(&vec![7; times as usize - 1]));
            repeated
        };
        assert_eq!(parse(&repeat(&bytes, 2).into()).unwrap().models.len(), 2);
        bytes = repeat(&bytes, 200);
        let error = error_of(&bytes);
        assert!(error.contains(": pointer at 0x"), "{error}");
        assert!(error.contains("overlapping records"), "{error}");
    }
}
