//! A view whose files are the same for every asset of a format.

use super::{View, ViewFile};

/// A file by its name, and how it is made of the model.
pub(super) type Render<M> = (&'static str, fn(&M) -> Vec<u8>);

/// A model and its files, none of them in a folder.
pub(super) struct FixedView<M: 'static> {
    /// The parsed asset.
    pub(super) model: M,
    /// The files, in their order.
    pub(super) files: &'static [Render<M>],
    /// Memory that a model takes.
    pub(super) memory: fn(&M) -> usize,
}

impl<M: Send + Sync> View for FixedView<M> {
    fn files(&self) -> Vec<ViewFile> {
        let file = |&(name, _): &Render<M>| ViewFile {
            folder: None,
            name: name.into(),
        };
        self.files.iter().map(file).collect()
    }

    fn render(&self, index: usize) -> Vec<u8> {
        let file = self.files.get(index);
        file.map_or_else(Vec::new, |(_, render)| render(&self.model))
    }

    fn memory(&self) -> usize {
        size_of_val(self) + (self.memory)(&self.model)
    }
}
