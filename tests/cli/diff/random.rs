//! Random archives have the same differences as their mounts according to `diff -r`.

use super::{hpi_with, packed, pair};
use fixtures::hpi::{Entry, File, dir, file as entry};
use hpimount_containers::hpi::chunk::Method;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use testkit::compared::by_both_programs;
use testkit::fuse_test;
use testkit::mounted::few_cases;

/// An entry of a made-up tree.
#[derive(Debug, Clone)]
enum Made {
    File(&'static [u8], Method),
    Directory(Vec<(String, Made)>),
    Archive(Vec<(String, Made)>),
}

/// Returns a strategy for the entries of a directory. Few names and contents
/// exist, so that the sides have much in common.
fn made() -> impl Strategy<Value = Vec<(String, Made)>> {
    let contents: &[&[u8]] = &[b"", b"one", b"two", &[7; 70_000]];
    let methods = vec![Method::Stored, Method::Zlib, Method::Lz77];
    let file =
        (select(contents), select(methods)).prop_map(|(bytes, method)| Made::File(bytes, method));
    let named = |made: BoxedStrategy<Made>| {
        let names = vec!["a", "B", "c", "d.ufo", "e.ufo"];
        let entries = (select(names), any::<bool>(), made).prop_map(|(name, upper, made)| {
            let name = match &made {
                Made::Archive(_) if !name.ends_with(".ufo") => format!("{name}.ufo"),
                _ => name.to_owned(),
            };
            (
                if upper {
                    name.to_ascii_uppercase()
                } else {
                    name
                },
                made,
            )
        });
        vec(entries, 0..6).prop_map(|mut entries| {
            entries.sort_by_key(|(name, _)| name.to_ascii_lowercase());
            entries.dedup_by_key(|(name, _)| name.to_ascii_lowercase());
            entries
        })
    };
    let tree = file.boxed().prop_recursive(3, 24, 6, move |inner| {
        let entries = named(inner.clone()).boxed();
        prop_oneof![
            2 => inner,
            1 => entries.clone().prop_map(Made::Directory),
            1 => entries.prop_map(Made::Archive),
        ]
    });
    named(tree.boxed())
}

/// Returns the entries of an archive.
fn entries(made: &[(String, Made)]) -> Vec<Entry> {
    let made = made.iter().map(|(name, made)| match made {
        Made::File(bytes, method) => entry(name.as_bytes(), File::new(*bytes, *method)),
        Made::Directory(inner) => dir(name.as_bytes(), entries(inner)),
        Made::Archive(inner) => packed(name, &hpi_with(entries(inner))),
    });
    made.collect()
}

#[fuse_test]
fn the_differences_are_those_of_diff_on_a_mount() {
    let mut runner = TestRunner::new(few_cases());
    let sides = (made(), made());
    let compared = runner.run(&sides, |(old, new)| {
        let files = pair(
            ["a.hpi", "b.hpi"],
            [&hpi_with(entries(&old)), &hpi_with(entries(&new))],
        );
        let sources = ["a.hpi", "b.hpi"].map(|name| files.archive.join(name));
        let [found, expected] = by_both_programs(&sources).unwrap();
        prop_assert_eq!(found, expected);
        Ok(())
    });
    compared.unwrap();
}
