//! A view as a list of files, each with how it is made of the model.

use super::{View, ViewFile};

/// How a file is made of the model.
pub(super) enum Render<M> {
    /// Of the model as a whole.
    Whole(fn(&M) -> Vec<u8>),
    /// Of the part of it with this number.
    Part(fn(&M, usize) -> Vec<u8>, usize),
}

/// A file, and how it is made.
pub(super) struct Listed<M> {
    file: ViewFile,
    render: Render<M>,
}

impl<M> Listed<M> {
    /// A file in `X.meta` itself, made of the whole model.
    pub(super) fn whole(name: &str, render: fn(&M) -> Vec<u8>) -> Self {
        Self::new(None, name.into(), Render::Whole(render))
    }

    /// A file in a folder, if one is given.
    pub(super) fn new(folder: Option<&'static str>, name: String, render: Render<M>) -> Self {
        Self {
            file: ViewFile { folder, name },
            render,
        }
    }
}

/// A file by its name, and how it is made of the model as a whole.
pub(super) type WholeFile<M> = (&'static str, fn(&M) -> Vec<u8>);

/// Files in `X.meta` itself, each made of the whole model.
pub(super) fn whole_files<M>(files: &[WholeFile<M>]) -> Vec<Listed<M>> {
    let files = files.iter();
    files
        .map(|&(name, render)| Listed::whole(name, render))
        .collect()
}

/// A model and its files.
pub(super) struct ListedView<M: 'static> {
    /// The parsed asset.
    pub(super) model: M,
    /// The files, in their order.
    pub(super) files: Vec<Listed<M>>,
    /// Memory that a model takes.
    pub(super) memory: fn(&M) -> usize,
}

impl<M: Send + Sync> View for ListedView<M> {
    fn files(&self) -> Vec<ViewFile> {
        self.files
            .iter()
            .map(|listed| listed.file.clone())
            .collect()
    }

    fn render(&self, index: usize) -> Vec<u8> {
        match self.files.get(index).map(|listed| &listed.render) {
            Some(Render::Whole(render)) => render(&self.model),
            Some(Render::Part(render, part)) => render(&self.model, *part),
            None => Vec::new(),
        }
    }

    fn memory(&self) -> usize {
        let names = self.files.iter().map(|listed| listed.file.name.capacity());
        size_of_val(self)
            + size_of_val(&self.files[..])
            + names.sum::<usize>()
            + (self.memory)(&self.model)
    }
}
