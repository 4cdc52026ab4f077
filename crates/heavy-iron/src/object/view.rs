//! Objects: their fields and links, with the names of referenced assets.

use std::borrow::Cow;
use std::io::{self, Write};

use bytes::Bytes;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::fields::{Field, Parts, Words};
use crate::info::Info;
use crate::names::Names;
use crate::object::{
    self, Floor, Link, Object, Parameter, base_type_name, condition_sign, interpolation, npc_type,
    pickup_name, trigger_shape, variable_name,
};
use crate::origin::Origin;
use crate::parts::Part;
use crate::record::{Record, Rows, Value};
use crate::view::{Kind, Shown, name_of};
use crate::{Game, Parsed};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::listed::{Listed, Render};
use hpimount_assets::view::{AssetContext, Failure, Table, View, ViewFormat, hex, json};
use hpimount_containers::io::Warnings;
use hpimount_containers::text::windows_1252;

/// Objects.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: TYPES,
    converted: Conversion::Always(
        Converted::whole(&[ConvertedFile::named("json", "object.json")])
            .within(Folder::OfType("objects")),
    ),
    ..ViewFormat::new("HIP object", open)
};

/// Types with the layout of objects.
const TYPES: &[[u8; 4]] = &[
    *b"BOUL", *b"BUTN", *b"CAM ", *b"CCRV", *b"CNTR", *b"COND", *b"CSNM", *b"DPAT", *b"DSCO",
    *b"DSTR", *b"DTRK", *b"DUPC", *b"DYNA", *b"EGEN", *b"ENV ", *b"FOG ", *b"GRSM", *b"GRUP",
    *b"GUST", *b"HANG", *b"LITE", *b"LOBM", *b"MVPT", *b"NPC ", *b"PARE", *b"PARP", *b"PARS",
    *b"PEND", *b"PGRS", *b"PKUP", *b"PLAT", *b"PLYR", *b"PORT", *b"PRJT", *b"RANM", *b"SCRP",
    *b"SDFX", *b"SFX ", *b"SGRP", *b"SIMP", *b"SPLN", *b"SPLP", *b"SURF", *b"TIMR", *b"TPIK",
    *b"TRIG", *b"TRWT", *b"UI  ", *b"UIFT", *b"UIM ", *b"VIL ", *b"VOLU", *b"ZLIN",
];

/// An object with its type and its game.
pub(crate) struct Typed {
    pub(crate) code: [u8; 4],
    pub(crate) game: Game,
    pub(crate) object: Object,
}

pub(crate) const KIND: Kind<Typed> = Kind {
    title: "HIP object",
    describe,
    warnings: |model| &mut model.object.warnings,
    heap: |model| {
        let Object { parts, links, .. } = &model.object;
        parts.capacity() * size_of::<Part>() + links.capacity() * size_of::<Link>()
    },
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let Origin { code, facts, .. } = Origin::of(context);
    let typed = |object| Typed {
        code,
        game: facts.game,
        object,
    };
    let parsed: Parsed<Typed> = match object::parse(bytes, &facts, code) {
        Ok(object) => Ok(typed(object)),
        Err(incomplete) => Err(Box::new(hpimount_assets::parse::Incomplete {
            error: incomplete.error,
            model: typed(incomplete.model),
        })),
    };
    KIND.view(bytes, context, parsed, |_| {
        vec![
            Listed::new(
                None,
                "object.json".to_owned(),
                Render::InContext(
                    |shown, _, context, out| write_json(shown, Names(context), out),
                    0,
                ),
            ),
            Listed::new(
                None,
                "links.tsv".to_owned(),
                Render::InContext(
                    |shown, _, context, out| write_links(&shown.model, Names(context), out),
                    0,
                ),
            ),
        ]
    })
}

fn describe(model: &Typed, info: &mut Info, _names: Names<'_>) {
    let object = &model.object;
    info.add("own_id", format!("{:08X}", object.id));
    info.add("base_type", model.base_type());
    if let Some(dyna) = object.dyna {
        info.add("dyna_type", dyna.name);
    }
    info.add("fields", object.fields().count());
    let lists = object.lists.iter().map(|(_, rows)| rows.len());
    info.add("listed", object.list.len() + lists.sum::<usize>());
    info.add("unknown_bytes", object.rest.len());
    info.add("links", object.links.len());
}

impl Typed {
    /// Returns the base type by its name in a game with known names, otherwise
    /// by its number.
    fn base_type(&self) -> serde_json::Value {
        let number = self.object.base_type;
        let name = (self.game == Game::Bfbb).then(|| base_type_name(number));
        match name.flatten() {
            Some(name) => name.into(),
            None => number.into(),
        }
    }
}

/// Writes `object.json`.
fn write_json(shown: &Shown<Typed>, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let whole = Whole {
        typed: &shown.model,
        warnings: &shown.info.warnings,
        names,
    };
    json::write_lines(&whole, 2, out)
}

/// An object as JSON.
struct Whole<'a> {
    typed: &'a Typed,
    warnings: &'a Warnings,
    names: Names<'a>,
}

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (typed, names) = (self.typed, self.names);
        let object = &typed.object;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &name_of(names.0))?;
        map.serialize_entry("type", typed.code.escape_ascii().to_string().trim())?;
        map.serialize_entry("header", &Header(typed))?;
        let parts = Parts {
            parts: &object.parts,
            words: typed,
            names,
        };
        parts.entries(&mut map)?;
        if let Some(floor) = &object.floor {
            map.serialize_entry("floor", &Tiles(floor))?;
        }
        if !object.list.is_empty() {
            map.serialize_entry("list", &List(object, names))?;
        }
        for (name, rows) in &object.lists {
            map.serialize_entry(name, &Records(rows, names))?;
        }
        if !object.rest.is_empty() {
            map.serialize_entry("rest", &hex(&object.rest))?;
        }
        if let Some(id) = object.light_kit {
            map.serialize_entry("light_kit", &names.reference(id))?;
        }
        map.serialize_entry("links", &Links(typed, names))?;
        map.serialize_entry("warnings", &self.warnings.texts())?;
        map.end()
    }
}

/// The header of an object.
struct Header<'a>(&'a Typed);

impl Serialize for Header<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = &self.0.object;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &format_args!("{:08X}", object.id))?;
        map.serialize_entry("base_type", &self.0.base_type())?;
        map.serialize_entry("base_type_id", &object.base_type)?;
        map.serialize_entry("link_count", &object.link_count)?;
        map.serialize_entry("flags", &object.flags)?;
        for (name, is_set) in object.flag_names() {
            map.serialize_entry(name, &is_set)?;
        }
        map.end()
    }
}

/// The texts and states of a disco floor.
struct Tiles<'a>(&'a Floor);

impl Serialize for Tiles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(floor) = self;
        let [off, transition, on] = floor.prefixes.each_ref().map(|text| windows_1252(text));
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("off", &off)?;
        map.serialize_entry("transition", &transition)?;
        map.serialize_entry("on", &on)?;
        map.serialize_entry("tiles", &floor.tiles)?;
        map.serialize_entry("states", &json::Seq::new(|| floor.states()))?;
        map.end()
    }
}

impl Words for Typed {
    fn instead(&self, field: &str, value: Value) -> Option<Cow<'static, str>> {
        let Value::Unsigned(number) = value else {
            return None;
        };
        match (&self.code, field) {
            (b"COND", "op") => condition_sign(number).map(Cow::Borrowed),
            (b"DYNA", "dyna_type") => Some(match self.object.dyna {
                Some(dyna) => Cow::Borrowed(dyna.name),
                None => Cow::Owned(format!("{number:08X}")),
            }),
            _ => None,
        }
    }

    fn besides(&self, field: &str, value: Value) -> Option<(&'static str, Cow<'static, str>)> {
        let (Value::Unsigned(number) | Value::Id(number)) = value else {
            return None;
        };
        let found = |key, meaning: Option<&'static str>| Some((key, Cow::Borrowed(meaning?)));
        match (&self.code, field) {
            (b"COND", "variable") => found("variable_name", variable_name(number)),
            (b"PARP", "interp") => found("interp_name", interpolation(number)),
            (b"PKUP", "pickup") => found("pickup_name", pickup_name(number)),
            (b"TRIG", "subtype") => found("shape", trigger_shape(u8::try_from(number).ok()?)),
            (b"VIL ", "npc_type") => Some(("npc_type_name", npc_type(number)?.into())),
            _ => None,
        }
    }
}

/// The ids in the list of an object.
struct List<'a>(&'a Object, Names<'a>);

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ids = self.0.list.iter().filter_map(|record| record.number("id"));
        serializer.collect_seq(ids.map(|id| self.1.reference(id)))
    }
}

/// The records of a list.
struct Records<'a>(&'a Rows, Names<'a>);

impl Serialize for Records<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let records = self.0.iter();
        serializer.collect_seq(records.map(|record| OneRecord(record, self.1)))
    }
}

struct OneRecord<'a>(Record, Names<'a>);

impl Serialize for OneRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.fields();
        serializer.collect_map(fields.map(|(name, value)| (name, Field(value, self.1))))
    }
}

/// The links of an object.
struct Links<'a>(&'a Typed, Names<'a>);

impl Serialize for Links<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let links = self.0.object.links.iter();
        serializer.collect_seq(links.map(|link| OneLink {
            link,
            game: self.0.game,
            names: self.1,
        }))
    }
}

struct OneLink<'a> {
    link: &'a Link,
    game: Game,
    names: Names<'a>,
}

impl Serialize for OneLink<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (link, names) = (self.link, self.names);
        let [event, send] = link.event_names(self.game);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event", &Event(event, link.source_event))?;
        map.serialize_entry("event_id", &link.source_event)?;
        map.serialize_entry("send", &Event(send, link.target_event))?;
        map.serialize_entry("send_id", &link.target_event)?;
        for (name, word) in WORDS.into_iter().zip(link.event_words(self.game)) {
            if let Some(word) = word {
                map.serialize_entry(name, word)?;
            }
        }
        map.serialize_entry("target", &names.target(link.target))?;
        map.serialize_entry("params", &Parameters(link, names))?;
        map.serialize_entry("param_asset", &names.reference(link.parameter_asset))?;
        map.serialize_entry("check_asset", &names.reference(link.check_asset))?;
        map.end()
    }
}

/// An event by its name, or else by its number.
struct Event(Option<&'static str>, u16);

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(name) => name.serialize(serializer),
            None => self.1.serialize(serializer),
        }
    }
}

/// The parameters of a link: floats of plausible magnitude, ids of assets of
/// the archive, and otherwise integers.
struct Parameters<'a>(&'a Link, Names<'a>);

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(link, names) = *self;
        let mut seq = serializer.serialize_seq(Some(link.parameters.len()))?;
        for (index, &bits) in link.parameters.iter().enumerate() {
            if names.find(bits).is_some() {
                seq.serialize_element(&names.reference(bits))?;
                continue;
            }
            match link.parameter(index) {
                Parameter::Zero => seq.serialize_element(&0)?,
                Parameter::Float(value) => seq.serialize_element(&value)?,
                Parameter::Number(value) => seq.serialize_element(&value)?,
            }
        }
        seq.end()
    }
}

/// Writes `links.tsv`.
fn write_links(model: &Typed, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "event",
        "event_id",
        "send",
        "send_id",
        "target",
        "target_name",
    ];
    let columns = [&columns[..], &PARAMETERS, &WORDS].concat();
    let mut table = Table::new(out, &columns)?;
    for (index, link) in model.object.links.iter().enumerate() {
        let [event, send] = link.event_names(model.game);
        table
            .cell(index)
            .optional(event)
            .cell(link.source_event)
            .optional(send)
            .cell(link.target_event);
        names.target_cells(link.target, &mut table);
        parameter_cells(link, names, &mut table);
        word_cells(link, model.game, &mut table);
        table.end_row()?;
    }
    Ok(())
}

/// The columns of [`parameter_cells`].
pub(crate) const PARAMETERS: [&str; 8] = [
    "param1",
    "param2",
    "param3",
    "param4",
    "param_asset",
    "param_asset_name",
    "check_asset",
    "check_asset_name",
];

/// Adds the parameters of a link to a row.
pub(crate) fn parameter_cells(link: &Link, names: Names<'_>, table: &mut Table<'_>) {
    for (index, &bits) in link.parameters.iter().enumerate() {
        if let Some(name) = names.find(bits) {
            table.text(&name);
            continue;
        }
        match link.parameter(index) {
            Parameter::Zero => table.cell(0),
            Parameter::Float(value) => table.float(value),
            Parameter::Number(value) => table.cell(value),
        };
    }
    names.cells(link.parameter_asset, table);
    names.cells(link.check_asset, table);
}

/// The columns of [`word_cells`].
pub(crate) const WORDS: [&str; 2] = ["event_word", "send_word"];

/// Adds the words for the events of a link to a row.
pub(crate) fn word_cells(link: &Link, game: Game, table: &mut Table<'_>) {
    for word in link.event_words(game) {
        table.optional(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::is_object;

    #[test]
    fn every_shown_type_is_an_object_type() {
        for code in TYPES {
            assert!(is_object(*code), "{}", code.escape_ascii());
        }
    }
}
