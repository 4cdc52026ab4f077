//! Mounts that an ordinary user edits, made by `fusermount3`.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

use testkit::applied::hpi_apply;
use testkit::fuse_test;
use testkit::hpipack::stderr;
use testkit::mount::namespace::{Namespace, OTHER_USER, USER};
use testkit::mount::{SMALL, has_programs, run};

fn namespace() -> Option<Namespace> {
    let ready = has_programs(&["unshare", "setpriv", "nsenter", "fusermount3"]);
    ready.then(Namespace::new)
}

/// Makes a directory of a user beside the mount point.
fn own_directory(namespace: &Namespace, name: &str, user: u32) -> PathBuf {
    let directory = namespace.fixture.dir().join(name);
    fs::create_dir(&directory).unwrap();
    chown(&directory, Some(user), Some(user)).unwrap();
    directory
}

fn edit(folder: &Path) -> [&str; 2] {
    ["--edit", folder.to_str().unwrap()]
}

#[fuse_test]
fn an_ordinary_user_edits_and_the_archive_follows() {
    let Some(namespace) = namespace() else { return };
    let home = own_directory(&namespace, "home", USER);
    let folder = home.join("edits");
    let mount = namespace.mount(&edit(&folder));
    let script = format!(
        "cd $1 && echo new > {SMALL} && mkdir docs && echo a > docs/a.txt && mv docs papers \
         && rm maps/big.bin && cp .hpimount/image/sample.hpi ../home/image"
    );
    let point = &namespace.fixture.point;
    let mut shell = namespace.user(USER, "sh");
    let ran = run(shell.args(["-ec", &script, "sh"]).arg(point));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let saved = fs::metadata(folder.join(SMALL)).unwrap();
    assert_eq!(
        (saved.uid(), saved.gid(), saved.mode() & 0o777),
        (USER, USER, 0o644)
    );
    let applied = home.join("applied");
    let ran = hpi_apply(&[], &folder, &namespace.fixture.archive, &applied);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(fs::read(home.join("image")).unwrap() == fs::read(&applied).unwrap());
    for program in ["cat", "touch", "rm"] {
        let ran = run(namespace.user(OTHER_USER, program).arg(point.join(SMALL)));
        let is_denied = ran.code != Some(0) && ran.stderr.contains("Permission denied");
        assert!(is_denied, "{program}: {ran:?}");
    }
    let unmount = run(namespace.user(USER, "fusermount3").arg("-u").arg(point));
    assert_eq!(unmount.code, Some(0), "{unmount:?}");
    assert_eq!(mount.0.wait(), Some(0));
    let _mount = namespace.mount(&edit(&folder));
    assert_eq!(namespace.cat(USER, SMALL).stdout, "new\n");
    assert_eq!(namespace.cat(USER, "papers/a.txt").stdout, "a\n");
}

#[fuse_test]
fn the_folder_of_another_user_is_refused() {
    let Some(namespace) = namespace() else { return };
    let folder = own_directory(&namespace, "other", OTHER_USER);
    let ran = run(&mut namespace.hpimount(&edit(&folder)));
    assert!(ran.code != Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("must belong to the user who mounts"),
        "{ran:?}"
    );
    assert!(namespace.mounts().is_empty());
}
