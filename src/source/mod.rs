//! Sources of bytes: files on disk, by identity rather than by name, and
//! objects on servers.

mod beneath;
mod beside;
pub mod bucket;
mod changes;
mod extraction;
mod file;
pub mod folder;
mod location;
mod new_folder;
pub mod remote;
mod secret;

pub use self::beneath::{open_beneath, rename_without_replacing};
pub use self::beside::{files_beside, has_name};
pub use self::changes::{ChangesFolder, OPAQUE, WHITEOUT, read_changes, read_patch};
pub use self::extraction::{ExtractTask, Extraction};
pub use self::file::{
    DIRECTORY_HANDLE, FileIdentity, FilePool, FileSource, FileStat, KeptFile, MAX_OPEN,
};
pub use self::location::Location;
pub(crate) use self::new_folder::mode_for_group;
pub use self::new_folder::{FolderTask, NewFolder};
