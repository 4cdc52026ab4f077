//! The files that show sprites.

use super::*;
use fixtures::ta::gaf::{Body, Frame as Built, file, sequence};
use fixtures::ta::put;
use hpimount_assets::view::{Alone, rendered_text};

fn built() -> Vec<u8> {
    let frame = |width: u16| Built::rle(width, 2, &vec![Some(3); 2 * usize::from(width)]);
    file(&[
        sequence("walk/run", vec![(frame(4), 0), (frame(6), 5)]),
        sequence("", vec![(frame(1), 1)]),
        sequence("none", Vec::new()),
    ])
}

#[test]
fn sequences_are_folders_and_animations_if_they_have_two_frames() {
    let view = open(&built().into(), &Alone).ok().unwrap();
    let files = view.files();
    let names: Vec<String> = files
        .iter()
        .map(|file| match &file.folder {
            Some(folder) => format!("{folder}/{}", file.name),
            None => file.name.clone(),
        })
        .collect();
    let expected = [
        "info.json",
        "info.txt",
        "frames.tsv",
        "preview.png",
        "000 walk_run/00.png",
        "000 walk_run/01.png",
        "000 walk_run.apng",
        "001/00.png",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_damaged_sequence_hides_only_those_from_it_on() {
    let mut bytes = built();
    // The pointer to the second sequence.
    put(&mut bytes, 16, &[0xFF; 4]);
    let view = open(&bytes.into(), &Alone).ok().unwrap();
    let names: Vec<String> = view.files().into_iter().map(|file| file.name).collect();
    assert_eq!(names[0], "error.txt");
    assert!(names.contains(&"000 walk_run.apng".to_owned()));
    assert!(
        view.failure()
            .unwrap()
            .to_string()
            .starts_with("sequence 1")
    );
}

#[test]
fn only_sequences_with_an_omitted_frame_lose_their_animation() {
    let frames = |count| vec![(Built::new(1, 1, Body::Raw(vec![3])), 1); count];
    let mut bytes = file(&[sequence("large", frames(17)), sequence("small", frames(2))]);
    // All references of the first sequence share a frame; 16 are shown.
    let gaf = gaf::parse(&bytes.clone().into()).unwrap();
    let large = gaf.sequences[0].get(0).unwrap().frame;
    for reference in gaf.sequences[0].frames() {
        put(
            &mut bytes,
            reference.stored_at as usize,
            &large.to_le_bytes(),
        );
    }
    put(&mut bytes, large as usize, &4095_u16.to_le_bytes());
    put(&mut bytes, large as usize + 2, &4095_u16.to_le_bytes());
    let view = open(&bytes.into(), &Alone).ok().unwrap();
    let files = view.files();
    let has = |name: &str| files.iter().any(|file| file.name == name);
    assert!(has("15.png") && !has("16.png"));
    assert!(!has("000 large.apng"));
    assert!(has("001 small.apng"));
}

#[test]
fn a_frame_with_lost_layers_is_transparent() {
    let layered = Built::new(3, 2, Body::Layers(vec![Built::rle(1, 1, &[Some(3)])]));
    let mut bytes = file(&[sequence("lost", vec![(layered, 1)])]);
    // The list of layers is the second to last item of the file.
    let list = bytes.len() - 4 - 24 - 4;
    put(&mut bytes, list, &[0xFF; 4]);
    let view = open(&bytes.into(), &Alone).ok().unwrap();
    let files = view.files();
    for (index, shown) in files.iter().enumerate() {
        let mut rendering = Vec::new();
        view.render(index, &Alone, &mut rendering).unwrap();
        assert!(!rendering.is_empty(), "{shown:?}");
        if shown.name == "info.json" {
            let text = String::from_utf8(rendering).unwrap();
            assert!(text.contains("are lost"), "{text}");
        }
    }
}

#[test]
fn raw_frames_without_the_key_are_counted() {
    let raw = |pixels: &[u8]| Built::new(pixels.len() as u16, 1, Body::Raw(pixels.to_vec()));
    let frames = [
        raw(&[1, 2]),
        raw(&[1, 9]),
        raw(&[]),
        Built::rle(1, 1, &[Some(3)]),
    ];
    let frames = frames.map(|frame| (frame, 1)).to_vec();
    let gaf = gaf::parse(&file(&[sequence("walk", frames)]).into()).unwrap();
    assert_eq!(key_unused(&gaf), 1);
}

#[test]
fn frames_without_duration_are_not_an_animation() {
    let frame = || Built::new(1, 1, Body::Raw(vec![3]));
    let button = sequence("button", vec![(frame(), 0), (frame(), 0)]);
    let view = open(&file(&[button]).into(), &Alone).ok().unwrap();
    let files = view.files();
    assert!(!files.iter().any(|file| file.name.ends_with(".apng")));
    assert!(files.iter().any(|file| file.name == "01.png"));
}

#[test]
fn a_file_without_frames_has_no_table_of_them() {
    let view = open(&file(&[]).into(), &Alone).ok().unwrap();
    let names: Vec<_> = view.files().into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["info.json", "info.txt"]);
}

#[test]
fn zero_ticks_count_as_one() {
    let reference = |ticks| Reference {
        stored_at: 0,
        frame: 0,
        ticks,
    };
    assert_eq!(delay(Some(reference(0))), (1, 30));
    assert_eq!(delay(Some(reference(7))), (7, 30));
    assert_eq!(delay(Some(reference(u32::MAX))), (u16::MAX, 30));
}

#[test]
fn facts_list_every_sequence() {
    let facts = rendered_text(&FORMAT, &built(), "info.json").unwrap();
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    assert_eq!(facts["sequences"][0]["name"], "walk/run");
    assert_eq!(facts["sequences"][0]["seconds"], serde_json::Value::Null);
    assert_eq!(facts["sequences"][1]["seconds"], 1.0 / 30.0);
}
