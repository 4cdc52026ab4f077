//! Cases that are hard to reach through the kernel.

use std::sync::Arc;

use super::*;
use crate::memory::budget::Budget;
use crate::namespace::companion::Companions;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::TreeBuilder;
use crate::sync::lock;
use hpimount_containers::volume::{Name, Sink};

/// Creates a mount with the directories `MAPS/Sub` and room for few aliases.
fn with_aliases(max_aliases: usize) -> Vfs {
    let mut builder = TreeBuilder::new(0, 0, Companions::NONE);
    let maps = builder
        .dir(builder.root(), Name::utf_8("MAPS"), None)
        .unwrap();
    builder.dir(maps, Name::utf_8("Sub"), None).unwrap();
    let mount = assets::new_tree(&Budget::new(64 << 20), Options::default());
    mount.grafts.add(Origin::Root, builder.finish(), Vec::new());
    lock(&mount.transients).max_aliases = max_aliases;
    Vfs::of(mount)
}

/// Looks up a name that must be a symbolic link, and returns its text.
fn shortcut(vfs: &Vfs, parent: Ino, name: &str) -> String {
    let attr = vfs.lookup(parent, name).unwrap();
    assert_eq!(attr.kind, FileKind::Symlink);
    assert_eq!(vfs.getattr(attr.ino).unwrap(), attr);
    let text = vfs.readlink(attr.ino).unwrap();
    assert_eq!(attr.size, text.len() as u64);
    vfs.forget(attr.ino, 1);
    String::from_utf8(text).unwrap()
}

#[test]
fn beyond_the_limit_another_spelling_is_a_link_to_the_exact_one() {
    let vfs = with_aliases(0);
    assert_eq!(shortcut(&vfs, Ino::ROOT, "maps"), "MAPS");
    let maps = vfs.lookup(Ino::ROOT, "MAPS").unwrap();
    assert_eq!(maps.kind, FileKind::Directory);
    assert_eq!(shortcut(&vfs, maps.ino, "sUB"), "../MAPS/Sub");
}

/// A link to `Sub` would lead to itself.
#[test]
fn beyond_the_limit_links_lead_out_of_other_spellings() {
    let vfs = with_aliases(1);
    let alias = vfs.lookup(Ino::ROOT, "maps").unwrap();
    assert_eq!(alias.kind, FileKind::Directory);
    assert_eq!(shortcut(&vfs, alias.ino, "Sub"), "../MAPS/Sub");
    vfs.forget(alias.ino, 1);
    let again = vfs.lookup(Ino::ROOT, "mAPS").unwrap();
    assert_eq!(again.kind, FileKind::Directory);
}

#[test]
fn numbers_of_a_subtree_that_was_built_anew_are_stale_and_the_kernel_forgets_them() {
    let source = tempfile::tempdir().unwrap();
    let asset = source.path().join("a.tdf");
    std::fs::write(&asset, "[UNIT]{Name=a;}").unwrap();
    let sources = Sources::one(source.path());
    let vfs = Vfs::open(&sources, Options::default()).unwrap();
    let directory = vfs.lookup(Ino::ROOT, "a.tdf.meta").unwrap().ino;
    let file = vfs.lookup(directory, "info.json").unwrap().ino;

    std::fs::write(&asset, "[UNIT]{Name=another;}").unwrap();
    // As if memory had been short.
    let asset = vfs.lookup(Ino::ROOT, "a.tdf").unwrap().ino;
    vfs.reader()
        .forget_model(vfs.node(asset).unwrap().file().unwrap());
    let range = vfs.mount.grafts.numbers().find(file).unwrap();
    vfs.mount.grafts.discard(range.origin);

    assert_eq!(vfs.getattr(file), Err(Error::Stale));
    let forgotten = vfs.next_invalidation();
    assert_eq!(forgotten, Some((Ino::ROOT, "a.tdf.meta".to_owned())));
}

/// Creates a mount of a folder with that many assets, with little memory.
fn with_assets(count: usize) -> (tempfile::TempDir, Arc<Vfs>) {
    let source = tempfile::tempdir().unwrap();
    for number in 0..count {
        let asset = source.path().join(format!("{number}.tdf"));
        std::fs::write(asset, "[UNIT]{Name=a;}").unwrap();
    }
    let sources = Sources::one(source.path());
    let options = Options {
        cache_size: 256 << 10,
        meta: Meta::Hidden,
        ..Options::default()
    };
    let vfs = Vfs::open(&sources, options).unwrap();
    (source, vfs)
}

/// Looks up a file in the `X.meta` of the asset with this number, as the kernel does.
fn enter(vfs: &Vfs, number: usize) -> [Ino; 2] {
    let name = format!("{number}.tdf.meta");
    let directory = vfs.lookup(Ino::ROOT, &name).unwrap().ino;
    let file = vfs.lookup(directory, "info.json").unwrap().ino;
    vfs.trim_numbers();
    [directory, file]
}

fn forget(vfs: &Vfs, inodes: [Ino; 2]) {
    inodes.into_iter().for_each(|ino| vfs.forget(ino, 1));
}

#[test]
fn numbers_that_the_kernel_has_forgotten_are_dropped_and_never_used_again() {
    let (_source, vfs) = with_assets(1000);
    let held = enter(&vfs, 0);
    let forgotten = enter(&vfs, 1);
    let mut last = forgotten;
    forget(&vfs, forgotten);
    for number in 2..1000 {
        last = enter(&vfs, number);
        forget(&vfs, last);
    }
    let inodes = vfs.mount.grafts.numbers().inodes();
    assert!(inodes < 2000, "{inodes}");
    // The kernel has not forgotten this one.
    assert_eq!(vfs.getattr(held[1]).unwrap().ino, held[1]);
    assert_eq!(enter(&vfs, 0), held);
    for ino in forgotten {
        assert_eq!(vfs.getattr(ino), Err(Error::Stale));
        assert_eq!(vfs.lookup_again(ino), Err(Error::Stale));
    }
    let again = enter(&vfs, 1);
    assert!(again.iter().all(|ino| *ino > last[1]), "{again:?}");
}

#[test]
fn the_kernel_is_to_forget_the_directories_that_it_used_first() {
    let (_source, vfs) = with_assets(1000);
    for number in 0..1000 {
        enter(&vfs, number);
    }
    let mut names = Vec::new();
    for _ in 0..100 {
        let (parent, name) = vfs.next_invalidation().unwrap();
        assert_eq!(parent, Ino::ROOT);
        names.push(name);
    }
    assert!(names.contains(&"0.tdf.meta".to_owned()), "{names:?}");
    assert!(!names.contains(&"999.tdf.meta".to_owned()), "{names:?}");
}

#[test]
fn a_directory_under_another_spelling_keeps_its_numbers() {
    let (_source, vfs) = with_assets(1000);
    let alias = vfs.lookup(Ino::ROOT, "0.TDF.meta").unwrap().ino;
    let directory = lock(&vfs.mount.transients).directory(alias).unwrap();
    let enter_all = || {
        for number in 1..1000 {
            forget(&vfs, enter(&vfs, number));
        }
    };
    enter_all();
    assert_eq!(vfs.getattr(directory).unwrap().ino, directory);
    vfs.forget(alias, 1);
    enter_all();
    assert_eq!(vfs.getattr(directory), Err(Error::Stale));
}
