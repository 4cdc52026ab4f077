//! Random scripts, edits and texts.

use proptest::prelude::*;

use super::*;

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|number| number.to_string()),
        prop::sample::select(vec!["p", "q", "s", "t"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let signs = vec![
            "+", "-", "*", "/", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "^^",
        ];
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (prop::sample::select(signs), pair.clone())
                .prop_map(|(sign, (one, other))| format!("({one} {sign} {other})")),
            inner.clone().prop_map(|one| format!("(!{one})")),
            inner.prop_map(|one| format!("(get {one})")),
            pair.prop_map(|(one, other)| format!("rand({one}, {other})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let simple = (0..14, expression(), expression()).prop_map(|(kind, one, other)| match kind {
        0 => format!("p = {one};"),
        1 => format!("t = {one};"),
        2 => format!("move gun to z-axis {one} speed {other};"),
        3 => format!("turn gun to x-axis {one} now;"),
        4 => format!("spin base around y-axis speed {one} accelerate {other};"),
        5 => format!("stop-spin base around y-axis decelerate {one};"),
        6 => format!("call-script G({one}, {other});"),
        7 => format!("set {one} to {other};"),
        8 => format!("emit-sfx {one} from gun;"),
        9 => format!("explode base type {one};"),
        10 => format!("attach-unit {one} to {other};"),
        11 => format!("return ({one});"),
        12 => "wait-for-move gun along y-axis;".to_owned(),
        _ => format!("sleep {one};"),
    });
    simple.prop_recursive(3, 24, 4, |inner| {
        let block = prop::collection::vec(inner, 0..4).prop_map(|all| all.concat());
        (0..3, expression(), block.clone(), block).prop_map(
            |(kind, test, then, other)| match kind {
                0 => format!("while ({test}) {{ {then} }}"),
                1 => format!("if ({test}) {{ {then} }}"),
                _ => format!("if ({test}) {{ {then} }} else {{ {other} }}"),
            },
        )
    })
}

/// Returns a word for damaged files, such as a pointer, an opcode or a number of words.
fn damage() -> impl Strategy<Value = (prop::sample::Index, u32)> {
    let word = prop_oneof![
        0..90_u32,
        0..400_u32,
        any::<u32>(),
        prop::sample::select(vec![PUSH, RETURN, HIDE, JUMP, CALL, PLAY_SOUND]),
    ];
    (any::<prop::sample::Index>(), word)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_decompiled_script_compiles_to_its_words(
        statements in prop::collection::vec(statement(), 0..6),
        is_returning: bool,
    ) {
        let end = if is_returning { "return (0);" } else { "" };
        let body = statements.concat();
        let text = format!(
            "piece base, gun; static-var s, t;
            F(p, q) {{ {body} {end} }}
            G(p, q) {{ if (p) {{ return (q); }} {body} {end} }}"
        );
        let old = file(&text);
        let cob = parsed(&old);
        let shown = shown(&old);
        let ranges = cob.script_ranges();
        let tokens = preprocessor::tokens(&shown, &|_| None).unwrap();
        let source = Source::new(&tokens).unwrap();
        let numbers = |names: &[&str]| Names::new(names.iter().copied().zip(0..));
        let environment = Environment {
            is_kingdoms: false,
            pieces: numbers(&["base", "gun"]),
            statics: numbers(&["static_0", "static_1"]),
            scripts: numbers(&["F", "G"]),
            strings: &RefCell::default(),
            proposes: Cell::new(false),
        };
        for (function, range) in source.functions.iter().zip(ranges) {
            let code = compile(&environment, function, !reaches_end(&cob, &range)).unwrap();
            let mut words = code.words;
            for target in code.targets {
                words[target] += range.start;
            }
            prop_assert_eq!(words, cob.words(range), "{}", shown);
        }
        prop_assert_eq!(compiled_file(&old, &shown).unwrap(), old);
    }

    #[test]
    fn an_edit_changes_one_function(number: i32, statements in prop::collection::vec(statement(), 0..4)) {
        let body = statements.concat();
        let text = |number: i32| format!(
            "piece base, gun; static-var s, t;
            Create() {{ sleep {number}; return (0); }}
            F(p, q) {{ {body} return (0); }} G(p, q) {{ return (0); }}"
        );
        let (old, new) = (file(&text(123_456)), file(&text(number)));
        let edits = [("sleep 123456;", &*format!("sleep {number};"))];
        prop_assert_eq!(edited(&old, &edits).unwrap(), new);
    }

    #[test]
    fn a_damaged_script_stays_as_it_is_or_is_refused(
        version in prop::sample::select(vec![4, 6]),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let strings = ["roar".to_owned()];
        let text = "piece base, gun; static-var s, t;
            F(p) { s = p; start-script G(); return (0); }
            G() { while (t) { hide gun; } emit-sfx 1 from base; return (1); }
            H() { move gun to z-axis [1] speed [2]; return (0); }";
        let mut built = bos::compile(text, &strings).unwrap().cob(&strings);
        built.version = version;
        let mut file = built.file();
        for (at, value) in damages {
            let at = at.index(file.len() / 4) * 4;
            file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        if let Ok(cob) = cob::parse(&file.clone().into()) {
            let mut text = Vec::new();
            cob.decompile(&mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            if let Ok(again) = compiled_file(&file, &text) {
                prop_assert_eq!(again, file, "{}", text);
            }
        }
    }

    #[test]
    fn arbitrary_text_is_compiled_or_refused(text in "[a-zA-Z(){};=<>#\"/*0-9 \n.,:!-]{0,200}") {
        let _ = compiled_file(&file(SCRIPT), &text);
    }
}
