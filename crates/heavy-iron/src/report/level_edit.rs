//! Import of an edited `level.glb`: objects that were moved, rotated or scaled.

use std::collections::{HashMap, HashSet};
use std::f32::consts::{PI, TAU};

use super::level::Finished;
use super::placements::Placed;
use crate::archive::Archive;
use hpimount_assets::model::affine::Affine;
use hpimount_assets::model::math::{asin, atan2, rotate};
use hpimount_assets::model::pairing::{Altered, Pairing};
use hpimount_assets::model::{Transform, gltf};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::edit::{Edit, What};
use hpimount_assets::view::import::Problems;
use hpimount_assets::view::report::{Editing, TableEdit, TableEdits};
use hpimount_assets::view::{AssetContext, AssetRef};
use hpimount_record::Value;

/// The level.
pub(super) const LEVEL: Editing = Editing {
    key: "the names of nodes",
    cells: "places, rotations and scales of objects",
    rows: Editing::FIXED_ROWS,
    edit,
};

/// Tolerance for rounding of angles, and of places relative to their size.
const NOTHING: f32 = 1e-4;

/// Minimum steepness of the direction for gimbal lock: yaw and roll rotate about the
/// same axis.
const UPRIGHT: f32 = 0.999_999;

fn edit(context: &dyn AssetContext, _: &[u8], file: &[u8]) -> Result<TableEdits, String> {
    let level = shared(context, "HIP level", Finished::new).ok_or("there is not enough memory")?;
    if let Some(failed) = &level.failed {
        return Err(failed.clone());
    }
    let scene = &level.scene;
    let edited = gltf::read(file, &|bytes| context.reserve(bytes))?;
    let pairing = Pairing::new(scene, &edited)?;
    let mut problems = Problems::default();
    for name in copies(&pairing) {
        problems.add(format!("node \"{name}\": objects cannot be copied here"));
    }
    let is_object =
        |node: usize| scene.identities.contains_key(&node) && scene.nodes[node].parent.is_none();
    for (node, what) in pairing.altered(&is_object) {
        let name = &scene.nodes[node].name;
        problems.add(match what {
            Altered::Moved if scene.identities.contains_key(&node) => {
                format!("node \"{name}\": cannot be moved here: edit its JSON in objects/")
            }
            _ => format!("node \"{name}\": {what}"),
        });
    }
    let archive = Archive::new(context);
    let files = archive
        .members()
        .map(|member| (member.asset.id, member.file));
    let files: HashMap<u32, AssetRef> = files.collect();
    let mut edits = Vec::new();
    let nodes = scene.nodes.iter().enumerate();
    // Nodes below others are parts of models, triggers and paths.
    for (node, one) in nodes.filter(|(_, node)| node.parent.is_none()) {
        let name = &one.name;
        let Some(found) = pairing.nodes[node] else {
            if pairing.deleted.contains(&node) {
                problems.add(format!(
                    "node \"{name}\": objects cannot be deleted here: delete the asset in layers/"
                ));
            }
            continue;
        };
        let placed = pairing.world(found);
        let shown = one.transform;
        if placed.is_near(&Affine::from(&shown), 1.0) {
            continue;
        }
        let Some(identity) = scene.identities.get(&node) else {
            problems.add(format!("node \"{name}\": {}", Altered::Moved));
            continue;
        };
        let Some(&file) = files.get(&identity.id) else {
            problems.add(format!(
                "node \"{name}\": is in another archive: edit that one"
            ));
            continue;
        };
        let object = archive
            .member(file)
            .and_then(|member| archive.object(&member).ok()?);
        let Some(stored) = object.as_ref().and_then(Placed::of) else {
            problems.add(format!(
                "node \"{name}\": is geometry of the level, which has no place"
            ));
            continue;
        };
        for (path, value) in changes(&shown, &placed.transform(), &stored) {
            let place = format!("node \"{name}\"");
            let what = What::Value(path, Value::Float(value));
            edits.push((file, TableEdit::Value(Edit::new(place, what))));
        }
    }
    problems.check()?;
    Ok(TableEdits {
        edits,
        warnings: Vec::new(),
    })
}

/// Returns the names of the new nodes. Copies of objects without a model lack a mesh,
/// like cameras and lights.
fn copies<'a>(pairing: &'a Pairing<'_>) -> impl Iterator<Item = &'a str> {
    let shown = pairing.shown.nodes.iter();
    let shown: HashSet<&str> = shown.map(|node| node.name.as_str()).collect();
    let new: HashSet<usize> = pairing.new.iter().copied().collect();
    let nodes = pairing.edited.scene.nodes.iter().enumerate();
    let copies = nodes.filter(move |(number, node)| {
        let stem = || {
            node.name
                .rsplit_once('.')
                .map_or(&*node.name, |(stem, _)| stem)
        };
        let is_copy = || node.parent.is_none() && shown.contains(stem());
        pairing.origins[*number].is_none() && (new.contains(number) || is_copy())
    });
    copies.map(|(_, node)| node.name.as_str())
}

/// Returns the changed fields of an entity for an edited transformation.
fn changes(shown: &Transform, edited: &Transform, stored: &Placed) -> Vec<(String, f32)> {
    let mut changes = Vec::new();
    let mut compare = |field: &str, shown: [f32; 3], edited: [f32; 3]| {
        let size = shown
            .iter()
            .fold(1.0_f32, |most, part| most.max(part.abs()));
        for (axis, (shown, edited)) in shown.into_iter().zip(edited).enumerate() {
            if (shown - edited).abs() > NOTHING * size {
                changes.push((format!("entity.{field}[{axis}]"), edited));
            }
        }
    };
    compare("pos", shown.translation, edited.translation);
    compare("scale", shown.scale, edited.scale);
    if let Some(angles) = stored.angles {
        let turned = [shown, edited].map(|one| axes(one.rotation));
        let parts = turned[0]
            .as_flattened()
            .iter()
            .zip(turned[1].as_flattened());
        if parts
            .into_iter()
            .any(|(one, other)| (one - other).abs() > 1e-5)
        {
            compare("ang", angles, angles_of(turned[1], angles));
        }
    }
    changes
}

/// Returns the axes of a rotation: right, up, at.
fn axes(rotation: [f32; 4]) -> [[f32; 3]; 3] {
    let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    unit.map(|axis| rotate(rotation, axis))
}

/// Returns yaw, pitch and roll of axes (the inverse of
/// [`object_transform`](crate::model::level::object_transform)). Of equivalent angles,
/// returns those nearest to the stored ones.
fn angles_of([right, up, at]: [[f32; 3]; 3], stored: [f32; 3]) -> [f32; 3] {
    let pitch = asin((-at[1]).clamp(-1.0, 1.0));
    if at[1].abs() > UPRIGHT {
        let turn = atan2(-right[2], right[0]);
        let yaw = match at[1] < 0.0 {
            true => turn + stored[2],
            false => turn - stored[2],
        };
        return nearest([yaw, pitch, stored[2]], stored);
    }
    let (yaw, roll) = (atan2(at[0], at[2]), atan2(right[1], up[1]));
    let one = nearest([yaw, pitch, roll], stored);
    let other = nearest([yaw + PI, PI - pitch, roll + PI], stored);
    let distance = |angles: [f32; 3]| -> f32 {
        let parts = angles.iter().zip(&stored);
        parts.map(|(a, b)| (a - b).abs()).sum()
    };
    match distance(one) <= distance(other) {
        true => one,
        false => other,
    }
}

/// Adds full turns to angles that bring them nearest to others.
fn nearest(angles: [f32; 3], stored: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|axis| {
        let turns = ((stored[axis] - angles[axis]) / TAU).round();
        angles[axis] + turns * TAU
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::level::object_transform;

    #[test]
    fn angles_are_found_again_from_the_rotation() {
        for angles in [
            [0.0, 0.0, 0.0],
            [0.5, -0.25, 3.0],
            [6.0, 7.0, 8.0],
            [-2.0, 2.5, 0.1],
            [0.7, PI / 2.0, 0.3],
            [0.7, -PI / 2.0, 0.3],
        ] {
            let transform = object_transform([0.0; 3], angles, [1.0; 3]);
            let found = angles_of(axes(transform.rotation), angles);
            for (found, angle) in found.into_iter().zip(angles) {
                assert!((found - angle).abs() < 2e-3, "{angles:?}: {found}");
            }
        }
    }
}
