//! The models that animations move.

use super::*;
use crate::model::animated;
use fixtures::heavy_iron as hi;
use hpimount_assets::model::KEY_BYTES;

/// Returns an animation of two bones with one pose.
fn animation() -> Vec<u8> {
    let head = [words(&[0x3142_4B53, 0, 0x0002_0001, 2]), floats(&[1.0; 3])];
    [head.concat(), vec![0; 2 * 16], floats(&[0.5]), vec![0; 4]].concat()
}

/// Returns an object that assigns an animation, or a list of animations, to the model
/// of a figure.
fn stone(animations: &str) -> Vec<u8> {
    let fields = words(&[0, id("figure.dff"), id(animations)]);
    object("stone", 0, &[fields, vec![0; 12 * 4]].concat(), &[])
}

#[test]
fn memory_for_the_keys_of_animations_is_reserved_before_they_are_read() {
    let archives = Archives::new(&[
        ("a.HIP", b"MODL", "figure.dff", hi::figure()),
        ("a.HIP", b"PRJT", "stone", stone("fly")),
        ("a.HIP", b"ANIM", "fly", animation()),
    ])
    .of_game(Game::Incredibles);
    let (scene, _) = animated::skeleton_of(id("fly"), &archives)
        .unwrap()
        .unwrap();
    let tracks = scene.motions[0].tracks.iter();
    let keys: usize = tracks.map(|track| track.times.len()).sum();
    assert_eq!(keys, 2);
    assert_eq!(*archives.reserved.borrow(), [keys * KEY_BYTES]);
}

#[test]
fn an_archive_gives_a_limited_number_of_animations() {
    let ids: Vec<u32> = (1..=animated::MAX_GIVEN as u32 + 1).collect();
    let archives = Archives::new(&[
        ("a.HIP", b"MODL", "figure.dff", hi::figure()),
        ("a.HIP", b"PRJT", "stone", stone("list")),
        ("a.HIP", b"ALST", "list", words(&ids)),
    ])
    .of_game(Game::Incredibles);
    let given = animated::of_model(id("figure.dff"), &archives).into_iter();
    let animations: Vec<_> = given.map(|given| given.animation).collect();
    assert_eq!(animations, ids[..animated::MAX_GIVEN]);
}

#[test]
fn models_have_the_animations_that_objects_name_beside_them() {
    let figure = id("figure.dff");
    // An entity without the padding word of Battle for Bikini Bottom.
    let entity = |model: u32, list: &str, length: usize| {
        let fields = vec![0; 16 * 4];
        [fields, words(&[model, id(list)]), vec![0; length]].concat()
    };
    let reactive = [
        words(&[1, 1, 0, id("info"), 0, id("idle"), 0, id("hit")]),
        vec![0; 12],
        words(&[figure, id("burn")]),
        vec![0; 16],
    ];
    let state = [
        words(&[0, figure]),
        vec![0; 10 * 4],
        words(&[1, id("break")]),
    ];
    let destroyed = [words(&[0, 1]), vec![0; 32], state.concat()];
    let info = words(&[0x464E_494D, 1, 0, 0, 0, figure, 0]);
    let info = [info, floats(&[0.5; 12])].concat();
    let names = ["swing", "idle", "hit", "burn", "break", "fly", "unused"];
    let mut assets = vec![
        ("a.HIP", b"MODL", "figure.dff", hi::figure()),
        ("a.HIP", b"MINF", "info", info),
        ("a.HIP", b"ALST", "list", words(&[id("swing"), 0, 0])),
        (
            "a.HIP",
            b"HANG",
            "rope",
            object("rope", 0, &entity(figure, "list", 32), &[]),
        ),
        (
            "a.HIP",
            b"RANM",
            "grass",
            object("grass", 0, &reactive.concat(), &[]),
        ),
        ("a.HIP", b"DEST", "barrel", destroyed.concat()),
        ("a.HIP", b"PRJT", "stone", stone("fly")),
    ];
    assets.extend(names.map(|name| ("a.HIP", b"ANIM", name, animation())));
    let mut archives = Archives::new(&assets).of_game(Game::Incredibles);
    let given = animated::of_model(figure, &archives).into_iter();
    let given = given.map(|given| (given.animation, given.by));
    let expected = [
        ("swing", "rope"),
        ("idle", "grass"),
        ("hit", "grass"),
        ("burn", "grass"),
        ("break", "barrel"),
        ("fly", "stone"),
    ];
    let mut known: Vec<_> = given.collect();
    known.sort();
    let mut expected = expected.map(|(animation, by)| (id(animation), id(by)));
    expected.sort();
    assert_eq!(known, expected);
    for name in names {
        let index = assets.iter().position(|(_, _, known, _)| *known == name);
        archives.asset = index;
        let view = archives.model(AssetRef(index.unwrap() as u64)).unwrap();
        let mut scene = Vec::new();
        let mut files = view.files().into_iter();
        if let Some(file) = files.position(|file| file.path() == "model.glb") {
            view.render(file, &archives, &mut scene).unwrap();
        }
        let quoted = format!("\"{name}\"");
        let is_moved = scene
            .windows(quoted.len())
            .any(|part| part == quoted.as_bytes());
        assert_eq!(is_moved, name != "unused", "{name}");
    }
}
