//! Cases that are hard to reach through the kernel.

use super::*;
use crate::namespace::companion::{Companions, Shows};
use crate::namespace::tree::TreeBuilder;
use crate::pack::hpi::{self as pack, v1};
use crate::volume::hpi::chunk::Method;
use crate::volume::{Name, Sink};

/// Creates a mount with the directories `MAPS/Sub` and room for few aliases.
fn with_aliases(max_aliases: usize) -> Vfs {
    let mut builder = TreeBuilder::new(0, 0, Companions::NONE);
    let maps = builder
        .dir(builder.root(), Name::utf_8("MAPS"), None)
        .unwrap();
    builder.dir(maps, Name::utf_8("Sub"), None).unwrap();
    let vfs = Vfs::empty(Options::default());
    vfs.add_fixed(Origin::Root, builder.finish(), Vec::new());
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
    let root = pack::Directory::default();
    let options = v1::Options {
        method: Method::Stored,
        key: 0,
    };
    v1::write(&root, options, &mut archive, &mut |_| {}).unwrap();
    let sources = Sources::Given {
        locations: vec![archive.path().to_owned().into()],
        order: None,
        separate: false,
    };
    let vfs = Vfs::open(&sources, Options::default()).unwrap();
    let control = vfs.lookup(Ino::ROOT, ".hpimount").unwrap();
    // Leaves no number for a snapshot of the counters.
    let others = (1 << 31) - 1 - vfs.numbers.single().unwrap().0 - 1;
    vfs.numbers
        .assign(Origin::Hidden(Ino(1), Shows::Inside), others, 0);
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
