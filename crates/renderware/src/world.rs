//! Worlds: the geometry of a level as a tree of planes, with sectors as leaves.
//! Little-endian (FORMATS, HIP assets 7).

use super::clump::{Material, Mesh, Sector, SectorFormat, read_materials};
use super::{Chunk, Version, kind};
use hpimount_assets::parse::floats;
use hpimount_containers::io::{Endian, Error, Result, Warnings};
use hpimount_record::{self as record, Record};

/// Header sizes: since version 3.2, and before.
const HEADER: usize = 0x40;
const OLD_HEADER: usize = 0x34;

/// Maximum depth of the tree.
const MAX_DEPTH: usize = 64;

/// Maximum number of planes and sectors.
const MAX_PARTS: usize = 1 << 16;

/// A world.
#[derive(Debug, Default)]
pub struct World {
    /// Version of the library that wrote it.
    pub version: Version,
    /// Flags: geometry flags in the low 16 bits, then the number of UV sets. Bit 24 is
    /// set if the sectors are native.
    pub flags: u32,
    /// The minimum and maximum corner of the bounding box; missing before version 3.2.
    pub bounds: Option<[[f32; 3]; 2]>,
    /// The sectors, including unreadable ones.
    pub sectors: Vec<Sector>,
    /// Number of planes.
    pub planes: usize,
    /// Number of planes above the deepest sector.
    pub depth: usize,
    /// The materials.
    pub materials: Vec<Material>,
    /// The number in [`World::materials`] for each material number in a
    /// [`Sector::mesh`].
    pub material_entries: Vec<usize>,
}

/// The counts of a header.
#[derive(Debug, Default, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
struct Counts {
    /// Triangles of all sectors.
    triangles: u32,
    /// Vertices of all sectors.
    vertices: u32,
    /// Planes.
    planes: u32,
    /// Sectors.
    sectors: u32,
}

impl World {
    /// Fills in the world from its chunk.
    ///
    /// # Errors Returns [`Error::Damaged`] if the header, the materials or the tree is
    /// broken, or if no sector can be read. Keeps everything before the damage. Other
    /// broken sectors are warnings.
    pub fn read(&mut self, world: &Chunk, warnings: &mut Warnings) -> Result<()> {
        self.version = world.version;
        let fields = world.child(kind::STRUCT, "world")?;
        let counts = self.header(&fields)?;
        let mut children = world.children();
        let list = children.find(|chunk| chunk.kind == kind::MATERIAL_LIST);
        if let Some(list) = list {
            (self.materials, self.material_entries) = read_materials(&list)?;
        }
        let mut children = world.children();
        let root = children.find(is_part);
        let missing = || Error::damaged(world.offset, "world", "has no sectors");
        self.part(&root.ok_or_else(missing)?, 0, warnings)?;
        self.check(&counts, fields.offset, warnings);
        let mut sectors = self.sectors.iter().map(|sector| &sector.geometry.error);
        let error = sectors.clone().flatten().next();
        match error.filter(|_| sectors.all(Option::is_some)) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Returns the vertices and triangles of all sectors. Material numbers refer to
    /// [`World::materials`].
    pub fn mesh(&self) -> Mesh {
        let entries = |entry: u32| self.material_entries.get(entry as usize);
        Mesh::joined(self.sectors.iter().filter_map(|sector| {
            let mut mesh = sector.mesh()?;
            for part in &mut mesh.parts {
                // Reading the sector checked the entries.
                part.material = entries(part.material).map_or(0, |&material| material as u32);
            }
            Some(mesh)
        }))
    }

    /// Returns whether vertices of any sector have normals.
    pub fn has_normals(&self) -> bool {
        let mut sectors = self.sectors.iter();
        sectors.any(|sector| super::export::has_normals(&sector.geometry))
    }

    /// Returns the numbers of vertices and triangles, including degenerate
    /// ones.
    pub fn sizes(&self) -> (usize, usize) {
        let sectors = self.sectors.iter();
        let sizes = sectors.filter_map(|sector| super::export::sizes(&sector.geometry));
        sizes.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1))
    }

    /// Returns the memory on the heap in bytes, without the bytes of the file.
    pub fn memory(&self) -> usize {
        self.sectors.iter().map(Sector::memory).sum::<usize>()
            + self.materials.capacity() * size_of::<Material>()
            + self.material_entries.capacity() * size_of::<usize>()
    }

    fn header(&mut self, fields: &Chunk) -> Result<Counts> {
        let length = fields.body.len();
        if length != HEADER && length != OLD_HEADER {
            let text = format!("has {length} bytes, should have {HEADER} or {OLD_HEADER}");
            return Err(Error::damaged(fields.offset, "world header", text));
        }
        let mut cursor = fields.cursor(Endian::Little);
        // Type of the root, origin, and in old versions the ambient, specular and
        // diffuse light.
        cursor.take(if length == HEADER { 16 } else { 28 }, "world header")?;
        let counts = record::read(&mut cursor)?;
        cursor.u32("size of collisions")?;
        self.flags = cursor.u32("world flags")?;
        if length == HEADER {
            let greatest = floats(&mut cursor, "world box")?;
            self.bounds = Some([floats(&mut cursor, "world box")?, greatest]);
        }
        Ok(counts)
    }

    /// Reads a sector, or a plane with both of its sides.
    fn part(&mut self, chunk: &Chunk, depth: usize, warnings: &mut Warnings) -> Result<()> {
        let problem = |text| Err(Error::damaged(chunk.offset, "world", text));
        if depth > MAX_DEPTH {
            return problem(format!("has planes nested deeper than {MAX_DEPTH}"));
        }
        if self.sectors.len() + self.planes == MAX_PARTS {
            return problem(format!("has more than {MAX_PARTS} planes and sectors"));
        }
        chunk.check_whole("world")?;
        if chunk.kind == kind::SECTOR {
            self.depth = self.depth.max(depth);
            self.sector(chunk, warnings);
            return Ok(());
        }
        self.planes += 1;
        let fields = chunk.child(kind::STRUCT, "plane")?;
        let mut cursor = fields.cursor(Endian::Little);
        cursor.take(8, "plane")?;
        let are_sectors = [cursor.u32("left side")?, cursor.u32("right side")?];
        let sides: Vec<_> = chunk.children().filter(is_part).take(3).collect();
        let [left, right] = sides.as_slice() else {
            return problem(format!("has a plane with {} sides", sides.len()));
        };
        for (side, is_sector) in [left, right].into_iter().zip(are_sectors) {
            if (is_sector != 0) != (side.kind == kind::SECTOR) {
                let at = side.offset;
                warnings.push(format!(
                    "world at {at:#x}: a side is not what its plane says"
                ));
            }
            self.part(side, depth + 1, warnings)?;
        }
        Ok(())
    }

    fn sector(&mut self, chunk: &Chunk, warnings: &mut Warnings) {
        let format = SectorFormat {
            flags: self.flags,
            materials: self.material_entries.len(),
        };
        let sector = Sector::read(chunk, format, warnings);
        if let Some(error) = &sector.geometry.error {
            let error = error
                .clone()
                .within(format!("sector {}", self.sectors.len()));
            warnings.push(error.to_string());
        }
        self.sectors.push(sector);
    }

    /// Warns about wrong counts in the header.
    fn check(&self, counts: &Counts, at: u64, warnings: &mut Warnings) {
        let sum = |count: fn(&Sector) -> u32| {
            let counts = self.sectors.iter().map(|sector| u64::from(count(sector)));
            counts.sum::<u64>()
        };
        let found = [
            ("sector", counts.sectors, self.sectors.len() as u64),
            ("plane", counts.planes, self.planes as u64),
            (
                "vertex",
                counts.vertices,
                sum(|sector| sector.geometry.declared_vertices),
            ),
            (
                "triangle",
                counts.triangles,
                sum(|sector| sector.geometry.declared_triangles),
            ),
        ];
        for (name, declared, found) in found {
            if u64::from(declared) != found {
                warnings.push(format!(
                    "{name} count at {at:#x}: is {declared}, found {found}"
                ));
            }
        }
    }
}

/// Returns whether a chunk is a plane or a sector.
fn is_part(chunk: &Chunk) -> bool {
    matches!(chunk.kind, kind::SECTOR | kind::PLANE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chunks;
    use fixtures::clump::{self as build, chunk, words};

    fn sector(first_material: u32, material: u16, corner: u16) -> Vec<u8> {
        build::sector(first_material, material, corner, [9, 8, 7, 255])
    }

    fn plane(sides: &[Vec<u8>]) -> Vec<u8> {
        let are_sectors = [0, 1].map(|side| match sides.get(side) {
            Some(side) => u32::from(side[0] == 0x09),
            None => 0,
        });
        let fields = words(&[0, 0, are_sectors[0], are_sectors[1], 0, 0]);
        chunk(0x0A, &[chunk(1, &fields), sides.concat()].concat())
    }

    fn read(root: &[u8], counts: [u32; 4]) -> (World, Vec<String>, Option<String>) {
        let bytes = build::world(root, counts, 0);
        let chunk = Chunks::new(bytes.into(), 0).next().unwrap();
        let (mut world, mut warnings) = (World::default(), Warnings::default());
        let error = world.read(&chunk, &mut warnings).err();
        (
            world,
            warnings.texts(),
            error.map(|error| error.to_string()),
        )
    }

    #[test]
    fn the_sectors_of_a_world_are_one_mesh_with_a_part_for_each_material() {
        let sides = [sector(0, 0, 2), sector(1, 0, 2)];
        let tree = plane(&[plane(&sides), sector(0, 0, 2)]);
        let (world, warnings, error) = read(&tree, [3, 9, 2, 3]);
        assert_eq!((warnings.len(), error), (0, None), "{warnings:?}");
        assert_eq!((world.planes, world.depth, world.sizes()), (2, 2, (9, 3)));
        assert_eq!(world.bounds, Some([[-9.0; 3], [9.0; 3]]));
        let mesh = world.mesh();
        let parts: Vec<_> = mesh
            .parts
            .iter()
            .map(|part| (part.material, part.triangles.clone()))
            .collect();
        assert_eq!(
            parts,
            [(0, vec![[0, 1, 2], [6, 7, 8]]), (1, vec![[3, 4, 5]])]
        );
        assert_eq!(mesh.normals, [[0.0, 0.0, 1.0]; 9]);
        assert_eq!(mesh.colors, [[9, 8, 7, 255]; 9]);
    }

    #[test]
    fn a_broken_sector_does_not_hide_the_others() {
        let tree = plane(&[sector(0, 0, 3), sector(0, 9, 2)]);
        let (world, _, error) = read(&tree, [2, 6, 1, 2]);
        assert!(error.unwrap().contains("sector triangles at 0x"));
        assert_eq!(world.mesh(), Mesh::default());
        let tree = plane(&[sector(2, 0, 2), sector(0, 1, 2)]);
        let (world, warnings, error) = read(&tree, [2, 6, 1, 2]);
        assert_eq!((error, world.mesh().triangles()), (None, 1));
        let [warning] = &warnings[..] else {
            panic!("{warnings:?}");
        };
        assert!(warning.starts_with("sector 0: sector triangles at 0x"));
    }

    #[test]
    fn a_tree_is_neither_deeper_than_its_limit_nor_one_sided() {
        let nested = |depth: usize| {
            (0..depth).fold(sector(0, 0, 2), |inner, _| plane(&[inner, sector(0, 0, 2)]))
        };
        let sums = |planes: u32| [planes + 1, 3 * (planes + 1), planes, planes + 1];
        let (world, _, error) = read(&nested(MAX_DEPTH), sums(64));
        assert_eq!((world.depth, error), (MAX_DEPTH, None));
        let (_, _, error) = read(&nested(MAX_DEPTH + 1), sums(65));
        assert!(error.unwrap().ends_with("has planes nested deeper than 64"));
        let (_, _, error) = read(&plane(&[sector(0, 0, 2)]), sums(1));
        assert!(error.unwrap().ends_with("has a plane with 1 sides"));
    }
}
