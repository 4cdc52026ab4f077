//! Files of the mount as sources of the volumes inside them.

use std::ops::Range;
use std::sync::Arc;

use super::{Access, File, OpenVolume, Reader};
use hpimount_containers::io::{Error, ReadAt, Result};
use hpimount_containers::volume::{Content, FileId, Volume};

/// A file of a volume as a source.
pub struct Member {
    /// The reader of its bytes.
    pub reader: Arc<Reader>,
    /// The volume that it is in.
    pub volume: Arc<OpenVolume>,
    /// Its number in the volume.
    pub file: FileId,
    /// Its size in bytes.
    pub len: u64,
}

impl Member {
    /// Creates a source of file number 0, a stream, of a volume that is not part of a
    /// tree: the archive in a compressed file.
    ///
    /// # Errors
    /// Returns an error if its size cannot be determined.
    pub fn unpacked(
        reader: &Arc<Reader>,
        format: &'static str,
        volume: Box<dyn Volume>,
    ) -> Result<Self> {
        let mut archive = Self {
            volume: OpenVolume::new("", format, volume).numbered(reader.next_image()),
            reader: reader.clone(),
            file: FileId(0),
            len: 0,
        };
        archive.len = match archive.volume.volume.content(archive.file)? {
            Content::Stream(volume) => reader.stream_size(archive.as_file(), volume)?,
            _ => return Err(Error::UnknownFormat),
        };
        Ok(archive)
    }

    fn as_file(&self) -> File<'_> {
        File {
            volume: &self.volume,
            file: self.file,
        }
    }
}

impl ReadAt for Member {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if buf.is_empty() {
            return Ok(());
        }
        let content = self.volume.volume.content(self.file);
        if let Content::Extent {
            source,
            offset: start,
        } = content.map_err(std::io::Error::other)?
        {
            return source.read_exact_at(buf, start + offset);
        }
        let file = self.as_file();
        let mut filled = 0;
        while filled < buf.len() {
            let start = offset + filled as u64;
            // Block by block, so that nothing is assembled only to be copied.
            let bytes = self
                .reader
                .read_some(file, start..offset + buf.len() as u64, Access::Unknown)
                .map_err(std::io::Error::other)?;
            buf[filled..filled + bytes.len()].copy_from_slice(&bytes);
            filled += bytes.len();
        }
        Ok(())
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        self.as_file().unit_at(offset)
    }

    fn beneath(&self, range: Range<u64>) -> Option<(&dyn ReadAt, u64)> {
        match self.volume.volume.content(self.file).ok()? {
            Content::Extent { source, offset } => Some((source, offset + range.start)),
            _ => None,
        }
    }
}
