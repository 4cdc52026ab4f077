//! Writer of HIP archives, as HipHopTool lays them out (FORMATS, HIP 11).
//!
//! The input is a parsed `Settings.ini` and the data of the assets that it
//! lists, which is read when it is written.

mod layout;
mod order;
mod placing;
mod settings;
mod tables;

use std::io::{Read, Seek, SeekFrom, Write};

pub(super) use self::layout::Extent;
pub(super) use self::placing::{alignment, layer_alignment};
pub use self::settings::{Asset, Problem, Settings, parse};
pub(super) use self::tables::{Blocks, SUB_VERSION_2, asset_block};

use self::layout::Layout;
use crate::hip::CHECKSUM;
use crate::write::{Error, Result, Source};

/// The byte that fills gaps between assets.
pub(super) const FILLER: u8 = 0x33;

/// Maximum size of an archive in bytes: the games use signed 32-bit sizes.
pub const MAX_ARCHIVE_LENGTH: u64 = i32::MAX as u64;

/// Number of bytes copied at a time.
const PIECE: usize = 256 << 10;

/// The data of an asset.
#[derive(Debug, Clone)]
pub struct AssetData {
    /// The source of its bytes.
    pub source: Source,
    /// Its length in bytes.
    pub size: u32,
    /// The byte at [`Settings::sort_byte_offset`], if the data is long enough.
    pub sort_byte: Option<u8>,
}

/// An archive that is ready to be written.
#[derive(Debug)]
pub struct Plan {
    settings: Settings,
    /// The data of each asset of the settings.
    data: Vec<AssetData>,
    layout: Layout,
}

impl Settings {
    /// Returns the offset of the byte in the data of an asset that its position
    /// in the archive depends on; `None` if it depends on none.
    pub fn sort_byte_offset(&self, asset: &Asset) -> Option<u64> {
        order::sort_byte_offset(self.game, asset.kind)
    }
}

impl Plan {
    /// Lays out an archive. `data` has an element for each asset of the
    /// settings, in the same order.
    ///
    /// # Errors
    /// Returns [`Error::TooLargeForGames`] if it would reach 2 GiB.
    ///
    /// # Panics
    /// Panics if there are not as many data as assets.
    pub fn new(settings: Settings, data: Vec<AssetData>) -> Result<Self> {
        assert_eq!(settings.assets.len(), data.len(), "every asset has data");
        Ok(Self {
            layout: Layout::new(&settings, &data)?,
            settings,
            data,
        })
    }

    /// Returns the number of bytes that will be read.
    pub fn bytes(&self) -> u64 {
        self.layout.bytes()
    }

    /// Writes the archive to `out`, from the current position on.
    ///
    /// `progress` is called with the number of bytes of assets that have been
    /// read since it was last called.
    ///
    /// # Errors
    /// Returns an error if an asset cannot be read or has changed its length,
    /// or if writing fails. The contents of `out` are then incomplete.
    pub fn write(&self, mut out: impl Write + Seek, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let mut checksums = vec![0; self.data.len()];
        let head = tables::head(&self.settings, &self.layout, &checksums);
        out.write_all(&head).map_err(Error::Output)?;
        for step in &self.layout.steps {
            let data = &self.data[step.asset];
            let mut append = |bytes: &[u8]| out.write_all(bytes).map_err(Error::Output);
            let checksum = copy(&data.source, data.size.into(), &mut append, progress)?;
            if self.settings.assets[step.asset].checksum != 0 {
                checksums[step.asset] = checksum;
            }
            fill(&mut out, step.padding)?;
        }
        let mut end = || {
            out.write_all(&tables::hipb(&self.settings))?;
            out.seek(SeekFrom::Start(0))?;
            out.write_all(&tables::head(&self.settings, &self.layout, &checksums))?;
            out.flush()
        };
        end().map_err(Error::Output)
    }
}

/// Writes this many bytes of [`FILLER`].
fn fill(out: &mut impl Write, count: u64) -> Result<()> {
    std::io::copy(&mut std::io::repeat(FILLER).take(count), out).map_err(Error::Output)?;
    Ok(())
}

/// Passes the bytes of a source of `size` bytes to `append`, and returns their
/// checksum in archives. `progress` is called with the number of bytes that
/// were read.
///
/// # Errors
/// Returns [`Error::Changed`] if the source has another size, or an error if it
/// cannot be read or `append` fails.
pub(super) fn copy(
    source: &Source,
    size: u64,
    append: &mut dyn FnMut(&[u8]) -> Result<()>,
    progress: &mut dyn FnMut(u64),
) -> Result<u32> {
    let failed = |cause| source.error(cause);
    let changed = || source.error(std::io::ErrorKind::UnexpectedEof.into());
    let (mut bytes, _) = source.open()?;
    let mut digest = CHECKSUM.digest();
    let mut piece = vec![0; PIECE];
    let mut left = size;
    loop {
        let read = bytes.read(&mut piece).map_err(failed)?;
        if read == 0 {
            break;
        }
        left = left.checked_sub(read as u64).ok_or_else(changed)?;
        digest.update(&piece[..read]);
        append(&piece[..read])?;
        progress(read as u64);
    }
    match left {
        0 => Ok(digest.finalize()),
        _ => Err(changed()),
    }
}
