//! The life of a mount, from its start to its end: who may mount and read, what
//! ends it, and what happens when the storage below it fails.

mod archive_changes;
#[cfg(target_os = "linux")]
mod confined_thread;
#[cfg(target_os = "linux")]
mod confinement;
mod faults_below;
mod faulty;
mod faulty_mount;
mod faulty_source;
mod idle;
mod killed_readers;
mod life;
mod many_mounts;
mod mount_helper;
mod mount_stacks;
#[cfg(target_os = "linux")]
mod mounting;
mod odd_starts;
mod ordinary_user;
mod privilege;
mod signals;
mod source_hangs;
mod storage_below;
mod systemd;
