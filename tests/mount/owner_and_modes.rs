//! Ownership and modes of the files of a mount; nothing can be written.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use testkit::fuse_test;

use rustix::fs::{
    Access, AtFlags, CWD, Dev, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid, XattrFlags,
};
use rustix::io::Errno;

use testkit::mount::{BIG, Fixture, Mount, Run, SMALL, has_programs, run};

/// Returns the owner, group and permission bits.
fn owner_and_mode(path: &Path) -> (u32, u32, u32) {
    let metadata = fs::symlink_metadata(path).unwrap();
    (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
}

/// Runs `cat` as another user with access to the mount point.
fn cat_as(user: u32, mount: &Mount, file: &str) -> Run {
    fs::set_permissions(mount.fixture.dir(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={user}"), format!("--regid={user}")]);
    run(command
        .args(["--clear-groups", "cat"])
        .arg(mount.file(file)))
}

/// The name of a kind of write, and a function that tries it.
type Write<'a> = (&'a str, &'a dyn Fn() -> Result<(), Errno>);

#[fuse_test]
fn files_belong_to_the_mounting_user_and_are_readable() {
    let mount = Mount::new(&[]);
    assert_eq!(owner_and_mode(&mount.file(SMALL)), (0, 0, 0o444));
    assert_eq!(owner_and_mode(&mount.file(BIG)), (0, 0, 0o444));
    assert_eq!(owner_and_mode(&mount.file("maps")), (0, 0, 0o555));
    assert_eq!(owner_and_mode(mount.path()), (0, 0, 0o555));
}

#[fuse_test]
fn owner_and_mask_are_options() {
    let mount = Mount::new(&["-o", "uid=1000,gid=1001,umask=027"]);
    assert_eq!(owner_and_mode(&mount.file(SMALL)), (1000, 1001, 0o440));
    assert_eq!(owner_and_mode(&mount.file("maps")), (1000, 1001, 0o550));
    assert_eq!(owner_and_mode(mount.path()), (1000, 1001, 0o550));
    let control = mount.file(".hpimount/info.json");
    assert_eq!(owner_and_mode(&control), (1000, 1001, 0o440));
}

#[fuse_test]
fn the_kernel_enforces_the_modes() {
    if !has_programs(&["setpriv"]) {
        return;
    }
    let mount = Mount::new(&["-o", "allow_other,uid=1000,gid=1001,umask=077"]);
    let ran = cat_as(65534, &mount, SMALL);
    assert!(ran.stderr.contains("Permission denied"), "{ran:?}");
    assert_eq!(cat_as(1000, &mount, SMALL).stdout, "hello\n");
}

#[fuse_test]
fn every_kind_of_write_is_refused() {
    let mount = Fixture::new().mount(&[]);
    let file = &mount.file(SMALL);
    let dir = &mount.file("maps");
    let new = &mount.file("new");
    let open = |path: &Path, flags| rustix::fs::open(path, flags, Mode::RUSR).map(drop);
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let times = Timestamps {
        last_access: now,
        last_modification: now,
    };
    let none = XattrFlags::empty();
    let device = || rustix::fs::mknodat(CWD, new, FileType::CharacterDevice, Mode::RUSR, NULL);
    let owner = (Some(Uid::from_raw(1)), Some(Gid::from_raw(1)));
    let writes: &[Write<'_>] = &[
        ("create", &|| open(new, OFlags::CREATE | OFlags::WRONLY)),
        ("create unnamed", &|| {
            open(dir, OFlags::TMPFILE | OFlags::RDWR)
        }),
        ("open to write", &|| open(file, OFlags::WRONLY)),
        ("open for both", &|| open(file, OFlags::RDWR)),
        ("append", &|| open(file, OFlags::WRONLY | OFlags::APPEND)),
        ("truncate at open", &|| {
            open(file, OFlags::RDONLY | OFlags::TRUNC)
        }),
        ("ask to write", &|| {
            rustix::fs::access(file, Access::WRITE_OK)
        }),
        ("mkdir", &|| rustix::fs::mkdir(new, Mode::RWXU)),
        ("rmdir", &|| rustix::fs::rmdir(dir)),
        ("unlink", &|| rustix::fs::unlink(file)),
        ("rename", &|| rustix::fs::rename(file, new)),
        ("chmod", &|| rustix::fs::chmod(file, Mode::RWXU)),
        ("chown", &|| rustix::fs::chown(file, owner.0, owner.1)),
        ("utimes", &|| {
            rustix::fs::utimensat(CWD, file, &times, AtFlags::empty())
        }),
        ("setxattr", &|| {
            rustix::fs::setxattr(file, "user.a", b"b", none)
        }),
        ("removexattr", &|| {
            rustix::fs::removexattr(file, "user.hpi.offset")
        }),
        ("symlink", &|| rustix::fs::symlink("target", new)),
        ("link", &|| rustix::fs::link(file, new)),
        ("mkfifo", &|| {
            rustix::fs::mknodat(CWD, new, FileType::Fifo, Mode::RUSR, NULL)
        }),
        ("mknod", &device),
    ];
    for (name, write) in writes {
        assert_eq!(write(), Err(Errno::ROFS), "{name}");
    }
    mount.assert_answers();
    assert_eq!(owner_and_mode(file), (0, 0, 0o444));
}

/// The device number for `mknodat`.
const NULL: Dev = 0;
