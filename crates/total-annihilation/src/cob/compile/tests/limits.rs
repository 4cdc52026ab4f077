//! Texts that would take much memory or time.

use super::*;

#[test]
fn names_are_proposed_only_for_problems_that_are_told() {
    // Every function of the file hides a piece that the file lacks.
    let functions = 3000_u32;
    let built = Built {
        version: 4,
        scripts: (0..functions)
            .map(|number| (format!("F{number}"), 5 * number))
            .collect(),
        pieces: (0..30_000).map(|number| format!("p{number}")).collect(),
        code: [HIDE, 99_999, PUSH, 0, RETURN].repeat(functions as usize),
        ..Built::default()
    };
    let old = built.file();
    let text = shown(&old);
    // This would take minutes.
    assert_eq!(compiled_file(&old, &text).unwrap(), old);
    let problems = compiled_file(&old, &text.replace("piece_99999", "p99999")).unwrap_err();
    assert_eq!(
        problems
            .split("; ")
            .filter(|part| part.contains("nearest"))
            .count(),
        50
    );
}

#[test]
fn included_files_are_read_once() {
    let old = file(SCRIPT);
    let reads = std::cell::Cell::new(0);
    let include = |_: &str| {
        reads.set(reads.get() + 1);
        Some("#define STEP 5\n".to_owned())
    };
    let text = format!("#include \"a.h\"\n{}", shown(&old)).replace("= 3", "= STEP");
    recompile(&parsed(&old), &old, &text, &include).unwrap();
    assert_eq!(reads.get(), 1);
}

#[test]
fn included_files_are_bounded() {
    let old = file(SCRIPT);
    let reads = std::cell::Cell::new(0);
    let include = |name: &str| {
        reads.set(reads.get() + 1);
        let number: u32 = name.parse().unwrap();
        Some(match number {
            0 => String::new(),
            99 => "// ".to_owned() + &" ".repeat(4 << 20),
            _ => format!("#include \"{0}\"\n#include \"{0}\"\n", number - 1),
        })
    };
    let problem = |text: &str| recompile(&parsed(&old), &old, text, &include).unwrap_err();
    let twice = problem("#include \"30\"");
    assert!(
        twice.ends_with("too many or too large files are included"),
        "{twice}"
    );
    assert!(reads.take() < 2000);
    problem(&"#include \"99\"\n".repeat(100));
    assert!(reads.take() < 10);
    // Also where nothing is compiled.
    let long = format!("#if 0\n{}\n#endif", ";".repeat(1 << 20));
    assert!(problem(&long).contains("more than 524288 words and signs"));
}

#[test]
fn deep_and_long_texts_are_refused() {
    let deep = format!("return ({}1{});", "(".repeat(1000), ")".repeat(1000));
    assert!(refused("hide Flare;", &deep).contains("is in too many others"));
    let deep = "if (1) ".repeat(1000) + ";";
    assert!(refused("hide Flare;", &deep).contains("is in too many others"));
    let long = "hide base;".repeat(33_000);
    assert!(refused("hide Flare;", &long).contains("at most 65536 are possible"));
    let many: Vec<String> = (0..300).map(|number| format!("v{number}")).collect();
    let many = format!("var {};", many.join(", "));
    assert!(refused("hide Flare;", &many).contains("more than 256 variables"));
    let mut bomb = "\n#define A0 1 + 1\n".to_owned();
    for number in 1..30 {
        let before = number - 1;
        bomb += &format!("#define A{number} A{before} + A{before}\n");
    }
    let bomb = bomb + "static_0 = A29;";
    assert!(refused("hide Flare;", &bomb).contains("words and signs"));
}
