use std::cell::RefCell;

use super::*;
use crate::content::BLOCK_SIZE;
use crate::mount::Sources;
use crate::sync::LOCKED;
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::hpi::write::{Serial, v1};
use hpimount_containers::volume::Content;
use hpimount_containers::write::{Directory, File, Node, Source};

pub(super) const CACHE_SIZE: usize = 64 << 20;

/// Returns a directory of files with these sizes.
fn directory(sizes: &[usize]) -> Directory {
    let file = |(number, &size): (usize, &usize)| {
        let file = File {
            source: Source::Bytes(vec![7; size]),
            modified: 0,
        };
        (format!("{number:05}"), Node::File(file))
    };
    let entries = sizes.iter().enumerate().map(file).collect();
    Directory { entries }
}

/// Packs a directory and mounts it with this memory budget.
pub(super) fn mount(root: Directory, method: Method, cache_size: usize) -> Arc<Vfs> {
    let options = v1::Options { method, key: 0 };
    let mut archive = tempfile::NamedTempFile::new().unwrap();
    v1::write(
        &root,
        options,
        &mut archive,
        &mut Serial::default(),
        &mut |_| {},
    )
    .unwrap();
    let sources = Sources::one(archive.path());
    let options = crate::mount::Options {
        cache_size,
        ..Default::default()
    };
    Vfs::open(&sources, options).unwrap()
}

pub(super) fn files_in(vfs: &Vfs, directory: Ino) -> Vec<Ino> {
    let mut files = Vec::new();
    let mut add = |_: &str, ino, _, _| {
        files.push(ino);
        false
    };
    vfs.readdir(directory, 0, &mut add).unwrap();
    files
}

/// Returns a mount of files with these sizes, and their inodes.
fn mounted(sizes: &[usize]) -> (Arc<Vfs>, Vec<Ino>) {
    let vfs = mount(directory(sizes), Method::Zlib, CACHE_SIZE);
    let files = files_in(&vfs, Ino::ROOT);
    (vfs, files)
}

/// Returns a mount of directories of four files of `size` bytes, and the files.
fn directories<const N: usize>(size: usize, cache_size: usize) -> (Arc<Vfs>, [Vec<Ino>; N]) {
    let names: [String; N] = std::array::from_fn(|number| format!("{number:02}"));
    let entries = names.each_ref().map(|name| {
        let entries = Node::Directory(directory(&[size; 4]));
        (name.clone(), entries)
    });
    let root = Directory {
        entries: entries.into(),
    };
    let vfs = mount(root, Method::Lz77, cache_size);
    let directories = names.map(|name| vfs.lookup(Ino::ROOT, &name).unwrap().ino);
    let files = directories.map(|directory| files_in(&vfs, directory));
    (vfs, files)
}

/// Does all work, and returns the pushes: inodes, offsets and
/// lengths.
fn pushed(prefetch: &Prefetch, vfs: &Vfs) -> Vec<(Ino, u64, usize)> {
    let all = RefCell::new(Vec::new());
    let store = |ino, offset, bytes: &[u8]| all.borrow_mut().push((ino, offset, bytes.len()));
    while let Some(job) = prefetch.state.with(State::take) {
        finish(job, &prefetch.state, vfs, &store);
    }
    all.into_inner()
}

/// Notes a read and its answer.
fn read(prefetch: &Prefetch, vfs: &Vfs, ino: Ino, offset: u64, size: u32) {
    let node = vfs.node(ino).unwrap();
    prefetch.note(&node, offset, size).answered();
}

/// Reads as the kernel does, and returns the number of bytes decoded for it.
fn decoded_by(prefetch: &Prefetch, vfs: &Vfs, ino: Ino, offset: u64, size: u32) -> usize {
    let decoded = || vfs.reader().stats.to_json()["bytes_decoded"].as_u64();
    let before = decoded().unwrap();
    let node = vfs.node(ino).unwrap();
    let noted = prefetch.note(&node, offset, size);
    vfs.read_node(&node, offset, size, noted.access).unwrap();
    let bytes = decoded().unwrap() - before;
    noted.answered();
    bytes as usize
}

fn cached(vfs: &Vfs) -> u64 {
    vfs.reader().cache_json()["bytes"].as_u64().unwrap()
}

#[test]
fn files_read_in_order_have_the_next_ones_pushed() {
    let (vfs, files) = mounted(&[1000; 6]);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, files[0], 0, 4096);
    assert_eq!(pushed(&prefetch, &vfs), []);
    read(&prefetch, &vfs, files[1], 0, 4096);
    let next = files[2..].iter().map(|&file| (file, 0, 1000));
    assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(next));
}

#[test]
fn files_read_in_no_order_have_nothing_pushed() {
    let (vfs, files) = mounted(&[1000; 50]);
    let prefetch = Prefetch::default();
    for number in [7, 20, 3, 40, 12, 30, 0, 49] {
        read(&prefetch, &vfs, files[number], 0, 4096);
    }
    assert_eq!(pushed(&prefetch, &vfs), []);
}

#[test]
fn files_read_in_the_reverse_order_have_the_ones_before_pushed() {
    let (vfs, [a, b]) = directories(1000, CACHE_SIZE);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, b[3], 0, 4096);
    assert_eq!(pushed(&prefetch, &vfs), []);
    read(&prefetch, &vfs, b[2], 0, 4096);
    assert_eq!(
        pushed(&prefetch, &vfs),
        [(b[1], 0, 1000), (b[0], 0, 1000)],
        "and the other directory is only decoded"
    );
    read(&prefetch, &vfs, a[3], 0, 4096);
    let there = a[..3].iter().rev().map(|&file| (file, 0, 1000));
    assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(there));
}

#[test]
fn readers_of_parts_of_a_directory_have_each_file_pushed_for_one_of_them() {
    let (vfs, files) = mounted(&[1000; 40]);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, files[0], 0, 4096);
    read(&prefetch, &vfs, files[1], 0, 4096);
    // It was expected there: one file is enough.
    read(&prefetch, &vfs, files[20], 0, 4096);
    let mut all = pushed(&prefetch, &vfs);
    all.sort_unstable();
    let expected = files[2..].iter().filter(|&&file| file != files[20]);
    let expected = expected.map(|&file| (file, 0, 1000));
    assert_eq!(all, Vec::from_iter(expected));
}

#[test]
fn a_reader_that_catches_up_reads_the_next_file_itself() {
    let (vfs, files) = mounted(&[1000; 40]);
    let prefetch = Prefetch::default();
    for &file in &files[..3] {
        read(&prefetch, &vfs, file, 0, 4096);
    }
    let next = files[4..].iter().map(|&file| (file, 0, 1000));
    assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(next));
}

#[test]
fn random_reads_of_neighboring_files_have_only_their_blocks_pushed() {
    let (vfs, files) = mounted(&[200_000; 6]);
    let prefetch = Prefetch::default();
    for (number, &file) in files.iter().enumerate() {
        read(&prefetch, &vfs, file, 70_000, 4096);
        assert_eq!(
            pushed(&prefetch, &vfs),
            [(file, 65_536, 65_536)],
            "{number}"
        );
    }
}

#[test]
fn a_reader_that_stops_costs_one_window_and_one_that_reads_on_moves_it() {
    let (vfs, files) = mounted(&[100_000; 100]);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, files[0], 0, 131_072);
    read(&prefetch, &vfs, files[1], 0, 131_072);
    let first = pushed(&prefetch, &vfs);
    let bytes: usize = first.iter().map(|(_, _, length)| length).sum();
    let limit = (2 << 20) + BLOCK_SIZE as usize;
    assert!((1 << 20..=limit).contains(&bytes), "{bytes}");

    // The reader requests the omitted page: the last page of a file.
    let last = first.iter().map(|(ino, ..)| *ino).max().unwrap();
    let is_marked = |&&(ino, start, length): &&(Ino, u64, usize)| {
        ino != last && start == 65_536 && length < 100_000 - 65_536
    };
    let (marked, start, length) = *first.iter().find(is_marked).unwrap();
    read(&prefetch, &vfs, marked, start + length as u64, 4096);
    let second = pushed(&prefetch, &vfs);
    let ahead = second.iter().filter(|(ino, ..)| *ino != marked);
    assert!(ahead.clone().all(|(ino, ..)| *ino >= last), "nothing twice");
    assert!(ahead.count() > 0);
}

#[test]
fn a_reader_of_beginnings_has_only_beginnings_pushed() {
    let (vfs, files) = mounted(&[200_000; 200]);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, files[0], 0, 16_384);
    pushed(&prefetch, &vfs);
    read(&prefetch, &vfs, files[1], 0, 16_384);
    let all = pushed(&prefetch, &vfs);
    let next: Vec<_> = all.iter().filter(|(ino, ..)| *ino != files[1]).collect();
    assert!(next.len() > 10);
    let lengths = Vec::from_iter(next.iter().map(|(_, _, length)| *length));
    assert!(next.iter().all(|(_, start, _)| *start == 0));
    assert_eq!(
        lengths[..4],
        [4096; 4],
        "to find out whether that is enough"
    );
    assert!(lengths[4..].iter().all(|&length| length == 16_384));

    // Only their chunk tables are in the cache.
    assert!(cached(&vfs) < 65_536, "{}", cached(&vfs));

    // Once more of a file is read, so are the next ones.
    read(&prefetch, &vfs, files[1], 16_384, 131_072);
    let all = pushed(&prefetch, &vfs);
    assert!(all.iter().any(|(_, start, _)| *start > 16_384));
}

/// Lets a reader of the beginnings of files come to files whose first page was
/// pushed, and read there at these offsets. Returns the number of bytes that
/// are then pushed of each later file.
fn pushed_after(offsets: &[u64]) -> Vec<usize> {
    let (vfs, files) = mounted(&[20_000; 200]);
    let prefetch = Prefetch::default();
    for &file in &files[..2] {
        read(&prefetch, &vfs, file, 0, 16_384);
    }
    // One page of each of four files is among that.
    pushed(&prefetch, &vfs);
    let next = &files[7..][..offsets.len()];
    for (&file, &offset) in next.iter().zip(offsets) {
        read(&prefetch, &vfs, file, offset, 16_384);
    }
    let all = pushed(&prefetch, &vfs);
    let others = all.iter().filter(|(ino, ..)| !next.contains(ino));
    Vec::from_iter(others.map(|(_, _, length)| *length))
}

#[test]
fn a_reader_of_first_pages_has_only_these_pushed() {
    // A single late request does not show that more is read.
    for offsets in [&[0][..], &[4096], &[4096, 0, 4096]] {
        let lengths = pushed_after(offsets);
        assert!(lengths.len() > 10);
        assert!(lengths.iter().all(|&length| length == 4096), "{lengths:?}");
    }
}

#[test]
fn a_reader_of_more_than_first_pages_has_more_pushed() {
    let lengths = pushed_after(&[4096, 4096]);
    assert!(lengths.len() > 10);
    assert!(
        lengths.iter().all(|&length| length == 16_384),
        "{lengths:?}"
    );
}

#[test]
fn the_next_reader_of_first_pages_has_only_these_pushed() {
    let (vfs, files) = mounted(&[20_000; 500]);
    let prefetch = Prefetch::default();
    let read_two = |first: usize| {
        for &file in &files[first..first + 2] {
            read(&prefetch, &vfs, file, 0, 16_384);
        }
    };
    read_two(0);
    pushed(&prefetch, &vfs);
    read(&prefetch, &vfs, files[7], 0, 16_384);
    pushed(&prefetch, &vfs);
    // The reader that was seen last has shown nothing yet.
    read(&prefetch, &vfs, files[450], 0, 4096);
    let lengths = || {
        let all = pushed(&prefetch, &vfs);
        Vec::from_iter(all.into_iter().map(|(_, _, length)| length))
    };
    // One that continues the first reader, and one elsewhere.
    read(&prefetch, &vfs, files[64], 0, 16_384);
    let next = lengths();
    assert!(next.len() > 10);
    assert!(next.iter().all(|&length| length == 4096), "{next:?}");
    read_two(300);
    let elsewhere = lengths();
    assert!(elsewhere.len() > 10);
    let is_page = |&length: &usize| length == 4096;
    assert!(elsewhere.iter().all(is_page), "{elsewhere:?}");
}

#[test]
fn a_file_whose_beginning_is_read_is_decoded_no_further() {
    for method in [Method::Lz77, Method::Zlib] {
        let vfs = mount(directory(&[100_000; 8]), method, CACHE_SIZE);
        let files = files_in(&vfs, Ino::ROOT);
        let prefetch = Prefetch::default();
        let read = |number: usize| decoded_by(&prefetch, &vfs, files[number], 0, 16_384);
        assert_eq!(read(0), 65_536, "{method:?}");
        let known = cached(&vfs);
        assert_eq!([read(1), read(2)], [16_384; 2], "{method:?}");
        assert!(cached(&vfs) < known + 1000, "{method:?}");
    }
}

#[test]
fn a_block_read_in_parts_is_cached_until_its_end_is_read() {
    let (vfs, files) = mounted(&[200_000]);
    let prefetch = Prefetch::default();
    let read = |offset, size| decoded_by(&prefetch, &vfs, files[0], offset, size);
    assert_eq!(read(0, 16_384), 65_536);
    assert!(cached(&vfs) > 65_536);
    assert_eq!(read(16_384, 49_152), 0);
    assert!(cached(&vfs) < 1000);

    // A reader that has skipped something may come back.
    assert_eq!(read(131_072 + 16_384, 49_152), 65_536);
    assert!(cached(&vfs) > 65_536);
}

#[test]
fn a_small_read_decodes_its_block_no_further_while_a_thread_has_time_for_the_rest() {
    let blocks = 10;
    for method in [Method::Lz77, Method::Zlib] {
        let vfs = mount(directory(&[blocks * 65_536]), method, CACHE_SIZE);
        let file = files_in(&vfs, Ino::ROOT)[0];
        let prefetch = Prefetch::default();
        let read_in = |block: u64| {
            let offset = block * 65_536 + 8192;
            decoded_by(&prefetch, &vfs, file, offset, 4096)
        };
        assert_eq!(read_in(8), 12_288, "{method:?}");
        assert!(cached(&vfs) < 1000, "{method:?}");
        assert_eq!(pushed(&prefetch, &vfs), [(file, 8 * 65_536, 65_536)]);

        // Another read is being answered.
        let node = vfs.node(file).unwrap();
        let other = prefetch.note(&node, 0, 4096);
        assert_eq!(read_in(7), 65_536, "{method:?}");
        drop(other);

        // Too many blocks wait.
        let waiting = MAX_BEHIND as u64;
        assert!((1..=waiting).all(|block| read_in(block) == 12_288));
        assert_eq!(read_in(waiting + 1), 65_536, "{method:?}");
    }
}

#[test]
fn files_of_the_next_directory_are_pushed_when_the_reader_is_there() {
    let (vfs, [a, b]) = directories(1000, CACHE_SIZE);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, a[0], 0, 4096);
    read(&prefetch, &vfs, a[1], 0, 4096);
    let here = a[2..].iter().map(|&file| (file, 0, 1000));
    assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(here));
    assert_eq!(vfs.reader().stats.to_json()["bytes_decoded"], 6000);

    read(&prefetch, &vfs, b[0], 0, 4096);
    let there = b[1..].iter().map(|&file| (file, 0, 1000));
    assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(there));
    assert_eq!(
        vfs.reader().stats.to_json()["bytes_decoded"],
        6000,
        "nothing twice"
    );
}

#[test]
fn files_of_the_next_directory_are_pushed_once_it_is_listed() {
    let (vfs, [a, b]) = directories(1000, CACHE_SIZE);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, a[0], 0, 4096);
    read(&prefetch, &vfs, a[1], 0, 4096);
    assert_eq!(pushed(&prefetch, &vfs).len(), 2, "those in the directory");
    let directory = vfs.lookup(Ino::ROOT, "01").unwrap().ino;
    prefetch.note_listed(directory);
    let there = b.iter().map(|&file| (file, 0, 1000));
    assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(there));
}

#[test]
fn files_of_directories_listed_before_are_pushed_across_them() {
    let (vfs, [a, b]) = directories(1000, CACHE_SIZE);
    let prefetch = Prefetch::default();
    let directory = vfs.lookup(Ino::ROOT, "01").unwrap().ino;
    prefetch.note_listed(directory);
    read(&prefetch, &vfs, a[0], 0, 4096);
    read(&prefetch, &vfs, a[1], 0, 4096);
    let next = a[2..].iter().chain(&b).map(|&file| (file, 0, 1000));
    assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(next));
}

#[test]
fn files_of_the_next_directory_are_not_decoded_without_a_cache() {
    let (vfs, [a, _]) = directories(1000, 0);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, a[0], 0, 4096);
    read(&prefetch, &vfs, a[1], 0, 4096);
    assert_eq!(pushed(&prefetch, &vfs).len(), 2);
    assert_eq!(vfs.reader().stats.to_json()["bytes_decoded"], 2000);
}

#[test]
fn blocks_decoded_but_never_read_are_dropped() {
    let (vfs, all) = directories::<16>(240_000, CACHE_SIZE);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, all[0][0], 0, 131_072);
    for files in all.iter().step_by(2) {
        read(&prefetch, &vfs, files[1], 0, 131_072);
        pushed(&prefetch, &vfs);
    }
    let limit = MAX_UNREAD + 65_536;
    assert!(cached(&vfs) > MAX_UNREAD / 2, "directories are decoded");
    assert!(cached(&vfs) < limit, "{}", cached(&vfs));
}

#[test]
fn a_run_ends_where_another_one_began() {
    let (vfs, files) = mounted(&[1000; 12]);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, files[8], 0, 4096);
    read(&prefetch, &vfs, files[0], 0, 4096);
    read(&prefetch, &vfs, files[1], 0, 4096);
    let next = files[2..8].iter().map(|&file| (file, 0, 1000));
    assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(next));
}

#[test]
fn reads_of_generated_files_wake_no_thread() {
    let source = tempfile::tempdir().unwrap();
    std::fs::write(source.path().join("a.tdf"), "[UNIT]{Name=a;}").unwrap();
    let sources = Sources::one(source.path());
    let vfs = Vfs::open(&sources, crate::mount::Options::default()).unwrap();
    let directory = vfs.lookup(Ino::ROOT, "a.tdf.meta").unwrap().ino;
    let prefetch = Prefetch::default();
    for name in ["info.json", "info.txt"] {
        let file = vfs.lookup(directory, name).unwrap().ino;
        read(&prefetch, &vfs, file, 0, 4096);
    }
    assert!(prefetch.state.with(State::take).is_none());
}

#[test]
fn a_file_read_sequentially_has_its_next_blocks_decoded_and_kept_until_read() {
    const READ: u64 = 131_072;
    const SIZE: u64 = 1_000_000;
    let (vfs, files) = mounted(&[SIZE as usize]);
    let prefetch = Prefetch::default();
    let decoded = || vfs.reader().stats.to_json()["bytes_decoded"].as_u64();
    for offset in (0..SIZE).step_by(READ as usize) {
        let node = vfs.node(files[0]).unwrap();
        let noted = prefetch.note(&node, offset, READ as u32);
        vfs.read_node(&node, offset, READ as u32, noted.access)
            .unwrap();
        noted.answered();
        assert_eq!(pushed(&prefetch, &vfs), []);
        assert_eq!(
            decoded(),
            Some(SIZE.min(offset + 3 * READ)),
            "nothing twice"
        );
    }
    assert_eq!(vfs.reader().cache_json()["misses"], SIZE.div_ceil(65_536));
    let table = cached(&vfs);
    assert!(table < 1000, "the kernel has the blocks: {table}");
}

#[test]
fn a_file_read_again_has_its_next_blocks_decoded_again() {
    const READ: u32 = 131_072;
    let (vfs, files) = mounted(&[1_000_000]);
    let prefetch = Prefetch::default();
    for offset in (0..1_000_000).step_by(READ as usize) {
        read(&prefetch, &vfs, files[0], offset, READ);
        pushed(&prefetch, &vfs);
    }
    for (number, offset) in (0..4).map(|number| (number, number * u64::from(READ))) {
        read(&prefetch, &vfs, files[0], offset, READ);
        let job = prefetch.state.with(State::take);
        assert_eq!(job.is_some(), number > 0, "{offset}");
    }
}

#[test]
fn a_file_read_at_random_has_no_blocks_decoded() {
    let (vfs, files) = mounted(&[1_000_000]);
    let prefetch = Prefetch::default();
    for offset in [262_144, 0, 524_288, 131_072] {
        read(&prefetch, &vfs, files[0], offset, 65_536);
        prefetch
            .state
            .with(|state| assert!(state.take().is_none(), "{offset}"));
    }
}

#[test]
fn a_small_read_has_its_block_pushed() {
    let (vfs, files) = mounted(&[200_000]);
    let prefetch = Prefetch::default();
    read(&prefetch, &vfs, files[0], 70_000, 4096);
    assert_eq!(pushed(&prefetch, &vfs), [(files[0], 65_536, 65_536)]);
    read(&prefetch, &vfs, files[0], 131_072, 131_072);
    assert_eq!(pushed(&prefetch, &vfs), []);
}

#[test]
fn the_second_small_read_in_a_part_of_a_stored_file_has_it_pushed() {
    let vfs = mount(directory(&[200_000]), Method::Stored, CACHE_SIZE);
    let files = files_in(&vfs, Ino::ROOT);
    let prefetch = Prefetch::default();
    for offset in [70_000, 140_000] {
        read(&prefetch, &vfs, files[0], offset, 4096);
        assert_eq!(pushed(&prefetch, &vfs), [], "{offset}");
    }
    read(&prefetch, &vfs, files[0], 4096, 4096);
    assert_eq!(pushed(&prefetch, &vfs), [(files[0], 0, 131_072)]);
    read(&prefetch, &vfs, files[0], 180_000, 4096);
    assert_eq!(pushed(&prefetch, &vfs), [(files[0], 131_072, 68_928)]);
}

#[test]
fn a_lone_small_read_is_decoded_in_part_if_another_core_can_decode_the_block() {
    let (vfs, files) = mounted(&[1_000_000]);
    let access = |prefetch: &Prefetch, number: u64| {
        let offset = number * 65_536 + 4096;
        let node = vfs.node(files[0]).unwrap();
        let noted = prefetch.note(&node, offset, 4096);
        let access = noted.access;
        noted.answered();
        access
    };
    let mut prefetch = Prefetch::default();
    prefetch.other_cores = 1;
    for number in 0..=MAX_BEHIND as u64 {
        assert_eq!(access(&prefetch, number), Access::Part, "{number}");
    }
    assert_eq!(access(&prefetch, 6), Access::Unknown, "the blocks wait");
    pushed(&prefetch, &vfs);
    let node = vfs.node(files[0]).unwrap();
    let other = prefetch.note(&node, 0, 4096);
    assert_eq!(access(&prefetch, 8), Access::Unknown, "it is not alone");
    drop(other);
    pushed(&prefetch, &vfs);
    assert_eq!(access(&prefetch, 10), Access::Part);

    pushed(&prefetch, &vfs);
    prefetch.other_cores = 0;
    assert_eq!(access(&prefetch, 12), Access::Unknown, "there is one core");
}

#[test]
fn a_read_takes_two_locks_if_its_block_is_cached_and_four_before_it_is_decoded() {
    const READ: u32 = 4096;
    let (vfs, files) = mounted(&[4 * BLOCK_SIZE as usize]);
    let prefetch = Prefetch::default();
    let locks = |offset: u32| {
        let before = LOCKED.get();
        let node = vfs.node(files[0]).unwrap();
        let noted = prefetch.note(&node, offset.into(), READ);
        vfs.read_node(&node, offset.into(), READ, Access::Unknown)
            .unwrap();
        drop(noted);
        LOCKED.get() - before
    };
    // Finds the table of chunks.
    locks(0);
    // The source of the archive has a lock of its own.
    let source = {
        let node = vfs.node(files[0]).unwrap();
        let file = node.file().unwrap();
        let Ok(Content::Chunks(volume)) = file.volume.volume.content(file.file) else {
            panic!("it is packed");
        };
        let table = volume.chunk_table(file.file).unwrap();
        let chunk = table.at(0).unwrap();
        let before = LOCKED.get();
        volume.decode_chunk(file.file, chunk, chunk.length).unwrap();
        LOCKED.get() - before
    };
    assert_eq!(locks(2 * BLOCK_SIZE) - source, 4);
    assert_eq!(locks(2 * BLOCK_SIZE + READ), 2);
    // It is not kept after this.
    assert_eq!(locks(3 * BLOCK_SIZE - READ), 2);
}
