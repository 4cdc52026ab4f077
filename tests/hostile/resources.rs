//! With limits on address space, open files and CPU time, no archive or asset
//! terminates the daemon, makes it spin, or makes it take memory out of
//! proportion.
//!
//! The address space is 256 MiB plus the cache; exceeding it terminates the
//! process, so a complete walk shows that everything fits. The limit of CPU
//! time does the same for endless loops.

use fixtures::bombs::{Bomb, bomb};
use testkit::fuse_test;
use testkit::limited::{Needed, folder_of, limited, walk_each};
use testkit::trial;

#[fuse_test]
fn a_folder_of_bombs_is_walked_within_the_limits() {
    // Two or four of each kind.
    let in_a_folder = trial::part(50, 100);
    let count = trial::length(in_a_folder, 1000);
    let mut needed = Needed::default();
    for first in (0..count).step_by(in_a_folder) {
        let fixture = folder_of((first..first + in_a_folder).map(bomb));
        let mut command = limited(600);
        command
            .args([&fixture.archive, &fixture.point])
            .args(["-o", "cachesize=1M"]);
        walk_each(fixture.mount_by(command), &mut needed);
    }
    needed.record("bombs in folders, under limits", count);
}

#[fuse_test]
fn a_bomb_alone_is_refused_or_walked_within_the_limits() {
    let count = trial::length(25, 1000);
    let mut needed = Needed::default();
    for number in 0..count {
        let Bomb { name, bytes } = bomb(number);
        let fixture = testkit::sources::file(&name, &bytes);
        needed.alone(&name, fixture, number % 2 == 1);
    }
    needed.record("bombs mounted alone, under limits", count);
}
