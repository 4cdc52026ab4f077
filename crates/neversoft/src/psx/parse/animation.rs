//! Animations: keyframes of characters, frames of sprites (FORMATS, PSX 6).

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{self as record, FixedSize, Record};
use zerocopy::little_endian::I16;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use super::compressed::{self, STREAMS};
use super::limits::Budget;
use hpimount_assets::parse::count::count;
use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// An uncompressed keyframe animation.
#[derive(Debug, Clone, GetSize)]
pub struct AnimationV1 {
    /// Offset of its frames in the chunk.
    pub offset: u32,
    /// Number of frames that are shown.
    pub frames: u16,
    /// Number of interpolated frames between two stored ones.
    pub tween: u16,
    /// The stored poses of all objects: all objects in the first frame, then in the
    /// second, and so on. A slice of the file, empty if the chunk is damaged.
    #[get_size(ignore)]
    poses: Bytes,
}

/// The pose of an object in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Transform {
    /// Rotation, row by row, with 12 fractional bits.
    pub matrix: [[i16; 3]; 3],
    /// Translation relative to the character's origin; see
    /// [`Psx::vertex_scale`] for its unit.
    ///
    /// [`Psx::vertex_scale`]: super::Psx::vertex_scale
    pub translation: [i16; 3],
}

/// A compressed keyframe animation.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct AnimationV2 {
    /// Offset of its data in the chunk.
    pub offset: u32,
    /// Number of frames.
    pub frames: u32,
    /// Offset of the chunk's data in the file.
    chunk_offset: u64,
    /// The chunk's data from the streams on, a slice of the file.
    #[get_size(ignore)]
    streams: Bytes,
}

/// The pose of an object in a frame of a compressed animation.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct AngleTransform {
    /// Angles about x, y and z, where 4096 is a full turn. They rotate the object in
    /// the space of the whole character, about z first, then x, then y.
    pub angles: [i16; 3],
    /// Translation in the space of the parent; see [`Psx::vertex_scale`] for
    /// its unit.
    ///
    /// [`Psx::vertex_scale`]: super::Psx::vertex_scale
    pub translation: [i16; 3],
}

/// A sprite animation, which consists of textures.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct SpriteAnimation {
    /// Name up to its first NUL. Games ignore case.
    pub name: String,
    /// Offset of its frames in the file.
    pub frames_offset: usize,
    /// Frames.
    pub frames: Vec<SpriteFrame>,
}

/// A frame of a sprite.
#[derive(Debug, Clone, Default, PartialEq, Eq, GetSize, Record)]
#[record(table = "../../docs/formats/psx.md")]
pub struct SpriteFrame {
    /// Offset to the right in pixels.
    pub offx: i8,
    /// Offset downwards in pixels.
    pub offy: i8,
    /// Width in pixels.
    pub width: u8,
    /// Height in pixels.
    pub height: u8,
    /// Index into the texture ids.
    pub texture: u32,
}

/// The 24-byte record of an object's pose.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct TransformRecord {
    matrix: [[I16; 3]; 3],
    translation: [I16; 3],
}

impl AnimationV1 {
    /// Returns the number of stored frames.
    pub fn stored_frames(&self) -> u16 {
        match self.frames.checked_sub(1) {
            Some(last) => (u32::from(last) / (u32::from(self.tween) + 1) + 1) as u16,
            None => 0,
        }
    }

    /// Returns the number of poses, one per object and stored frame.
    pub fn pose_count(&self) -> usize {
        self.poses.len() / size_of::<TransformRecord>()
    }

    /// Returns the pose with number `index`: of an object in a frame.
    pub fn pose(&self, index: usize) -> Option<Transform> {
        let start = index.checked_mul(size_of::<TransformRecord>())?;
        let (record, _) = TransformRecord::ref_from_prefix(self.poses.get(start..)?).ok()?;
        Some(Transform {
            matrix: record.matrix.map(|row| row.map(I16::get)),
            translation: record.translation.map(I16::get),
        })
    }

    fn read_poses(&mut self, chunk: &Cursor, file: &Bytes, object_count: usize) -> Result<()> {
        let mut cursor = chunk.clone();
        cursor.seek(chunk.offset() + u64::from(self.offset), "frames")?;
        let count = u64::from(self.stored_frames()).saturating_mul(object_count as u64);
        let count = cursor.check_count(count, size_of::<TransformRecord>(), "frames")?;
        let records = cursor.take(count * size_of::<TransformRecord>(), "frames")?;
        self.poses = file.slice_ref(records);
        Ok(())
    }
}

impl AnimationV2 {
    /// Returns the number of poses of `objects` objects, one per object and
    /// frame.
    pub fn pose_count(&self, objects: usize) -> usize {
        (self.frames as usize).saturating_mul(objects)
    }

    fn cursor(&self) -> Cursor<'_> {
        let base = self.chunk_offset + u64::from(self.offset);
        Cursor::new(&self.streams, base, Endian::Little)
    }

    /// Returns the total length of the streams of `objects` objects in bytes, without
    /// decoding them.
    ///
    /// # Errors
    /// Returns an error if they do not fit into the chunk.
    pub fn streams_size(&self, objects: usize) -> Result<usize> {
        let mut cursor = self.cursor();
        if self.frames > 0 {
            for _ in 0..objects.saturating_mul(STREAMS) {
                compressed::skip(&mut cursor, self.frames as usize)?;
            }
        }
        Ok(self.streams.len() - cursor.remaining())
    }

    /// Decodes the poses of `objects` objects: all objects in the first frame, then in
    /// the second, and so on.
    ///
    /// # Errors
    /// Returns an error if the streams do not fit into the chunk, and
    /// [`Error::Unsupported`] if there are more than `max_poses` poses.
    pub fn decode(&self, objects: usize, max_poses: usize) -> Result<Vec<AngleTransform>> {
        let count = self.pose_count(objects);
        if count > max_poses {
            let text = format!("has {count} poses, more than {max_poses}");
            return Err(Error::Unsupported(text));
        }
        let mut poses = vec![AngleTransform::default(); count];
        let mut cursor = self.cursor();
        if count == 0 {
            return Ok(poses);
        }
        for object in 0..objects {
            for stream in 0..STREAMS {
                let mut own = poses.iter_mut().skip(object).step_by(objects);
                compressed::read(&mut cursor, self.frames as usize, |value| {
                    if let Some(pose) = own.next() {
                        match stream {
                            0..3 => pose.angles[stream] = value,
                            _ => pose.translation[stream - 3] = value,
                        }
                    }
                })?;
            }
        }
        Ok(poses)
    }
}

/// Reads a 0x2A chunk: the table, then each animation's frames.
pub(super) fn read_v1(
    data: &mut Cursor,
    file: &Bytes,
    object_count: usize,
    list: &mut Vec<AnimationV1>,
) -> Result<()> {
    let chunk = data.clone();
    let mut budget = Budget::new(data.remaining() as u64);
    let animations = count(data, 8, "animations")?;
    let table = data.offset();
    for _ in 0..animations {
        list.push(AnimationV1 {
            offset: data.u32("animation's offset")?,
            frames: data.u16("animation's frames")?,
            tween: data.u16("animation's tween")?,
            poses: Bytes::new(),
        });
    }
    for (index, animation) in list.iter_mut().enumerate() {
        animation
            .read_poses(&chunk, file, object_count)
            .and_then(|()| {
                budget.spend(
                    animation.poses.len() as u64,
                    table + 8 * index as u64,
                    "offset",
                )
            })
            .map_err(|error| error.within(format_args!("animation {index}")))?;
    }
    Ok(())
}

/// Reads the table of a 0x2C chunk, and finds the streams.
pub(super) fn read_v2(data: &mut Cursor, file: &Bytes, list: &mut Vec<AnimationV2>) -> Result<()> {
    let chunk = data.clone();
    for _ in 0..count(data, 8, "animations")? {
        let stored_at = data.offset();
        let offset = data.u32("animation's offset")?;
        let frames = data.u32("animation's frames")?;
        let target = chunk.offset() + u64::from(offset);
        let mut streams = chunk.follow(target, stored_at, "animation's offset")?;
        let streams = streams.take(streams.remaining(), "streams")?;
        list.push(AnimationV2 {
            offset,
            frames,
            chunk_offset: chunk.offset(),
            streams: file.slice_ref(streams),
        });
    }
    Ok(())
}

/// Reads a 0x45 chunk.
pub(super) fn read_sprites(data: &mut Cursor, list: &mut Vec<SpriteAnimation>) -> Result<()> {
    for _ in 0..count(data, 12, "sprites")? {
        let name = data.take(8, "sprite's name")?;
        let frames = count(data, SpriteFrame::SIZE, "sprite's frames")?;
        let frames_offset = data.offset() as usize;
        let frames = (0..frames).map(|_| record::read(data));
        let frames = frames.collect::<Result<_>>()?;
        list.push(SpriteAnimation {
            name: until_nul(name),
            frames_offset,
            frames,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::psx::{shorts, words};

    /// Returns the animations of a 0x2A chunk for one object.
    fn read(data: &[u8]) -> (Vec<AnimationV1>, Result<()>) {
        let mut list = Vec::new();
        let data = Bytes::copy_from_slice(data);
        let mut cursor = Cursor::new(&data, 0x200, Endian::Little);
        let result = read_v1(&mut cursor, &data, 1, &mut list);
        (list, result)
    }

    fn pose(x: i16) -> Vec<u8> {
        shorts(&[4096, 0, 0, 0, 4096, 0, 0, 0, 4096, x, -32, 0])
    }

    /// Returns an entry of the table. `tween` is the number of interpolated frames
    /// between two stored ones.
    fn entry(offset: u32, frames: u32, tween: u32) -> Vec<u8> {
        words(&[offset, frames | tween << 16])
    }

    #[test]
    fn interpolated_frames_are_not_stored() {
        let stored = |frames, tween| {
            let animation = AnimationV1 {
                offset: 0,
                frames,
                tween,
                poses: Bytes::new(),
            };
            animation.stored_frames()
        };
        assert_eq!(stored(0, 0), 0);
        assert_eq!(stored(1, 0), 1);
        assert_eq!(stored(30, 0), 30);
        assert_eq!(stored(40, 2), 14);
        assert_eq!(stored(u16::MAX, u16::MAX), 1);
    }

    #[test]
    fn keyframes_are_found_by_their_offset_in_the_chunk() {
        let table = [words(&[2]), entry(44, 3, 1), entry(20, 1, 0)].concat();
        let (list, result) = read(&[table, pose(1), pose(2), pose(3)].concat());
        result.unwrap();
        let x = |index: usize| -> Vec<i16> {
            let poses = (0..list[index].pose_count()).map(|pose| list[index].pose(pose));
            poses.map(|pose| pose.unwrap().translation[0]).collect()
        };
        assert_eq!((x(0), x(1)), (vec![2, 3], vec![1]));
        assert_eq!(list[0].pose(0).unwrap().matrix[1], [0, 4096, 0]);
    }

    #[test]
    fn frames_past_the_chunk_are_an_error_and_the_table_is_kept() {
        let table = [words(&[2]), entry(20, 2, 0), entry(20, 1, 0)].concat();
        let (list, result) = read(&[table, pose(1)].concat());
        assert_eq!(
            result.unwrap_err().to_string(),
            "animation 0: frames at 0x214: 2 items of 24 bytes do not fit into 24 bytes"
        );
        assert_eq!(list.len(), 2);
        let (_, result) = read(&[words(&[1]), entry(0x1000, 1, 0)].concat());
        assert!(result.is_err());
    }

    #[test]
    fn animations_may_share_frames_within_a_limit() {
        let shared = |count: usize| {
            let at = 4 + 8 * count as u32;
            let table = [words(&[count as u32]), entry(at, 8, 0).repeat(count)].concat();
            read(&[table, pose(1).repeat(8)].concat()).1
        };
        shared(2).unwrap();
        let error = shared(4).unwrap_err().to_string();
        assert!(
            error.starts_with("animation 2: offset at 0x214: "),
            "{error}"
        );
    }

    /// Returns the animations of a 0x2C chunk.
    fn read_compressed(data: &[u8]) -> (Vec<AnimationV2>, Result<()>) {
        let data = Bytes::copy_from_slice(data);
        let mut list = Vec::new();
        let mut cursor = Cursor::new(&data, 0x200, Endian::Little);
        let result = read_v2(&mut cursor, &data, &mut list);
        (list, result)
    }

    #[test]
    fn compressed_poses_are_six_streams_for_each_object() {
        let constant = |value: u8| vec![0x0E, value, 0];
        let first = [1, 2, 3, 4, 5, 6].map(constant).concat();
        // The second object moves along x, and is still otherwise.
        let second = [vec![0x0F; 3], vec![0x00, 7, 0, 9, 0], vec![0x0F; 2]].concat();
        let table = words(&[1, 12, 2]);
        let (list, result) = read_compressed(&[table, first, second].concat());
        result.unwrap();
        let poses = list[0].decode(2, 4).unwrap();
        let still = AngleTransform {
            angles: [1, 2, 3],
            translation: [4, 5, 6],
        };
        let moved = |x| AngleTransform {
            angles: [0; 3],
            translation: [x, 0, 0],
        };
        assert_eq!(poses, [still, moved(7), still, moved(9)]);
        assert_eq!(list[0].streams_size(2).unwrap(), 18 + 10);
        assert!(list[0].decode(2, 3).is_err());
        assert_eq!(
            list[0].streams_size(3).unwrap_err().to_string(),
            "stream's header at 0x228: needs 1 bytes, 0 are left"
        );
    }

    #[test]
    fn a_compressed_animation_of_no_frames_has_no_streams() {
        let (list, result) = read_compressed(&words(&[1, 12, 0]));
        result.unwrap();
        assert_eq!(list[0].streams_size(9).unwrap(), 0);
        assert!(list[0].decode(9, 0).unwrap().is_empty());
        let (list, result) = read_compressed(&words(&[1, 13, 1]));
        assert!(list.is_empty());
        let error = result.unwrap_err().to_string();
        assert!(
            error.starts_with("animation's offset at 0x204: points to 0x20d"),
            "{error}"
        );
    }

    #[test]
    fn sprite_names_fill_their_field_or_end_at_a_nul() {
        let mut data = words(&[2]);
        data.extend(b"FIREBALL");
        data.extend([words(&[1]), vec![0xFC, 4, 8, 16], words(&[9])].concat());
        data.extend(b"smoke\0xx");
        data.extend(words(&[0]));
        let mut list = Vec::new();
        read_sprites(&mut Cursor::new(&data, 0, Endian::Little), &mut list).unwrap();
        let names: Vec<_> = list.iter().map(|sprite| sprite.name.as_str()).collect();
        assert_eq!(names, ["FIREBALL", "smoke"]);
        let frame = &list[0].frames[0];
        assert_eq!((frame.offx, frame.offy, frame.texture), (-4, 4, 9));
        assert_eq!((frame.width, frame.height), (8, 16));
    }
}
