//! DFF: models (FORMATS, GTA 5). A file consists of one or more clumps, for example
//! clothes in several sizes, after an optional dictionary of texture coordinate
//! animations.

mod breakable;
mod effect;
mod material;

pub use breakable::{Breakable, Piece};
pub use effect::Effect;
pub use material::{Coat, coats};

use bytes::Bytes;
use get_size2::GetSize;

use crate::col::{self, Col};
use hpimount_assets::parse::name::until_nul;
use hpimount_assets::parse::{Incomplete, finish};
use hpimount_containers::io::{Endian, Error, Result, Warnings};
use hpimount_renderware::clump::{Clump, memory};
use hpimount_renderware::{Chunk, Chunks, HEADER, Version, kind};

/// Extensions of models.
pub const EXTENSIONS: &[&str] = &["dff"];

/// Types of chunks of these games.
const UV_DICTIONARY: u32 = 0x2B;
const EFFECTS: u32 = 0x253_F2F8;
pub(super) const BREAKABLE: u32 = 0x253_F2FD;
const COLLISION: u32 = 0x253_F2FA;
/// Collision models of a multiplayer mod's tool.
const MOD_COLLISION: u32 = 0x253_F2FF;
/// Chunks that models do not need.
const OTHERS: [u32; 2] = [0x29, 0x2A];

/// A model.
#[derive(Debug, Default, GetSize)]
pub struct Dff {
    /// Version of the library that wrote it.
    #[get_size(ignore)]
    pub version: Version,
    /// The clumps; most models have one.
    #[get_size(size_fn = memory)]
    pub clumps: Vec<Clump>,
    /// Effects of geometries, such as lights.
    pub effects: Vec<Effect>,
    /// Debris of geometries.
    pub breakables: Vec<Breakable>,
    /// The collision models in the first clump with any.
    pub collision: Option<Col>,
    /// Animations of texture coordinates.
    pub uv_animations: Vec<UvAnimation>,
    /// Bytes after the last chunk.
    pub trailing: u64,
    /// Warnings.
    pub warnings: Warnings,
}

/// Returns whether a file begins like a model: with one of its chunks that contains a
/// structure.
pub fn is_model(bytes: &Bytes) -> bool {
    let first = Chunks::new(bytes.clone(), 0).next();
    let first = first.filter(|chunk| is_part(chunk.kind));
    let fields = first.and_then(|chunk| chunk.children().next());
    fields.is_some_and(|fields| fields.kind == kind::STRUCT)
}

fn is_part(kind: u32) -> bool {
    [kind::CLUMP, kind::ATOMIC, UV_DICTIONARY].contains(&kind)
}

/// Parses a model.
///
/// # Errors
/// Returns [`Incomplete`] with everything before the error if the file does not
/// begin with a model, or the structure of a clump, its frames or an atomic is
/// broken. A broken geometry is in the result with its error.
pub fn parse(bytes: &Bytes) -> std::result::Result<Dff, Box<Incomplete<Dff>>> {
    let mut model = Dff::default();
    let result = read(bytes, &mut model);
    finish(model, result)
}

fn read(bytes: &Bytes, dff: &mut Dff) -> Result<()> {
    let mut chunks = Chunks::new(bytes.clone(), 0);
    let mut end = 0;
    while let Some(chunk) = chunks.next() {
        if end == 0 {
            if !is_part(chunk.kind) {
                let problem = format!("is a chunk of type {:#x}", chunk.kind);
                return Err(Error::damaged(0, "model", problem));
            }
            dff.version = chunk.version;
        }
        match chunk.kind {
            kind::CLUMP | kind::ATOMIC => dff.clump(&chunk)?,
            UV_DICTIONARY => dff.uv_animations(&chunk),
            other if OTHERS.contains(&other) => {}
            // Slots of archives are larger than their files.
            _ => break,
        }
        if let Err(error) = chunk.check_whole("model") {
            dff.warnings.push(error.to_string());
        }
        end = chunks.offset();
    }
    if end == 0 {
        let problem = format!("needs {HEADER} bytes, {} are left", bytes.len());
        return Err(Error::damaged(0, "model", problem));
    }
    dff.trailing = bytes.len() as u64 - end;
    Ok(())
}

/// An animation of texture coordinates.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub struct UvAnimation {
    /// Name, which materials refer to.
    pub name: String,
    /// Length in seconds.
    pub seconds: f32,
    /// Number of its keys.
    pub keys: u32,
}

/// Type of the chunk of an animation.
const ANIMATION: u32 = 0x1B;

impl UvAnimation {
    fn read(chunk: &Chunk) -> Result<Self> {
        let mut cursor = chunk.cursor(Endian::Little);
        cursor.take(8, "version and type of an animation")?;
        let keys = cursor.u32("animation keys")?;
        cursor.u32("animation flags")?;
        let seconds = cursor.f32("animation length")?;
        cursor.u32("animation")?;
        let name = until_nul(cursor.take(32, "animation name")?);
        cursor.take(32, "animation channels")?;
        cursor.check_count(keys.into(), 32, "animation keys")?;
        Ok(Self {
            name,
            seconds,
            keys,
        })
    }
}

impl Dff {
    fn uv_animations(&mut self, dictionary: &Chunk) {
        let animations = dictionary.children();
        for chunk in animations.filter(|chunk| chunk.kind == ANIMATION) {
            match UvAnimation::read(&chunk) {
                Ok(animation) => self.uv_animations.push(animation),
                Err(error) => self.warnings.push(error.to_string()),
            }
        }
    }

    fn clump(&mut self, chunk: &Chunk) -> Result<()> {
        let number = self.clumps.len();
        let mut clump = Clump::default();
        let result = match chunk.kind {
            kind::CLUMP => chunk
                .child(kind::FRAME_LIST, "frame list")
                .and_then(|_| clump.read(chunk, &mut self.warnings)),
            _ => clump.read_atomic(chunk, &mut self.warnings),
        };
        self.collision(&clump);
        for (geometry, one) in clump.geometries.iter().enumerate() {
            let at = (number, geometry);
            for plugin in one.plugins.iter() {
                match plugin.kind {
                    EFFECTS => effect::read(&plugin, at, &mut self.effects, &mut self.warnings),
                    BREAKABLE => match breakable::read(&plugin, at) {
                        Ok(breakable) => self.breakables.extend(breakable),
                        Err(error) => self.warnings.push(error.to_string()),
                    },
                    _ => {}
                }
            }
        }
        self.clumps.push(clump);
        result.map_err(|error| error.within(format!("clump {number}")))
    }

    fn collision(&mut self, clump: &Clump) {
        let mut plugins = clump.plugins.iter();
        let plugin = plugins.find(|plugin| [COLLISION, MOD_COLLISION].contains(&plugin.kind));
        let Some(plugin) = plugin.filter(|_| self.collision.is_none()) else {
            return;
        };
        match col::parse(&plugin.body) {
            Ok(collision) => self.collision = Some(collision),
            Err(error) => self.warnings.push(error.within("collision").to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::clump as build;

    #[test]
    fn parts_of_plugins_are_read_and_bytes_after_the_clump_are_counted() {
        let light = [
            build::words(&[1]),
            build::floats(&[1.0, 2.0, 3.0]),
            build::words(&[8, 4, 77]),
        ];
        let plugins = [build::chunk(EFFECTS, &light.concat())];
        let geometry = build::square(&["wood"], &plugins);
        let collision = build::chunk(COLLISION, &fixtures::col::model(3, "crate"));
        let clump = build::clump(
            &build::frames(&[("crate", -1)]),
            &[geometry],
            &[build::atomic(0, 0)],
            &[collision],
        );
        let dff = parse(&[clump, vec![0; 100]].concat().into()).unwrap();
        assert_eq!(dff.warnings.texts(), [""; 0]);
        assert_eq!((dff.trailing, dff.effects.len()), (100, 1));
        assert_eq!(dff.collision.unwrap().models[0].name, "crate");
    }

    #[test]
    fn other_files_are_refused() {
        let error = |bytes: Vec<u8>| parse(&bytes.into()).unwrap_err().error.to_string();
        assert_eq!(
            error(Vec::new()),
            "model at 0x0: needs 12 bytes, 0 are left"
        );
        let text = error(build::chunk(0x16, &[]));
        assert_eq!(text, "model at 0x0: is a chunk of type 0x16");
    }
}
