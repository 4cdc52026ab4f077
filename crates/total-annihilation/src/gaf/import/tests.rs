//! Tests of edited sprites.

use super::encode::rows;
use super::*;
use crate::gaf::Pixels;
use fixtures::png_of;
use fixtures::ta::gaf::{self as build, Body, Frame as Built};
use hpimount_assets::model::png;
use hpimount_assets::view::import::edited;
use hpimount_assets::view::rendered;
use proptest::prelude::*;

/// Returns a file with two frames of 5 by 4 pixels.
fn built(format: u8) -> Vec<u8> {
    let pixels: Vec<u8> = (0..20).map(|at| at * 13 % 11).collect();
    let frame = |shift: u8| match format {
        0 => Built::new(
            5,
            4,
            Body::Raw(pixels.iter().map(|at| at + shift).collect()),
        ),
        1 => {
            let pixels = pixels.iter().map(|&at| (at > 3).then_some(at + shift));
            Built::rle(5, 4, &pixels.collect::<Vec<_>>())
        }
        _ => {
            let words = pixels.iter().map(|&at| u16::from(at) << 8 | 0x8F31);
            Built::new(5, 4, Body::TrueColor(format, words.collect()))
        }
    };
    build::file(&[build::sequence("walk", vec![(frame(0), 1), (frame(3), 1)])])
}

proptest! {
    #[test]
    fn an_edited_frame_is_shown_and_the_others_are_kept(
        format in prop::sample::select(vec![0_u8, 1, 4, 5]),
        from in 0_usize..20,
        to in 0_usize..20,
    ) {
        let old = built(format);
        let (path, other) = ("000 walk/01.png", "000 walk/00.png");
        let before = rendered(&gaf::FORMAT, &old, path).unwrap();
        prop_assert_eq!(edited(&gaf::FORMAT, &old, path, &before), Ok(Imported::Unchanged));
        let mut pixels = png::read(&before, 100).unwrap().rgba();
        pixels.rotate_left(from);
        pixels[to] = pixels[from];
        let file = png_of(5, 4, pixels.clone());
        if let Imported::Changed(changed) = edited(&gaf::FORMAT, &old, path, &file).unwrap() {
            let after = rendered(&gaf::FORMAT, &changed.asset, path).unwrap();
            prop_assert_eq!(png::read(&after, 100).unwrap().rgba(), pixels);
            prop_assert_eq!(
                rendered(&gaf::FORMAT, &changed.asset, other).unwrap(),
                rendered(&gaf::FORMAT, &old, other).unwrap()
            );
            prop_assert_eq!((changed.warnings, changed.quality), (Vec::new(), None));
        }
    }

    #[test]
    fn rows_of_runs_have_the_pixels(
        pixels in prop::collection::vec(prop::option::weighted(0.7, 0_u8..3), 300),
    ) {
        let frame = Built::rle(300, 1, &pixels);
        let old = build::file(&[build::sequence("a", vec![(frame, 0)])]);
        let gaf = gaf::parse(&old.into()).unwrap();
        let frame = gaf.frame(gaf.sequences[0].get(0).unwrap()).unwrap();
        let Pixels::Indexed(indexed) = gaf.decode(&frame).unwrap().pixels else {
            panic!("has palette indices");
        };
        let mask: Vec<bool> = indexed.mask.iter().map(|&mask| mask != 0).collect();
        let data = rows(&indexed.indices, &mask, 300).unwrap();
        let file = build::file(&[build::sequence(
            "a",
            vec![(Built::new(300, 1, Body::Rle(vec![data[2..].to_vec()])), 0)],
        )]);
        let gaf = gaf::parse(&file.into()).unwrap();
        let frame = gaf.frame(gaf.sequences[0].get(0).unwrap()).unwrap();
        prop_assert_eq!(gaf.decode(&frame).unwrap().pixels, Pixels::Indexed(indexed));
    }
}

#[test]
fn previews_and_frames_of_layers_are_refused() {
    let layers = Body::Layers(vec![Built::rle(1, 1, &[Some(1)])]);
    let old = build::file(&[build::sequence("a", vec![(Built::new(1, 1, layers), 0)])]);
    let file = png_of(1, 1, vec![[255; 4]]);
    let refused = edited(&gaf::FORMAT, &old, "000 a/00.png", &file).unwrap_err();
    assert!(refused.contains("1 layers"), "{refused}");
    let same = rendered(&gaf::FORMAT, &old, "000 a/00.png").unwrap();
    let unchanged = edited(&gaf::FORMAT, &old, "000 a/00.png", &same);
    assert_eq!(unchanged, Ok(Imported::Unchanged));
    let refused = edited(&gaf::FORMAT, &old, "preview.png", &file).unwrap_err();
    assert!(refused.contains("edit the frames"), "{refused}");
}

#[test]
fn partly_transparent_pixels_are_a_warning() {
    let file = png_of(5, 4, vec![[0, 0, 0, 127]; 20]);
    let new = edited(&gaf::FORMAT, &built(1), "000 walk/00.png", &file).unwrap();
    let Imported::Changed(changed) = new else {
        panic!("is changed");
    };
    let after = rendered(&gaf::FORMAT, &changed.asset, "000 walk/00.png").unwrap();
    assert_eq!(png::read(&after, 20).unwrap().rgba(), [[0; 4]; 20]);
    assert!(changed.warnings[0].starts_with("20 pixels are partly"));
}

/// Returns a file with a sequence of 3 frames and a sequence of one frame.
fn sprites() -> Vec<u8> {
    let frame = |index: u8| {
        let mut frame = Built::rle(2, 2, &[Some(index), None, Some(index), Some(index)]);
        (frame.x, frame.y) = (1, -1);
        frame
    };
    let walk = vec![(frame(20), 2), (frame(30), 3), (frame(40), 4)];
    let still = vec![(Built::new(2, 2, Body::Raw(vec![50, 9, 50, 51])), 0)];
    build::file(&[
        build::sequence("walk", walk),
        build::sequence("still", still),
    ])
}

/// Returns the edits of a file: contents by path; `None` deletes a file.
fn all_edited(asset: &[u8], files: &[(&str, Option<Vec<u8>>)]) -> Result<Imported, Vec<Refused>> {
    let files = files.iter().map(|(path, content)| EditedFile {
        path: (*path).to_owned(),
        content: content.clone().map(Into::into),
    });
    import_all(&AllEdits {
        asset: &asset.to_vec().into(),
        context: &hpimount_assets::view::Alone,
        files: &files.collect::<Vec<_>>(),
    })
}

fn changed(asset: &[u8], files: &[(&str, Option<Vec<u8>>)]) -> Vec<u8> {
    match all_edited(asset, files).unwrap() {
        Imported::Changed(changed) => changed.asset,
        Imported::Unchanged => panic!("is unchanged"),
    }
}

/// Returns the reasons of refusals, after the file paths.
fn reasons(files: &[(&str, Option<Vec<u8>>)]) -> Vec<String> {
    let refused = all_edited(&sprites(), files).unwrap_err().into_iter();
    refused
        .map(|Refused { file, reason }| format!("{}: {reason}", files[file].0))
        .collect()
}

/// Returns the size, the origin and the ticks of each frame of a sequence.
fn frames_of(asset: &[u8], sequence: usize) -> Vec<(u16, u16, i16, i16, u32)> {
    let gaf = gaf::parse(&asset.to_vec().into()).unwrap();
    let frames = gaf.sequences[sequence].frames();
    let frames = frames.map(|reference| (gaf.frame(reference).unwrap(), reference.ticks));
    frames
        .map(|(one, ticks)| (one.width, one.height, one.x, one.y, ticks))
        .collect()
}

fn shown(asset: &[u8], path: &str) -> Vec<[u8; 4]> {
    png::read(&rendered(&gaf::FORMAT, asset, path).unwrap(), 1000)
        .unwrap()
        .rgba()
}

fn gray(width: u32, height: u32) -> Option<Vec<u8>> {
    Some(png_of(
        width,
        height,
        vec![[255; 4]; (width * height) as usize],
    ))
}

fn table(edits: &[(&str, &str)]) -> Option<Vec<u8>> {
    let mut text = rendered(&gaf::FORMAT, &sprites(), TABLE).unwrap();
    for (old, new) in edits {
        let before = String::from_utf8(text).unwrap();
        assert!(before.contains(old), "{before}");
        text = before.replace(old, new).into_bytes();
    }
    Some(text)
}

#[test]
fn a_frame_may_get_another_size() {
    for (path, sequence) in [("000 walk/01.png", 0), ("001 still/00.png", 1)] {
        let new = changed(&sprites(), &[(path, gray(3, 5))]);
        assert_eq!(shown(&new, path), [[255; 4]; 15]);
        let mut expected = frames_of(&sprites(), sequence);
        let frame = &mut expected[1 - sequence];
        (frame.0, frame.1) = (3, 5);
        assert_eq!(frames_of(&new, sequence), expected);
        assert_eq!(
            shown(&new, "000 walk/02.png"),
            shown(&sprites(), "000 walk/02.png")
        );
    }
}

#[test]
fn frames_are_added_behind_the_others() {
    let files = [
        ("000 walk/03.png", gray(3, 1)),
        ("000 walk/04.png", gray(1, 1)),
    ];
    let new = changed(&sprites(), &files);
    let mut expected = frames_of(&sprites(), 0);
    expected.extend([(3, 1, 1, -1, 4), (1, 1, 1, -1, 4)]);
    assert_eq!(frames_of(&new, 0), expected);
    assert_eq!(shown(&new, "000 walk/03.png"), [[255; 4]; 3]);
    assert_eq!(frames_of(&new, 1), frames_of(&sprites(), 1));
    // The table has a row for only one of them.
    let line = table(&[])
        .map(|text| String::from_utf8(text).unwrap())
        .unwrap();
    let line = line
        .lines()
        .find(|line| line.starts_with("0\twalk\t2"))
        .unwrap()
        .to_owned();
    let mut cells: Vec<&str> = line.split('\t').collect();
    (cells[2], cells[5], cells[7], cells[11]) = ("3", "-7", "12", "");
    let both = format!("{line}\n{}", cells.join("\t"));
    let files = [files[0].clone(), ("frames.tsv", table(&[(&line, &both)]))];
    let new = changed(&sprites(), &files);
    assert_eq!(frames_of(&new, 0)[3], (3, 1, -7, -1, 12));
}

#[test]
fn a_sequence_is_added_with_its_name() {
    let new = changed(
        &sprites(),
        &[
            ("002 fly/00.png", gray(2, 1)),
            ("002 fly/01.png", gray(1, 2)),
        ],
    );
    let gaf = gaf::parse(&new.clone().into()).unwrap();
    assert_eq!(
        (gaf.sequences[2].name.as_str(), gaf.sequences[2].loops()),
        ("fly", true)
    );
    assert_eq!(frames_of(&new, 2), [(2, 1, 0, 0, 3), (1, 2, 0, 0, 3)]);
    for path in ["000 walk/00.png", "000 walk/02.png", "001 still/00.png"] {
        assert_eq!(shown(&new, path), shown(&sprites(), path));
    }
    for sequence in [0, 1] {
        assert_eq!(frames_of(&new, sequence), frames_of(&sprites(), sequence));
    }
}

#[test]
fn sequences_are_added_where_there_were_none() {
    for version in [[0, 1, 1, 0], [1, 1, 1, 0]] {
        let mut old = build::file(&[]);
        old[..4].copy_from_slice(&version);
        let files = [
            ("000 fly/00.png", gray(2, 1)),
            ("001 land/00.png", gray(1, 1)),
        ];
        let new = changed(&old, &files);
        assert_eq!(shown(&new, "000 fly/00.png"), [[255; 4]; 2]);
        assert_eq!(shown(&new, "001 land/00.png"), [[255; 4]]);
    }
}

#[test]
fn more_sequences_than_there_is_room_for_are_refused() {
    let paths: Vec<String> = (2..102)
        .map(|number| format!("{number:03} x/00.png"))
        .collect();
    let files: Vec<_> = paths
        .iter()
        .map(|path| (path.as_str(), gray(1, 1)))
        .collect();
    let found = reasons(&files);
    let expected = "002 x/00.png: has no room for the pointers of 100 more sequences";
    assert_eq!(found, [expected]);
}

#[test]
fn a_shared_frame_gets_one_picture() {
    let frame = Built::rle(2, 1, &[Some(20), Some(30)]);
    let frames = vec![(frame.clone(), 1), (frame, 1)];
    let mut old = build::file(&[build::sequence("walk", frames)]);
    let gaf = gaf::parse(&old.clone().into()).unwrap();
    let [first, second] = [0, 1].map(|number| gaf.sequences[0].get(number).unwrap());
    let at = second.stored_at as usize;
    old[at..at + 4].copy_from_slice(&first.frame.to_le_bytes());
    let black = Some(png_of(2, 1, vec![[0, 0, 0, 255]; 2]));
    let edits = |second| [("000 walk/00.png", gray(2, 1)), ("000 walk/01.png", second)];
    let new = changed(&old, &edits(gray(2, 1)));
    assert_eq!(shown(&new, "000 walk/01.png"), [[255; 4]; 2]);
    let refused = all_edited(&old, &edits(black)).unwrap_err();
    assert_eq!(refused[0].file, 1);
    assert_eq!(
        refused[0].reason,
        "is stored once with another frame, whose picture differs"
    );
}

#[test]
fn two_files_for_one_frame_or_sequence_are_refused() {
    assert_eq!(
        reasons(&[
            ("000 walk/3.png", gray(1, 1)),
            ("000 walk/03.png", gray(2, 1)),
        ]),
        ["000 walk/03.png: is the same frame as 000 walk/3.png"]
    );
    assert_eq!(
        reasons(&[("000 Walk/02.png", gray(2, 2)), ("000 walk/02.png", None)]),
        ["000 walk/02.png: is the same frame as 000 Walk/02.png"]
    );
    assert_eq!(
        reasons(&[
            ("002 boom/00.png", gray(1, 1)),
            ("002 bang/01.png", gray(1, 1))
        ]),
        ["002 bang/01.png: gives a new sequence another name than 002 boom/00.png"]
    );
}

#[test]
fn the_last_frames_can_be_deleted() {
    let deleted = [("000 walk/01.png", None), ("000 walk/02.png", None)];
    let new = changed(&sprites(), &deleted);
    assert_eq!(frames_of(&new, 0), frames_of(&sprites(), 0)[..1]);
    assert_eq!(new.len(), sprites().len());
    assert_eq!(
        reasons(&[("000 walk/01.png", None), ("001 still/00.png", None)]),
        [
            "000 walk/01.png: cannot be deleted, only the last frame can: give that one's picture to this",
            "001 still/00.png: is the only frame left: a sequence needs one",
        ]
    );
}

#[test]
fn the_table_moves_frames_and_changes_their_time() {
    let rows = [("0\twalk\t1\t2\t2\t1\t-1\t3", "0\twalk\t1\t2\t2\t-5\t8\t300")];
    let new = changed(&sprites(), &[(TABLE, table(&rows))]);
    let mut expected = frames_of(&sprites(), 0);
    expected[1] = (2, 2, -5, 8, 300);
    assert_eq!(frames_of(&new, 0), expected);
    assert_eq!(new.len(), sprites().len());
    let reasons = |edits: &[(&str, &str)]| reasons(&[(TABLE, table(edits))]);
    for (old, new, reason) in [
        (
            "walk\t1\t2\t2",
            "walk\t1\t9\t2",
            "line 3, column width (0 1): is derived",
        ),
        (
            "walk\t1\t2\t2",
            "walk\t8\t2\t2",
            "line 3: no row has the key 0 8",
        ),
        (
            "1\t-1\t3",
            "1.5\t-1\t3",
            "line 3, column x (0 1): \"1.5\" is no whole number that fits",
        ),
        ("ticks", "tocks", "line 1, column tocks: is unknown"),
    ] {
        assert_eq!(reasons(&[(old, new)]), [format!("{TABLE}: {reason}")]);
    }
    for edits in [
        &[("\n", "\r\n")][..],
        &[("\t", ";")],
        &[("\t1\t-1\t3", "\t1.0\t-1.00\t3")],
    ] {
        let same = all_edited(&sprites(), &[(TABLE, table(edits))]);
        assert_eq!(same, Ok(Imported::Unchanged), "{edits:?}");
    }
    let new = changed(
        &sprites(),
        &[(TABLE, table(&[("\t1\t-1\t3", "\t7.0\t-1\t3")]))],
    );
    assert_eq!(frames_of(&new, 0)[1], (2, 2, 7, -1, 3));
}

#[test]
fn a_frame_that_cannot_be_read_does_not_keep_others_from_being_edited() {
    let mut old = sprites();
    let gaf = gaf::parse(&old.clone().into()).unwrap();
    let reference = gaf.sequences[0].get(2).unwrap();
    let at = reference.stored_at as usize;
    old[at..at + 4].fill(0xFF);
    let text = rendered(&gaf::FORMAT, &old, TABLE).unwrap();
    let text = String::from_utf8(text).unwrap();
    let edit = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        let table = text.replace(from, to).into_bytes();
        all_edited(&old, &[(TABLE, Some(table))])
    };
    let Imported::Changed(new) = edit("1\t-1\t3", "5\t-1\t3").unwrap() else {
        panic!("is changed");
    };
    let gaf = gaf::parse(&new.asset.into()).unwrap();
    let frame = gaf.frame(gaf.sequences[0].get(1).unwrap()).unwrap();
    assert_eq!((frame.x, frame.y), (5, -1));
    let refused = edit("\t4\t\t\t\t", "\t8\t\t\t\t").unwrap_err();
    assert!(
        refused[0].reason.starts_with("frame 2 of sequence 0: "),
        "{refused:?}"
    );
}

#[test]
fn the_table_changes_the_key_of_indexed_frames() {
    for (sequence, name) in [(0, "walk"), (1, "still")] {
        let text = table(&[])
            .map(|text| String::from_utf8(text).unwrap())
            .unwrap();
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{sequence}\t{name}\t0")));
        let line = line.unwrap();
        let mut cells: Vec<&str> = line.split('\t').collect();
        cells[10] = "51";
        let new = changed(&sprites(), &[(TABLE, table(&[(line, &cells.join("\t"))]))]);
        let gaf = gaf::parse(&new.into()).unwrap();
        let key = |number| Some(gaf.frame(gaf.sequences[sequence].get(number)?).unwrap().key);
        assert_eq!((key(0), key(1)), (Some(51), (sequence == 0).then_some(9)));
        let frame = gaf.frame(gaf.sequences[sequence].get(0).unwrap()).unwrap();
        let Pixels::Indexed(indexed) = gaf.decode(&frame).unwrap().pixels else {
            panic!("has palette indices");
        };
        let transparent = indexed.mask.iter().position(|&mask| mask == 0);
        assert_eq!(transparent, Some([1, 3][sequence]));
    }
}

#[test]
fn gaps_and_other_files_are_refused() {
    assert_eq!(
        reasons(&[
            ("000 walk/05.png", gray(1, 1)),
            ("004 new/00.png", gray(1, 1))
        ]),
        [
            "000 walk/05.png: needs the frames 03, 04 before it, which are missing",
            "004 new/00.png: needs the sequences 002, 003 before it, which are missing",
        ]
    );
    for path in [
        "other.png",
        "walk/00.png",
        "000 walk/1.png",
        "000 walk/x.png",
    ] {
        let found = reasons(&[(path, gray(1, 1))]);
        assert!(found[0].contains("edit the frames"), "{found:?}");
    }
    let name = "002 a name that is longer than thirty-one bytes/00.png";
    let other = ("000 walk/00.png", gray(1, 1));
    assert_eq!(
        reasons(&[other, (name, gray(1, 1))]),
        [format!("{name}: has a name of more than 31 bytes")]
    );
    let huge = reasons(&[("000 walk/00.png", gray(4096, 2048))]);
    assert!(huge[0].contains("4096x2048 pixels, more than"), "{huge:?}");
}
