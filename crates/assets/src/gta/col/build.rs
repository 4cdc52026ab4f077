//! Small collision models for tests: a sphere, a box and a mesh of one
//! triangle each.

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Returns a model of a version, 1 to 4.
pub(crate) fn model(version: u8, name: &str) -> Vec<u8> {
    let body = match version {
        1 => first(),
        _ => later(version),
    };
    let magic = match version {
        1 => *b"COLL",
        _ => [b'C', b'O', b'L', b'0' + version],
    };
    let mut field = name.as_bytes().to_vec();
    field.resize(22, 0);
    let size = (24 + body.len()) as u32;
    [&magic[..], &size.to_le_bytes(), &field, &[7, 0], &body].concat()
}

const VERTICES: [[f32; 3]; 3] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.5]];

fn first() -> Vec<u8> {
    let bounds = floats(&[2.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
    let word = |value: u32| value.to_le_bytes().to_vec();
    [
        bounds,
        word(1),
        floats(&[0.5, 1.0, 2.0, 3.0]),
        vec![9, 0, 0, 0],
        word(0),
        word(1),
        floats(&[-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]),
        vec![4, 1, 2, 3],
        word(3),
        floats(VERTICES.as_flattened()),
        word(1),
        [0_u32, 1, 2].map(u32::to_le_bytes).concat(),
        vec![5, 0, 0, 17],
    ]
    .concat()
}

fn later(version: u8) -> Vec<u8> {
    let head = match version {
        2 => 76,
        3 => 88,
        _ => 92,
    };
    let bounds = floats(&[-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0]);
    // Offsets count from 4 bytes after the magic's start: 28 before the body.
    let spheres = 28 + head;
    let (boxes, vertices) = (spheres + 20, spheres + 48);
    let faces = vertices + 20;
    let mut body = bounds;
    body.extend_from_slice(&[1, 0, 1, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    for offset in [spheres, boxes, 0, vertices, faces, 0] {
        body.extend_from_slice(&(offset as u32).to_le_bytes());
    }
    body.resize(head, 0);
    body.extend(floats(&[1.0, 2.0, 3.0, 0.5]));
    body.extend_from_slice(&[9, 0, 0, 0]);
    body.extend(floats(&[-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]));
    body.extend_from_slice(&[4, 1, 2, 3]);
    let words = VERTICES.as_flattened().iter();
    body.extend(words.flat_map(|value| ((value * 128.0) as i16).to_le_bytes()));
    body.extend_from_slice(&[0, 0]);
    body.extend_from_slice(&[0, 0, 1, 0, 2, 0, 5, 17]);
    body
}
