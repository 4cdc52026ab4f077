//! Windows: files by handles and canonical paths.

mod directory;
mod files;
mod process;
mod registry;
mod stat;

pub use self::directory::{Directory, open_at, overlay_attribute};
pub use self::files::{
    FileMode, Ownership, attribute, canonical, check_names, copy_range, create_private, is_private,
    make_private_directory, name_file, not_replaced, open_or_create_private, open_private,
    path_of_uri, read_exact_at, unnamed_file, write_all_at,
};
pub use self::process::{
    ask_secretly, clean_up_on_signals, end_without_reader, is_root, is_writable, keep_from_others,
    keep_window_open, lower_priority, matching, page_size, raise_file_limit, unnamed_database,
    url_opener, user_and_group,
};
pub use self::registry::{register, unregister};

/// True if extracted files always get names that are valid on Windows.
pub const WINDOWS_NAMES: bool = true;
