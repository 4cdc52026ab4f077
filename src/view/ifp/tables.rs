//! The tables; `docs/formats/ifp.md` says what each column means.

use std::collections::{BTreeMap, BTreeSet};

use crate::asset::ifp::{Ifp, KeyKind, Object};
use crate::view::Table;

/// `animations.tsv`.
pub(super) fn animations(ifp: &Ifp) -> Vec<u8> {
    let mut table = Table::new(&[
        "index",
        "name",
        "objects",
        "frames",
        "duration_s",
        "root_motion",
        "key_types",
    ]);
    for (index, animation) in ifp.animations().enumerate() {
        table
            .cell(index)
            .text(&animation.name)
            .cell(animation.objects.len())
            .cell(animation.frames())
            .float(animation.duration())
            .cell(animation.has_root_motion())
            .cell(key_types(animation.objects.iter()))
            .end_row();
    }
    table.into_bytes()
}

/// `bones.tsv`.
pub(super) fn bones(ifp: &Ifp) -> Vec<u8> {
    let mut table = Table::new(&["bone_id", "name", "animations"]);
    for ((bone, name), animations) in bone_uses(ifp) {
        table.optional(bone).text(name).cell(animations).end_row();
    }
    table.into_bytes()
}

/// A bone by its number, where it has one, and its name.
pub(super) type Bone<'a> = (Option<i32>, &'a str);

/// All bones, and the number of animations that each is in.
pub(super) fn bone_uses(ifp: &Ifp) -> BTreeMap<Bone<'_>, usize> {
    let mut uses = BTreeMap::new();
    for animation in ifp.animations() {
        let bones: BTreeSet<Bone<'_>> = animation
            .objects
            .iter()
            .map(|object| (object.bone_id, object.name.as_str()))
            .collect();
        for bone in bones {
            *uses.entry(bone).or_default() += 1;
        }
    }
    uses
}

/// The kinds of key that the objects have, `3,4` or `KR00,KRT0`.
pub(super) fn key_types<'a>(objects: impl Iterator<Item = &'a Object>) -> String {
    let kinds: BTreeSet<KeyKind> = objects
        .filter_map(|object| object.keys.as_ref())
        .map(|keys| keys.kind())
        .collect();
    let names: Vec<_> = kinds.into_iter().map(KeyKind::name).collect();
    names.join(",")
}
