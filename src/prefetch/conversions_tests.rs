//! Tests of converting files ahead of readers.

use std::cell::RefCell;
use std::sync::Arc;

use fixtures::ta::gaf::{self, Frame};
use fixtures::ta::pcx::Pcx;

use super::conversions::{Conversions, Job, work_on};
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

/// A mount, and the prefetch of its converted files.
struct Converted {
    vfs: Arc<Vfs>,
    prefetch: Prefetch,
    pushed: RefCell<Vec<Ino>>,
}

impl Converted {
    fn new(vfs: Arc<Vfs>, other_cores: usize) -> Self {
        let mut prefetch = Prefetch::default();
        prefetch.other_cores = other_cores;
        Self {
            vfs,
            prefetch,
            pushed: RefCell::default(),
        }
    }

    /// Requests the attributes of a file, and returns the inodes that are made ahead then.
    fn made_after(&self, ino: Ino) -> Vec<Ino> {
        self.stat(ino);
        self.make_all()
    }

    fn stat(&self, ino: Ino) {
        self.prefetch.note_taken(&self.vfs, ino);
        self.vfs.getattr(ino).unwrap();
    }

    fn read(&self, ino: Ino) {
        self.prefetch
            .note_opened(&self.vfs, &self.vfs.node(ino).unwrap());
        self.vfs.read(ino, 0, 4096).unwrap();
    }

    /// Does all jobs, and returns the inodes of their files; for the files of an asset, once
    /// the inode of its directory.
    fn make_all(&self) -> Vec<Ino> {
        let mut made = Vec::new();
        while let Some(job) = self.take() {
            let ino = match &job {
                Job::File(file) => file.ino,
                Job::Parts(parts) => parts.directory,
            };
            if !made.contains(&ino) {
                made.push(ino);
            }
            self.make(job);
        }
        made
    }

    fn take(&self) -> Option<Job> {
        self.prefetch.conversions.with(Conversions::take)
    }

    fn make(&self, job: Job) {
        work_on(
            job,
            &self.prefetch.conversions,
            &self.vfs,
            &|ino, offset, bytes| {
                assert_eq!(offset, 0);
                assert_eq!(*self.vfs.read(ino, 0, 1 << 20).unwrap(), *bytes);
                self.pushed.borrow_mut().push(ino);
            },
        );
    }

    fn pushed(&self) -> Vec<Ino> {
        self.make_all();
        self.pushed.take()
    }

    fn rendered(&self) -> Option<u64> {
        self.vfs.reader().stats.to_json()["bytes_rendered"].as_u64()
    }

    /// Returns for each file of a directory whether it is listed with its size.
    fn has_sizes(&self, directory: Ino) -> Vec<bool> {
        let mut lasting = Vec::new();
        let mut add = |_: &str, attr: Attr, _| {
            if attr.kind == FileKind::File {
                lasting.push(attr.lasting);
            }
            false
        };
        self.vfs.readdir_plus(directory, 0, &mut add).unwrap();
        lasting
    }
}

/// Returns `number` pictures, and the inodes of their conversions.
fn pictures(number: usize) -> (Converted, Vec<Ino>) {
    let (vfs, files) = converted(&numbered("pcx", number));
    (Converted::new(vfs, 1), files)
}

#[test]
fn converted_files_taken_in_order_have_the_next_ones_made() {
    let (tree, files) = pictures(8);
    assert_eq!(tree.made_after(files[0]), []);
    let farthest_first = [5, 4, 3, 2].map(|number| files[number]);
    assert_eq!(tree.made_after(files[1]), farthest_first);
    let before = tree.rendered();
    assert_eq!(tree.made_after(files[1]), []);
    tree.vfs.read(files[2], 0, 4096).unwrap();
    assert_eq!(tree.rendered(), before, "it was made already");
    let rest = [7, 6].map(|number| files[number]);
    assert_eq!(tree.made_after(files[2]), rest);
    assert_eq!(tree.made_after(files[3]), []);
}

#[test]
fn converted_files_taken_in_another_order_are_not_made_ahead() {
    let (tree, files) = pictures(5);
    for number in [3, 1, 0] {
        assert_eq!(tree.made_after(files[number]), []);
    }
}

#[test]
fn converted_files_of_known_size_are_not_made_again_for_their_attributes() {
    let (tree, files) = pictures(4);
    for &file in &files {
        tree.vfs.getattr(file).unwrap();
    }
    for &file in &files {
        assert_eq!(tree.made_after(file), []);
    }
}

#[test]
fn a_single_core_converts_nothing_ahead() {
    let (vfs, files) = converted(&numbered("pcx", 3));
    let tree = Converted::new(vfs, 0);
    for &file in &files {
        assert_eq!(tree.made_after(file), []);
    }
}

#[test]
fn two_readers_of_a_directory_each_have_their_next_files_made() {
    let (tree, files) = pictures(60);
    for number in [0, 40, 1, 41] {
        tree.stat(files[number]);
    }
    let mut made = tree.make_all();
    made.sort();
    assert_eq!(made, [&files[2..6], &files[42..46]].concat());
}

#[test]
fn what_a_reader_has_come_to_is_left_to_it() {
    let (tree, files) = pictures(8);
    for &file in &files[..5] {
        tree.stat(file);
    }
    assert_eq!(tree.make_all(), [files[7], files[6], files[5]]);
}

#[test]
fn a_reader_of_one_kind_of_file_has_only_this_made() {
    let names = (0..8).map(|number| match number % 2 {
        0 => format!("{number}.pcx"),
        _ => format!("{number}.tdf"),
    });
    let picture = Pcx::indexed(2, 2, vec![1, 2, 3, 4]).file();
    let (vfs, tree) = converted_tree(&names.collect::<Vec<_>>(), &picture);
    let files = files_in(&vfs, tree);
    let pictures: Vec<Ino> = files
        .iter()
        .copied()
        .filter(|&ino| is_png(&vfs, ino))
        .collect();
    let tree = Converted::new(vfs, 1);
    let mut made = Vec::new();
    for &picture in &pictures[..2] {
        made = tree.made_after(picture);
    }
    assert_eq!(made, [pictures[3], pictures[2]]);
}

fn is_png(vfs: &Vfs, ino: Ino) -> bool {
    let node = vfs.node(ino).unwrap();
    node.tree().name(node.index).ends_with(".png")
}

#[test]
fn the_files_of_the_next_assets_are_made_before_their_directories_are_listed() {
    let (vfs, directories) = directories_of_assets(8);
    let tree = Converted::new(vfs, 1);
    let files = files_in(&tree.vfs, directories[0]);
    tree.made_after(files[0]);
    tree.made_after(files[1]);
    assert!(!tree.has_sizes(directories[1]).contains(&true));
    tree.stat(files_in(&tree.vfs, directories[1])[0]);
    let mut made = tree.make_all();
    made.retain(|ino| directories.contains(ino));
    assert_eq!(made, directories[2..6], "the nearest is the first");
    for &directory in &directories[2..6] {
        assert!(!tree.has_sizes(directory).contains(&false));
    }
    assert!(!tree.has_sizes(directories[6]).contains(&true));
}

#[test]
fn a_reader_that_would_wait_for_the_next_asset_has_the_farthest_one_made() {
    let (vfs, directories) = directories_of_assets(12);
    let tree = Converted::new(vfs, 1);
    let first_of = |number: usize| files_in(&tree.vfs, directories[number])[0];
    tree.stat(first_of(0));
    tree.stat(files_in(&tree.vfs, directories[0])[1]);
    tree.stat(first_of(1));
    tree.stat(first_of(2));
    let mut made = tree.make_all();
    made.retain(|ino| directories.contains(ino));
    assert_eq!(made, [6, 5, 4, 3].map(|number| directories[number]));
}

#[test]
fn the_rest_of_an_asset_is_left_to_a_reader_that_has_come_to_it() {
    let (vfs, directories) = directories_of_assets(3);
    let tree = Converted::new(vfs, 1);
    let files = |number: usize| files_in(&tree.vfs, directories[number]);
    tree.made_after(files(0)[0]);
    tree.made_after(files(0)[1]);
    tree.stat(files(1)[0]);
    let of_the_third =
        |job: &Job| matches!(job, Job::Parts(parts) if parts.directory == directories[2]);
    let job = std::iter::from_fn(|| tree.take())
        .find(of_the_third)
        .unwrap();
    tree.stat(files(2)[0]);
    tree.make(job);
    assert!(!std::iter::from_fn(|| tree.take()).any(|job| of_the_third(&job)));
}

#[test]
fn one_file_of_each_asset_has_no_others_made() {
    let (vfs, directories) = directories_of_assets(4);
    let tree = Converted::new(vfs, 1);
    for directory in directories {
        let first = files_in(&tree.vfs, directory)[0];
        assert_eq!(tree.made_after(first), []);
    }
}

#[test]
fn converted_files_are_pushed_for_readers_of_bytes() {
    let (tree, files) = pictures(12);
    tree.read(files[0]);
    tree.read(files[1]);
    let farthest_first = [5, 4, 3, 2].map(|number| files[number]);
    assert_eq!(tree.pushed(), farthest_first);
    for &file in &files {
        tree.vfs.getattr(file).unwrap();
    }
    tree.read(files[6]);
    assert_eq!(tree.pushed(), files[7..], "they were made already");
}

#[test]
fn files_made_for_their_attributes_are_pushed_once_their_reader_reads() {
    let (tree, files) = pictures(6);
    tree.stat(files[0]);
    tree.stat(files[1]);
    tree.read(files[1]);
    assert_eq!(tree.pushed(), [5, 4, 3, 2].map(|number| files[number]));
}

#[test]
fn long_converted_files_are_neither_pushed_nor_rendered_for_that() {
    let (width, height) = (512, 512);
    let noise =
        (0..width * height).map(|number: u32| (number.wrapping_mul(2_654_435_761) >> 24) as u8);
    let picture = Pcx::indexed(width as u16, height as u16, noise.collect()).file();
    let (vfs, tree) = converted_tree(&numbered("pcx", 4), &picture);
    let files = files_in(&vfs, tree);
    let tree = Converted::new(vfs, 1);
    for &file in &files {
        assert!(tree.vfs.getattr(file).unwrap().size > 128 << 10);
    }
    tree.read(files[0]);
    tree.read(files[1]);
    let before = tree.rendered();
    assert_eq!(tree.pushed(), []);
    assert_eq!(tree.rendered(), before);
}
