//! A player of the animations in GLB files, to compare with independent readers.

use std::path::Path;

use serde_json::Value as Json;

use testkit::gltf::{list, scene};
use testkit::shown::bytes_of;

/// A GLB file, as a player of animations reads it.
pub(crate) struct Player {
    pub(crate) scene: Json,
    binary: Vec<u8>,
}

/// Rotation and translation of a node.
type Pose = ([f64; 4], [f64; 3]);

impl Player {
    pub(crate) fn open(path: &Path) -> Self {
        let bytes = bytes_of(path);
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        Self {
            scene: scene(path),
            binary: bytes[20 + length + 8..].to_vec(),
        }
    }

    /// Returns the elements of an accessor of floats.
    fn floats(&self, accessor: &Json, width: usize) -> Vec<Vec<f64>> {
        let accessor = &self.scene["accessors"][accessor.as_u64().unwrap() as usize];
        let view = accessor["bufferView"].as_u64().unwrap() as usize;
        let view = &self.scene["bufferViews"][view];
        let start = view["byteOffset"].as_u64().unwrap_or_default() as usize;
        let count = accessor["count"].as_u64().unwrap() as usize;
        let bytes = &self.binary[start..start + 4 * width * count];
        let words: Vec<f64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|word| f32::from_le_bytes(*word).into())
            .collect();
        words.chunks(width).map(<[f64]>::to_vec).collect()
    }

    pub(crate) fn animation(&self, name: &str) -> &Json {
        let mut animations = list(&self.scene, "animations").iter();
        animations.find(|one| one["name"] == name).unwrap()
    }

    /// Returns the value of a sampler, between two keys.
    fn sampled(&self, sampler: &Json, width: usize, time: f64) -> Vec<f64> {
        let times = self.floats(&sampler["input"], 1);
        let values = self.floats(&sampler["output"], width);
        let next = times.iter().position(|key| key[0] > time);
        let (before, after) = match next {
            Some(0) => (0, 0),
            Some(next) => (next - 1, next),
            None => (times.len() - 1, times.len() - 1),
        };
        let span = times[after][0] - times[before][0];
        let part = if span > 0.0 {
            (time - times[before][0]) / span
        } else {
            0.0
        };
        let (a, b) = (&values[before], &values[after]);
        if width == 4 {
            return slerp(a, b, part);
        }
        a.iter().zip(b).map(|(a, b)| a + (b - a) * part).collect()
    }

    /// Returns the positions of the joints at a time.
    pub(crate) fn joints(&self, animation: &Json, time: f64) -> Vec<[f64; 3]> {
        let nodes = list(&self.scene, "nodes");
        let part = |node: &Json, name: &str, index: usize, none: f64| {
            node[name].get(index).and_then(Json::as_f64).unwrap_or(none)
        };
        let mut poses: Vec<Pose> = nodes
            .iter()
            .map(|node| {
                let turn = std::array::from_fn(|i| {
                    part(node, "rotation", i, if i == 3 { 1.0 } else { 0.0 })
                });
                (
                    turn,
                    std::array::from_fn(|i| part(node, "translation", i, 0.0)),
                )
            })
            .collect();
        for channel in list(animation, "channels") {
            let node = channel["target"]["node"].as_u64().unwrap() as usize;
            let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
            match channel["target"]["path"].as_str() {
                Some("rotation") => {
                    poses[node]
                        .0
                        .copy_from_slice(&self.sampled(sampler, 4, time));
                }
                _ => poses[node]
                    .1
                    .copy_from_slice(&self.sampled(sampler, 3, time)),
            }
        }
        let parent_of = |node: usize| {
            nodes.iter().position(|one| {
                let mut children = list(one, "children").iter();
                children.any(|child| child.as_u64() == Some(node as u64))
            })
        };
        let place = |joint: &Json| {
            let mut point = [0.0; 3];
            let mut next = Some(joint.as_u64().unwrap() as usize);
            while let Some(node) = next {
                let (turn, shift) = poses[node];
                let rotated = rotated(turn, point);
                point = std::array::from_fn(|axis| rotated[axis] + shift[axis]);
                next = parent_of(node);
            }
            point
        };
        let skin = &list(&self.scene, "skins")[0];
        list(skin, "joints").iter().map(place).collect()
    }
}

/// Interpolates between two quaternions.
pub(crate) fn slerp(a: &[f64], b: &[f64], part: f64) -> Vec<f64> {
    let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    assert!(dot >= 0.0, "neighbors take the shorter arc");
    let angle = dot.min(1.0).acos();
    let shares = match angle < 1e-6 {
        true => [1.0 - part, part],
        false => [
            ((1.0 - part) * angle).sin() / angle.sin(),
            (part * angle).sin() / angle.sin(),
        ],
    };
    let mixed: Vec<f64> = a
        .iter()
        .zip(b)
        .map(|(a, b)| a * shares[0] + b * shares[1])
        .collect();
    let length = mixed.iter().map(|part| part * part).sum::<f64>().sqrt();
    mixed.iter().map(|part| part / length).collect()
}

/// Rotates a point by a quaternion x, y, z, w.
pub(crate) fn rotated([x, y, z, w]: [f64; 4], p: [f64; 3]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let axis = [x, y, z];
    let once = cross(axis, p);
    let twice = cross(axis, once);
    std::array::from_fn(|i| p[i] + 2.0 * (w * once[i] + twice[i]))
}
