//! Objects: their fields and links, with the names of referenced assets.

use std::borrow::Cow;

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::Value;

use crate::Game;
use crate::fields::{self, Words};
use crate::names::{Names, hex};
use crate::object::{
    self, Floor, Link, Object, Parameter, base_type_name, condition_sign, interpolation, npc_type,
    pickup_name, trigger_shape, variable_name,
};
use crate::origin::{Origin, code_text};
use crate::parts::Part;
use crate::record::{self, Rows as Records};
use crate::view::{self, add_all, list, name_of};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::node::{self, Entry, Node};
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{self as assets, AssetContext, Opened, Table, ViewFormat, json};
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

impl GetSize for Typed {
    fn get_heap_size(&self) -> usize {
        let Object { parts, links, .. } = &self.object;
        parts.capacity() * size_of::<Part>() + links.capacity() * size_of::<Link>()
    }
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let Origin { code, facts, .. } = Origin::of(context);
    let (object, error) = so_far(object::parse(bytes, &facts, code));
    let warnings = object.warnings.clone();
    let mut page = view::page(FORMAT.name, bytes, context, warnings);
    let typed = Typed {
        code,
        game: facts.game,
        object,
    };
    let object = &typed.object;
    page.fact("own_id", hex(object.id))
        .fact("base_type", typed.base_type());
    if let Some(dyna) = object.dyna {
        page.fact("dyna_type", dyna.name);
    }
    let lists = object.lists.iter().map(|(_, rows)| rows.len());
    page.fact("fields", object.fields().count())
        .fact("listed", object.list.len() + lists.sum::<usize>())
        .fact("unknown_bytes", object.rest.len())
        .fact("links", object.links.len());
    if error.is_none() {
        page.file("object.json", |typed: &Typed, context, out| {
            json::write_lines(&typed.json(Names(context)), 2, out)
        });
    }
    page.table_in("links.tsv", |typed, context| typed.links(Names(context)));
    Ok(page.show(typed, error))
}

impl Typed {
    /// Returns the base type by its name in a game with known names, otherwise
    /// by its number.
    fn base_type(&self) -> Value {
        let number = self.object.base_type;
        let name = (self.game == Game::Bfbb).then(|| base_type_name(number));
        name.flatten().map_or(number.into(), Value::from)
    }

    /// Returns `object.json`.
    fn json<'a>(&'a self, names: Names<'a>) -> Node<'a> {
        let object = &self.object;
        let mut entries: Vec<Entry<'a>> = vec![
            ("name", name_of(names.0).into()),
            ("type", code_text(self.code).into()),
            ("header", self.header()),
        ];
        let parts = fields::entries(&object.parts, self, &|id| names.in_object(id));
        entries.extend(parts.into_iter().map(|(name, value)| (name, value.into())));
        entries.extend(object.floor.as_ref().map(|floor| ("floor", tiles(floor))));
        if !object.list.is_empty() {
            let ids = move || object.list.iter().filter_map(|record| record.number("id"));
            let ids = move || Box::new(ids().map(move |id| names.in_object(id).into())) as _;
            entries.push(("list", Node::Each(Box::new(ids))));
        }
        let lists = object.lists.iter();
        entries.extend(lists.map(|(name, rows)| (*name, records(rows, names))));
        if !object.rest.is_empty() {
            entries.push(("rest", assets::hex(&object.rest).into()));
        }
        let kit = object.light_kit.map(|id| names.in_object(id).into());
        entries.extend(kit.map(|kit| ("light_kit", kit)));
        let links = object.links.iter().map(|link| self.link(link, names));
        entries.push(("links", Node::List(links.collect())));
        entries.push(("warnings", Node::texts(object.warnings.texts())));
        node::map(entries)
    }

    fn header(&self) -> Node<'_> {
        let object = &self.object;
        let head = [
            ("id", format!("{:08X}", object.id).into()),
            ("base_type", self.base_type().into()),
            ("base_type_id", object.base_type.into()),
            ("link_count", object.link_count.into()),
            ("flags", object.flags.into()),
        ];
        let flags = object
            .flag_names()
            .map(|(name, is_set)| (name, is_set.into()));
        node::map(head.into_iter().chain(flags))
    }

    fn link<'a>(&self, link: &Link, names: Names<'_>) -> Node<'a> {
        let [event, send] = link.event_names(self.game);
        // An event by its name, or else by its number.
        let shown =
            |name: Option<&'static str>, number: u16| name.map_or(number.into(), Node::from);
        let head = [
            ("event", shown(event, link.source_event)),
            ("event_id", link.source_event.into()),
            ("send", shown(send, link.target_event)),
            ("send_id", link.target_event.into()),
        ];
        let words = WORDS.into_iter().zip(link.event_words(self.game));
        let words = words.filter_map(|(name, word)| Some((name, word?.into())));
        let parameters = link.parameters.iter().enumerate();
        let parameters = parameters.map(|(index, &bits)| match names.find(bits) {
            Some(_) => names.in_object(bits),
            None => number(link, index),
        });
        let tail = [
            ("target", names.target(link.target).into()),
            ("params", list(parameters).into()),
            ("param_asset", names.in_object(link.parameter_asset).into()),
            ("check_asset", names.in_object(link.check_asset).into()),
        ];
        node::map(head.into_iter().chain(words).chain(tail))
    }

    /// Returns the rows of `links.tsv`.
    fn links<'a>(&'a self, names: Names<'a>) -> Rows<'a> {
        let columns = [
            "index",
            "event",
            "event_id",
            "send",
            "send_id",
            "target",
            "target_name",
        ];
        let columns = columns.into_iter().chain(PARAMETERS).chain(WORDS);
        let links = self.object.links.iter().enumerate();
        Rows {
            columns: columns.map(Into::into).collect(),
            rows: Box::new(links.map(move |(index, link)| {
                let [event, send] = link.event_names(self.game);
                let (event_id, send_id) = (link.source_event, link.target_event);
                let mut row = vec![index.into()];
                row.extend([event.into(), event_id.into(), send.into(), send_id.into()]);
                row.extend(names.target_pair(link.target));
                row.extend(parameters(link, names));
                row.extend(link.event_words(self.game).map(Value::from));
                row
            })),
        }
    }
}

/// Returns the texts and states of a disco floor.
fn tiles(floor: &Floor) -> Node<'_> {
    let [off, transition, on] = floor
        .prefixes
        .each_ref()
        .map(|text| windows_1252(text).into_owned());
    let states = || Box::new(floor.states().map(Node::from)) as _;
    node::map([
        ("off", off.into()),
        ("transition", transition.into()),
        ("on", on.into()),
        ("tiles", floor.tiles.into()),
        ("states", Node::Each(Box::new(states))),
    ])
}

/// Returns the records of a list.
fn records<'a>(rows: &'a Records, names: Names<'a>) -> Node<'a> {
    let record = move |record: record::Record| {
        let fields = record.fields();
        let fields = fields
            .map(|(name, value)| (name, fields::json(value, &|id| names.in_object(id)).into()));
        node::map(fields)
    };
    Node::Each(Box::new(move || Box::new(rows.iter().map(record))))
}

impl Words for Typed {
    fn instead(&self, field: &str, value: record::Value) -> Option<Cow<'static, str>> {
        let record::Value::Unsigned(number) = value else {
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

    fn besides(
        &self,
        field: &str,
        value: record::Value,
    ) -> Option<(&'static str, Cow<'static, str>)> {
        let (record::Value::Unsigned(number) | record::Value::Id(number)) = value else {
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

/// The columns of [`parameters`].
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

/// The columns of the words for the events of a link.
pub(crate) const WORDS: [&str; 2] = ["event_word", "send_word"];

/// Returns the cells of the parameters of a link.
fn parameters(link: &Link, names: Names<'_>) -> Vec<Value> {
    let words = link.parameters.iter().enumerate();
    let mut row: Vec<_> = words
        .map(|(index, &bits)| {
            names
                .find(bits)
                .map_or_else(|| number(link, index), Value::from)
        })
        .collect();
    row.extend(names.pair(link.parameter_asset));
    row.extend(names.pair(link.check_asset));
    row
}

/// Returns a parameter of a link that is no id: a float of plausible magnitude, or
/// else a whole number.
fn number(link: &Link, index: usize) -> Value {
    match link.parameter(index) {
        Parameter::Zero => 0_u32.into(),
        Parameter::Float(value) => value.into(),
        Parameter::Number(value) => value.into(),
    }
}

/// Adds the parameters of a link to a row.
pub(crate) fn parameter_cells(link: &Link, names: Names<'_>, table: &mut Table<'_>) {
    add_all(parameters(link, names), table);
}

/// Adds the words for the events of a link to a row.
pub(crate) fn word_cells(link: &Link, game: Game, table: &mut Table<'_>) {
    add_all(link.event_words(game).map(Value::from), table);
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
