//! Native geometry: its platform, and its skin.

use super::geometry::{Geometry, PRELIT, Vertices};
use super::gx::Gx;
use super::opengl::OpenGl;
use super::ps2::Ps2;
use super::skin::Skin;
use super::xbox::Xbox;
use crate::{Chunk, kind};
use hpimount_containers::io::{Endian, Error, Result, Warnings};

/// Platforms of native geometry.
const PS2: u32 = 4;
const XBOX: u32 = 5;
const GAMECUBE: u32 = 6;

impl Geometry {
    /// Reads the native data and the skin. The data can be shown without the skin.
    pub(super) fn native(&mut self, plugin: &Chunk, warnings: &mut Warnings) -> Result<()> {
        // Mobile games do not wrap the data in a structure.
        let is_structure = |one: &Chunk| one.kind == kind::STRUCT && !one.body.is_empty();
        let fields = plugin.children().next().filter(is_structure);
        let (fields, platform) = match &fields {
            None => (plugin, None),
            Some(fields) => {
                let platform = fields.cursor(Endian::Little).u32("native platform")?;
                (fields, Some(platform))
            }
        };
        // A skin of another form is ignored.
        let skin = self.plugins.find(kind::SKIN);
        let skin = skin.filter(|skin| skin.child(kind::STRUCT, "native skin").is_ok());
        let mut problem = None;
        let mut kept = |read: Result<Skin>| read.map_err(|error| problem = Some(error)).ok();
        match platform {
            None => {
                let read = OpenGl::read(fields, self.declared_vertices)?;
                self.skin =
                    skin.and_then(|skin| kept(Skin::read_opengl(&skin, &read.influences())));
                self.vertices = Vertices::OpenGl(read);
            }
            Some(GAMECUBE) => {
                let vertices = self.declared_vertices;
                self.skin = skin.and_then(|skin| kept(Skin::read_gamecube(&skin, vertices)));
                let has_matrices = self.skin.as_ref().map(|skin| skin.most_weights == 1);
                self.vertices = Vertices::GameCube(Gx::read(fields, has_matrices)?);
            }
            Some(XBOX) => {
                let format = self.plugins.find(kind::VERTEX_FORMAT);
                let format = format.map(|one| one.cursor(Endian::Little).u32("vertex format"));
                let (flags, sets) = (self.flags, self.uv_sets);
                let read = Xbox::read(fields, format.transpose()?, flags, sets)?;
                self.check_mesh_count(read.meshes(), fields.offset)?;
                let vertices = read.vertices();
                self.skin = skin.and_then(|skin| kept(Skin::read_xbox(&skin, vertices)));
                self.vertices = Vertices::Xbox(read);
            }
            Some(PS2) => {
                let is_prelit = self.flags & PRELIT != 0;
                let (meshes, sets) = (self.meshes.len(), self.uv_sets);
                let read = Ps2::read(fields, meshes, self.is_strips, is_prelit, sets)?;
                self.skin =
                    skin.and_then(|skin| kept(Skin::read_ps2(&skin, &read.unpacked().influences)));
                self.vertices = Vertices::PlayStation2(read);
            }
            Some(other) => {
                let problem = match other {
                    8 | 9 => format!("is Direct3D {other}, which is not read"),
                    10 => "is PSP, which is not read".to_owned(),
                    other => format!("is {other}, which is unknown"),
                };
                return Err(Error::damaged(fields.offset, "native platform", problem));
            }
        }
        if let Some(error) = problem {
            warnings.push(error.to_string());
        }
        if let Some(skin) = &self.skin {
            skin.check(fields.offset, warnings);
        }
        Ok(())
    }

    /// Checks that the native data have as many meshes as the mesh list, which has
    /// their materials.
    pub(super) fn check_mesh_count(&self, found: usize, at: u64) -> Result<()> {
        let meshes = self.meshes.len();
        if found == meshes {
            return Ok(());
        }
        let text = format!("is {found}, the list of meshes has {meshes}");
        Err(Error::damaged(at, "native mesh count", text))
    }
}
