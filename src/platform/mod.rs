//! What systems do differently: directories that are held open, the identity and the
//! permissions of files, terminals, and the ends of processes.
//!
//! Outside of this module only those name a system that only one has: the mount and its
//! process (`app/daemon`, `fuse`), and mounts that can be edited (`edit`).

mod stat;
#[cfg(unix)]
pub mod unix;

pub use self::stat::{FileIdentity, FileKind, FileStat};
use self::unix as system;

pub use self::system::{
    Directory, FileMode, Ownership, ask_secretly, attribute, clean_up_on_signals, copy_range,
    create_private, end_without_reader, is_private, is_root, keep_from_others,
    make_private_directory, name_file, open_at, open_or_create_private, open_private,
    overlay_attribute, page_size, path_of_uri, raise_file_limit, read_exact_at, unnamed_file,
    write_all_at,
};
