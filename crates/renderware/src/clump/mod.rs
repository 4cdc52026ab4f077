//! Clumps: models as a hierarchy of frames, geometries, and atomics, which
//! place a geometry in a frame (FORMATS, HIP assets 7 and GTA 5).
//!
//! Geometry and skins are read in the platform-independent form and in the native forms
//! of the GameCube, the Xbox, the PlayStation 2 and OpenGL. A broken geometry does not
//! hide the others.

mod bin_mesh;
mod decoded;
mod frame;
mod geometry;
mod gx;
mod light;
mod material;
mod mesh;
mod native;
mod native_skin;
mod opengl;
mod ps2;
mod sector;
mod shape;
mod skin;
mod xbox;

pub use bin_mesh::BinMesh;
pub use frame::{Frame, Node, Placement};
pub use geometry::{Geometry, MorphTarget, Plain, Vertices};
pub use gx::{Attribute, Gx};
pub use light::Light;
pub use material::read as read_materials;
pub use material::{Material, TextureName};
pub use mesh::{Mesh, Part};
pub use opengl::OpenGl;
pub use ps2::Ps2;
pub use sector::Sector;
pub use sector::SectorFormat;
pub use skin::{Form as SkinForm, Influence, Skin};
pub use xbox::Xbox;

use std::collections::HashSet;

use super::{Chunk, Plugins, Version, kind};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// A clump.
#[derive(Debug, Default)]
pub struct Clump {
    /// Version of the library that wrote it.
    pub version: Version,
    /// Number of atomics as stored.
    pub declared_atomics: u32,
    /// The transform hierarchy.
    pub frames: Vec<Frame>,
    /// Geometries, including those that cannot be read.
    pub geometries: Vec<Geometry>,
    /// The atomics.
    pub atomics: Vec<Atomic>,
    /// Lights.
    pub lights: Vec<Light>,
    /// Plugins.
    pub plugins: Plugins,
}

/// An atomic: a geometry placed in a frame.
#[derive(Debug, Default, Clone)]
pub struct Atomic {
    /// Number of the frame; `None` if the frame does not exist.
    pub frame: Option<usize>,
    /// Number of the geometry; `None` if the geometry does not exist.
    pub geometry: Option<usize>,
    /// Flags: 1 for collisions, 4 for rendering.
    pub flags: u32,
    /// Plugins.
    pub plugins: Plugins,
}

impl Clump {
    /// Returns the transforms of all frames into the space of the clump.
    pub fn placements(&self) -> Vec<Placement> {
        frame::placements(&self.frames)
    }

    /// Returns the geometry of an atomic.
    pub fn geometry_of(&self, atomic: &Atomic) -> Option<&Geometry> {
        self.geometries.get(atomic.geometry?)
    }

    /// Returns the first error of a geometry if none is readable.
    pub fn error(&self) -> Option<&Error> {
        let mut geometries = self.geometries.iter();
        let error = self.geometries.first()?.error.as_ref();
        error.filter(|_| geometries.all(|geometry| geometry.error.is_some()))
    }

    /// Fills in the clump from its chunk.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if the structure of the clump, its frames or an
    /// atomic is broken. Keeps everything before the damage.
    pub fn read(&mut self, clump: &Chunk, warnings: &mut Warnings) -> Result<()> {
        self.version = clump.version;
        self.plugins = clump.plugins();
        let fields = clump.child(kind::STRUCT, "clump")?;
        if fields.is_mended {
            let at = fields.offset;
            warnings.push(format!("clump at {at:#x}: is locked by spoilt sizes"));
        }
        self.declared_atomics = fields.cursor(Endian::Little).u32("atomic count")?;
        let (mut light_frame, mut has_frames) = (None, false);
        for chunk in clump.children() {
            match chunk.kind {
                // Atomics before it have frames of the first one.
                kind::FRAME_LIST if has_frames => {
                    let at = chunk.offset;
                    warnings.push(format!("clump at {at:#x}: has another frame list"));
                }
                kind::FRAME_LIST => {
                    has_frames = true;
                    self.frames = frame::read(&chunk, warnings)?;
                }
                kind::GEOMETRY_LIST => self.geometries(&chunk, warnings)?,
                kind::ATOMIC => self.atomic(&chunk, warnings)?,
                kind::STRUCT => light_frame = chunk.cursor(Endian::Little).u32("light frame").ok(),
                kind::LIGHT => self.light(&chunk, light_frame, warnings),
                _ => {}
            }
        }
        let (declared, found) = (self.declared_atomics, self.atomics.len());
        if declared as usize != found {
            let at = fields.offset;
            warnings.push(format!(
                "atomic count at {at:#x}: is {declared}, found {found}"
            ));
        }
        if found == 0 {
            let at = clump.offset;
            warnings.push(format!("clump at {at:#x}: has no atomics"));
        }
        Ok(())
    }

    /// Reads a clump of one atomic with its geometry from the atomic's chunk.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if the atomic is broken.
    pub fn read_atomic(&mut self, chunk: &Chunk, warnings: &mut Warnings) -> Result<()> {
        self.version = chunk.version;
        self.declared_atomics = 1;
        self.atomic(chunk, warnings)
    }

    fn geometries(&mut self, list: &Chunk, warnings: &mut Warnings) -> Result<()> {
        let fields = list.child(kind::STRUCT, "geometry list")?;
        let declared = fields.cursor(Endian::Little).u32("geometry count")?;
        for chunk in list.children().filter(|chunk| chunk.kind == kind::GEOMETRY) {
            self.geometry(&chunk, warnings);
        }
        let found = self.geometries.len();
        if declared as usize != found {
            let at = fields.offset;
            warnings.push(format!(
                "geometry count at {at:#x}: is {declared}, found {found}"
            ));
        }
        Ok(())
    }

    fn geometry(&mut self, chunk: &Chunk, warnings: &mut Warnings) {
        let number = self.geometries.len();
        let geometry = Geometry::read(chunk, warnings);
        if let Some(error) = &geometry.error {
            let error = error.clone().within(format!("geometry {number}"));
            warnings.push(error.to_string());
        }
        self.geometries.push(geometry);
    }

    fn atomic(&mut self, chunk: &Chunk, warnings: &mut Warnings) -> Result<()> {
        let number = self.atomics.len();
        let fields = chunk.child(kind::STRUCT, "atomic")?;
        let mut cursor = fields.cursor(Endian::Little);
        let stored_frame = cursor.u32("frame")?;
        let at = cursor.offset();
        let geometry = self.geometry_number(chunk, &mut cursor, warnings)?;
        let flags = cursor.u32("atomic flags")?;
        if geometry.is_none_or(|geometry| geometry >= self.geometries.len()) {
            let count = self.geometries.len();
            warnings.push(match geometry {
                Some(stored) => {
                    format!("atomic {number} at {at:#x}: has geometry {stored} of {count}")
                }
                None => format!("atomic {number} at {at:#x}: has no geometry"),
            });
        }
        let frame = Some(stored_frame as usize).filter(|&frame| frame < self.frames.len());
        if frame.is_none() && !self.frames.is_empty() {
            let (at, count) = (fields.offset, self.frames.len());
            warnings.push(format!(
                "atomic {number} at {at:#x}: has frame {stored_frame} of {count}"
            ));
        }
        let atomic = Atomic {
            frame,
            geometry: geometry.filter(|&geometry| geometry < self.geometries.len()),
            flags,
            plugins: chunk.plugins(),
        };
        self.skin_of_atomic(&atomic, warnings);
        self.atomics.push(atomic);
        Ok(())
    }

    /// Reads the geometry number of an atomic. An atomic without the number contains
    /// its geometry, which is added.
    fn geometry_number(
        &mut self,
        chunk: &Chunk,
        cursor: &mut Cursor<'_>,
        warnings: &mut Warnings,
    ) -> Result<Option<usize>> {
        if cursor.remaining() >= 12 {
            return Ok(Some(cursor.u32("geometry")? as usize));
        }
        let inside = chunk.children().find(|child| child.kind == kind::GEOMETRY);
        Ok(inside.map(|inside| {
            self.geometry(&inside, warnings);
            self.geometries.len() - 1
        }))
    }

    /// Reads the skin of an atomic, which belongs to its geometry.
    fn skin_of_atomic(&mut self, atomic: &Atomic, warnings: &mut Warnings) {
        let geometry = atomic.geometry.and_then(|one| self.geometries.get_mut(one));
        let skin = geometry.zip(atomic.plugins.find(kind::SKIN));
        let Some((geometry, plugin)) = skin.filter(|(geometry, _)| geometry.skin.is_none()) else {
            return;
        };
        geometry.has_skin = true;
        match Skin::read_of_atomic(&plugin, geometry.declared_vertices) {
            Ok(skin) => geometry.skin = Some(skin),
            Err(error) => warnings.push(error.to_string()),
        }
    }

    fn light(&mut self, chunk: &Chunk, frame: Option<u32>, warnings: &mut Warnings) {
        match Light::read(chunk) {
            Ok(light) => self.lights.push(Light {
                frame: frame
                    .map(|frame| frame as usize)
                    .filter(|&frame| frame < self.frames.len()),
                ..light
            }),
            Err(error) => warnings.push(error.to_string()),
        }
    }
}

/// Returns the texture names of all materials, in order of first use, without
/// duplicates, ignoring case.
pub fn texture_names(clumps: &[Clump]) -> impl Iterator<Item = &str> {
    names_of_textures(materials(clumps))
}

/// Returns the materials of all geometries.
pub fn materials(clumps: &[Clump]) -> impl Iterator<Item = &Material> {
    let geometries = clumps.iter().flat_map(|clump| &clump.geometries);
    geometries.flat_map(|geometry| &geometry.materials)
}

/// Returns the texture names of `materials`, in order of first use, without duplicates,
/// ignoring case.
pub fn names_of_textures<'a>(
    materials: impl Iterator<Item = &'a Material>,
) -> impl Iterator<Item = &'a str> {
    let textures = materials.filter_map(|material| material.texture.as_ref());
    let names = textures.map(|texture| texture.name.as_str());
    let mut known = HashSet::new();
    names.filter(move |name| !name.is_empty() && known.insert(name.to_ascii_lowercase()))
}

/// Returns the heap memory of clumps in bytes, without the bytes of their file.
pub fn memory(clumps: &[Clump]) -> usize {
    let clump = |clump: &Clump| {
        size_of::<Clump>()
            + clump.frames.capacity() * size_of::<Frame>()
            + clump.frames.iter().map(Frame::memory).sum::<usize>()
            + clump.atomics.capacity() * size_of::<Atomic>()
            + clump.lights.capacity() * size_of::<Light>()
            + clump.geometries.iter().map(Geometry::memory).sum::<usize>()
    };
    clumps.iter().map(clump).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chunks;
    use fixtures::clump as build;

    fn read(bytes: Vec<u8>) -> (Clump, Vec<String>) {
        let chunk = Chunks::new(bytes.into(), 0).next().unwrap();
        let (mut clump, mut warnings) = (Clump::default(), Warnings::default());
        clump.read(&chunk, &mut warnings).unwrap();
        (clump, warnings.texts())
    }

    fn triangles(geometry: &Geometry) -> Vec<(u32, Vec<[u32; 3]>)> {
        let parts = geometry.mesh().unwrap().parts.into_iter();
        parts.map(|part| (part.material, part.triangles)).collect()
    }

    #[test]
    fn atomics_keep_their_frames_when_another_frame_list_follows() {
        let frames = build::frames(&[("root", -1), ("part", 0)]);
        let atomics = [build::atomic(1, 0), build::frames(&[("other", -1)])];
        let square = build::square(&["wood"], &[]);
        let (clump, warnings) = read(build::clump(&frames, &[square], &atomics, &[]));
        assert_eq!(clump.frames.len(), 2);
        assert_eq!(clump.atomics[0].frame, Some(1));
        assert!(
            warnings[0].ends_with("has another frame list"),
            "{warnings:?}"
        );
    }

    #[test]
    fn a_broken_geometry_does_not_hide_the_others() {
        let frames = build::frames(&[("root", -1)]);
        let broken = build::chunk(0x0F, &build::chunk(1, &[0; 4]));
        let atomics = [0, 1, 9].map(|geometry| build::atomic(0, geometry));
        let good = build::square(&["wood"], &[]);
        let (clump, warnings) = read(build::clump(
            &frames,
            &[broken.clone(), good],
            &atomics,
            &[],
        ));
        assert_eq!(
            warnings,
            [
                "geometry 0: triangle count at 0xcc: needs 4 bytes, 0 are left",
                "atomic 2 at 0x290: has geometry 9 of 2",
            ]
        );
        assert!(clump.error().is_none() && clump.geometries[0].mesh().is_none());
        assert_eq!(
            triangles(&clump.geometries[1]),
            [(0, vec![[0, 1, 2], [2, 3, 1]])]
        );
        let (clump, _) = read(build::clump(&frames, &[broken], &atomics, &[]));
        assert!(clump.error().is_some());
    }

    #[test]
    fn the_triangles_of_meshes_are_drawn_instead_of_the_list() {
        let meshes = build::words(&[1, 1, 4, 4, 1, 0, 1, 2, 3]);
        let plugins = [build::chunk(kind::BIN_MESH, &meshes)];
        let square = build::square(&["wood", "stone"], &plugins);
        let frames = build::frames(&[("root", -1)]);
        let (clump, warnings) = read(build::clump(
            &frames,
            &[square],
            &[build::atomic(0, 0)],
            &[],
        ));
        assert_eq!(warnings, [""; 0]);
        assert_eq!(clump.frames[0].name, "root");
        assert_eq!(
            triangles(&clump.geometries[0]),
            [(1, vec![[0, 1, 2], [2, 1, 3]])]
        );
    }
}
