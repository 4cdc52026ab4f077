//! The values of tables, as they are edited.

use crate::fields::{self, Shown, Words};
use crate::names::Names;
use crate::object::view::ranges;
use crate::record::{Record, Rows as Records, size};
use crate::table_view::Sheets;
use hpimount_assets::view::edit::{Counted, Elements, Form, Place, Rule};
use hpimount_assets::view::node::{self, Entry, Node, Nodes};
use hpimount_record::Value;

/// Offset of the number of models in a MINF.
const MODEL_COUNT: usize = 4;

/// The most records of a list.
const MAX_RECORDS: usize = 1 << 16;

/// Returns the values of a table: `rows`, ids before them, or the `position` of a marker.
pub(super) fn of<'a>(sheets: &'a Sheets, names: Names<'a>) -> Node<'a> {
    let id = |name, id, offset, endian| {
        let place = Place::new(offset, endian, Form::Reference(fields::ID));
        (name, Node::from(names.in_object(id)).stored(place))
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
            head.chain([rows(&info.models, Some(MODEL_COUNT), names)])
                .collect()
        }
        Sheets::Frames(frames) => vec![(ROWS, records(&frames.frames, &(), names))],
        Sheets::States(table) => vec![(ROWS, records(&table.states, &Fixed, names))],
        Sheets::Shrapnel(shrapnel) => {
            let heads = shrapnel
                .fragments
                .iter()
                .filter_map(|one| one.parts.first());
            let heads = heads.map(|head| record_node(&head.record, &Fixed, names));
            vec![(ROWS, Node::List(heads.collect()))]
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

/// The list of the rows of a table.
const ROWS: &str = "rows";

/// The numbers of tables whose parts cannot be added or deleted.
struct Fixed;

impl Words for Fixed {
    fn rule<'a>(&self, field: &str) -> Option<Rule<'a>> {
        Some(Rule::Derived(match field {
            "effect_count" | "effect_offset" | "sub_count" => "follows from the parts of the table",
            "type" => "selects the fields, and cannot be changed",
            _ => return None,
        }))
    }
}

/// Returns records that can be added and deleted; `count` is the offset of their number.
/// A list without a number keeps its length.
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
    Node::Map(Shown::in_object(words, names).fields(record))
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

    /// Returns the changed words of a table, by their numbers.
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
            (b"JAW ", &mouths, "rows[1].sound", 4),
            (b"SHRP", &shrapnel, "rows[0].parent1", 5),
        ] {
            assert_eq!(changed(code, table, path), [(at, 0xABCD)], "{path}");
        }
    }

    #[test]
    fn states_of_characters_have_numbers_that_follow_from_their_effects() {
        let table = [&[0x4C42_5441, 0, 0, 1, 0][..], &[1, 0, 0, 0, 0, 0, 0]].concat();
        let bytes = Bytes::from(words(&table));
        let sheets = parsed(&bytes, b"ATBL");
        let node = of(&sheets, Names(&Alone));
        let apply = |field: &str| {
            let what = What::Value(format!("rows[0].{field}"), Value::Integer(2));
            let edit = Edit::new(String::new(), what);
            edited(&node, &bytes, &[edit], &Alone).map(|edited| edited.unwrap().asset)
        };
        let new = [&table[..9], &[0x4000_0000], &table[10..]].concat();
        assert_eq!(apply("speed"), Ok(words(&new)));
        let reason = "follows from the parts of the table".to_owned();
        assert_eq!(apply("effect_count"), Err(vec![Problem::new(0, reason)]));
    }
}
