//! The entries of a volume as paths, and the bytes of a file, for programs that
//! do not mount the volume.

use std::io::{Read, Write, sink};

use crate::io::{Error, Result, read_error};
use crate::text::file_name;
use crate::volume::{Chunk, Chunks, Content, Entry, FileId, Name, NodeId, Sink, Streams, Volume};

/// Number of bytes that are copied at a time.
const PIECE: usize = 64 << 10;

/// Maximum size in bytes, packed and decoded, of a stream that is decoded at once.
const MAX_AT_ONCE: u64 = 1 << 20;

/// An entry of a [`Listing`].
#[derive(Debug, Clone)]
pub struct ListingEntry {
    path: String,
    kind: Kind,
}

/// The kind of an entry.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file, or another name of one.
    File(Entry),
    /// A symbolic link to this path.
    Link(String),
}

impl ListingEntry {
    /// Returns its path from the root, with slashes between names.
    ///
    /// The names are valid on Linux: none is `..` or contains a slash, so that it is safe
    /// to extract.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns its kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns whether it is a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self.kind, Kind::Directory)
    }

    /// Returns the file that it is.
    ///
    /// # Errors
    /// Returns an error if it is a directory or a symbolic link.
    pub fn file(&self) -> Result<Entry> {
        match self.kind {
            Kind::File(entry) => Ok(entry),
            _ => Err(Error::Unsupported(format!("{} is no file", self.path))),
        }
    }
}

/// Returns the files among entries with their paths.
pub(crate) fn files(entries: &[ListingEntry]) -> impl Iterator<Item = (&str, Entry)> {
    let files = entries.iter();
    files.filter_map(|entry| match entry.kind {
        Kind::File(file) => Some((entry.path(), file)),
        _ => None,
    })
}

/// A sink that records the entries of a volume by their paths, in the volume's order.
/// Several entries may have the same path.
#[derive(Debug, Default)]
pub struct Listing {
    /// The nodes except for the root, which is node 0.
    nodes: Vec<ListingEntry>,
}

impl Listing {
    /// Returns the paths. The path of a directory ends in a slash.
    pub fn paths(&self) -> Vec<String> {
        let nodes = self.nodes.iter();
        let path = |node: &ListingEntry| match node.is_directory() {
            true => format!("{}/", node.path),
            false => node.path.clone(),
        };
        nodes.map(path).collect()
    }

    /// Returns the files with their paths. A file with several names occurs
    /// several times.
    pub fn files(&self) -> impl Iterator<Item = (&str, Entry)> {
        files(&self.nodes)
    }

    /// Returns the entries.
    pub fn into_entries(self) -> Vec<ListingEntry> {
        self.nodes
    }

    fn add(&mut self, parent: NodeId, name: Name<'_>, kind: Kind) -> NodeId {
        let name = file_name(name);
        let parent = parent.0.checked_sub(1);
        let path = match parent.and_then(|parent| self.nodes.get(parent as usize)) {
            Some(parent) => format!("{}/{name}", parent.path),
            None => name.into_owned(),
        };
        self.nodes.push(ListingEntry { path, kind });
        NodeId(self.nodes.len() as u32)
    }
}

impl Sink for Listing {
    fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, _modified: Option<i64>) -> Result<NodeId> {
        Ok(self.add(parent, name, Kind::Directory))
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId> {
        Ok(self.add(parent, name, Kind::File(entry)))
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> Result<()> {
        let file = file.0.checked_sub(1);
        if let Some(file) = file.and_then(|file| self.nodes.get(file as usize)) {
            let kind = file.kind.clone();
            self.add(parent, name, kind);
        }
        Ok(())
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, asset: Entry) -> Result<()> {
        self.add(parent, name, Kind::File(asset));
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
        self.add(parent, name, Kind::Link(target));
        Ok(())
    }
}

/// Decodes a file of `volume`, and compares it with all checksums that the archive has of it.
///
/// # Errors
/// Returns an error if the file cannot be read or is damaged.
pub fn check(volume: &dyn Volume, entry: Entry) -> Result<()> {
    let sum = volume.assets().and_then(|it| it.recorded_sum(entry.file));
    let Some(mut sum) = sum else {
        return copy(volume, entry, &mut sink());
    };
    copy(volume, entry, &mut sum)?;
    sum.mismatch()
        .map_or(Ok(()), |mismatch| Err(Error::Unsupported(mismatch)))
}

/// Writes the bytes of a file of `volume` to `out`, without holding them in
/// memory as a whole.
///
/// # Errors
/// Returns an error if the file cannot be read or decoded, or if `out` fails.
/// The bytes before the error have been written.
pub fn copy(volume: &dyn Volume, entry: Entry, out: &mut dyn Write) -> Result<()> {
    let content = volume.content(entry.file)?;
    let size = match (&content, entry.size) {
        (_, Some(size)) => size,
        (Content::Stream(streams), None) => streams.size(entry.file, &mut |_, _| ())?,
        (_, None) => 0,
    };
    let mut piece = vec![0; size.min(PIECE as u64) as usize];
    match content {
        Content::Extent { source, offset } => in_pieces(&mut piece, size, out, |at, piece| {
            let offset = offset.saturating_add(at);
            let read = source.read_exact_at(piece, offset);
            read.map_err(|cause| read_error(offset, piece.len() as u64, cause))
        }),
        Content::Chunks(chunks) => {
            let table = chunks.chunk_table(entry.file)?;
            let mut position = 0;
            while position < size {
                let chunk = table.at(position)?;
                copy_chunk(chunks, entry.file, chunk, &mut piece, out)?;
                position += u64::from(chunk.length);
            }
            Ok(())
        }
        Content::Stream(streams) => copy_stream(streams, entry.file, size, &mut piece, out),
        Content::Part { whole, offset } => {
            let Content::Stream(streams) = volume.content(whole)? else {
                return Err(Error::Unsupported("is a part of no stream".to_owned()));
            };
            copy_part(streams, whole, offset, size, out)?;
            // Now it is known whether its checksum is right.
            volume.content(entry.file).map(drop)
        }
        Content::Generated(generated) => generated.generate(entry.file, out),
    }
}

/// Writes the bytes of a chunk; a short one is decoded at once, which is faster.
fn copy_chunk(
    chunks: &dyn Chunks,
    file: FileId,
    chunk: Chunk,
    piece: &mut [u8],
    out: &mut dyn Write,
) -> Result<()> {
    if chunk.length as usize <= PIECE {
        let decoded = chunks.decode_chunk(file, chunk, chunk.length)?;
        return write(out, &decoded);
    }
    let mut decoded = chunks.open_chunk(file, chunk)?;
    in_pieces(piece, chunk.length.into(), out, |_, piece| {
        let read = decoded.read_exact(piece);
        read.map_err(|cause| read_error(chunk.offset, chunk.stored.into(), cause))
    })
}

/// Writes the bytes of a stream; a short one is decoded at once, if that is
/// faster.
fn copy_stream(
    streams: &dyn Streams,
    file: FileId,
    size: u64,
    piece: &mut [u8],
    out: &mut dyn Write,
) -> Result<()> {
    let whole = streams.needs(file).whole;
    let whole = whole.filter(|whole| whole.packed.max(whole.size) <= MAX_AT_ONCE);
    if let Some(decoded) = whole.and_then(|_| streams.decode_whole(file)) {
        return write(out, &decoded);
    }
    let mut decoder = streams.decoder(file)?;
    in_pieces(piece, size, out, |_, piece| decoder.read(piece))
}

fn write(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    let written = out.write_all(bytes);
    written.map_err(|error| Error::of_output(&error))
}

/// Writes `size` bytes of a stream from `offset` on.
fn copy_part(
    streams: &dyn Streams,
    whole: FileId,
    offset: u64,
    size: u64,
    out: &mut dyn Write,
) -> Result<()> {
    let mut decoder = streams.decoder(whole)?;
    let mut piece = vec![0; PIECE];
    in_pieces(&mut piece, offset, &mut std::io::sink(), |_, piece| {
        decoder.read(piece)
    })?;
    in_pieces(&mut piece, size, out, |_, piece| decoder.read(piece))
}

/// Writes `size` bytes to `out`. `read` fills a piece at a position.
fn in_pieces(
    buffer: &mut [u8],
    size: u64,
    out: &mut dyn Write,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let mut position = 0;
    while position < size {
        let length = (size - position).min(buffer.len() as u64) as usize;
        let piece = &mut buffer[..length];
        read(position, piece)?;
        write(out, piece)?;
        position += length as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_do_not_lead_out_of_the_volume() {
        let mut listing = Listing::default();
        let entry = Entry {
            file: FileId(0),
            size: Some(0),
            modified: None,
            asset: None,
        };
        let root = listing.root();
        let parent = listing.dir(root, Name::utf_8(".."), None).unwrap();
        let file = listing.file(parent, Name::utf_8("a/b"), entry).unwrap();
        listing.link(root, Name::utf_8("link"), file).unwrap();
        for path in listing.paths() {
            assert!(path.split('/').all(|part| part != ".." && part != "b"));
        }
        assert_eq!(listing.files().count(), 2);
    }
}
