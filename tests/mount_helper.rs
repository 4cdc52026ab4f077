//! `mount -t fuse.hpimount`, and lines of fstab(5).

mod support;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::Signal;

use support::mount::namespace::Namespace;
use support::mount::{SMALL, can_mount, has_programs, run};

/// Where the program is installed, which mount(8) finds without our `PATH`.
fn namespace() -> Option<Namespace> {
    let programs = ["mount", "mount.fuse", "unshare", "nsenter"];
    if !can_mount() || !has_programs(&programs) {
        return None;
    }
    let namespace = Namespace::new();
    let install = "mount -t tmpfs none /usr/local/bin && ln -s \"$1\" /usr/local/bin/hpimount";
    let program = env!("CARGO_BIN_EXE_hpimount");
    let ran = run(namespace.root("sh").args(["-c", install, "sh", program]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    Some(namespace)
}

const OPTIONS: &str = "ro,allow_other,uid=1234,gid=4321,umask=027,cachesize=1M";

/// Asserts that a mount with these options answers.
fn assert_mounted(namespace: &Namespace) {
    let point = namespace.see(&namespace.place.point);
    assert_eq!(fs::read(point.join(SMALL)).unwrap(), b"hello\n");
    let metadata = fs::metadata(point.join(SMALL)).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (1234, 4321));
    assert_eq!(metadata.mode() & 0o777, 0o440);
    let lines = namespace.mounts();
    assert!(
        lines.len() == 1 && lines[0].contains("allow_other"),
        "{lines:?}"
    );
    let info = fs::read_to_string(point.join(".hpimount/info.json")).unwrap();
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["cache_size"], 1 << 20);
}

#[test]
fn mount_runs_the_program() {
    let Some(namespace) = namespace() else { return };
    let place = &namespace.place;
    let mut command = namespace.root("mount");
    command
        .args(["-t", "fuse.hpimount"])
        .args([&place.archive, &place.point])
        .args(["-o", OPTIONS]);
    let mount = namespace.mount_by(command);
    assert_mounted(&namespace);
    let ran = run(namespace.root("umount").arg(&place.point));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(mount.0.wait(), Some(0));
}

#[test]
fn a_line_of_fstab_is_enough() {
    let Some(mut namespace) = namespace() else {
        return;
    };
    let place = &mut namespace.place;
    for path in [&mut place.archive, &mut place.point] {
        let spaced = path.with_file_name("two words");
        let spaced = spaced.with_extension(path.extension().unwrap_or_default());
        fs::rename(&path, &spaced).unwrap();
        *path = spaced;
    }
    let escaped = |path: &Path| path.to_str().unwrap().replace(' ', "\\040");
    let more = "noauto,nofail,noatime,user,_netdev,x-systemd.automount,x-gvfs-show,comment=ta";
    let line = format!(
        "{} {} fuse.hpimount {OPTIONS},{more} 0 0\n",
        escaped(&place.archive),
        escaped(&place.point),
    );
    let fstab = place.dir().join("fstab");
    fs::write(&fstab, line).unwrap();
    let mut command = namespace.root("mount");
    command.arg("-T").arg(&fstab).arg(&namespace.place.point);
    let mount = namespace.mount_by(command);
    assert_mounted(&namespace);
    mount.0.signal(Signal::TERM);
    assert_eq!(mount.0.wait(), Some(0));
    assert!(namespace.mounts().is_empty());
}

#[test]
fn a_failure_is_told_through_mount() {
    let Some(namespace) = namespace() else { return };
    let place = &namespace.place;
    fs::write(&place.archive, "nothing that is known").unwrap();
    let mut command = namespace.root("mount");
    command
        .args(["-t", "fuse.hpimount"])
        .args([&place.archive, &place.point]);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(11), "{ran:?}");
    let problem = "sample.hpi: is not an archive of a known format";
    assert!(ran.stderr.contains(problem), "{ran:?}");
}
