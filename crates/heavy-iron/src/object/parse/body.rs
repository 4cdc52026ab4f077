//! Parsing of objects: the fields of the type, the parts and the links.

mod fit;

use bytes::Bytes;
use hpimount_record::{self as record, FixedSize};

use super::floor::{Floor, FloorFields};
use super::later;
use super::sections::{COMMAND, Count, Section, sections};
use super::types::{self, ObjectType, object_type};
use super::{HEADER, Link, Object, count_of};
use crate::parts::{BODY, Choice, ENTITY, Kinds, Part, kind_of};
use crate::record::{Layout, Record, Rows, Value, size};
use crate::{Facts, Game};
use hpimount_containers::io::{Cursor, Endian, Result};

/// Length of the padding word in entities of Battle for Bikini Bottom, which other
/// games lack.
const PAD: usize = 4;

/// Length of a player without a light kit and links.
const PLAYER: usize = 80;

/// Maximum number of fields of an asset whose records have nested lists.
const MAX_FIELDS: usize = 200_000;

/// Offset of the flags in the header.
const FLAGS: usize = 6;

/// Length of the header of a DYNA, which contains its type number and version.
const DYNA_HEADER: usize = 16;

/// The bytes of an object during parsing, and the parser's state.
pub(super) struct Body<'a> {
    bytes: &'a Bytes,
    facts: &'a Facts,
    code: [u8; 4],
    kind: Option<&'static ObjectType>,
    /// Length of the asset without its links.
    size: usize,
    /// Offset of the next field.
    at: usize,
    /// Offset of the links.
    end: usize,
    /// The name of the part with the fields of the type.
    part: &'static str,
    /// Allowed number of bytes after the last field.
    spare: usize,
}

impl<'a> Body<'a> {
    fn new(bytes: &'a Bytes, facts: &'a Facts, code: [u8; 4], at: usize) -> Self {
        Self {
            bytes,
            facts,
            code,
            kind: object_type(code),
            size: bytes.len(),
            at,
            end: bytes.len(),
            part: BODY,
            spare: 0,
        }
    }

    pub(super) fn read(
        bytes: &'a Bytes,
        facts: &'a Facts,
        code: [u8; 4],
        object: &mut Object,
    ) -> Result<()> {
        if later::is_bare(code) {
            let mut body = Body::new(bytes, facts, code, 0);
            body.parts(object);
            return Ok(());
        }
        let mut cursor = Cursor::new(bytes, 0, id_endian(code, facts));
        object.id = cursor.u32("object id")?;
        object.base_type = cursor.u8("base type")?;
        object.link_count = cursor.u8("link count")?;
        let mut cursor = Cursor::new(bytes, 0, flags_endian(code, facts.endian));
        cursor.seek(FLAGS as u64, "object flags")?;
        object.flags = cursor.u16("object flags")?;
        let links = usize::from(object.link_count) * Link::SIZE;
        // Players of Scooby-Doo lack the light kit.
        let has_no_kit = facts.game.is_scooby() && bytes.len() == PLAYER + links;
        let tail = if code == *b"PLYR" && !has_no_kit {
            4
        } else {
            0
        };
        let end = bytes.len().checked_sub(links + tail);
        let end = end.filter(|&end| end >= HEADER);
        if end.is_none() {
            let (count, length) = (object.link_count, bytes.len());
            object.warnings.push(format!(
                "link count at 0x5: {count} links do not fit into {length} bytes"
            ));
        }
        let mut body = Body::new(bytes, facts, code, HEADER);
        body.size = end.map_or(bytes.len(), |end| end + tail);
        body.end = end.unwrap_or(bytes.len());
        body.parts(object);
        if end.is_some() {
            object.links_offset = Some(body.end);
            let mut cursor = Cursor::new(bytes, 0, facts.endian);
            cursor.seek(body.end as u64, "links")?;
            for _ in 0..object.link_count {
                object.links.push(record::read(&mut cursor)?);
            }
            if tail > 0 {
                object.light_kit = Some(cursor.u32("light kit")?);
            }
        }
        Ok(())
    }

    /// Reads the data between the header and the links.
    fn parts(&mut self, object: &mut Object) {
        if let Some(kind) = self.kind {
            self.check_type(kind, object);
        }
        match self.kind.filter(|_| !self.has_layouts()) {
            Some(kind) => self.known(kind, object),
            None => self.later(object),
        }
        object.rest = self.bytes.slice(self.at..self.end);
        object.rest_offset = self.at;
    }

    fn known(&mut self, kind: &ObjectType, object: &mut Object) {
        if kind.is_entity {
            self.entity(object);
        }
        if self.has_fields(kind, object) {
            self.record(BODY, kind.fields, object);
            self.sections(sections(kind.code), object);
            if kind.code == *b"DYNA" {
                self.dyna(object);
            }
        }
    }

    fn sections(&mut self, sections: &[Section], object: &mut Object) {
        for section in sections {
            self.section(*section, object);
        }
    }

    fn check_type(&self, kind: &ObjectType, object: &mut Object) {
        let is_known = !self.facts.game.is_incredibles_or_later();
        let found = object.base_type;
        if let Some(usual) = kind.base_type.filter(|&usual| is_known && found != usual) {
            object
                .warnings
                .push(format!("base type at 0x4: is {found}, usually {usual}"));
        }
    }

    /// Reads the part that all entities have.
    fn entity(&mut self, object: &mut Object) {
        let has_pad = self.has_pad(object);
        object.has_pad = Some(has_pad);
        self.entity_fields(has_pad, object);
    }

    fn entity_fields(&mut self, has_pad: bool, object: &mut Object) {
        self.record(ENTITY, types::ENTITY_FLAGS, object);
        if has_pad {
            self.at = (self.at + PAD).min(self.end);
        }
        self.record(ENTITY, types::ENTITY, object);
    }

    /// Returns whether the padding word is present. The body length decides; if it is
    /// ambiguous, the layout with more plausible floats is chosen.
    fn has_pad(&self, object: &mut Object) -> bool {
        let usual = matches!(self.facts.game, Game::Bfbb | Game::Unknown);
        let known = self.kind.and_then(|kind| kind.size);
        let found = match known {
            Some(size) if self.size == size => true,
            Some(size) if self.size + PAD == size => false,
            _ => self.likely_pad(usual),
        };
        if found != usual {
            let word = if found { "has" } else { "lacks" };
            object.warnings.push(format!(
                "entity at 0xc: {word} a padding word, unlike other entities of its game"
            ));
        }
        found
    }

    /// Returns whether the layout with the padding word has more plausible floats, or
    /// `usual` if the numbers are equal.
    fn likely_pad(&self, usual: bool) -> bool {
        let likely = |has_pad: bool| {
            let start = HEADER + 4 + if has_pad { PAD } else { 0 };
            let bytes = self.bytes.slice(start.min(self.end)..self.end);
            let record = Record::new(types::ENTITY, self.facts.endian, &bytes);
            let fields = record.fields();
            fields.map(|(_, value)| likely_floats(value)).sum::<usize>()
        };
        match likely(true).cmp(&likely(false)) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => usual,
        }
    }

    /// Returns whether the fields of Battle for Bikini Bottom apply: always in that
    /// game and its predecessor, in others if the length agrees.
    fn has_fields(&self, kind: &ObjectType, object: &mut Object) -> bool {
        let Some(size) = first_size(kind, object) else {
            return true;
        };
        if self.size == size {
            return true;
        }
        let found = self.size;
        object.warnings.push(format!(
            "object at 0x0: has {found} bytes without its links, usually {size}"
        ));
        !self.facts.game.is_incredibles_or_later()
    }

    fn record(&mut self, name: &'static str, layout: Layout, object: &mut Object) {
        let record = self.take(layout, object);
        object.parts.push(Part::plain(name, record));
    }

    fn take(&mut self, layout: Layout, object: &mut Object) -> Record {
        self.take_in(self.facts.endian, layout, object)
    }

    /// Reads the available part of a record.
    fn take_in(&mut self, endian: Endian, layout: Layout, object: &mut Object) -> Record {
        let bytes = self.bytes.slice(self.at..self.end);
        let record = Record::new(layout, endian, &bytes).at(self.at);
        if !record.is_whole() {
            let (left, needed) = (bytes.len(), size(layout));
            object.warnings.push(format!(
                "fields at {:#x}: need {needed} bytes, {left} are left",
                self.at
            ));
        }
        self.at += record.used();
        record
    }

    fn section(&mut self, section: Section, object: &mut Object) {
        match section {
            Section::All(sections) => self.sections(sections, object),
            Section::First => {
                let fields = self.kind.map_or(&[][..], |kind| kind.fields);
                self.record(self.part, fields, object);
            }
            Section::FirstSections => self.sections(sections(self.code), object),
            Section::Body(layout) => self.record(self.part, layout, object),
            Section::Part(name, layout) => self.record(name, layout, object),
            Section::Items(name, count, layout) => {
                for item in 0..count {
                    let record = self.take(layout, object);
                    object.parts.push(Part {
                        item: Some(item),
                        ..Part::plain(name, record)
                    });
                }
            }
            Section::Kind {
                name,
                by,
                size,
                kinds,
                ahead,
            } => self.kind((name, by), ahead, size, kinds, object),
            Section::Always(name, number, kinds) => {
                if let Some(kind) = kind_of(kinds, number) {
                    let record = self.take(kind.fields, object);
                    object.parts.push(Part {
                        kind: Some(kind.name),
                        ..Part::plain(name, record)
                    });
                }
            }
            Section::Rows(name, count, more, layout) => {
                self.rows(name, (count, more), layout, object);
            }
            Section::Lists {
                name,
                count,
                layout,
                list,
                list_count,
                list_layout,
            } => self.lists(
                (name, count, layout),
                (list, list_count, list_layout),
                object,
            ),
            Section::EndsAt(field) => {
                let (at, end) = (self.at, object.number(field));
                if at != end {
                    object
                        .warnings
                        .push(format!("{field}: is {end:#x}, the fields end at {at:#x}"));
                }
            }
            Section::Ids(count) => self.list(count, object),
            Section::IdsAt(name, count, offset) => {
                object.offsets.push(offset);
                let start = DYNA_HEADER.saturating_add(object.number(offset));
                let end = self.at;
                self.at = start.min(self.end);
                self.rows(name, (count, 0), types::ID, object);
                self.at = self.at.max(end);
            }
            Section::Unknown(most) => self.spare = most,
            Section::LittleEndian(layout) => {
                let record = self.take_in(Endian::Little, layout, object);
                object.parts.push(Part::plain(BODY, record));
            }
            Section::Commands(kinds) => self.commands(kinds, object),
            Section::Floor => self.floor(object),
        }
    }

    /// Reads the fields selected by another field. Bytes after them, up to `size`, are
    /// unused.
    fn kind(
        &mut self,
        (name, by): (&'static str, &'static str),
        ahead: Option<usize>,
        size: usize,
        kinds: Kinds,
        object: &mut Object,
    ) {
        let next = (self.at + size).min(self.end);
        let is_whole = next - self.at == size;
        let number = match ahead {
            Some(offset) => self.bytes.get(offset).map(|&number| number.into()),
            None => object.field(by).and_then(Value::unsigned),
        };
        let Some(number) = number else {
            return;
        };
        match kind_of(kinds, number) {
            Some(kind) => {
                let record = self.take(kind.fields, object);
                let size = (is_whole && ahead.is_none()).then_some(size);
                object.parts.push(Part {
                    kind: Some(kind.name),
                    choice: Some(Choice { by, size, kinds }),
                    ..Part::plain(name, record)
                });
            }
            None => {
                let at = self.at;
                object.unknown_kinds.push(by);
                object
                    .warnings
                    .push(format!("{name} at {at:#x}: is of unknown kind {number}"));
            }
        }
        self.at = next;
    }

    /// Reads as many records as a field says, plus `more`.
    fn rows(
        &mut self,
        name: &'static str,
        (field, more): (&'static str, usize),
        layout: Layout,
        object: &mut Object,
    ) {
        object.counts.push((field, name));
        let count = object.number(field).saturating_add(more);
        let bytes = self.bytes.slice(self.at..self.end);
        let rows = Rows::new(layout, self.facts.endian, &bytes, count).at(self.at);
        if rows.len() < count {
            let (at, found) = (self.at, rows.len());
            object
                .warnings
                .push(format!("{name} at {at:#x}: has {found} records of {count}"));
        }
        self.at += rows.bytes().len();
        object.lists.push((name, rows));
    }

    /// Reads commands up to the first unknown kind.
    fn commands(&mut self, kinds: Kinds, object: &mut Object) {
        object.commands = kinds;
        let (count, length) = (object.number("cmd_count"), object.number("cmd_size"));
        let links = self.end;
        self.end = self.at.saturating_add(length).min(links);
        for item in 0..u16::try_from(count).unwrap_or(u16::MAX) {
            let head = self.bytes.slice(self.at..self.end);
            let number = Cursor::new(&head, 0, self.facts.endian).u32("command");
            let kind = number.as_ref().ok().and_then(|&n| kind_of(kinds, n));
            let Some(kind) = kind.filter(|_| head.len() >= COMMAND) else {
                let at = self.at;
                object.warnings.push(match number {
                    Ok(number) => format!("command at {at:#x}: is of unknown kind {number}"),
                    Err(_) => format!("command at {at:#x}: is past the end of the commands"),
                });
                break;
            };
            let record = self.take(kind.fields, object);
            object.parts.push(Part {
                item: Some(item),
                kind: Some(kind.name),
                ..Part::plain("commands", record)
            });
        }
        if self.at < self.end {
            let (at, left) = (self.at, self.end - self.at);
            object
                .warnings
                .push(format!("commands at {at:#x}: {left} bytes follow them"));
        }
        self.end = links;
    }

    /// Reads the texts and states of a disco floor, which are the rest of the object.
    fn floor(&mut self, object: &mut Object) {
        let field = |name| match object.field(name) {
            Some(Value::Unsigned(number)) => Some(number),
            _ => None,
        };
        let fields = || {
            Some(FloorFields {
                prefixes: [
                    field("off_prefix")?,
                    field("transition_prefix")?,
                    field("on_prefix")?,
                ],
                tiles: field("state_mask_size")?,
                states: field("states_offset")?,
                count: field("state_count")?,
            })
        };
        let Some(fields) = fields() else {
            return;
        };
        let bytes = self.bytes.slice(..self.end);
        match Floor::read(&bytes, self.facts.endian, &fields) {
            Ok(floor) => {
                object.floor = Some(floor);
                self.at = self.end;
            }
            Err(error) => object.warnings.push(error.to_string()),
        }
    }

    /// Reads as many records as a field says, each followed by its own list.
    fn lists(
        &mut self,
        (name, field, layout): (&'static str, &'static str, Layout),
        (list, list_count, list_layout): (&'static str, Count, Layout),
        object: &mut Object,
    ) {
        object.counts.push((field, name));
        if let Count::Field(field) = list_count {
            object.counts.push((field, list));
        }
        let count = object.number(field);
        let mut left = MAX_FIELDS.saturating_sub(object.fields().count());
        for item in 0..u16::try_from(count).unwrap_or(u16::MAX) {
            let start = self.at;
            let record = self.take(layout, object);
            let wanted = match list_count {
                Count::Field(field) => record.get(field).map_or(0, count_of),
                Count::Fixed(count) => count,
            };
            let bytes = self.bytes.slice(self.at..self.end);
            let rows = Rows::new(list_layout, self.facts.endian, &bytes, wanted).at(self.at);
            let found = rows.len();
            let Some(fewer) = left.checked_sub(layout.len() + found * list_layout.len()) else {
                self.at = start;
                object.warnings.push(format!(
                    "{name} at {start:#x}: have more than {MAX_FIELDS} fields"
                ));
                break;
            };
            left = fewer;
            if found < wanted {
                let at = self.at;
                object.warnings.push(format!(
                    "{list} at {at:#x}: has {found} records of {wanted}"
                ));
            }
            self.at += rows.bytes().len();
            object.parts.push(Part {
                item: Some(item),
                list: Some((list, rows)),
                ..Part::plain(name, record)
            });
            if !object.warnings.is_empty() {
                break;
            }
        }
    }

    /// Reads a list of ids with the length in a field.
    fn list(&mut self, count: &str, object: &mut Object) {
        let count = object.number(count);
        let bytes = self.bytes.slice(self.at..self.end);
        let rows = Rows::new(types::ID, self.facts.endian, &bytes, count);
        object.list = rows.at(self.at);
        let found = object.list.len();
        if found < count {
            let at = self.at;
            object
                .warnings
                .push(format!("list at {at:#x}: has {found} ids of {count}"));
        }
        self.at += object.list.bytes().len();
        self.check_end(object);
    }

    fn check_end(&self, object: &mut Object) {
        let left = self.end - self.at;
        if left > 0 {
            let at = self.at;
            object
                .warnings
                .push(format!("list at {at:#x}: {left} bytes follow it"));
        }
    }
}

/// Returns the length of an object without links in Battle for Bikini Bottom, if it is
/// fixed, with or without the padding word.
fn first_size(kind: &ObjectType, object: &Object) -> Option<usize> {
    let pad = if object.has_pad == Some(false) {
        PAD
    } else {
        0
    };
    kind.size.map(|size| size - pad)
}

/// Returns the byte order of an object's id. Ids of splines are little-endian before
/// Rise of the Underminer.
fn id_endian(code: [u8; 4], facts: &Facts) -> Endian {
    match facts.game.is_rotu_or_later() {
        true => facts.endian,
        false => flags_endian(code, facts.endian),
    }
}

/// Returns the byte order of an object's flags.
pub(crate) fn flags_endian(code: [u8; 4], endian: Endian) -> Endian {
    match &code {
        b"SPLN" => Endian::Little,
        _ => endian,
    }
}

/// Returns the number of plausible floats in a field: 0, or of a usual magnitude.
fn likely_floats(value: Value) -> usize {
    let is_likely = |value: &&f32| **value == 0.0 || (1e-4..1e6).contains(&value.abs());
    match value {
        Value::Float(float) => usize::from(is_likely(&&float)),
        Value::Vec3(floats) => floats.iter().filter(is_likely).count(),
        Value::Vec4(floats) => floats.iter().filter(is_likely).count(),
        _ => 0,
    }
}
