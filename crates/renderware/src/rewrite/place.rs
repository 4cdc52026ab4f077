//! Frames at other places.

use crate::clump::{Clump, Placement};
use crate::{Chunk, kind};
use hpimount_assets::model::Transform;
use hpimount_assets::model::affine::Affine;

use super::Bodies;

/// Size of a frame, and of its axes, which come first.
const FRAME: usize = 56;
const AXES: usize = 36;

/// Sets the transformations of changed frames, by number.
///
/// # Errors
/// Returns an error with the name of a sheared frame, which cannot be rotated.
pub fn frames(
    chunk: &Chunk,
    clump: &Clump,
    changes: &[(usize, Transform)],
    bodies: &mut Bodies,
) -> Result<(), String> {
    let list = chunk
        .children()
        .find(|child| child.kind == kind::FRAME_LIST);
    let fields = list.and_then(|list| list.child(kind::STRUCT, "frame list").ok());
    let Some(fields) = fields.filter(|_| !changes.is_empty()) else {
        return Ok(());
    };
    let mut body = fields.body.to_vec();
    for &(number, changed) in changes {
        let at = size_of::<u32>() + FRAME * number;
        let (Some(stored), Some(frame)) = (body.get_mut(at..at + FRAME), clump.frames.get(number))
        else {
            continue;
        };
        let old = frame.placement.transform();
        if changed.rotation != old.rotation {
            let map = Affine::from(&old);
            if !Placement::of(|point| map.apply(point)).is_near(&frame.placement) {
                let name = &frame.name;
                return Err(format!("node \"{name}\": has shear, and cannot be turned"));
            }
            let map = Affine::from(&changed);
            let turned = Placement::of(|point| map.at([0.0; 3]).apply(point));
            let axes = [turned.right, turned.up, turned.at];
            put(&mut stored[..AXES], axes.as_flattened(), None);
        }
        let place = &mut stored[AXES..AXES + 12];
        put(place, &changed.translation, Some(&old.translation));
    }
    bodies.insert(fields.offset, body);
    Ok(())
}

/// Writes numbers, except for unchanged ones.
fn put(bytes: &mut [u8], values: &[f32], old: Option<&[f32]>) {
    for (number, word) in bytes.chunks_exact_mut(4).enumerate() {
        if old.is_none_or(|old| old[number].to_bits() != values[number].to_bits()) {
            word.copy_from_slice(&values[number].to_le_bytes());
        }
    }
}
