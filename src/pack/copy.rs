//! Writing a source that is composed of ranges of others.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::{Error, Result};
use crate::platform::copy_range;
use crate::source::FileSource;
use hpimount_containers::changes::Composed;
use hpimount_containers::io::ReadAt;
use hpimount_containers::write;

/// Number of bytes that are copied at a time.
const PIECE: u64 = 1 << 20;

/// Writes the bytes of a source, which is made of the archive at `path`, to the
/// empty file `out`. Ranges of `original`, which is the archive if that is a file, are
/// copied by the kernel.
pub(super) fn copy(
    spliced: &Composed,
    original: Option<&FileSource>,
    path: &Path,
    out: &File,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let mut ranges = original.map(Ranges::of);
    let mut piece = vec![0; PIECE as usize];
    let mut offset = 0;
    while offset < spliced.len() {
        let ranges = ranges.as_mut();
        let mut length = ranges.map_or(0, |ranges| ranges.copy(spliced, offset, out));
        if length == 0 {
            // The next piece begins with a whole block again.
            length = (spliced.len() - offset).min(PIECE - offset % PIECE);
            let piece = &mut piece[..length as usize];
            let read = spliced.read_exact_at(piece, offset);
            read.map_err(|cause| Error::source(path, cause))?;
            { out }.write_all(piece).map_err(write::Error::Output)?;
        }
        progress(length);
        offset += length;
    }
    Ok(())
}

/// Ranges of a file that the kernel copies. File systems such as Btrfs and XFS share
/// the blocks instead, if both ranges begin with one.
struct Ranges<'a> {
    original: &'a FileSource,
    /// The file; `None` if its ranges cannot be copied.
    file: Option<File>,
}

impl<'a> Ranges<'a> {
    /// Number of bytes of a block.
    const BLOCK: u64 = 4096;

    /// Maximum number of bytes that are copied at a time.
    const MAX: u64 = 64 << 20;

    fn of(original: &'a FileSource) -> Self {
        let file = original.file().ok();
        Self { original, file }
    }

    /// Copies the range of the original at `offset` of a source to the current
    /// position of `out`, which is the same, and returns how many bytes were copied:
    /// 0 if it is not a long range of the original, or the kernel cannot copy it.
    fn copy(&mut self, spliced: &Composed, offset: u64, out: &File) -> u64 {
        let origin = spliced.origin_at(offset);
        let (Some(file), Some((source, start))) = (&self.file, origin.source) else {
            return 0;
        };
        let length = origin.length;
        let begins_with_block = (offset | start).is_multiple_of(Self::BLOCK);
        let length = length.min(Self::MAX) / Self::BLOCK * Self::BLOCK;
        let is_original = std::ptr::addr_eq(source, self.original);
        if !is_original || !begins_with_block || length < PIECE {
            return 0;
        }
        match copy_range(file, start, out, length) {
            Ok(copied) if copied > 0 => copied,
            // Such as between file systems. Reading and writing says what is wrong.
            _ => {
                self.file = None;
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::source::FilePool;

    /// Returns bytes that differ from block to block.
    fn noise(length: usize) -> Vec<u8> {
        let words = (0..length as u32 / 4 + 1).map(|word| word.wrapping_mul(2_654_435_761));
        let mut bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        bytes.truncate(length);
        bytes
    }

    #[test]
    fn long_and_short_ranges_are_written_wherever_they_begin() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("original");
        let bytes = noise((5 << 20) + 12_345);
        std::fs::write(&path, &bytes).unwrap();
        let original = Arc::new(FileSource::open(&path, &Arc::new(FilePool::default())).unwrap());
        let source: Arc<dyn ReadAt> = original.clone();
        let end = bytes.len() as u64;
        // In place, moved by blocks, and moved by other distances.
        for moved in [0, 4096, 100] {
            let mut spliced = Composed::default();
            let mut expected = Vec::new();
            spliced.append_bytes(vec![7; moved]);
            expected.resize(moved, 7);
            for range in [0..3 << 20, (3 << 20) + 5000..end, 17..1000, 0..end] {
                expected.extend(&bytes[range.start as usize..range.end as usize]);
                spliced.append(&source, range);
                spliced.append_bytes(b"between".to_vec());
                expected.extend(b"between");
            }
            let out = tempfile::tempfile_in(directory.path()).unwrap();
            let mut told = 0;
            let mut progress = |bytes| told += bytes;
            copy(&spliced, Some(&original), &path, &out, &mut progress).unwrap();
            let mut written = vec![0; expected.len()];
            std::os::unix::fs::FileExt::read_exact_at(&out, &mut written, 0).unwrap();
            assert!(written == expected, "moved by {moved}");
            assert_eq!(out.metadata().unwrap().len(), spliced.len());
            assert_eq!(told, spliced.len());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_long_range_is_copied_by_the_kernel() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("original");
        std::fs::write(&path, noise(3 << 20)).unwrap();
        let original = Arc::new(FileSource::open(&path, &Arc::new(FilePool::default())).unwrap());
        let mut spliced = Composed::default();
        spliced.append_all(&(original.clone() as Arc<dyn ReadAt>));
        let out = tempfile::tempfile_in(directory.path()).unwrap();
        let copied = Ranges::of(&original).copy(&spliced, 0, &out);
        assert_eq!(copied, 3 << 20);
    }
}
