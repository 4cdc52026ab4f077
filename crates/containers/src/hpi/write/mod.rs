//! Writer of HPI archives.
//!
//! The input is a tree of names and sources of data. Output is written as it is
//! produced, so that neither a file nor an archive is ever held in memory as a
//! whole. Directories precede the data that they point to, so the output must
//! be seekable.
//!
//! A [`ChunkPacker`] packs the chunks, on several threads if the caller has some.
//! The output does not depend on their number.

mod block;
mod output;
pub(super) mod pack;
mod pipeline;
mod prepare;
pub mod v1;
pub mod v2;

pub use pipeline::{ChunkJob, ChunkPacker, Serial};

use crate::write::{Error, Result};

/// Returns a length or an offset as stored by the format.
pub fn number(value: impl TryInto<u32>) -> Result<u32> {
    value.try_into().map_err(|_| Error::ArchiveTooLarge)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::Path;

    use super::*;
    use crate::hpi::chunk::Method;
    use crate::write::{Directory, File, Node, Source};

    /// Returns an archive of one file on disk, or the error of writing it.
    fn written(path: &Path) -> Result<Vec<u8>> {
        let file = File {
            source: Source::Path(path.to_owned()),
            modified: 0,
        };
        let root = Directory {
            entries: vec![("file".into(), Node::File(file))],
        };
        let options = v1::Options {
            method: Method::Lz77,
            key: 0,
        };
        let mut out = Cursor::new(Vec::new());
        v1::write(
            &root,
            options,
            &mut out,
            &mut Serial::default(),
            &mut |_| {},
        )?;
        Ok(out.into_inner())
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_is_an_error() {
        // Such files report a size of 0 but have contents.
        let error = written(Path::new("/proc/self/stat")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "/proc/self/stat: its length changed while it was being read"
        );
    }

    #[test]
    fn a_file_of_4_gib_is_named_in_the_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 32).unwrap();
        assert_eq!(
            written(file.path()).unwrap_err().to_string(),
            "file: its 4294967296 bytes are more than an archive can hold (4 GiB)"
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_in_the_error() {
        let error = written(Path::new("/nonexistent")).unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent: No such file"), "{error}");
    }

    #[test]
    fn an_archive_of_one_file_has_the_layout_of_the_game() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "x").unwrap();
        let header = b"HAPI\0\0\x01\0\x33\0\0\0\0\0\0\0\x14\0\0\0";
        let node = b"\x01\0\0\0\x1C\0\0\0";
        let entry = b"\x25\0\0\0\x2A\0\0\0\0";
        let name = b"file\0";
        let record = b"\x33\0\0\0\x01\0\0\0\x01";
        let table = b"\x17\0\0\0";
        // Literal x and the end mark, scrambled: tag 2 at 0, 'x' at 1, zeros at
        // 2 and 3.
        let payload = [2, (b'x' ^ 1) + 1, 4, 6];
        let sum = payload.iter().sum();
        let chunk = [b"SQSH\x02\x01\x01\x04\0\0\0\x01\0\0\0", &[sum, 0, 0, 0][..]];
        let expected: Vec<&[u8]> = vec![
            header,
            node,
            entry,
            name,
            record,
            table,
            chunk[0],
            chunk[1],
            &payload,
            b"Copyright 1997 Cavedog Entertainment",
        ];
        assert_eq!(written(file.path()).unwrap(), expected.concat());
    }
}
