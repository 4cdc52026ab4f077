//! `animations/NNN NAME.json`: all keys of an animation.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::key_type;
use crate::ifp::{Animation, Keys, Object};
use hpimount_assets::view::json::{self, Seq};

/// Depth of the keys, which are written one per line.
const KEY_DEPTH: usize = 4;

/// Writes the file of the animation with number `index` in `animations.tsv`.
pub(super) fn json(index: usize, animation: &Animation, out: &mut dyn Write) -> io::Result<()> {
    let facts = AnimationKeys {
        index,
        name: &animation.name,
        duration: animation.duration(),
        objects: Seq::new(|| animation.objects.iter().map(ObjectKeys::new)),
    };
    json::write_lines(&facts, KEY_DEPTH, out)
}

#[derive(Serialize)]
struct AnimationKeys<'a> {
    index: usize,
    name: &'a str,
    duration: f32,
    objects: Seq<'a, ObjectKeys<'a>>,
}

#[derive(Serialize)]
struct ObjectKeys<'a> {
    name: &'a str,
    bone_id: Option<i32>,
    #[serde(rename = "type")]
    kind: Option<Value>,
    #[serde(serialize_with = "key_list")]
    keys: Option<&'a Keys>,
}

impl<'a> ObjectKeys<'a> {
    fn new(object: &'a Object) -> Self {
        Self {
            name: &object.name,
            bone_id: object.bone_id,
            kind: object.keys.as_ref().map(key_type),
            keys: object.keys.as_ref(),
        }
    }
}

#[derive(Serialize)]
struct KeyLine {
    time: f32,
    rotation: [f32; 4],
    #[serde(skip_serializing_if = "Option::is_none")]
    translation: Option<[f32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<[f32; 3]>,
}

fn key_list<S: Serializer>(keys: &Option<&Keys>, serializer: S) -> Result<S::Ok, S::Error> {
    let keys = keys.iter().flat_map(|keys| keys.iter());
    serializer.collect_seq(keys.map(|key| KeyLine {
        time: key.time,
        rotation: key.rotation,
        translation: key.translation,
        scale: key.scale,
    }))
}
