//! Small texture dictionaries for tests.

/// Returns a chunk.
pub(crate) fn chunk(kind: u32, body: &[u8]) -> Vec<u8> {
    let words = [kind, body.len() as u32, 0x1803_FFFF].map(u32::to_le_bytes);
    [&words.concat(), body].concat()
}

/// Returns a native texture of Direct3D 9 with 2 by 1 pixels of 8 bits of
/// gray. Its row is padded to 4 bytes.
pub(crate) fn gray(name: &str, pixels: [u8; 2]) -> Vec<u8> {
    let mut fields = Vec::new();
    fields.extend_from_slice(&[9, 0, 0, 0, 2, 0x11, 0, 0]);
    let mut field = name.as_bytes().to_vec();
    field.resize(64, 0);
    fields.extend_from_slice(&field);
    for word in [0x400_u32, 50] {
        fields.extend_from_slice(&word.to_le_bytes());
    }
    fields.extend_from_slice(&[2, 0, 1, 0, 8, 1, 4, 0]);
    fields.extend_from_slice(&[4, 0, 0, 0, pixels[0], pixels[1], 0, 0]);
    chunk(0x15, &[chunk(1, &fields), chunk(3, b"")].concat())
}

/// Returns a dictionary of these native textures.
pub(crate) fn txd(textures: &[Vec<u8>]) -> Vec<u8> {
    let count = [textures.len() as u8, 0, 2, 0];
    chunk(
        0x16,
        &[chunk(1, &count), textures.concat(), chunk(3, b"")].concat(),
    )
}
