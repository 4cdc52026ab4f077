//! Tests of COB files, each with the smallest file that shows the behavior.

use super::*;
use fixtures::ta::cob::{self as build, HIDE, JUMP, PLAY_SOUND, PUSH, RETURN, small};
use fixtures::ta::put;

fn parsed(cob: &build::Cob) -> Cob {
    parse(&cob.file().into()).unwrap()
}

fn assembler(cob: &Cob) -> String {
    let mut text = Vec::new();
    cob.disassemble(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn jumps_are_indices_of_words_and_names_replace_numbers() {
    let mut cob = small(6);
    cob.strings = vec!["BOOM \"1\"".to_owned()];
    cob.scripts.push(("Fire".to_owned(), 5));
    cob.scripts.push(("End".to_owned(), 15));
    cob.code
        .extend([build::TURN, 0, 1, PLAY_SOUND, 0, build::CALL, 0, 2]);
    cob.code.extend([JUMP, 5]);
    let cob = parsed(&cob);
    assert!(cob.warnings.is_empty(), "{:?}", cob.warnings);
    let expected = "; cob version 6, 1 statics
; piece 0 base
; piece 1 gun
; string 0 BOOM \"1\"

Create:
    hide            gun
    push            0
    return

Fire:
L0005:
    turn            base, y-axis
    play-sound      \"BOOM \\\"1\\\"\"
    call-script     Create, 2
    jump            L0005

End:
";
    assert_eq!(assembler(&cob), expected);
    assert_eq!(cob.script_ranges(), [0..5, 5..15, 15..15]);
    assert_eq!((cob.script_start(2), cob.script_start(3)), (Some(15), None));
}

#[test]
fn text_of_a_compiler_is_distinguished_from_unknown_words() {
    let mut cob = small(4);
    cob.code.extend(build::text("Build by NOBODY Ver1"));
    cob.code.extend([RETURN, 0x10FF_0000, 1, 2, 3, 4]);
    // Too short to be text.
    cob.code.extend([RETURN, 0x6162_6364]);
    let cob = parsed(&cob);
    assert_eq!(cob.compiled_with().as_deref(), Some("Build by NOBODY Ver1"));
    let warnings = cob.warnings.texts();
    assert_eq!(warnings[0], "word 11: 0x10ff0000 is not a known opcode");
    assert_eq!(warnings.len(), 6);
    let text = assembler(&cob);
    assert!(
        text.contains("    .ascii \"Build by NOBODY Ver1\"\n"),
        "{text}"
    );
    assert!(
        text.ends_with("    return\n    .word 0x61626364\n"),
        "{text}"
    );
    assert_eq!(parsed(&small(4)).compiled_with(), None);
}

#[test]
fn the_name_of_a_compiler_has_no_control_characters() {
    let mut cob = small(4);
    cob.code
        .extend(build::text("Scriptor\0Compiled by NOBODY, Version 1.0\r\n"));
    let expected = "Scriptor Compiled by NOBODY, Version 1.0";
    assert_eq!(parsed(&cob).compiled_with().as_deref(), Some(expected));
}

#[test]
fn what_compilers_leave_is_not_a_warning() {
    let mut cob = small(4);
    cob.code.extend(build::text("Build by NOBODY Ver1"));
    let start = cob.scripts[0].1;
    cob.scripts.push(("Empty".to_owned(), start));
    let cob = parsed(&cob);
    assert!(cob.compiled_with().is_some());
    assert!(cob.warnings.is_empty(), "{:?}", cob.warnings);
}

#[test]
fn operands_out_of_range_are_warnings_and_shown_as_numbers() {
    let mut cob = small(4);
    cob.code = vec![HIDE, 2, build::TURN, 1, 3, JUMP, 999, PLAY_SOUND, 0];
    cob.code
        .extend([build::POP_STATIC, 1, build::CALL, 1, 0, PUSH, u32::MAX]);
    // A jump into the operand of `hide`, and a truncated instruction.
    cob.code.extend([JUMP, 1, PUSH]);
    let cob = parsed(&cob);
    assert_eq!(
        cob.warnings.texts(),
        [
            "word 0: hide has piece 2 of 2",
            "word 2: turn has axis 3 of 3",
            "word 5: jump has word 999 of 19",
            "word 7: play-sound has string 0 of 0",
            "word 9: pop-static has static 1 of 1",
            "word 11: call-script has script 1 of 1",
            "word 18: the code ends in push",
            "word 1: a jump goes into an instruction",
        ]
    );
    let text = assembler(&cob);
    for line in [
        "    hide            piece#2\n",
        "    turn            gun, axis#3\n",
        "    jump            L03E7\n",
        "    play-sound      string#0\n",
        "    pop-static      static_1\n",
        "    call-script     script#1, 0\n",
        "    push            -1\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn scripts_may_share_a_start_but_it_must_be_valid() {
    let mut cob = small(4);
    for (name, start) in [("A", 2), ("B", 2), ("C", 1), ("D", 6)] {
        cob.scripts.push((name.to_owned(), start));
    }
    let cob = parsed(&cob);
    assert_eq!(
        cob.warnings.texts(),
        [
            "script 3 starts in an instruction at word 1",
            "script 4 starts at word 6 of 5",
        ]
    );
    assert!(assembler(&cob).contains("\nA:\n\nB:\n    push"));
    assert_eq!(cob.script_ranges()[..2], [0..1, 2..5]);
}

#[test]
fn a_name_cannot_add_lines_to_the_text() {
    let mut cob = small(4);
    cob.pieces[1] = "gun\nreturn".to_owned();
    cob.scripts[0].0 = "Create\r".to_owned();
    let text = assembler(&parsed(&cob));
    assert_eq!(text.lines().count(), 8, "{text}");
}

#[test]
fn data_outside_of_the_file_is_an_error() {
    let size = small(4).file().len();
    let with = |at: usize, value: u32| {
        let mut bytes = small(4).file();
        put(&mut bytes, at, &value.to_le_bytes());
        parse(&bytes.into()).unwrap_err().error.to_string()
    };
    assert_eq!(with(0, 5), "version at 0x0: is 5, should be 4 or 6");
    assert_eq!(
        with(4, 65537),
        "script count at 0x4: is 65537, more than 65536"
    );
    assert_eq!(
        with(8, 65537),
        "piece count at 0x8: is 65537, more than 65536"
    );
    assert_eq!(
        with(12, 1 << 30),
        format!(
            "code at 0x2c: 1073741824 items of 4 bytes do not fit into {} bytes",
            size - 44
        )
    );
    assert_eq!(
        with(28, 0xFFFF_FFF0),
        format!("script names at 0x1c: points to 0xfffffff0, outside 0x0..{size:#x}")
    );
    let name = parsed(&small(4)).code_words() * 4 + 44 + 4;
    assert_eq!(
        with(name, 0xFFFF),
        format!("script name at {name:#x}: points to 0xffff, outside 0x0..{size:#x}")
    );
    let short = small(4).file()[..43].to_vec();
    let error = parse(&short.into()).unwrap_err().error.to_string();
    assert_eq!(error, "end of tables at 0x28: needs 4 bytes, 3 are left");
}
