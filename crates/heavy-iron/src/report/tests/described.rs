//! Every described type of objects in every game that has it: the JSON of an object, as an
//! edit, turns another object of the same structure into it.

use bytes::Bytes;
use fixtures::stored_values;
use proptest::prelude::*;

use super::edits::{OfType, edited, open, stored};
use crate::Facts;
use crate::object::view::FORMAT;
use crate::object::{self, Object, Parameter, all_dyna_types};
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::edit::{self, Form, Place, What};
use hpimount_containers::io::{Cursor, Endian};
use hpimount_containers::volume::Game;
use hpimount_record::{FixedSize, Value};

const GAMES: [Game; 6] = [
    Game::Scooby,
    Game::ScoobyPrototype,
    Game::Bfbb,
    Game::Incredibles,
    Game::Rotu,
    Game::RatProto,
];

/// The longest object without its link, in bytes.
const LONGEST: usize = 640;

/// Returns the values of an object that are declared as stored as JSON, and their places.
fn shown(asset: &Bytes, archive: &OfType) -> (String, Vec<(String, Place)>) {
    let view = open(asset, archive);
    let (_, values) = view.values(archive).unwrap();
    let mut places = Vec::new();
    stored(&values, "", &mut places);
    let values = stored_values(&values).unwrap_or(Value::Map(Vec::new()));
    (values.to_string(), places)
}

/// Changes the bytes of `asset` at a place, if its JSON sets all of them.
fn change(other: &mut [u8], asset: &[u8], place: &Place) {
    let range = place.offset..place.offset + place.form.size();
    let (new, old) = (&mut other[range.clone()], &asset[range]);
    let word = Cursor::new(old, 0, place.endian).u32("word");
    let word = match (place.form, word.unwrap_or_default()) {
        // A number that is not finite is shown as null, which keeps it.
        (Form::Float, word) if !f32::from_bits(word).is_finite() => return,
        // A parameter is edited as a float, an id or an integer as it was shown.
        (Form::Parameter(_), word) => match Parameter::of(word) {
            Parameter::Zero => return,
            Parameter::Float(_) => 2.5_f32.to_bits(),
            Parameter::Number(_) => 7,
        },
        // It is part of a number that is shown, too.
        (Form::Flag { .. }, _) => return,
        _ => return (new.iter_mut().zip(old)).for_each(|(new, old)| *new = old ^ 0x15),
    };
    new.copy_from_slice(&match place.endian {
        Endian::Big => word.to_be_bytes(),
        Endian::Little => word.to_le_bytes(),
    });
}

/// Checks that the JSON of an object makes another one the same.
fn check(asset: &Bytes, archive: &OfType) {
    let (json, places) = shown(asset, archive);
    let mut other = asset.to_vec();
    for (_, place) in &places {
        change(&mut other, asset, place);
    }
    let other = Bytes::from(other);
    let described = format!("{} {:?} {asset:?}", archive.0.escape_ascii(), archive.1);
    let (_, found) = shown(&other, archive);
    assert_eq!(
        found.len(),
        places.len(),
        "the fields of {described} differ"
    );
    for ((path, place), (other, found)) in places.iter().zip(&found) {
        let (is, should) = ((other, found.offset), (path, place.offset));
        assert_eq!(is, should, "the fields of {described} differ");
    }
    let values = edit::value_of_json(json.as_bytes()).unwrap();
    let new = edited(&other, archive, What::Values(values));
    assert_eq!(new, Ok(asset.to_vec()), "{described}: {json}");
}

/// Returns small numbers, so that lists are short and kinds known.
fn small(bytes: &[u8], endian: Endian) -> Vec<u8> {
    let word = |chunk: &[u8]| match endian {
        Endian::Big => [0, 0, 0, chunk[0] % 3],
        Endian::Little => [chunk[0] % 3, 0, 0, 0],
    };
    bytes.chunks(4).flat_map(word).collect()
}

/// Checks some objects of a type with these bytes. `dyna` is the number and the version
/// of a DYNA type.
fn check_type(bytes: &[u8], archive: &OfType, dyna: Option<(u32, u16)>) {
    let &OfType(code, _, endian) = archive;
    let kind = archive.asset().unwrap();
    let facts = Facts {
        platform: kind.platform,
        endian,
        game: kind.game,
    };
    let of = |bytes: &[u8], length: usize| {
        let (mut head, link) = (bytes[..length].to_vec(), &bytes[LONGEST..]);
        if let Some((number, version)) = dyna {
            let (number, version) = match endian {
                Endian::Big => (number.to_be_bytes(), version.to_be_bytes()),
                Endian::Little => (number.to_le_bytes(), version.to_le_bytes()),
            };
            head[8..12].copy_from_slice(&number);
            head[12..14].copy_from_slice(&version);
        }
        if !object::is_bare(code) {
            head[5] = 1;
            head.extend(link);
        }
        Bytes::from(head)
    };
    // Random offsets let texts and lists share bytes with the fields.
    let is_whole = |object: &Object| {
        let texts = object.warnings.texts();
        let is_known = texts.iter().all(|text| text.starts_with("base type"));
        let has_lists = object.lists.iter().any(|(_, rows)| !rows.is_empty());
        let is_apart = object.floor.is_none() && (object.offsets.is_empty() || !has_lists);
        is_known && is_apart && object.rest.is_empty()
    };
    // In words. Types may have several lengths.
    let least = if dyna.is_some() { 4 } else { 2 };
    let start = least.max(usize::from(bytes[0]) / 2);
    let found = [bytes, &small(bytes, endian)].map(|bytes| {
        let lengths = (start..=LONGEST / 4).chain(least..start);
        let mut assets = lengths.map(|words| of(bytes, 4 * words));
        assets
            .find(|asset| object::parse(asset, &facts, code).is_ok_and(|object| is_whole(&object)))
    });
    let mut found: Vec<_> = found.into_iter().flatten().collect();
    if found.is_empty() {
        found.push(of(bytes, LONGEST / 2));
    }
    for asset in found {
        check(&asset, archive);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1,
        // A smaller failure is no clearer.
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_values_of_an_object_turn_another_one_into_it(
        bytes in proptest::collection::vec(any::<u8>(), LONGEST + object::Link::SIZE),
    ) {
        let mut orders = bytes.iter().map(|byte| match byte % 2 {
            0 => Endian::Big,
            _ => Endian::Little,
        }).cycle();
        for game in GAMES {
            let types = FORMAT.asset_types.iter().copied();
            let types = types.filter(|code| object::is_described(*code, game));
            let types = types.map(|code| (code, None));
            let dyna = all_dyna_types().filter(|dyna| dyna.games.contain(game));
            let dyna = dyna.map(|dyna| (dyna.number, dyna.version.unwrap_or_default()));
            for (code, dyna) in types.chain(dyna.map(|dyna| (*b"DYNA", Some(dyna)))) {
                let endian = orders.next().unwrap();
                check_type(&bytes, &OfType(code, game, endian), dyna);
            }
        }
    }
}
