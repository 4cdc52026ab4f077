//! No PSX file of a megabyte takes more than a second or 64 MiB.

use crate::look_at;
use hpimount_neversoft::psx::FORMAT;
use testkit::limits::second;

const MEGABYTE: usize = 1 << 20;

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns the data between the models and the end: chunks, names, and
/// textures.
fn meta(chunks: &[(u32, Vec<u8>)], models: usize, textures: &[Vec<u8>], before: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (tag, data) in chunks {
        bytes.extend([words(&[*tag, data.len() as u32]), data.clone()].concat());
    }
    bytes.extend(words(&[u32::MAX]));
    bytes.extend(words(&vec![0; models]));
    bytes.extend(words(&[0, 0, 0, textures.len() as u32]));
    let mut offset = before + bytes.len() + 4 * textures.len();
    for texture in textures {
        bytes.extend(words(&[offset as u32]));
        offset += texture.len();
    }
    bytes.extend(textures.concat());
    bytes
}

/// Returns a file with `count` copies of a model.
fn models(count: usize, model: &[u8]) -> Vec<u8> {
    let mut bytes = words(&[0x0002_0004, 0, 0, count as u32]);
    let first = bytes.len() + 4 * count;
    let offsets = (0..count).map(|index| (first + index * model.len()) as u32);
    bytes.extend(words(&offsets.collect::<Vec<_>>()));
    bytes.extend(model.repeat(count));
    let before = bytes.len();
    bytes[4..8].copy_from_slice(&words(&[before as u32]));
    bytes.extend(meta(&[], count, &[], before));
    bytes
}

/// Returns a file without models and with one chunk and some textures.
fn library(chunk: (u32, Vec<u8>), textures: &[Vec<u8>]) -> Vec<u8> {
    let head = words(&[0x0002_0004, 16, 0, 0]);
    [head, meta(&[chunk], 0, textures, 16)].concat()
}

/// Returns the head of a version 4 model without normals.
fn model_head(vertices: u16, faces: u16) -> Vec<u8> {
    let mut bytes: Vec<u8> = [8, vertices, 0, faces]
        .into_iter()
        .flat_map(u16::to_le_bytes)
        .collect();
    bytes.resize(24, 0);
    bytes.extend([0xFF, 0x7F, 0xFF, 0xFF]);
    bytes
}

/// Returns files of about a megabyte that take the most time or memory.
fn worst() -> Vec<(&'static str, Vec<u8>)> {
    let no_chunk = (0x99, Vec::new());
    let face = [words(&[20 << 16 | 3, 0, 0, 0]), words(&[0xFFFF])].concat();
    let full_model = [model_head(0, 50_000), face.repeat(50_000)].concat();
    let repeated = {
        // A pointer and a name for each, but only one model.
        let count = (MEGABYTE / 8) as u32;
        let mut bytes = words(&[0x0002_0004, 0, 0, count]);
        bytes.extend(words(&vec![16 + 4 * count; count as usize]));
        bytes.extend(model_head(0, 0));
        let before = bytes.len();
        bytes[4..8].copy_from_slice(&words(&[before as u32]));
        bytes.extend(meta(&[], count as usize, &[], before));
        bytes
    };
    let shown = {
        // No two corners are equal.
        let faces: Vec<u8> = (0..52_000_u32)
            .flat_map(|face| words(&[20 << 16 | 0x10, 0x0002_0100, face, 0, 0]))
            .collect();
        let model = [model_head(3, 52_000), vec![0; 24], faces].concat();
        let mut bytes = words(&[0x0002_0004, 0, 1]);
        bytes.extend([0; 36]);
        bytes.extend(words(&[1, 56]));
        bytes.extend(model);
        let before = bytes.len();
        bytes[4..8].copy_from_slice(&words(&[before as u32]));
        bytes.extend(meta(&[], 1, &[], before));
        bytes
    };
    let objects = {
        let count = MEGABYTE / 36;
        let mut bytes = words(&[0x0002_0004, (16 + 36 * count) as u32, count as u32]);
        bytes.resize(16 + 36 * count, 0);
        bytes.extend(meta(&[], 0, &[], bytes.len()));
        bytes
    };
    let sprites = [words(&[1]), vec![b'a'; 8], words(&[120_000])].concat();
    let sprites = [sprites, vec![0; 8 * 120_000]].concat();
    let pulses = [1, 1, 0, 0, 0, 0, 0, 0].repeat(120_000);
    let animations = [words(&[120_000]), words(&[0, 1]).repeat(120_000)].concat();
    vec![
        (
            "many small models",
            models(MEGABYTE / 36, &model_head(0, 0)),
        ),
        ("one model of many faces", models(1, &full_model)),
        ("a scene of as many corners as there can be", shown),
        ("one model pointed to often", repeated),
        ("objects without models", objects),
        ("sprite frames", library((0x45, sprites), &[])),
        ("pulses", library((0x07, pulses), &[])),
        ("animations", library((0x2A, animations), &[])),
        (
            "textures without pixels",
            library(
                no_chunk,
                &vec![words(&[1 << 31, 0, 0, 0, 0]); MEGABYTE / 28],
            ),
        ),
        ("zeros", [words(&[0x0002_0004]), vec![0; MEGABYTE]].concat()),
    ]
}

#[test]
fn a_megabyte_takes_at_most_a_second_and_64_mebibytes() {
    for (name, bytes) in worst() {
        let (took, peak) = look_at(&FORMAT, &bytes);
        assert!(took < second(), "{name} took {took:?}");
        eprintln!("{name}: {took:?}, peak {} KiB", peak >> 10);
        assert!(peak < 64 * MEGABYTE, "{name} took {peak} bytes");
        assert!(bytes.len() > MEGABYTE * 4 / 5, "{name} is too small");
    }
}
