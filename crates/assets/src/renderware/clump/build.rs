//! Small clumps for tests.

/// Returns a chunk of version 3.6.0.3.
pub(crate) fn chunk(kind: u32, body: &[u8]) -> Vec<u8> {
    let head = [kind, body.len() as u32, 0x1803_FFFF];
    [&head.map(u32::to_le_bytes).concat(), body].concat()
}

pub(crate) fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub(crate) fn floats(values: &[f32]) -> Vec<u8> {
    let words: Vec<_> = values.iter().map(|value| value.to_bits()).collect();
    self::words(&words)
}

/// Returns a frame list. Each frame has a name, a parent, and the position
/// (1, 2, 3) in it.
pub(crate) fn frames(frames: &[(&str, i32)]) -> Vec<u8> {
    frames_with(frames, |_| Vec::new())
}

/// Returns the same, where frame n is bone n of a skeleton.
pub(crate) fn bones(frames: &[(&str, i32)]) -> Vec<u8> {
    let count = frames.len() as u32;
    frames_with(frames, |number| {
        let mut fields = vec![0x100, number];
        fields.push(if number == 0 { count } else { 0 });
        if number == 0 {
            fields.extend([0, 36]);
            fields.extend((0..count).flat_map(|bone| [bone, bone, 0]));
        }
        chunk(0x11E, &words(&fields))
    })
}

/// Returns a frame list with another plugin for each frame.
fn frames_with(frames: &[(&str, i32)], plugin: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    let mut fields = words(&[frames.len() as u32]);
    let mut extensions = Vec::new();
    for (number, (name, parent)) in (0..).zip(frames) {
        let axes = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        fields.extend(floats(&axes));
        fields.extend(floats(&[1.0, 2.0, 3.0]));
        fields.extend(words(&[parent.cast_unsigned(), 0]));
        let name = chunk(0x253_F2FE, name.as_bytes());
        extensions.extend(chunk(3, &[name, plugin(number)].concat()));
    }
    chunk(0x0E, &[chunk(1, &fields), extensions].concat())
}

/// Returns a list of materials with these textures.
pub(crate) fn materials(textures: &[&str]) -> Vec<u8> {
    let count = textures.len() as u32;
    let mut numbers = words(&[count]);
    numbers.extend(words(&vec![u32::MAX; textures.len()]));
    let materials = textures.iter().map(|name| {
        let mut name = name.as_bytes().to_vec();
        name.resize(name.len() + 4 - name.len() % 4, 0);
        let texture = [
            chunk(1, &[2, 0x11, 0, 0]),
            chunk(2, &name),
            chunk(2, &[0; 4]),
        ];
        let fields = [words(&[0, u32::MAX, 0, 1]), floats(&[1.0; 3])];
        chunk(
            7,
            &[chunk(1, &fields.concat()), chunk(6, &texture.concat())].concat(),
        )
    });
    let materials: Vec<_> = materials.collect();
    chunk(8, &[chunk(1, &numbers), materials.concat()].concat())
}

/// Returns a geometry: a square of two triangles in a list, the first of
/// material 0 and the second of the last one, with these plugins.
pub(crate) fn square(textures: &[&str], plugins: &[Vec<u8>]) -> Vec<u8> {
    square_with(0, &[], textures, plugins)
}

/// Returns the same square, whose corners have a color and which has these
/// further flags.
pub(crate) fn prelit_square(flags: u8, color: [u8; 4]) -> Vec<u8> {
    square_with(8 | flags, &color.repeat(4), &["wood"], &[])
}

fn square_with(flags: u8, colors: &[u8], textures: &[&str], plugins: &[Vec<u8>]) -> Vec<u8> {
    let last = textures.len() as u16 - 1;
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0_f32]];
    let triangles: [u16; 8] = [1, 0, 0, 2, 3, 2, last, 1];
    let positions = corners.map(|[x, y]| [x, y, 0.0]);
    let fields = [
        vec![2 | 4 | 0x40 | flags, 0, 1, 0],
        words(&[2, 4, 1]),
        colors.to_vec(),
        floats(corners.as_flattened()),
        triangles
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect(),
        floats(&[0.0, 0.0, 0.0, 9.0]),
        words(&[1, 0]),
        floats(positions.as_flattened()),
    ];
    let parts = [
        chunk(1, &fields.concat()),
        materials(textures),
        chunk(3, &plugins.concat()),
    ];
    chunk(0x0F, &parts.concat())
}

/// Returns the same square as mobile games have it: a strip with indices of 16
/// bits, and vertices of positions, texture coordinates in parts of 512, and
/// colors.
pub(crate) fn mobile_square(texture: &str) -> Vec<u8> {
    let short = |values: &[u16]| -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    let stride = 20;
    let attributes = [
        [0, 0, 0, 3, stride, 0],
        [1, 3, 0, 2, stride, 12],
        [3, 2, 1, 4, stride, 16],
    ];
    let mut data = words(&[attributes.len() as u32]);
    data.extend(words(attributes.as_flattened()));
    for [x, y] in [[0, 0], [1, 0], [0, 1], [1, 1_u8]] {
        data.extend(floats(&[x.into(), y.into(), 0.0]));
        data.extend(short(&[x, y].map(|value| 512 * u16::from(value))));
        data.extend([255 * x, 255 * y, 0, 255]);
    }
    let meshes = [words(&[1, 1, 4, 4, 0]), short(&[0, 1, 2, 3])].concat();
    let plugins = [chunk(0x50E, &meshes), chunk(0x510, &data)].concat();
    let fields = [
        vec![1 | 2 | 4 | 8 | 0x40, 0, 1, 1],
        words(&[2, 4, 1]),
        floats(&[0.0, 0.0, 0.0, 9.0]),
        words(&[0, 0]),
    ];
    let parts = [
        chunk(1, &fields.concat()),
        materials(&[texture]),
        chunk(3, &plugins),
    ];
    chunk(0x0F, &parts.concat())
}

/// Returns an atomic of a frame and a geometry.
pub(crate) fn atomic(frame: u32, geometry: u32) -> Vec<u8> {
    let fields = chunk(1, &words(&[frame, geometry, 5, 0]));
    chunk(0x14, &[fields, chunk(3, &[])].concat())
}

/// Returns a clump of frames, geometries and atomics, with these plugins.
pub(crate) fn clump(
    frames: &[u8],
    geometries: &[Vec<u8>],
    atomics: &[Vec<u8>],
    plugins: &[Vec<u8>],
) -> Vec<u8> {
    let count = chunk(1, &words(&[geometries.len() as u32]));
    let parts = [
        chunk(1, &words(&[atomics.len() as u32, 0, 0])),
        frames.to_vec(),
        chunk(0x1A, &[count, geometries.concat()].concat()),
        atomics.concat(),
        chunk(3, &plugins.concat()),
    ];
    chunk(0x10, &parts.concat())
}

/// Returns a sector of a world: one triangle with a color and a material, which is
/// the last of its four numbers, as version 3.6 has it.
pub(crate) fn sector(first_material: u32, material: u16, corner: u16, color: [u8; 4]) -> Vec<u8> {
    let fields = [
        words(&[first_material, 1, 3]),
        floats(&[1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
        words(&[0, 0]),
        floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        [0, 0, 127, 0].repeat(3),
        color.repeat(3),
        [0, 1, corner, material]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect(),
    ];
    chunk(0x09, &chunk(1, &fields.concat()))
}

/// Returns a world of two materials whose vertices have normals and colors, with
/// these further flags. The counts are of triangles, vertices, planes and sectors.
pub(crate) fn world(root: &[u8], counts: [u32; 4], flags: u32) -> Vec<u8> {
    let fields = [
        words(&[0; 4]),
        words(&counts),
        words(&[0, 0x10 | 8 | flags]),
        floats(&[9.0, 9.0, 9.0, -9.0, -9.0, -9.0]),
    ];
    let parts = [
        chunk(1, &fields.concat()),
        materials(&["sand", "rock"]),
        root.to_vec(),
    ];
    chunk(0x0B, &parts.concat())
}
