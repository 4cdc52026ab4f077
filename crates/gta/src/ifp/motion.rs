//! Animations as motions of the nodes of a scene (FORMATS, IFP 7).

use std::collections::{HashMap, HashSet};

use super::{Animation, Keys, Object};
use hpimount_assets::model::MAX_POSES;
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::Track;
use hpimount_renderware::export::unit_rotation;

/// The nodes that objects of animations move.
#[derive(Debug, Default)]
pub(crate) struct Bones {
    by_number: HashMap<i32, usize>,
    /// By trimmed lower-case name.
    by_name: HashMap<String, usize>,
}

fn key(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

impl Bones {
    /// Adds a node with the number and the name of its bone. The first of several equal
    /// nodes counts.
    pub(crate) fn add(&mut self, node: usize, number: Option<i32>, name: &str) {
        if let Some(number) = number.filter(|&number| number >= 0) {
            self.by_number.entry(number).or_insert(node);
        }
        self.by_name.entry(key(name)).or_insert(node);
    }

    /// Returns the node of an object: the node with the number of its bone, or else
    /// with its name.
    pub(crate) fn node_of(&self, object: &Object) -> Option<usize> {
        let by_number = object.bone_id.and_then(|bone| self.by_number.get(&bone));
        by_number
            .or_else(|| self.by_name.get(&key(&object.name)))
            .copied()
    }

    /// Returns whether an animation moves a node.
    pub(crate) fn moves(&self, animation: &Animation) -> bool {
        let mut objects = animation.objects.iter();
        objects.any(|object| self.node_of(object).is_some())
    }

    /// Converts the keys of an animation to tracks of the nodes. Ignores objects
    /// without a node, and further objects of the same node. Fails with the reason if
    /// nothing moves.
    pub(crate) fn tracks(&self, animation: &Animation) -> Result<Vec<Track>, String> {
        let keys: usize = animation.objects.iter().map(Object::frames).sum();
        if keys > MAX_POSES {
            return Err(format!("it has {keys} keys, more than {MAX_POSES}"));
        }
        let mut moved = HashSet::new();
        let tracks = animation.objects.iter().filter_map(|object| {
            let keys = object.keys.as_ref().filter(|keys| !keys.is_empty())?;
            let node = self.node_of(object)?;
            moved.insert(node).then(|| track(node, keys))
        });
        let tracks: Vec<_> = tracks.filter(|track| !track.times.is_empty()).collect();
        match tracks.is_empty() {
            true => Err("it moves no part of the model".to_owned()),
            false => Ok(tracks),
        }
    }
}

/// Returns the keys with times that increase from 0 on.
fn track(node: usize, keys: &Keys) -> Track {
    let mut track = Track {
        node,
        times: Vec::with_capacity(keys.len()),
        translations: Vec::new(),
        rotations: Vec::with_capacity(keys.len()),
    };
    for key in keys.iter() {
        let is_later = track.times.last().is_none_or(|&last| key.time > last);
        if !(key.time.is_finite() && key.time >= 0.0 && is_later) {
            continue;
        }
        // Negative zero is written as 0.
        track.times.push(key.time + 0.0);
        track.rotations.push(unit_rotation(key.rotation));
        track
            .translations
            .extend(key.translation.map(|place| place.map(finite)));
    }
    track
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ifp::{self as build, floats, shorts};

    fn animation(objects: Vec<Vec<u8>>) -> Animation {
        let file = build::anp(true, "ped", &[("walk", objects)]);
        let mut ifp = crate::ifp::parse(&file.into()).unwrap();
        ifp.packages.remove(0).animations.remove(0)
    }

    fn bones() -> Bones {
        let mut bones = Bones::default();
        bones.add(5, Some(0), "Root");
        bones.add(6, Some(1), " Pelvis");
        bones.add(7, Some(1), "other");
        bones
    }

    #[test]
    fn objects_move_the_bone_of_their_number_or_else_of_their_name() {
        let still = shorts(&[0, 0, 0, 4096, 0]);
        let object = |name, bone| build::anp_object(name, 3, bone, &still);
        let animation = animation(vec![
            object("unlike", 0),
            object("pelvis ", -1),
            object(" Pelvis", 1),
            object("OTHER", 99),
            object("hand", 98),
        ]);
        let tracks = bones().tracks(&animation).unwrap();
        let nodes: Vec<_> = tracks.iter().map(|track| track.node).collect();
        assert_eq!(nodes, [5, 6, 7]);
        assert!(tracks.iter().all(|track| track.translations.is_empty()));
    }

    #[test]
    fn only_keys_with_rising_times_are_taken() {
        let keys = [-1.0, 0.0, 2.0, 1.0, f32::NAN, 3.0]
            .map(|time| floats(&[0.0, 0.0, 2.0, 0.0, time, time, 0.0, 0.0]));
        let animation = animation(vec![build::anp_object("root", 2, 0, &keys.concat())]);
        let tracks = bones().tracks(&animation).unwrap();
        assert_eq!(tracks[0].times, [0.0, 2.0, 3.0]);
        assert_eq!(tracks[0].translations[1], [2.0, 0.0, 0.0]);
        assert_eq!(tracks[0].rotations[0], [0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn an_animation_of_other_bones_is_refused() {
        let still = shorts(&[0, 0, 0, 4096, 0]);
        let animation = animation(vec![build::anp_object("wing", 3, 7, &still)]);
        let why = bones().tracks(&animation).unwrap_err();
        assert_eq!(why, "it moves no part of the model");
    }
}
