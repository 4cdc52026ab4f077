//! Pixels of PNG files.

/// Returns the size and pixels of a PNG file, as red, green, blue and alpha.
pub fn pixels(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(frame.buffer_size());
    (frame.width, frame.height, pixels)
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns a PSX file without models: if given ids, a palette whose color 1 is
/// red, and a texture of 2 by 2 pixels of color 1.
pub fn library(palette: Option<u32>, texture_of: Option<u32>) -> Vec<u8> {
    let mut bytes = words(&[0x0002_0004, 16, 0, 0, u32::MAX, 1, 0x77]);
    bytes.extend(words(&[palette.map_or(0, |_| 1)]));
    if let Some(id) = palette {
        bytes.extend(words(&[id, 31 << 16, 0, 0, 0, 0, 0, 0, 0]));
    }
    bytes.extend(words(&[0]));
    match texture_of {
        None => bytes.extend(words(&[0])),
        Some(palette) => {
            let index = bytes.len() as u32 + 8;
            bytes.extend(words(&[1, index, 0, 16, palette, 0, 2 | 2 << 16]));
            bytes.extend([0x11; 4]);
        }
    }
    bytes
}
