//! SHRP: what flies off when something breaks (FORMATS, HIP assets 8).

use bytes::Bytes;

use crate::parts::{BODY, Part, PartKind, kind_of, kinds};
use crate::record::{Layout, Record, layout};
use crate::{Facts, Game, Parsed, read_into, slice_of};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// A shrapnel definition.
#[derive(Debug, Default)]
pub struct Shrapnel {
    /// Number of fragments, as stored.
    pub count: u32,
    /// The asset's own id.
    pub id: u32,
    /// The fragments.
    pub fragments: Vec<Fragment>,
    /// The bytes after the fragments that could be read.
    pub rest: Bytes,
    /// Warnings.
    pub warnings: Warnings,
}

/// A fragment.
#[derive(Debug)]
pub struct Fragment {
    /// Name of its kind.
    pub kind: &'static str,
    /// Its fields, and its locations.
    pub parts: Vec<Part>,
}

/// The fields that every fragment begins with.
const HEAD: Layout = layout!(
    type: U32, id: Id, parent1: Id, parent2: Id, lifetime: F32, delay: F32
);

/// Length of a location, in bytes.
const LOCATION: usize = 36;

/// Bytes of a particle between its locations and its emitter, which are not
/// used.
const UNUSED: usize = 364;

/// A part of a fragment.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Fields(Layout),
    Location(&'static str),
    Unused(usize),
}

/// A version of the tool that wrote the asset.
#[derive(Debug, Clone, Copy)]
struct Build {
    /// Whether projectiles have a velocity.
    has_velocity: bool,
    /// Whether sounds have a volume and radii.
    has_volume: bool,
}

/// The versions, in the order in which they are tried.
const BUILDS: [Build; 4] = [
    Build::new(true, true),
    Build::new(true, false),
    Build::new(false, false),
    Build::new(false, true),
];

/// Places that locations are relative to.
const LOCATIONS: &[PartKind] = kinds! { [location_type: U32,]
    0 "bone" { index: I32, offset: Vec3 }
    1 "bone_updated" { index: I32, offset: Vec3 }
    2 "bone_local" { index: I32, offset: Vec3 }
    3 "bone_local_updated" { index: I32, offset: Vec3 }
    4 "tag" { v: Vec3, matrix: U32, weights: Vec4 }
    5 "tag_updated" { v: Vec3, matrix: U32, weights: Vec4 }
};

impl Build {
    const fn new(has_velocity: bool, has_volume: bool) -> Self {
        Self {
            has_velocity,
            has_volume,
        }
    }

    /// Returns the kind of fragments with this number, and what follows their
    /// head.
    fn pieces(self, number: u32) -> Option<(&'static str, Vec<Piece>)> {
        use Piece::{Fields, Location, Unused};
        Some(match number {
            3 => (
                "particle",
                vec![
                    Location("source"),
                    Location("velocity"),
                    Unused(UNUSED),
                    Fields(layout!(emitter: Id, pad: Pad4)),
                ],
            ),
            4 => {
                let mut pieces = vec![Fields(layout!(model: Id, pad: Pad4)), Location("launch")];
                if self.has_velocity {
                    pieces.push(Location("velocity"));
                }
                pieces.push(Fields(layout!(
                    bounce: F32, max_bounces: I32, frag_flags: U32, child: Id, pad: Pad4,
                    min_scale: F32, max_scale: F32, scale_curve: Id, pad: Pad4, gravity: F32
                )));
                ("projectile", pieces)
            }
            5 => (
                "lightning",
                vec![
                    Location("start"),
                    Location("end"),
                    Fields(layout!(start_parent: Id, end_parent: Id)),
                ],
            ),
            6 => {
                let mut pieces = vec![Fields(layout!(sound: Id)), Location("source")];
                if self.has_volume {
                    pieces.push(Fields(layout!(
                        volume: F32, inner_radius: F32, outer_radius: F32
                    )));
                }
                ("sound", pieces)
            }
            7 => (
                "shockwave",
                vec![Fields(layout!(
                    model: Id, birth_radius: F32, death_radius: F32, birth_velocity: F32,
                    death_velocity: F32, birth_spin: F32, death_spin: F32, birth_color: Vec4,
                    death_color: Vec4
                ))],
            ),
            _ => return None,
        })
    }
}

/// Parses an SHRP asset.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) if the header is truncated.
/// Fragments that cannot be read are a warning.
pub fn parse_shrapnel(bytes: &Bytes, facts: &Facts) -> Parsed<Shrapnel> {
    read_into(bytes, Shrapnel::default(), |shrapnel| {
        let mut cursor = Cursor::new(bytes, 0, facts.endian);
        shrapnel.count = cursor.u32("fragment count")?;
        shrapnel.id = cursor.u32("asset id")?;
        cursor.u32("fragment list")?;
        let rest = cursor.take(cursor.remaining(), "fragments")?;
        let rest = slice_of(bytes, rest);
        if matches!(facts.game, Game::Bfbb | Game::Unknown) {
            shrapnel.read_fragments(&rest, facts.endian);
        } else {
            // Locations are longer in later games, by how much is not known.
            shrapnel.rest = rest;
        }
        Ok(())
    })
}

impl Shrapnel {
    /// Reads the fragments as the first version that they fit, or else as the
    /// first one of all, as far as they fit.
    fn read_fragments(&mut self, bytes: &Bytes, endian: Endian) {
        let count = self.count as usize;
        let mut first = None;
        for build in BUILDS {
            let (fragments, at, error) = fragments(bytes, endian, count, build);
            if error.is_none() && at == bytes.len() {
                (self.fragments, self.rest) = (fragments, Bytes::new());
                return;
            }
            first.get_or_insert((fragments, at, error));
        }
        let Some((fragments, at, error)) = first else {
            return;
        };
        self.fragments = fragments;
        self.rest = bytes.slice(at..);
        self.warnings.push(match error {
            Some(error) => error.to_string(),
            None => format!(
                "fragments at {:#x}: {} bytes follow them",
                at + START,
                bytes.len() - at
            ),
        });
    }
}

/// Length of the header, in bytes.
const START: usize = 12;

/// Returns up to `count` fragments, where they end, and the error that ended
/// them.
fn fragments(
    bytes: &Bytes,
    endian: Endian,
    count: usize,
    build: Build,
) -> (Vec<Fragment>, usize, Option<Error>) {
    let (mut all, mut at) = (Vec::new(), 0);
    for _ in 0..count {
        match fragment(bytes, at, endian, build) {
            Ok((fragment, next)) => {
                all.push(fragment);
                at = next;
            }
            Err(error) => return (all, at, Some(error)),
        }
    }
    (all, at, None)
}

/// Returns the fragment at an offset, and its end.
fn fragment(
    bytes: &Bytes,
    start: usize,
    endian: Endian,
    build: Build,
) -> Result<(Fragment, usize)> {
    let mut at = start;
    let head = take(bytes, &mut at, endian, HEAD)?;
    let number = head.number("type").unwrap_or_default();
    let Some((kind, pieces)) = build.pieces(number) else {
        return Err(Error::damaged(
            (start + START) as u64,
            "fragment",
            format!("is of unknown kind {number}"),
        ));
    };
    let mut parts = vec![Part::plain(BODY, head)];
    for piece in pieces {
        match piece {
            Piece::Fields(layout) => {
                parts.push(Part::plain(BODY, take(bytes, &mut at, endian, layout)?));
            }
            Piece::Unused(length) => at += length,
            Piece::Location(name) => {
                parts.extend(location(name, bytes, at, endian)?);
                at += LOCATION;
            }
        }
    }
    Ok((Fragment { kind, parts }, at))
}

/// Takes the whole record at an offset.
fn take(bytes: &Bytes, at: &mut usize, endian: Endian, layout: Layout) -> Result<Record> {
    let record = Record::new(layout, endian, &bytes.slice((*at).min(bytes.len())..));
    let record = record.at(*at + START);
    if !record.is_whole() {
        return Err(Error::damaged(
            (*at + START) as u64,
            "fragment",
            format!("ends after {} bytes", bytes.len() + START),
        ));
    }
    *at += record.bytes().len();
    Ok(record)
}

/// Returns the location at an offset; `None` if it was never set.
fn location(name: &'static str, bytes: &Bytes, at: usize, endian: Endian) -> Result<Option<Part>> {
    let held = at.checked_add(LOCATION).filter(|&end| end <= bytes.len());
    let Some(end) = held else {
        return Err(Error::damaged(
            (at + START) as u64,
            name,
            format!("ends after {} bytes", bytes.len() + START),
        ));
    };
    let bytes = bytes.slice(at..end);
    let number = Cursor::new(&bytes, 0, endian).u32(name)?;
    Ok(kind_of(LOCATIONS, number).map(|kind| Part {
        kind: Some(kind.name),
        ..Part::plain(name, Record::new(kind.fields, endian, &bytes))
    }))
}
