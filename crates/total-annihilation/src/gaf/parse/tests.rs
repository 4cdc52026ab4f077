//! Tests of GAF files, each with the smallest file that shows the behavior.

use super::*;
use fixtures::ta::gaf::{self as build, Body, sequence};
use fixtures::ta::{put, u32_at};

/// Returns a file with one sequence of one frame.
fn single(frame: build::Frame) -> Vec<u8> {
    build::file(&[sequence("Walk", vec![(frame, 3)])])
}

fn parsed(bytes: Vec<u8>) -> Gaf {
    parse(&bytes.into()).unwrap()
}

fn first(gaf: &Gaf) -> Frame {
    gaf.frame(gaf.sequences[0].get(0).unwrap()).unwrap()
}

fn indexed(gaf: &Gaf) -> Indexed {
    match gaf.decode(&first(gaf)).unwrap().pixels {
        Pixels::Indexed(indexed) => indexed,
        Pixels::Rgba(_) => panic!("colors"),
    }
}

/// Offset of the only frame of [`single`]: after the header, a pointer, the
/// sequence and a reference.
const FRAME: usize = 12 + 4 + 40 + 8;

fn raw(width: u16, height: u16) -> build::Frame {
    let pixels = vec![1; usize::from(width) * usize::from(height)];
    build::Frame::new(width, height, Body::Raw(pixels))
}

#[test]
fn sequences_and_headers_of_frames_are_read() {
    let mut frame = raw(2, 1);
    (frame.x, frame.y) = (-5, 7);
    let mut bytes = build::file(&[
        sequence("first", vec![(frame, 4), (raw(1, 1), 0)]),
        build::Sequence {
            loop_word: 0x100,
            ..sequence("none", vec![])
        },
    ]);
    put(&mut bytes, 20 + 8 + 6, b"x");
    let gaf = parsed(bytes);
    assert!(gaf.warnings.is_empty());
    let [walk, none] = &gaf.sequences[..] else {
        panic!("{:?}", gaf.sequences);
    };
    assert_eq!((walk.name.as_str(), walk.junk_after_nul), ("first", 1));
    assert!(walk.loops() && !none.loops() && none.is_empty());
    let ticks: Vec<_> = walk.frames().map(|reference| reference.ticks).collect();
    assert_eq!(ticks, [4, 0]);
    assert!(walk.get(2).is_none());
    let frame = first(&gaf);
    assert_eq!((frame.width, frame.height), (2, 1));
    assert_eq!((frame.x, frame.y, frame.key), (-5, 7, 9));
}

#[test]
fn raw_pixels_equal_to_the_key_are_transparent() {
    let frame = build::Frame::new(3, 1, Body::Raw(vec![8, 9, 10]));
    let picture = indexed(&parsed(single(frame)));
    assert_eq!(picture.indices, [8, 9, 10]);
    assert_eq!(picture.mask, [255, 0, 255]);
    assert!(!picture.is_opaque());
}

#[test]
fn only_skipped_pixels_of_runs_are_transparent() {
    let pixels = [Some(9), None, Some(4), Some(4), Some(4), None];
    let gaf = parsed(single(build::Frame::rle(6, 1, &pixels)));
    let picture = indexed(&gaf);
    assert_eq!(picture.indices, [9, 9, 4, 4, 4, 9]);
    assert_eq!(picture.mask, [255, 0, 255, 255, 255, 0]);
}

#[test]
fn odd_rows_are_clipped_or_padded_with_a_warning() {
    // Two pixels of three; a run of five and another byte; five literal pixels;
    // nine skipped ones; none.
    let rows = vec![
        vec![0b100, 1, 2],
        vec![0b1_0010, 3, 77],
        vec![0b1_0000, 4, 5, 6, 7, 8],
        vec![9 << 1 | 1],
        vec![],
    ];
    let gaf = parsed(single(build::Frame::new(3, 5, Body::Rle(rows))));
    let picture = gaf.decode(&first(&gaf)).unwrap();
    assert_eq!(
        picture.warnings.texts(),
        [
            "2 rows end before the right edge in the frame at 0x40",
            "3 rows go over the right edge in the frame at 0x40",
            "1 bytes of rows are past the right edge in the frame at 0x40",
        ]
    );
    let picture = indexed(&gaf);
    let expected = [1, 2, 9, 3, 3, 3, 4, 5, 6, 9, 9, 9, 9, 9, 9];
    assert_eq!(picture.indices, expected);
    let opaque: Vec<_> = expected
        .iter()
        .map(|&index| if index == 9 { 0 } else { 255 })
        .collect();
    assert_eq!(picture.mask, opaque);
}

#[test]
fn pixels_before_an_error_are_kept() {
    let rows = vec![vec![0b10, 1], vec![0b110, 2], vec![0b10]];
    let gaf = parsed(single(build::Frame::new(1, 3, Body::Rle(rows))));
    let incomplete = gaf.decode(&first(&gaf)).unwrap_err();
    assert_eq!(
        incomplete.error.to_string(),
        "row 2 at 0x62: repeats a pixel that is missing"
    );
    let Pixels::Indexed(picture) = incomplete.model.pixels else {
        panic!("colors");
    };
    assert_eq!(picture.indices, [1, 2, 9]);

    let mut cut = single(raw(2, 2));
    cut.pop();
    let gaf = parsed(cut);
    let incomplete = gaf.decode(&first(&gaf)).unwrap_err();
    assert_eq!(
        incomplete.error.to_string(),
        "raw pixels at 0x58: needs 4 bytes, 3 are left"
    );
    let Pixels::Indexed(picture) = incomplete.model.pixels else {
        panic!("colors");
    };
    assert_eq!(picture.mask, [255, 255, 255, 0]);
}

#[test]
fn true_colors_are_expanded_to_8_bits() {
    for (format, expected) in [
        (4, [0x22, 0x33, 0x44, 0x11, 0xFF, 0, 0xFF, 0xFF]),
        (5, [0x21, 0x8C, 0xA5, 0, 0xFF, 0xC6, 0x7B, 0xFF]),
    ] {
        let pixels = vec![0x1234, 0xFF0F];
        let frame = build::Frame::new(2, 1, Body::TrueColor(format, pixels));
        let gaf = parsed(single(frame));
        assert_eq!(first(&gaf).layers, 0, "byte 11 is not part of the number");
        let picture = gaf.decode(&first(&gaf)).unwrap();
        assert_eq!(picture.pixels, Pixels::Rgba(expected.to_vec()), "{format}");
    }
}

#[test]
fn layers_are_drawn_by_their_origins_and_clipped() {
    let mut below = raw(2, 2);
    (below.x, below.y) = (1, 1);
    let mut above = build::Frame::new(2, 1, Body::Raw(vec![5, 9]));
    (above.x, above.y) = (-1, 0);
    let mut outside = raw(1, 1);
    outside.x = i16::MIN;
    let mut frame = build::Frame::new(3, 3, Body::Layers(vec![below, above, outside]));
    (frame.x, frame.y) = (1, 1);
    let gaf = parsed(single(frame));
    let picture = gaf.decode(&first(&gaf)).unwrap();
    assert!(picture.warnings.is_empty(), "{:?}", picture.warnings);
    let picture = indexed(&gaf);
    assert_eq!(picture.indices, [1, 1, 9, 1, 1, 5, 9, 9, 9]);
    assert_eq!(picture.mask, [255, 255, 0, 255, 255, 255, 0, 0, 0]);
}

#[test]
fn layers_of_colors_are_drawn_where_they_are_not_transparent() {
    let below = build::Frame::new(2, 1, Body::TrueColor(4, vec![0xF00F, 0xF0F0]));
    let above = build::Frame::new(2, 1, Body::TrueColor(4, vec![0x0F00, 0x8F00]));
    let frame = build::Frame::new(2, 1, Body::Layers(vec![below, raw(2, 1), above]));
    let gaf = parsed(single(frame));
    let picture = gaf.decode(&first(&gaf)).unwrap();
    let expected = [0, 0, 255, 255, 255, 0, 0, 136];
    assert_eq!(picture.pixels, Pixels::Rgba(expected.to_vec()));
    assert_eq!(
        picture.warnings.texts(),
        ["1 layers have palette indices and others colors"]
    );
}

#[test]
fn an_invalid_frame_is_a_warning_and_has_its_own_error() {
    let broken = |change: fn(&mut Vec<u8>)| {
        let mut bytes = single(raw(1, 1));
        change(&mut bytes);
        let gaf = parsed(bytes);
        let error = gaf.frame(gaf.sequences[0].get(0).unwrap()).unwrap_err();
        let expected = format!("frame 0 of sequence 0 cannot be read: {error}");
        assert_eq!(gaf.warnings.texts(), [expected]);
        error.to_string()
    };
    assert_eq!(
        broken(|bytes| put(bytes, FRAME, &[0xFF; 4])),
        "frame size at 0x40: is 65535x65535, more than 67108864 pixels"
    );
    assert_eq!(
        broken(|bytes| bytes[FRAME + 9] = 2),
        "format at 0x49: is 2, should be 0, 1, 4 or 5"
    );
    assert_eq!(
        broken(|bytes| put(bytes, FRAME + 10, &1025_u16.to_le_bytes())),
        "layers at 0x4a: is 1025, more than 1024"
    );
    assert_eq!(
        broken(|bytes| put(bytes, FRAME - 8, &[0xFF; 4])),
        "frame at 0x38: points to 0xffffffff, outside 0x0..0x59"
    );
    assert_eq!(
        broken(|bytes| bytes.truncate(FRAME + 23)),
        "unknown word 20 at 0x54: needs 4 bytes, 3 are left"
    );
}

#[test]
fn a_layer_of_a_layer_is_rejected() {
    let inner = build::Frame::new(1, 1, Body::Layers(vec![raw(1, 1)]));
    let gaf = parsed(single(build::Frame::new(1, 1, Body::Layers(vec![inner]))));
    let incomplete = gaf.decode(&first(&gaf)).unwrap_err();
    assert_eq!(
        incomplete.error.to_string(),
        "layer 0: frame at 0x5c: consists of layers itself"
    );
}

#[test]
fn layers_that_repeat_one_large_frame_are_limited() {
    let large = build::Frame::new(1024, 60_000, Body::Rle(vec![vec![]; 60_000]));
    let frame = build::Frame::new(1, 1, Body::Layers(vec![large; 2]));
    let mut bytes = single(frame);
    // All 1024 layers are the first one.
    let layer = u32_at(&bytes, FRAME + 24);
    let list = bytes.len() as u32;
    bytes.extend(layer.to_le_bytes().repeat(1024));
    put(&mut bytes, FRAME + 10, &1024_u16.to_le_bytes());
    put(&mut bytes, FRAME + 16, &list.to_le_bytes());
    let gaf = parsed(bytes);
    let error = gaf.decode(&first(&gaf)).unwrap_err().error.to_string();
    assert_eq!(
        error,
        "layer 4: size at 0x60: needs more than 268435456 pixels"
    );
}

#[test]
fn an_invalid_header_or_sequence_is_an_error_and_earlier_sequences_are_kept() {
    let error = |bytes: Vec<u8>| parse(&bytes.into()).unwrap_err();
    let file = build::file(&[sequence("a", vec![(raw(1, 1), 1)]), sequence("b", vec![])]);
    let mut bytes = file.clone();
    put(&mut bytes, 16, &[0xF0, 0xFF, 0xFF, 0xFF]);
    let incomplete = error(bytes);
    assert_eq!(
        incomplete.error.to_string(),
        "sequence 1: sequence at 0x10: points to 0xfffffff0, outside 0x0..0x85"
    );
    assert_eq!(incomplete.model.sequences.len(), 1);
    let mut bytes = file.clone();
    put(&mut bytes, 0, &[0, 0, 2, 0]);
    assert_eq!(
        error(bytes).error.to_string(),
        "version at 0x0: is 0x20000, should be 0x10100"
    );
    let mut bytes = file.clone();
    put(&mut bytes, 4, &[0xFF; 4]);
    assert_eq!(
        error(bytes).error.to_string(),
        "sequence count at 0x4: is 4294967295, more than 65536"
    );
    let mut bytes = file.clone();
    put(&mut bytes, 4, &[0, 0, 1, 0]);
    assert_eq!(
        error(bytes).error.to_string(),
        "sequence count at 0xc: 65536 items of 4 bytes do not fit into 121 bytes"
    );
    let mut bytes = file;
    put(&mut bytes, 20, &[0xFF; 2]);
    assert_eq!(
        error(bytes).error.to_string(),
        "sequence 0: frame count at 0x3c: 65535 items of 8 bytes do not fit into 73 bytes"
    );
}

#[test]
fn the_references_and_the_pixels_of_a_file_are_bounded() {
    // Each of the 17 sequences is the same list of 65535 frames.
    let frames = vec![(build::Frame::new(0, 0, Body::Raw(vec![])), 0); 2];
    let mut sequences = vec![sequence("", vec![]); 16];
    sequences.push(sequence("last", frames));
    let mut bytes = build::file(&sequences);
    let last = u32_at(&bytes, 12 + 4 * 16);
    for number in 0..16 {
        put(&mut bytes, 12 + 4 * number, &last.to_le_bytes());
    }
    put(&mut bytes, last as usize, &[0xFF; 2]);
    bytes.resize(last as usize + 40 + 65535 * 8, 0);
    let incomplete = parse(&bytes.into()).unwrap_err();
    assert_eq!(
        incomplete.error.to_string(),
        format!("sequence 16: frames at {last:#x}: are more than 1048576 with those before")
    );
    assert_eq!(incomplete.model.sequences.len(), 16);

    let large = build::Frame::new(8192, 8192, Body::Rle(vec![]));
    let bytes = build::file(&[sequence("large", vec![(large, 1); 5])]);
    let error = parse(&bytes.into()).unwrap_err().error.to_string();
    assert_eq!(
        error,
        "sequence 0: frames at 0x10: have more than 268435456 pixels with those before"
    );
}

/// Returns a file for TA3D with a frame of two pixels.
fn packed(key: u8, colors: &[u8]) -> Bytes {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, colors).unwrap();
    let stream = encoder.finish().unwrap();
    let mut body = (stream.len() as u32).to_le_bytes().to_vec();
    body.extend(stream);
    let frame = build::Frame {
        key,
        ..build::Frame::new(2, 1, build::Body::Raw(body))
    };
    let mut bytes = build::file(&[build::sequence("a", vec![(frame, 1)])]);
    bytes[0] = 1;
    bytes.into()
}

#[test]
fn packed_colors_have_alpha_if_the_key_is_not_0() {
    let pixels = |key, colors: &[u8]| {
        let gaf = parse(&packed(key, colors)).unwrap();
        let frame = gaf.frame(gaf.sequences[0].get(0).unwrap()).unwrap();
        let decoded = gaf.decode(&frame);
        decoded.map(|picture| picture.pixels)
    };
    let opaque = pixels(0, &[1, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!(opaque, Pixels::Rgba(vec![1, 2, 3, 255, 4, 5, 6, 255]));
    let colors = [1, 2, 3, 0, 4, 5, 6, 128];
    assert_eq!(pixels(1, &colors).unwrap(), Pixels::Rgba(colors.to_vec()));
    let short = pixels(1, &colors[..4]).unwrap_err();
    assert_eq!(
        short.model.pixels,
        Pixels::Rgba(vec![1, 2, 3, 0, 0, 0, 0, 0])
    );
    assert!(short.error.to_string().contains("ends too early"));
}
