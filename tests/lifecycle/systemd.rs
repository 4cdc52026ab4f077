//! The units in `docs/systemd`, as far as systemd can verify them without
//! starting them.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::mount::{has_programs, run};

#[test]
fn the_units_of_the_documentation_are_valid() {
    if !has_programs(&["systemd-analyze"]) {
        return;
    }
    let units = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/systemd"));
    let copies = tempfile::tempdir().unwrap();
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--man=no"]);
    for unit in fs::read_dir(units).unwrap() {
        let unit = unit.unwrap();
        // A template is verified by an instance. The program need not be
        // installed at the path in the units.
        let name = unit.file_name().into_string().unwrap();
        let copy = copies.path().join(name.replace("@.", "@ta."));
        let text = fs::read_to_string(unit.path()).unwrap();
        let program = env!("CARGO_BIN_EXE_hpimount");
        fs::write(&copy, text.replace("/usr/local/bin/hpimount", program)).unwrap();
        command.arg(copy);
    }
    let ran = run(&mut command);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
}

/// Such a service would be started after a mount unit for the same mount point,
/// and find it in use.
#[test]
fn no_service_waits_for_a_mount_on_its_own_mount_point() {
    let units = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/systemd"));
    let mut services = 0;
    for unit in fs::read_dir(units).unwrap() {
        let unit = fs::read_to_string(unit.unwrap().path()).unwrap();
        let value = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key));
        let Some(command) = value("ExecStart=") else {
            continue;
        };
        let point = command.split(' ').next_back().unwrap();
        let mut waits = value("RequiresMountsFor=").unwrap().split(' ');
        assert!(!waits.any(|path| path == point), "{unit}");
        services += 1;
    }
    assert!(services > 0);
}
