//! Small HGO files for tests.

use super::Endian;

/// A writer of the parts of a file in one byte order.
pub(crate) struct Build {
    endian: Endian,
}

macro_rules! numbers {
    ($($name:ident: $type:ty;)*) => {$(
        pub(crate) fn $name(&self, values: &[$type]) -> Vec<u8> {
            let bytes = values.iter().map(|value| match self.endian {
                Endian::Big => value.to_be_bytes().to_vec(),
                Endian::Little => value.to_le_bytes().to_vec(),
            });
            bytes.collect::<Vec<_>>().concat()
        }
    )*};
}

impl Build {
    pub(crate) fn new(endian: Endian) -> Self {
        Self { endian }
    }

    numbers! {
        i32s: i32;
        u16s: u16;
        f32s: f32;
    }

    /// Returns a block, padded to a multiple of 4.
    pub(crate) fn block(&self, tag: &[u8; 4], body: &[u8]) -> Vec<u8> {
        let length = body.len().next_multiple_of(4);
        let tag = i32::from_le_bytes(*tag);
        let mut bytes = self.i32s(&[tag, length as i32 + 8]);
        bytes.extend(body);
        bytes.resize(length + 8, 0);
        bytes
    }

    /// Returns the file with these blocks.
    pub(crate) fn root(&self, blocks: &[Vec<u8>]) -> Vec<u8> {
        self.block(b"HGOF", &blocks.concat())
    }

    /// Returns the contents of a name table.
    pub(crate) fn names(&self, names: &[&str]) -> Vec<u8> {
        let text: Vec<u8> = names
            .iter()
            .flat_map(|name| name.bytes().chain([0]))
            .collect();
        [self.i32s(&[text.len() as i32]), text].concat()
    }

    /// Returns the eleven numbers of the bounds, 1 to 11.
    pub(crate) fn bounds(&self) -> Vec<u8> {
        let numbers: Vec<_> = (1..=11_u8).map(f32::from).collect();
        self.f32s(&numbers)
    }

    fn matrix(&self, [x, y, z]: [f32; 3]) -> Vec<u8> {
        let mut matrix = [0.0; 16];
        for diagonal in [0, 5, 10, 15] {
            matrix[diagonal] = 1.0;
        }
        matrix[12..15].copy_from_slice(&[x, y, z]);
        self.f32s(&matrix)
    }

    /// Returns a joint; `name` is an offset in the name table counted from 1.
    pub(crate) fn joint(&self, position: [f32; 3], parent: u8, name: i32) -> Vec<u8> {
        let origin = self.matrix([0.0; 3]);
        [
            vec![1],
            self.matrix(position),
            origin.clone(),
            origin,
            self.f32s(&[0.0; 3]),
            vec![parent],
            self.i32s(&[name]),
        ]
        .concat()
    }

    /// Returns a material with this texture.
    pub(crate) fn material(&self, texture: i32) -> Vec<u8> {
        [
            self.i32s(&[0, 0]),
            self.f32s(&[0.5; 6]),
            self.i32s(&[0; 4]),
            self.f32s(&[0.0, 1.0]),
            self.i32s(&[texture, 0, 0]),
            self.f32s(&[0.0, 0.0, 1.0, 1.0]),
        ]
        .concat()
    }

    /// Returns the material and vertices of a mesh with the corners of a
    /// square; triangles, skin and blend shapes must follow.
    pub(crate) fn quad(&self, material: i32) -> Vec<u8> {
        let mut bytes = self.i32s(&[material, 4]);
        for [x, y] in [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] {
            bytes.extend(self.f32s(&[x, y, 0.0, 0.0, 1.0, 0.0]));
            bytes.extend(self.i32s(&[-1]));
            bytes.extend(self.f32s(&[x, y]));
        }
        bytes
    }

    /// Returns a list of geometries: the square as two triangles.
    fn square(&self) -> Vec<u8> {
        [self.i32s(&[1]), self.square_geometry(&self.i32s(&[0]))].concat()
    }

    fn square_geometry(&self, blend: &[u8]) -> Vec<u8> {
        [
            self.i32s(&[0, 0, 0, 0, 1]),
            self.quad(0),
            self.i32s(&[0, 1, 6, 5]),
            self.u16s(&[4, 0, 1, 2, 3]),
            self.i32s(&[0]),
            blend.to_vec(),
        ]
        .concat()
    }

    /// Returns a set of one sprite.
    fn sprites(&self) -> Vec<u8> {
        [
            self.i32s(&[1, 1, 0, 1, 0]),
            self.f32s(&[2.5]),
            self.f32s(&[0.0, 0.0, 0.0, 1.0, 1.0]),
            self.i32s(&[-1]),
        ]
        .concat()
    }

    /// Returns a file with a square of 1 by 1 that faces the camera, fixed to a
    /// joint 5 in front of the origin, with a texture of 8 by 8 indices. Axes
    /// are the game's: x right, y up, z forward, and triangles clockwise.
    pub(crate) fn sign(&self, texture: &[u8; 64]) -> Vec<u8> {
        let palette: Vec<u8> = (0..=255).flat_map(|gray| [gray; 4]).collect();
        let pixels = [&self.i32s(&[5, 8, 8, 0])[..], texture, &palette].concat();
        let textures = [
            self.block(b"TSH0", &self.i32s(&[1])),
            self.block(b"TXM0", &pixels),
        ];
        let corner = |x: f32, y: f32| {
            let vectors = self.f32s(&[x, y, 0.0, 0.0, 0.0, -1.0]);
            [vectors, self.i32s(&[-1]), self.f32s(&[x, 1.0 - y])].concat()
        };
        let mesh = [
            self.i32s(&[0, 4]),
            corner(0.0, 0.0),
            corner(0.0, 1.0),
            corner(1.0, 0.0),
            corner(1.0, 1.0),
            self.i32s(&[0, 1, 6, 5]),
            self.u16s(&[4, 0, 1, 2, 3]),
            self.i32s(&[0, 0]),
        ];
        let object = [
            vec![1],
            self.joint([0.0, 0.0, 5.0], 0xff, 0),
            vec![0, 0, 1],
            self.i32s(&[0]),
            vec![1, 1],
            self.i32s(&[1, 0, 0, 0, 0, 1]),
            mesh.concat(),
            vec![0, 0, 0, 0, 0],
            self.bounds(),
        ];
        self.root(&[
            self.block(b"NTBL", &self.names(&["a"])),
            self.block(b"TST0", &textures.concat()),
            self.block(b"MS00", &[self.i32s(&[1]), self.material(0)].concat()),
            self.block(b"HGO0", &object.concat()),
        ])
    }

    /// Returns a file with all kinds of contents: two joints, a layer, a
    /// texture, a material, a point, a shadow.
    pub(crate) fn mouse(&self) -> Vec<u8> {
        let pixels = [self.i32s(&[0x81, 4, 4, 32]), vec![0x80; 32]].concat();
        let textures = [
            self.block(b"TSH0", &self.i32s(&[1])),
            self.block(b"TXM0", &pixels),
        ];
        let blend = [self.i32s(&[1, 7, 48]), self.f32s(&[0.25; 12]), vec![1]].concat();
        let shadow = [
            vec![1, 1],
            self.f32s(&[1.0; 12]),
            vec![1],
            self.f32s(&[2.0; 16]),
            vec![1],
            self.i32s(&[0, 1]),
            self.f32s(&[1.0, 2.0, 3.0, 4.0]),
            vec![1],
        ];
        let object = [
            vec![2],
            self.joint([0.0; 3], 0xff, 1),
            self.joint([0.0, 1.0, 0.5], 0, 6),
            vec![2, 0, 1],
            vec![1, 0xff],
            // One layer: rigid at joint 1, no skin, no rigid part with blend
            // shapes, a skin with blend shapes.
            vec![1],
            self.i32s(&[11]),
            vec![1, 0, 1],
            self.square(),
            vec![0, 0, 1],
            self.i32s(&[2]),
            self.square_geometry(&blend),
            self.sprites(),
            vec![1, 1],
            self.matrix([0.0, 0.25, 0.0]),
            self.i32s(&[16]),
            shadow.concat(),
            self.bounds(),
        ];
        self.root(&[
            self.block(b"NTBL", &self.names(&["root", "head", "HIGH", "hat"])),
            self.block(b"TST0", &textures.concat()),
            self.block(b"MS00", &[self.i32s(&[1]), self.material(0)].concat()),
            self.block(b"HGO0", &object.concat()),
        ])
    }
}
