//! A PSX level and its nodes, a character as HGO and DFF, and an IFP package
//! with its animations.

use super::NewFile;
use fixtures::{Endian, clump, hgo, ifp, psx};

/// Returns the files, by their names.
pub(super) fn files() -> Vec<NewFile> {
    vec![
        ("park.psx".to_owned(), level()),
        ("park_t.trg".to_owned(), nodes()),
        ("robot.hgo".to_owned(), robot()),
        ("robot.ifp".to_owned(), walk()),
        ("robot.dff".to_owned(), toy()),
        ("robot.ide".to_owned(), DEFINITION.into()),
    ]
}

/// The flag of faces that are visible from both sides.
const BOTH_SIDES: u16 = 0x0200;

/// Returns a skate park: a floor of slabs, ramps, boxes and a rail.
fn level() -> Vec<u8> {
    const SLAB: i16 = 400;
    let mut file = psx::File::new(4);
    let mut add = |position: [i32; 3], vertices: &[[i16; 3]], sides: &[([u8; 4], [u8; 3])]| {
        let faces = sides.iter().map(|&(corners, [red, green, blue])| {
            psx::face(BOTH_SIDES, corners, [red, green, blue, 0x28], &[])
        });
        let faces: Vec<Vec<u8>> = faces.collect();
        let vertices: Vec<[i16; 4]> = vertices.iter().map(|&[x, y, z]| [x, y, z, 0]).collect();
        let model = file.models.len() as u16;
        file.models
            .push(psx::model((0x7FFF, -1), &vertices, &faces));
        file.objects.push(psx::object(model, position));
    };
    for slab in 0..36_i32 {
        let (x, z) = (slab % 6, slab / 6);
        let gray = if (x + z) % 2 == 0 { 150 } else { 128 };
        let position = [x - 3, 0, z - 3].map(|at| at * i32::from(SLAB));
        let corners = [[0, 0, 0], [SLAB, 0, 0], [0, 0, SLAB], [SLAB, 0, SLAB]];
        add(
            position,
            &corners,
            &[([0, 1, 2, 3], [gray, gray, gray + 6])],
        );
    }
    // Heights are negative: y points down.
    let wedge = [
        [0, 0, 0],
        [600, 0, 0],
        [0, 0, 700],
        [600, 0, 700],
        [0, -400, 700],
        [600, -400, 700],
    ];
    let ramp = [
        ([0, 1, 4, 5], [190, 120, 60]),
        ([2, 3, 4, 5], [120, 70, 40]),
        ([0, 2, 4, 4], [150, 90, 50]),
        ([1, 3, 5, 5], [150, 90, 50]),
    ];
    for x in [-1000, 300] {
        add([x, 0, 300], &wedge, &ramp);
    }
    let mut block = |position: [i32; 3], [x, y, z]: [i16; 3], [red, green, blue]: [u8; 3]| {
        let corner = |n: i16| [(n & 1) * x, -(n >> 1 & 1) * y, (n >> 2) * z];
        let shade = |part: u8, percent: u16| (u16::from(part) * percent / 100) as u8;
        let side =
            |corners, percent| (corners, [red, green, blue].map(|part| shade(part, percent)));
        let sides = [
            side([0, 1, 2, 3], 80),
            side([4, 5, 6, 7], 70),
            side([0, 4, 2, 6], 60),
            side([1, 5, 3, 7], 90),
            side([2, 3, 6, 7], 100),
        ];
        add(position, &[0, 1, 2, 3, 4, 5, 6, 7].map(corner), &sides);
    };
    block([-900, 0, -800], [500, 160, 300], [200, 70, 60]);
    block([-700, -160, -700], [250, 120, 150], [220, 190, 80]);
    block([200, 0, -700], [700, 100, 250], [70, 110, 190]);
    block([-300, -140, -200], [900, 20, 20], [235, 235, 240]);
    for x in [-300, 130, 570] {
        block([x, 0, -200], [20, 140, 20], [160, 160, 170]);
    }
    file.bytes()
}

/// Returns the nodes of the skate park: the file of its models, the rail, and a
/// restart.
fn nodes() -> Vec<u8> {
    let halves =
        |halves: &[u16]| -> Vec<u8> { halves.iter().flat_map(|half| half.to_le_bytes()).collect() };
    let place = |place: [i32; 3]| place.map(|part| (part * 4096).to_le_bytes()).concat();
    let rail = |kind, link, position| {
        [
            halves(&[kind, 1, link, 0]),
            place(position),
            halves(&[17, 0]),
        ]
        .concat()
    };
    let nodes = [
        [halves(&[4, 128]), b"park\0\0".to_vec(), halves(&[0xFFFF])].concat(),
        rail(10, 2, [-300, -160, -190]),
        rail(11, 2, [600, -160, -190]),
        [
            halves(&[8, 0]),
            place([0, 0, -1100]),
            halves(&[0, 0, 0]),
            b"P1: Start\0".to_vec(),
            halves(&[0xFFFF]),
        ]
        .concat(),
        halves(&[255]),
    ];
    let mut file = [b"_TRG".to_vec(), halves(&[2, 0, nodes.len() as u16, 0])].concat();
    let mut offset = file.len() + 4 * nodes.len();
    for node in &nodes {
        file.extend((offset as u32).to_le_bytes());
        offset += node.len();
    }
    [file, nodes.concat()].concat()
}

/// A part of the robot: its joint's name, parent and place, a box around the
/// joint, and its color's number.
struct Part(&'static str, u8, [f32; 3], [f32; 3], [f32; 3], u8);

const ROOT: u8 = 0xFF;

const PARTS: [Part; 8] = [
    Part(
        "Pelvis",
        ROOT,
        [0.0, 1.0, 0.0],
        [-0.3, -0.1, -0.2],
        [0.3, 0.2, 0.2],
        0,
    ),
    Part(
        "Chest",
        0,
        [0.0, 0.2, 0.0],
        [-0.4, 0.05, -0.25],
        [0.4, 0.75, 0.25],
        1,
    ),
    Part(
        "Head",
        1,
        [0.0, 0.8, 0.0],
        [-0.25, 0.05, -0.22],
        [0.25, 0.5, 0.22],
        2,
    ),
    Part(
        "Visor",
        2,
        [0.0, 0.25, 0.0],
        [-0.27, -0.02, -0.24],
        [0.27, 0.12, 0.24],
        3,
    ),
    Part(
        "L Arm",
        1,
        [0.5, 0.65, 0.0],
        [-0.08, -0.75, -0.1],
        [0.12, 0.08, 0.1],
        4,
    ),
    Part(
        "R Arm",
        1,
        [-0.5, 0.65, 0.0],
        [-0.12, -0.75, -0.1],
        [0.08, 0.08, 0.1],
        4,
    ),
    Part(
        "L Leg",
        0,
        [0.18, -0.1, 0.0],
        [-0.13, -0.9, -0.15],
        [0.13, 0.0, 0.2],
        5,
    ),
    Part(
        "R Leg",
        0,
        [-0.18, -0.1, 0.0],
        [-0.13, -0.9, -0.15],
        [0.13, 0.0, 0.2],
        5,
    ),
];

/// Colors of the parts.
const COLORS: [[u8; 3]; 6] = [
    [130, 145, 170],
    [255, 160, 70],
    [255, 250, 230],
    [60, 225, 255],
    [210, 220, 235],
    [160, 175, 205],
];

fn robot() -> Vec<u8> {
    let build = hgo::Build::new(Endian::Big);
    // A texture of 8 x 8, each color a column.
    let pixels: Vec<u8> = (0..64).map(|at| at % 8).collect();
    let mut palette: Vec<u8> = COLORS
        .iter()
        .flat_map(|&[r, g, b]| [r, g, b, 255])
        .collect();
    palette.resize(1024, 0);
    let texture = [build.i32s(&[5, 8, 8, 0]), pixels, palette].concat();
    let textures = [
        build.block(b"TSH0", &build.i32s(&[1])),
        build.block(b"TXM0", &texture),
    ];
    let mut name = 1;
    let joints = PARTS.iter().map(|part| {
        let joint = build.joint(part.2, part.1, name);
        name += part.0.len() as i32 + 1;
        joint
    });
    let joints: Vec<Vec<u8>> = joints.collect();
    let rigid = PARTS
        .iter()
        .map(|part| [vec![1], mesh(&build, part)].concat());
    let object = [
        vec![PARTS.len() as u8],
        joints.concat(),
        // No lists of joints and points, and one layer with a rigid slot.
        vec![0, 0, 1],
        build.i32s(&[0]),
        vec![1],
        rigid.collect::<Vec<_>>().concat(),
        // No other slots, no points, no shadows.
        vec![0; 5],
        build.bounds(),
    ];
    let names = PARTS.map(|part| part.0);
    build.root(&[
        build.block(b"NTBL", &build.names(&names)),
        build.block(b"TST0", &textures.concat()),
        build.block(b"MS00", &[build.i32s(&[1]), build.material(0)].concat()),
        build.block(b"HGO0", &object.concat()),
    ])
}

/// Returns a geometry with the box of a part.
fn mesh(build: &hgo::Build, &Part(_, _, _, from, to, color): &Part) -> Vec<u8> {
    // Axis and direction of the sides, with the two other axes so that corners
    // run clockwise from outside.
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for (axis, far) in [0, 1, 2]
        .into_iter()
        .flat_map(|axis| [(axis, false), (axis, true)])
    {
        let first = (vertices.len() / 36) as u16;
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for corner in [(false, false), (true, false), (false, true), (true, true)] {
            let mut position = from;
            position[axis] = if far { to[axis] } else { from[axis] };
            position[u] = if corner.0 { to[u] } else { from[u] };
            position[v] = if corner.1 { to[v] } else { from[v] };
            let mut normal = [0.0; 3];
            normal[axis] = if far { 1.0 } else { -1.0 };
            vertices.extend(build.f32s(&[position, normal].concat()));
            vertices.extend(build.i32s(&[-1]));
            vertices.extend(build.f32s(&[(f32::from(color) + 0.5) / 8.0, 0.5]));
        }
        let corners: [u16; 6] = if far {
            [0, 1, 2, 1, 3, 2]
        } else {
            [0, 2, 1, 1, 2, 3]
        };
        triangles.extend(corners.map(|corner| first + corner));
    }
    [
        build.i32s(&[1, 0]),
        build.f32s(&[0.0; 3]),
        build.i32s(&[1, 0, (vertices.len() / 36) as i32]),
        vertices,
        build.i32s(&[0, 1, 5, triangles.len() as i32]),
        build.u16s(&triangles),
        build.i32s(&[0, 0]),
    ]
    .concat()
}

/// Returns a walk and a nod: rotations about the axis from left to right.
fn walk() -> Vec<u8> {
    let swing = |name: &str, bone: i32, angle: f32, frames: i16| {
        let keys = (0..=8_i16).flat_map(|key| {
            let turn = angle / 2.0 * (f32::from(key) * std::f32::consts::TAU / 8.0).sin();
            let fixed = |value: f32| (value * 4096.0) as i16;
            ifp::shorts(&[fixed(turn.sin()), 0, 0, fixed(turn.cos()), key * frames / 8])
        });
        ifp::anp_object(name, 3, bone, &keys.collect::<Vec<_>>())
    };
    let steps = [
        ("L Arm", 4, -0.7),
        ("R Arm", 5, 0.7),
        ("L Leg", 6, 0.6),
        ("R Leg", 7, -0.6),
    ];
    let walk = steps.map(|(name, bone, angle)| swing(name, bone, angle, 64));
    let nod = vec![swing("Head", 2, 0.4, 40)];
    ifp::anp(true, "robot", &[("walk", walk.to_vec()), ("nod", nod)])
}

/// Gives the DFF model the animations of the package.
const DEFINITION: &[u8] = b"anim\n1, robot, robot, robot, 100, 0\nend\n";

/// Returns the character as a DFF model: a frame and a box for each part. Its
/// axes are x, z and y of the HGO model.
fn toy() -> Vec<u8> {
    let upright = |[x, y, z]: [f32; 3]| [x, z, y];
    let count = PARTS.len() as u32;
    let mut frames = clump::words(&[count]);
    let mut names = Vec::new();
    for &Part(name, parent, position, ..) in &PARTS {
        let axes = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        frames.extend(clump::floats(&[&axes[..], &upright(position)].concat()));
        let parent = if parent == ROOT {
            -1
        } else {
            i32::from(parent)
        };
        frames.extend(clump::words(&[parent.cast_unsigned(), 0]));
        names.extend(clump::chunk(3, &clump::chunk(0x253_F2FE, name.as_bytes())));
    }
    let frames = clump::chunk(0x0E, &[clump::chunk(1, &frames), names].concat());
    let boxes = PARTS.iter().map(|&Part(_, _, _, from, to, color)| {
        cuboid(upright(from), upright(to), COLORS[usize::from(color)])
    });
    let atomics = (0..count).map(|part| clump::atomic(part, part));
    let (boxes, atomics): (Vec<_>, Vec<_>) = (boxes.collect(), atomics.collect());
    clump::clump(&frames, &boxes, &atomics, &[])
}

/// Returns a geometry: a box of a color.
fn cuboid(from: [f32; 3], to: [f32; 3], [red, green, blue]: [u8; 3]) -> Vec<u8> {
    let ends = [from, to];
    let corner = |at: usize| -> [f32; 3] { std::array::from_fn(|axis| ends[at >> axis & 1][axis]) };
    let corners: [[f32; 3]; 8] = std::array::from_fn(corner);
    let sides: [[u16; 4]; 6] = [
        [0, 4, 2, 6],
        [1, 3, 5, 7],
        [0, 1, 4, 5],
        [2, 6, 3, 7],
        [0, 2, 1, 3],
        [4, 5, 6, 7],
    ];
    let triangles = sides
        .iter()
        .flat_map(|&[a, b, c, d]| [[b, a, 0, c], [d, b, 0, c]]);
    let triangles: Vec<u8> = triangles.flatten().flat_map(u16::to_le_bytes).collect();
    let fields = [
        vec![0x42, 0, 0, 0],
        clump::words(&[12, 8, 1]),
        triangles,
        clump::floats(&[0.0, 0.0, 0.0, 2.0]),
        clump::words(&[1, 0]),
        clump::floats(corners.as_flattened()),
    ];
    let color = u32::from_le_bytes([red, green, blue, 255]);
    let surface = [clump::words(&[0, color, 0, 0]), clump::floats(&[1.0; 3])];
    let materials = [
        clump::chunk(1, &clump::words(&[1, u32::MAX])),
        clump::chunk(7, &clump::chunk(1, &surface.concat())),
    ];
    let parts = [
        clump::chunk(1, &fields.concat()),
        clump::chunk(8, &materials.concat()),
        clump::chunk(3, &[]),
    ];
    clump::chunk(0x0F, &parts.concat())
}
