//! The binary part of a GLB file, and its description in the JSON part.

use std::io;

use gltf_json::accessor::{ComponentType, GenericComponentType, Type};
use gltf_json::buffer::{Target, View};
use gltf_json::validation::Checked::Valid;
use gltf_json::validation::USize64;
use gltf_json::{Accessor, Buffer as GltfBuffer, Index, Root};
use serde_json::json;

use crate::model::{Reservation, Reserve};

/// The bytes so far. Every view begins at a multiple of 4.
pub(super) struct Buffer<'a> {
    bytes: Vec<u8>,
    reserve: Reserve<'a>,
    /// Accounts for the capacity of the bytes.
    reservations: Vec<Reservation>,
    /// The error after which no more bytes can be added.
    failed: Option<io::Error>,
}

/// The bytes of the binary part.
pub(super) struct Binary {
    bytes: Vec<u8>,
    _memory: Vec<Reservation>,
}

impl Binary {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Number format of an accessor.
struct Layout {
    component: ComponentType,
    shape: Type,
    normalized: bool,
    target: Option<Target>,
}

impl Layout {
    const fn floats(shape: Type, target: Option<Target>) -> Self {
        Self {
            component: ComponentType::F32,
            shape,
            normalized: false,
            target,
        }
    }
}

const VERTICES: Option<Target> = Some(Target::ArrayBuffer);

impl<'a> Buffer<'a> {
    pub(super) fn new(reserve: Reserve<'a>) -> Self {
        Self {
            bytes: Vec::new(),
            reserve,
            reservations: Vec::new(),
            failed: None,
        }
    }

    /// Makes room for this number of additional bytes.
    fn grow(&mut self, more: usize) -> io::Result<()> {
        let (length, capacity) = (self.bytes.len(), self.bytes.capacity());
        if length + more > capacity {
            // Twice the capacity, so that bytes are seldom moved.
            let (enough, twice) = (length + more, 2 * capacity);
            let more_than_enough = (twice > enough)
                .then(|| (self.reserve)(twice - capacity).ok())
                .flatten();
            let (wanted, reserved) = match more_than_enough {
                Some(reserved) => (twice, reserved),
                None => (enough, (self.reserve)(enough - capacity)?),
            };
            self.reservations.extend(reserved);
            self.bytes.reserve_exact(wanted - length);
        }
        Ok(())
    }

    /// Makes room for a view of this number of bytes. Returns false if memory is short,
    /// which is not a failure.
    pub(super) fn fits(&mut self, bytes: usize) -> bool {
        self.failed.is_some() || self.grow(bytes.next_multiple_of(4)).is_ok()
    }

    /// Adds bytes; nothing after a failure.
    pub(super) fn view(
        &mut self,
        root: &mut Root,
        bytes: &[u8],
        target: Option<Target>,
    ) -> Index<View> {
        let offset = self.bytes.len();
        let padded = (offset + bytes.len()).next_multiple_of(4);
        if self.failed.is_none() {
            self.failed = self.grow(padded - offset).err();
        }
        if self.failed.is_none() {
            self.bytes.extend_from_slice(bytes);
            self.bytes.resize(padded, 0);
        }
        root.push(View {
            buffer: Index::new(0),
            byte_length: USize64::from(bytes.len()),
            byte_offset: Some(USize64::from(offset)),
            byte_stride: None,
            name: None,
            target: target.map(Valid),
            extensions: None,
            extras: None,
        })
    }

    fn accessor(
        &mut self,
        root: &mut Root,
        bytes: &[u8],
        count: usize,
        layout: Layout,
    ) -> Index<Accessor> {
        let view = self.view(root, bytes, layout.target);
        root.push(Accessor {
            buffer_view: Some(view),
            byte_offset: None,
            count: USize64::from(count),
            component_type: Valid(GenericComponentType(layout.component)),
            type_: Valid(layout.shape),
            normalized: layout.normalized,
            min: None,
            max: None,
            name: None,
            sparse: None,
            extensions: None,
            extras: None,
        })
    }

    /// Adds the positions of vertices, with the box around them.
    pub(super) fn positions(&mut self, root: &mut Root, values: &[[f32; 3]]) -> Index<Accessor> {
        let layout = Layout::floats(Type::Vec3, VERTICES);
        let accessor = self.accessor(root, &floats(values), values.len(), layout);
        let edge = |pick: fn(f32, f32) -> f32| -> [f32; 3] {
            let first = values.first().copied().unwrap_or_default();
            values.iter().fold(first, |edge, value| {
                // Adding 0.0 turns -0.0 into 0.0; min and max may return either.
                std::array::from_fn(|axis| pick(edge[axis], value[axis]) + 0.0)
            })
        };
        if let Some(accessor) = root.accessors.get_mut(accessor.value()) {
            accessor.min = Some(json!(edge(f32::min)));
            accessor.max = Some(json!(edge(f32::max)));
        }
        accessor
    }

    /// Adds vectors of vertices.
    pub(super) fn vertex_vectors<const N: usize>(
        &mut self,
        root: &mut Root,
        values: &[[f32; N]],
    ) -> Index<Accessor> {
        let shape = match N {
            2 => Type::Vec2,
            3 => Type::Vec3,
            _ => Type::Vec4,
        };
        let layout = Layout::floats(shape, VERTICES);
        self.accessor(root, &floats(values), values.len(), layout)
    }

    /// Adds 16-bit numbers of vertices, normalized or not.
    pub(super) fn vertex_shorts(
        &mut self,
        root: &mut Root,
        values: &[[u16; 4]],
        normalized: bool,
    ) -> Index<Accessor> {
        let parts = values.as_flattened().iter();
        let bytes: Vec<u8> = parts.flat_map(|part| part.to_le_bytes()).collect();
        let layout = Layout {
            component: ComponentType::U16,
            shape: Type::Vec4,
            normalized,
            target: VERTICES,
        };
        self.accessor(root, &bytes, values.len(), layout)
    }

    /// Adds the corners of triangles.
    pub(super) fn triangles(&mut self, root: &mut Root, values: &[[u32; 3]]) -> Index<Accessor> {
        let parts = values.as_flattened().iter();
        let bytes: Vec<u8> = parts.flat_map(|part| part.to_le_bytes()).collect();
        let layout = Layout {
            component: ComponentType::U32,
            shape: Type::Scalar,
            normalized: false,
            target: Some(Target::ElementArrayBuffer),
        };
        self.accessor(root, &bytes, 3 * values.len(), layout)
    }

    /// Adds the matrices of joints.
    pub(super) fn matrices(&mut self, root: &mut Root, values: &[[f32; 16]]) -> Index<Accessor> {
        let layout = Layout::floats(Type::Mat4, None);
        self.accessor(root, &floats(values), values.len(), layout)
    }

    /// Adds the vectors of poses.
    pub(super) fn vectors(&mut self, root: &mut Root, values: &[[f32; 3]]) -> Index<Accessor> {
        let layout = Layout::floats(Type::Vec3, None);
        self.accessor(root, &floats(values), values.len(), layout)
    }

    /// Adds the rotations of poses.
    pub(super) fn quaternions(&mut self, root: &mut Root, values: &[[f32; 4]]) -> Index<Accessor> {
        let layout = Layout::floats(Type::Vec4, None);
        self.accessor(root, &floats(values), values.len(), layout)
    }

    /// Adds the times of `count` poses that are `interval` seconds apart.
    pub(super) fn times(
        &mut self,
        root: &mut Root,
        count: usize,
        interval: f32,
    ) -> Index<Accessor> {
        let times: Vec<f32> = (0..count).map(|pose| pose as f32 * interval).collect();
        self.key_times(root, &times)
    }

    /// Adds times, which rise.
    pub(super) fn key_times(&mut self, root: &mut Root, times: &[f32]) -> Index<Accessor> {
        let bytes: Vec<u8> = times.iter().flat_map(|time| time.to_le_bytes()).collect();
        let layout = Layout::floats(Type::Scalar, None);
        let accessor = self.accessor(root, &bytes, times.len(), layout);
        if let Some(accessor) = root.accessors.get_mut(accessor.value()) {
            accessor.min = Some(json!([times.first().copied().unwrap_or_default()]));
            accessor.max = Some(json!([times.last().copied().unwrap_or_default()]));
        }
        accessor
    }

    /// Adds the keys of an animation: translations or rotations.
    pub(super) fn keys<const N: usize>(
        &mut self,
        root: &mut Root,
        values: &[[f32; N]],
    ) -> Index<Accessor> {
        let shape = if N == 3 { Type::Vec3 } else { Type::Vec4 };
        let layout = Layout::floats(shape, None);
        self.accessor(root, &floats(values), values.len(), layout)
    }

    /// Returns the bytes, described in `root`.
    pub(super) fn finish(self, root: &mut Root) -> io::Result<Binary> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if !self.bytes.is_empty() {
            root.push(GltfBuffer {
                byte_length: USize64::from(self.bytes.len()),
                name: None,
                uri: None,
                extensions: None,
                extras: None,
            });
        }
        Ok(Binary {
            bytes: self.bytes,
            _memory: self.reservations,
        })
    }
}

fn floats<const N: usize>(values: &[[f32; N]]) -> Vec<u8> {
    let parts = values.as_flattened().iter();
    parts.flat_map(|part| part.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_no_negative_zero() {
        let mut root = Root::default();
        let mut buffer = Buffer::new(&|_| Ok(None));
        let values = [[-0.0, 0.0, -1.0], [0.0, -0.0, -0.0]];
        let accessor = buffer.positions(&mut root, &values);
        let accessor = &root.accessors[accessor.value()];
        let edges = [&accessor.min, &accessor.max].map(|edge| edge.as_ref().unwrap().to_string());
        assert_eq!(edges, ["[0.0,0.0,-1.0]", "[0.0,0.0,0.0]"]);
    }
}
