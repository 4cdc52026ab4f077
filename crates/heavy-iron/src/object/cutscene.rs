//! Contents of cutscenes as files, and their subtitles.

use bytes::Bytes;
use hpimount_record::Value;

use crate::object::Object;
use crate::record::{self, Record, layouts};
use hpimount_assets::view::ViewFile;
use hpimount_assets::view::page::Rows;
use hpimount_containers::io::Endian;
use hpimount_containers::text::windows_1252;

/// Maximum number of examined data entries. Cutscenes of the games have a few hundred.
const MAX_FILES: usize = 1 << 12;

/// Maximum total length of all subtitles. The games have at most 64 KiB.
const MAX_TEXTS: usize = 1 << 20;

/// Alignment of the data in a chunk of a cutscene.
const ALIGNMENT: usize = 16;

layouts! {
    /// The header of a chunk, which holds the data of one time span.
    CHUNK { start_time: F32, end_time: F32, count: U32, number: U32 }

    /// The beginning of data in a chunk.
    DATA { data_type: U32, asset: Id, size: U32, zero: U32 }
}

/// The kinds of data: model, animation, and camera path.
pub(crate) const MODEL: u32 = 1;
pub(crate) const ANIMATION: u32 = 2;
pub(crate) const CAMERA: u32 = 3;

/// Mask of the kind; the other bits are flags of a model.
const KIND: u32 = 0x0FFF_FFFF;

/// Data of a cutscene.
pub(crate) struct Data {
    /// The number of the time span and its start in seconds; `None` at the beginning of
    /// the cutscene.
    pub(crate) span: Option<(usize, f32)>,
    /// Their number there.
    pub(crate) index: usize,
    /// Kind of the data.
    pub(crate) kind: u32,
    /// The id of their asset.
    pub(crate) id: u32,
    /// The data.
    pub(crate) bytes: Bytes,
}

impl Data {
    /// Returns the data of a record, or `None` if they are missing.
    fn new(
        span: Option<(usize, f32)>,
        index: usize,
        record: &Record,
        bytes: &Bytes,
        (start, size): (usize, usize),
    ) -> Option<Self> {
        let end = start.checked_add(size).filter(|&end| end <= bytes.len())?;
        let number = |name| record.number(name).unwrap_or_default();
        Some(Self {
            span,
            index,
            kind: number("data_type") & KIND,
            id: number("asset"),
            bytes: bytes.slice(start..end),
        })
    }

    /// Returns the file for the data: in `data` at the beginning of the cutscene, and
    /// in `chunk_NNN` for each time span.
    pub(crate) fn file(&self) -> ViewFile {
        let folder = match self.span {
            Some((span, _)) => format!("chunk_{span:03}"),
            None => "data".to_owned(),
        };
        let kind = match self.kind {
            MODEL => "model.dff",
            ANIMATION => "animation.bin",
            CAMERA => "camera.bin",
            4 => "morph.bin",
            5 => "sound.bin",
            6 => "jaw_model.dff",
            7 => "jaw_animation.bin",
            _ => "other.bin",
        };
        ViewFile::inside(folder, format!("{:02}_{:08X}_{kind}", self.index, self.id))
    }
}

/// Returns all available data of a cutscene.
pub(crate) fn data(object: &Object, bytes: &Bytes, endian: Endian) -> Vec<Data> {
    let mut all = Vec::new();
    // Chunks may overlap.
    let mut left = MAX_FILES;
    for (index, data) in list(object, "data").take(left).enumerate() {
        let number = |name| data.number(name).unwrap_or_default() as usize;
        let place = (number("file_offset"), number("chunk_size"));
        all.extend(Data::new(None, index, &data, bytes, place));
        left -= 1;
    }
    for (index, chunk) in list(object, "time_offsets").enumerate().take(left) {
        let offset = chunk.number("offset").unwrap_or_default() as usize;
        all.extend(of_chunk(index, bytes, (offset, endian), &mut left));
    }
    all
}

/// Returns the available data of the chunk at an offset.
fn of_chunk(
    span: usize,
    bytes: &Bytes,
    (offset, endian): (usize, Endian),
    left: &mut usize,
) -> Vec<Data> {
    let at = |layout, offset: usize| {
        let rest = bytes.slice(offset.min(bytes.len())..);
        Some(Record::new(layout, endian, &rest)).filter(Record::is_whole)
    };
    let mut all = Vec::new();
    let Some(head) = at(CHUNK, offset) else {
        return all;
    };
    let start_time = match head.get("start_time") {
        Some(record::Value::Float(seconds)) => seconds,
        _ => 0.0,
    };
    let mut next = offset + head.bytes().len();
    for index in 0..head.number("count").unwrap_or_default() as usize {
        let Some(data) = at(DATA, next).filter(|_| *left > 0) else {
            break;
        };
        *left -= 1;
        let start = next + data.bytes().len();
        let size = data.number("size").unwrap_or_default() as usize;
        let span = Some((span, start_time));
        all.extend(Data::new(span, index, &data, bytes, (start, size)));
        let length = size.checked_next_multiple_of(ALIGNMENT);
        next = start.saturating_add(length.unwrap_or(usize::MAX));
    }
    all
}

fn list<'a>(object: &'a Object, name: &str) -> impl Iterator<Item = Record> + 'a {
    let mut lists = object.lists.iter();
    let found = lists.find(|(known, _)| *known == name);
    found.into_iter().flat_map(|(_, rows)| rows.iter())
}

/// Returns the subtitles with times in seconds.
pub(crate) fn subtitles(object: &Object) -> Rows<'_> {
    let all = match object.field("text_bytes").and_then(record::Value::unsigned) {
        Some(length) => &object.rest[..object.rest.len().min(length as usize)],
        None => &[],
    };
    // Lines may have the same text.
    let mut left = MAX_TEXTS;
    let rows = list(object, "lines").map(move |line| {
        let offset = line.number("text_offset").unwrap_or_default() as usize;
        let text = all.get(offset..).unwrap_or_default();
        // Truncated before the slow search for its end.
        let text = &text[..text.len().min(left)];
        let end = text.iter().position(|&byte| byte == 0);
        let text = &text[..end.unwrap_or(text.len())];
        left -= text.len();
        let time = |name| match line.get(name) {
            Some(record::Value::Float(seconds)) => Value::from(seconds),
            _ => Value::Null,
        };
        let text = windows_1252(text).into_owned().into();
        [time("start_time"), time("stop_time"), text]
    });
    Rows::new(["start", "stop", "text"], rows)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::object::parse;
    use crate::{Facts, Game, Platform};

    /// Returns subtitles with lines at these offsets.
    fn of(offsets: &[u32], length: u16, texts: &[u8]) -> Object {
        let mut bytes = vec![0; 8];
        bytes.extend((offsets.len() as u16).to_be_bytes());
        bytes.extend(length.to_be_bytes());
        for offset in offsets {
            bytes.extend([0; 8]);
            bytes.extend(offset.to_be_bytes());
        }
        bytes.extend(texts);
        let facts = Facts::new(Platform::GameCube, Game::RatProto);
        parse(&bytes.into(), &facts, *b"SUBT").unwrap()
    }

    fn texts(object: &Object) -> Vec<String> {
        let rows = subtitles(object).rows;
        rows.map(|row| row[2].to_string()).collect()
    }

    #[test]
    fn texts_of_subtitles_end_where_all_do() {
        let object = of(&[0, 3, 3, 9], 6, b"ab\0cdefg");
        assert_eq!(texts(&object), ["ab", "cde", "cde", ""]);
    }

    #[test]
    fn lines_without_texts_take_no_time() {
        let object = of(&[0; 65_535], 65_535, &[b'a'; 65_535]);
        let start = Instant::now();
        let lengths = texts(&object).into_iter().map(|text| text.len());
        assert_eq!(lengths.sum::<usize>(), MAX_TEXTS);
        // Searching the end of each text took half a minute.
        assert!(start.elapsed() < Duration::from_secs(3));
    }

    #[test]
    fn lines_with_one_text_have_limited_texts_together() {
        let object = of(&[0; 4000], 60_000, &[b'a'; 60_000]);
        let texts = texts(&object);
        let length: usize = texts.iter().map(String::len).sum();
        assert_eq!((texts.len(), texts[0].len()), (4000, 60_000));
        assert!(length <= 1 << 20, "{length}");
    }
}
