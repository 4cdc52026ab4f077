//! Tests of edited texts, each with the smallest text that shows the promise.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use hpimount_containers::text::windows_1252;

/// A value that is no number.
const VALUE: &str = "[a-z]([a-z0-9 ._=-]{0,8}[a-z0-9])?";

const UNIT: &str = "[UNITINFO]\r\n\t{\r\n\tName=Scout; // in the menu\r\n\tFootprintX=2; \
                    FootprintZ=2;\r\n\tMaxVelocity=1.20;\r\n\t/* Weapon1=EMG; */\r\n\
                    \tWeapon1=GUN;\r\n\t[DAMAGE]\r\n\t\t{\r\n\t\tdefault=110;\r\n\t\t}\r\n\t}\r\n";

/// Returns a text with an edit of a key in its first section.
fn edited(text: &str, name: &str, value: &str) -> String {
    let target = Target::Named(1, name);
    let edited = edit(text.as_bytes(), &[KeyEdit { target, value }]).unwrap();
    windows_1252(&edited).into_owned()
}

/// Returns the refusal of an edit of a key in the first section.
fn refused(text: &str, name: &str, value: &str) -> String {
    let target = Target::Named(1, name);
    let problems = edit(text.as_bytes(), &[KeyEdit { target, value }]).unwrap_err();
    assert_eq!(problems.len(), 1);
    problems[0].1.clone()
}

#[test]
fn only_the_trimmed_value_of_the_last_key_changes() {
    let text = "[A]{\n a = 1 ; A\t=\t2 // old\n\t; b=;}";
    assert_eq!(edited(text, "a", "30"), text.replace("2 //", "30 //"));
    assert_eq!(edited(text, "B", " x "), text.replace("b=;", "b=x;"));
    let name = edited(UNIT, "name", "Größer");
    assert_eq!(name, UNIT.replace("Scout", "Größer"));
}

/// Returns a text of keys, each with its value and the rest of its line.
fn keys(values: &[(String, &'static str)]) -> String {
    let keys = values.iter().enumerate();
    let keys = keys.map(|(number, (value, behind))| format!("\tKey{number}={value};{behind}"));
    let keys: String = keys.collect();
    format!("// [B]\r\n[A]\r\n\t{{\r\n{keys}\t}}\r\n[B] {{ Key0=other; }}\r\n")
}

proptest! {
    #[test]
    fn any_edited_values_change_alone(
        mut values in vec((VALUE, select(&["\r\n", " // x=1;\n", "", " /* y=2; */\r\n"][..])), 1..8),
        new in vec(of(VALUE), 8),
    ) {
        let before = keys(&values);
        let names: Vec<String> = (0..values.len()).map(|number| format!("kEY{number}")).collect();
        let edits = names.iter().zip(&new).filter_map(|(name, value)| {
            let (target, value) = (Target::Named(1, name), value.as_deref()?);
            Some(KeyEdit { target, value })
        });
        let edits: Vec<_> = edits.collect();
        let changed = edit(before.as_bytes(), &edits).unwrap();
        for ((value, _), new) in values.iter_mut().zip(new) {
            *value = new.unwrap_or(std::mem::take(value));
        }
        prop_assert_eq!(String::from_utf8(changed).unwrap(), keys(&values));
    }
}

#[test]
fn a_key_of_a_section_in_the_section_has_its_name_before() {
    let found = edited(UNIT, "damage.Default", "60");
    assert_eq!(found, UNIT.replace("110", "60"));
    let found = edited(UNIT, "damage.commander", "5");
    let line = "\t\tdefault=110;\r\n";
    assert_eq!(
        found,
        UNIT.replace(line, &format!("{line}\t\tcommander=5;\r\n"))
    );
    assert_eq!(
        refused(UNIT, "speed.x", "5"),
        "the section speed for it is missing"
    );
}

#[test]
fn a_value_that_is_the_same_number_keeps_its_digits() {
    for value in ["1.2", "1.20", "01.2000", " 1.20 "] {
        assert_eq!(edited(UNIT, "MaxVelocity", value), UNIT);
    }
    for value in ["1.21", "-1.2", "1,2", "12"] {
        let expected = UNIT.replace("1.20", value);
        assert_eq!(edited(UNIT, "MaxVelocity", value), expected);
    }
    assert_eq!(edited("[A]{a=-0.0;}", "a", "0"), "[A]{a=-0.0;}");
    assert_eq!(edited("[A]{a=.;}", "a", "0"), "[A]{a=0;}");
}

#[test]
fn a_new_key_is_a_line_behind_the_last_one() {
    let line = "\tWeapon1=GUN;\r\n";
    let expected = UNIT.replace(line, &format!("{line}\tCorpse=dead;\r\n"));
    assert_eq!(edited(UNIT, "Corpse", "dead"), expected);
    for (text, expected) in [
        (
            "[A]\n{\n  a=1; // one\n}",
            "[A]\n{\n  a=1; // one\n  b=2;\n}",
        ),
        (
            "[A]\n{\n  a=1; /* 1\n */\n}",
            "[A]\n{\n  a=1; /* 1\n */\n  b=2;\n}",
        ),
        ("[A]{a=1;}", "[A]{a=1; b=2;}"),
        ("[A]{a=1;", "[A]{a=1;\r\nb=2;"),
        ("[A]\n\t{\n\t}\n", "[A]\n\t{\n\tb=2;\n\t}\n"),
        (" [A] {\n }\n", " [A] {\n \tb=2;\n }\n"),
        ("[A]{}", "[A]{ b=2;}"),
    ] {
        assert_eq!(edited(text, "b", "2"), expected);
    }
    assert_eq!(edited(UNIT, "Corpse", ""), UNIT);
}

#[test]
fn new_keys_keep_their_order() {
    let new = |name, value| KeyEdit {
        target: Target::Named(1, name),
        value,
    };
    let edits = [new("c", "1"), new("b", "2"), new("a", ""), new("C", "1")];
    let found = edit(b"[A]\n{\na=0;\n}", &edits).unwrap();
    assert_eq!(windows_1252(&found), "[A]\n{\nc=1;\nb=2;\n}");
}

#[test]
fn an_emptied_key_goes_with_its_line_if_nothing_else_is_on_it() {
    let without = |part| UNIT.replace(part, "");
    assert_eq!(edited(UNIT, "Weapon1", ""), without("\tWeapon1=GUN;\r\n"));
    assert_eq!(edited(UNIT, "FootprintZ", ""), without("FootprintZ=2;"));
    assert_eq!(edited(UNIT, "Name", ""), without("Name=Scout;"));
    assert_eq!(edited("[A]{\n a=1\n\n;\n}", "a", ""), "[A]{\n}");
}

#[test]
fn a_key_is_also_found_by_its_position() {
    let text = "[A]{a=1;a=2;}";
    let at = |position| KeyEdit {
        target: Target::At(position),
        value: "5",
    };
    assert_eq!(edit(text.as_bytes(), &[at(1)]).unwrap(), b"[A]{a=5;a=2;}");
    let problems = edit(text.as_bytes(), &[at(0), at(3)]).unwrap_err();
    let texts = problems.iter().map(|(edit, text)| (*edit, &**text));
    let reason = "is no key of the text";
    assert_eq!(texts.collect::<Vec<_>>(), [(0, reason), (1, reason)]);
}

#[test]
fn what_would_end_a_value_is_refused() {
    for (value, what) in [
        ("Tank; big", "\";\" cannot be in a value"),
        ("a}", "\"}\" cannot be in a value"),
        ("a//b", "\"//\" cannot be in a value"),
        ("/*", "\"/*\" cannot be in a value"),
        ("a\nb", "\"\\n\" cannot be in a value"),
        ("Tank ☃", "the letter \"☃\" is not in Windows-1252"),
    ] {
        assert_eq!(refused(UNIT, "Description", value), what);
        assert_eq!(refused(UNIT, "Name", value), what);
    }
    let reason = "\"=\" cannot be in the name of a key";
    assert_eq!(refused(UNIT, "a=b", "1"), reason);
    let slash = refused("[A]{a=1/* x */;}", "a", "1/");
    assert_eq!(slash, "was not stored as written");
    let comment = refused("[A]{a=1/* x */2;}", "a", "3");
    assert_eq!(comment, "has a comment in its value");
}

#[test]
fn places_without_room_for_a_key_are_refused() {
    assert_eq!(
        refused("[A]{a=1", "b", "2"),
        "the key before it has no semicolon"
    );
    assert_eq!(refused("[A]", "b", "2"), "the section for it is missing");
    assert_eq!(
        refused("\u{FEFF}", "b", "2"),
        "the section for it is missing"
    );
}

#[test]
fn two_values_of_one_key_are_refused() {
    let new = |name, value| KeyEdit {
        target: Target::Named(1, name),
        value,
    };
    for name in ["Weapon1", "Corpse"] {
        let edits = [new(name, "1"), new(name, "1"), new(name, "2")];
        let problems = edit(UNIT.as_bytes(), &edits).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].1, "has two new values");
    }
}
