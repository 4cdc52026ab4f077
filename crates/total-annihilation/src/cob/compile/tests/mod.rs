//! Tests of the compiler. The independent compiler of the fixtures makes the files.

mod limits;
mod random;

use super::*;
use crate::cob::{self, Cob};
use fixtures::ta::bos;
use fixtures::ta::cob::{CALL, Cob as Built, HIDE, JUMP, PLAY_SOUND, PUSH, RETURN, text as banner};

const SCRIPT: &str = "\
piece base, gun, Flare;
static-var first, second;
Create() { hide flare; first = 3; start-script Turn(2, base); return (0); }
Turn(speed, from) { turn gun to y-axis <90> speed <45>; second = speed; return (0); }
QueryPrimary(piecenum) { piecenum = flare; return (0); }
";

fn file(text: &str) -> Vec<u8> {
    bos::compile(text, &[]).unwrap().cob(&[]).file()
}

fn parsed(file: &[u8]) -> Cob {
    cob::parse(&file.to_vec().into()).unwrap()
}

fn shown(file: &[u8]) -> String {
    let mut text = Vec::new();
    parsed(file).decompile(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn compiled_file(file: &[u8], text: &str) -> Result<Vec<u8>, String> {
    let again = recompile(&parsed(file), file, text, &|_| None);
    again.map(|again| again.file)
}

/// Returns a file after replacing parts of its text.
fn edited(file: &[u8], edits: &[(&str, &str)]) -> Result<Vec<u8>, String> {
    let mut text = shown(file);
    for (old, new) in edits {
        assert!(text.contains(old), "{old} in {text}");
        text = text.replace(old, new);
    }
    compiled_file(file, &text)
}

/// Returns what an edited file shows.
fn shown_edited(edits: &[(&str, &str)]) -> String {
    shown(&edited(&file(SCRIPT), edits).unwrap()).replace("\r\n", "\n")
}

/// Returns the refusal of a script's edit.
fn refused(old: &str, new: &str) -> String {
    edited(&file(SCRIPT), &[(old, new)]).unwrap_err()
}

/// Returns the words of the only function of a text.
fn words(text: &str) -> Vec<u32> {
    let text = format!("piece base; static-var a, b, c; F() {{ {text} }}");
    let old = file("piece base; static-var a, b, c; Create() { return (0); }");
    let new = parsed(&compiled_file(&old, &text).unwrap());
    new.words(new.script_start(0).unwrap()..new.code_words() as u32)
}

#[test]
fn operators_bind_as_in_other_compilers() {
    for (text, same) in [
        ("a + b * c - 4 / a", "((a + (b * c)) - (4 / a))"),
        ("a < b == c > 1", "((a < b) == (c > 1))"),
        ("a | b ^ c & 1 == 2", "(a | (b ^ (c & (1 == 2))))"),
        ("a ^^ b OR c && NOT a", "(a ^^ (b || (c && (!a))))"),
        ("a XOR b and c", "(a ^^ (b && c))"),
        ("get 4 / 2 < <1>", "(((get 4) / 2) < 182)"),
        ("a - -4 - 0x1F", "((a - (-4)) - 31)"),
        ("! ~a & b", "((!(~a)) & b)"),
    ] {
        assert_eq!(
            words(&format!("a = {text};")),
            words(&format!("a = {same};")),
            "{text}"
        );
    }
}

#[test]
fn statements_have_their_short_forms() {
    for (text, same) in [
        ("++a; --B;", "a = a + 1; b = b - 1;"),
        (
            "if (a) sleep 1; else if (b) { sleep 2; }",
            "if (a) { sleep 1; } else { if (b) { sleep 2; } }",
        ),
        ("while (a) ;", "while (a) { }"),
        ("return;", "return (0);"),
        ("", "return 0;"),
        ("if (a) return (1);", "if (a) { return (1); } return (0);"),
        (
            "again: jump-if-zero (a) AGAIN; jump again;",
            "l: jump-if-zero (a) l; jump l; return (0);",
        ),
        ("a = BUSY + health;", "a = 6 + 4;"),
        (
            "move base to x-axis [-0.5] now;",
            "move base to x-axis -81920 now;",
        ),
        (
            "turn base to x-axis <0.999> now;",
            "turn base to x-axis 181 now;",
        ),
    ] {
        assert_eq!(words(text), words(same), "{text}");
    }
    let get = words("get 7(a); return (0);");
    assert_eq!(get.len(), 5 * 2 + 2 + 3);
}

#[test]
fn macros_conditions_and_headers_are_replaced() {
    let text = "\
#define TWO (1 + ONE)
#define ONE 1
#define ONLY // nothing
#ifdef ONE
a = TWO;
#else
nonsense
#endif
#ifndef ONE
nonsense's
#endif
#if 0
nonsense
#endif
#if 0x0
nonsense
#endif
#if !defined(THREE)
#include \"SFXtype.h\"
emit-sfx SFXTYPE_WHITESMOKE from base;
#endif
#undef ONE
return (0);
";
    let same = "a = (1 + 1); emit-sfx (256 | 1) from base; return (0);";
    let text = format!("\n{text}\n");
    assert_eq!(words(&text), words(same));
}

#[test]
fn included_files_are_found_and_named_in_problems() {
    let old = file(SCRIPT);
    let include = |name: &str| {
        let text = match name {
            "a.h" => "#define STEP 5\n#include \"b.h\"\n",
            "b.h" => "// b\nF() { hide nothing; }",
            "loop.h" => "#include \"loop.h\"",
            _ => return None,
        };
        Some(text.to_owned())
    };
    let problem = |name: &str| {
        let text = format!("#include \"{name}\"\n{}", shown(&old));
        recompile(&parsed(&old), &old, &text, &include).unwrap_err()
    };
    assert_eq!(problem("a.h"), "b.h:2:12: no piece is called \"nothing\"");
    assert_eq!(problem("loop.h"), "loop.h:1:10: files include each other");
    assert_eq!(problem("c.h"), "1:10: no file is called \"c.h\"");
}

#[test]
fn a_text_with_other_blanks_and_names_of_variables_is_the_same_script() {
    let old = file(SCRIPT);
    let edits = [
        ("hide Flare", "  HIDE\n\n/* it */ flare"),
        ("static_0", "Counter"),
        ("Turn(local_0, local_1)", "turn(speed, from)"),
        ("= local_0", "= speed"),
        ("<90>", "16380"),
    ];
    assert_eq!(edited(&old, &edits).unwrap(), old);
}

#[test]
fn an_edit_of_nothing_keeps_every_byte_of_odd_files() {
    let many = Built {
        statics: 70_000,
        ..fixtures::ta::cob::small(4)
    };
    let empty = Built {
        version: 4,
        ..Built::default()
    };
    let mut outside = fixtures::ta::cob::small(4);
    outside.scripts.push(("Nowhere".into(), 900));
    outside.scripts.push(("Elsewhere".into(), 400));
    let mut files = [many, outside, empty].map(|built| built.file());
    // Pointers to nothing, and bytes after everything.
    files[2][24..28].fill(0xFF);
    files.iter_mut().for_each(|file| file.extend(*b"rest"));
    for old in files {
        assert_eq!(compiled_file(&old, &(shown(&old) + " ")).unwrap(), old);
    }
}

#[test]
fn static_variables_that_are_not_shown_stay() {
    let old = Built {
        statics: 70_000,
        ..fixtures::ta::cob::small(4)
    };
    let old = old.file();
    let text = shown(&old);
    let new = compiled_file(&old, &text.replace("hide gun", "hide base")).unwrap();
    assert_eq!(parsed(&new).statics, 70_000);
    let added = text.replace("static_65535;", "static_65535, more;");
    let problem = compiled_file(&old, &added).unwrap_err();
    assert!(
        problem.contains("more static variables than are shown"),
        "{problem}"
    );
}

#[test]
fn operators_that_no_script_has_are_a_warning() {
    let old = file("static-var a; Create() { a = a ^ 1; return (0); } Go() { return (0); }");
    let warnings = |old_text, new_text| {
        let text = shown(&old).replace(old_text, new_text);
        let new = recompile(&parsed(&old), &old, &text, &|_| None).unwrap();
        new.warnings
    };
    // Unchanged functions get no warnings.
    assert_eq!(
        warnings("return (0);\r\n}\r\n\r\nGo", "return (0);\r\n}\r\nGo"),
        [""; 0]
    );
    assert_eq!(
        warnings("static_0 ^ 1", "~static_0 ^ 2 ^ 3"),
        [
            "5:23: \"^\" is in no known script, and may not work in the game",
            "5:13: \"~\" is in no known script, and may not work in the game",
        ]
    );
}

#[test]
fn scripts_of_too_many_words_are_refused() {
    let old = file(SCRIPT);
    let text = shown(&old);
    let longer = text.replacen('{', &format!("{{{}", "hide Flare;".repeat(1 << 15)), 1);
    let refused = compiled_file(&old, &longer).unwrap_err();
    let reason = "words of code, at most 65536 are possible";
    assert!(refused.ends_with(reason), "{refused}");
}

#[test]
fn a_text_without_scripts_is_refused() {
    let old = file(SCRIPT);
    for text in ["", "\0\0\0", "// Nothing.", "piece base;"] {
        let refused = compiled_file(&old, text);
        assert_eq!(
            refused,
            Err("has no scripts; at least one must stay".to_owned())
        );
    }
}

#[test]
fn what_is_between_the_parts_is_named_if_it_goes() {
    let mut old = file(SCRIPT);
    old.extend(*b"rest");
    let text = shown(&old).replace("gun", "cannon");
    let new = recompile(&parsed(&old), &old, &text, &|_| None).unwrap();
    let expected = "the parts of the file have the usual order now, without what was between and \
                    behind them";
    assert_eq!(new.warnings, [expected]);
}

#[test]
fn what_another_compiler_left_stays() {
    let mut code = vec![HIDE, 0, PUSH, 0, RETURN];
    code.extend(banner("Build by COBBLER Ver4.0"));
    code.extend([PUSH, 5, RETURN, JUMP, 0]);
    let built = Built {
        version: 4,
        scripts: vec![("Create".into(), 0), ("Go".into(), 11), ("Also".into(), 11)],
        pieces: vec!["base".into(), "gun".into()],
        code: code.clone(),
        ..Built::default()
    };
    let old = built.file();
    let text = shown(&old);
    let text = text.replacen("hide base;", "hide base; hide gun;", 1);
    let new = parsed(&compiled_file(&old, &text).unwrap());
    let mut expected = code.clone();
    expected.splice(2..2, [HIDE, 1]);
    assert_eq!(new.words(0..99)[..13], expected[..13]);
    assert_eq!(new.script_start(1), Some(13));
    assert_eq!(new.script_start(1), new.script_start(2));
    // The jump into the changed function still leads to its start.
    assert_eq!(new.words(16..99), [JUMP, 0]);
}

#[test]
fn names_that_stay_keep_their_numbers() {
    let text = shown_edited(&[
        ("piece base, gun, Flare;", "piece base, gun, FLARE, light;"),
        ("static_1;", "static_1, more;"),
        ("\nTurn(", "\nAdded() { more = 1; show light; }\nTurn("),
    ]);
    assert!(
        text.starts_with(
            "piece base, gun, Flare, light;\nstatic-var static_0, static_1, static_2;"
        )
    );
    assert!(
        text.contains("\nAdded()\n{\n\tstatic_2 = 1;\n\tshow light;\n\treturn (0);\n}\n"),
        "{text}"
    );
    // An earlier script is deleted, and the calls are renumbered.
    let old = file(
        "Old() { return (0); } Create() { call-script Go(); return (0); } Go() { return (1); }",
    );
    let new = edited(&old, &[("Old()\r\n{\r\n\treturn (0);\r\n}", "")]).unwrap();
    let same = file("Create() { call-script Go(); return (0); } Go() { return (1); }");
    assert_eq!(shown(&new), shown(&same));
}

#[test]
fn renamed_pieces_and_scripts_keep_their_numbers() {
    let text = shown_edited(&[("Flare", "light"), ("gun", "cannon"), ("Create", "Begin")]);
    let expected = shown(&file(SCRIPT)).replace("\r\n", "\n");
    let expected = expected
        .replace("Flare", "light")
        .replace("gun", "cannon")
        .replace("Create", "Begin");
    assert_eq!(text, expected);
}

#[test]
fn sounds_and_returns_of_kingdoms_are_compiled() {
    let strings = ["roar".to_owned(), "MISSION".to_owned()];
    let text = "Create() { play-sound(\"roar\", 5); return; }";
    let old = bos::compile(text, &strings).unwrap().cob(&strings).file();
    assert_eq!(compiled_file(&old, &shown(&old)).unwrap(), old);
    let edits = [(
        "return;",
        "play-sound(\"bell\", 1); mission-command(\"MISSION\", 2, 3); return;",
    )];
    let new = parsed(&edited(&old, &edits).unwrap());
    let names: Vec<String> = new.strings.iter().map(|name| name.to_string()).collect();
    assert_eq!(names, ["roar", "MISSION", "bell"]);
    assert_eq!(
        refused("return (0);", "play-sound(\"roar\", 5); return (0);")
            .lines()
            .next(),
        Some(
            "9:2: only TA: Kingdoms has play-sound; 16:2: only TA: Kingdoms has play-sound; 22:2: only TA: Kingdoms has play-sound"
        )
    );
}

#[test]
fn strings_that_quotes_do_not_hold_are_names_and_stay() {
    let strings = [
        "a\", 1); } Evil() { play-sound(\"b".to_owned(),
        "one \"quote".to_owned(),
    ];
    let text = "Create() { play-sound(\"x\", 1); play-sound(\"y\", 2); return (0); }
        Other() { play-sound(\"z\", 3); return (0); }";
    let mut built = bos::compile(text, &["x", "y", "z"].map(str::to_owned))
        .unwrap()
        .cob(&strings);
    built.strings = strings.into();
    let old = built.file();
    let text = shown(&old);
    for shown in [
        "play-sound(string_0, 1);",
        "play-sound(string_1, 2);",
        "play-sound(string_2, 3);",
    ] {
        assert!(text.contains(shown), "{text}");
    }
    assert_eq!(compiled_file(&old, &text).unwrap(), old);
    let added = text.clone() + "Added() { return (1); }";
    let new = parsed(&compiled_file(&old, &added).unwrap());
    let end = new.script_start(2).unwrap();
    assert_eq!(new.words(0..end), parsed(&old).words(0..end));
    let problem = edited(&old, &[("string_2, 3", "string_2, 4")]).unwrap_err();
    let expected = "a text in quotes should stand before \"string_2\"";
    assert!(problem.ends_with(expected), "{problem}");
}

#[test]
fn problems_have_their_place_and_a_name_that_may_be_meant() {
    for (old, new, problem) in [
        (
            "hide Flare",
            "hide Flair",
            "6:7: no piece is called \"Flair\"; nearest: Flare",
        ),
        (
            "start-script Turn",
            "start-script Tern",
            "8:15: no script is called \"Tern\"; nearest: Turn",
        ),
        (
            "static_0 = 3",
            "statik_0 = 3",
            "7:2: no variable is called \"statik_0\"; nearest: static_0",
        ),
        (
            "= 3",
            "= x + 1",
            "7:13: no variable or piece is called \"x\"",
        ),
        (
            "hide Flare;",
            "hide Flare",
            "7:2: \";\" should stand before \"static_0\"",
        ),
        (
            "hide Flare;",
            "hyde Flare;",
            "6:2: no statement begins with \"hyde\"",
        ),
        (
            "hide Flare;",
            "a = 5 % 2;",
            "6:2: no variable is called \"a\"",
        ),
        ("= 3", "= 3 % 2", "7:15: \";\" should stand before \"%\""),
        (
            "= 3",
            "= 4294967296",
            "7:13: \"4294967296\" is no number of 32 bits here",
        ),
        (
            "<90>",
            "[14000]",
            "14:22: \"14000\" is no number of 32 bits here",
        ),
        (
            "<90>",
            "[-13108]",
            "14:23: \"13108\" is no number of 32 bits here",
        ),
        ("<90>", "[-13107]", ""),
        ("= 3", "= 1.5", "7:13: \"1.5\" is no number of 32 bits here"),
        ("= 3", "= (3", "7:15: \")\" should stand before \";\""),
        ("= 3", "= \"3", "7:13: a value should stand before \"\\\"\""),
        (
            "hide Flare;",
            "jump there;",
            "6:7: no label is called \"there\"",
        ),
        (
            "hide Flare;",
            "var a, A;",
            "6:9: a variable is called \"A\" already",
        ),
        (
            "hide Flare;",
            "/* hide Flare;",
            "6:2: the comment has no end",
        ),
        (
            "hide Flare;",
            "#define F(x) 1",
            "6:10: macros cannot have parameters",
        ),
        ("hide Flare;", "\n#else\n", "7:2: no #if is open"),
        (
            "hide Flare;",
            "\n#if 1\n",
            "7:2: the condition has no #endif",
        ),
        (
            "hide Flare;",
            "\n#if 1\n#elif 0\n#endif\n",
            "8:2: #elif is not known: use #else and #if",
        ),
        (
            "hide Flare;",
            "\n#if 0\n#if 0\n#elif 1\n#endif\n#endif\n",
            "9:2: #elif is not known: use #else and #if",
        ),
        (
            "hide Flare;",
            "\n#if 1\n#else hide base;\n#endif\n",
            "8:7: #else should be alone in its line",
        ),
        (
            "hide Flare;",
            "\n#if 1.5\n#endif\n",
            "7:2: only a whole number, a macro or defined NAME can be a condition",
        ),
        ("hide Flare;", "}", "7:11: \"(\" should stand before \"=\""),
        ("base, gun", "gun, base", ""),
        (
            "QueryPrimary",
            "Turn",
            "19:1: a script is called \"Turn\" at 12:1 already",
        ),
        (
            "static_1;",
            "gun;",
            "2:22: a piece is called \"gun\" already",
        ),
        (
            "base, gun, Flare",
            "gun, Flare",
            "1:7: \"gun\" would get another number, which scripts may use: remove pieces from the end only",
        ),
    ] {
        let found = edited(&file(SCRIPT), &[(old, new)])
            .err()
            .unwrap_or_default();
        let found = found.split("; 1").next().unwrap_or_default();
        assert_eq!(found, problem, "{old} -> {new}");
    }
    let both = edited(
        &file(SCRIPT),
        &[("hide Flare", "hide a"), ("turn gun", "turn b")],
    );
    let places = "6:7: no piece is called \"a\"; 14:7: no piece is called \"b\"";
    assert_eq!(both.unwrap_err(), places);
}

#[test]
fn what_is_gone_and_used_is_a_problem() {
    let found = refused("start-script Turn", "start-script Gone");
    assert!(
        found.starts_with("8:15: no script is called \"Gone\""),
        "{found}"
    );
    let old = file("static-var a, b; Create() { a = b; return (0); }");
    let found = edited(&old, &[("static_0, static_1", "static_1")]).unwrap_err();
    assert!(
        found.contains("no variable is called \"static_0\""),
        "{found}"
    );
    // A call by an undefined number.
    let code = vec![CALL, 9, 0, PUSH, 0, RETURN];
    let built = Built {
        version: 4,
        scripts: vec![("Create".into(), 0), ("Go".into(), 3)],
        code,
        ..Built::default()
    };
    let old = built.file();
    let edits = [("return (0);\r\n}\r\n", "return (0);\r\n}\r\nMore() { }\r\n")];
    let text = shown(&old).replace("\r\n", "\n");
    assert!(text.contains("script_9"), "{text}");
    let new = parsed(&edited(&old, &edits).unwrap());
    assert_eq!(new.words(0..3), [CALL, 9, 0]);
}
