//! Blending of model parts with the background, according to the tables of an archive
//! (PIPT; FORMATS, HIP assets 8).

use crate::archive::Archive;
use crate::model::Model;
use crate::tables::parse_list;
use hpimount_assets::model::{Picture, Pixels};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::{AssetContext, Shared};

/// Maximum number of kept table entries. An archive of the games has a few hundred.
const MAX_PIPES: usize = 1 << 16;

/// Blend factors of the background color: zero and one.
const ZERO: u32 = 1;
const ONE: u32 = 2;

/// Blending of a model part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blending {
    /// By its transparency.
    Alpha,
    /// Its light is added to the background.
    Added,
}

impl Blending {
    /// Returns the blending in the flags of an entry, or `None` if the textures decide.
    fn of(flags: u32) -> Option<Self> {
        match (flags >> 8 & 15, flags >> 12 & 15) {
            (0, 0) | (_, ZERO) => None,
            (_, ONE) => Some(Self::Added),
            _ => Some(Self::Alpha),
        }
    }
}

/// An entry of a table.
#[derive(Debug)]
struct Pipe {
    model: u32,
    /// Bits of atomics, from the last atomic in the lowest bit.
    sub_objects: u32,
    flags: u32,
}

/// The entries of all tables of an archive and adjacent ones.
struct Pipes(Vec<Pipe>);

impl Shared for Pipes {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.0.capacity() * size_of::<Pipe>()
    }
}

impl Pipes {
    fn new(context: &dyn AssetContext) -> Self {
        let archive = Archive::new(context);
        let mut pipes = Vec::new();
        let files = context.find_type(*b"PIPT").into_iter();
        let files = files.chain(context.find_type_beside(*b"PIPT"));
        for member in files.filter_map(|file| archive.member(file)) {
            // Keep the entries found so far.
            let Ok(bytes) = archive.read(&member) else {
                break;
            };
            let facts = member.origin().facts;
            let list = parse_list(&bytes.unwrap_or_default(), &facts, *b"PIPT");
            let rows = list.map(|list| list.rows).unwrap_or_default();
            let found = rows.iter().filter_map(|row| {
                Some(Pipe {
                    model: row.number("model")?,
                    sub_objects: row.number("sub_objects")?,
                    flags: row.number("pipe_flags")?,
                })
            });
            pipes.extend(found.take(MAX_PIPES - pipes.len()));
        }
        pipes.shrink_to_fit();
        Self(pipes)
    }
}

/// Returns the blending of each atomic of the model with this id, if a table has one.
pub(crate) fn of_atomics(
    id: u32,
    model: &Model,
    context: &dyn AssetContext,
) -> Vec<Option<Blending>> {
    let pipes = shared(context, "HIP pipes", Pipes::new);
    let pipes = pipes.as_ref().map_or(&[][..], |pipes| &pipes.0);
    let atomics = model.clumps.iter().map(|clump| clump.atomics.len());
    chosen(pipes.iter().filter(|pipe| pipe.model == id), atomics.sum())
}

/// Returns the blending in the first entry for each atomic.
fn chosen<'a>(pipes: impl Iterator<Item = &'a Pipe>, count: usize) -> Vec<Option<Blending>> {
    let mut found = vec![None; count];
    let mut left = u32::MAX;
    for pipe in pipes {
        for (bit, blending) in found.iter_mut().rev().take(32).enumerate() {
            if pipe.sub_objects & left & 1 << bit != 0 {
                *blending = Blending::of(pipe.flags);
            }
        }
        left &= !pipe.sub_objects;
    }
    found
}

/// Converts a picture for additive blending to alpha blending: alpha is multiplied by
/// brightness.
pub(crate) fn by_brightness(picture: &Picture) -> Picture {
    let mut pixels = picture.rgba();
    for [red, green, blue, alpha] in &mut pixels {
        let bright = *red.max(green).max(blue);
        *alpha = (u16::from(*alpha) * u16::from(bright) / 255) as u8;
    }
    Picture {
        width: picture.width,
        height: picture.height,
        pixels: Pixels::Rgba(pixels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_for_an_atomic_counts_and_the_last_atomic_has_the_lowest_bit() {
        let pipe = |sub_objects, flags| Pipe {
            model: 1,
            sub_objects,
            flags,
        };
        let pipes = [pipe(1, 0x2500), pipe(u32::MAX, 0x6500), pipe(2, 0x2200)];
        let (alpha, added) = (Some(Blending::Alpha), Some(Blending::Added));
        assert_eq!(chosen(pipes.iter(), 3), [alpha, alpha, added]);
        let plain = [pipe(2, 0x1200), pipe(4, 0x00C0)];
        assert_eq!(chosen(plain.iter(), 3), [None; 3]);
        assert_eq!(chosen(pipes.iter(), 40)[7..10], [None, alpha, alpha]);
    }

    #[test]
    fn what_is_black_adds_nothing() {
        let picture = Picture {
            width: 2,
            height: 1,
            pixels: Pixels::Rgba(vec![[0, 0, 0, 255], [9, 51, 0, 255]]),
        };
        let shown = by_brightness(&picture);
        assert_eq!(shown.rgba(), [[0; 4], [9, 51, 0, 51]]);
    }
}
