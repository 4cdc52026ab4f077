//! Clumps: frames, geometries, and atomics, which place a geometry in a frame.

use super::frame::{self, Frame, Placement};
use super::geometry::Geometry;
use crate::renderware::{Chunk, Version, kind};
use hpimount_containers::io::{Endian, Error, Result, Warnings};

/// A clump.
#[derive(Debug, Default)]
pub struct Clump {
    /// Version of the library that wrote it.
    pub version: Version,
    /// Number of atomics as stored.
    pub declared_atomics: u32,
    /// The transform hierarchy.
    pub frames: Vec<Frame>,
    /// Geometries.
    pub geometries: Vec<Geometry>,
    /// The atomics.
    pub atomics: Vec<Atomic>,
}

/// An atomic: a geometry placed in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomic {
    /// Number of the frame; `None` if there is no such frame.
    pub frame: Option<usize>,
    /// Number of the geometry.
    pub geometry: usize,
    /// Flags: 1 for collisions, 4 for rendering.
    pub flags: u32,
}

impl Clump {
    /// Returns the transforms of all frames into the space of the clump.
    pub fn placements(&self) -> Vec<Placement> {
        frame::placements(&self.frames)
    }

    pub(super) fn read(&mut self, clump: &Chunk, warnings: &mut Warnings) -> Result<()> {
        self.version = clump.version;
        let fields = clump.child(kind::STRUCT, "clump")?;
        self.declared_atomics = fields.cursor(Endian::Little).u32("atomic count")?;
        for chunk in clump.children() {
            match chunk.kind {
                kind::FRAME_LIST => self.frames = frame::read(&chunk, warnings)?,
                kind::GEOMETRY_LIST => self.geometries(&chunk, warnings)?,
                kind::ATOMIC => self.atomic(&chunk, warnings)?,
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

    fn geometries(&mut self, list: &Chunk, warnings: &mut Warnings) -> Result<()> {
        let fields = list.child(kind::STRUCT, "geometry list")?;
        let declared = fields.cursor(Endian::Little).u32("geometry count")?;
        for chunk in list.children().filter(|chunk| chunk.kind == kind::GEOMETRY) {
            let number = self.geometries.len();
            let mut geometry = Geometry::default();
            let result = geometry.read(&chunk, warnings);
            self.geometries.push(geometry);
            result.map_err(|error| error.within(format!("geometry {number}")))?;
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

    fn atomic(&mut self, chunk: &Chunk, warnings: &mut Warnings) -> Result<()> {
        let number = self.atomics.len();
        let fields = chunk.child(kind::STRUCT, "atomic")?;
        let mut cursor = fields.cursor(Endian::Little);
        let stored_frame = cursor.u32("frame")?;
        let at = cursor.offset();
        let geometry = cursor.u32("geometry")? as usize;
        let flags = cursor.u32("atomic flags")?;
        if geometry >= self.geometries.len() {
            return Err(Error::damaged(
                at,
                format!("atomic {number}: geometry"),
                format!("is {geometry} of {}", self.geometries.len()),
            ));
        }
        let frame = Some(stored_frame as usize).filter(|&frame| frame < self.frames.len());
        if frame.is_none() {
            let (at, count) = (fields.offset, self.frames.len());
            warnings.push(format!(
                "atomic {number} at {at:#x}: has frame {stored_frame} of {count}"
            ));
        }
        self.atomics.push(Atomic {
            frame,
            geometry,
            flags,
        });
        Ok(())
    }
}
