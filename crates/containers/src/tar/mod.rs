//! Tar archives: plain files between headers. See `docs/formats/tar.md`.

mod header;
mod pax;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;

pub(super) use self::header::{BLOCK, begins};
use crate::format::{Format, Input, Options};
use crate::io::{Error, ReadAt, Result};
use crate::paths::{Span, record};
use crate::volume::{Content, FileId, Mountable, Sink, Volume};

/// The format of tar archives.
pub const FORMAT: Format = Format {
    name: "tar",
    extensions: &["tar"],
    matches: |input| Ok(begins(&input.bytes(0, BLOCK as u64)?)),
    open,
    ..Format::PLAIN
};

/// A tar archive.
struct Tar {
    source: Arc<dyn ReadAt>,
    members: Vec<Span>,
    /// The files with holes, of which only the data is stored.
    sparse: HashSet<FileId>,
    options: Options,
    warnings: Vec<String>,
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let found = walk::read(&input, sink)?;
    Ok(Box::new(Tar {
        members: found.members,
        sparse: found.sparse,
        warnings: found.warnings.texts(),
        source: input.source,
        options: input.options,
    }))
}

impl Volume for Tar {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        let span = record(&self.members, file)?;
        if self.sparse.contains(&file) {
            let problem = "is a file with holes (sparse), which is not supported; \
                           `tar -x` unpacks it";
            return Err(Error::Unsupported(problem.to_owned()));
        }
        span.content(&*self.source, self.options.force)
    }

    fn info(&self) -> serde_json::Value {
        json!({ "files": self.members.len() })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Tar {
    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.members.capacity() * size_of::<Span>()
            + self.sparse.capacity() * size_of::<(FileId, u64)>()
    }
}
