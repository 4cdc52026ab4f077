use crate::cob;
use fixtures::ta::bos::compile;
use fixtures::ta::cob::{CALL, Cob, HIDE, JUMP, PUSH, RETURN, text};

fn decompiled(file: &Cob) -> String {
    let mut text = Vec::new();
    let cob = cob::parse(&file.file().into()).unwrap();
    cob.decompile(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    let text = text.replace("\r\n", "\n");
    let end = "\n// [1] is 163840, <1> is 182.\n";
    assert_eq!(text.ends_with(end), !cob.pieces.is_empty());
    text.trim_end_matches(end).to_owned()
}

/// Asserts that compiling and decompiling preserves a text.
fn check(text: &str) {
    let file = compile(text, &[]).unwrap().cob(&[]);
    let again = decompiled(&file);
    assert_eq!(
        compile(&again, &[]).unwrap().cob(&[]).code,
        file.code,
        "{again}"
    );
    assert_eq!(again, text);
}

#[test]
fn statements_have_units_and_names() {
    check(
        "\
piece base, gun;
static-var static_0;

AimPrimary(heading, pitch)
{
\tvar local_2, local_3;
\tsignal 2;
\tset-signal-mask 2;
\tturn gun to y-axis heading speed <300>;
\tturn gun to x-axis (0 - pitch) speed <45.5>;
\tmove gun to z-axis [-1.5] now;
\twait-for-turn gun around y-axis;
\tspin base around y-axis speed <20> accelerate <1>;
\tstop-spin base around y-axis;
\tset 18 /* YARD_OPEN */ to !static_0;
\tlocal_3 = (get 9 /* UNIT_XZ */(1, 2, 3, 4)) * rand(1, 6);
\tcall-script Killed(static_0, local_2);
\tattach-unit local_3 to 1;
\temit-sfx (256 | 2) from base;
\treturn (1);
}

Killed(severity, corpsetype)
{
\tcorpsetype = 1;
\texplode gun type 32 | 256;
\thide gun;
\treturn (0);
}

QueryPrimary(piecenum)
{
\tpiecenum = gun;
\treturn (0);
}
",
    );
}

#[test]
fn loops_and_conditions_are_recovered() {
    check(
        "\
static-var static_0;

Create()
{
\twhile (get 17 /* BUILD_PERCENT_LEFT */)
\t{
\t\tsleep 400;
\t}
\twhile (1)
\t{
\t\tif (static_0 < 3)
\t\t{
\t\t\tif (static_0)
\t\t\t{
\t\t\t\tsleep 1;
\t\t\t}
\t\t\telse
\t\t\t{
\t\t\t}
\t\t}
\t\telse
\t\t{
\t\t\twhile (static_0 != 2)
\t\t\t{
\t\t\t\tstatic_0 = static_0 + 1;
\t\t\t}
\t\t}
\t\tif ((static_0 == 5) && !(static_0 ^^ 1))
\t\t{
\t\t\treturn (0);
\t\t}
\t}
\treturn (0);
}
",
    );
}

#[test]
fn other_jumps_have_labels() {
    check(
        "\
static-var static_0;

Create()
{
\t// The jumps of this function form no loops and conditions.
L0000:
\tsleep 100;
\tjump-if-zero (static_0 < 7) L0000;
\tjump L000C;
L000C:
\treturn (0);
}
",
    );
}

#[test]
fn code_that_forms_no_statements_is_in_a_comment() {
    let file = Cob {
        version: 4,
        scripts: vec![("Create".into(), 0), ("Go".into(), 3)],
        code: vec![PUSH, 7, 0x1003_9000, JUMP, 4],
        ..Cob::default()
    };
    let expected = "
Create()
{
\t// Only as assembler text, because BOS has no word for one of its instructions.
\t//     push            7
\t//     op_39
}

Go()
{
\t// Only as assembler text, because a jump leaves it or goes into a statement.
\t//     jump            L0004
}
";
    assert_eq!(decompiled(&file), expected);
}

#[test]
fn scripts_that_share_their_code_and_the_name_of_the_compiler_are_noted() {
    let mut code = vec![HIDE, 0, PUSH, 0, RETURN];
    code.extend(text("Build by COBBLER"));
    let file = Cob {
        version: 4,
        scripts: vec![("Create".into(), 0), ("Go".into(), 0)],
        pieces: vec!["1st gun".into()],
        code,
        ..Cob::default()
    };
    let expected = "\
piece piece_0_1st_gun;
// The name of the piece piece_0_1st_gun is \"1st gun\" in the file.

Create()
{
\thide piece_0_1st_gun;
\treturn (0);
\t// Text after the code: \"Build by COBBLER\"
}

// In the file, this is the same code as Create.
Go()
{
\thide piece_0_1st_gun;
\treturn (0);
\t// Text after the code: \"Build by COBBLER\"
}
";
    assert_eq!(decompiled(&file), expected);
}

#[test]
fn scripts_of_kingdoms_play_sounds_and_return_nothing() {
    let text = "
Create()
{
\tplay-sound(\"voices\\ROAR\", 4);
\treturn;
}
";
    let strings = ["voices\\ROAR".to_owned()];
    let file = compile(text, &strings).unwrap().cob(&strings);
    assert_eq!(decompiled(&file), text);
}

#[test]
fn names_that_compilers_accept_are_kept() {
    check(
        "\
piece emit;

Stop()
{
\thide emit;
\tcall-script Stop();
\treturn (0);
}
",
    );
}

#[test]
fn deep_expressions_and_long_functions_are_not_recovered() {
    let mut code = vec![PUSH, 1];
    code.extend([0x1005_A000; 100]);
    code.push(RETURN);
    let file = |code| Cob {
        version: 4,
        scripts: vec![("Create".into(), 0)],
        code,
        ..Cob::default()
    };
    let deep = decompiled(&file(code));
    assert!(deep.contains("an expression is too deep"), "{deep}");
    let long = decompiled(&file([PUSH, 0, RETURN].repeat(40_000)));
    assert!(long.contains("because it is long."));
}

/// Returns the remarks of this level about a text, each with its line.
fn remarks(text: &str, is_style: bool) -> Vec<String> {
    let file = compile(text, &[]).unwrap().cob(&[]).file();
    let cob = cob::parse(&file.into()).unwrap();
    let lines = cob.lines();
    let of_level = cob.remarks().into_iter();
    let mut found: Vec<_> = of_level
        .filter(|remark| remark.is_style == is_style)
        .map(|remark| (lines.of(remark.place).unwrap(), remark.text))
        .collect();
    found.sort_by_key(|(line, _)| *line);
    let found = found.into_iter();
    found
        .map(|(line, text)| format!("{line}: {text}"))
        .collect()
}

#[test]
fn mistakes_that_compilers_accept_are_found() {
    let text = "\
piece base;
static-var static_0, static_1;

Create()
{
\tvar local_0;
\tstatic_0 = 1;
\tlocal_0 = static_1;
\tmove base to x-axis [1] speed [0];
\tturn base to x-axis <5> now;
\tturn base to x-axis <5> now;
\tif (0)
\t{
\t\thide base;
\t}
\tcall-script Again();
\twhile (1)
\t{
\t\tshow base;
\t}
\treturn (0);
\thide base;
\treturn (0);
}

Again()
{
\tset-signal-mask 4;
\tsignal 2;
\tcall-script Again();
\treturn (0);
}
";
    check(text);
    let expected = [
        "7: static_0 is assigned and never read",
        "8: in Create: local_0 is assigned and never read",
        "9: in Create: a move with speed 0 never ends",
        "11: in Create: the same turn-now follows itself",
        "12: in Create: the condition of an if is always false",
        "17: in Create: an endless loop never waits",
        "22: in Create: there is code after a return",
        "26: in Again: it calls itself, directly or through others",
        "28: in Again: no script sends the signal 4",
    ];
    assert_eq!(remarks(text, false), expected);
}

#[test]
fn what_is_unused_or_needless_is_a_matter_of_style() {
    let text = "\
piece base, gun, flare, wheel;
static-var static_0, static_1;

Create()
{
\tvar local_0, local_1;
\tlocal_1 = 5;
\tif (1)
\t{
\t\tsleep local_1;
\t}
\tif (static_0)
\t{
\t\thide base;
\t}
\tif (static_0)
\t{
\t\tstatic_0 = 0;
\t}
\tif (static_0)
\t{
\t\tshow base;
\t}
\treturn (0);
}

Activate()
{
\treturn (0);
}

QueryPrimary(piecenum)
{
\tpiecenum = flare;
\treturn (0);
}

Unknown()
{
\tvar local_0;
\tattach-unit static_0 to 3;
\treturn (1);
}
";
    check(text);
    let expected = [
        "1: the piece gun is never used",
        "2: static_1 is never used",
        "6: in Create: local_0 is never used",
        "8: in Create: the condition of an if is always true",
        "8: in Create: an if contains only a sleep",
        "16: in Create: the same condition follows itself",
        "27: in Activate: it does nothing",
    ];
    assert_eq!(remarks(text, true), expected);
    assert_eq!(remarks(text, false), [""; 0]);
}

#[test]
fn only_a_number_that_reaches_the_game_as_a_piece_uses_it() {
    let unused = |text: &str| {
        let text = format!("piece base, gun, flare;\nstatic-var spot;\n{text}");
        let mut found = remarks(&text, true);
        found.retain(|remark| remark.contains("piece"));
        found
    };
    let gun = "1: the piece gun is never used";
    let flare = "1: the piece flare is never used";
    let show = "Create() { show base; spot = 0; return (0); }\n";
    // The kind of a wreck is not a piece, nor is the argument of another script.
    let killed = "Killed(severity, corpsetype) { corpsetype = 1; call-script Go(2); return (0); }
        Go(way) { sleep way; return (0); }";
    assert_eq!(unused(&format!("{show}{killed}")), [gun, flare]);
    // A variable holds the piece until the game asks for it.
    let kept = "Fire() { spot = 1; call-script Set(2); return (0); }
        Set(piecenum) { spot = piecenum; return (0); }
        QueryPrimary(piecenum) { piecenum = spot; return (0); }";
    assert_eq!(unused(&format!("{show}{kept}")), [""; 0]);
    let computed = "QueryPrimary(piecenum) { piecenum = spot + 1; return (0); }";
    assert_eq!(unused(&format!("{show}{computed}")), [""; 0]);
    let asked = "QueryPrimary(piecenum) { piecenum = flare; return (0); }";
    assert_eq!(unused(&format!("{show}{asked}")), [gun]);
}

#[test]
fn long_and_complex_scripts_are_a_matter_of_style() {
    let of_length = |count: usize| {
        let text = format!(
            "piece base; Create() {{ {} return (0); }}",
            "hide base; show base; ".repeat(count / 2)
        );
        remarks(&text, true)
    };
    let long = "3: in Create: it has 101 statements, more than 100";
    assert_eq!(of_length(100), [long]);
    assert_eq!(of_length(98), [""; 0]);
    let of_tests = |count: usize| {
        let tests = "while (get BUSY) { sleep 1; }".repeat(count);
        remarks(&format!("Create() {{ {tests} return (0); }}"), true)
    };
    let complex = "2: in Create: its cyclomatic complexity is 16, more than 15";
    assert_eq!(of_tests(15), [complex]);
    assert_eq!(of_tests(14), [""; 0]);
}

#[test]
fn calls_that_lead_nowhere_are_mistakes() {
    let returns = [PUSH, 1, RETURN];
    let file = Cob {
        version: 4,
        scripts: vec![("Create".into(), 0), ("Go".into(), 6), ("Go".into(), 9)],
        code: [&[CALL, 7, 0], &returns[..], &returns, &returns].concat(),
        ..Cob::default()
    };
    let cob = cob::parse(&file.file().into()).unwrap();
    let lines = cob.lines();
    let found = cob.remarks().into_iter();
    let found: Vec<_> = found
        .map(|remark| (lines.of(remark.place), remark.text, remark.is_known))
        .collect();
    let expected = [
        (
            14,
            "the game calls the first script Go, not this one",
            false,
        ),
        (5, "in Create: there is no script 7", true),
    ];
    let expected = expected.map(|(line, text, is_known)| (Some(line), text.to_owned(), is_known));
    assert_eq!(found, expected);
}

#[test]
fn a_sound_script_has_no_remarks() {
    let text = "
piece base;
static-var is_open;
Create()
{
    is_open = 0;
    while (1)
    {
        if (is_open) { set-signal-mask 2; sleep 100; }
        call-script Wait(is_open);
    }
    return (0);
}
Wait(time)
{
    signal 2;
    sleep time;
    return (0);
}
QueryPrimary(piecenum)
{
    piecenum = base;
    return (0);
}
";
    assert_eq!(remarks(text, false), [""; 0]);
    assert_eq!(remarks(text, true), [""; 0]);
}
