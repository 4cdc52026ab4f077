//! Cases that are hard to reach through the kernel.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::namespace::companion::{Companions, Shows};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::TreeBuilder;
use crate::sync::lock;
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::hpi::write::{Serial, v1};
use hpimount_containers::volume::{Name, Sink};
use hpimount_containers::write::Directory;

/// Creates a mount with the directories `MAPS/Sub` and room for few aliases.
fn with_aliases(max_aliases: usize) -> Vfs {
    let mut builder = TreeBuilder::new(0, 0, Companions::NONE);
    let maps = builder
        .dir(builder.root(), Name::utf_8("MAPS"), None)
        .unwrap();
    builder.dir(maps, Name::utf_8("Sub"), None).unwrap();
    let vfs = Vfs::empty(Options::default());
    vfs.grafts.add(Origin::Root, builder.finish(), Vec::new());
    lock(&vfs.transients).max_aliases = max_aliases;
    vfs
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
fn a_listing_that_fails_in_the_middle_returns_the_entries_before() {
    let mut archive = tempfile::NamedTempFile::new().unwrap();
    let root = Directory::default();
    let options = v1::Options {
        method: Method::Stored,
        key: 0,
    };
    v1::write(
        &root,
        options,
        &mut archive,
        &mut Serial::default(),
        &mut |_| {},
    )
    .unwrap();
    let sources = Sources::Given {
        locations: vec![archive.path().to_owned().into()],
        order: None,
        separate: false,
    };
    let vfs = Vfs::open(&sources, Options::default()).unwrap();
    let control = vfs.lookup(Ino::ROOT, ".hpimount").unwrap();
    // Leaves no number for a snapshot of the counters.
    let others = (1 << 31) - 1 - vfs.grafts.numbers().single().unwrap().0 - 1;
    let numbers = vfs.grafts.numbers();
    numbers.assign(Origin::Hidden(Ino(1), Shows::Inside), others, 0);
    let list = |offset| {
        let mut names = Vec::new();
        let listed = vfs.readdir_plus(control.ino, offset, &mut |name, _, _| {
            names.push(name.to_owned());
            false
        });
        listed.map(|()| names)
    };
    assert_eq!(
        list(0).unwrap(),
        ["info.json"],
        "the kernel counts a lookup"
    );
    assert_eq!(list(1), Err(Error::NoNumbers));
}

#[test]
fn numbers_of_a_subtree_that_was_built_anew_are_stale_and_the_kernel_forgets_them() {
    let source = tempfile::tempdir().unwrap();
    let asset = source.path().join("a.tdf");
    std::fs::write(&asset, "[UNIT]{Name=a;}").unwrap();
    let sources = Sources::Given {
        locations: vec![source.path().to_owned().into()],
        order: None,
        separate: false,
    };
    let vfs = Vfs::open(&sources, Options::default()).unwrap();
    let directory = vfs.lookup(Ino::ROOT, "a.tdf.meta").unwrap().ino;
    let file = vfs.lookup(directory, "info.json").unwrap().ino;

    std::fs::write(&asset, "[UNIT]{Name=another;}").unwrap();
    // As if memory had been short.
    let asset = vfs.lookup(Ino::ROOT, "a.tdf").unwrap().ino;
    vfs.reader
        .forget_model(vfs.node(asset).unwrap().file().unwrap());
    let (_, range) = vfs.grafts.numbers().find(file).unwrap();
    vfs.grafts.discard(range.origin);

    assert_eq!(vfs.getattr(file), Err(Error::Stale));
    let (send, receive) = mpsc::channel();
    let queue = vfs.invalidations().clone();
    thread::spawn(move || send.send(queue.next()));
    let forgotten = receive.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(forgotten, Some((Ino::ROOT, "a.tdf.meta".to_owned())));
}
