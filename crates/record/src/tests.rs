//! Tests of records.

use super::*;

struct Parts;

impl Bits for Parts {
    const BITS: &'static [(&'static str, u32)] = &[("alpha", 2), ("level", 8)];
    const REVERSED_IN_BIG: bool = true;
}

#[derive(Debug, Default, Clone, PartialEq, Record)]
struct Inner {
    scale: i16,
    code: Code,
}

/// One field of every type.
#[derive(Debug, Default, Clone, PartialEq, Record)]
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
    #[record(name = "kind")]
    class: u8,
    flags: Flags<u32, Parts>,
    parent: Index<u8>,
    neighbor: Index<i16>,
    inner: Inner,
    volume: f32,
}

fn set_json(record: &mut Every, json: &str) -> std::result::Result<(), String> {
    let value = Value::parse(json).unwrap();
    set(record, &value).map_err(|problem| problem.to_string())
}

#[test]
fn json_has_every_field_by_name_in_order() {
    let shown = value(&Every::default()).to_string();
    let expected = concat!(
        r#"{"size":0,"color":[0,0,0],"hash":"0x00000000","matrix":[[0.0,0.0],[0.0,0.0]],"name":"","kind":0,"#,
        r#""flags":{"value":"0x00000000","alpha":0,"level":0},"parent":0,"neighbor":0,"#,
        r#""inner":{"scale":0,"code":"0x00000000"},"volume":0.0}"#,
    );
    assert_eq!(shown, expected);
}

#[test]
fn columns_follow_from_the_type() {
    let expected = "size color_r color_g color_b hash name kind flags flags_alpha flags_level parent neighbor inner_scale inner_code volume";
    assert_eq!(columns(&Every::default()).join(" "), expected);
}

#[test]
fn an_edit_changes_what_it_names_and_nothing_else() {
    let mut record = Every {
        pad: Pad([1, 2, 3]),
        name: Text(*b"ab\0cd\0"),
        ..Every::default()
    };
    let json = r#"{"flags": {"level": "0x2A"}, "name": "ab", "volume": -1}"#;
    set_json(&mut record, json).unwrap();
    assert_eq!((record.flags.stored, record.volume), (0x2a << 2, -1.0));
    assert_eq!((record.pad, &record.name.0), (Pad([1, 2, 3]), b"ab\0cd\0"));
    set_cell(&mut record, "name", "longe").unwrap();
    set_cell(&mut record, "inner_scale", "30").unwrap();
    set_cell(&mut record, "parent", "").unwrap();
    assert_eq!(
        (record.name.text().as_str(), record.inner.scale),
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
            "kind: \"hail\" is not a whole number",
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
            r#"{"inner": {"scale": 1e6}}"#,
            "inner.scale: \"1000000\" is not from -32768 to 32767",
        ),
        (r#"{"matrix": [[1e39, 0], [0, 0]]}"#, ""),
        (r#"{"pitch": 1}"#, "pitch: is not a field here"),
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
    let error = fill(&mut record, &mut Cursor::new(&bytes, 0x800, Endian::Little));
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
        | 0x00 | `scale` | `i16` |  |\n| 0x02 | `code` | `Code` |  |\n";
    assert_eq!(field_table(&Inner::default()), expected);
}
