//! Sources as the files of a volume.

use std::sync::Arc;

use super::{Content, FileId, Mountable, Volume, no_such_file};
use crate::io::{ReadAt, Result};

/// Sources as the files of a volume: a [`FileId`] is an index here.
pub struct Sources(pub Vec<Arc<dyn ReadAt>>);

impl Volume for Sources {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        let source = self.0.get(file.0 as usize);
        Ok(Content::Extent {
            source: &**source.ok_or_else(|| no_such_file(file))?,
            offset: 0,
        })
    }

    fn source_of(&self, file: FileId) -> Option<Arc<dyn ReadAt>> {
        self.0.get(file.0 as usize).cloned()
    }
}

impl Mountable for Sources {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.0.capacity() * size_of::<Arc<dyn ReadAt>>()
    }
}
