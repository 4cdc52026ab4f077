//! 3DO files (4).

use super::Writer;

#[derive(Debug, Clone)]
pub struct Object {
    pub name: String,
    pub position: [i32; 3],
    pub selection: i32,
    pub vertices: Vec<[i32; 3]>,
    pub primitives: Vec<Primitive>,
    pub children: Vec<Object>,
}

#[derive(Debug, Clone)]
pub struct Primitive {
    pub color: u32,
    pub indices: Vec<u16>,
    pub texture: Option<String>,
    pub flag: u32,
}

/// Returns an empty object.
pub fn object(name: &str) -> Object {
    Object {
        name: name.to_owned(),
        position: [0; 3],
        selection: -1,
        vertices: Vec::new(),
        primitives: Vec::new(),
        children: Vec::new(),
    }
}

/// Returns an invisible primitive.
pub fn primitive(indices: &[u16]) -> Primitive {
    Primitive {
        color: 0,
        indices: indices.to_vec(),
        texture: None,
        flag: 0,
    }
}

/// Adds a box between two corners. `paint` sets the color or texture of each
/// side by its number.
pub fn add_box(
    object: &mut Object,
    from: [i32; 3],
    to: [i32; 3],
    paint: impl Fn(usize, &mut Primitive),
) {
    // Corner n is at the end of axis 0, 1, 2 if bit 0, 1, 2 of n is set. All
    // sides have the same winding, seen from outside.
    const SIDES: [[u16; 4]; 6] = [
        [0, 4, 6, 2],
        [5, 1, 3, 7],
        [1, 0, 2, 3],
        [4, 5, 7, 6],
        [2, 6, 7, 3],
        [1, 5, 4, 0],
    ];
    let first = object.vertices.len() as u16;
    let ends = [from, to];
    let corner = |n: usize| [0, 1, 2].map(|axis| ends[n >> axis & 1][axis]);
    object.vertices.extend((0..8).map(corner));
    for (number, side) in SIDES.into_iter().enumerate() {
        let mut side = primitive(&side.map(|corner| first + corner));
        paint(number, &mut side);
        object.primitives.push(side);
    }
}

/// Returns a whole file.
pub fn file(root: &Object) -> Vec<u8> {
    let mut out = Writer::default();
    write(&mut out, root);
    out.bytes
}

/// Writes an object, its data and its children, and returns its offset.
fn write(out: &mut Writer, object: &Object) -> u32 {
    let at = out.at();
    out.u32s(&[
        1,
        object.vertices.len() as u32,
        object.primitives.len() as u32,
    ]);
    out.u32(object.selection as u32);
    out.i32s(&object.position);
    out.u32s(&[0; 6]);
    let name = out.name(&object.name);
    out.put(at + 28, name);
    out.put(at + 36, out.at());
    object.vertices.iter().for_each(|vertex| out.i32s(vertex));
    let mut records = Vec::new();
    for primitive in &object.primitives {
        let texture = primitive.texture.as_ref().map_or(0, |name| out.name(name));
        let indices = out.at();
        primitive.indices.iter().for_each(|&index| out.u16(index));
        let corners = primitive.indices.len() as u32;
        records.extend([
            primitive.color,
            corners,
            0,
            indices,
            texture,
            0,
            0,
            primitive.flag,
        ]);
    }
    out.put(at + 40, out.at());
    out.u32s(&records);
    // An object is referenced by the child pointer of its parent, or by the
    // sibling pointer of the object before it.
    let mut pointer = at + 48;
    for child in &object.children {
        let child = write(out, child);
        out.put(pointer, child);
        pointer = child + 44;
    }
    at
}
