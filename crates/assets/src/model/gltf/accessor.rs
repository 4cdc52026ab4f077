//! Numbers of a GLB file, which are checked against its buffer.

use gltf_json::accessor::{ComponentType, Type};
use gltf_json::buffer::View;
use gltf_json::validation::Checked::Valid;
use gltf_json::{Accessor, Index, Root};

/// The numbers of a file.
pub(super) struct Numbers<'a> {
    pub(super) root: &'a Root,
    pub(super) binary: &'a [u8],
}

/// Some numbers that exist.
struct Stored<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
    kind: ComponentType,
    normalized: bool,
}

impl<'a> Numbers<'a> {
    /// Returns the number of an accessor's elements.
    pub(super) fn count(&self, index: Index<Accessor>) -> Result<usize, String> {
        self.stored(index).map(|stored| stored.count)
    }

    /// Returns the first `count` elements of `N` finite floats each. Normalized
    /// integers are scaled.
    pub(super) fn floats<const N: usize>(
        &self,
        index: Index<Accessor>,
        count: usize,
    ) -> Result<Vec<[f32; N]>, String> {
        let stored = self.of_shape(index, shape::<N>(), count)?;
        if stored.kind != ComponentType::F32 && !stored.normalized {
            return Err(format!("accessor {} has no fractions", index.value()));
        }
        let values = stored.elements().map(|element| {
            let size = stored.kind.size();
            std::array::from_fn(|part| fraction(&element[part * size..], stored.kind))
        });
        let values: Vec<[f32; N]> = values.collect();
        match values.as_flattened().iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(format!(
                "accessor {} has numbers that are not finite",
                index.value()
            )),
        }
    }

    /// Returns the first `count` elements of `N` unsigned integers each.
    pub(super) fn whole<const N: usize>(
        &self,
        index: Index<Accessor>,
        count: usize,
    ) -> Result<Vec<[u32; N]>, String> {
        let stored = self.of_shape(index, shape::<N>(), count)?;
        let size = stored.kind.size();
        if !matches!(
            stored.kind,
            ComponentType::U8 | ComponentType::U16 | ComponentType::U32
        ) {
            return Err(format!("accessor {} has no indices", index.value()));
        }
        let value = |bytes: &[u8]| {
            let bytes = bytes.iter().take(size).rev();
            bytes.fold(0, |value, &byte| value << 8 | u32::from(byte))
        };
        let values = stored.elements();
        Ok(values
            .map(|element| std::array::from_fn(|part| value(&element[part * size..])))
            .collect())
    }

    /// Returns the first `count` colors as 8-bit sRGB; without an alpha channel they
    /// are opaque.
    pub(super) fn colors(
        &self,
        index: Index<Accessor>,
        count: usize,
    ) -> Result<Vec<[u8; 4]>, String> {
        let byte = |part: f32| (part.clamp(0.0, 1.0) * 255.0).round() as u8;
        let srgb = |part: f32| byte(super::super::math::srgb(part.clamp(0.0, 1.0)));
        if self.accessor(index)?.type_ == Valid(Type::Vec3) {
            let colors = self.floats::<3>(index, count)?.into_iter();
            return Ok(colors
                .map(|[r, g, b]| [srgb(r), srgb(g), srgb(b), u8::MAX])
                .collect());
        }
        let colors = self.floats::<4>(index, count)?.into_iter();
        Ok(colors
            .map(|[r, g, b, alpha]| [srgb(r), srgb(g), srgb(b), byte(alpha)])
            .collect())
    }

    fn accessor(&self, index: Index<Accessor>) -> Result<&'a Accessor, String> {
        let found = self.root.accessors.get(index.value());
        found.ok_or_else(|| format!("accessor {} is missing", index.value()))
    }

    /// Finds the first `count` elements of an accessor, which must have this type.
    fn of_shape(
        &self,
        index: Index<Accessor>,
        shape: Type,
        count: usize,
    ) -> Result<Stored<'a>, String> {
        let number = index.value();
        let stored = self.stored(index)?;
        match self.accessor(index)?.type_ {
            Valid(found) if found != shape => {
                Err(format!("accessor {number} is {found:?}, must be {shape:?}"))
            }
            _ if stored.count < count => Err(format!(
                "accessor {number} has {} elements, must have {count}",
                stored.count
            )),
            _ => Ok(Stored { count, ..stored }),
        }
    }

    /// Finds the elements of an accessor.
    fn stored(&self, index: Index<Accessor>) -> Result<Stored<'a>, String> {
        let number = index.value();
        let accessor = self.accessor(index)?;
        let (Valid(kind), Valid(shape)) = (accessor.component_type, accessor.type_) else {
            return Err(format!("accessor {number} is of an unknown type"));
        };
        if accessor.sparse.is_some() {
            return Err(format!("accessor {number} is sparse, which is not read"));
        }
        let view = accessor.buffer_view;
        let view = view.ok_or_else(|| format!("accessor {number} has no buffer"))?;
        let bytes = self.view(view)?;
        let element = shape.multiplicity() * kind.0.size();
        let view = &self.root.buffer_views[view.value()];
        let stride = view.byte_stride.map_or(element, |stride| stride.0);
        if stride < element {
            return Err(format!("accessor {number} has elements that overlap"));
        }
        let count = usize::try_from(accessor.count.0).map_err(|_| past_its_buffer(index))?;
        let offset = accessor.byte_offset.unwrap_or_default().0;
        let start = usize::try_from(offset).ok();
        let bytes = start.and_then(|start| bytes.get(start..));
        let needed = match count {
            0 => Some(0),
            count => stride
                .checked_mul(count - 1)
                .and_then(|all| all.checked_add(element)),
        };
        match (bytes, needed) {
            (Some(bytes), Some(needed)) if needed <= bytes.len() => Ok(Stored {
                bytes: &bytes[..needed],
                stride,
                count,
                kind: kind.0,
                normalized: accessor.normalized,
            }),
            _ => Err(past_its_buffer(index)),
        }
    }

    /// Returns the bytes of a buffer view.
    fn view(&self, index: Index<View>) -> Result<&'a [u8], String> {
        let number = index.value();
        let view = self.root.buffer_views.get(number);
        let view = view.ok_or_else(|| format!("buffer view {number} is missing"))?;
        if view.buffer.value() != 0 {
            return Err(format!("buffer view {number} is not in the file itself"));
        }
        let range = || {
            let start = usize::try_from(view.byte_offset.unwrap_or_default().0).ok()?;
            let end = start.checked_add(usize::try_from(view.byte_length.0).ok()?)?;
            self.binary.get(start..end)
        };
        range().ok_or_else(|| format!("buffer view {number} is past its buffer"))
    }
}

impl<'a> Stored<'a> {
    fn elements(&self) -> impl Iterator<Item = &'a [u8]> {
        let (bytes, stride) = (self.bytes, self.stride);
        (0..self.count).map(move |number| &bytes[number * stride..])
    }
}

fn past_its_buffer(index: Index<Accessor>) -> String {
    format!("accessor {} is past its buffer", index.value())
}

/// Returns the type of elements with `N` numbers.
const fn shape<const N: usize>() -> Type {
    match N {
        1 => Type::Scalar,
        2 => Type::Vec2,
        3 => Type::Vec3,
        4 => Type::Vec4,
        _ => Type::Mat4,
    }
}

/// Returns a float, or an integer scaled to the range of its type.
fn fraction(bytes: &[u8], kind: ComponentType) -> f32 {
    match kind {
        ComponentType::I8 => (f32::from(bytes[0].cast_signed()) / 127.0).max(-1.0),
        ComponentType::U8 => f32::from(bytes[0]) / 255.0,
        ComponentType::I16 => {
            (f32::from(i16::from_le_bytes([bytes[0], bytes[1]])) / 32767.0).max(-1.0)
        }
        ComponentType::U16 => f32::from(u16::from_le_bytes([bytes[0], bytes[1]])) / 65535.0,
        ComponentType::U32 => {
            let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            (f64::from(word) / f64::from(u32::MAX)) as f32
        }
        ComponentType::F32 => f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
    }
}
