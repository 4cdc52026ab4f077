//! Tests of PCX files, each with the smallest file that shows the behavior.

use super::*;
use fixtures::ta::pcx::Pcx as Build;
use fixtures::ta::put;

fn parsed(build: &Build) -> Pcx {
    parse(&build.file().into()).unwrap()
}

fn indices(pcx: &Pcx) -> Vec<u8> {
    match pcx.decode().unwrap().pixels {
        Pixels::Indexed(indices) => indices,
        Pixels::Rgb(_) => panic!("colors"),
    }
}

fn plain() -> Build {
    Build::indexed(3, 2, vec![1, 1, 1, 1, 0xC1, 0])
}

#[test]
fn runs_may_cross_the_end_of_rows() {
    let pcx = parsed(&plain());
    assert!(pcx.warnings.is_empty() && pcx.game_issues().is_empty());
    assert_eq!(indices(&pcx), plain().rows);
    assert!(pcx.decode().unwrap().warnings.is_empty());
    let (_, colors) = plain().palette.unwrap();
    assert_eq!(pcx.palette, color::palette(&colors));
    let stored = Build {
        encoding: 0,
        ..plain()
    };
    let pcx = parsed(&stored);
    assert_eq!(indices(&pcx), plain().rows);
    assert_eq!(pcx.warnings.texts(), ["encoding is 0, not 1"]);
}

#[test]
fn padding_of_rows_is_not_part_of_the_picture() {
    let padded = Build {
        bytes_per_line: 5,
        rows: vec![1, 2, 3, 99, 99, 4, 5, 6, 99, 99],
        ..plain()
    };
    let pcx = parsed(&padded);
    assert_eq!(indices(&pcx), [1, 2, 3, 4, 5, 6]);
    assert_eq!(pcx.game_issues(), [GameIssue::BytesPerLine]);
}

#[test]
fn planes_become_colors() {
    let planes = Build {
        planes: 3,
        width: 2,
        bytes_per_line: 3,
        rows: vec![1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8, 0, 9, 10, 0, 11, 12, 0],
        palette: None,
        ..plain()
    };
    let pcx = parsed(&planes);
    let expected = vec![1, 3, 5, 2, 4, 6, 7, 9, 11, 8, 10, 12];
    assert_eq!(pcx.decode().unwrap().pixels, Pixels::Rgb(expected));
    assert_eq!(
        pcx.game_issues(),
        [GameIssue::Depth, GameIssue::BytesPerLine, GameIssue::Short]
    );
}

#[test]
fn pixels_of_few_bits_have_the_palette_of_the_header() {
    let mut packed = Build {
        bits: 1,
        planes: 4,
        bytes_per_line: 1,
        width: 2,
        height: 1,
        rows: vec![0x80, 0x40, 0xC0, 0],
        ..plain()
    };
    let pcx = parsed(&packed);
    assert_eq!(indices(&pcx), [0b101, 0b110]);
    assert_eq!(pcx.palette.unwrap()[1], [103, 104, 105]);
    (packed.bits, packed.planes, packed.rows) = (2, 1, vec![0b1001_1100]);
    assert_eq!(indices(&parsed(&packed)), [2, 1]);
    (packed.bits, packed.rows) = (4, vec![0x5A]);
    assert_eq!(indices(&parsed(&packed)), [5, 10]);
}

#[test]
fn the_pixels_before_a_truncation_are_decoded() {
    let mut bytes = plain().file();
    bytes.truncate(128 + 3);
    let pcx = parse(&bytes.into()).unwrap();
    assert_eq!(pcx.warnings.texts(), ["there is no palette"]);
    let picture = pcx.decode().unwrap();
    assert_eq!(picture.pixels, Pixels::Indexed(vec![1, 1, 1, 1, 0, 0]));
    assert_eq!(picture.warnings.texts(), ["the file ends in row 1 of 2"]);
}

#[test]
fn bytes_around_the_palette_are_warnings() {
    let mut odd = plain();
    odd.left = 1;
    odd.palette.as_mut().unwrap().0 = 0;
    let pcx = parsed(&odd);
    assert_eq!(
        pcx.warnings.texts(),
        [
            "the picture is from 1,1, not from 0,0",
            "there is no marker before the palette",
        ]
    );
    assert_eq!(pcx.palette, None);
    assert!(game_palette(&odd.file()).is_some());
    assert!(game_palette(&odd.file()[..895]).is_none());
    assert_eq!(
        pcx.decode().unwrap().warnings.texts(),
        ["769 bytes follow the pixels at 0x85"]
    );
    let mut bytes = plain().file();
    bytes[128] = 0xC9;
    let warnings = parse(&bytes.into()).unwrap().decode().unwrap().warnings;
    assert_eq!(
        warnings.texts(),
        [
            "the last run has 3 pixels too many",
            "3 bytes follow the pixels at 0x82",
        ]
    );
}

#[test]
fn impossible_pictures_are_errors() {
    let with = |at: usize, value: &[u8]| {
        let mut bytes = plain().file();
        put(&mut bytes, at, value);
        let incomplete = parse(&bytes.into()).unwrap_err();
        assert!(incomplete.model.decode().is_err());
        incomplete.error.to_string()
    };
    assert_eq!(with(0, &[9]), "manufacturer at 0x0: is 9, should be 10");
    assert_eq!(with(3, &[3]), "planes at 0x41: are 1 of 3 bits");
    assert_eq!(with(65, &[2]), "planes at 0x41: are 2 of 8 bits");
    assert_eq!(with(65, &[0]), "planes at 0x41: are 0 of 8 bits");
    assert_eq!(with(4, &[5, 0]), "picture at 0x4: is from 5,0 to 2,1");
    assert_eq!(
        with(8, &[0xFF; 4]),
        "picture at 0x4: is 65536x65536x1, more than 67108864"
    );
    assert_eq!(
        with(66, &[2, 0]),
        "bytes per line at 0x42: are 2, too few for 3 pixels"
    );
    let mut bytes = plain().file();
    put(&mut bytes, 8, &[1, 0, 0xFF, 0xFF]);
    put(&mut bytes, 66, &[0xFF; 2]);
    assert_eq!(
        parse(&bytes.into()).unwrap_err().error.to_string(),
        "bytes per line at 0x42: are 65535, more than 134217728 in all rows"
    );
    let error = parse(&vec![10; 127].into()).unwrap_err().error.to_string();
    assert_eq!(error, "header at 0x0: needs 128 bytes, 127 are left");
}
