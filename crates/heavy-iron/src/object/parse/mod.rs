//! Objects: assets with a common header and links at the end (FORMATS, HIP assets 6).

mod body;
mod dyna;
mod events;
mod floor;
mod later;
mod names;
mod sections;
mod types;

pub(crate) use body::flags_endian;
#[cfg(test)]
pub(crate) use dyna::all_dyna_types;
pub use dyna::{DynaType, dyna_types};
pub use events::{EventNumber, event_name, event_number, event_word};
pub use floor::Floor;
pub use later::is_bare;
pub use names::{
    base_type_name, base_type_number, condition_number, condition_sign, interpolation,
    interpolation_number, npc_type, pickup_name, pickup_number, trigger_shape, variable_name,
    variable_number,
};
pub use types::{ObjectType, object_type};

use bytes::Bytes;
use hpimount_record::Record;

use self::body::Body;
use crate::parts::{Kinds, Part};
pub use crate::record::Parameter;
use crate::record::{Rows, Value};
use crate::{Facts, Game, Parsed, read_into};
use hpimount_containers::io::Warnings;

/// Length of the header of an object in bytes.
const HEADER: usize = 8;

/// An object.
#[derive(Debug, Default)]
pub struct Object {
    /// The asset's own id.
    pub id: u32,
    /// Number of its type.
    pub base_type: u8,
    /// Number of links, as stored.
    pub link_count: u8,
    /// Flags, see [`Object::flag_names`].
    pub flags: u16,
    /// Presence of the padding word of Battle for Bikini Bottom; `None` for objects
    /// that are not entities.
    pub has_pad: Option<bool>,
    /// The fields after the header, in order: of an entity, of the type and its parts,
    /// of the DYNA type.
    pub parts: Vec<Part>,
    /// The type of a DYNA asset, if known.
    pub dyna: Option<&'static DynaType>,
    /// The ids in a list: members of a GRUP, next points of an MVPT.
    pub list: Rows,
    /// Lists of records, with the names of the lists.
    pub lists: Vec<(&'static str, Rows)>,
    /// The count fields of these lists, and the lists.
    pub counts: Vec<(&'static str, &'static str)>,
    /// The fields that are offsets of lists.
    pub offsets: Vec<&'static str>,
    /// The fields that select an unknown kind of a part.
    pub unknown_kinds: Vec<&'static str>,
    /// The kinds of the commands, if there are any.
    pub commands: Kinds,
    /// The texts and states of a DSCO.
    pub floor: Option<Floor>,
    /// The bytes after the known fields.
    pub rest: Bytes,
    /// Offset of these bytes in the asset.
    pub rest_offset: usize,
    /// The links.
    pub links: Vec<Link>,
    /// Offset of the links in the asset; `None` if they do not fit.
    pub links_offset: Option<usize>,
    /// Light kit of a PLYR, which follows the links.
    pub light_kit: Option<u32>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A link: an event of the object sends an event to another object.
#[derive(Debug, Default, Clone, Copy, PartialEq, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
pub struct Link {
    /// Number of the event of this object.
    pub source_event: u16,
    /// Number of the event that is sent.
    pub target_event: u16,
    /// Id of the receiving object, 0 for none.
    pub target: u32,
    /// Parameters as stored: floats, ids, or integers.
    pub parameters: [u32; 4],
    /// Id of an asset as a parameter, 0 for none.
    pub parameter_asset: u32,
    /// Id of an asset to check, 0 for none.
    pub check_asset: u32,
}

impl Link {
    /// Returns the value of a parameter, unless it is the id of a known asset.
    pub fn parameter(&self, index: usize) -> Parameter {
        Parameter::of(self.parameters.get(index).copied().unwrap_or_default())
    }

    /// Returns the names of the two events in a game with known events.
    pub fn event_names(&self, game: Game) -> [Option<&'static str>; 2] {
        self.events(game, event_name)
    }

    /// Returns an editor's words for the two events, like [`Link::event_names`].
    pub fn event_words(&self, game: Game) -> [Option<&'static str>; 2] {
        self.events(game, event_word)
    }

    fn events(
        &self,
        game: Game,
        shown: fn(Game, u16) -> Option<&'static str>,
    ) -> [Option<&'static str>; 2] {
        [self.source_event, self.target_event].map(|number| shown(game, number))
    }
}

impl Object {
    /// Returns the names and values of the flags.
    pub fn flag_names(&self) -> [(&'static str, bool); 5] {
        let flag = |bit: u16| self.flags & bit != 0;
        [
            ("enabled", flag(1)),
            ("persistent", flag(2)),
            ("valid", flag(4)),
            ("visible_in_cutscenes", flag(8)),
            ("receive_shadows", flag(16)),
        ]
    }

    /// Returns all fields after the header.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.parts.iter().flat_map(|part| part.record.fields())
    }

    /// Returns the last field with this name. A DYNA field may have the same name as a
    /// field of all objects.
    pub fn field(&self, name: &str) -> Option<Value> {
        self.parts
            .iter()
            .rev()
            .find_map(|part| part.record.get(name))
    }

    /// Returns the number in a field, or 0 without the field.
    fn number(&self, name: &str) -> usize {
        self.field(name).map_or(0, count_of)
    }
}

/// Returns a number of elements. A negative one is impossibly large.
fn count_of(value: Value) -> usize {
    match value {
        Value::Unsigned(number) => number as usize,
        Value::Signed(number) => usize::try_from(number).unwrap_or(usize::MAX),
        _ => 0,
    }
}

/// Returns whether assets with this code are parsed like objects: they begin with a
/// header and end with links, unless they [lack both](is_bare).
pub fn is_object(code: [u8; 4]) -> bool {
    object_type(code).is_some() || later::is_later(code)
}

/// Returns whether fields of a type are described in a game.
#[cfg(test)]
pub(crate) fn is_described(code: [u8; 4], game: Game) -> bool {
    object_type(code).is_some() || later::layouts(code, game).next().is_some()
}

/// Returns whether objects of a type begin with the fields of an entity, in any game.
pub fn is_entity(code: [u8; 4]) -> bool {
    object_type(code).is_some_and(|known| known.is_entity) || later::is_entity(code)
}

/// Parses an object of type `code`. For an unknown type, the whole body is in
/// [`Object::rest`].
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) if the asset is shorter
/// than a header. Anything else that is invalid is a warning.
pub fn parse(bytes: &Bytes, facts: &Facts, code: [u8; 4]) -> Parsed<Object> {
    read_into(bytes, Object::default(), |object| {
        Body::read(bytes, facts, code, object)
    })
}

impl Object {
    /// Returns the references except for link targets: the nonzero ids in the fields
    /// and in the list, with the names of their fields.
    pub fn references(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let listed = self.list.iter().filter_map(|record| record.number("id"));
        let rows = self.lists.iter().flat_map(|(_, rows)| rows.iter());
        let in_rows = rows.flat_map(|record| record.ids());
        let in_parts = self.parts.iter().flat_map(|part| {
            let listed = part.list.iter().flat_map(|(_, rows)| rows.iter());
            let listed = listed.flat_map(|record| record.ids());
            part.record.ids().into_iter().chain(listed)
        });
        let all = in_parts.chain(in_rows).chain(listed.map(|id| ("list", id)));
        all.chain(self.light_kit.map(|id| ("light_kit", id)))
            .filter(|(_, id)| *id != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Platform;
    use crate::record::{Kind, size};
    use hpimount_containers::io::Endian;

    fn facts(game: Game) -> Facts {
        Facts::new(Platform::GameCube, game)
    }

    fn header(base_type: u8, links: u8) -> Vec<u8> {
        vec![0, 0, 0, 9, base_type, links, 0, 0x1D]
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn links_are_at_the_end_and_have_names_in_known_games() {
        let timer = words(&[0x4020_0000, 0x3F00_0000]);
        let link = words(&[0x0014_0002, 7, 0x3FC0_0000, 0, 0xFFFF_FFFF, 0, 8, 9]);
        let bytes = Bytes::from([header(14, 1), timer, link].concat());
        let object = parse(&bytes, &facts(Game::Bfbb), *b"TIMR").unwrap();
        assert!(object.warnings.is_empty(), "{:?}", object.warnings);
        assert_eq!(object.field("seconds"), Some(Value::Float(2.5)));
        let link = object.links[0];
        assert_eq!(
            (link.target, link.parameter_asset, link.check_asset),
            (7, 8, 9)
        );
        let parameters = [0, 1, 2].map(|index| link.parameter(index));
        let expected = [
            Parameter::Float(1.5),
            Parameter::Zero,
            Parameter::Number(u32::MAX),
        ];
        assert_eq!(parameters, expected);
        assert_eq!(
            link.event_names(Game::Bfbb),
            [Some("Expired"), Some("Disable")]
        );
        assert_eq!(link.event_names(Game::Unknown), [None, None]);
        assert!(object.flag_names()[0].1 && !object.flag_names()[1].1);
    }

    #[test]
    fn links_that_do_not_fit_are_omitted() {
        let bytes = Bytes::from([header(14, 255), words(&[0, 0])].concat());
        let object = parse(&bytes, &facts(Game::Bfbb), *b"TIMR").unwrap();
        assert!(object.links.is_empty() && object.rest.is_empty());
        assert_eq!(object.warnings.len(), 1);
        assert!(parse(&bytes.slice(..7), &facts(Game::Bfbb), *b"TIMR").is_err());
        assert_eq!(
            parse(&Bytes::new(), &facts(Game::Bfbb), *b"TIMR")
                .unwrap()
                .id,
            0
        );
    }

    /// Returns an entity with an alpha speed of 255 and a model.
    fn simple(pad: usize, rest: usize) -> Bytes {
        let one = 0x3F80_0000;
        let mut fields = vec![0x0100_0000];
        fields.extend(vec![0; pad]);
        fields.push(0xDEAD_BEEF);
        fields.extend([one; 13]);
        fields.extend([0x437F_0000, 0xFEED_F00D, 0xFEED_F00D]);
        fields.extend(vec![0; rest]);
        Bytes::from([header(11, 0), words(&fields)].concat())
    }

    #[test]
    fn the_padding_word_is_detected_by_the_length_or_else_by_the_floats() {
        let read = |pad, rest, game| {
            let object = parse(&simple(pad, rest), &facts(game), *b"SIMP").unwrap();
            assert_eq!(object.field("alpha_speed"), Some(Value::Float(255.0)));
            (object.has_pad, object.warnings.len())
        };
        assert_eq!(read(1, 3, Game::Bfbb), (Some(true), 0));
        assert_eq!(read(0, 3, Game::Scooby), (Some(false), 0));
        assert_eq!(read(0, 3, Game::Bfbb), (Some(false), 1));
        assert_eq!(read(1, 3, Game::Incredibles), (Some(true), 1));
        assert_eq!(read(1, 9, Game::Bfbb).0, Some(true));
        assert_eq!(read(0, 9, Game::Bfbb).0, Some(false));
    }

    #[test]
    fn bodies_of_unknown_length_in_later_games_are_not_parsed() {
        let object = parse(&simple(0, 9), &facts(Game::Rotu), *b"SIMP").unwrap();
        assert_eq!((object.rest.len(), object.field("anim_speed")), (36, None));
        let warning = "object at 0x0: has 116 bytes without its links, usually 92";
        assert_eq!(object.warnings.texts(), [warning]);
        let object = parse(&simple(0, 9), &facts(Game::Rotu), *b"ZLIN").unwrap();
        assert_eq!(object.rest.len(), 80 - 8 + 36);
    }

    /// Returns an object of a type of the other games with this body.
    fn other(code: &[u8; 4], body: &[u32]) -> Object {
        let object = odd(code, body);
        assert!(object.warnings.is_empty(), "{:?}", object.warnings);
        object
    }

    /// Returns an object that may have warnings.
    fn odd(code: &[u8; 4], body: &[u32]) -> Object {
        let bytes = Bytes::from([header(0, 0), words(body)].concat());
        parse(&bytes, &facts(Game::Incredibles), *code).unwrap()
    }

    #[test]
    fn groups_of_sounds_and_splines_have_lists_of_records() {
        const ONE: u32 = 0x3F80_0000;
        let group = [0, 0x0200_3080, 0, ONE, ONE, 0];
        let sounds = [7, ONE, 0, 0, 8, 0, 0, ONE];
        let object = other(b"SGRP", &[&group[..], &sounds].concat());
        assert!(object.rest.is_empty());
        let [(name, rows)] = &object.lists[..] else {
            panic!("{object:?}");
        };
        assert_eq!((*name, rows.len()), ("sounds", 2));
        let found: Vec<_> = object.references().collect();
        assert_eq!(found, [("sound", 7), ("sound", 8)]);
        // Another length is another layout.
        let object = odd(b"SGRP", &[&group[..], &sounds, &[0]].concat());
        assert_eq!((object.rest.len(), object.parts.len()), (60, 0));
        let warning = "body at 0x8: no layout of incredibles/tssm has 60 bytes";
        assert_eq!(object.warnings.texts(), [warning]);
        assert!(object.lists.is_empty());
        // A curve of degree 1 has two knots more than points.
        let points = [ONE; 9];
        let knots = [0, 0, ONE, ONE, ONE];
        let spline = [&[1, 4, 2, 0, 0][..], &points, &knots].concat();
        let object = other(b"SPLN", &spline);
        let found = object.lists.iter().map(|(name, rows)| (*name, rows.len()));
        assert_eq!(found.collect::<Vec<_>>(), [("points", 3), ("knots", 5)]);
        assert!(object.rest.is_empty());
    }

    #[test]
    fn scripts_are_read_by_the_layout_that_ends_with_them() {
        let event = |length: usize| [&[0x3F80_0000, 9, 20][..], &vec![0; length - 3]].concat();
        for (body, events) in [
            ([&[0, 2][..], &event(8), &event(8)].concat(), 2),
            ([&[0, 1, 1 << 24][..], &event(8)].concat(), 1),
            ([&[0, 2, 0][..], &event(9), &event(9)].concat(), 2),
            (vec![0, 0], 0),
        ] {
            let object = other(b"SCRP", &body);
            assert_eq!((object.lists[0].1.len(), object.rest.len()), (events, 0));
            let targets = object.references().filter(|found| *found == ("target", 9));
            assert_eq!(targets.count(), events);
        }
        let object = odd(b"SCRP", &[&[0, u32::MAX][..], &event(8)].concat());
        assert_eq!((object.lists.len(), object.rest.len()), (1, 0));
        let warning = "events at 0x10: has 1 records of 4294967295";
        assert_eq!(object.warnings.texts(), [warning]);
    }

    #[test]
    fn commands_of_menus_and_points_in_another_byte_order_are_read() {
        let command = |kind, body: &[u32]| [&[kind, 0, 0, 0, 0, 1 << 24][..], body].concat();
        let commands = [command(3, &[0]), command(6, &[0, 0]), command(0, &[0, 0])].concat();
        let length = 4 * commands.len() as u32;
        let object = other(
            b"UIM ",
            &[&[0x0301_0000, length, 0, 0][..], &commands].concat(),
        );
        let kinds: Vec<_> = object.parts.iter().filter_map(|part| part.kind).collect();
        assert_eq!(kinds, ["opacity", "color", "move"]);
        let path = [0, 0x0001_0002, 0, 0, 0x0000_803F, 0, 0, 5, 0, 0, 6, 7, 8];
        let object = other(b"SPLP", &path);
        assert_eq!(
            object.field("hover_point"),
            Some(Value::Vec3([1.0, 0.0, 0.0]))
        );
        let found: Vec<_> = object.references().map(|(_, id)| id).collect();
        assert_eq!(found, [5, 6, 7, 8]);
    }

    #[test]
    fn every_layout_of_the_other_games_ends_with_its_object() {
        for (code, words) in [
            (b"CCRV", 8),
            (b"DTRK", 10),
            (b"DUPC", 39),
            (b"GRSM", 8),
            (b"HANG", 18 + 8),
            (b"NPC ", 18 + 29),
            (b"PEND", 18 + 12),
            (b"PGRS", 1),
            (b"RANM", 2),
            (b"SCRP", 3),
            (b"TPIK", 2),
            (b"TRWT", 2),
            (b"VOLU", 18),
            (b"VOLU", 23),
        ] {
            let object = other(code, &vec![0; words]);
            let shown = code.escape_ascii();
            assert!(object.rest.is_empty(), "{shown}: {:?}", object.rest);
            let object = odd(code, &vec![0; words + 1]);
            assert_eq!(object.warnings.len(), 1, "{shown}");
            assert!(object.rest.len() >= 4, "{shown}");
        }
    }

    #[test]
    fn types_of_later_games_are_read_if_the_game_is_unknown() {
        let kind = hpimount_containers::hip::asset_id(b"Enemy:RATS:LeftArm");
        let arm = [words(&[kind, 0x0001_0000]), vec![0; 8 + 72 + 20]].concat();
        let bytes = Bytes::from([header(0, 0), arm].concat());
        let object = parse(&bytes, &facts(Game::Unknown), *b"DYNA").unwrap();
        assert!(object.warnings.is_empty(), "{:?}", object.warnings);
        assert!(object.rest.is_empty() && object.field("npc_walls").is_some());
    }

    #[test]
    fn an_asset_has_a_limited_number_of_fields() {
        let states = 16_000;
        let head = words(&[0, states, 0, 0, 0, 0, 0, 0, 0, 0]);
        let bytes = Bytes::from([head, vec![0; 52 * states as usize]].concat());
        let object = parse(&bytes, &facts(Game::Incredibles), *b"DEST").unwrap();
        let fields = object.fields().count();
        assert!((190_000..=200_000).contains(&fields), "{fields}");
        let warnings = object.warnings.texts();
        assert!(
            warnings[0].contains("more than 200000 fields"),
            "{warnings:?}"
        );
    }

    #[test]
    fn layouts_are_not_longer_than_the_assets() {
        for code in [
            b"BOUL", b"PLAT", b"SURF", b"TRIG", b"UIFT", b"SIMP", b"ENV ",
        ] {
            let known = object_type(*code).unwrap();
            let entity = if known.is_entity { 0x54 - HEADER } else { 0 };
            let needed = HEADER + entity + size(known.fields);
            assert!(known.size.is_none_or(|size| needed <= size), "{known:?}");
        }
        let is_pad = |column: &crate::record::Column| column.kind == Kind::Pad4;
        assert!(!types::ENTITY.iter().any(is_pad));
        assert!(is_object(*b"ZLIN") && !is_object(*b"RWTX"));
    }

    #[test]
    fn little_endian_objects_are_read_too() {
        let facts = Facts::new(Platform::Xbox, Game::Bfbb);
        let bytes = Bytes::from_static(b"\x09\0\0\0\x16\0\x1D\0\xFD\xFF\0\0");
        let object = parse(&bytes, &facts, *b"CNTR").unwrap();
        assert_eq!((facts.endian, object.id), (Endian::Little, 9));
        assert_eq!(object.field("count"), Some(Value::Signed(-3)));
    }
}
