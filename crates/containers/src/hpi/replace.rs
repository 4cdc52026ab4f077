//! Replacing files of an archive by files that are packed by the methods of the old ones.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use super::apply::{Packed, PackedFile, apply};
use super::chunk::{CHUNK_SIZE, Method};
use super::file_sum::FileSum;
use super::record::{VERSION_1, VERSION_2};
use super::write::{ChunkJob, ChunkPacker};
use super::{Directory, Hpi, Packing, Version};
use crate::changes::{Composed, Fate, Job, NewFile, Report, Tree};
use crate::format::Options;
use crate::io::{Error, ReadAt, Result, read_vec, undamaged};
use crate::volume::FileId;

/// An archive whose files can be replaced.
pub struct Archive {
    hpi: Arc<Hpi>,
    directory: Directory,
    tree: Tree,
}

/// A file, which is empty at first, for packed files.
pub struct Storage<'a> {
    /// Its bytes.
    pub bytes: Arc<dyn ReadAt>,
    /// The end of the file.
    pub append: &'a mut dyn Write,
}

impl Archive {
    /// Reads the directory of an archive of either version.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, is not an HPI archive, or
    /// is damaged.
    pub fn read(source: Arc<dyn ReadAt>) -> Result<Self> {
        let mut tree = Tree::default();
        let (hpi, directory) = super::read(source, &mut tree, Options::default())?;
        tree.complete();
        Ok(Self {
            hpi: Arc::new(hpi),
            directory,
            tree,
        })
    }

    /// Returns its entries.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the archive with new contents of some files. Each is packed by the method
    /// of the file that it replaces, with `chunks`, into `storage`.
    ///
    /// # Errors
    /// Returns an error if the archive or a file cannot be read, if the result would be too
    /// large, or if storing fails.
    pub fn replace<'a>(
        self,
        files: Vec<(FileId, NewFile)>,
        storage: Storage<'a>,
        chunks: &'a mut dyn ChunkPacker,
        report: &mut Report,
    ) -> Result<Composed> {
        let Self {
            hpi,
            directory,
            tree,
        } = self;
        let mut job = Job {
            tree,
            volume: hpi.clone(),
            report,
            prefix: "",
        };
        let version = match directory.version {
            Version::One { .. } => VERSION_1,
            Version::Two { .. } => VERSION_2,
        };
        let mut packer = Packer {
            version,
            storage,
            stored: 0,
            chunks,
        };
        let mut packed = Packed {
            files: HashMap::new(),
            directory: matches!(
                directory.version,
                Version::Two {
                    is_packed: true,
                    ..
                }
            ),
        };
        for (file, new) in files {
            let method = method(&hpi, file)?;
            if new.len() > u32::MAX.into() {
                let (path, size) = (new.path(), new.len());
                let text =
                    format!("{path}: its {size} bytes are more than an archive can hold (4 GiB)");
                return Err(Error::Unsupported(text));
            }
            if let Some(node) = job.tree.node_of(file) {
                job.replace(node, new)?;
            }
            let Some((node, new)) = job.replaced(file) else {
                continue;
            };
            if method != Method::Stored {
                let (bytes, file) = packer.pack(new, method)?;
                job.tree.set(node, Fate::New(bytes));
                packed.files.insert(node, file);
            }
        }
        match job.tree.is_changed() {
            true => Ok(apply(&hpi, directory, &mut job, &packed)?.data),
            false => Ok(Composed::whole(&hpi.source)),
        }
    }
}

/// Returns how a file is packed: a method of version 1, or [`Method::Zlib`]
/// for a packed file of version 2.
fn method(hpi: &Hpi, file: FileId) -> Result<Method> {
    Ok(match hpi.record(file)?.packing {
        Packing::Stored => Method::Stored,
        Packing::Run { .. } => Method::Zlib,
        // In some archives the record differs from the chunks.
        Packing::Table { compression } => {
            let of_chunks = undamaged(hpi.method(file))?;
            let mut methods = of_chunks
                .into_iter()
                .chain(Method::from_number(compression));
            let packed = methods.find(|&method| method != Method::Stored);
            packed.unwrap_or(Method::Zlib)
        }
    })
}

/// Packs files for an archive.
struct Packer<'a> {
    version: u32,
    storage: Storage<'a>,
    /// Number of bytes in the storage.
    stored: u64,
    chunks: &'a mut dyn ChunkPacker,
}

impl Packer<'_> {
    /// Returns a file as the archive stores it.
    fn pack(&mut self, plain: NewFile, method: Method) -> Result<(NewFile, PackedFile)> {
        let start = self.stored;
        let (mut table, mut sum) = (Vec::new(), FileSum::default());
        let (mut offset, mut begun) = (0, 0);
        while offset < plain.len() || begun > 0 {
            if offset < plain.len() && begun < self.chunks.capacity() {
                let length = (plain.len() - offset).min(CHUNK_SIZE as u64);
                let piece = read_vec(&plain, offset, length, "new file")?;
                sum.update(&piece);
                let is_scrambled = self.version == VERSION_1;
                let job = ChunkJob::new(piece, method, is_scrambled);
                self.chunks.begin(job);
                offset += length;
                begun += 1;
                continue;
            }
            let chunk = self.chunks.finish();
            begun -= 1;
            table.extend((chunk.len() as u32).to_le_bytes());
            let written = self.storage.append.write_all(&chunk);
            written.map_err(|error| Error::of_output(&error))?;
            self.stored += chunk.len() as u64;
        }
        let mut bytes = match self.version {
            VERSION_1 => Composed::of_bytes(table),
            _ => Composed::default(),
        };
        bytes.append(&self.storage.bytes, start..self.stored);
        let bytes = NewFile::new(plain.path(), Arc::new(bytes));
        let packed = PackedFile {
            plain,
            method,
            checksum: sum.value(),
        };
        Ok((bytes, packed))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::hpi::FORMAT;
    use crate::hpi::cipher::Cipher;
    use crate::hpi::write::{Serial, v1, v2};
    use crate::listing::{open, read};
    use crate::write::{Directory, File, Node, Source};

    /// Returns an archive of the files `a` and `b`.
    fn archive(version: u32) -> Vec<u8> {
        let entries = [("a", vec![1; 9]), ("b", vec![2; 200_000])];
        let entries = entries.map(|(name, bytes)| {
            let file = File {
                source: Source::Bytes(bytes),
                modified: 0,
            };
            (name.to_owned(), Node::File(file))
        });
        let root = Directory {
            entries: entries.into(),
        };
        let mut out = Cursor::new(Vec::new());
        let packer = &mut Serial::default();
        if version == VERSION_1 {
            let options = v1::Options {
                method: Method::Lz77,
                key: 0x7D,
            };
            v1::write(&root, options, &mut out, packer, &mut |_| {}).unwrap();
        } else {
            let options = v2::Options { packed: true };
            v2::write(&root, options, &mut out, packer, &mut |_| {}).unwrap();
        }
        out.into_inner()
    }

    /// Replaces files of an archive by their numbers.
    fn replaced(archive: Vec<u8>, files: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let archive = Archive::read(Arc::new(archive)).unwrap();
        let files = files.iter().map(|(file, bytes)| {
            let new = NewFile::new("new", Arc::new(bytes.clone()));
            (FileId(*file), new)
        });
        let storage = Arc::new(tempfile::tempfile().unwrap());
        let storage = Storage {
            bytes: storage.clone(),
            append: &mut &*storage,
        };
        let packer = &mut Serial::default();
        let report = &mut Report::default();
        let replaced = archive.replace(files.collect(), storage, packer, report);
        let replaced = replaced.unwrap();
        let mut bytes = vec![0; replaced.len() as usize];
        replaced.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn new_files_are_packed_as_the_old_ones() {
        for version in [VERSION_1, VERSION_2] {
            let files = [(0, vec![3; 70_000]), (1, vec![4; 5])];
            let after = replaced(archive(version), &files);
            let (listing, volume) = open(&FORMAT, "test.hpi", after, None).unwrap();
            assert_eq!(listing.paths(), ["a", "b"]);
            for ((_, entry), (_, new)) in listing.files().zip(&files) {
                assert_eq!(read(&*volume, entry).unwrap(), *new);
                let value = |name| volume.xattr(entry.file, name).unwrap().unwrap();
                let method = ["lz77", "zlib"][usize::from(version == VERSION_2)];
                assert_eq!(value("user.hpi.method"), method);
                if version == VERSION_2 {
                    assert_eq!(value("user.hpi.checksum_ok"), "true");
                }
            }
        }
    }

    #[test]
    fn an_archive_that_is_changed_back_has_its_old_length() {
        for version in [VERSION_1, VERSION_2] {
            let once = replaced(archive(version), &[(0, vec![5; 7])]);
            let twice = replaced(once.clone(), &[(0, vec![6; 7])]);
            assert_ne!(twice, once);
            assert_eq!(replaced(twice, &[(0, vec![5; 7])]), once);
        }
    }

    #[test]
    fn a_file_with_the_record_of_another_one_is_replaced_alone() {
        let mut shared = archive(VERSION_1);
        let cipher = Cipher::from_header(0x7D);
        cipher.apply(20, &mut shared[20..]);
        // The offsets of the records of `a` and `b`.
        shared.copy_within(32..36, 41);
        cipher.apply(20, &mut shared[20..]);
        let after = replaced(shared, &[(1, vec![5; 7])]);
        let (listing, volume) = open(&FORMAT, "test.hpi", after, None).unwrap();
        let contents = listing.files().map(|(_, entry)| read(&*volume, entry));
        let contents: Vec<_> = contents.map(Result::unwrap).collect();
        assert_eq!(contents, [vec![1; 9], vec![5; 7]]);
    }
}
