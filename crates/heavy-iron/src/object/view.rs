//! Objects: their fields and links, with the names of referenced assets.

use std::ops::Range;

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{FixedSize, Value};

use crate::fields::{self, Meaning, ObjectFields, Words};
use crate::names::{Names, hex};
use crate::object::cutscene;
use crate::object::{
    self, Floor, Link, Object, base_type_name, base_type_number, condition_number, condition_sign,
    event_name, event_number, flags_endian, interpolation, interpolation_number, is_bare, npc_type,
    pickup_name, pickup_number, trigger_shape, variable_name, variable_number,
};
use crate::origin::{Origin, code_text};
use crate::parts::{Part, kind_of};
use crate::record::{self, Rows as Records};
use crate::view::{self, name_of};
use crate::{Facts, Game};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::edit::{Counted, Elements, Form, Place, Rule, Selector};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Entry, Node, Nodes};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{self as assets, AssetContext, Opened, ViewFormat};
use hpimount_containers::io::{Endian, Error};
use hpimount_containers::text::windows_1252;

/// Objects.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: TYPES,
    converted: Conversion::Always(
        Converted::whole(&[ConvertedFile::named("json", "object.json")])
            .within(Folder::OfType("objects")),
    ),
    edits: &[Editable::new("object.json", "fields, links and lists")],
    ..ViewFormat::new("HIP object", open)
};

/// Types with the layout of objects.
const TYPES: &[[u8; 4]] = &[
    *b"ATKT", *b"BOUL", *b"BUTN", *b"CAM ", *b"CCRV", *b"CNTR", *b"COND", *b"CSNM", *b"CTOC",
    *b"DEST", *b"DPAT", *b"DSCO", *b"DSTR", *b"DTRK", *b"DUPC", *b"DYNA", *b"EGEN", *b"ENV ",
    *b"FOG ", *b"GRSM", *b"GRUP", *b"GUST", *b"HANG", *b"LITE", *b"LOBM", *b"MVPT", *b"NAVM",
    *b"NPC ", *b"ONEL", *b"PARE", *b"PARP", *b"PARS", *b"PEND", *b"PGRS", *b"PKUP", *b"PLAT",
    *b"PLYR", *b"PORT", *b"PRJT", *b"RANM", *b"SCRP", *b"SDFX", *b"SFX ", *b"SGRP", *b"SIMP",
    *b"SLID", *b"SPLN", *b"SPLP", *b"SSET", *b"SUBT", *b"SURF", *b"TIMR", *b"TPIK", *b"TRIG",
    *b"TRWT", *b"UI  ", *b"UIFT", *b"UIM ", *b"VIL ", *b"VOLU", *b"WIRE", *b"ZLIN",
];

/// An object with its type and its game.
pub(crate) struct Typed {
    pub(crate) code: [u8; 4],
    pub(crate) game: Game,
    pub(crate) endian: Endian,
    pub(crate) object: Object,
    /// The numbers of the parts whose kinds are selected by a field.
    selected: Vec<usize>,
}

/// The list of a particle system's commands.
const COMMANDS: &str = "commands";

impl GetSize for Typed {
    fn get_heap_size(&self) -> usize {
        let Object { parts, links, .. } = &self.object;
        let lists = parts.capacity() * size_of::<Part>() + links.capacity() * size_of::<Link>();
        lists + self.selected.get_heap_size()
    }
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut page, typed, error) = page(FORMAT.name, bytes, context);
    if typed.code == *b"SUBT" {
        page.table_in("subtitles.tsv", |typed, _| {
            cutscene::subtitles(&typed.object)
        });
    }
    Ok(page.show(typed, error))
}

/// Returns the page of an object, the object, and the error that ended its parsing.
pub(crate) fn page(
    format: &'static str,
    bytes: &Bytes,
    context: &dyn AssetContext,
) -> (Page<Typed>, Typed, Option<Error>) {
    let Origin { code, facts, .. } = Origin::of(context);
    let (object, error) = so_far(object::parse(bytes, &facts, code));
    let warnings = object.warnings.clone();
    let mut page = view::page(format, bytes, context, warnings);
    let typed = Typed::new(code, &facts, object);
    let object = &typed.object;
    if !is_bare(code) {
        page.fact("own_id", hex(object.id))
            .fact("base_type", typed.base_type());
    }
    if let Some(dyna) = object.dyna {
        page.fact("dyna_type", dyna.name);
    }
    let lists = object.lists.iter().map(|(_, rows)| rows.len());
    page.fact("fields", object.fields().count())
        .fact("listed", object.list.len() + lists.sum::<usize>())
        .fact("unknown_bytes", object.rest.len())
        .fact("links", object.links.len());
    if error.is_none() {
        page.values("object.json", |typed: &Typed, context| {
            typed.json(Names(context))
        });
    }
    if !is_bare(code) {
        page.table_in("links.tsv", |typed, context| typed.links(Names(context)));
    }
    (page, typed, error)
}

impl Typed {
    /// Creates the object of a type.
    pub(crate) fn new(code: [u8; 4], facts: &Facts, object: Object) -> Self {
        let parts = object.parts.iter().enumerate();
        let selected = parts.filter(|(_, part)| part.choice.is_some());
        Self {
            code,
            game: facts.game,
            endian: facts.endian,
            selected: selected.map(|(index, _)| index).collect(),
            object,
        }
    }

    /// Returns the base type by name in a game with known names, otherwise by number.
    fn base_type(&self) -> Value {
        let number = self.object.base_type;
        let name = (self.game == Game::Bfbb).then(|| base_type_name(number));
        name.flatten().map_or(number.into(), Value::from)
    }

    /// Returns `object.json`.
    fn json<'a>(&'a self, names: Names<'a>) -> Node<'a> {
        const OWN: &str = "belongs to the asset: rename its file in layers/";
        let object = &self.object;
        let mut entries: Vec<Entry<'a>> = vec![
            ("name", Node::from(name_of(names.0)).derived(OWN)),
            ("type", Node::from(code_text(self.code)).derived(OWN)),
        ];
        let is_bare = is_bare(self.code);
        if !is_bare {
            entries.push(("header", self.header()));
        }
        let parts = ObjectFields::in_object(self, names).entries(&object.parts);
        entries.extend(parts.into_iter().map(|(name, node)| match name {
            COMMANDS => (name, self.commands(node)),
            _ => (name, node),
        }));
        entries.extend(object.floor.as_ref().map(|floor| ("floor", tiles(floor))));
        match self.list(names) {
            list if !object.list.is_empty() => entries.push(("list", list)),
            list @ Node::Ruled(..) => entries.push(("list", Node::Absent(list.into()))),
            _ => {}
        }
        let lists = object.lists.iter();
        entries.extend(lists.map(|(name, rows)| (*name, self.records(rows, names))));
        if !object.rest.is_empty() {
            let place = self.place(object.rest_offset, Form::Hex(object.rest.len()));
            entries.push(("rest", Node::from(assets::hex(&object.rest)).stored(place)));
        }
        let end = object.links_offset.unwrap_or_default();
        let kit = object.light_kit.map(|id| {
            let offset = end + object.links.len() * Link::SIZE;
            let place = self.place(offset, Form::Reference(fields::ID));
            Node::from(names.in_object(id)).stored(place)
        });
        entries.extend(kit.map(|kit| ("light_kit", kit)));
        if !is_bare {
            entries.push(("links", self.link_list(names)));
        }
        let warnings = Node::texts(object.warnings.texts());
        entries.push(("warnings", warnings.ruled(Rule::Remark)));
        node::map(entries)
    }

    fn place(&self, offset: usize, form: Form) -> Place {
        Place::new(offset, self.endian, form)
    }

    /// Returns the place of the flags in the header.
    fn flags(&self, form: Form) -> Place {
        Place::new(6, flags_endian(self.code, self.endian), form)
    }

    fn header(&self) -> Node<'_> {
        let object = &self.object;
        let base_type = Form::Named {
            size: 1,
            number: base_type_number,
        };
        const OWN: &str = "is the id of the asset: rename its file in layers/";
        let id = Node::from(format!("{:08X}", object.id)).derived(OWN);
        let number = Node::from(object.base_type).stored(self.place(4, Form::U8));
        let base_type = Node::from(self.base_type()).stored(self.place(4, base_type));
        let links = Node::from(object.link_count).ruled(Rule::Count("links"));
        let flags = Node::from(object.flags).stored(self.flags(Form::U16));
        let head = [
            ("id", id),
            ("base_type", base_type),
            ("base_type_id", number),
            ("link_count", links),
            ("flags", flags),
        ];
        let flags = object.flag_names().into_iter().enumerate();
        let flags = flags.map(|(index, (name, is_set))| {
            let bit = 1 << index;
            let place = self.flags(Form::Flag { size: 2, bit });
            (name, Node::from(is_set).stored(place))
        });
        node::map(head.into_iter().chain(flags))
    }

    /// Returns the ids of a list, with their number in a field.
    fn list<'a>(&'a self, names: Names<'a>) -> Node<'a> {
        let list = &self.object.list;
        let id = move |offset, id| {
            let place = self.place(offset, Form::Reference(fields::ID));
            Node::from(names.in_object(id)).stored(place)
        };
        let each = move || -> Nodes<'a> {
            let ids = list.iter().map(move |record| {
                let number = record.number("id").unwrap_or_default();
                id(record.offset(), number)
            });
            Box::new(ids)
        };
        let count = ["item_count", "point_count"];
        let count = count
            .into_iter()
            .find_map(|name| self.field_place(name, Form::U16));
        let node = Node::Each(Box::new(each));
        let Some(count) = count.filter(|_| self.object.links_offset.is_some()) else {
            return node;
        };
        node.ruled(Rule::Elements(Elements {
            ranges: ranges(list.offset(), list.len(), size_of::<u32>()),
            start: list.offset(),
            counts: vec![(count, Counted::Elements)],
            most: usize::from(u16::MAX),
            least_length: 0,
            kind: None,
            blank: Box::new(move |_| Ok((size_of::<u32>(), id(0, 0)))),
        }))
    }

    /// Returns the records of a list.
    fn records<'a>(&'a self, rows: &'a Records, names: Names<'a>) -> Node<'a> {
        let words = RecordWords(self);
        let record = move |record: record::Record| {
            Node::Map(ObjectFields::in_object(&words, names).fields(&record))
        };
        Node::Each(Box::new(move || Box::new(rows.iter().map(record))))
    }

    /// Returns the editing rule of a number that selects the fields of a part.
    fn selector<'a>(&self, field: &str) -> Option<Rule<'a>> {
        if self.object.unknown_kinds.contains(&field) {
            const UNKNOWN: &str = "selects fields of an unknown kind, and cannot be changed";
            return Some(Rule::Derived(UNKNOWN));
        }
        let parts = self.selected.iter();
        let mut choices = parts.filter_map(|&index| {
            let part = &self.object.parts[index];
            let choice = part.choice.filter(|choice| choice.by == field)?;
            Some((part, choice))
        });
        let (part, choice) = choices.next()?;
        let Some(size) = choice.size.filter(|_| choices.next().is_none()) else {
            const OTHERS: &str = "selects the fields of other parts, and cannot be changed here";
            return Some(Rule::Derived(OTHERS));
        };
        let endian = self.endian;
        let fields = move |number| {
            let kind = kind_of(choice.kinds, number)?;
            Some(Node::Map(fields::blank(kind.fields, endian)))
        };
        Some(Rule::Selects(Selector {
            place: self.field_place(field, Form::U8)?,
            part: part.name,
            start: part.record.offset(),
            size,
            fields: Box::new(fields),
        }))
    }

    /// Returns the place of a field.
    fn field_place(&self, name: &str, form: Form) -> Option<Place> {
        let parts = self.object.parts.iter();
        let mut fields = parts.flat_map(|part| part.record.placed());
        let (_, offset, _) = fields.find(|(column, ..)| column.name == name)?;
        Some(self.place(offset, form))
    }

    /// Adds editing rules to the commands of a particle system.
    fn commands<'a>(&'a self, node: Node<'a>) -> Node<'a> {
        let commands = self
            .object
            .parts
            .iter()
            .filter(|part| part.name == COMMANDS);
        let records = || commands.clone().map(|part| &part.record);
        let range =
            |record: &record::Record| record.offset()..record.offset() + record.bytes().len();
        let ranges: Vec<_> = records().map(range).collect();
        let counts = [
            (self.field_place("cmd_count", Form::U8), Counted::Elements),
            (self.field_place("cmd_size", Form::U32), Counted::Bytes),
        ];
        let counts = counts
            .into_iter()
            .filter_map(|(place, counted)| Some((place?, counted)));
        let Some(first) = ranges.first().filter(|_| self.object.warnings.is_empty()) else {
            return node;
        };
        let blank = move |value: &Value| {
            let number = value.get("type").and_then(Value::integer);
            let number = number.and_then(|number| u32::try_from(number).ok());
            let kind = number.and_then(|number| kind_of(self.object.commands, number));
            let kind = kind.ok_or("needs the type of a command")?;
            let mut fields = fields::blank(kind.fields, self.endian);
            fields.push(("kind".into(), Node::from(kind.name).derived("")));
            Ok((record::size(kind.fields), Node::Map(fields)))
        };
        node.ruled(Rule::Elements(Elements {
            start: first.start,
            ranges,
            counts: counts.collect(),
            most: usize::from(u8::MAX),
            least_length: 0,
            kind: Some("type"),
            blank: Box::new(blank),
        }))
    }

    /// Returns the links with their editing rules.
    fn link_list<'a>(&'a self, names: Names<'a>) -> Node<'a> {
        let links = &self.object.links;
        let start = self.object.links_offset;
        let offset = move |index: usize| start.unwrap_or_default() + index * Link::SIZE;
        let nodes = links.iter().enumerate();
        let nodes = nodes.map(|(index, link)| self.link(link, offset(index), names));
        let node = Node::List(nodes.collect());
        let Some(start) = start else {
            return node;
        };
        node.ruled(Rule::Elements(Elements {
            ranges: ranges(start, links.len(), Link::SIZE),
            start,
            counts: vec![(self.place(5, Form::U8), Counted::Elements)],
            most: usize::from(u8::MAX),
            least_length: 0,
            kind: None,
            blank: Box::new(move |_| Ok((Link::SIZE, self.link(&Link::default(), 0, names)))),
        }))
    }

    /// Returns a link at an offset.
    fn link<'a>(&self, link: &Link, offset: usize, names: Names<'_>) -> Node<'a> {
        let [event, send] = link.event_names(self.game);
        let at = |offset_in_link, form| self.place(offset + offset_in_link, form);
        let by_name = match event_number(self.game) {
            Some(number) => Form::Named { size: 2, number },
            None => Form::U16,
        };
        // An event by name, or else by number.
        let shown = |name: Option<&'static str>, number: u16, at: Place| {
            name.map_or(number.into(), Node::from).stored(at)
        };
        let number_at = |number: u16, at: Place| Node::from(number).stored(at);
        let head = [
            ("event", shown(event, link.source_event, at(0, by_name))),
            ("event_id", number_at(link.source_event, at(0, Form::U16))),
            ("send", shown(send, link.target_event, at(2, by_name))),
            ("send_id", number_at(link.target_event, at(2, Form::U16))),
        ];
        let words = WORDS.into_iter().zip(link.event_words(self.game));
        let words = words.filter_map(|(name, word)| {
            Some((name, Node::from(word?).derived("follows from the event")))
        });
        let parameters = link.parameters.iter().enumerate();
        let parameters = parameters.map(|(index, &bits)| {
            let value = fields::parameter(bits, names, |_| names.in_object(bits));
            Node::from(value).stored(at(8 + 4 * index, Form::Parameter(fields::ID)))
        });
        let reference = |value: Value, offset| {
            Node::from(value).stored(at(offset, Form::Reference(fields::ID)))
        };
        let tail = [
            ("target", reference(names.target(link.target), 4)),
            ("params", Node::List(parameters.collect())),
            (
                "param_asset",
                reference(names.in_object(link.parameter_asset), 24),
            ),
            (
                "check_asset",
                reference(names.in_object(link.check_asset), 28),
            ),
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
                row.extend(parameters(link, self.game, names));
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

/// Returns the ranges of elements of equal size.
pub(crate) fn ranges(start: usize, count: usize, size: usize) -> Vec<Range<usize>> {
    let starts = (0..count).map(|index| start + index * size);
    starts.map(|start| start..start + size).collect()
}

impl Words for Typed {
    fn meaning(&self, column: &record::Column, value: record::Value) -> Option<Meaning> {
        let (record::Value::Unsigned(number) | record::Value::Id(number)) = value else {
            return ().meaning(column, value);
        };
        let named = |beside, text: Option<&'static str>, number| {
            Some(Meaning {
                beside: Some(beside),
                text: text?.into(),
                number,
            })
        };
        match (&self.code, column.name) {
            (b"COND", "op") => Some(Meaning {
                beside: None,
                text: condition_sign(number).map_or(number.into(), Value::from),
                number: Some(condition_number),
            }),
            (b"DYNA", "dyna_type") => Some(Meaning {
                beside: None,
                text: match self.object.dyna {
                    Some(dyna) => dyna.name.into(),
                    None => format!("{number:08X}").into(),
                },
                number: None,
            }),
            (b"COND", "variable") => named(
                "variable_name",
                variable_name(number),
                Some(variable_number),
            ),
            (b"PARP", "interp") => named(
                "interp_name",
                interpolation(number),
                Some(interpolation_number),
            ),
            (b"PKUP", "pickup") => named("pickup_name", pickup_name(number), Some(pickup_number)),
            (b"TRIG", "subtype") => named("shape", trigger_shape(u8::try_from(number).ok()?), None),
            (b"VIL ", "npc_type") => Some(Meaning {
                beside: Some("npc_type_name"),
                text: npc_type(number)?.into(),
                number: None,
            }),
            _ => ().meaning(column, value),
        }
    }

    fn rule<'a>(&self, field: &str) -> Option<Rule<'a>> {
        Some(match (&self.code, field) {
            (b"GRUP", "item_count") | (b"MVPT", "point_count") => Rule::Count("list"),
            (b"PARS" | b"UIM ", "cmd_count") => Rule::Count(COMMANDS),
            (b"PARS" | b"UIM ", "cmd_size") => Rule::Derived("follows from the list commands"),
            (b"PARS" | b"UIM ", "type") => {
                Rule::Derived("selects the fields: delete the command, and add another")
            }
            (b"DYNA", "version")
                if self.game.is_incredibles_or_later()
                    && self.object.dyna.is_some_and(|dyna| dyna.version.is_some()) =>
            {
                Rule::Derived("selects the fields, and cannot be changed")
            }
            (_, field) if self.object.counts.iter().any(|(count, _)| *count == field) => {
                Rule::Derived("is the number of elements of a list")
            }
            (_, field) if self.object.offsets.contains(&field) => Rule::Derived("is an offset"),
            (_, field) => return self.selector(field),
        })
    }
}

/// The words of records in lists.
#[derive(Clone, Copy)]
pub(crate) struct RecordWords<'a>(pub(crate) &'a Typed);

impl Words for RecordWords<'_> {
    fn meaning(&self, column: &record::Column, value: record::Value) -> Option<Meaning> {
        let event = value.unsigned().filter(|_| column.name == "event");
        let Some(event) = event.and_then(|event| u16::try_from(event).ok()) else {
            return ().meaning(column, value);
        };
        Some(Meaning {
            beside: Some("event_name"),
            text: event_name(self.0.game, event)?.into(),
            number: None,
        })
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

/// The columns of the words for a link's events.
pub(crate) const WORDS: [&str; 2] = ["event_word", "send_word"];

/// Returns the cells of a link's parameters, and the words for its events.
pub(crate) fn parameters(link: &Link, game: Game, names: Names<'_>) -> Vec<Value> {
    let words = link.parameters.iter();
    let words = words.map(|&bits| fields::parameter(bits, names, Value::from));
    let mut row: Vec<_> = words.collect();
    row.extend(names.pair(link.parameter_asset));
    row.extend(names.pair(link.check_asset));
    row.extend(link.event_words(game).map(Value::from));
    row
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
