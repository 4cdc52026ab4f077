use super::*;
use crate::Error;

const FILES: [(&str, u64); 4] = [
    ("files/dir/A.bin", 100),
    ("files/dir/b.txt", 20),
    ("files/other/b.txt", 9),
    ("sys/main.dol", 50),
];

/// A card with these files.
struct Files(&'static [(&'static str, u64)]);

impl Card for Files {
    fn size(&self, path: &str) -> Option<u64> {
        let found = self.0.iter().find(|(other, _)| *other == path);
        found.map(|(_, size)| *size)
    }

    fn entries(&self, folder: &str) -> Option<Vec<Entry>> {
        let inner = self.0.iter().filter_map(|(path, _)| match folder {
            "" => Some(*path),
            _ => path.strip_prefix(folder)?.strip_prefix('/'),
        });
        let mut entries: Vec<_> = inner
            .map(|path| {
                let (name, rest) = path.split_once('/').unwrap_or((path, ""));
                Entry {
                    name: name.to_owned(),
                    is_folder: !rest.is_empty(),
                }
            })
            .collect();
        entries.dedup();
        (!entries.is_empty()).then_some(entries)
    }
}

const CARD: Files = Files(&[("mod/a", 10), ("mod/sub/b.txt", 5), ("mod/sub/.c", 1)]);

fn with_patch(patch: &str) -> Mod {
    let document = format!(
        "<wiidisc version=\"1\" root=\"/mod\"><id game=\"GXX\"><region type=\"E\"/></id>
        <options><section name=\"S\"><option name=\"O\" id=\"o\" default=\"1\">
        <choice name=\"1\"><patch id=\"p\"/></choice><choice name=\"2\"/></option></section></options>
        <patch id=\"p\">{patch}</patch></wiidisc>"
    );
    Mod::parse(document.as_bytes()).unwrap()
}

fn plan_with(parsed: &Mod, id: &str, selections: &[Selection]) -> crate::Result<Plan> {
    let files = FILES.map(|(path, size)| (path.to_owned(), size));
    let disc = Disc::new(id, 0, 0, &files);
    parsed.plan(&disc, &CARD, "riivolution", selections)
}

fn plan(patch: &str) -> Plan {
    plan_with(&with_patch(patch), "GXXE01", &[]).unwrap()
}

fn external(path: &str, offset: u64, length: u64) -> Part {
    let path = path.into();
    Part::External {
        path,
        offset,
        length,
    }
}

fn paths(plan: &Plan) -> Vec<&str> {
    plan.files.iter().map(|file| &*file.path).collect()
}

#[test]
fn files_are_found_by_path_or_by_name_without_case() {
    for (disc, path) in [
        ("/DIR/a.bin", "files/dir/A.bin"),
        ("B.TXT", "files/dir/b.txt"),
        ("main.dol", "sys/main.dol"),
    ] {
        let plan = plan(&format!("<file disc=\"{disc}\" external=\"a\"/>"));
        assert_eq!(paths(&plan), [path]);
        assert_eq!(plan.files[0].parts, [external("mod/a", 0, 10)]);
    }
    for disc in [
        "/none",
        "dir/a.bin",
        "/main.dol",
        "/dir/A.bin/x\" create=\"true",
    ] {
        let plan = plan(&format!("<file disc=\"{disc}\" external=\"a\"/>"));
        assert_eq!((plan.files.len(), plan.notes.len()), (0, 1), "{disc}");
    }
}

#[test]
fn a_part_of_a_file_is_written_over_the_file_as_it_is_so_far() {
    let plan = plan(
        "<file disc=\"/dir/A.bin\" external=\"a\" offset=\"22\" fileoffset=\"4\" length=\"8\" resize=\"false\"/>
        <file disc=\"/dir/A.bin\" external=\"sub/b.txt\" offset=\"24\" resize=\"0\"/>",
    );
    let original = |offset, length| Part::Original { offset, length };
    let expected = [
        original(0, 20),
        external("mod/a", 4, 4),
        external("mod/sub/b.txt", 0, 5),
        original(29, 71),
    ];
    assert_eq!(plan.files[0].parts, expected);
}

#[test]
fn what_is_missing_before_and_after_is_zeros() {
    let plan = plan("<file disc=\"/other/b.txt\" external=\"a\" offset=\"12\" length=\"15\"/>");
    let zeros = |length| Part::Zeros { length };
    let old = Part::Original {
        offset: 0,
        length: 9,
    };
    let expected = [old, zeros(3), external("mod/a", 0, 10), zeros(5)];
    assert_eq!(plan.files[0].parts, expected);
}

#[test]
fn folders_apply_each_file_in_them() {
    assert_eq!(
        paths(&plan("<folder disc=\"/dir\" external=\"sub\"/>")),
        ["files/dir/b.txt"]
    );
    assert_eq!(
        paths(&plan("<folder external=\"sub\"/>")),
        ["files/dir/b.txt"]
    );
    let all = plan("<folder disc=\"/\" external=\"\" create=\"true\"/>");
    assert_eq!(paths(&all), ["files/a", "files/sub/b.txt"]);
    let flat = plan("<folder disc=\"/\" external=\"\" create=\"true\" recursive=\"no\"/>");
    assert_eq!(paths(&flat), ["files/a"]);
}

#[test]
fn choices_are_made_by_section_and_name_or_by_id() {
    let parsed = with_patch("<file disc=\"/dir/A.bin\" external=\"a\"/>");
    for (text, changed, notes) in [
        ("S/O=0", 0, 0),
        ("S/O=1", 1, 0),
        ("o=2", 0, 0),
        ("o=3", 1, 1),
        ("T/O=0", 1, 1),
    ] {
        let selection = Selection::parse(text).unwrap();
        let plan = plan_with(&parsed, "GXXE01", &[selection]).unwrap();
        assert_eq!(
            (plan.files.len(), plan.notes.len()),
            (changed, notes),
            "{text}"
        );
    }
    assert_eq!(Selection::parse("S/O"), None);
    assert_eq!(parsed.sections()[0].options[0].choices.len(), 2);
}

#[test]
fn mods_of_other_games_and_paths_outside_are_errors() {
    let parsed = with_patch("<file disc=\"/dir/A.bin\" external=\"../../x\"/>");
    let error = plan_with(&parsed, "GXXP01", &[]).unwrap_err();
    assert!(matches!(error, Error::OtherGame(_)), "{error}");
    let error = plan_with(&parsed, "GXXE01", &[]).unwrap_err();
    assert!(
        error.to_string().contains("leads out of its folder"),
        "{error}"
    );
}

#[test]
fn files_longer_than_four_gibibytes_are_refused() {
    let parsed = with_patch("<file disc=\"/dir/A.bin\" external=\"a\" offset=\"0xFFFFFFFC\"/>");
    plan_with(&parsed, "GXXE01", &[]).unwrap_err();
}

#[test]
fn what_is_ignored_is_counted() {
    let parsed = with_patch("<memory/><shift/><memory/>");
    let ignored: Vec<_> = parsed.ignored().collect();
    assert_eq!(ignored, [("memory", 2), ("shift", 1)]);
}

#[test]
fn written_mods_replace_their_files() {
    let files = [
        "files/dir/A.bin".to_owned(),
        "files/new & <old>.txt".to_owned(),
        "sys/main.dol".to_owned(),
    ];
    let output = Output {
        name: "My mod",
        id: "GXXE01",
        disc: Some((0, 0)),
        files: &files,
        base_file: Some("game.iso"),
    };
    let parsed = Mod::parse(output.xml().unwrap().as_bytes()).unwrap();
    let card = Files(&[
        ("My mod/files/dir/A.bin", 1),
        ("My mod/files/new & <old>.txt", 2),
        ("My mod/sys/main.dol", 3),
    ]);
    let on_disc = FILES.map(|(path, size)| (path.to_owned(), size));
    let disc = Disc::new("GXXE01", 0, 0, &on_disc);
    let descriptor = Descriptor::parse(output.descriptor().unwrap().as_bytes()).unwrap();
    assert_eq!(descriptor.base_file.as_deref(), Some("game.iso"));
    let [patch] = &descriptor.patches[..] else {
        panic!("{descriptor:?}")
    };
    assert_eq!(patch.xml, "riivolution/My mod.xml");
    let plan = parsed
        .plan(&disc, &card, "riivolution", &patch.selections)
        .unwrap();
    assert_eq!(
        (paths(&plan), plan.notes.len()),
        (files.iter().map(|path| &**path).collect(), 0)
    );
    assert!(
        !parsed.fits(&Disc::new("GXXE01", 0, 1, &[])),
        "another version"
    );
}

#[test]
fn what_riivolution_cannot_express_is_refused() {
    let refused = |name, id, path: &str| {
        let files = [path.to_owned()];
        let (disc, base_file) = (None, None);
        let output = Output {
            name,
            id,
            disc,
            files: &files,
            base_file,
        };
        output.xml().unwrap_err();
    };
    refused("a/b", "GXXE01", "files/a");
    refused(".a", "GXXE01", "files/a");
    refused("a", "GXX", "files/a");
    for path in ["sys/boot.bin", "filesa", "files/", "files/a\nb"] {
        refused("a", "GXXE01", path);
    }
}

#[test]
fn a_file_that_riivolution_cannot_express_is_refused_with_the_cause() {
    for (path, cause) in [
        ("sys/boot.bin", "is neither in files/ nor sys/main.dol"),
        ("files/a\u{FFFD}", "has a name that is not Shift-JIS"),
        ("files/a\nb", "has a name that XML cannot hold"),
    ] {
        let error = check_path(path).unwrap_err().to_string();
        assert!(error.contains(cause), "{path}: {error}");
    }
    check_path("files/a").unwrap();
}

#[test]
fn descriptors_of_another_kind_are_refused() {
    for json in [
        "",
        "[]",
        "{\"type\": \"dolphin-game-mod-descriptor\", \"version\": 2}",
        "{\"type\": \"other\", \"version\": 1}",
    ] {
        Descriptor::parse(json.as_bytes()).unwrap_err();
    }
    let json = "{\"type\": \"dolphin-game-mod-descriptor\", \"version\": 1, \"riivolution\": 7}";
    assert_eq!(
        Descriptor::parse(json.as_bytes()).unwrap(),
        Descriptor::default()
    );
}

/// A small XML must not take minutes or gigabytes.
#[test]
fn small_documents_with_much_to_do_are_refused() {
    let element = "<file disc=\"/dir/A.bin\" external=\"a\" length=\"4\" resize=\"0\" offset=\"";
    let scattered: Vec<_> = (0..10_000)
        .map(|at| format!("{element}{}\"/>", at * 8))
        .collect();
    plan_with(&with_patch(&scattered.concat()), "GXXE01", &[]).unwrap_err();
    let repeated = "<patch id=\"p\"/>".repeat(5000);
    let folders = "<folder disc=\"/x\" external=\"none\"/>".repeat(5000);
    let document = format!(
        "<wiidisc version=\"1\"><options><section><option default=\"1\"><choice>{repeated}
        </choice></option></section></options><patch id=\"p\">{folders}</patch></wiidisc>"
    );
    let parsed = Mod::parse(document.as_bytes()).unwrap();
    plan_with(&parsed, "GXXE01", &[]).unwrap_err();
}
