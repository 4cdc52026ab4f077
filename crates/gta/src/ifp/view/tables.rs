//! The tables; their columns are described in `docs/formats/ifp.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use crate::ifp::{Ifp, KeyKind, Object};
use hpimount_assets::view::Table;

/// Writes `animations.tsv`.
pub(super) fn animations(ifp: &Ifp, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "name",
        "objects",
        "frames",
        "duration_s",
        "root_motion",
        "key_types",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, animation) in ifp.animations().enumerate() {
        table
            .cell(index)
            .text(&animation.name)
            .cell(animation.objects.len())
            .cell(animation.frames())
            .float(animation.duration())
            .cell(animation.has_root_motion())
            .cell(key_types(animation.objects.iter()))
            .end_row()?;
    }
    Ok(())
}

/// Writes `bones.tsv`.
pub(super) fn bones(ifp: &Ifp, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["bone_id", "name", "animations"])?;
    for ((bone, name), animations) in bone_uses(ifp) {
        table.optional(bone).text(name).cell(animations).end_row()?;
    }
    Ok(())
}

/// A bone by its number, if it has one, and its name.
pub(super) type Bone<'a> = (Option<i32>, &'a str);

/// Returns all bones, and the number of animations of each.
pub(super) fn bone_uses(ifp: &Ifp) -> BTreeMap<Bone<'_>, usize> {
    let mut uses = BTreeMap::new();
    for animation in ifp.animations() {
        let objects = animation.objects.iter();
        // Collecting would take memory for every object before the set is
        // built.
        let mut bones = BTreeSet::new();
        bones.extend(objects.map(|object| (object.bone_id, object.name.as_str())));
        for bone in bones {
            *uses.entry(bone).or_default() += 1;
        }
    }
    uses
}

/// Returns the kinds of key that the objects have, `3,4` or `KR00,KRT0`.
pub(super) fn key_types<'a>(objects: impl Iterator<Item = &'a Object>) -> String {
    let keys = objects.filter_map(|object| object.keys.as_ref());
    let mut kinds = BTreeSet::new();
    kinds.extend(keys.map(|keys| keys.kind()));
    let names: Vec<_> = kinds.into_iter().map(KeyKind::name).collect();
    names.join(",")
}
