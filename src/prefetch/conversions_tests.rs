//! Tests of converting files ahead of readers.

use std::cell::RefCell;
use std::sync::Arc;

use fixtures::ta::gaf::{self, Frame};
use fixtures::ta::pcx::Pcx;

use super::conversions::{self, Conversions, Job};
use super::tests::{CACHE_SIZE, files_in, mount};
use super::{Ino, Prefetch, Vfs};
use crate::mount::{Attr, FileKind};
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::write::{Directory, File, Node, Source};

/// Returns `count` file names with this extension, in the order of their numbers.
fn numbered(extension: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("{number}.{extension}"))
        .collect()
}

/// Returns a mount of files with these names and the same bytes, and the root of its
/// converted tree.
fn converted_tree(names: &[String], bytes: &[u8]) -> (Arc<Vfs>, Ino) {
    let file = |name: &String| {
        let file = File {
            source: Source::Bytes(bytes.to_vec()),
            modified: 0,
        };
        (name.clone(), Node::File(file))
    };
    let entries = names.iter().map(file).collect();
    let vfs = mount(Directory { entries }, Method::Zlib, CACHE_SIZE);
    let tree = vfs.lookup(Ino::ROOT, "converted").unwrap().ino;
    (vfs, tree)
}

/// Returns a mount of files with these names, all of them one picture, and the files of
/// its converted tree.
fn converted(names: &[String]) -> (Arc<Vfs>, Vec<Ino>) {
    let picture = Pcx::indexed(2, 2, vec![1, 2, 3, 4]).file();
    let (vfs, tree) = converted_tree(names, &picture);
    let files = files_in(&vfs, tree);
    assert_eq!(files.len(), names.len());
    (vfs, files)
}

/// Returns a mount of that many animations of two frames, and the directories of their
/// files in its converted tree.
fn directories_of_assets(count: usize) -> (Arc<Vfs>, Vec<Ino>) {
    let frame = |color| (Frame::rle(1, 1, &[Some(color)]), 1);
    let animation = gaf::file(&[gaf::sequence("walk", vec![frame(1), frame(2)])]);
    let (vfs, tree) = converted_tree(&numbered("gaf", count), &animation);
    let parts = vfs.lookup(tree, "parts").unwrap().ino;
    let directories = files_in(&vfs, parts);
    assert_eq!(directories.len(), count);
    (vfs, directories)
}

/// Requests the attributes of a file, and returns the files that are queued then, which it
/// converts.
fn converted_after(prefetch: &Prefetch, vfs: &Vfs, ino: Ino) -> Vec<Ino> {
    prefetch.note_taken(vfs, ino);
    vfs.getattr(ino).unwrap();
    converted_ahead(prefetch, vfs)
}

/// Makes the files that are queued, and returns their inodes; for files of an asset, the
/// inode of its directory.
fn converted_ahead(prefetch: &Prefetch, vfs: &Vfs) -> Vec<Ino> {
    let mut made = Vec::new();
    while let Some(job) = prefetch.conversions.with(Conversions::take) {
        let ino = match &job {
            Job::File(file) => file.ino,
            Job::Parts(parts) => parts.directory,
        };
        if made.last() != Some(&ino) {
            made.push(ino);
        }
        let rest = conversions::make(job, vfs, &|_, _, _| ());
        if let Some(rest) = rest {
            prefetch.conversions.with(|state| state.put_back(rest));
        }
    }
    made
}

fn with_other_cores(count: usize) -> Prefetch {
    let mut prefetch = Prefetch::default();
    prefetch.other_cores = count;
    prefetch
}

#[test]
fn converted_files_taken_in_order_have_the_next_ones_made() {
    let (vfs, files) = converted(&numbered("pcx", 8));
    let prefetch = with_other_cores(1);
    let rendered = || vfs.reader().stats.to_json()["bytes_rendered"].as_u64();
    assert_eq!(converted_after(&prefetch, &vfs, files[0]), []);
    let farthest_first = [5, 4, 3, 2].map(|number| files[number]);
    assert_eq!(converted_after(&prefetch, &vfs, files[1]), farthest_first);
    let before = rendered();
    assert_eq!(converted_after(&prefetch, &vfs, files[1]), []);
    vfs.read(files[2], 0, 4096).unwrap();
    assert_eq!(rendered(), before, "it was made already");
    let rest = [7, 6].map(|number| files[number]);
    assert_eq!(converted_after(&prefetch, &vfs, files[2]), rest);
    assert_eq!(converted_after(&prefetch, &vfs, files[3]), []);
}

#[test]
fn converted_files_taken_in_another_order_are_not_made_ahead() {
    let (vfs, files) = converted(&numbered("pcx", 5));
    let prefetch = with_other_cores(1);
    for number in [3, 1, 0] {
        assert_eq!(converted_after(&prefetch, &vfs, files[number]), []);
    }
}

#[test]
fn converted_files_of_known_size_are_not_made_again_for_their_attributes() {
    let (vfs, files) = converted(&numbered("pcx", 4));
    for &file in &files {
        vfs.getattr(file).unwrap();
    }
    let prefetch = with_other_cores(1);
    for &file in &files {
        assert_eq!(converted_after(&prefetch, &vfs, file), []);
    }
}

#[test]
fn a_single_core_converts_nothing_ahead() {
    let (vfs, files) = converted(&numbered("pcx", 3));
    let prefetch = with_other_cores(0);
    for &file in &files {
        assert_eq!(converted_after(&prefetch, &vfs, file), []);
    }
}

/// Returns the files of a directory that are listed with a size of their own.
fn listed_with_size(vfs: &Vfs, directory: Ino) -> Vec<bool> {
    let mut lasting = Vec::new();
    let mut add = |_: &str, attr: Attr, _| {
        if attr.kind == FileKind::File {
            lasting.push(attr.lasting);
        }
        false
    };
    vfs.readdir_plus(directory, 0, &mut add).unwrap();
    lasting
}

#[test]
fn the_files_of_the_next_assets_are_made_before_their_directories_are_listed() {
    let (vfs, directories) = directories_of_assets(8);
    let prefetch = with_other_cores(1);
    let files = files_in(&vfs, directories[0]);
    converted_after(&prefetch, &vfs, files[0]);
    converted_after(&prefetch, &vfs, files[1]);
    assert!(!listed_with_size(&vfs, directories[1]).contains(&true));
    let made = converted_after(&prefetch, &vfs, files_in(&vfs, directories[1])[0]);
    for &directory in &directories[2..6] {
        assert!(made.contains(&directory), "{directory:?}");
        assert!(!listed_with_size(&vfs, directory).contains(&false));
    }
    assert!(!listed_with_size(&vfs, directories[6]).contains(&true));
}

#[test]
fn one_file_of_each_asset_has_no_others_made() {
    let (vfs, directories) = directories_of_assets(4);
    let prefetch = with_other_cores(1);
    for directory in directories {
        let first = files_in(&vfs, directory)[0];
        assert_eq!(converted_after(&prefetch, &vfs, first), []);
    }
}

#[test]
fn converted_files_are_pushed_for_readers_of_bytes() {
    let (vfs, files) = converted(&numbered("pcx", 4));
    let prefetch = with_other_cores(1);
    let read = |number: usize| {
        prefetch.note_opened(&vfs, &vfs.node(files[number]).unwrap());
        vfs.read(files[number], 0, 4096).unwrap();
    };
    read(0);
    read(1);
    let pushed = RefCell::new(Vec::new());
    let store = |ino, offset, bytes: &[u8]| {
        assert_eq!(*vfs.read(ino, 0, 4096).unwrap(), *bytes);
        pushed.borrow_mut().push((ino, offset));
    };
    while let Some(job) = prefetch.conversions.with(Conversions::take) {
        conversions::make(job, &vfs, &store);
    }
    assert_eq!(pushed.into_inner(), [(files[3], 0), (files[2], 0)]);
}
