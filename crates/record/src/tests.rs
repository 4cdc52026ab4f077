//! Tests of records.

use super::*;

struct Weather;

impl Words for Weather {
    const WORDS: &'static [(i64, &'static str)] = &[(1, "rain"), (2, "snow")];
}

struct Parts;

impl Bits for Parts {
    const BITS: &'static [(&'static str, u32)] = &[("alpha", 2), ("level", 8)];
    const REVERSED_IN_BIG: bool = true;
}

struct Sounds;

impl Kind for Sounds {
    const KIND: &'static str = "sound";
}

#[derive(Debug, Default, Clone, PartialEq, Record)]
struct Inner {
    scale: Fixed<i16, 60>,
    code: Code,
}

/// One field of every type.
#[derive(Debug, Default, Clone, PartialEq, Record)]
#[record(versions = 2)]
struct Every {
    #[record(derived)]
    size: u16,
    /// The color. It is never seen.
    #[record(parts = "r g b")]
    color: [u8; 3],
    hash: Hex<u32>,
    #[record(json)]
    matrix: [[f32; 2]; 2],
    pad: Pad<3>,
    name: Text<6>,
    kind: Enum<u8, Weather>,
    flags: Flags<u32, Parts>,
    parent: Index<u8>,
    neighbor: Index<i16>,
    #[record(name = "sound_id")]
    sound: Named<u32, Sounds>,
    inner: Inner,
    #[record(when = is_later)]
    later: i32,
}

fn is_later(version: u32) -> bool {
    version > 0
}

struct TwoSounds;

impl Names for TwoSounds {
    fn name(&self, _kind: &'static str, number: i64) -> Option<String> {
        ["bang", "boom"]
            .get(usize::try_from(number).ok()?)
            .map(|&name| name.to_owned())
    }

    fn number(&self, _kind: &'static str, name: &str) -> Option<i64> {
        ["bang", "boom"]
            .iter()
            .position(|other| *other == name)
            .map(|index| index as i64)
    }
}

fn scope() -> Scope<'static> {
    Scope {
        version: 1,
        names: &TwoSounds,
    }
}

fn set_json(record: &mut Every, json: &str) -> std::result::Result<(), String> {
    let value = Value::parse(json).unwrap();
    set(record, &value, &scope()).map_err(|problem| problem.to_string())
}

#[test]
fn json_has_every_field_by_name_in_order() {
    let record = Every {
        sound: Named::of(1),
        kind: Enum::of(2),
        ..Every::default()
    };
    let shown = value(&record, &scope()).to_string();
    let expected = concat!(
        r#"{"size":0,"color":[0,0,0],"hash":"0x00000000","matrix":[[0.0,0.0],[0.0,0.0]],"name":"","kind":"snow","#,
        r#""flags":{"value":"0x00000000","alpha":0,"level":0},"parent":0,"neighbor":0,"#,
        r#""sound_id":{"value":1,"name":"boom"},"inner":{"scale":0.0,"code":"0x00000000"},"later":0}"#,
    );
    assert_eq!(shown, expected);
}

#[test]
fn columns_follow_from_the_type_and_the_version() {
    let expected = "size color_r color_g color_b hash name kind flags flags_alpha flags_level parent neighbor sound_id sound_id_name inner_scale inner_code";
    assert_eq!(columns(&Every::default(), 0).join(" "), expected);
    assert_eq!(columns(&Every::default(), 1).last().unwrap(), "later");
}

#[test]
fn an_edit_changes_what_it_names_and_nothing_else() {
    let mut record = Every {
        pad: Pad([1, 2, 3]),
        name: Text(*b"ab\0cd\0"),
        ..Every::default()
    };
    let json =
        r#"{"flags": {"level": "0x2A"}, "sound_id": {"name": "boom"}, "name": "ab", "later": -1}"#;
    set_json(&mut record, json).unwrap();
    assert_eq!(
        (record.flags.stored, record.sound.stored, record.later),
        (0x2a << 2, 1, -1)
    );
    assert_eq!((record.pad, &record.name.0), (Pad([1, 2, 3]), b"ab\0cd\0"));
    set_cell(&mut record, "name", "longe", &scope()).unwrap();
    set_cell(&mut record, "inner_scale", "0.5", &scope()).unwrap();
    set_cell(&mut record, "parent", "", &scope()).unwrap();
    assert_eq!(
        (record.name.text().as_str(), record.inner.scale.stored),
        ("longe", 30)
    );
    assert_eq!((record.parent.get(), record.parent.stored), (None, 255));
}

#[test]
fn of_a_number_and_its_groups_of_bits_the_changed_one_wins() {
    let set = |json: &str| {
        let flags = Flags::default();
        let mut record = Every {
            flags,
            ..Every::default()
        };
        record.flags.stored = 1;
        set_json(&mut record, json).map(|()| record.flags.stored)
    };
    let cases = [
        (
            r#"{"flags": {"value": "0x00000001", "alpha": 1, "level": 3}}"#,
            13,
        ),
        (
            r#"{"flags": {"level": 3, "value": "0x00000001", "alpha": 1}}"#,
            13,
        ),
        (r#"{"flags": {"value": 12, "alpha": 1, "level": 0}}"#, 12),
        (r#"{"flags": {"alpha": 2, "value": 14, "level": 3}}"#, 14),
    ];
    for (json, stored) in cases {
        assert_eq!(set(json), Ok(stored), "{json}");
    }
    let problem = "flags.level: disagrees with the value of all bits";
    let disagreeing = r#"{"flags": {"value": 12, "level": 2}}"#;
    assert_eq!(set(disagreeing), Err(problem.to_owned()));
}

#[test]
fn what_does_not_fit_is_refused_with_field_and_reason() {
    let cases = [
        (
            r#"{"size": 1}"#,
            "size: follows from other values, and cannot be changed",
        ),
        (
            r#"{"color": [1, 2, 256]}"#,
            "color[2]: \"256\" is not from 0 to 255",
        ),
        (
            r#"{"color": [1, 2]}"#,
            "color: \"[1,2]\" is not a list of 3",
        ),
        (
            r#"{"name": "too long"}"#,
            "name: \"too long\" is not at most 5 letters",
        ),
        (
            r#"{"kind": "hail"}"#,
            "kind: \"hail\" is not a known word or number",
        ),
        (
            r#"{"flags": {"alpha": 4}}"#,
            "flags.alpha: \"4\" is not at most 3",
        ),
        (
            r#"{"flags": {"beta": 4}}"#,
            "flags.beta: is not a group of bits here",
        ),
        (
            r#"{"sound_id": "pop"}"#,
            "sound_id: nothing is called \"pop\"",
        ),
        (r#"{"sound_id": {"value": 0, "name": "boom"}}"#, ""),
        (
            r#"{"sound_id": {"value": 7, "name": "boom"}}"#,
            "sound_id: number and name were changed, and do not agree",
        ),
        (
            r#"{"inner": {"scale": 1e6}}"#,
            "inner.scale: \"1000000\" is not a number that fits in steps of 1/60",
        ),
        (r#"{"matrix": [[1e39, 0], [0, 0]]}"#, ""),
        (r#"{"volume": 1}"#, "volume: is not a field here"),
        ("[]", ": \"[]\" is not an object with fields"),
    ];
    for (json, expected) in cases {
        let problem = set_json(&mut Every::default(), json)
            .err()
            .unwrap_or_default();
        assert!(
            problem == expected || json.contains("1e39") && problem.contains("matrix[0][0]"),
            "{json}: {problem}"
        );
    }
}

#[test]
fn the_fields_before_the_damage_are_read() {
    let mut record = Every::default();
    let bytes = [7, 0, 1, 2];
    let error = fill(
        &mut record,
        &mut Cursor::new(&bytes, 0x800, Endian::Little),
        0,
    );
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "Every.color at 0x804: needs 1 bytes, 0 are left");
    assert_eq!((record.size, record.color), (7, [1, 2, 0]));
}

#[test]
fn descriptions_have_types_and_the_first_sentence() {
    let members = Every::default().description().members;
    assert_eq!((members[1].kind, members[1].doc), ("[u8; 3]", "The color"));
    assert_eq!(<Inner as FixedSize>::SIZE, 6);
    let expected = "| offset | field | type | |\n|--:|---|---|---|\n\
        | 0x00 | `scale` | `Fixed<i16, 60>` |  |\n| 0x02 | `code` | `Code` |  |\n";
    assert_eq!(field_table(&Inner::default(), 0), expected);
}
