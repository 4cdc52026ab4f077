//! Objects as a file.

use std::collections::HashMap;

use bytes::Bytes;

use crate::pointer::Name;
use crate::tdo::{self, Model, Object, PRIMITIVE_SIZE, VERTEX_SIZE};

/// Offsets of the fields of an object and of a primitive.
const POSITION: usize = 16;
const VERTICES: usize = 36;
const PRIMITIVES: usize = 40;
const SIBLING: usize = 44;
const CHILD: usize = 48;
const COLOR: usize = 0;
const FLAG: usize = 28;

/// Returns a file with other objects: the old one with patched numbers if possible, or
/// else a new one. Fails if the new model is too large, or cannot be read again.
pub(super) fn changed(file: &Bytes, old: &Model, objects: &[Object]) -> Result<Vec<u8>, String> {
    if let Some(patched) = patched(file, old, objects)
        && has(&patched, objects, true)
    {
        return Ok(patched);
    }
    let file = written(objects)?;
    let stored = tdo::parse(&Bytes::copy_from_slice(&file));
    stored.map_err(|incomplete| format!("makes a file that cannot be: {}", incomplete.error))?;
    match has(&file, objects, false) {
        true => Ok(file),
        false => Err("was not stored as written".to_owned()),
    }
}

/// Returns whether a file has these objects.
fn has(file: &[u8], objects: &[Object], with_offsets: bool) -> bool {
    let stored = tdo::parse(&Bytes::copy_from_slice(file));
    let plain = |objects: &[Object]| -> Vec<Object> {
        let mut objects = objects.to_vec();
        for object in &mut objects {
            object.offset *= u32::from(with_offsets);
            for primitive in &mut object.primitives {
                primitive.editor = [0; 2];
            }
        }
        objects
    };
    stored.is_ok_and(|stored| plain(&stored.objects) == plain(objects))
}

/// Patches positions and colors in the old file. Returns `None` if something else
/// changed.
fn patched(file: &[u8], old: &Model, objects: &[Object]) -> Option<Vec<u8>> {
    if old.objects.len() != objects.len() {
        return None;
    }
    let mut bytes = file.to_vec();
    for (old, new) in old.objects.iter().zip(objects) {
        let at = old.offset as usize;
        let is_near = old.vertices.len() == new.vertices.len()
            && old.primitives.len() == new.primitives.len()
            && old.offset == new.offset;
        if !is_near {
            return None;
        }
        put_point(&mut bytes, at + POSITION, new.position)?;
        let [vertices, primitives] = [VERTICES, PRIMITIVES].map(|field| word(file, at + field));
        for (number, &vertex) in new.vertices.iter().enumerate() {
            put_point(&mut bytes, vertices? + VERTEX_SIZE * number, vertex)?;
        }
        for (number, primitive) in new.primitives.iter().enumerate() {
            let at = primitives? + PRIMITIVE_SIZE * number;
            put(&mut bytes, at + COLOR, primitive.color)?;
            put(&mut bytes, at + FLAG, primitive.flag)?;
        }
    }
    Some(bytes)
}

fn word(file: &[u8], at: usize) -> Option<usize> {
    let bytes = file.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes) as usize)
}

fn put(bytes: &mut [u8], at: usize, value: u32) -> Option<()> {
    *bytes.get_mut(at..)?.first_chunk_mut()? = value.to_le_bytes();
    Some(())
}

fn put_point(bytes: &mut [u8], at: usize, point: [i32; 3]) -> Option<()> {
    let parts = (0..).zip(point);
    parts
        .map(|(axis, part)| put(bytes, at + 4 * axis, part.cast_unsigned()))
        .collect()
}

/// A file under construction.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    /// The offsets of names.
    names: HashMap<Vec<u8>, u32>,
}

/// Returns a file of objects, parents first.
fn written(objects: &[Object]) -> Result<Vec<u8>, String> {
    let mut writer = Writer::default();
    // The location of the pointer to the next child of each object.
    let mut next: Vec<usize> = Vec::new();
    let mut next_root = None;
    for object in objects {
        let at = writer.object(object)?;
        let pointer = match object.parent {
            Some(parent) => Some(std::mem::replace(&mut next[parent], at + SIBLING)),
            None => next_root.replace(at + SIBLING),
        };
        if let Some(pointer) = pointer {
            writer.put(pointer, at as u32);
        }
        next.push(at + CHILD);
    }
    Ok(writer.bytes)
}

impl Writer {
    /// Adds an object with its names, vertices and primitives, and returns its offset.
    fn object(&mut self, object: &Object) -> Result<usize, String> {
        let at = self.at()?;
        let counts = [object.vertices.len(), object.primitives.len()];
        let counts = counts.map(|count| count as u32);
        self.words([1, counts[0], counts[1], object.selection.cast_unsigned()]);
        self.words(object.position.map(i32::cast_unsigned));
        self.words([0, object.unknown_32, 0, 0, 0, 0]);
        let name = self.name(&object.name)?;
        self.put(at + 28, name);
        let vertices = self.at()? as u32;
        self.put(at + VERTICES, vertices);
        for &vertex in &object.vertices {
            self.words(vertex.map(i32::cast_unsigned));
        }
        let mut records = Vec::new();
        for primitive in &object.primitives {
            let texture = primitive.texture.as_ref();
            let texture = texture.map_or(Ok(0), |texture| self.name(texture))?;
            let indices = self.at()? as u32;
            let corners = primitive.indices.iter();
            self.bytes
                .extend(corners.flat_map(|index| index.to_le_bytes()));
            self.align();
            let count = primitive.indices.len() as u32;
            let words = [
                primitive.color,
                count,
                primitive.unknown_8,
                indices,
                texture,
                0,
                0,
            ];
            records.extend(words);
            records.push(primitive.flag);
        }
        let primitives = self.at()? as u32;
        self.put(at + PRIMITIVES, primitives);
        self.words(records);
        Ok(at)
    }

    /// Returns the offset of a name, which is added only once.
    fn name(&mut self, name: &Name) -> Result<u32, String> {
        if let Some(&known) = self.names.get(name.bytes()) {
            return Ok(known);
        }
        let at = self.at()? as u32;
        self.bytes.extend_from_slice(name.bytes());
        self.bytes.push(0);
        self.align();
        self.names.insert(name.bytes().to_vec(), at);
        Ok(at)
    }

    /// Returns the offset for the next addition.
    fn at(&self) -> Result<usize, String> {
        let at = self.bytes.len();
        let fits = u32::try_from(at).is_ok();
        fits.then_some(at)
            .ok_or_else(|| "makes a file of more than 4 GiB".to_owned())
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn words(&mut self, words: impl IntoIterator<Item = u32>) {
        self.bytes
            .extend(words.into_iter().flat_map(u32::to_le_bytes));
    }

    fn put(&mut self, at: usize, value: u32) {
        if let Some(field) = self.bytes.get_mut(at..at + 4) {
            field.copy_from_slice(&value.to_le_bytes());
        }
    }
}
