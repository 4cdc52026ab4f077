//! Automounts: an archive that is mounted when it is first accessed, as by
//! `x-systemd.automount` in fstab(5).

use std::fs;

use testkit::fuse_test;
use testkit::mount::namespace::Namespace;
use testkit::mount::{SMALL, has_programs, run};
use testkit::skip::skip_anywhere;

/// An automounter for one access: `POINT FILE COMMAND...`. A process of another group opens
/// FILE below POINT. The kernel sends a packet (`struct autofs_v5_packet`: version, type,
/// token, ...) and keeps it waiting; COMMAND mounts, in the group of the automounter, as
/// systemd runs mount(8); then the token is returned. Prints FILE.
const AUTOMOUNTER: &str = r#"
import ctypes, fcntl, os, struct, subprocess, sys
point, file, *command = sys.argv[1:]
ours, kernels = os.pipe()
data = f"fd={kernels},pgrp={os.getpgrp()},minproto=5,maxproto=5,direct"
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"automounter", point.encode(), b"autofs", 0, data.encode()) != 0:
    sys.exit(f"no autofs: {os.strerror(ctypes.get_errno())}")
os.close(kernels)
root = os.open(point, os.O_RDONLY)
reader = subprocess.Popen(["cat", f"{point}/{file}"], start_new_session=True)
(token,) = struct.unpack_from("=8xI", os.read(ours, 304))
quiet = subprocess.DEVNULL
try:
    subprocess.run(command, check=True, timeout=20, stdout=quiet, stderr=quiet)
except Exception as error:
    reader.kill()
    sys.exit(f"not mounted: {error}")
AUTOFS_IOC_READY = 0x9360
fcntl.ioctl(root, AUTOFS_IOC_READY, token)
sys.exit(reader.wait())
"#;

#[fuse_test]
fn an_archive_is_mounted_on_access() {
    if !has_programs(&["python3", "nsenter"]) {
        return;
    }
    let has_autofs = fs::read_to_string("/proc/filesystems")
        .is_ok_and(|types| types.lines().any(|line| line.ends_with("autofs")));
    if !has_autofs {
        return skip_anywhere("the kernel has no autofs");
    }
    let namespace = Namespace::new();
    let fixture = &namespace.fixture;
    let ran = run(namespace
        .root("setsid")
        .args(["--wait", "python3", "-c", AUTOMOUNTER])
        .arg(&fixture.point)
        .arg(SMALL)
        .args([&namespace.program, &fixture.archive, &fixture.point]));
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "hello\n"), "{ran:?}");
}
