//! SHRP: the debris of breaking things (FORMATS, HIP assets 8).

use bytes::Bytes;

use crate::parts::{BODY, Part, PartKind, kind_of, kinds};
use crate::record::{Layout, Record, layout, layouts, size};
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
    /// The bytes after the readable fragments.
    pub rest: Bytes,
    /// Warnings.
    pub warnings: Warnings,
}

/// A fragment.
#[derive(Debug)]
pub struct Fragment {
    /// Name of its kind.
    pub kind: &'static str,
    /// Fields, and its locations.
    pub parts: Vec<Part>,
    /// The undecoded settings of a particle's emitter.
    pub emit: Bytes,
}

layouts! {
    /// The fields that every fragment begins with.
    pub(crate) FRAGMENT { type: U32, id: Id, parent1: Id, parent2: Id, lifetime: F32, delay: F32 }
}

/// Length of a location without a radius, in bytes.
const LOCATION: usize = 36;

layouts! {
    /// Last field of locations since The SpongeBob Movie.
    RADIUS { rand_radius: F32 }
}

/// Length of the settings of a particle's emitter in bytes, before and since The
/// SpongeBob Movie.
const EMIT: [usize; 2] = [364, 388];

/// Length of the shape of the bounds of a fire, in bytes.
const SHAPE: usize = 24;

/// Length of the padding after it, in bytes.
const PAD: usize = 4;

/// A part of a fragment.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Fields(Layout),
    Part(&'static str, Layout),
    Location(&'static str),
    Emit(usize),
    /// The bounds of a fire.
    Bound,
}

/// A version of the tool that wrote the asset.
#[derive(Debug, Clone, Copy)]
enum Build {
    /// Scooby-Doo and Battle for Bikini Bottom.
    First {
        /// True if projectiles have a velocity.
        has_velocity: bool,
        /// True if sounds have a volume and radii.
        has_volume: bool,
    },
    /// The Incredibles and The SpongeBob Movie.
    Later {
        /// True if particles have flags, as in The SpongeBob Movie.
        has_flags: bool,
    },
    /// Rise of the Underminer.
    Rotu,
}

impl Build {
    /// Returns the versions of a game, in the order of trial.
    fn of(game: Game) -> &'static [Self] {
        match game {
            Game::Incredibles => &[
                Self::Later { has_flags: true },
                Self::Later { has_flags: false },
            ],
            Game::Rotu | Game::RatProto => &[Self::Rotu],
            _ => {
                const {
                    &[
                        Self::new(true, true),
                        Self::new(true, false),
                        Self::new(false, false),
                        Self::new(false, true),
                    ]
                }
            }
        }
    }
}

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
        Self::First {
            has_velocity,
            has_volume,
        }
    }

    /// Returns the length of a location.
    fn location(self) -> usize {
        match self {
            Self::First { .. } => LOCATION,
            _ => LOCATION + size(RADIUS),
        }
    }

    /// Returns the kind of fragments with this number, and the data after their header.
    fn pieces(self, number: u32) -> Option<(&'static str, Vec<Piece>)> {
        let Self::First {
            has_velocity,
            has_volume,
        } = self
        else {
            return self.later_pieces(number);
        };
        use Piece::{Emit, Fields, Location};
        Some(match number {
            3 => (
                "particle",
                vec![
                    Location("source"),
                    Location("velocity"),
                    Emit(EMIT[0]),
                    Fields(layout!(emitter: Id, pad: Pad4)),
                ],
            ),
            4 => {
                let mut pieces = vec![Fields(layout!(model: Id, pad: Pad4)), Location("launch")];
                if has_velocity {
                    pieces.push(Location("velocity"));
                }
                pieces.push(Fields(FLIGHT));
                ("projectile", pieces)
            }
            5 => ("lightning", lightning()),
            6 => {
                let mut pieces = vec![Fields(layout!(sound: Id)), Location("source")];
                if has_volume {
                    pieces.push(Fields(layout!(
                        volume: F32, inner_radius: F32, outer_radius: F32
                    )));
                }
                ("sound", pieces)
            }
            7 => ("shockwave", vec![Fields(SHOCKWAVE)]),
            _ => return None,
        })
    }

    /// Like [`Build::pieces`], since The SpongeBob Movie.
    fn later_pieces(self, number: u32) -> Option<(&'static str, Vec<Piece>)> {
        use Piece::{Bound, Emit, Fields, Location, Part};
        let is_rotu = matches!(self, Self::Rotu);
        let has_flags = matches!(self, Self::Later { has_flags: true });
        let only = |is_there: bool, piece: Piece| is_there.then_some(piece);
        Some(match number {
            3 => {
                let flags = only(has_flags, Fields(layout!(particle_flags: U32)));
                let mut pieces = vec![Location("source"), Location("velocity"), Emit(EMIT[1])];
                pieces.extend(flags);
                pieces.push(Fields(layout!(emitter: Id, pad: Pad4)));
                ("particle", pieces)
            }
            4 => {
                let mut pieces = vec![
                    Fields(layout!(model: Id, pad: Pad4)),
                    Location("launch"),
                    Location("velocity"),
                    Location("velocity_plus_minus"),
                    Location("rotation"),
                    Location("rotation_plus_minus"),
                ];
                pieces.extend(only(is_rotu, Location("initial_rotation")));
                pieces.push(Fields(FLIGHT));
                pieces.extend(only(is_rotu, Part("light", LIGHT)));
                ("projectile", pieces)
            }
            5 => ("lightning", lightning()),
            6 => (
                "sound",
                vec![Fields(layout!(sound: Id)), Location("source")],
            ),
            7 => ("shockwave", vec![Fields(SHOCKWAVE)]),
            8 => (
                "explosion",
                vec![
                    Fields(layout!(explosion_type: U32)),
                    Location("location"),
                    Fields(layout!(explosion_flags: U32)),
                ],
            ),
            9 => (
                "distortion",
                vec![
                    Fields(layout!(distortion_type: U32)),
                    Location("location"),
                    Fields(layout!(
                        distortion_flags: U32, radius: F32, duration: F32, intensity: F32,
                        frequency: F32, repeat_delay: F32
                    )),
                ],
            ),
            10 => {
                let mut pieces = vec![
                    Location("location"),
                    Fields(layout!(
                        fire_flags: U32, radius: F32, scale: F32, fuel: F32, heat: F32,
                        damage: F32, knockback: F32
                    )),
                ];
                let more = Fields(layout!(heat_magnify: F32, height: F32, pad: Pad4));
                pieces.extend(only(is_rotu, more));
                pieces.extend(only(is_rotu, Bound));
                ("fire", pieces)
            }
            11 => ("light", vec![Location("location"), Part("light", LIGHT)]),
            12 => (
                "smoke",
                vec![
                    Fields(layout!(smoke_emitter: Id)),
                    Location("location"),
                    Fields(layout!(rate: F32, radius: F32)),
                ],
            ),
            13 => (
                "goo",
                vec![
                    Fields(layout!(
                        drop_model: Id, pad: Pad4, splat_model: Id, pad: Pad4, splat_sound: Id,
                        pad: Pad4
                    )),
                    Location("location"),
                    Location("velocity"),
                    Fields(layout!(min_scale: F32, max_scale: F32)),
                ],
            ),
            _ => return None,
        })
    }
}

layouts! {
    /// The flight of a projectile.
    FLIGHT {
        bounce: F32, max_bounces: I32, frag_flags: U32, child: Id, pad: Pad4, min_scale: F32,
        max_scale: F32, scale_curve: Id, pad: Pad4, gravity: F32
    }

    SHOCKWAVE {
        model: Id, birth_radius: F32, death_radius: F32, birth_velocity: F32, death_velocity: F32,
        birth_spin: F32, death_spin: F32, birth_color: Vec4, death_color: Vec4
    }

    LIGHT { light_color: Vec4, radius: F32, fade_up_time: F32, fade_down_time: F32, duration: F32 }

    /// The bounds of a fire, before their shape.
    BOUND {
        xmin: I8, ymin: I8, zmin: I8, zmin_dup: I8, xmax: I8, ymax: I8, zmax: I8, zmax_dup: I8,
        min: Vec3, max: Vec3, bound_type: U8, pad: Pad3, center: Vec3
    }
}

/// The shapes of the bounds of a fire.
const SHAPES: &[PartKind] = kinds! { []
    0 "sphere" { radius: F32 }
    1 "box" { upper: Vec3, lower: Vec3 }
    2 "cylinder" { radius: F32, height: F32 }
};

fn lightning() -> Vec<Piece> {
    use Piece::{Fields, Location};
    let parents = Fields(layout!(start_parent: Id, end_parent: Id));
    vec![Location("start"), Location("end"), parents]
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
        shrapnel.read_fragments(&rest, facts);
        Ok(())
    })
}

impl Shrapnel {
    /// Reads the fragments in the first version that fits, or else as far as possible
    /// in the first version.
    fn read_fragments(&mut self, bytes: &Bytes, facts: &Facts) {
        let count = self.count as usize;
        let mut first = None;
        for &build in Build::of(facts.game) {
            let (fragments, at, error) = fragments(bytes, facts.endian, count, build);
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

/// Returns up to `count` fragments, their end, and the error that ended them.
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
    let head = take(bytes, &mut at, endian, FRAGMENT)?;
    let number = head.number("type").unwrap_or_default();
    let Some((kind, pieces)) = build.pieces(number) else {
        return Err(Error::damaged(
            (start + START) as u64,
            "fragment",
            format!("is of unknown kind {number}"),
        ));
    };
    let mut parts = vec![Part::plain(BODY, head)];
    let mut emit = Bytes::new();
    for piece in pieces {
        match piece {
            Piece::Fields(layout) => {
                parts.push(Part::plain(BODY, take(bytes, &mut at, endian, layout)?));
            }
            Piece::Part(name, layout) => {
                parts.push(Part::plain(name, take(bytes, &mut at, endian, layout)?));
            }
            Piece::Emit(length) => emit = slice("settings", bytes, &mut at, length)?,
            Piece::Location(name) => {
                let start = at;
                let bytes = slice(name, bytes, &mut at, build.location())?;
                parts.extend(location(name, &bytes, start + START, endian)?);
            }
            Piece::Bound => {
                let head = take(bytes, &mut at, endian, BOUND)?;
                let number = head.number("bound_type").unwrap_or_default();
                parts.push(Part::plain("bound", head));
                let start = at + START;
                let shape = slice("bound", bytes, &mut at, SHAPE)?;
                parts.extend(kind_of(&[SHAPES], number).map(|kind| Part {
                    kind: Some(kind.name),
                    ..Part::plain("bound", Record::new(kind.fields, endian, &shape).at(start))
                }));
                slice("bound", bytes, &mut at, PAD)?;
            }
        }
    }
    Ok((Fragment { kind, parts, emit }, at))
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

/// Takes bytes at an offset.
fn slice(name: &'static str, bytes: &Bytes, at: &mut usize, length: usize) -> Result<Bytes> {
    let end = at.checked_add(length).filter(|&end| end <= bytes.len());
    let Some(end) = end else {
        return Err(Error::damaged(
            (*at + START) as u64,
            name,
            format!("ends after {} bytes", bytes.len() + START),
        ));
    };
    let start = std::mem::replace(at, end);
    Ok(bytes.slice(start..end))
}

/// Returns the parts of a location at offset `start` of the asset. An unset location
/// has at most a radius.
fn location(name: &'static str, bytes: &Bytes, start: usize, endian: Endian) -> Result<Vec<Part>> {
    let number = Cursor::new(bytes, 0, endian).u32(name)?;
    let place = kind_of(&[LOCATIONS], number).map(|kind| Part {
        kind: Some(kind.name),
        ..Part::plain(name, Record::new(kind.fields, endian, bytes).at(start))
    });
    let radius = bytes.slice(LOCATION..);
    let radius = (!radius.is_empty()).then(|| {
        Part::plain(
            name,
            Record::new(RADIUS, endian, &radius).at(start + LOCATION),
        )
    });
    Ok(place.into_iter().chain(radius).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Platform;
    use crate::record::tests::check_ways_back;

    #[test]
    fn records_of_all_fragments_are_edited_into_others() {
        let games = [Game::Bfbb, Game::Incredibles, Game::Rotu];
        let builds = games.into_iter().flat_map(Build::of);
        let known = builds.flat_map(|build| (0..=13).filter_map(|number| build.pieces(number)));
        let pieces = known.flat_map(|(_, pieces)| pieces);
        let fields = pieces.filter_map(|piece| match piece {
            Piece::Fields(layout) | Piece::Part(_, layout) => Some(layout),
            Piece::Location(_) | Piece::Emit(_) | Piece::Bound => None,
        });
        let kinds = LOCATIONS.iter().chain(SHAPES).map(|kind| kind.fields);
        fields.chain(kinds).for_each(check_ways_back);
    }

    /// Returns a definition with one fire of Rise of the Underminer.
    fn fire() -> Vec<u8> {
        let pieces = Build::Rotu.pieces(10).unwrap().1;
        let lengths = pieces.into_iter().map(|piece| match piece {
            Piece::Fields(layout) => size(layout),
            Piece::Location(_) => Build::Rotu.location(),
            Piece::Bound => size(BOUND) + SHAPE + PAD,
            other => panic!("{other:?}"),
        });
        let length = START + size(FRAGMENT) + lengths.sum::<usize>();
        let mut bytes = vec![0; length];
        bytes[3] = 1;
        bytes[START + 3] = 10;
        bytes
    }

    #[test]
    fn fires_are_read_only_if_they_are_whole() {
        let facts = Facts::new(Platform::GameCube, Game::Rotu);
        let whole = Bytes::from(fire());
        for length in START..=whole.len() {
            let found = parse_shrapnel(&whole.slice(..length), &facts).unwrap();
            let is_whole = length == whole.len();
            assert_eq!(found.fragments.len(), usize::from(is_whole), "{length}");
            assert_eq!(found.warnings.is_empty(), is_whole, "{length}");
        }
    }
}
