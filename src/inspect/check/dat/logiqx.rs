//! Logiqx XML: `<datafile>` with a `<game>` or `<machine>` for each title and a
//! `<rom>` for each of its files.

use std::io::BufRead;

use hpimount_record::shortened;
use quick_xml::encoding::Decoder;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::list::{Dat, Rom};

/// Maximum length of a tag in bytes.
const MAX_TAG: usize = 64 << 10;

/// Adds the contents of a list to `dat`.
///
/// # Errors
/// Returns a message with the position and the cause.
pub(super) fn read(list: impl BufRead, dat: &mut Dat) -> Result<(), String> {
    let mut reader = Reader::from_reader(list);
    let mut is_list = false;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer);
        let at = reader.buffer_position();
        let wrong = |problem: &dyn std::fmt::Display| format!("at byte {at}: {problem}");
        let event = event.map_err(|error| wrong(&cause(error)))?;
        if matches!(event, Event::Eof) {
            break;
        }
        let (Event::Start(tag) | Event::Empty(tag)) = event else {
            continue;
        };
        is_list |= tag.name().as_ref() == b"datafile";
        let tag = Tag {
            tag,
            decoder: reader.decoder(),
        };
        take(&tag, dat).map_err(|problem| wrong(&problem))?;
    }
    match is_list {
        true => Ok(()),
        false => Err("is not a list in Logiqx XML: it has no <datafile>".to_owned()),
    }
}

/// Returns the message of an error, which may quote any part of the list.
fn cause(error: impl std::fmt::Display) -> String {
    shortened(&error.to_string())
}

/// Handles a tag: a title, a file, or something else.
fn take(tag: &Tag<'_>, dat: &mut Dat) -> Result<(), String> {
    if tag.tag.len() > MAX_TAG {
        return Err(format!("a tag of {} bytes", tag.tag.len()));
    }
    match tag.tag.name().as_ref() {
        b"game" | b"machine" => {
            let name = tag.text("name")?.unwrap_or_default();
            dat.add_title(name)
        }
        b"rom" => dat.add(Rom {
            name: tag.text("name")?.unwrap_or_default(),
            size: tag.text("size")?,
            crc32: tag.text("crc")?,
            md5: tag.text("md5")?,
            sha1: tag.text("sha1")?,
        }),
        _ => Ok(()),
    }
}

/// A tag and the decoder for its attributes.
struct Tag<'a> {
    tag: BytesStart<'a>,
    decoder: Decoder,
}

impl Tag<'_> {
    /// Returns the value of an attribute.
    fn text(&self, name: &str) -> Result<Option<String>, String> {
        let attribute = self.tag.try_get_attribute(name);
        let Some(attribute) = attribute.map_err(cause)? else {
            return Ok(None);
        };
        let text = attribute.decoded_and_normalized_value(XmlVersion::Implicit1_0, self.decoder);
        text.map(|text| Some(text.into_owned())).map_err(cause)
    }
}
