//! Opened patches: metadata, and application to a file.

use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt};

use crate::Format;
use crate::bps::{self, Frame};
use crate::error::{Mismatch, Result, Sums, check_same};
use crate::ips;
use crate::limits::MAX_PATCH;
use crate::patched::{Content, Metadata, Patched};
use crate::ppf::{self, Ppf};
use crate::records::Records;
use crate::spool::{Memory, Spool};
use crate::ups;
use crate::vcdiff::{Vcdiff, Windows, memory_of_windows};

/// Default memory limit of a patch in bytes, enough for the longest windows of VCDIFF.
const MEMORY: usize = 144 << 20;

/// Maximum number of kept bytes of the metadata of BPS.
const MAX_METADATA: u64 = 256;

/// The resources that a patch may use.
#[derive(Clone)]
pub struct Options {
    /// Memory limit of the list of parts or windows in bytes, by default 144 MiB.
    pub memory: usize,
    /// Memory limit of the list of windows of VCDIFF together with the recently used
    /// windows, in bytes. The default of 144 MiB suffices for the longest windows; see
    /// [`Patch::memory_of_windows`].
    pub windows: usize,
    /// Storage for compressed sections of VCDIFF. By default, they are in memory and
    /// may take half of the limit.
    pub spool: Option<Arc<dyn Spool>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            memory: MEMORY,
            windows: MEMORY,
            spool: None,
        }
    }
}

/// The check of a file before applying a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The format, or this patch, has no checks: any file may be the original.
    Nothing,
    /// The size of the file.
    Size,
    /// The 1024 bytes of PPF.
    Block,
    /// The Adler-32 of one window of VCDIFF.
    Window,
}

/// The index of a patch in a format.
enum Index {
    Vcdiff(Arc<Vcdiff>),
    Bps(Frame),
    Ups(Frame),
    Ppf(Ppf),
    Ips(Records),
}

/// An indexed patch. Nothing is unpacked, and no result is computed.
pub struct Patch {
    source: Arc<dyn ReadAt>,
    format: Format,
    metadata: Metadata,
    index: Index,
    memory: usize,
    windows: usize,
}

impl Patch {
    /// Opens a patch and detects its format.
    ///
    /// # Errors
    /// Returns an error if the patch is damaged, of a kind that is not supported, or
    /// cannot be read.
    pub fn open(source: Arc<dyn ReadAt>) -> Result<Self> {
        Self::open_with(source, Options::default())
    }

    /// Opens a patch with other resources than the defaults.
    ///
    /// # Errors
    /// Returns the errors of [`Patch::open`], and [`Error::NoMemory`] if the resources do
    /// not suffice.
    pub fn open_with(source: Arc<dyn ReadAt>, options: Options) -> Result<Self> {
        if source.len() > MAX_PATCH {
            let problem = format!("has {} bytes, more than {MAX_PATCH}", source.len());
            return Err(Error::Unsupported(problem).into());
        }
        let format = Format::detect(&*source)?;
        let unknown = "is not that of a patch of a known format";
        let format = format.ok_or_else(|| Error::damaged(0, "start", unknown))?;
        let mut memory = options.memory;
        let mut metadata = Metadata::default();
        let index = match format {
            Format::Vcdiff => {
                let spool = options.spool.unwrap_or_else(|| {
                    memory /= 2;
                    Arc::new(Memory::new(memory))
                });
                let mut patch = Vcdiff::read(&source, &spool, memory)?;
                metadata.description = std::mem::take(&mut patch.application);
                Index::Vcdiff(Arc::new(patch))
            }
            Format::Bps => {
                let frame = Frame::read(&source)?;
                metadata.description = bps::metadata(&source, &frame, MAX_METADATA)?;
                Index::Bps(frame)
            }
            Format::Ups => Index::Ups(Frame::read(&source)?),
            Format::Ppf => {
                let mut patch = ppf::read(&source, memory)?;
                metadata.description = std::mem::take(&mut patch.description);
                metadata.original = patch.size.map(|size| Sums { size, crc32: None });
                Index::Ppf(patch)
            }
            Format::Ips => Index::Ips(ips::read(&source, false, memory)?),
            Format::Ips32 => Index::Ips(ips::read(&source, true, memory)?),
        };
        if let Index::Bps(frame) | Index::Ups(frame) = &index {
            metadata.original = Some(frame.original);
            metadata.result = Some(frame.result);
        }
        Ok(Self {
            source,
            format,
            metadata,
            index,
            memory,
            windows: options.windows,
        })
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the metadata of the patch and of both files.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns whether the whole result can be verified with checksums.
    pub fn has_checksums(&self) -> bool {
        match &self.index {
            Index::Vcdiff(patch) => patch.has_checksums(),
            Index::Bps(_) | Index::Ups(_) => true,
            Index::Ppf(_) | Index::Ips(_) => false,
        }
    }

    /// Returns the memory for comparing, verifying or reading the windows of VCDIFF, in
    /// bytes; 0 for other formats.
    pub fn memory_of_windows(&self) -> usize {
        match &self.index {
            Index::Vcdiff(patch) => memory_of_windows(patch, self.windows),
            _ => 0,
        }
    }

    /// Compares a file with the metadata of the original, as far as that requires
    /// little reading: the size (BPS, UPS), a block (PPF), one window (VCDIFF).
    /// [`Patched::verify`] compares everything.
    ///
    /// # Errors
    /// Returns [`Error::WrongOriginal`](crate::Error::WrongOriginal), which names both, if
    /// the file is another one; or an error if a source cannot be read or the patch is
    /// damaged.
    pub fn check(&self, original: &Arc<dyn ReadAt>) -> Result<Check> {
        let checked = match &self.index {
            Index::Bps(frame) => {
                check_size(frame, original.len())?;
                Check::Size
            }
            Index::Ups(frame) => {
                if original.len() != frame.result.size {
                    check_size(frame, original.len())?;
                }
                Check::Size
            }
            Index::Ppf(patch) if patch.check(&**original)? => Check::Block,
            Index::Vcdiff(patch) => {
                let windows = Windows::new(patch.clone(), original.clone(), self.windows);
                match windows.verify_first()? {
                    true => Check::Window,
                    false => Check::Nothing,
                }
            }
            Index::Ppf(_) | Index::Ips(_) => Check::Nothing,
        };
        Ok(checked)
    }

    /// Applies the patch to a file. BPS, UPS, PPF and IPS compute all parts; VCDIFF
    /// computes the parts of a window when it is read. The size of the original, or its
    /// block, is checked first; [`Patch::check`] and [`Patched::verify`] check more. If
    /// the file has the size of the result, a UPS patch is applied backwards.
    ///
    /// # Errors
    /// Returns [`Error::WrongOriginal`](crate::Error::WrongOriginal) if the file is another
    /// one; or an error if the patch is damaged, a source cannot be read, or there is not
    /// enough memory.
    pub fn apply(&self, original: Arc<dyn ReadAt>) -> Result<Patched> {
        let mut metadata = self.metadata.clone();
        let parts = match &self.index {
            Index::Vcdiff(patch) => {
                let windows = Windows::new(patch.clone(), original.clone(), self.windows);
                let content = Content::Windows(windows);
                return Ok(Patched::new(original, content, self.format, metadata));
            }
            Index::Bps(frame) => {
                check_size(frame, original.len())?;
                bps::parts(&self.source, &*original, frame, self.memory)?
            }
            Index::Ups(frame) => {
                let (mut from, mut to) = (frame.original, frame.result);
                if original.len() != from.size && original.len() == to.size {
                    (from, to) = (to, from);
                }
                check_same(from, original.len(), None)?;
                (metadata.original, metadata.result) = (Some(from), Some(to));
                ups::parts(&self.source, frame, (from.size, to.size), self.memory)?
            }
            Index::Ppf(patch) => {
                patch.check(&*original)?;
                patch.records.lay_over(original.len())?
            }
            Index::Ips(records) => records.lay_over(original.len())?,
        };
        let content = Content::Parts(parts, self.source.clone());
        Ok(Patched::new(original, content, self.format, metadata))
    }
}

/// Compares the size of a file with the size of the original.
fn check_size(frame: &Frame, size: u64) -> Result<()> {
    if size != frame.original.size && size == frame.result.size {
        return Err(Mismatch::Patched(Sums { size, crc32: None }).into());
    }
    check_same(frame.original, size, None)
}
