//! Requests that the kernel sends often are answered without allocating.

use allocation_counter::measure;
use fixtures::hpi::{V1, usual_tree};
use hpimount::mount::{Ino, Options, Vfs};
use hpimount::prefetch::Prefetch;
use hpimount_containers::hpi::chunk::Method;
use testkit::walked;

/// Size of the reads. They are parts of blocks, so that the blocks are cached.
const READ: u32 = 4096;

/// Returns the number of allocations of a request, which must succeed. The request is
/// repeated, to exclude allocations once per thread.
fn allocations(request: impl Fn() -> bool) -> u64 {
    assert!(request());
    measure(|| assert!(request())).count_total
}

fn mounted(method: Method) -> std::sync::Arc<Vfs> {
    let archive = V1::new(usual_tree(method)).build();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), archive.bytes).unwrap();
    // The archive stays open without a name.
    walked::open(file.path().to_owned(), Options::default()).unwrap()
}

#[test]
fn lookups_and_attributes_allocate_nothing() {
    let vfs = mounted(Method::Zlib);
    for name in ["big.tdf", "BIG.TDF", "units"] {
        let ino = vfs.lookup(Ino::ROOT, name).unwrap().ino;
        let looked_up = allocations(|| vfs.lookup(Ino::ROOT, name).is_ok());
        assert_eq!(looked_up, 0, "{name}");
        assert_eq!(allocations(|| vfs.getattr(ino).is_ok()), 0, "{name}");
    }
}

#[test]
fn reads_of_a_cached_block_allocate_nothing_and_stored_ones_only_their_bytes() {
    for (method, allowed) in [(Method::Zlib, 0), (Method::Lz77, 0), (Method::Stored, 1)] {
        let vfs = mounted(method);
        let ino = vfs.lookup(Ino::ROOT, "big.tdf").unwrap().ino;
        let read = || vfs.read(ino, 70_000, READ).is_ok();
        assert_eq!(allocations(read), allowed, "{method:?}");
    }
}

#[test]
fn recording_a_read_for_the_prefetch_allocates_nothing() {
    let vfs = mounted(Method::Zlib);
    let ino = vfs.lookup(Ino::ROOT, "big.tdf").unwrap().ino;
    let prefetch = Prefetch::default();
    let record = || {
        prefetch.note(&vfs.node(ino).unwrap(), 0, READ);
        true
    };
    assert_eq!(allocations(record), 0);
}
