//! Containers opened by the library, and their contents.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hpimount_containers::format::{Format, Input, Options};
use hpimount_containers::formats::detect;
use hpimount_containers::io::{Error, ReadAt, Result};
use hpimount_containers::volume::{Content, Decoder, Entry, FileId, Name, NodeId, Sink, Volume};
use sha2::{Digest, Sha256};

/// Bytes that are decoded at a time.
const PIECE: u64 = 64 << 10;

/// A sink that collects the paths of directories and files.
#[derive(Default)]
pub struct Paths {
    /// Paths of the nodes except for the root, which is node 0.
    pub nodes: Vec<(String, Option<Entry>)>,
    /// Paths of other names of files, and the paths of the files.
    pub links: Vec<(String, String)>,
    /// Paths of symbolic links, and their targets.
    pub text_links: Vec<(String, String)>,
}

impl Paths {
    fn path(&self, parent: NodeId, name: &Name<'_>) -> String {
        match parent.0.checked_sub(1) {
            Some(parent) => format!("{}/{}", self.nodes[parent as usize].0, name.text),
            None => name.text.to_string(),
        }
    }

    fn add(&mut self, parent: NodeId, name: &Name<'_>, entry: Option<Entry>) -> NodeId {
        self.nodes.push((self.path(parent, name), entry));
        NodeId(self.nodes.len() as u32)
    }
}

impl Sink for Paths {
    fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, _modified: Option<i64>) -> Result<NodeId> {
        Ok(self.add(parent, &name, None))
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId> {
        Ok(self.add(parent, &name, Some(entry)))
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> Result<()> {
        let file = self.nodes[file.0 as usize - 1].0.clone();
        self.links.push((self.path(parent, &name), file));
        Ok(())
    }

    fn symlink(&mut self, _parent: NodeId, _name: Name<'_>, _asset: Entry) -> Result<()> {
        Ok(())
    }

    fn text_link(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        text: &[u8],
        _modified: Option<i64>,
    ) -> Result<()> {
        let target = String::from_utf8_lossy(text).into_owned();
        self.text_links.push((self.path(parent, &name), target));
        Ok(())
    }
}

/// An opened container.
pub struct Opened {
    pub format: &'static Format,
    pub paths: Paths,
    pub volume: Box<dyn Volume>,
}

/// Opens the bytes of a file called `name`; `beside` returns the files beside
/// it.
pub fn open(
    name: &str,
    bytes: Vec<u8>,
    beside: &dyn Fn(&str) -> Option<Vec<u8>>,
    verify: bool,
) -> Result<Opened> {
    let partner = |name: &str| beside(name).map(|bytes| Arc::new(bytes) as Arc<dyn ReadAt>);
    let input = Input {
        source: Arc::new(bytes),
        partner: &partner,
        tracks: &[],
        options: Options {
            name: name.to_owned(),
            verify,
            ..Options::default()
        },
    };
    let format = detect(&input)?;
    let mut paths = Paths::default();
    let volume = (format.open)(input, &mut paths)?;
    Ok(Opened {
        format,
        paths,
        volume,
    })
}

/// Opens a file on disk, and verifies all checksums.
pub fn open_path(path: &Path) -> Result<Opened> {
    let beside = |name: &str| {
        let mut entries = fs::read_dir(path.parent()?).ok()?;
        let found = entries.find_map(|entry| {
            let entry = entry.ok()?;
            let is_it = entry.file_name().to_str()?.eq_ignore_ascii_case(name);
            is_it.then(|| entry.path())
        });
        fs::read(found?).ok()
    };
    let name = path.file_name().unwrap().to_str().unwrap();
    open(name, fs::read(path).unwrap(), &beside, true)
}

impl Opened {
    /// Returns the files by their paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, Entry)> {
        let nodes = self.paths.nodes.iter();
        nodes.filter_map(|(path, entry)| Some((path.as_str(), (*entry)?)))
    }

    /// Returns the paths of the directories.
    pub fn directories(&self) -> Vec<String> {
        let nodes = self.paths.nodes.iter();
        let directories = nodes.filter(|(_, entry)| entry.is_none());
        directories.map(|(path, _)| path.clone()).collect()
    }

    /// Calls `take` with the bytes of a file, a piece at a time.
    pub fn read(&self, entry: Entry, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let size = entry.size.unwrap();
        let mut piece = vec![0; PIECE as usize];
        let mut decoder = None;
        let mut position = 0;
        while position < size {
            let length = (size - position).min(PIECE) as usize;
            match self.volume.content(entry.file)? {
                Content::Extent { source, offset } => source
                    .read_exact_at(&mut piece[..length], offset + position)
                    .map_err(|cause| Error::Read {
                        offset: offset + position,
                        length: length as u64,
                        cause: Arc::new(cause),
                    })?,
                Content::Stream(streams) => {
                    if decoder.is_none() {
                        decoder = Some(streams.decoder(entry.file)?);
                    }
                    decoder.as_mut().unwrap().read(&mut piece[..length])?;
                }
                Content::Part { whole, offset } => {
                    if decoder.is_none() {
                        decoder = Some(self.decoder_at(whole, offset)?);
                    }
                    decoder.as_mut().unwrap().read(&mut piece[..length])?;
                }
                Content::Chunks(_) | Content::Generated(_) => {
                    unreachable!("{} has neither", self.format.name)
                }
            }
            take(&piece[..length]);
            position += length as u64;
        }
        self.volume.content(entry.file).map(drop)
    }

    /// Returns a decoder of a file of the volume, from `offset` on.
    fn decoder_at(&self, whole: FileId, offset: u64) -> Result<Box<dyn Decoder>> {
        let Content::Stream(streams) = self.volume.content(whole)? else {
            unreachable!("the whole is a stream");
        };
        let mut decoder = streams.decoder(whole)?;
        let mut left = offset;
        while left > 0 {
            let length = left.min(PIECE);
            decoder.read(&mut vec![0; length as usize])?;
            left -= length;
        }
        Ok(decoder)
    }

    /// Returns all bytes of a file.
    pub fn bytes(&self, entry: Entry) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(entry, &mut |piece| bytes.extend_from_slice(piece))?;
        Ok(bytes)
    }

    /// Returns the SHA-256 of a file in lower-case hexadecimal digits.
    pub fn sha256(&self, entry: Entry) -> Result<String> {
        let mut hasher = Sha256::new();
        self.read(entry, &mut |piece| hasher.update(piece))?;
        let digest = hasher.finalize();
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
