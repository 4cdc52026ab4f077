//! Selection and precedence of the mounted archives in a game's folder (SEMANTICS,
//! Merging).

use std::fs;
use std::os::unix::fs::symlink;
use testkit::fuse_test;

use testkit::merging::{
    Folder, attribute, folder, info, lines, order, other_archive, shadowed, text, tree,
};
use testkit::mount::Mount;

/// Writes archives that all contain a `who.txt` with the archive's name in it.
fn contestants(sources: &Folder, names: &[&str]) {
    for name in names {
        sources.archive(name, vec![text("who.txt", name)]);
    }
}

fn winner(mount: &Mount) -> String {
    fs::read_to_string(mount.file("WHO.TXT")).unwrap()
}

fn warnings(mount: &Mount) -> Vec<String> {
    let warnings = info(mount)["order"]["warnings"].take();
    serde_json::from_value(warnings).unwrap()
}

#[fuse_test]
fn total_annihilation_orders_by_groups_and_then_by_the_first_name() {
    let sources = Folder::new();
    let names = [
        "totala2.hpi",
        "TOTALA1.HPI",
        "b.ufo",
        "A.UFO",
        "d.ccx",
        "C.ccx",
        "REV31.GP3",
    ];
    contestants(&sources, &names);
    sources.write("Who.txt", "loose");
    let mount = sources.game();
    assert_eq!(winner(&mount), "loose");
    let expected = [
        "totala2.hpi",
        "TOTALA1.HPI",
        "b.ufo",
        "A.UFO",
        "d.ccx",
        "C.ccx",
        "REV31.GP3",
        "game",
    ];
    assert_eq!(order(&mount), expected);
    let mut hides: Vec<_> = expected[..7].to_vec();
    hides.reverse();
    assert_eq!(
        attribute(&mount.file("who.txt"), "shadows").unwrap(),
        hides.join("\n")
    );
    assert_eq!(attribute(&mount.file("who.txt"), "source").unwrap(), "game");
    assert_eq!(lines(&tree(mount.path())), ["Who.txt: loose"]);
    let order = info(&mount)["order"].take();
    assert_eq!(order["rule"], "ta");
    assert_eq!(order["why"], "most archives are of Total Annihilation");
    assert!(warnings(&mount).is_empty());
}

#[fuse_test]
fn if_the_games_own_patch_exists_no_other_is_mounted() {
    let sources = Folder::new();
    contestants(&sources, &["rev31.gp3", "aaa.gp3", "a.ufo"]);
    let mount = sources.game();
    assert_eq!(winner(&mount), "rev31.gp3");
    assert_eq!(order(&mount), ["a.ufo", "rev31.gp3", "game"]);
    let said = "aaa.gp3 is not merged: the game mounts no .gp3 but rev31.gp3";
    assert_eq!(warnings(&mount), [said]);
    assert!(mount.fixture.log().contains(said));
    assert!(mount.file("aaa.gp3").is_file(), "as a loose file");
}

#[fuse_test]
fn other_patches_are_mounted_if_the_games_own_is_absent() {
    let sources = Folder::new();
    contestants(&sources, &["taesc.gp3", "TAOther.gp3", "a.ccx"]);
    let mount = sources.game();
    assert_eq!(winner(&mount), "taesc.gp3");
    assert_eq!(order(&mount), ["a.ccx", "TAOther.gp3", "taesc.gp3", "game"]);
}

#[fuse_test]
fn the_limit_of_ten_is_reported_and_not_enforced() {
    let sources = Folder::new();
    for number in 10..22 {
        let name = format!("{number}.hpi");
        sources.archive(&name, vec![text(&format!("{number}.txt"), "")]);
    }
    let mount = sources.game();
    assert_eq!(tree(mount.path()).len(), 12);
    let said = "12 .hpi archives are merged; the game mounts the first 10 only, up to 19.hpi";
    assert_eq!(warnings(&mount), [said]);
    assert!(mount.fixture.log().contains(said));
}

#[fuse_test]
fn ten_archives_are_within_the_limit() {
    let sources = Folder::new();
    let names: Vec<String> = (0..10).map(|number| format!("{number}.hpi")).collect();
    contestants(&sources, &Vec::from_iter(names.iter().map(String::as_str)));
    sources.damaged("damaged.hpi");
    let mount = sources.game();
    assert!(warnings(&mount).is_empty(), "a damaged one does not count");
}

#[fuse_test]
fn loose_files_win_over_archives_and_directories_are_merged() {
    let sources = Folder::new();
    let units = vec![text("ARM.fbi", "archive"), text("core.fbi", "archive")];
    sources.archive("a.hpi", vec![folder("UNITS", units)]);
    sources.write("units/arm.FBI", "loose");
    sources.write("units/new/own.fbi", "loose");
    sources.write("TotalA.exe", "program");
    let mount = sources.game();
    assert_eq!(
        lines(&tree(mount.path())),
        [
            "TotalA.exe: program",
            "units",
            "units/arm.FBI: loose",
            "units/core.fbi: archive",
            "units/new",
            "units/new/own.fbi: loose",
        ]
    );
    assert_eq!(
        lines(&shadowed(&mount)),
        ["a.hpi", "a.hpi/UNITS", "a.hpi/UNITS/ARM.fbi: archive"]
    );
}

#[fuse_test]
fn links_to_archives_are_archives_and_other_links_stay_links() {
    let sources = Folder::new();
    contestants(&sources, &["elsewhere/disc.hpi"]);
    let link = |target: &str, name: &str| symlink(target, sources.path.join(name)).unwrap();
    link("elsewhere/disc.hpi", "totala1.hpi");
    link("elsewhere", "more");
    let mount = sources.game();
    assert_eq!(winner(&mount), "elsewhere/disc.hpi");
    assert_eq!(order(&mount), ["totala1.hpi", "game"]);
    assert!(!mount.file("totala1.hpi").exists());
    let target = fs::read_link(mount.file("more")).unwrap();
    assert_eq!(target.to_str(), Some("elsewhere"));
    assert!(mount.file("more/disc.hpi").is_file());
}

#[fuse_test]
fn skipped_archives_are_loose_files_and_merged_ones_are_not() {
    let sources = Folder::new();
    contestants(&sources, &["a.hpi", "b.ufo"]);
    sources.damaged("bad.ufo");
    let mount = sources.game();
    let mut names: Vec<_> = fs::read_dir(mount.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["bad.ufo", "bad.ufo.d", "who.txt"]);
    let why = fs::read_to_string(mount.file("bad.ufo.d/error.txt")).unwrap();
    let skipped = info(&mount)["skipped"][0].take();
    assert!(skipped.as_str().unwrap().ends_with(why.trim_end()));
    assert!(mount.fixture.log().contains(why.trim_end()));
}

#[fuse_test]
fn only_archives_of_the_game_are_merged_regardless_of_names() {
    let sources = Folder::new();
    contestants(&sources, &["a.hpi"]);
    sources.write("other.ufo", other_archive());
    sources.write("text.ufo", "some text");
    let mount = sources.game();
    assert_eq!(order(&mount), ["a.hpi", "game"]);
    assert_eq!(info(&mount)["skipped"].as_array().unwrap().len(), 2);
    assert!(!mount.file("layers").exists());
}

#[fuse_test]
fn extensions_that_a_game_does_not_mount_are_loose_files() {
    let sources = Folder::new();
    contestants(&sources, &["a.hpi", "z.gpf", "z.kmp", "z.zip"]);
    let mount = sources.game();
    assert_eq!(order(&mount), ["a.hpi", "game"]);
    assert_eq!(
        warnings(&mount),
        [
            "z.gpf is not merged: the game mounts no .gpf",
            "z.kmp is not merged: the game mounts no .kmp"
        ]
    );
    assert!(mount.file("z.gpf").is_file());
    let inside = fs::read_to_string(mount.file("z.gpf.d/who.txt")).unwrap();
    assert_eq!(inside, "z.gpf");
}

#[fuse_test]
fn kingdoms_shows_the_newest_file_of_any_archive() {
    let sources = Folder::new();
    let new = 950_000_000;
    // The first file is shown if none is newer.
    sources.kingdoms("a.hpi", new, vec![text("x", "a"), text("y", "a")]);
    sources.kingdoms("b.hpi", new + 1, vec![text("X", "b")]);
    sources.kingdoms("c.ufo", new + 2, vec![text("x", "c")]);
    sources.kingdoms("d.ufo", new, vec![text("Y", "d")]);
    let mount = sources.game();
    assert_eq!(lines(&tree(mount.path())), ["x: c", "y: a"]);
    assert_eq!(
        attribute(&mount.file("x"), "shadows").unwrap(),
        "a.hpi\nb.hpi"
    );
    assert_eq!(
        lines(&shadowed(&mount)),
        [
            "a.hpi",
            "a.hpi/x: a",
            "b.hpi",
            "b.hpi/X: b",
            "d.ufo",
            "d.ufo/Y: d"
        ]
    );
    let order = info(&mount)["order"].take();
    assert_eq!(order["rule"], "kingdoms");
    assert_eq!(order["why"], "most archives are of TA: Kingdoms");
}

#[fuse_test]
fn of_files_with_equal_dates_kingdoms_shows_the_one_that_is_mounted_first() {
    let sources = Folder::new();
    let date = 950_000_000;
    for name in ["b.hpi", "A.HPI", "0.ufo", "0.kmp"] {
        sources.kingdoms(name, date, vec![text("who.txt", name)]);
    }
    let mount = sources.game();
    assert_eq!(winner(&mount), "A.HPI");
    assert_eq!(order(&mount), ["0.kmp", "0.ufo", "b.hpi", "A.HPI", "game"]);
}

#[fuse_test]
fn loose_files_win_over_newer_ones_in_kingdoms_too() {
    let sources = Folder::new();
    sources.kingdoms("a.hpi", 950_000_000, vec![text("x", "a")]);
    sources.write("x", "loose");
    sources.date("x", 1_000);
    let mount = sources.game();
    assert_eq!(lines(&tree(mount.path())), ["x: loose"]);
}

#[fuse_test]
fn the_game_is_detected_by_the_versions_of_archives_only() {
    let sources = Folder::new();
    sources.kingdoms("a.hpi", 950_000_000, vec![text("x", "a")]);
    sources.write("b.hpi", "no archive");
    sources.write("c.hpi", "no archive");
    let mount = sources.game();
    assert_eq!(info(&mount)["order"]["rule"], "kingdoms");
}

#[fuse_test]
fn a_requested_order_is_used() {
    for (rule, first, all) in [
        ("ta", "A.ufo", &["a.hpi", "A.ufo", "game"][..]),
        ("rwe", "a.gpf", &["a.hpi", "A.ufo", "a.gpf", "game"]),
        ("kingdoms", "a.hpi", &["a.kmp", "A.ufo", "a.hpi", "game"]),
    ] {
        let sources = Folder::new();
        for name in ["a.gpf", "A.ufo", "a.hpi", "a.kmp"] {
            sources.kingdoms(name, 950_000_000, vec![text("who.txt", name)]);
        }
        let mount = sources.mount(&["--order", rule, "--game", "{}"]);
        assert_eq!(winner(&mount), first);
        assert_eq!(order(&mount), all);
        let order = info(&mount)["order"].take();
        assert_eq!([&order["rule"], &order["why"]], [rule, "set by --order"]);
    }
}

#[fuse_test]
fn an_order_sorts_the_sources_of_the_command_line() {
    for (rule, all) in [
        ("ta", ["a.gpf", "a.hpi", "b.ufo", "a.ufo"]),
        ("rwe", ["a.hpi", "b.ufo", "a.ufo", "a.gpf"]),
        ("cli", ["a.ufo", "a.gpf", "a.hpi", "b.ufo"]),
    ] {
        let sources = Folder::new();
        contestants(&sources, &all);
        let named = ["{}/a.ufo", "{}/a.gpf", "{}/a.hpi", "{}/b.ufo"];
        let mount = sources.mount(&[&["--order", rule], &named[..]].concat());
        assert_eq!(order(&mount), all);
        assert_eq!(winner(&mount), all[3]);
    }
}

#[fuse_test]
fn a_folder_without_a_game_is_refused() {
    let sources = Folder::new();
    sources.write("readme.txt", "nothing here");
    sources.archive("below/a.hpi", vec![]);
    for (arguments, code, said) in [
        (&["--game", "{}"][..], 11, "game"),
        (&["--game", "{}/readme.txt"], 10, "readme.txt"),
        (&["--game", "{}/absent"], 10, "absent"),
        (&["--game", "{}", "{}/below/a.hpi"], 2, "SOURCE"),
        (&["--game", "{}", "--order", "cli"], 2, "--order cli"),
        (&["--game", "{}", "--order", "best"], 2, "best"),
        (&["--game", "{}", "--separate"], 2, "--separate"),
    ] {
        let ran = sources.refused(arguments);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
}

#[fuse_test]
fn loose_directories_that_differ_in_case_only_are_one() {
    let sources = Folder::new();
    sources.archive("a.ufo", vec![folder("units", vec![text("a", "1")])]);
    sources.write("Units/b", "2");
    sources.write("UNITS/c", "3");
    sources.write("units/Sub/d", "4");
    sources.write("Units/SUB/e", "5");
    let mount = sources.game();
    assert_eq!(
        lines(&tree(mount.path())),
        [
            "UNITS",
            "UNITS/SUB",
            "UNITS/SUB/d: 4",
            "UNITS/SUB/e: 5",
            "UNITS/a: 1",
            "UNITS/b: 2",
            "UNITS/c: 3"
        ]
    );
    let warned = warnings(&mount);
    assert_eq!(
        warned,
        [
            "Units is merged with UNITS: on Windows they are one folder",
            "units is merged with UNITS: on Windows they are one folder",
            "units/Sub is merged with Units/SUB: on Windows they are one folder"
        ]
    );
}
