//! `mount -t fuse.hpimount`, and lines of fstab(5).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use testkit::fuse_test;

use rustix::process::Signal;

use testkit::mount::namespace::{Namespace, OTHER_USER, USER};
use testkit::mount::{SMALL, assert_guarded, has_programs, run};

/// Returns a namespace with the program installed where mount(8) finds it
/// without our `PATH`, and where all users may run it.
fn namespace() -> Option<Namespace> {
    let programs = ["mount", "mount.fuse", "unshare", "nsenter"];
    if !has_programs(&programs) {
        return None;
    }
    let namespace = Namespace::new();
    // The files that mount(8) writes for umount(8) must not remain either.
    let install = "mkdir -p /run/mount && mount -t tmpfs none /run/mount && \
        mount -t tmpfs none /usr/local/bin && ln -s \"$1\" /usr/local/bin/hpimount";
    let ran = run(namespace
        .root("sh")
        .args(["-c", install, "sh"])
        .arg(&namespace.program));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    Some(namespace)
}

const OPTIONS: &str = "ro,allow_other,uid=1234,gid=4321,umask=027,cachesize=1M";

/// Asserts that a mount with [`OPTIONS`] answers.
fn assert_mounted(namespace: &Namespace) {
    let point = namespace.see(&namespace.fixture.point);
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

#[fuse_test]
fn mount_runs_the_program() {
    let Some(namespace) = namespace() else { return };
    let fixture = &namespace.fixture;
    let mut command = namespace.root("mount");
    command
        .args(["-t", "fuse.hpimount"])
        .args([&fixture.archive, &fixture.point])
        .args(["-o", OPTIONS]);
    let mount = namespace.mount_by(command);
    assert_mounted(&namespace);
    let ran = run(namespace.root("umount").arg(&fixture.point));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(mount.0.wait(), Some(0));
}

#[fuse_test]
fn a_line_of_fstab_is_enough() {
    let Some(mut namespace) = namespace() else {
        return;
    };
    let fixture = &mut namespace.fixture;
    for path in [&mut fixture.archive, &mut fixture.point] {
        let spaced = path.with_file_name("two words");
        let spaced = spaced.with_extension(path.extension().unwrap_or_default());
        fs::rename(&path, &spaced).unwrap();
        *path = spaced;
    }
    let escaped = |path: &Path| path.to_str().unwrap().replace(' ', "\\040");
    let more = "noauto,nofail,noatime,user,_netdev,x-systemd.automount,x-gvfs-show,comment=ta";
    let line = format!(
        "{} {} fuse.hpimount {OPTIONS},{more} 0 0\n",
        escaped(&fixture.archive),
        escaped(&fixture.point),
    );
    let fstab = fixture.dir().join("fstab");
    fs::write(&fstab, line).unwrap();
    let mut command = namespace.root("mount");
    command.arg("-T").arg(&fstab).arg(&namespace.fixture.point);
    let mount = namespace.mount_by(command);
    assert_mounted(&namespace);
    mount.0.signal(Signal::TERM);
    assert_eq!(mount.0.wait(), Some(0));
    assert!(namespace.mounts().is_empty());
}

#[fuse_test]
fn mount_a_mounts_each_line_once() {
    let Some(namespace) = namespace() else { return };
    let fixture = &namespace.fixture;
    let fstab = fixture.dir().join("fstab");
    let line = |source: &Path, options: &str| {
        let [source, point] = [source, &fixture.point].map(|path| path.to_str().unwrap());
        format!("{source} {point} fuse.hpimount {options} 0 0\n")
    };
    let text = line(&fixture.archive, "noauto,uid=1") + &line(&fixture.archive, OPTIONS);
    fs::write(&fstab, text).unwrap();
    let mount_all = || {
        let mut command = namespace.root("mount");
        command.args(["-a", "-T"]).arg(&fstab);
        command
    };
    let mount = namespace.mount_by(mount_all());
    assert_mounted(&namespace);
    let again = run(&mut mount_all());
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_mounted(&namespace);
    let ran = run(namespace.root("umount").arg(&fixture.point));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(mount.0.wait(), Some(0));
    assert!(namespace.mounts().is_empty());
}

#[fuse_test]
fn a_user_mounts_and_unmounts_by_a_line_of_fstab_for_users() {
    let Some(namespace) = namespace() else { return };
    if !has_programs(&["setpriv", "fusermount3"]) {
        return;
    }
    let fixture = &namespace.fixture;
    let [archive, point] = [&fixture.archive, &fixture.point].map(|path| path.to_str().unwrap());
    let fstab = fixture.dir().join("fstab");
    fs::write(
        &fstab,
        format!("{archive} {point} fuse.hpimount noauto,user,suid,dev 0 0\n"),
    )
    .unwrap();
    // Users cannot specify another fstab.
    let mut bind = namespace.root("mount");
    let ran = run(bind.arg("--bind").arg(&fstab).arg("/etc/fstab"));
    assert_eq!(ran.code, Some(0), "{ran:?}");

    let mut command = namespace.user(USER, "mount");
    command.arg(&fixture.point);
    let mount = namespace.mount_by(command);
    assert_eq!(namespace.cat(USER, SMALL).stdout, "hello\n");
    assert_ne!(namespace.cat(0, SMALL).code, Some(0));
    let lines = namespace.mounts();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let (_, options) = assert_guarded(&lines[0]);
    assert!(options.contains(&format!("user_id={USER}")), "{options}");

    let mut unmount = namespace.user(OTHER_USER, "umount");
    let ran = run(unmount.arg(&fixture.point));
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert_eq!(namespace.mounts().len(), 1);
    let ran = run(namespace.user(USER, "umount").arg(&fixture.point));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(mount.0.wait(), Some(0));
}

#[fuse_test]
fn a_failure_is_reported_through_mount() {
    let Some(namespace) = namespace() else { return };
    let fixture = &namespace.fixture;
    fs::write(&fixture.archive, "nothing that is known").unwrap();
    let mut command = namespace.root("mount");
    command
        .args(["-t", "fuse.hpimount"])
        .args([&fixture.archive, &fixture.point]);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(11), "{ran:?}");
    let problem = "sample.hpi: is not an archive of a known format";
    assert!(ran.stderr.contains(problem), "{ran:?}");
}
