//! Small PSX files for tests.

/// The contents of a file. Models and textures are written in this order, and
/// referenced once each.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) version: u32,
    pub(crate) objects: Vec<[u8; 36]>,
    pub(crate) models: Vec<Vec<u8>>,
    pub(crate) chunks: Vec<(u32, Vec<u8>)>,
    pub(crate) texture_ids: Vec<u32>,
    /// Ids of palettes of 16 colors, all black.
    pub(crate) palettes: Vec<u32>,
    pub(crate) textures: Vec<Vec<u8>>,
}

pub(crate) const RGBS: u32 = u32::from_le_bytes(*b"RGBs");
pub(crate) const HIER: u32 = u32::from_le_bytes(*b"HIER");
pub(crate) const CHNK: u32 = u32::from_le_bytes(*b"Chnk");

impl File {
    pub(crate) fn new(version: u32) -> Self {
        Self {
            version,
            objects: Vec::new(),
            models: Vec::new(),
            chunks: Vec::new(),
            texture_ids: Vec::new(),
            palettes: Vec::new(),
            textures: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = words(&[0x0002_0000 | self.version, 0, self.objects.len() as u32]);
        bytes.extend(self.objects.concat());
        records(&mut bytes, &self.models);
        let meta = bytes.len() as u32;
        bytes[4..8].copy_from_slice(&meta.to_le_bytes());
        for (tag, data) in &self.chunks {
            bytes.extend(words(&[*tag, data.len() as u32]));
            bytes.extend(data);
        }
        bytes.extend(words(&[u32::MAX]));
        bytes.extend(words(&vec![0x6F0F_6B9F; self.models.len()]));
        bytes.extend(words(&[self.texture_ids.len() as u32]));
        bytes.extend(words(&self.texture_ids));
        bytes.extend(words(&[self.palettes.len() as u32]));
        for &id in &self.palettes {
            bytes.extend(words(&[id, 0, 0, 0, 0, 0, 0, 0, 0]));
        }
        bytes.extend(words(&[0]));
        records(&mut bytes, &self.textures);
        bytes
    }
}

/// Writes a count, pointers, and their targets.
fn records(bytes: &mut Vec<u8>, records: &[Vec<u8>]) {
    bytes.extend(words(&[records.len() as u32]));
    let mut offset = bytes.len() + 4 * records.len();
    for record in records {
        bytes.extend(words(&[offset as u32]));
        offset += record.len();
    }
    bytes.extend(records.concat());
}

/// Returns little-endian 32-bit numbers.
pub(crate) fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns little-endian 16-bit numbers.
pub(crate) fn shorts(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns an object at a position in vertex units.
pub(crate) fn object(model: u16, position: [i32; 3]) -> [u8; 36] {
    let mut bytes = [0; 36];
    for (field, value) in bytes[4..16].chunks_mut(4).zip(position) {
        field.copy_from_slice(&(value * 4096).to_le_bytes());
    }
    bytes[22..24].copy_from_slice(&model.to_le_bytes());
    bytes
}

/// Returns a version 4 model with one upward normal. `lod` is the distance and
/// the next model.
pub(crate) fn model(lod: (i16, i16), vertices: &[[i16; 4]], faces: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = shorts(&[8, vertices.len() as i16, 1, faces.len() as i16]);
    bytes.extend(words(&[100 << 12]));
    bytes.extend(shorts(&[50, -50, 60, -60, 70, -70, lod.0, lod.1]));
    bytes.extend(shorts(&vertices.concat()));
    bytes.extend(shorts(&[0, -4096, 0, 0]));
    bytes.extend(faces.concat());
    bytes
}

/// Returns a version 4 face; `rest` is the data after the surface flags.
pub(crate) fn face(flags: u16, indices: [u8; 4], color: [u8; 4], rest: &[u8]) -> Vec<u8> {
    let mut bytes = shorts(&[flags as i16, 16 + rest.len() as i16]);
    bytes.extend(indices);
    bytes.extend(color);
    bytes.extend(shorts(&[0, 0x0110]));
    bytes.extend(rest);
    bytes
}

/// Returns a texture record and the data after it.
pub(crate) fn texture(head: [u32; 4], size: [i16; 2], pixels: &[u8]) -> Vec<u8> {
    let mut bytes = words(&head);
    bytes.extend(shorts(&size));
    bytes.extend(pixels);
    bytes
}

/// Returns a file with all kinds of contents: a level's geometry, a
/// character's skeleton, and every kind of chunk.
pub(crate) fn rich() -> File {
    let none = (0x7FFF, -1);
    let gouraud = face(0x0813, [0, 1, 2, 0], [0, 1, 0, 0], &[0; 12]);
    let plain = face(0x0080, [0, 1, 2, 1], [9, 8, 7, 0x28], &[]);
    let vertices = [[0, 0, 0, 1], [100, 0, 0, 0], [0, 50, 0, 0]];
    let pose = shorts(&[4096, 0, 0, 0, 4096, 0, 0, 0, 4096, 16, -32, 0]);
    let mut animations = words(&[1, 12, 2]);
    animations.extend([pose.clone(), pose.clone(), pose.clone(), pose].concat());
    let mut sprites = words(&[1]);
    sprites.extend(b"smoke\0\0\0");
    sprites.extend([words(&[1]), vec![0xFC, 4, 8, 8], words(&[0])].concat());
    File {
        objects: vec![object(0, [0, 0, 0]), object(1, [10, -20, 30])],
        models: vec![
            model(none, &vertices, &[gouraud, plain]),
            model(none, &[[0, 0, 0, 2], [1, 2, 3, 0], [4, 5, 6, 0]], &[]),
        ],
        chunks: vec![
            (RGBS, vec![255, 0, 0, 0, 0, 255, 0, 0]),
            (HIER, shorts(&[0, 0])),
            (0x0A, words(&[0, 0, 8, 8, 0x0001_0001, 0, 0, 1, 0, 0])),
            (0x2A, animations),
            (0x2C, words(&[1, 12, 7])),
            (0x45, sprites),
            (
                0x06,
                [words(&[48, 0, 3, 1]), vec![0; 16], words(&[0])].concat(),
            ),
            (0x07, vec![1, 1, 0, 0, 9, 9, 9, 30]),
            (CHNK, words(&[1, 0xABCD, 12])),
            (0x99, vec![1, 2, 3, 4]),
        ],
        texture_ids: vec![0x1E, 0x1F],
        palettes: vec![0xAA],
        textures: vec![
            texture([1, 16, 0xAA, 0], [5, 3], &[0x21; 12]),
            texture([0, 16, 0xBB, 1], [4, 2], &[0x10; 4]),
            texture([0x8000_0000, 65536, 0, 1], [64, 64], &[]),
        ],
        ..File::new(4)
    }
}
