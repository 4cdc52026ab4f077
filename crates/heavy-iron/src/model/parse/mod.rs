//! Models: MODL, JSP and BSP, which are RenderWare clumps or worlds, and the JSP assets
//! with level information (FORMATS, HIP assets 7).
//!
//! [`hpimount_renderware::clump`] reads clumps, [`hpimount_renderware::world`]
//! worlds.

mod jspinfo;

pub use jspinfo::{Branches, JspInfo, is_level_info, parse as parse_jsp_info};

use bytes::Bytes;

use crate::{Parsed, read_into};
use hpimount_containers::io::{Error, Result, Warnings};
use hpimount_renderware::clump::{self, Clump};
use hpimount_renderware::world::World;
use hpimount_renderware::{Chunks, kind};

/// A model.
#[derive(Debug, Default)]
pub struct Model {
    /// The clumps; models of the games have one.
    pub clumps: Vec<Clump>,
    /// The worlds; assets of the games have one.
    pub worlds: Vec<World>,
    /// Warnings.
    pub warnings: Warnings,
}

impl Model {
    /// Returns the texture names of all materials, in order of first use, without
    /// duplicates, ignoring case.
    pub fn texture_names(&self) -> impl Iterator<Item = &str> {
        let worlds = self.worlds.iter().flat_map(|world| &world.materials);
        clump::names_of_textures(clump::materials(&self.clumps).chain(worlds))
    }

    /// Returns the memory on the heap in bytes, without the bytes of the file.
    pub fn memory(&self) -> usize {
        let worlds = self.worlds.iter();
        let worlds = worlds.map(|world| size_of::<World>() + world.memory());
        clump::memory(&self.clumps) + worlds.sum::<usize>()
    }
}

/// Parses a MODL, JSP or BSP asset.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) with everything before the
/// error if the structure is broken: truncated or missing chunks, or counts that
/// do not fit. A broken geometry or sector is a warning if another one can be
/// read.
pub fn parse(bytes: &Bytes) -> Parsed<Model> {
    read_into(bytes, Model::default(), |model| read(bytes, model))
}

fn read(bytes: &Bytes, model: &mut Model) -> Result<()> {
    let mut chunks = Chunks::new(bytes.clone(), 0);
    for chunk in chunks.by_ref() {
        match chunk.kind {
            kind::CLUMP => {
                let number = model.clumps.len();
                let mut clump = Clump::default();
                let result = clump.read(&chunk, &mut model.warnings);
                let result = result.and_then(|()| clump.error().cloned().map_or(Ok(()), Err));
                model.clumps.push(clump);
                result.map_err(|error| error.within(format!("clump {number}")))?;
            }
            kind::WORLD => {
                let number = model.worlds.len();
                let mut world = World::default();
                let result = world.read(&chunk, &mut model.warnings);
                model.worlds.push(world);
                result.map_err(|error| error.within(format!("world {number}")))?;
            }
            other => {
                return Err(Error::damaged(
                    chunk.offset - 12,
                    "clump",
                    format!("is a chunk of type {other:#x}"),
                ));
            }
        }
        chunk.check_whole("clump")?;
    }
    let left = chunks.left();
    if left == bytes.len() {
        let problem = format!("needs 12 bytes, {left} are left");
        return Err(Error::damaged(0, "clump", problem));
    }
    if left > 0 {
        let at = chunks.offset();
        model
            .warnings
            .push(format!("{left} bytes at {at:#x} belong to no clump"));
    }
    Ok(())
}
