//! Mounts of an ordinary user, made by `fusermount3`.

use std::fs;
use std::process::Command;
use testkit::fuse_test;

use rustix::process::Signal;

use testkit::mount::namespace::{Namespace, USER};
use testkit::mount::{
    BIG, BIG_SIZE, SMALL, assert_guarded, eventually, has_programs, run, unescaped,
};

fn namespace() -> Option<Namespace> {
    let ready = has_programs(&["unshare", "setpriv", "nsenter", "fusermount3"]);
    ready.then(Namespace::new)
}

#[fuse_test]
fn a_user_mounts_reads_and_unmounts() {
    let Some(namespace) = namespace() else { return };
    let mount = namespace.mount(&[]);
    assert_eq!(namespace.cat(USER, SMALL).stdout, "hello\n");
    let point = namespace.fixture.point.clone();
    let ran = run(namespace
        .user(USER, "stat")
        .args(["-c", "%u %g %s"])
        .arg(point.join(BIG)));
    assert_eq!(ran.stdout, format!("{USER} {USER} {BIG_SIZE}\n"));
    let ran = run(namespace.user(USER, "fusermount3").arg("-u").arg(point));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(mount.0.wait(), Some(0));
    assert!(namespace.mounts().is_empty());
}

#[fuse_test]
fn a_user_can_also_unmount_with_umount() {
    let Some(namespace) = namespace() else { return };
    let mount = namespace.mount(&[]);
    let point = &namespace.fixture.point;
    let ran = run(namespace.user(USER, "umount").arg(point));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(mount.0.wait(), Some(0));
    assert!(namespace.mounts().is_empty());
}

#[fuse_test]
fn a_signal_ends_the_mount_of_a_user() {
    let Some(namespace) = namespace() else { return };
    let mount = namespace.mount(&[]);
    mount.0.signal(Signal::TERM);
    assert_eq!(mount.0.wait(), Some(0));
    assert!(namespace.mounts().is_empty());
}

#[fuse_test]
fn a_signal_detaches_the_busy_mount_of_a_user() {
    let Some(namespace) = namespace() else { return };
    let mount = namespace.mount(&[]);
    let mut command = namespace.user(USER, "sh");
    let script = "cd \"$1\" && exec < \"$2\" && echo in && read -r line < \"$3\" && cat";
    let go = namespace.fixture.dir().join("go");
    assert_eq!(
        run(Command::new("mkfifo").args(["-m", "666"]).arg(&go)).code,
        Some(0)
    );
    let output = namespace.fixture.dir().join("output");
    let mut reader = command
        .args(["-c", script, "sh"])
        .arg(&namespace.fixture.point)
        .arg(namespace.fixture.point.join(SMALL))
        // Not by its relative path, which ends with the detached directory.
        .arg(&go)
        .stdout(fs::File::create(&output).unwrap())
        .spawn()
        .unwrap();
    eventually("the reader is inside", || {
        fs::read(&output).unwrap() == b"in\n"
    });
    mount.0.signal(Signal::TERM);
    eventually("the mount is detached", || namespace.mounts().is_empty());
    mount.0.assert_running();
    fs::write(&go, "go\n").unwrap();
    reader.wait().unwrap();
    assert_eq!(fs::read_to_string(&output).unwrap(), "in\nhello\n");
    assert_eq!(mount.0.wait(), Some(0));
}

#[fuse_test]
fn a_user_removes_their_dead_mount_by_mounting_again() {
    let Some(namespace) = namespace() else { return };
    let mount = namespace.mount(&[]);
    mount.0.kill_with_guard();
    assert_eq!(mount.0.wait(), None);
    assert_eq!(namespace.mounts().len(), 1);
    let _mount = namespace.mount(&[]);
    assert_eq!(namespace.mounts().len(), 1);
    assert_eq!(namespace.cat(USER, SMALL).stdout, "hello\n");
}

#[fuse_test]
fn a_mount_of_a_user_is_gone_when_its_process_is_killed() {
    let Some(namespace) = namespace() else { return };
    let mount = namespace.mount(&[]);
    mount.0.signal(Signal::KILL);
    assert_eq!(mount.0.wait(), None);
    eventually("it is gone", || namespace.mounts().is_empty());
}

#[fuse_test]
fn a_user_cannot_remove_a_dead_mount_of_root() {
    let Some(namespace) = namespace() else { return };
    let fixture = &namespace.fixture;
    let mut command = namespace.root(env!("CARGO_BIN_EXE_hpimount"));
    command
        .args([&fixture.archive, &fixture.point])
        .args(["-o", "allow_other"]);
    let mount = namespace.mount_by(command);
    mount.0.kill_with_guard();
    mount.0.wait();
    let ran = run(&mut namespace.hpimount(&[]));
    assert_eq!(ran.code, Some(20), "{ran:?}");
    assert!(ran.stderr.contains("cannot remove a dead mount"), "{ran:?}");
    assert_eq!(namespace.mounts().len(), 1);
}

#[fuse_test]
fn names_of_archives_are_not_options_for_fusermount3() {
    let Some(mut namespace) = namespace() else {
        return;
    };
    let names = [
        "a,suid,dev.hpi",
        "x,allow_other",
        "back\\slash,rw",
        "ends\\",
        "two words.hpi",
        "new\nline.hpi",
        "fsname=b,fd=0",
    ];
    for name in names {
        let renamed = namespace.fixture.dir().join(name);
        fs::rename(&namespace.fixture.archive, &renamed).unwrap();
        namespace.fixture.archive = renamed;
        let _mount = namespace.mount(&[]);
        let lines = namespace.mounts();
        let [line] = &*lines else {
            panic!("{name:?}: {lines:?}")
        };
        let (source, options) = assert_guarded(line);
        assert_eq!(
            unescaped(source.as_bytes()),
            namespace.fixture.archive,
            "{line}"
        );
        let expected = format!("ro,user_id={USER},group_id={USER},default_permissions");
        assert_eq!(options, expected, "{line}");
    }
}
