//! Several archives in one mount (SEMANTICS, Merging).

use std::fs;
use testkit::fuse_test;

use fixtures::hpi::dir;
use testkit::merging::{
    Folder, attribute, folder, info, lines, order, other_archive, shadowed, text, tree,
};

#[fuse_test]
fn a_later_source_wins_and_the_loser_is_shadowed() {
    let sources = Folder::new();
    sources.archive("low.ufo", vec![text("a.txt", "low"), text("l.txt", "l")]);
    sources.archive("mid.hpi", vec![text("A.TXT", "mid")]);
    sources.archive("high.hpi", vec![text("h.txt", "h"), text("a.Txt", "high")]);
    let mount = sources.mount(&["{}/low.ufo", "{}/mid.hpi", "{}/high.hpi"]);
    assert_eq!(
        lines(&tree(mount.path())),
        ["a.Txt: high", "h.txt: h", "l.txt: l"]
    );
    assert_eq!(
        lines(&shadowed(&mount)),
        [
            "low.ufo",
            "low.ufo/a.txt: low",
            "mid.hpi",
            "mid.hpi/A.TXT: mid"
        ]
    );
    let source = |name| attribute(&mount.file(name), "source");
    assert_eq!(source("a.txt").unwrap(), "high.hpi");
    assert_eq!(source("l.txt").unwrap(), "low.ufo");
    assert_eq!(
        source(".hpimount/shadowed/mid.hpi/A.TXT").unwrap(),
        "mid.hpi"
    );
    let hides = |name| attribute(&mount.file(name), "shadows");
    assert_eq!(hides("a.txt").unwrap(), "mid.hpi\nlow.ufo", "highest first");
    assert_eq!(hides("l.txt"), None);
    let names = xattr::list(mount.file("a.txt")).unwrap();
    assert!(
        names
            .into_iter()
            .any(|name| name == "user.hpimount.shadows")
    );
    assert_eq!(
        info(&mount)["order"]["why"],
        "as given, the last one on top"
    );
    assert_eq!(order(&mount), ["low.ufo", "mid.hpi", "high.hpi"]);
}

#[fuse_test]
fn directories_are_merged_in_the_spelling_of_the_winner() {
    let sources = Folder::new();
    let deep = |names: [&str; 2], file| {
        let inner = folder(names[1], vec![text(file, file)]);
        vec![folder(names[0], vec![inner])]
    };
    sources.archive("a.hpi", deep(["UNITS", "arm"], "1.fbi"));
    sources.archive("b.hpi", deep(["units", "ARM"], "2.fbi"));
    let mount = sources.mount(&["{}/a.hpi", "{}/b.hpi"]);
    assert_eq!(
        lines(&tree(mount.path())),
        [
            "units",
            "units/ARM",
            "units/ARM/1.fbi: 1.fbi",
            "units/ARM/2.fbi: 2.fbi"
        ]
    );
    assert!(shadowed(&mount).is_empty());
    assert_eq!(attribute(&mount.file("units"), "shadows"), None);
}

#[fuse_test]
fn a_file_hides_a_directory_and_a_directory_hides_a_file() {
    let sources = Folder::new();
    let below = |content| {
        vec![
            text("t.txt", content),
            folder("d", vec![text("u", content)]),
        ]
    };
    sources.archive(
        "0.hpi",
        vec![folder("x", below("x0")), folder("y", below("y0"))],
    );
    sources.archive("1.hpi", vec![folder("X", below("x1")), text("Y", "y1")]);
    sources.archive("2.hpi", vec![text("x", "x2"), folder("y", vec![])]);
    let mount = sources.mount(&["{}/0.hpi", "{}/1.hpi", "{}/2.hpi"]);
    assert_eq!(
        lines(&tree(mount.path())),
        ["x: x2", "y", "y/d", "y/d/u: y0", "y/t.txt: y0"],
        "the directories below and above a file are still merged"
    );
    assert_eq!(
        lines(&shadowed(&mount)),
        [
            "0.hpi",
            "0.hpi/x",
            "0.hpi/x/d",
            "0.hpi/x/d/u: x0",
            "0.hpi/x/t.txt: x0",
            "1.hpi",
            "1.hpi/X",
            "1.hpi/X/d",
            "1.hpi/X/d/u: x1",
            "1.hpi/X/t.txt: x1",
            "1.hpi/Y: y1",
        ]
    );
    let hides = |name| attribute(&mount.file(name), "shadows");
    assert_eq!(hides("x").unwrap(), "1.hpi\n0.hpi");
    assert_eq!(hides("y").unwrap(), "1.hpi");
    assert_eq!(hides("y/t.txt"), None);
}

#[fuse_test]
fn hidden_files_are_at_their_own_paths() {
    let sources = Folder::new();
    let deep = |content| vec![folder("A", vec![folder("B", vec![text("c.txt", content)])])];
    sources.archive("0.hpi", deep("low"));
    sources.archive("1.hpi", deep("high"));
    let mount = sources.mount(&["{}/0.hpi", "{}/1.hpi"]);
    assert_eq!(
        lines(&shadowed(&mount)),
        ["0.hpi", "0.hpi/A", "0.hpi/A/B", "0.hpi/A/B/c.txt: low"]
    );
}

#[fuse_test]
fn of_duplicates_in_one_archive_the_last_one_wins_and_the_others_are_shadowed() {
    let sources = Folder::new();
    let same = |content| text("same.txt", content);
    sources.archive(
        "twice.hpi",
        vec![
            same("first"),
            text("case.txt", "first"),
            folder("Dir", vec![text("lost", "lost")]),
            same("second"),
            text("CASE.txt", "last"),
            folder("dir", vec![text("found", "found")]),
            same("last"),
        ],
    );
    sources.archive("other.hpi", vec![text("o", "o")]);
    let mount = sources.mount(&["{}/other.hpi", "{}/twice.hpi"]);
    assert_eq!(
        lines(&tree(mount.path())),
        [
            "CASE.txt: last",
            "dir",
            "dir/found: found",
            "o: o",
            "same.txt: last"
        ]
    );
    assert_eq!(
        lines(&shadowed(&mount)),
        [
            "twice.hpi",
            "twice.hpi/Dir",
            "twice.hpi/Dir/lost: lost",
            "twice.hpi/case.txt: first",
            "twice.hpi/same (1).txt: first",
            "twice.hpi/same.txt: second",
        ]
    );
}

#[fuse_test]
fn duplicates_below_hidden_directories_keep_their_names() {
    let sources = Folder::new();
    let same = |content| text("s", content);
    sources.archive(
        "0.hpi",
        vec![folder("d", vec![same("first"), same("last")])],
    );
    sources.archive("1.hpi", vec![text("d", "file")]);
    let mount = sources.mount(&["{}/0.hpi", "{}/1.hpi"]);
    assert_eq!(
        lines(&shadowed(&mount)),
        [
            "0.hpi",
            "0.hpi/d",
            "0.hpi/d/s: last",
            "0.hpi/d/s (1): first"
        ]
    );
}

#[fuse_test]
fn companions_of_merged_files_show_their_contents() {
    let sources = Folder::new();
    let inner = |content| {
        fixtures::hpi::V1::new(vec![text("in.txt", content)])
            .build()
            .bytes
    };
    let nested = |content| {
        let method = hpimount_containers::hpi::chunk::Method::Stored;
        let file = fixtures::hpi::File::new(inner(content), method);
        vec![fixtures::hpi::file(b"inner.hpi", file)]
    };
    sources.archive("0.hpi", nested("low"));
    sources.archive("1.hpi", nested("high"));
    let mount = sources.mount(&["{}/0.hpi", "{}/1.hpi"]);
    let read = |name| fs::read_to_string(mount.file(name)).unwrap();
    assert_eq!(read("inner.hpi.d/in.txt"), "high");
    let hidden = fs::read_dir(mount.file(".hpimount/shadowed/0.hpi")).unwrap();
    let hidden: Vec<_> = hidden.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(hidden, ["inner.hpi"]);
}

#[fuse_test]
fn separate_gives_each_archive_a_directory() {
    let sources = Folder::new();
    sources.archive("a.hpi", vec![text("t", "a")]);
    sources.archive("b.hpi", vec![text("t", "b")]);
    let mount = sources.mount(&["--separate", "{}/a.hpi", "{}/b.hpi"]);
    assert_eq!(
        lines(&tree(mount.path())),
        ["a.hpi", "a.hpi/t: a", "b.hpi", "b.hpi/t: b"]
    );
    assert!(!mount.file(".hpimount/shadowed").exists());
    assert_eq!(info(&mount)["order"], serde_json::Value::Null);
}

#[fuse_test]
fn sources_of_other_formats_are_placed_side_by_side() {
    let sources = Folder::new();
    sources.archive("a.hpi", vec![text("t", "a")]);
    sources.archive("b.hpi", vec![text("t", "b")]);
    sources.write("c.hip", other_archive());
    sources.write("loose/t", "loose");
    let all = ["a.hpi", "b.hpi", "c.hip", "loose"];
    let arguments = all.map(|name| format!("{{}}/{name}"));
    let mount = sources.mount(&arguments.each_ref().map(String::as_str));
    let mut names: Vec<_> = fs::read_dir(mount.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, all);
    let read = |name| fs::read_to_string(mount.file(name)).unwrap();
    assert_eq!([read("a.hpi/t"), read("loose/t")], ["a", "loose"]);
    assert!(mount.file("c.hip/layers").is_dir());
}

#[fuse_test]
fn damaged_and_unreadable_archives_are_named_and_skipped() {
    let sources = Folder::new();
    sources.archive("a.hpi", vec![text("a", "a")]);
    sources.damaged("damaged.hpi");
    sources.write("strange.hpi", "no archive at all");
    sources.archive("b.hpi", vec![text("b", "b")]);
    let mount = sources.mount(&[
        "{}/a.hpi",
        "{}/damaged.hpi",
        "{}/strange.hpi",
        "{}/absent.hpi",
        "{}/b.hpi",
    ]);
    assert_eq!(lines(&tree(mount.path())), ["a: a", "b: b"]);
    let log = mount.fixture.log();
    let skipped = info(&mount)["skipped"].take();
    let skipped: Vec<String> = serde_json::from_value(skipped).unwrap();
    assert_eq!(skipped.len(), 3);
    for (said, name) in skipped.iter().zip(["damaged", "strange", "absent"]) {
        assert!(said.contains(&format!("/{name}.hpi: ")), "{said}");
        // The message on standard error has no number of the system's error.
        let said = said.split(" (os error").next().unwrap();
        assert!(log.contains(&format!("skipped: {said}")), "{log}");
    }
    assert_eq!(order(&mount), ["a.hpi", "b.hpi"]);
}

#[fuse_test]
fn the_remaining_one_of_two_archives_is_mounted_as_if_merged() {
    let sources = Folder::new();
    sources.archive("a.hpi", vec![text("a", "a")]);
    sources.damaged("damaged.hpi");
    let mount = sources.mount(&["{}/a.hpi", "{}/damaged.hpi"]);
    assert_eq!(lines(&tree(mount.path())), ["a: a"]);
}

#[fuse_test]
fn strict_refuses_with_the_exit_code_of_the_damage() {
    let sources = Folder::new();
    sources.archive("a.hpi", vec![text("a", "a")]);
    sources.damaged("damaged.hpi");
    sources.write("strange.hpi", "no archive at all");
    sources.write("game.hpi", b"HAPIBANK and so on, for some bytes");
    for (bad, code) in [
        ("damaged.hpi", 12),
        ("strange.hpi", 11),
        ("game.hpi", 13),
        ("absent.hpi", 10),
    ] {
        let bad = format!("{{}}/{bad}");
        let ran = sources.refused(&["--strict", "{}/a.hpi", &bad]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.contains(&bad[2..]), "{ran:?}");
    }
    let ran = sources.refused(&["--strict", "--game", "{}"]);
    assert!(matches!(ran.code, Some(11..=13)), "{ran:?}");
}

#[fuse_test]
fn without_remaining_sources_the_damage_is_the_exit_code() {
    let sources = Folder::new();
    sources.damaged("a.hpi");
    sources.damaged("b.hpi");
    for arguments in [
        &["{}/a.hpi"][..],
        &["{}/a.hpi", "{}/b.hpi"],
        &["--separate", "{}/a.hpi", "{}/b.hpi"],
        &["--game", "{}"],
    ] {
        let ran = sources.refused(arguments);
        assert_eq!(ran.code, Some(12), "{ran:?}");
        assert!(ran.stderr.contains("/a.hpi: "), "{ran:?}");
    }
}

#[fuse_test]
fn archives_with_the_same_file_name_are_distinguished() {
    let sources = Folder::new();
    for (fixture, content) in [("one", "1"), ("two", "2"), ("three", "3")] {
        sources.archive(&format!("{fixture}/m.ufo"), vec![text("t", content)]);
    }
    let mount = sources.mount(&["{}/one/m.ufo", "{}/two/m.ufo", "{}/three/m.ufo"]);
    assert_eq!(lines(&tree(mount.path())), ["t: 3"]);
    assert_eq!(
        lines(&shadowed(&mount)),
        ["m (1).ufo", "m (1).ufo/t: 1", "m (2).ufo", "m (2).ufo/t: 2"]
    );
    assert_eq!(attribute(&mount.file("t"), "source").unwrap(), "m.ufo");
    assert_eq!(
        attribute(&mount.file("t"), "shadows").unwrap(),
        "m (2).ufo\nm (1).ufo"
    );
    assert_eq!(
        info(&mount)["order"]["lowest_to_highest"],
        serde_json::json!(["m (1).ufo", "m (2).ufo", "m.ufo"])
    );
    let paths = info(&mount)["sources"].take();
    let paths = paths.as_array().unwrap().iter();
    let mut paths = paths.map(|source| source["path"].as_str().unwrap());
    assert!(paths.all(|path| path.ends_with("/m.ufo")));
}

#[fuse_test]
fn a_single_source_is_the_root_and_hides_nothing() {
    let sources = Folder::new();
    let same = |content| text("s", content);
    sources.archive("a.hpi", vec![dir(b"d", vec![]), same("1"), same("2")]);
    let mount = sources.mount(&["{}/a.hpi"]);
    assert_eq!(lines(&tree(mount.path())), ["d", "s: 2", "s (1): 1"]);
    assert!(!mount.file(".hpimount/shadowed").exists());
}

#[fuse_test]
fn with_case_sensitive_names_merging_still_ignores_case() {
    let sources = Folder::new();
    sources.archive("a.hpi", vec![text("T.txt", "a")]);
    sources.archive("b.hpi", vec![text("t.TXT", "b")]);
    let mount = sources.mount(&["-o", "case_sensitive", "{}/a.hpi", "{}/b.hpi"]);
    assert_eq!(lines(&tree(mount.path())), ["t.TXT: b"]);
    assert!(!mount.file("T.txt").exists());
}
