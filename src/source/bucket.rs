//! Folders of a bucket as volumes, listed one directory at a time.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::source::remote::{ListedFile, RemoteEntry, RemoteFile, RemoteFolder};
use hpimount_containers::io::{Error, Result};
use hpimount_containers::volume::{
    Content, Entry, FileId, LiveFolder, MAX_ENTRIES, Mountable, Name, Sink, Version, Volume,
    no_such_file,
};

/// A folder of a bucket as it was when it was listed.
pub struct BucketFolder {
    folder: RemoteFolder,
    /// A [`FileId`] is an index here.
    entries: Vec<RemoteEntry>,
}

impl BucketFolder {
    /// Lists a folder; its subfolders are listed on demand. Entries are sorted
    /// by name.
    ///
    /// # Errors
    /// Returns [`Error::Listing`] if the server cannot list it.
    pub fn open(folder: RemoteFolder, sink: &mut dyn Sink) -> Result<Self> {
        let mut entries = folder.list(MAX_ENTRIES).map_err(Error::listing)?;
        entries.sort_by(|a, b| name_of(a).cmp(name_of(b)));
        let root = sink.root();
        for (number, entry) in entries.iter().enumerate() {
            let file = FileId(number as u32);
            match entry {
                RemoteEntry::Folder(name) => {
                    sink.deferred_dir(root, Name::utf_8(name), file, None)?;
                }
                RemoteEntry::File(listed) => {
                    let entry = Entry {
                        file,
                        size: Some(listed.len),
                        modified: Some(listed.modified),
                        asset: None,
                    };
                    sink.file(root, Name::utf_8(&listed.name), entry)?;
                }
            }
        }
        Ok(Self { folder, entries })
    }

    fn file(&self, file: FileId) -> Result<&ListedFile> {
        match self.entries.get(file.0 as usize) {
            Some(RemoteEntry::File(listed)) => Ok(listed),
            _ => Err(no_such_file(file)),
        }
    }
}

fn name_of(entry: &RemoteEntry) -> &str {
    match entry {
        RemoteEntry::Folder(name) => name,
        RemoteEntry::File(listed) => &listed.name,
    }
}

/// Hashes what tells versions of objects apart.
const HASHER: BuildHasherDefault<DefaultHasher> = BuildHasherDefault::new();

impl Volume for BucketFolder {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        Ok(Content::Extent {
            source: self.file(file)?.source(),
            offset: 0,
        })
    }
}

impl Mountable for BucketFolder {
    fn memory(&self) -> usize {
        // A name is stored in the entry and at the end of its key.
        let names = self.entries.iter().map(|entry| 2 * name_of(entry).len());
        let key = self.folder.shown().len();
        size_of::<Self>()
            + self.entries.len() * (size_of::<RemoteEntry>() + size_of::<RemoteFile>() + key)
            + names.sum::<usize>()
    }

    fn live(&self) -> Option<&dyn LiveFolder> {
        Some(self)
    }
}

impl LiveFolder for BucketFolder {
    fn list(&self, directory: FileId, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
        match self.entries.get(directory.0 as usize) {
            Some(RemoteEntry::Folder(name)) => {
                Ok(Box::new(Self::open(self.folder.subfolder(name), sink)?))
            }
            _ => Err(no_such_file(directory)),
        }
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn version(&self, file: FileId) -> Result<Version> {
        let file = self.file(file)?;
        Ok(Version {
            stamp: HASHER.hash_one(file.stamp()),
            len: Some(file.len),
        })
    }

    fn fingerprint(&self) -> u64 {
        let files = self.entries.iter().map(|entry| match entry {
            RemoteEntry::Folder(_) => 0,
            RemoteEntry::File(listed) => HASHER.hash_one((listed.stamp(), listed.len)),
        });
        HASHER.hash_one(files.collect::<Vec<_>>())
    }
}
