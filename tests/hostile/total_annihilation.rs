//! Assets of Total Annihilation that need far more than their size suggests, in
//! a mounted archive: they are shown in part, or refused with a reason.

use std::fs;
use std::path::Path;
use testkit::fuse_test;

use fixtures::ta::bombs;
use serde_json::Value;
use testkit::limits::peak_memory_of;
use testkit::mount::Mount;
use testkit::pictures::pixels;
use testkit::sources::{folder, names, pack};

/// Budget of the cache in bytes.
const CACHE: usize = 160 << 20;

/// Returns a mount of an archive with these files.
fn mounted(files: &[(&str, Vec<u8>)]) -> Mount {
    let mut fixture = folder(|source| {
        for (path, bytes) in files {
            let path = source.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    });
    let archive = fixture.dir().join("bombs.hpi");
    pack(&fixture.archive, &archive);
    fixture.archive = archive;
    fixture.mount(&["-o", &format!("cachesize={CACHE}")])
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn info(meta: &Path) -> Value {
    serde_json::from_str(&text(&meta.join("info.json"))).unwrap()
}

#[fuse_test]
fn a_frame_with_65535_references_is_shown_up_to_a_limit_of_pixels() {
    let mount = mounted(&[("anims/bomb.gaf", bombs::shared_frame())]);
    let meta = mount.file("anims/bomb.gaf.meta");
    let shown = names(&meta.join("000 bomb"));
    // As many as have 256 Mi pixels together.
    assert_eq!(shown.len(), (1 << 28) / 1_000_000);
    let (width, height, _) = pixels(&fs::read(meta.join("000 bomb").join(&shown[0])).unwrap());
    assert_eq!((width, height), (1000, 1000));
    assert_eq!(text(&meta.join("frames.tsv")).lines().count(), 65_536);
    assert!(!names(&meta).iter().any(|name| name.ends_with(".apng")));
    let warnings = info(&meta)["warnings"].to_string();
    assert!(warnings.contains("frames are not shown"), "{warnings}");
    let (width, height, _) = pixels(&fs::read(meta.join("preview.png")).unwrap());
    assert_eq!((width, height), (256, 256));
    check_memory(&mount);
}

#[fuse_test]
fn a_cyclic_model_is_refused_with_a_reason() {
    let mount = mounted(&[
        ("objects3d/child.3do", bombs::cycle(true)),
        ("objects3d/sibling.3do", bombs::cycle(false)),
    ]);
    for name in ["child", "sibling"] {
        let meta = mount.file(&format!("objects3d/{name}.3do.meta"));
        let error = text(&meta.join("error.txt"));
        assert!(error.contains("0x"), "{error}");
        assert_eq!(info(&meta)["format"], "3DO");
    }
    check_memory(&mount);
}

#[fuse_test]
fn a_map_of_16_mebi_cells_is_shown_within_the_budget() {
    let mount = mounted(&[("maps/vast.tnt", bombs::vast_map())]);
    let meta = mount.file("maps/vast.tnt.meta");
    let info = info(&meta);
    assert_eq!(info["cells"], serde_json::json!([4096, 4096]));
    let shown = names(&meta);
    assert!(shown.contains(&"height.png".to_owned()), "{shown:?}");
    assert_eq!(info["height_range"], serde_json::json!([0, 0]));
    assert!(!shown.contains(&"features.tsv".to_owned()), "{shown:?}");
    check_memory(&mount);
}

#[fuse_test]
fn a_text_with_sections_a_million_deep_is_refused_with_a_reason() {
    let mount = mounted(&[("units/deep.fbi", bombs::deep_text())]);
    let meta = mount.file("units/deep.fbi.meta");
    let error = text(&meta.join("error.txt"));
    assert!(error.contains("is in more than 64 others"), "{error}");
    assert_eq!(info(&meta)["depth"], 64);
    check_memory(&mount);
}

/// Asserts that the daemon has not exceeded its budget and the memory allowed for
/// hostile input.
fn check_memory(mount: &Mount) {
    mount.daemon().assert_running();
    let peak = peak_memory_of(&mount.pid().to_string());
    assert!(peak < CACHE + (32 << 20), "{peak}");
}
