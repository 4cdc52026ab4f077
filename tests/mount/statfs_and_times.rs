//! Output of `df`, `stat` and `ls -l`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::{Duration, UNIX_EPOCH};
use testkit::fuse_test;

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File, V1, V2, dir, file, usual_tree};
use fixtures::ta::pcx;
use hpimount_containers::hip::asset_id;
use hpimount_containers::hpi::chunk::Method;
use testkit::files::walk;
use testkit::mounted::{mounted, mounted_files};

/// Sum of the sizes in [`usual_tree`].
const TREE_SIZE: u64 = 1700 + 65_536 + 131_072 + 1 + 70_000 + 200_000;

#[fuse_test]
fn the_file_system_is_as_large_as_its_files_and_full() {
    let mount = mounted(&V1::new(usual_tree(Method::Lz77)).build().bytes, "");
    let size = rustix::fs::statvfs(mount.path()).unwrap();
    let bytes = size.f_blocks * size.f_frsize;
    assert!(
        (TREE_SIZE..TREE_SIZE + 65_536 * 2).contains(&bytes),
        "{bytes}"
    );
    assert_eq!((size.f_bfree, size.f_bavail, size.f_ffree), (0, 0, 0));
    assert!(size.f_files > walk(mount.path()).len() as u64);
    assert_eq!(size.f_namemax, 255);
    let flags = size.f_flag;
    use rustix::fs::StatVfsMountFlags as Flags;
    assert!(flags.contains(Flags::RDONLY | Flags::NOSUID | Flags::NODEV));
}

#[fuse_test]
fn converted_assets_add_entries_to_the_file_system_and_no_bytes() {
    let picture = pcx::Pcx::indexed(90, 90, vec![1; 8100]).file();
    let size = picture.len() as u64;
    let stored = |name: &[u8]| file(name, File::new(picture.clone(), Method::Stored));
    let entries = vec![dir(b"unitpics", vec![stored(b"a.pcx"), stored(b"b.pcx")])];
    let mount = mounted(&V1::new(entries).build().bytes, "");
    let before = rustix::fs::statvfs(mount.path()).unwrap();
    let made = walk(&mount.file("converted"));
    assert_eq!(made.len(), 3, "{made:?}");
    for path in made.iter().filter(|path| path.is_file()) {
        assert!(path.metadata().unwrap().len() > 0);
    }
    let after = rustix::fs::statvfs(mount.file("converted/unitpics/a.png")).unwrap();
    assert_eq!(after.f_blocks, before.f_blocks);
    assert_eq!(after.f_blocks, (2 * size).div_ceil(after.f_frsize));
    assert_eq!((after.f_bfree, after.f_ffree), (0, 0));
    assert!(after.f_files >= before.f_files + made.len() as u64);
}

#[fuse_test]
fn files_of_version_1_are_as_old_as_the_archive() {
    let work_dir = tempfile::tempdir().unwrap();
    let path = work_dir.path().join("old.hpi");
    fs::write(&path, V1::new(usual_tree(Method::Lz77)).build().bytes).unwrap();
    let time = UNIX_EPOCH + Duration::from_secs(900_000_001);
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    let mount = mounted_files(&[path], "");
    let found = walk(mount.path());
    for path in found.iter().chain([&mount.path().to_owned()]) {
        assert_eq!(path.metadata().unwrap().modified().unwrap(), time);
    }
}

#[fuse_test]
fn times_before_1970_are_kept() {
    let work_dir = tempfile::tempdir().unwrap();
    let path = work_dir.path().join("old.hpi");
    fs::write(&path, V1::new(usual_tree(Method::Lz77)).build().bytes).unwrap();
    let time = UNIX_EPOCH - Duration::from_secs(86_400);
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    let mount = mounted_files(&[path], "");
    assert_eq!(
        mount.path().join("big.tdf").metadata().unwrap().mtime(),
        -86_400
    );
}

#[fuse_test]
fn files_of_version_2_have_their_own_dates() {
    let mut archive = V2::new(usual_tree(Method::Zlib));
    archive.date = 925_000_000;
    let mount = mounted(&archive.build().bytes, "");
    let files = walk(mount.path()).into_iter().filter(|path| path.is_file());
    let mut times: Vec<_> = files.map(|path| path.metadata().unwrap().mtime()).collect();
    times.sort_unstable();
    assert_eq!(times, Vec::from_iter(925_000_000..925_000_007));
}

#[fuse_test]
fn dates_past_2038_are_not_negative() {
    let mut archive = V2::new(usual_tree(Method::Zlib));
    archive.date = 0xF000_0000;
    let mount = mounted(&archive.build().bytes, "");
    let files = walk(mount.path()).into_iter().filter(|path| path.is_file());
    let earliest = files.map(|path| path.metadata().unwrap().mtime()).min();
    assert_eq!(earliest, Some(0xF000_0000));
}

#[fuse_test]
fn assets_have_the_time_of_the_archive() {
    let mut hip = Hip {
        time: 1_063_238_400,
        ..Hip::default()
    };
    hip.layer(0).add(Asset::new(b"MRKR", "MARKER_01", b"0123"));
    let mount = mounted(&hip.build(), "");
    for path in [
        "layers/00-DEFAULT/MARKER_01.mrkr",
        "info.json",
        "assets.tsv",
    ] {
        let metadata = mount.path().join(path).metadata().unwrap();
        assert_eq!(metadata.mtime(), 1_063_238_400, "{path}");
    }
    assert!(
        mount
            .path()
            .join("ids")
            .join(format!("{:08X}", asset_id(b"MARKER_01")))
            .exists()
    );
}

#[fuse_test]
fn everything_has_the_owner_and_mode_of_the_options() {
    let archive = V1::new(usual_tree(Method::Lz77)).build();
    let mount = mounted(&archive.bytes, "uid=12,gid=34,umask=027");
    for path in walk(mount.path()) {
        let metadata = path.metadata().unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (12, 34));
        let expected = if metadata.is_dir() { 0o550 } else { 0o440 };
        assert_eq!(metadata.permissions().mode() & 0o7777, expected);
    }
}

#[fuse_test]
fn nothing_can_be_changed() {
    let mount = mounted(&V1::new(usual_tree(Method::Lz77)).build().bytes, "");
    let (file, new) = (mount.path().join("big.tdf"), mount.path().join("new"));
    let failures = [
        fs::write(&file, "x"),
        fs::write(&new, "x"),
        fs::remove_file(&file),
        fs::rename(&file, &new),
        fs::create_dir(&new),
        fs::remove_dir(mount.path().join("emptydir")),
        fs::set_permissions(&file, fs::Permissions::from_mode(0o777)),
        symlink("big.tdf", &new),
        fs::hard_link(&file, &new),
        std::os::unix::fs::chown(&file, Some(1), None),
        fs::File::open(&file).unwrap().set_modified(UNIX_EPOCH),
        fs::OpenOptions::new().append(true).open(&file).map(drop),
    ];
    for failure in failures {
        assert_eq!(failure.unwrap_err().raw_os_error(), Some(libc::EROFS));
    }
}
