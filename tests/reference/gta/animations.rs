//! Animations on models of Grand Theft Auto in a mount, compared with the
//! frames and keys that independent readers find.

use std::path::Path;
use std::process::Command;

use super::list;
use crate::player::{Player, rotated, slerp};
use crate::shared;
use serde_json::Value;
use testkit::fuse_test;
use testkit::gltf::validate;
use testkit::mounted::mounted_files;
use testkit::skip::possible;

/// Returns the results of an independent reader for a file.
fn read(reader: &str, arguments: &[&str], file: &Path) -> Option<Value> {
    let mut python = Command::new("python3");
    python.arg(shared(reader)?).args(arguments).arg(file);
    let output = python.output();
    let is_installed = possible(output.is_ok(), "python3 is missing");
    let output = output.ok().filter(|_| is_installed)?;
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn numbers<const N: usize>(values: &Value) -> [f64; N] {
    std::array::from_fn(|index| values[index].as_f64().unwrap())
}

/// Returns the value of the keys of an object at a time.
fn sampled(object: &Value, name: &str, time: f64) -> Option<Vec<f64>> {
    let keys = list(object, "keys");
    let value = |key: &Value| {
        let value = key[name].as_array()?;
        Some(value.iter().filter_map(Value::as_f64).collect::<Vec<_>>())
    };
    if keys.len() == 1 {
        return value(&keys[0]);
    }
    let seconds = |key: &Value| key["t"].as_f64().unwrap();
    let after = keys.iter().position(|key| seconds(key) > time);
    let after = after.unwrap_or(keys.len() - 1).max(1);
    let (from, to) = (&keys[after - 1], &keys[after]);
    let part = ((time - seconds(from)) / (seconds(to) - seconds(from))).min(1.0);
    let (a, mut b) = (value(from)?, value(to)?);
    if name == "p" {
        return Some(a.iter().zip(b).map(|(a, b)| a + (b - a) * part).collect());
    }
    let unit = |q: &[f64]| {
        let length = q.iter().map(|part| part * part).sum::<f64>().sqrt();
        q.iter().map(|part| part / length).collect::<Vec<_>>()
    };
    if a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
        b.iter_mut().for_each(|part| *part = -*part);
    }
    Some(slerp(&unit(&a), &unit(&b), part))
}

/// Returns the positions of the bones of a model at a time of an animation, with
/// y up and the front at z.
fn joints(model: &Value, animation: &Value, time: f64) -> Vec<[f64; 3]> {
    let frames = list(&model["clumps"][0], "frames");
    let moved = |frame: &Value| {
        let id = &frame["hanim"]["id"];
        let mut objects = list(animation, "objects").iter();
        objects.find(|object| object["bone_id"] == *id)
    };
    let placed = |frame: &Value, point: [f64; 3]| {
        let object = moved(frame);
        let turned = match object.and_then(|object| sampled(object, "q", time)) {
            Some(turn) => rotated(turn.try_into().unwrap(), point),
            None => {
                let rows: [f64; 9] = numbers(&frame["rotation"]);
                std::array::from_fn(|i| (0..3).map(|row| point[row] * rows[3 * row + i]).sum())
            }
        };
        let place = object.and_then(|object| sampled(object, "p", time));
        let place: [f64; 3] = match place {
            Some(place) => place.try_into().unwrap(),
            None => numbers(&frame["position"]),
        };
        std::array::from_fn(|axis| turned[axis] + place[axis])
    };
    let skeleton = frames
        .iter()
        .find_map(|frame| frame["hanim"]["nodes"].as_array());
    let bones = skeleton.unwrap().iter();
    bones
        .map(|bone| {
            let is_bone = |frame: &&Value| frame["hanim"]["id"] == bone[0];
            let mut next = frames.iter().find(is_bone);
            let mut point = [0.0; 3];
            while let Some(frame) = next {
                point = placed(frame, point);
                let parent = frame["parent"].as_u64();
                next = parent.and_then(|parent| frames.get(parent as usize));
            }
            let [x, y, z] = point;
            [-x, z, y]
        })
        .collect()
}

#[fuse_test]
fn a_model_plays_the_animations_of_its_group_with_the_joints_of_the_independent_readers() {
    let Some(game) = shared("samples/gta/game_sa") else {
        return;
    };
    let mount = mounted_files(&[game], "");
    let archive = mount.file("models/demo.img.d");
    let model = read("oracle/gta/dff_ref.py", &[], &archive.join("demo_ped.dff"));
    let package = read("oracle/ifp_ref.py", &["--frames"], &archive.join("ped.ifp"));
    let Some((model, package)) = model.zip(package) else {
        return;
    };
    let glb = archive.join("demo_ped.dff.meta/model.glb");
    let player = Player::open(&glb);
    let names = list(&player.scene, "animations").iter();
    let names: Vec<_> = names.map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["walk_civi", "idle_stance"]);
    for name in names {
        let mut animations = list(&package, "animations").iter();
        let known = animations.find(|one| one["name"] == name).unwrap();
        let duration = known["duration"].as_f64().unwrap();
        for step in 0..10 {
            let time = duration * f64::from(step) / 9.0;
            let ours = player.joints(player.animation(name), time);
            let known = joints(&model, known, time);
            assert_eq!(ours.len(), known.len());
            for (ours, known) in ours.iter().zip(&known) {
                let mut parts = ours.iter().zip(known);
                assert!(
                    parts.all(|(ours, known)| (ours - known).abs() < 1e-4),
                    "{name} at {time}: {ours:?} should be {known:?}"
                );
            }
        }
    }
    let skeleton = archive.join("ped.ifp.meta/skeleton.glb");
    let animations = Player::open(&skeleton).scene["animations"].clone();
    assert_eq!(animations.as_array().map(Vec::len), Some(2));
    validate(&[glb, skeleton]);
}
