//! JSP assets with level information: a collision tree, materials of the atomics, and
//! vectors for strips.

use bytes::Bytes;

use crate::record::{Layout, Rows, layouts};
use crate::{Facts, Parsed, floats, other, read_into, take};
use hpimount_containers::io::{Cursor, Error, Result, Warnings};
use hpimount_renderware::{Chunk, Chunks};

/// Types of its chunks, whose headers are little-endian on every console.
const COLLISION: u32 = 0xBE_EF01;
const NODES: u32 = 0xBE_EF02;
const VECTORS: u32 = 0xBE_EF03;
const BOUNDS: u32 = 0xBE_EF04;

const MAGIC: u32 = 0x4C4F_4343;

/// Magic of the list of nodes; later games have another list.
const NODES_MAGIC: &[u8] = b"JSP";

/// Kinds of the two children of a branch.
const LEAF: u32 = 1;
const BRANCH_BELOW: u32 = 2;

layouts! {
    BRANCH { left: U32, right: U32, left_value: F32, right_value: F32 }
    TRIANGLE { atomic: U16, vertex: U16, flags: U8, platform: U8, material: U16 }
    NODE { material: I32, flags: I32 }
    VECTOR { vector: Vec3 }
}

/// Information about level geometry other than its shape.
#[derive(Debug, Default)]
pub struct JspInfo {
    /// The tree for collisions.
    pub collision: Option<Branches>,
    /// Version of the list of nodes.
    pub version: u32,
    /// Materials and flags of the level's atomics in reverse order.
    pub nodes: Rows,
    /// Vectors for strips, on GameCube: the corners of the strips of each atomic, in
    /// reverse order of the atomics.
    pub vectors: Rows,
    /// The maximum and minimum corner of the level's bounding box, in later games.
    pub bounds: Option<[[f32; 3]; 2]>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A tree for collisions.
#[derive(Debug, Default)]
pub struct Branches {
    /// Branches.
    pub branches: Rows,
    /// Triangles, each given by atomic and vertex.
    pub triangles: Rows,
}

/// Returns whether a JSP asset belongs to a JSPINFO layer, where it has chunks of its
/// own instead of a clump.
pub fn is_level_info(bytes: &[u8]) -> bool {
    let kind = bytes.first_chunk().map(|word| u32::from_le_bytes(*word));
    kind.is_some_and(|kind| kind >> 8 == COLLISION >> 8)
}

/// Parses a JSP asset of a JSPINFO layer.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) if a chunk is unknown, the
/// magic is wrong, or a count does not fit.
pub fn parse(bytes: &Bytes, facts: &Facts) -> Parsed<JspInfo> {
    read_into(bytes, JspInfo::default(), |info| {
        let mut chunks = Chunks::new(bytes.clone(), 0);
        for chunk in chunks.by_ref() {
            let left = match chunk.kind {
                COLLISION => collision(&chunk, facts, info)?,
                NODES => nodes(&chunk, facts, info)?,
                VECTORS => vectors(&chunk, facts, info)?,
                BOUNDS => bounds(&chunk, facts, info)?,
                other => {
                    return Err(Error::damaged(
                        chunk.offset - 12,
                        "level info",
                        format!("has a chunk of type {other:#x}"),
                    ));
                }
            };
            chunk.check_whole("level info")?;
            if left > 0 {
                let at = chunk.offset;
                info.warnings
                    .push(format!("chunk at {at:#x}: {left} bytes follow its records"));
            }
        }
        let left = chunks.left();
        if left > 0 {
            let at = chunks.offset();
            info.warnings
                .push(format!("{left} bytes at {at:#x} belong to no chunk"));
        }
        if let Some(tree) = &info.collision {
            tree.check(&mut info.warnings);
        }
        Ok(())
    })
}

impl Branches {
    /// Warns about missing branches and leaves, and about branches with several
    /// parents.
    fn check(&self, warnings: &mut Warnings) {
        let mut is_reached = vec![false; self.branches.len()];
        for branch in self.branches.iter() {
            for side in ["left", "right"] {
                let word = branch.number(side).unwrap_or_default();
                let index = (word >> 12) as usize;
                match word & 3 {
                    BRANCH_BELOW => match is_reached.get_mut(index) {
                        None => warnings.push(format!("branch {index} does not exist")),
                        Some(reached) if *reached || index == 0 => {
                            warnings.push(format!("branch {index} is reached twice"));
                        }
                        Some(reached) => *reached = true,
                    },
                    LEAF if index >= self.triangles.len() => {
                        warnings.push(format!("leaf at triangle {index} does not exist"));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Takes `count` records.
fn rows(
    cursor: &mut Cursor<'_>,
    body: &Bytes,
    layout: Layout,
    count: u32,
    field: &'static str,
) -> Result<Rows> {
    let size = crate::record::size(layout);
    let count = cursor.check_count(count.into(), size, field)?;
    let endian = cursor.endian();
    let bytes = take(cursor, body, count * size, field)?;
    Ok(Rows::new(layout, endian, &bytes, count))
}

fn collision(chunk: &Chunk, facts: &Facts, info: &mut JspInfo) -> Result<usize> {
    let mut cursor = chunk.cursor(facts.endian);
    let magic = cursor.u32("magic")?;
    if magic == MAGIC.swap_bytes() {
        cursor = chunk.cursor(other(facts.endian));
        cursor.u32("magic")?;
        info.warnings
            .push("magic: is in the other byte order than the archive");
    } else if magic != MAGIC {
        let problem = format!("is {magic:#010x}, should be {MAGIC:#010x}");
        return Err(Error::damaged(chunk.offset, "magic", problem));
    }
    let branches = cursor.u32("branch count")?;
    let triangles = cursor.u32("triangle count")?;
    let body = &chunk.body;
    info.collision = Some(Branches {
        branches: rows(&mut cursor, body, BRANCH, branches, "branch count")?,
        triangles: rows(&mut cursor, body, TRIANGLE, triangles, "triangle count")?,
    });
    Ok(cursor.remaining())
}

fn nodes(chunk: &Chunk, facts: &Facts, info: &mut JspInfo) -> Result<usize> {
    let mut cursor = chunk.cursor(facts.endian);
    if !cursor.take(4, "magic")?.starts_with(NODES_MAGIC) {
        return Ok(cursor.remaining() + 4);
    }
    info.version = cursor.u32("node version")?;
    let count = cursor.u32("node count")?;
    cursor.take(12, "node list")?;
    info.nodes = rows(&mut cursor, &chunk.body, NODE, count, "node count")?;
    Ok(cursor.remaining())
}

fn vectors(chunk: &Chunk, facts: &Facts, info: &mut JspInfo) -> Result<usize> {
    let mut cursor = chunk.cursor(facts.endian);
    let count = cursor.u32("vector count")?;
    info.vectors = rows(&mut cursor, &chunk.body, VECTOR, count, "vector count")?;
    Ok(cursor.remaining())
}

fn bounds(chunk: &Chunk, facts: &Facts, info: &mut JspInfo) -> Result<usize> {
    let mut cursor = chunk.cursor(facts.endian);
    cursor.take(4, "magic")?;
    info.bounds = Some([floats(&mut cursor, "box")?, floats(&mut cursor, "box")?]);
    Ok(cursor.remaining())
}
