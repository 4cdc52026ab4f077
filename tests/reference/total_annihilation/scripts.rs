//! Scripts decompiled to BOS compile to their original words.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shared;
use fixtures::ta::bos;
use hpimount_total_annihilation::cob::{self, Cob, Content, OperandKind};
use testkit::fuse_test;
use testkit::mount::Fixture;

/// Appends all scripts below a folder.
fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scripts(&path, found);
        } else if path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("cob"))
        {
            found.push(path);
        }
    }
}

/// Returns the words of each script, with relative targets of jumps, up to its
/// last instruction.
fn words(cob: &Cob) -> Vec<Vec<u32>> {
    let ranges = cob.script_ranges().into_iter();
    let words = ranges.map(|range| {
        let mut words = Vec::new();
        let mut end = 0;
        for item in cob.items_in(range.clone()) {
            if let Content::Instruction(instruction) = item.content {
                words.push(instruction.operation.opcode);
                words.extend(instruction.operands().map(|(kind, value)| match kind {
                    OperandKind::Jump => value.wrapping_sub(range.start),
                    _ => value,
                }));
                end = words.len();
            } else {
                words.push(0);
            }
        }
        words.truncate(end);
        words
    });
    words.collect()
}

#[fuse_test]
fn all_scripts_compile_to_the_same_words() {
    let Some(archives) = shared("samples/hpi/real") else {
        return;
    };
    let mut fixture = Fixture::new();
    fixture.archive = archives;
    let mount = fixture.mount(&[]);
    let mut paths = Vec::new();
    scripts(&mount.file(""), &mut paths);
    assert!(paths.len() >= 60, "{} scripts", paths.len());
    for path in paths {
        let cob = cob::parse(&fs::read(&path).unwrap().into()).unwrap();
        let mut text = Vec::new();
        cob.decompile(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains("form no loops"), "{}", path.display());
        let strings: Vec<String> = cob.strings.iter().map(|name| name.to_string()).collect();
        let program = bos::compile(&text, &strings);
        let program = program.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let compiled = program.functions.into_iter().map(|function| function.words);
        assert!(compiled.eq(words(&cob)), "{}", path.display());
    }
}
