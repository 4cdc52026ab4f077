//! JSON form of the keys of animations, for showing and editing.

use super::parse::{Animation, Keys, Object};
use hpimount_assets::view::node::{self, Node, Nodes};
use hpimount_record::Value;

/// Returns all keys of an animation.
pub(super) fn keys(index: usize, animation: &Animation) -> Node<'_> {
    node::map([
        ("index", index.into()),
        ("name", animation.name.clone().into()),
        ("duration", animation.duration().into()),
        ("objects", Node::each(&animation.objects, object_keys)),
    ])
}

/// Returns the keys of an object.
pub(super) fn object_keys(object: &Object) -> Node<'_> {
    node::map([
        ("name", object.name.clone().into()),
        ("bone_id", object.bone_id.into()),
        ("type", key_type(object).into()),
        ("keys", Node::Each(Box::new(|| key_nodes(object)))),
    ])
}

fn key_nodes(object: &Object) -> Nodes<'_> {
    let keys = object.keys.iter().flat_map(Keys::iter);
    Box::new(keys.map(|key| {
        node::known([
            ("time", key.time.into()),
            ("rotation", Value::from_iter(key.rotation).into()),
            ("translation", key.translation.map(Value::from_iter).into()),
            ("scale", key.scale.map(Value::from_iter).into()),
        ])
    }))
}

/// Returns the kind of keys in JSON: the number of `ANP3`, the tag of `ANPK`.
pub(super) fn key_type(object: &Object) -> Option<Value> {
    let kind = object.keys.as_ref().map(Keys::kind);
    kind.map(|kind| match kind.number() {
        Some(number) => Value::from(number),
        None => kind.name().into(),
    })
}
