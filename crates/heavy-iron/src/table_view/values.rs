//! The editable values of tables.

use crate::fields::{self, ObjectFields, Words};
use crate::names::Names;
use crate::object::view::ranges;
use crate::record::{Layout, Record, Rows as Records, layouts, size};
use crate::table_view::Sheets;
use crate::tables::{FRAGMENT, Fragment, ModelInfo, ModelParameter, SOUND_EFFECT};
use hpimount_assets::view::edit::{Counted, Elements, Form, Place, Rule};
use hpimount_assets::view::hex as hex_of;
use hpimount_assets::view::node::{self, Entry, Node, Nodes};
use hpimount_record::Value;

/// Offset of the model count in a MINF.
const MODEL_COUNT: usize = 4;

/// The most records of a list.
const MAX_RECORDS: usize = 1 << 16;

/// Maximum numbers of models and parameters of a MINF.
const MAX_MODELS: usize = 255;

layouts! {
    /// The columns that are edited of the curves of mouths.
    CURVE { sound: Id }

    /// The columns that are edited of parameters.
    PARAMETER { name: Id, value: U32 }
}

/// Returns the list whose elements are the rows of a file of a table, and their fields.
pub(super) fn list_of(sheets: &Sheets, file: &str) -> Option<(&'static str, Layout)> {
    Some(match (sheets, file) {
        (Sheets::List(list), _) => (ROWS, list.rows.layout()),
        (Sheets::Lights(kit), _) => (ROWS, kit.lights.layout()),
        (Sheets::Frames(frames), _) => (ROWS, frames.frames.layout()),
        (Sheets::Models(_), "parameters.tsv") => (PARAMETERS, PARAMETER),
        (Sheets::Models(info), _) => (ROWS, info.models.layout()),
        (Sheets::States(table), "files.tsv") => (FILES, table.files.layout()),
        (Sheets::States(table), "animations.tsv") => (ANIMATIONS, table.animations.layout()),
        (Sheets::States(_), "effects.tsv") => (EFFECTS, SOUND_EFFECT),
        (Sheets::States(table), _) => (ROWS, table.states.layout()),
        (Sheets::Shrapnel(_), _) => (ROWS, FRAGMENT),
        (Sheets::Jaw(_), _) => (ROWS, CURVE),
        (Sheets::Marker(_) | Sheets::Animation(_) | Sheets::Level(_), _) => return None,
    })
}

/// Returns the path of the value that a column of a marker shows, and the value that a text
/// gives it.
pub(super) fn of_marker(column: &str, text: &str) -> Option<(String, Value)> {
    let part = ["x", "y", "z"].iter().position(|name| *name == column)?;
    Some((format!("position[{part}]"), Value::text(text.to_owned())))
}

/// Returns the values of a table: lists of its rows, and what `info.json` shows beside
/// them, such as ids and the `position` of a marker.
pub(super) fn of<'a>(sheets: &'a Sheets, names: Names<'a>) -> Node<'a> {
    let id = |name, id, offset, endian| {
        let place = Place::new(offset, endian, Form::Reference(fields::ID));
        (name, Node::from(names.reference(id)).stored(place))
    };
    let entries: Vec<Entry<'a>> = match sheets {
        Sheets::List(list) => vec![rows(&list.rows, list.count_offset, names)],
        Sheets::Lights(kit) => {
            let group = kit.count_offset.saturating_sub(4);
            let endian = kit.lights.endian();
            let blended = kit.blended.map(|blended| {
                let offset = kit.lights.offset() + kit.lights.bytes().len();
                let place = Place::new(offset, endian, Form::U32);
                ("blended", Node::from(blended).stored(place))
            });
            let lights = [
                id("group", kit.group, group, endian),
                rows(&kit.lights, Some(kit.count_offset), names),
            ];
            lights.into_iter().chain(blended).collect()
        }
        Sheets::Models(info) => {
            let endian = info.models.endian();
            let head = [
                ("animation_table", info.animation_table),
                ("combat", info.combat),
            ];
            let head = head
                .into_iter()
                .chain(info.brain.map(|brain| ("brain", brain)));
            let head = head.enumerate().map(|(index, (name, number))| {
                id(name, number, MODEL_COUNT + 4 + 4 * index, endian)
            });
            let mut models = rows(&info.models, Some(MODEL_COUNT), names);
            if let Node::Ruled(_, Rule::Elements(elements)) = &mut models.1 {
                elements.most = MAX_MODELS;
            }
            head.chain([models, parameters(info, names)]).collect()
        }
        Sheets::Frames(frames) => vec![(ROWS, records(&frames.frames, &(), names))],
        Sheets::States(table) => {
            let effects = table.effects.iter();
            let effects = effects.map(|effect| record_node(&effect.record, &Fixed, names));
            vec![
                (ROWS, records(&table.states, &Fixed, names)),
                (FILES, records(&table.files, &Fixed, names)),
                (ANIMATIONS, records(&table.animations, &Fixed, names)),
                (EFFECTS, Node::List(effects.collect())),
            ]
        }
        Sheets::Shrapnel(shrapnel) => {
            let all = &shrapnel.fragments;
            let heads = all.iter().filter_map(|one| one.parts.first());
            let heads = heads.map(|head| record_node(&head.record, &Fixed, names));
            let fragments = all.iter().map(|one| fragment(one, names));
            vec![
                (ROWS, Node::List(heads.collect())),
                ("fragments", Node::List(fragments.collect())),
            ]
        }
        Sheets::Jaw(jaw) => {
            let curves = jaw.curves.iter();
            let curves =
                curves.map(|one| node::map([id("sound", one.sound, one.offset, one.endian)]));
            vec![(ROWS, Node::List(curves.collect()))]
        }
        Sheets::Marker(marker) => {
            let position = marker.position.map(|position| {
                let parts = position.iter().enumerate().map(|(index, &part)| {
                    let place = Place::new(4 * index, marker.endian, Form::Float);
                    Node::from(Value::Float(part)).stored(place)
                });
                ("position", Node::List(parts.collect()))
            });
            Vec::from_iter(position)
        }
        Sheets::Animation(_) | Sheets::Level(_) => Vec::new(),
    };
    node::map(entries)
}

/// The list of the rows of `table.tsv`. Like the lists of other tables it is not called as
/// the number of its elements in `info.json`.
pub(crate) const ROWS: &str = "table_rows";

/// The list of the parameters of a character.
pub(crate) const PARAMETERS: &str = "parameter_rows";

/// The lists of a table of animations beside its states.
const FILES: &str = "file_rows";
const ANIMATIONS: &str = "animation_rows";
const EFFECTS: &str = "effect_rows";

/// Returns all fields of a fragment, as `info.json` shows them.
pub(super) fn fragment<'a>(fragment: &'a Fragment, names: Names<'a>) -> Node<'a> {
    let kind = Node::from(fragment.kind).derived("selects the fields, and cannot be changed");
    let parts = ObjectFields::in_info(&Fixed, names).entries(&fragment.parts);
    let emit = (!fragment.emit.is_empty()).then(|| ("emit", hex_of(&fragment.emit).into()));
    node::map([("kind", kind)].into_iter().chain(parts).chain(emit))
}

/// Returns the parameters of a character, which have no count.
fn parameters<'a>(info: &'a ModelInfo, names: Names<'a>) -> Entry<'a> {
    let endian = info.models.endian();
    let parameter = move |name: Node<'a>, value: String, offset: usize, size: usize| {
        let form = Form::Own {
            size,
            encode: ModelParameter::encode,
        };
        let id = Place::new(offset, endian, Form::Reference(fields::ID));
        let value_place = Place::new(offset + ModelParameter::NAME, endian, form);
        let value = Node::from(Value::text(value)).stored(value_place);
        node::map([("name", name.stored(id)), ("value", value)])
    };
    let blank = move |value: &Value| {
        let value = value.get("value").unwrap_or(&Value::Null);
        let size = ModelParameter::encode(value, 0)?.len();
        let node = parameter(Value::Null.into(), String::new(), 0, size);
        Ok((ModelParameter::NAME + size, node))
    };
    let size = |parameter: &ModelParameter| 1 + parameter.stored.len();
    let all = &info.parameters;
    let ranges = all.iter().map(|one| {
        let end = one.offset + ModelParameter::NAME + size(one);
        one.offset..end
    });
    let elements = Elements {
        ranges: ranges.collect(),
        start: all.first().map_or(info.end, |first| first.offset),
        counts: Vec::new(),
        most: MAX_MODELS,
        least_length: 0,
        kind: None,
        blank: Box::new(blank),
    };
    let each = move || -> Nodes<'a> {
        Box::new(all.iter().map(move |one| {
            let name = names.in_object(one.name).into();
            parameter(name, one.value(), one.offset, size(one))
        }))
    };
    let each = Node::Each(Box::new(each));
    (PARAMETERS, each.ruled(Rule::Elements(elements)))
}

/// The numbers of tables with parts that cannot be added or deleted.
struct Fixed;

impl Words for Fixed {
    fn rule<'a>(&self, field: &str) -> Option<Rule<'a>> {
        Some(Rule::Derived(match field {
            "effect_count" | "effect_offset" | "sub_count" | "count" | "count2" | "raw_offset"
            | "data_size" => "follows from the parts of the table",
            "type" | "kind" | "location_type" | "bound_type" => {
                "selects the fields, and cannot be changed"
            }
            _ => return None,
        }))
    }
}

/// Returns records that can be added and deleted. `count` is the offset of their
/// number; without it, the list has a fixed length.
fn rows<'a>(rows: &'a Records, count: Option<usize>, names: Names<'a>) -> Entry<'a> {
    let (layout, endian) = (rows.layout(), rows.endian());
    let length = size(layout);
    let blank = move |_: &Value| {
        let fields = fields::blank(layout, endian);
        Ok((length, Node::Map(fields)))
    };
    let count = count.map(|offset| (Place::new(offset, endian, Form::U32), Counted::Elements));
    let elements = Elements {
        ranges: ranges(rows.offset(), rows.len(), length),
        start: rows.offset(),
        least_length: match count {
            Some(_) => 0,
            None => rows.bytes().len(),
        },
        most: match count {
            Some(_) => MAX_RECORDS,
            None => rows.len(),
        },
        counts: count.into_iter().collect(),
        kind: None,
        blank: Box::new(blank),
    };
    (
        ROWS,
        records(rows, &(), names).ruled(Rule::Elements(elements)),
    )
}

fn records<'a>(rows: &'a Records, words: &'a dyn Words, names: Names<'a>) -> Node<'a> {
    let each = move || -> Nodes<'a> {
        Box::new(
            rows.iter()
                .map(move |record| record_node(&record, words, names)),
        )
    };
    Node::Each(Box::new(each))
}

fn record_node<'a>(record: &Record, words: &dyn Words, names: Names<'a>) -> Node<'a> {
    Node::Map(ObjectFields::in_object(words, names).fields(record))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::words;
    use crate::table_view::parse;
    use crate::{Facts, Game, Platform};
    use bytes::Bytes;
    use hpimount_assets::parse::so_far;
    use hpimount_assets::view::Alone;
    use hpimount_assets::view::edit::{Edit, Problem, What, edited};

    fn parsed(bytes: &Bytes, code: &[u8; 4]) -> Sheets {
        let facts = Facts::new(Platform::GameCube, Game::Bfbb);
        let (sheets, error) = so_far(parse(bytes, &facts, *code));
        assert!(error.is_none());
        sheets
    }

    /// Returns the changed words of a table, by number.
    fn changed(code: &[u8; 4], table: &[u32], path: &str) -> Vec<(usize, u32)> {
        let bytes = Bytes::from(words(table));
        let sheets = parsed(&bytes, code);
        let what = What::Value(path.to_owned(), "0000ABCD".to_owned().into());
        let edit = Edit::new(String::new(), what);
        let node = of(&sheets, Names(&Alone));
        let new = edited(&node, &bytes, &[edit], &Alone).unwrap().unwrap();
        let old = table.iter().copied().enumerate();
        let new = new.asset.as_chunks::<4>().0;
        let new = new.iter().map(|word| u32::from_be_bytes(*word));
        let both = old.zip(new).filter(|((_, old), new)| old != new);
        both.map(|((index, _), new)| (index, new)).collect()
    }

    #[test]
    fn ids_of_all_tables_are_edited_where_they_are_stored() {
        let kit = [0x5449_4B4C, 1, 0, 0];
        let characters = [0x464E_494D, 0, 1, 2, 3];
        let mouths = [2, 7, 0, 4, 8, 0, 4, 0];
        let shrapnel = [[1, 9, 0, 7, 1, 2, 3].to_vec(), vec![0; 18]].concat();
        for (code, table, path, at) in [
            (b"LKIT", &kit[..], "group", 1),
            (b"MINF", &characters, "animation_table", 2),
            (b"MINF", &characters, "brain", 4),
            (b"JAW ", &mouths, "table_rows[1].sound", 4),
            (b"SHRP", &shrapnel, "table_rows[0].parent1", 5),
        ] {
            assert_eq!(changed(code, table, path), [(at, 0xABCD)], "{path}");
        }
    }

    #[test]
    fn parameters_of_characters_grow_and_come_and_go() {
        // A parameter with a word after three bytes, and one without.
        let mut bytes = words(&[0x464E_494D, 0, 1, 2, 3]);
        let first = b"\0\0\0\x07\x01ab\0junk";
        let second = b"\0\0\0\x08\0c\0\0";
        bytes.extend(first.iter().chain(second));
        let bytes = Bytes::from(bytes);
        let sheets = parsed(&bytes, b"MINF");
        let node = of(&sheets, Names(&Alone));
        let head = bytes.len() - first.len() - second.len();
        let applied = |edits: &[What]| {
            let edits = edits
                .iter()
                .map(|what| Edit::new(String::new(), what.clone()));
            let edits: Vec<_> = edits.collect();
            let edited = edited(&node, &bytes, &edits, &Alone)?.unwrap();
            assert_eq!(edited.asset[..head], bytes[..head]);
            let again = Bytes::from(edited.asset.clone());
            let sheets = parsed(&again, b"MINF");
            edited.check(&of(&sheets, Names(&Alone)), &again, &Alone)?;
            Ok::<_, Vec<_>>(again[head..].to_vec())
        };
        let value = |number: usize, value: &str| {
            let path = format!("{PARAMETERS}[{number}].value");
            What::Value(path, value.to_owned().into())
        };
        let shorter = b"\0\0\0\x07\x01x\0\0\0\0\0\0";
        assert_eq!(
            applied(&[value(0, "x")]),
            Ok([&shorter[..], second].concat())
        );
        let longer = b"\0\0\0\x08\x01long\0\0\0";
        let both = [&shorter[..], longer].concat();
        assert_eq!(applied(&[value(0, "x"), value(1, "long")]), Ok(both));
        let new = Value::parse(r#"{"name": "00000009", "value": 1.5}"#).unwrap();
        let list = || PARAMETERS.to_owned();
        let edits = [
            What::Deleted(list(), 0),
            What::Added(list(), new),
            value(1, "long"),
        ];
        let new = b"\0\0\0\x09\x011.5\0\0\0\0";
        assert_eq!(applied(&edits), Ok([&longer[..], new].concat()));

        let refused = applied(&[value(0, "→")]).unwrap_err();
        let problem = |text: &str| Problem::new(0, text.to_owned());
        assert_eq!(refused, [problem("'→' cannot be in a value")]);
        let refused = applied(&[value(0, &"x".repeat(1023))]).unwrap_err();
        let reason = "has 1023 letters, at most 1022 are possible";
        assert_eq!(refused, [problem(reason)]);
    }

    #[test]
    fn states_of_characters_have_numbers_that_follow_from_their_effects() {
        let table = [&[0x4C42_5441, 0, 0, 1, 0][..], &[1, 0, 0, 0, 0, 0, 0]].concat();
        let bytes = Bytes::from(words(&table));
        let sheets = parsed(&bytes, b"ATBL");
        let node = of(&sheets, Names(&Alone));
        let apply = |field: &str| {
            let what = What::Value(format!("{ROWS}[0].{field}"), Value::Integer(2));
            let edit = Edit::new(String::new(), what);
            edited(&node, &bytes, &[edit], &Alone).map(|edited| edited.unwrap().asset)
        };
        let new = [&table[..9], &[0x4000_0000], &table[10..]].concat();
        assert_eq!(apply("speed"), Ok(words(&new)));
        let reason = "follows from the parts of the table".to_owned();
        assert_eq!(apply("effect_count"), Err(vec![Problem::new(0, reason)]));
    }
}
