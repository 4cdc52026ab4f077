//! Options of a mount, and the choices that follow from them.

use std::fmt;
use std::fs::File as DiskFile;
use std::path::PathBuf;
use std::sync::Arc;

use crate::content::MadeAssets;
use crate::mount::local_time;
use crate::namespace::Ino;
use crate::namespace::companion::{Companions, Meta};
use crate::requester;
use crate::source::remote::Network;
use hpimount_assets::view::ChosenPalette;
use hpimount_containers::crypt::Password;
use hpimount_containers::format::{self, Encoding};
use hpimount_containers::volume::Volume;

/// Maximum nesting of archives in archives.
const MAX_NESTING: u8 = 16;

/// The names of files by their size in bytes and their CRC-32, from a list.
#[derive(Clone)]
pub struct KnownFiles(Arc<NameOf>);

type NameOf = dyn Fn(u64, Option<u32>) -> Option<String> + Send + Sync;

impl KnownFiles {
    /// Creates a list from a function that returns the name of a file.
    pub fn new(
        name_of: impl Fn(u64, Option<u32>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(name_of))
    }

    /// Returns the name of the file with this size and CRC-32, if that is known.
    pub(super) fn name_of(&self, size: u64, crc32: Option<u32>) -> Option<String> {
        (self.0)(size, crc32)
    }
}

impl fmt::Debug for KnownFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownFiles")
    }
}

/// Options of a mount.
#[derive(Debug, Clone)]
pub struct Options {
    /// Find names only in their exact spelling.
    pub case_sensitive: bool,
    /// Memory budget in bytes.
    pub cache_size: usize,
    /// Maximum size of the temporary file for generated files.
    pub spool_size: u64,
    /// The temporary file, opened before the process is confined; if `None`, it
    /// is opened on demand.
    pub spool: Option<Arc<DiskFile>>,
    /// Mount and read past damage as far as possible.
    pub force: bool,
    /// Compute checksums for listings.
    pub verify: bool,
    /// The character set of names in archives that do not say theirs.
    pub encoding: Option<&'static Encoding>,
    /// The password of encrypted archives.
    pub password: Option<Password>,
    /// Show the contents of archives in directories beside them.
    pub companions: bool,
    /// Visibility of companions of assets, and of `converted`.
    pub meta: Meta,
    /// Use the converted tree as the root.
    pub converted: bool,
    /// Assets that were made for earlier versions, if the mount can be edited. Then companions
    /// of assets are listed only on request: a directory with them could not be removed.
    pub made: Option<Arc<MadeAssets>>,
    /// The file of changes that was saved last. If there is one, edited values of files that
    /// were saved later count before others; otherwise all must agree.
    pub newest: Option<Arc<str>>,
    /// The palette of all pictures that have none of their own.
    pub palette: Option<Arc<ChosenPalette>>,
    /// Mount nothing if one of several sources cannot be mounted.
    pub strict: bool,
    /// The threads that read sources on servers; if `None`, they are started on
    /// demand and not confined.
    pub network: Option<Arc<Network>>,
    /// The mount point, as an absolute path without symbolic links: a folder
    /// that contains it does not show it.
    pub mount_point: Option<PathBuf>,
    /// Names the file that a patch is for, in the error about another one.
    pub known_files: Option<KnownFiles>,
}

impl Options {
    /// Returns the options for opening the volume called `name`.
    pub(super) fn of_volume(&self, name: &str) -> format::Options {
        format::Options {
            name: name.to_owned(),
            force: self.force,
            verify: self.verify,
            encoding: self.encoding,
            password: self.password.clone(),
            of_local_time: Some(local_time::to_utc),
            to_change: false,
            step: Some(requester::check),
        }
    }

    /// Returns the options for opening a source without its changes, to look up the
    /// files that these replace.
    pub(super) fn of_original(&self) -> Self {
        Self {
            case_sensitive: false,
            companions: true,
            meta: Meta::Hidden,
            converted: false,
            // Only the mount itself may use the file that was opened for it.
            spool: None,
            ..self.clone()
        }
    }

    /// Returns which files of a volume at this nesting depth have listed
    /// companions. A plain folder, or a container that is one in all but name,
    /// also lists the companions of assets.
    pub(super) fn companions_in(&self, nesting: u8, is_plain_folder: bool) -> Companions {
        Companions {
            inside: self.companions && nesting < MAX_NESTING,
            meta: match self.meta {
                Meta::Default | Meta::Converted => is_plain_folder && self.made.is_none(),
                Meta::Visible => true,
                Meta::Hidden | Meta::Off => false,
            },
            converted: self.meta == Meta::Visible,
            others: None,
        }
    }

    /// Returns whether `converted` is listed in the root of a source.
    pub(super) fn lists_converted(&self, volume: &dyn Volume) -> bool {
        match self.meta {
            // For archives whose own directories have no meaning for users.
            Meta::Default => volume.assets().is_some(),
            Meta::Visible | Meta::Converted => true,
            Meta::Hidden | Meta::Off => false,
        }
    }

    /// Returns the root of the files: the root of the mount, or the mirrored
    /// directory if the root is a converted tree.
    pub(super) fn root_of_files(&self) -> Ino {
        Ino(Ino::ROOT.0 + u64::from(self.converted))
    }

    /// Returns whether two spellings name the same entry.
    pub(super) fn is_same_name(&self, a: &str, b: &str) -> bool {
        match self.case_sensitive {
            true => a == b,
            false => a.eq_ignore_ascii_case(b),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            case_sensitive: false,
            cache_size: 64 << 20,
            spool_size: 1 << 30,
            spool: None,
            force: false,
            verify: false,
            encoding: None,
            password: None,
            companions: true,
            meta: Meta::Default,
            converted: false,
            made: None,
            newest: None,
            palette: None,
            strict: false,
            network: None,
            mount_point: None,
            known_files: None,
        }
    }
}
