//! A sink for the unit tests of the formats, which records the declared entries
//! as paths.

use crate::format::{Format, Input, Options};
use crate::io::{Error, ReadAt, Result};
use crate::volume::{Entry, Name, NodeId, Sink, Volume};
use std::sync::Arc;

/// The declared entries, in order.
#[derive(Default)]
pub(super) struct Listing {
    /// Path of each node except for the root, which is node 0; directories end
    /// in a slash.
    nodes: Vec<(String, Option<Entry>)>,
}

impl Listing {
    /// Returns the paths; those of directories end in a slash.
    pub(super) fn paths(&self) -> Vec<String> {
        self.nodes.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Returns the files with their entries.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, Entry)> {
        let nodes = self.nodes.iter();
        nodes.filter_map(|(path, entry)| Some((path.as_str(), (*entry)?)))
    }

    fn add(&mut self, parent: NodeId, name: &Name<'_>, entry: Option<Entry>) -> NodeId {
        let parent = parent.0.checked_sub(1);
        let parent = parent.map_or("", |parent| &self.nodes[parent as usize].0);
        let slash = if entry.is_some() { "" } else { "/" };
        self.nodes
            .push((format!("{parent}{}{slash}", name.text), entry));
        NodeId(self.nodes.len() as u32)
    }
}

impl Sink for Listing {
    fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, _modified: Option<i64>) -> Result<NodeId> {
        Ok(self.add(parent, &name, None))
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId> {
        Ok(self.add(parent, &name, Some(entry)))
    }

    fn link(&mut self, _parent: NodeId, _name: Name<'_>, _file: NodeId) -> Result<()> {
        Err(unexpected())
    }

    fn symlink(&mut self, _parent: NodeId, _name: Name<'_>, _target: NodeId) -> Result<()> {
        Err(unexpected())
    }
}

fn unexpected() -> Error {
    Error::Unsupported("links are not expected here".to_owned())
}

/// Another file beside a source, by its name.
pub(super) type Beside = Option<(&'static str, Vec<u8>)>;

/// Opens the file `name` with `format`, if the format detects it.
pub(super) fn open(
    format: &Format,
    name: &str,
    bytes: Vec<u8>,
    beside: Beside,
) -> Result<(Listing, Box<dyn Volume>)> {
    let beside = beside.map(|(name, bytes)| (name, Arc::new(bytes) as Arc<dyn ReadAt>));
    let partner = |wanted: &str| {
        let (name, source) = beside.as_ref()?;
        name.eq_ignore_ascii_case(wanted).then(|| source.clone())
    };
    let input = Input {
        source: Arc::new(bytes),
        partner: &partner,
        tracks: &[],
        options: Options {
            name: name.to_owned(),
            ..Options::default()
        },
    };
    if !(format.matches)(&input)? {
        return Err(Error::UnknownFormat);
    }
    let mut listing = Listing::default();
    let volume = (format.open)(input, &mut listing)?;
    Ok((listing, volume))
}

/// Returns all bytes of a file.
pub(super) fn read(volume: &dyn Volume, entry: Entry) -> Result<Vec<u8>> {
    use crate::volume::Content;
    let size = entry.size.unwrap_or(0);
    let mut bytes = vec![0; size as usize];
    match volume.content(entry.file)? {
        Content::Extent { source, offset } => source
            .read_exact_at(&mut bytes, offset)
            .map_err(|cause| crate::io::read_error(offset, size, cause))?,
        Content::Stream(streams) => streams.decoder(entry.file)?.read(&mut bytes)?,
        Content::Part { .. } | Content::Chunks(_) | Content::Generated(_) => {
            return Err(unexpected());
        }
    }
    Ok(bytes)
}
