//! Platform differences: directories that are held open, the identity and the permissions of
//! files, terminals, and the ends of processes.
//!
//! Outside of this module, systems are named only by parts that a single system has: the mount
//! and its process (`app/daemon`, `fuse`), and mounts that can be edited (`edit`).

mod stat;
#[cfg(unix)]
pub mod unix;
#[cfg(windows)]
mod windows;

pub use self::stat::{Contents, FileIdentity, FileKind, FileStat};
#[cfg(unix)]
use self::unix as system;
#[cfg(windows)]
use self::windows as system;
#[cfg(explorer)]
pub use self::windows::{register, unregister};

pub use self::system::{
    Directory, FileMode, Ownership, WINDOWS_NAMES, ask_secretly, attribute, canonical, check_names,
    clean_up_on_signals, copy_range, create_private, end_without_reader, is_private, is_root,
    is_writable, keep_from_others, keep_window_open, lower_priority, make_private_directory,
    matching, name_file, not_replaced, open_at, open_or_create_private, open_private,
    overlay_attribute, page_size, path_of_uri, raise_file_limit, read_exact_at, unnamed_database,
    unnamed_file, url_opener, user_and_group, write_all_at,
};
