//! Sources of bytes: files on disk, by identity rather than by name, and
//! objects on servers.

mod beside;
pub mod bucket;
mod changed_files;
mod changes;
mod disk_names;
mod extraction;
mod file;
pub mod folder;
mod location;
mod new_folder;
pub mod remote;
mod secret;

pub use self::beside::{files_beside, has_name};
pub use self::changes::{ChangesFolder, OPAQUE, WHITEOUT, read_patch};
pub use self::disk_names::DiskNames;
pub use self::extraction::{ExtractTask, Extraction};
pub use self::file::{FilePool, FileSource, KeptFile, MAX_OPEN};
pub use self::location::Location;
pub use self::new_folder::{FolderTask, NewFolder};
