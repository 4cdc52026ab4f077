//! Tests of TDF files, each with the smallest file that shows the behavior.

use super::*;
use fixtures::ta::tdf as build;

fn parsed(text: &str) -> Tdf {
    parse(&Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

fn error(bytes: &[u8]) -> Box<Incomplete<Tdf>> {
    parse(&Bytes::copy_from_slice(bytes)).unwrap_err()
}

/// Returns the contents of a text in a plain form, and the warnings.
fn read(text: &str) -> (String, Vec<String>) {
    let tdf = parsed(text);
    let mut out = String::new();
    show(tdf.root(), &mut out);
    (out, tdf.warnings.texts())
}

fn show(section: Section<'_>, out: &mut String) {
    for item in section.items() {
        match item {
            Item::Key(key) => *out += &format!("{}={};", key.name(), key.value()),
            Item::Section(section) => {
                *out += &format!("[{}]{{", section.name());
                show(section, out);
                out.push('}');
            }
        }
    }
}

#[track_caller]
fn check(text: &str, expected: &str, warnings: &[&str]) {
    let (found, texts) = read(text);
    assert_eq!(found, expected);
    assert_eq!(texts, warnings);
}

#[test]
fn sections_hold_keys_and_sections_in_their_order() {
    let text = "[A]\r\n{\r\n\tx = two words ;\r\n\t[B]{}\r\n\ty=a=b{[;\r\n}\r\n[C]{z=;}";
    check(text, "[A]{x=two words;[B]{}y=a=b{[;}[C]{z=;}", &[]);
    let tdf = parsed(text);
    assert_eq!((tdf.depth, tdf.len(), tdf.is_empty()), (2, 6, false));
    let names: Vec<_> = tdf
        .root()
        .sections()
        .map(|section| section.name())
        .collect();
    assert_eq!(names, ["A", "C"]);
    assert!(parsed("").is_empty());
}

#[test]
fn the_last_of_two_keys_wins_and_case_is_ignored() {
    let text = "[Unit]{Name=a;[X]{n=1;}[x]{n=2;}NAME=b;}";
    let tdf = parsed(text);
    let unit = tdf.root().section("UNIT").unwrap();
    assert_eq!(unit.get("name").as_deref(), Some("b"));
    assert_eq!(unit.get("n"), None);
    assert_eq!(unit.keys().count(), 2);
    assert_eq!(unit.section("x").unwrap().get("N").as_deref(), Some("1"));
    assert_eq!(unit.sections().count(), 2);
    assert_eq!(
        tdf.warnings.texts(),
        ["the key \"NAME\" at 0x20 occurs twice, the last one wins"]
    );
}

#[test]
fn comments_are_blanks_everywhere() {
    let (found, warnings) = read("[A]{// x=1;\nu=http://b;\nv=1;/* w=2;\n*/z=3;}");
    assert_eq!(found, "[A]{u=http:    \nv=1;z=3;}");
    assert_eq!(
        warnings,
        ["at 0xc: a value without its semicolon: it continues"]
    );
    assert!(parsed("/*/ */").has_block_comments);
    assert!(!parsed("//*").has_block_comments);
    check("[A]{a=1/2;}", "[A]{a=1/2;}", &[]);
    check("[A]{}/* a", "[A]{}", &["the comment at 0x5 has no end"]);
}

#[test]
fn every_byte_is_a_character() {
    let tdf = parse(&Bytes::from_static(b"[A]{n=\xe9\x80;}")).unwrap();
    assert_eq!(tdf.non_ascii, 2);
    assert!(tdf.warnings.is_empty());
    let name = tdf.root().section("a").unwrap().get("n");
    assert_eq!(name.as_deref(), Some("\u{e9}\u{20ac}"));
}

#[test]
fn invalid_syntax_is_read_as_in_the_game() {
    check(
        "[A]{a=1;;}};",
        "[A]{a=1;}",
        &[
            "at 0x8: a semicolon after nothing",
            "at 0xa: an extra closing brace",
            "at 0xb: a semicolon after nothing",
        ],
    );
    check(
        "[A]{a=1;[B]{b=2",
        "[A]{a=1;[B]{b=2;}}",
        &[
            "at 0xc: a value without a semicolon at the end of the file",
            "2 sections have no end",
        ],
    );
    check(
        "{x=1;}y=2;[A][B]z=3\n4;",
        "[]{x=1;}y=2;[A]{}[B]{z=3\n4;}",
        &[
            "at 0x0: a brace without a name",
            "at 0x6: a key outside of all sections",
            "at 0xa: a section without a brace",
            "at 0x10: a value of several lines",
            "at 0xd: a section without a brace",
            "1 sections have no end",
        ],
    );
    check(
        "[A]{junk}[B\nC]{a\nb=1;}[D]",
        "[A]{}[B\nC]{a\nb=1;}[D]{}",
        &[
            "at 0x4: text that is not a key",
            "at 0x9: a name with a line end",
            "at 0xf: a key with a line end",
            "at 0x16: a section without a brace",
        ],
    );
    check(
        "[A]{[B]}junk;[C",
        "[A]{[B]{}}",
        &[
            "at 0x4: a section without a brace",
            "at 0x8: text that is not a key",
            "at 0xd: a name without a closing bracket",
        ],
    );
    check(
        "\u{feff}[A]{}\0\u{1a}",
        "[A]{}",
        &["the text begins with a byte order mark"],
    );
}

#[test]
fn text_in_another_format_is_rejected() {
    assert_eq!(
        error(b"\xff\xfe[\0").error.to_string(),
        "text at 0x0: is UTF-16"
    );
    assert_eq!(
        error(b" 2 1\r\n").error.to_string(),
        "text at 0x0: begins with numbers, as the menus of TA: Kingdoms do, which are not TDF"
    );
    check("1[A]{}", "[A]{}", &["at 0x0: text that is not a key"]);
    let large = vec![b' '; (16 << 20) + 1];
    assert_eq!(
        error(&large).error.to_string(),
        "text at 0x0: has 16777217 bytes, more than 16777216"
    );
}

#[test]
fn depth_is_bounded_and_outer_sections_are_kept() {
    assert_eq!(parsed(&"[a]{".repeat(64)).depth, 64);
    let incomplete = error("[a]{".repeat(1_000_000).as_bytes());
    assert_eq!(
        incomplete.error.to_string(),
        "section at 0x103: is in more than 64 others"
    );
    assert_eq!((incomplete.model.depth, incomplete.model.len()), (64, 64));
}

#[test]
fn the_number_of_entries_is_bounded() {
    let most = 1 << 20;
    let mut text = "[A]{".to_owned();
    text += &"a=;".repeat(most - 1);
    assert_eq!(parsed(&text).len(), most);
    text += "a=;";
    let incomplete = error(text.as_bytes());
    assert_eq!(
        incomplete.error.to_string(),
        format!(
            "entry at {:#x}: is one of more than 1048576",
            text.len() - 3
        )
    );
    assert_eq!(
        incomplete.model.root().section("a").unwrap().keys().count(),
        most - 1
    );
}

#[test]
fn the_output_of_the_builder_is_read() {
    let tree = build::section(
        "A",
        vec![
            build::key("x", "1"),
            build::section("B", vec![build::key("y", "")]),
        ],
    );
    let text = String::from_utf8(build::file(&[tree])).unwrap();
    check(&text, "[A]{x=1;[B]{y=;}}", &[]);
}
