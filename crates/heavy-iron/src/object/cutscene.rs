//! What cutscenes contain, as files, and their subtitles.

use bytes::Bytes;
use hpimount_record::Value;

use crate::object::Object;
use crate::record::{self, Layout, Record, layout};
use hpimount_assets::view::ViewFile;
use hpimount_assets::view::page::Rows;
use hpimount_containers::io::Endian;
use hpimount_containers::text::windows_1252;

/// Maximum number of data that are looked at. Cutscenes of the games have some hundred.
const MAX_FILES: usize = 1 << 12;

/// Maximum length of the texts of all subtitles together. The games have at most 64 KiB.
const MAX_TEXTS: usize = 1 << 20;

/// Data in a chunk of a cutscene begin at multiples of this.
const ALIGNMENT: usize = 16;

/// The beginning of a chunk, whose data are of one span of time.
const CHUNK: Layout = layout!(start_time: F32, end_time: F32, count: U32, number: U32);

/// The beginning of data in a chunk.
const DATA: Layout = layout!(data_type: U32, asset: Id, size: U32, zero: U32);

/// Returns a file for all data of a cutscene: the data at its beginning in `data`, and the
/// data of each span of time in `chunks`.
pub(super) fn files(object: &Object, bytes: &Bytes, endian: Endian) -> Vec<(ViewFile, Bytes)> {
    let mut files = Vec::new();
    // Chunks may overlap.
    let mut left = MAX_FILES;
    for (index, data) in list(object, "data").take(left).enumerate() {
        let number = |name| data.number(name).unwrap_or_default() as usize;
        let place = (number("file_offset"), number("chunk_size"));
        files.extend(file("data".to_owned(), index, &data, bytes, place));
        left -= 1;
    }
    for (index, chunk) in list(object, "time_offsets").enumerate().take(left) {
        let offset = chunk.number("offset").unwrap_or_default() as usize;
        let folder = format!("chunks/{index:03}");
        files.extend(chunk_files(&folder, bytes, (offset, endian), &mut left));
    }
    files
}

/// Returns the data of the chunk at an offset, as far as they are there.
fn chunk_files(
    folder: &str,
    bytes: &Bytes,
    (offset, endian): (usize, Endian),
    left: &mut usize,
) -> Vec<(ViewFile, Bytes)> {
    let at = |layout, offset: usize| {
        let rest = bytes.slice(offset.min(bytes.len())..);
        Some(Record::new(layout, endian, &rest)).filter(Record::is_whole)
    };
    let mut files = Vec::new();
    let Some(head) = at(CHUNK, offset) else {
        return files;
    };
    let mut next = offset + head.bytes().len();
    for index in 0..head.number("count").unwrap_or_default() as usize {
        let Some(data) = at(DATA, next).filter(|_| *left > 0) else {
            break;
        };
        *left -= 1;
        let start = next + data.bytes().len();
        let size = data.number("size").unwrap_or_default() as usize;
        files.extend(file(folder.to_owned(), index, &data, bytes, (start, size)));
        let length = size.checked_next_multiple_of(ALIGNMENT);
        next = start.saturating_add(length.unwrap_or(usize::MAX));
    }
    files
}

/// Returns the file of data with their kind and the id of their asset.
fn file(
    folder: String,
    index: usize,
    data: &Record,
    bytes: &Bytes,
    (start, size): (usize, usize),
) -> Option<(ViewFile, Bytes)> {
    let kind = match data.number("data_type") {
        Some(1) => "model.dff",
        Some(2) => "animation.bin",
        Some(3) => "camera.bin",
        Some(4) => "morph.bin",
        Some(5) => "sound.bin",
        Some(6) => "jaw_model.dff",
        Some(7) => "jaw_animation.bin",
        _ => "other.bin",
    };
    let id = data.number("asset").unwrap_or_default();
    let end = start.checked_add(size).filter(|&end| end <= bytes.len())?;
    let name = format!("{index:02}_{id:08X}_{kind}");
    Some((ViewFile::inside(folder, name), bytes.slice(start..end)))
}

fn list<'a>(object: &'a Object, name: &str) -> impl Iterator<Item = Record> + 'a {
    let mut lists = object.lists.iter();
    let found = lists.find(|(known, _)| *known == name);
    found.into_iter().flat_map(|(_, rows)| rows.iter())
}

/// Returns the subtitles with their times in seconds.
pub(super) fn subtitles(object: &Object) -> Rows<'_> {
    let all = match object.field("text_bytes").and_then(record::Value::unsigned) {
        Some(length) => &object.rest[..object.rest.len().min(length as usize)],
        None => &[],
    };
    // Lines may have the same text.
    let mut left = MAX_TEXTS;
    let rows = list(object, "lines").map(move |line| {
        let offset = line.number("text_offset").unwrap_or_default() as usize;
        let text = all.get(offset..).unwrap_or_default();
        // Limited before its end is searched, which takes time.
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
        // It took half a minute to look for the end of each text.
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
