//! Exporting a mount, for example by NFS: files are found by handles of any age
//! (SEMANTICS, Exporting).

use std::fs;
use std::path::Path;
use std::process::Command;
use testkit::fuse_test;

use fixtures::hpi::{File, V1, dir, file};
use fixtures::noise;
use fixtures::ta::{gaf, pcx};
use hpimount_containers::hpi::chunk::Method;
use testkit::mount::others::forget_names;
use testkit::mount::{BIG, Mount, SMALL, has_programs, sample};
use testkit::mounted::mounted;

/// `make ROOT PATH` prints the handle of a file. `open ROOT HANDLE` opens
/// the file, and prints the path and the entries of a directory, the sum of a file's
/// bytes, or the error.
const PROBE: &str = "
import ctypes, os, stat, sys
libc = ctypes.CDLL(None, use_errno=True)
class Handle(ctypes.Structure):
    _fields_ = [('bytes', ctypes.c_uint), ('kind', ctypes.c_int), ('data', ctypes.c_ubyte * 128)]
verb, root, what = sys.argv[1:]
if verb == 'make':
    handle, mount = Handle(bytes=128), ctypes.c_int()
    path = os.fsencode(os.path.join(root, what))
    assert libc.name_to_handle_at(-100, path, ctypes.byref(handle), ctypes.byref(mount), 0) == 0
    print(bytes(handle).hex())
else:
    handle = Handle.from_buffer_copy(bytes.fromhex(what))
    directory = os.open(root, os.O_RDONLY)
    file = libc.open_by_handle_at(directory, ctypes.byref(handle), os.O_RDONLY)
    if file < 0:
        print(os.strerror(ctypes.get_errno()))
    else:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            path = os.readlink(f'/proc/self/fd/{file}')
            print(os.path.relpath(path, root), sorted(os.listdir(file)))
        else:
            # The handle of a file does not identify its directory.
            print(sum(os.read(file, 1 << 20)))
";

fn probe(verb: &str, root: &Path, what: &str) -> String {
    if verb == "open" {
        forget_names(root);
    }
    let mut command = Command::new("python3");
    command.args(["-c", PROBE, verb]).arg(root).arg(what);
    let output = command.output().unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn ready() -> Option<Mount> {
    mount_of(&sample().bytes, "")
}

fn mount_of(archive: &[u8], options: &str) -> Option<Mount> {
    if !has_programs(&["python3"]) {
        return None;
    }
    Some(mounted(archive, options))
}

#[fuse_test]
fn a_handle_finds_a_file_that_the_kernel_has_forgotten() {
    let Some(mount) = ready() else { return };
    let open = |what: &str| {
        let handle = probe("make", mount.path(), what);
        probe("open", mount.path(), &handle)
    };
    assert_eq!(open("maps"), "maps ['big.bin']");
    assert_eq!(open("."), ". ['hello.txt', 'maps']");
    for path in [SMALL, BIG] {
        let bytes = fs::read(mount.file(path)).unwrap();
        let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
        assert_eq!(open(path), sum.to_string());
    }
}

#[fuse_test]
fn a_handle_finds_generated_files() {
    let pixels = noise(0, 40 * 30);
    let picture = pcx::Pcx::indexed(40, 30, pixels.clone()).file();
    let sprite = gaf::Frame::new(40, 30, gaf::Body::Raw(pixels));
    let sprite = gaf::file(&[gaf::sequence("walk", vec![(sprite, 1)])]);
    let stored = |name: &str, bytes| file(name.as_bytes(), File::new(bytes, Method::Stored));
    let units = "[UNITINFO]{Name=Peewee;}".as_bytes();
    let entries = vec![
        dir(b"anims", vec![stored("arm.gaf", sprite)]),
        dir(b"unitpics", vec![stored("arm.pcx", picture)]),
        dir(b"units", vec![stored("arm.fbi", units.to_vec())]),
    ];
    let archive = V1::new(entries).build().bytes;
    let Some(mount) = mount_of(&archive, "") else {
        return;
    };
    for path in [
        "unitpics/arm.png",
        "anims/parts/arm.gaf/000 walk/00.png",
        "tables/units.tsv",
    ] {
        let path = format!("converted/{path}");
        let handle = probe("make", mount.path(), &path);
        let bytes = fs::read(mount.file(&path)).unwrap();
        let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
        assert!(sum > 0, "{path}");
        assert_eq!(
            probe("open", mount.path(), &handle),
            sum.to_string(),
            "{path}"
        );
    }
    // The kernel finds the name of a directory by listing its parent.
    let found = |mount: &Mount| {
        let handle = probe("make", mount.path(), "converted/anims");
        probe("open", mount.path(), &handle)
    };
    assert_eq!(found(&mount), "Stale file handle");
    drop(mount);
    let listed = mount_of(&archive, "meta=visible").unwrap();
    assert_eq!(found(&listed), "converted/anims ['arm.png', 'parts']");
}

#[fuse_test]
fn a_handle_of_another_mount_is_stale() {
    let Some(first) = ready() else { return };
    let handle = probe("make", first.path(), SMALL);
    let directory = probe("make", first.path(), "maps");
    drop(first);
    let Some(second) = ready() else { return };
    for handle in [handle, directory] {
        assert_eq!(probe("open", second.path(), &handle), "Stale file handle");
    }
}
