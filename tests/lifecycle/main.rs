//! The life cycle of a mount: permissions to mount and read, reasons for its end, and
//! failures of the storage below it.

mod archive_changes;
mod automount;
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
mod scarce;
mod signals;
mod source_hangs;
mod storage_below;
mod systemd;
