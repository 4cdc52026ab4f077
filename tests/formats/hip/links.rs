//! `types/` and `ids/`, the directories of links to the assets of a HIP archive. They
//! are built on first use, and show the declarations of the archive.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use fixtures::hip::{Asset, Hip};
use hpimount::mount::{Ino, Options};
use hpimount_containers::extract::Listing;
use hpimount_containers::format::{self, Input};
use hpimount_containers::formats;
use testkit::files::walk;
use testkit::fuse_test;
use testkit::mount::Mount;
use testkit::mounted::mounted;
use testkit::walked;

/// The names of the directories of links.
const LINKS: [&str; 2] = ["types", "ids"];

/// Returns an archive with this many assets of several types. The first one is in two
/// layers, one is unlayered, and two have the same id.
fn archive(assets: u32) -> Vec<u8> {
    let mut hip = Hip::default();
    hip.layer(0);
    for number in 0..assets {
        let code = [b"MRKR", b"TEXT", b"RWTX", b"ABCD"][number as usize % 4];
        let bytes = number.to_be_bytes();
        hip.add(Asset::new(code, &format!("ASSET_{number:05}"), &bytes).with_id(number + 1));
    }
    hip.layer(1);
    hip.layers[1].1.push(1);
    let last = hip.layers[0].1.pop().unwrap();
    assert_eq!(last, assets);
    hip.add(Asset::new(b"TEXT", "TWIN", b"twin").with_id(2));
    hip.build()
}

/// Returns the number of inodes that `df -i` shows.
fn inodes(mount: &Mount) -> u64 {
    rustix::fs::statvfs(mount.path()).unwrap().f_files
}

/// Returns the paths below a directory, each with the text of a link and the output of
/// `stat` for the inode itself.
fn entries(directory: &Path) -> BTreeSet<(String, Option<String>, u64, u64)> {
    let entry = |path: std::path::PathBuf| {
        let metadata = path.symlink_metadata().unwrap();
        let text = metadata.is_symlink().then(|| {
            let text = fs::read_link(&path).unwrap();
            assert_eq!(metadata.len(), text.as_os_str().len() as u64);
            // It leads to an asset.
            assert_eq!(path.metadata().unwrap().len(), 4);
            text.to_str().unwrap().to_owned()
        });
        let name = path.strip_prefix(directory).unwrap().to_str().unwrap();
        (name.to_owned(), text, metadata.ino(), metadata.nlink())
    };
    walk(directory).into_iter().map(entry).collect()
}

#[fuse_test]
fn the_tree_is_the_one_that_the_archive_declares() {
    let bytes = archive(40);
    let input = Input::alone(Arc::new(bytes.clone()), format::Options::default());
    let mut declared = Listing::default();
    let format = formats::detect(&input).unwrap();
    (format.open)(input, &mut declared).unwrap();
    let declared: BTreeSet<_> = declared.paths().into_iter().collect();

    let mount = mounted(&bytes, "meta=off");
    let shown = walk(mount.path()).into_iter().map(|path| {
        let below = path.strip_prefix(mount.path()).unwrap().to_str().unwrap();
        let slash = if path.is_dir() { "/" } else { "" };
        format!("{below}{slash}")
    });
    assert_eq!(shown.collect::<BTreeSet<_>>(), declared);
    let link = |path: &str| fs::read_link(mount.file(path)).unwrap();
    let file = Path::new("../layers/00-DEFAULT/ASSET_00004.mrkr");
    assert_eq!(link("ids/00000005"), file);
    assert_eq!(
        link("types/Marker/[00000005] ASSET_00004"),
        Path::new("..").join(file)
    );
    let unlayered = Path::new("../layers/unlayered/ASSET_00039.abcd");
    assert_eq!(link("ids/00000028"), unlayered);
}

#[fuse_test]
fn nothing_is_built_before_the_directory_is_entered() {
    let mount = mounted(&archive(40), "");
    walk(&mount.file("layers"));
    for name in LINKS {
        assert_eq!(mount.file(name).metadata().unwrap().nlink(), 1, "unknown");
    }
    let before = inodes(&mount);
    // 41 links each; `types` also has four directories and `Settings.ini`, and each has
    // its own root.
    for (name, count) in LINKS.into_iter().zip([41 + 4 + 1 + 1, 41 + 1]) {
        let now = inodes(&mount);
        let first = entries(&mount.file(name));
        assert_eq!(inodes(&mount) - now, count, "{name}");
        assert_eq!(entries(&mount.file(name)), first);
        assert_eq!(inodes(&mount) - now, count, "{name}");
    }
    assert!(inodes(&mount) > before);
}

/// Without a kernel, whose caches would answer.
#[test]
fn links_keep_their_numbers_when_memory_is_short() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a.hip", "b.hip", "c.hip"];
    for name in names {
        fs::write(folder.path().join(name), archive(4000)).unwrap();
    }
    let options = Options {
        // Less than the trees of the three need.
        cache_size: 2 << 20,
        ..Options::default()
    };
    let vfs = walked::open(folder.path().to_owned(), options).unwrap();
    let links = |archive: &str, name: &str| {
        let inside = vfs.lookup(Ino::ROOT, &format!("{archive}.d")).unwrap();
        let directory = vfs.lookup(inside.ino, name).unwrap();
        let mut found = Vec::new();
        vfs.readdir_plus(directory.ino, 0, &mut |name, attr, _| {
            found.push((name.to_owned(), attr));
            false
        })
        .unwrap();
        found
    };
    let all = || names.map(|archive| LINKS.map(|name| links(archive, name)));
    let first = all();
    let (name, attr) = &first[0][1][4];
    assert_eq!(name, "00000005");
    let text = b"../layers/00-DEFAULT/ASSET_00004.mrkr";
    assert_eq!(vfs.readlink(attr.ino).unwrap(), text);
    assert!(all() == first);
    assert_eq!(vfs.readlink(attr.ino).unwrap(), text);
}
