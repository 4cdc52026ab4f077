//! A view as a list of files, each with its renderer.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

use get_size2::GetSize;

use hpimount_containers::io::Bounded;
use hpimount_record::Value;

use super::node::Node;
use super::page::Rows;
use super::{Alone, AssetContext, View, ViewFile};

/// Maximum length of an `info.json` that is read back.
const MAX_INFO: usize = 16 << 20;

/// Renders a file from the whole model.
pub type Whole<M> = fn(&M, &mut dyn Write) -> io::Result<()>;

/// Renders a file from the part of the model with this number.
pub type Part<M> = fn(&M, usize, &mut dyn Write) -> io::Result<()>;

/// Renders a file from the part of the model with this number and from other
/// files of the mount.
pub type InContext<M> = fn(&M, usize, &dyn AssetContext, &mut dyn Write) -> io::Result<()>;

/// How a file is rendered.
pub enum Render<M> {
    /// From the whole model.
    Whole(Whole<M>),
    /// From the part of the model with this number.
    Part(Part<M>, usize),
    /// Like [`Render::Part`], using other files of the mount.
    InContext(InContext<M>, usize),
}

impl<M> Render<M> {
    /// Writes the file.
    pub(super) fn write(
        &self,
        model: &M,
        context: &dyn AssetContext,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Render::Whole(render) => render(model, out),
            Render::Part(render, part) => render(model, *part, out),
            Render::InContext(render, part) => render(model, *part, context, out),
        }
    }
}

/// A file and its renderer.
pub struct Listed<M> {
    pub(super) file: ViewFile,
    pub(super) render: Render<M>,
    pub(super) size: Option<u64>,
}

impl<M> Listed<M> {
    /// Creates a file in `X.meta` itself, rendered from the whole model.
    pub fn whole(name: &str, render: Whole<M>) -> Self {
        Self::new(None, name.into(), Render::Whole(render))
    }

    /// Creates a file, in a folder if one is given.
    pub fn new(folder: Option<&'static str>, name: String, render: Render<M>) -> Self {
        Self::placed(folder.map(Cow::Borrowed), name, render)
    }

    /// Creates a file in a folder with a name from the asset.
    pub fn inside(folder: String, name: String, render: Render<M>) -> Self {
        Self::placed(Some(Cow::Owned(folder)), name, render)
    }

    fn placed(folder: Option<Cow<'static, str>>, name: String, render: Render<M>) -> Self {
        Self {
            file: ViewFile { folder, name },
            render,
            size: None,
        }
    }

    /// Returns the same file with a known size in bytes.
    pub fn sized(self, size: u64) -> Self {
        Self {
            size: Some(size),
            ..self
        }
    }
}

/// Returns the files in `X.meta` itself with these names, each rendered from
/// the whole model.
pub fn whole_files<M>(files: &[(&'static str, Whole<M>)]) -> Vec<Listed<M>> {
    let files = files.iter();
    files
        .map(|&(name, render)| Listed::whole(name, render))
        .collect()
}

/// A model and its files.
pub struct ListedView<M: 'static> {
    /// The parsed asset.
    pub model: M,
    /// The files, in order.
    pub files: Vec<Listed<M>>,
}

/// Size of the buffer between a rendering and its destination, in bytes.
const BUFFER_SIZE: usize = 32 << 10;

/// Renders a file into a buffer before `out`.
pub(super) fn buffered(
    out: &mut dyn Write,
    render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = BufWriter::with_capacity(BUFFER_SIZE, out);
    let result = render(&mut buffer).and_then(|()| buffer.flush());
    // On drop, the buffer would write once more after an error.
    let (_, _unwritten) = buffer.into_parts();
    result
}

impl<M: GetSize + Send + Sync> View for ListedView<M> {
    fn files(&self) -> Vec<ViewFile> {
        self.files
            .iter()
            .map(|listed| listed.file.clone())
            .collect()
    }

    fn render(
        &self,
        index: usize,
        context: &dyn AssetContext,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let listed = self.files.get(index).ok_or(io::ErrorKind::NotFound)?;
        buffered(out, |out| listed.render.write(&self.model, context, out))
    }

    fn size(&self, index: usize) -> Option<u64> {
        self.files.get(index)?.size
    }

    fn position(&self, wanted: &dyn Fn(&ViewFile) -> bool) -> Option<usize> {
        self.files.iter().position(|listed| wanted(&listed.file))
    }

    fn info(&self) -> Node<'_> {
        let mut info = Bounded::new(MAX_INFO);
        let file = self
            .files
            .iter()
            .find(|listed| listed.file.name == "info.json");
        let rendered = file.map(|listed| listed.render.write(&self.model, &Alone, &mut info));
        let value = match rendered {
            Some(Ok(())) => serde_json::from_slice::<serde_json::Value>(&info.into_bytes()).ok(),
            _ => None,
        };
        Node::Value(value.map_or(Value::Null, Value::from))
    }

    fn warnings(&self) -> Vec<String> {
        match self.info().get("warnings") {
            Some(Value::List(texts)) => texts.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    fn table(&self, index: usize) -> Option<Rows<'_>> {
        let _ = index;
        None
    }

    fn memory(&self) -> usize {
        let names = self.files.iter().map(|listed| listed.file.heap_size());
        size_of_val(self)
            + self.files.capacity() * size_of::<Listed<M>>()
            + names.sum::<usize>()
            + self.model.get_heap_size()
    }
}
