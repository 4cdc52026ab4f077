use super::*;

/// A TIM picture with the real lengths of its blocks.
pub(crate) fn tim(flags: u32, palette: Option<&[u16]>, size: [u16; 2], data: &[u8]) -> Vec<u8> {
    let block = |[words, height]: [u16; 2], data: &[u8]| {
        let length = 12 + data.len() as u32;
        let place = [0, 0, words, height].map(u16::to_le_bytes);
        [&length.to_le_bytes()[..], &place.concat(), data].concat()
    };
    let mut bytes = [0x10, flags].map(u32::to_le_bytes).concat();
    if let Some(colors) = palette {
        let data: Vec<u8> = colors
            .iter()
            .flat_map(|color| color.to_le_bytes())
            .collect();
        bytes.extend(block([colors.len() as u16, 1], &data));
    }
    bytes.extend(block(size, data));
    bytes
}

/// A TIM2 file with one picture of 2 by 2 pixels.
pub(crate) fn tim2(kind: u8, palette_type: u8, pixels: &[u8], palette: &[u8]) -> Vec<u8> {
    let lengths = [
        48 + pixels.len() + palette.len(),
        palette.len(),
        pixels.len(),
    ];
    let mut bytes = b"TIM2\x04\0\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend(
        lengths
            .iter()
            .flat_map(|&length| (length as u32).to_le_bytes()),
    );
    bytes.extend([48, 0, 0, 1, 0, 1, palette_type, kind, 2, 0, 2, 0]);
    bytes.resize(16 + 48, 0);
    [&bytes, pixels, palette].concat()
}

fn colors(bytes: &[u8], palette: usize) -> Vec<[u8; 4]> {
    let tim = parse(&Bytes::copy_from_slice(bytes)).unwrap();
    tim.pictures[0].decode(palette).rgba()
}

fn error(bytes: &[u8]) -> String {
    let error = parse(&Bytes::copy_from_slice(bytes)).unwrap_err();
    error.to_string()
}

#[test]
fn the_left_pixel_is_in_the_low_half_and_color_zero_is_transparent() {
    let mut palette = [0; 16];
    palette[1] = 0x001F;
    palette[2] = 0x8000;
    let bytes = tim(8, Some(&palette), [1, 1], &[0x10, 0x02]);
    let red = [255, 0, 0, 255];
    let black = [0, 0, 0, 255];
    assert_eq!(colors(&bytes, 0), [[0; 4], red, black, [0; 4]]);
}

#[test]
fn each_palette_is_a_picture() {
    let mut palette = [0x7C00; 32];
    palette[16..].fill(0x03E0);
    let bytes = tim(8, Some(&palette), [1, 1], &[0; 2]);
    let picture = parse(&bytes.clone().into()).unwrap().pictures.remove(0);
    assert_eq!(picture.faces(), 2);
    assert_eq!(colors(&bytes, 0)[0], [0, 0, 255, 255]);
    assert_eq!(colors(&bytes, 1)[0], [0, 255, 0, 255]);
}

#[test]
fn the_rectangle_decides_about_the_length_of_a_block() {
    let mut bytes = tim(0x0028_F602, None, [2, 1], &[0xFF, 0x7F, 0, 0]);
    bytes[8] = 12;
    let tim = parse(&bytes.clone().into()).unwrap();
    assert_eq!(
        tim.warnings.texts(),
        [
            "flags 0x0028f602: only the lowest 4 bits count",
            "picture: size is 12, needs 16",
        ]
    );
    assert_eq!(colors(&bytes, 0), [[255; 4], [0; 4]]);
}

#[test]
fn pictures_follow_each_other_and_odd_bytes_are_a_warning() {
    let one = tim(3, None, [3, 1], &[1, 2, 3, 4, 5, 6]);
    let padding = vec![0; one.len().next_multiple_of(4) - one.len()];
    let bytes = [&one[..], &padding, &one, &[9]].concat();
    let tim = parse(&bytes.into()).unwrap();
    assert_eq!(tim.pictures.len(), 2);
    assert_eq!(
        tim.pictures[1].decode(0).rgba(),
        [[1, 2, 3, 255], [4, 5, 6, 255]]
    );
    assert_eq!(tim.warnings.texts(), ["1 bytes follow the last picture"]);
}

#[test]
fn damage_is_an_error_at_its_field() {
    let bytes = tim(2, None, [2, 1], &[0; 4]);
    assert_eq!(
        error(&bytes[..bytes.len() - 1]),
        "picture at 0x8: has 3 of 4 bytes of pixels"
    );
    assert_eq!(
        error(&tim(4, None, [0, 0], &[])),
        "flags at 0x4: mode 4 is unknown"
    );
    assert_eq!(
        error(&tim2(9, 3, &[], &[])),
        "picture type at 0x23: 9 is unknown"
    );
    assert_eq!(
        error(&tim2(3, 3, &[0; 15], &[])),
        "picture at 0x18: has 15 of 16 bytes of pixels"
    );
    let mut huge = tim2(4, 3, &[], &[]);
    huge[36..40].fill(0xFF);
    assert!(error(&huge).starts_with("picture size at 0x24: 65535 by 65535"));
}

#[test]
fn the_colors_of_a_playstation_2_palette_change_places() {
    let palette: Vec<u8> = (0..=255).flat_map(|index| [index, 0, 0, 64]).collect();
    let pixels = [8, 16, 24, 40];
    let reds = |palette_type: u8| {
        let mut bytes = tim2(5, palette_type, &pixels, &palette);
        bytes[31] = 1;
        let colors = colors(&bytes, 0);
        assert!(colors.iter().all(|color| color[3] == 127));
        [0, 1, 2, 3].map(|index: usize| colors[index][0])
    };
    assert_eq!(reds(3), [16, 8, 24, 48]);
    assert_eq!(reds(3 | LINEAR_FLAG), pixels);
}

const LINEAR_FLAG: u8 = 0x80;
