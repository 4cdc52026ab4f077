//! A page as the view of its model.

use std::io::{self, BufWriter, Write};

use get_size2::GetSize;
use hpimount_containers::io::Error;

use super::{Content, ERROR_FILE, File, Page, WARNINGS};
use crate::view::cells::{CellEdits, Cells, Rendering};
use crate::view::import::NOT_THIS_FILE;
use crate::view::node::{self, Node, Rule};
use crate::view::rows::Rows;
use crate::view::{AssetContext, Measures, View, ViewFile, json};

/// A model with its page.
pub(super) struct PageView<M> {
    pub(super) page: Page<M>,
    pub(super) model: M,
    /// The error that leaves the model incomplete, with the text of `error.txt`.
    pub(super) failure: Option<(String, Error)>,
}

/// The files that each page has; without an error, the first one is left out.
const OWN: [&str; 3] = [ERROR_FILE, "info.json", "info.txt"];

impl<M> PageView<M> {
    /// Returns the number of `info.json`, unless damage may have moved its values.
    fn info_with_edits(&self) -> Option<usize> {
        let info = self.own().iter().position(|name| *name == "info.json");
        info.filter(|_| self.failure.is_none())
    }

    /// Returns the names of the files that each page has.
    fn own(&self) -> &'static [&'static str] {
        match self.failure {
            Some(_) => &OWN,
            None => &OWN[1..],
        }
    }

    /// Returns a file that was added to the page, by its number in the view.
    fn file(&self, index: usize) -> Option<&File<M>> {
        self.page.files.get(index.checked_sub(self.own().len())?)
    }
}

/// Size of the buffer between a rendering and its destination, in bytes.
const BUFFER_SIZE: usize = 32 << 10;

/// Renders a file into a buffer before `out`.
fn buffered(
    out: &mut dyn Write,
    render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = BufWriter::with_capacity(BUFFER_SIZE, out);
    let result = render(&mut buffer).and_then(|()| buffer.flush());
    // On drop, the buffer would write once more after an error.
    let (_, _unwritten) = buffer.into_parts();
    result
}

/// Returns values that tables show, and beside them the facts of `info.json`, which are the
/// same where they have the same name.
fn beside<'a>(values: Node<'a>, facts: Node<'a>) -> Node<'a> {
    match (values, facts) {
        (Node::Map(mut values), Node::Map(facts)) => {
            let is_new = |name: &str| !values.iter().any(|(known, _)| known == name);
            let facts: Vec<_> = facts.into_iter().filter(|(name, _)| is_new(name)).collect();
            values.extend(facts);
            Node::Map(values)
        }
        (values, _) => values,
    }
}

impl<M: GetSize + Send + Sync + 'static> View for PageView<M> {
    fn files(&self) -> Vec<ViewFile> {
        let own = self.own().iter().map(|name| ViewFile::from(*name));
        let files = self.page.files.iter().map(|file| file.place.clone());
        own.chain(files).collect()
    }

    fn render(
        &self,
        index: usize,
        context: &dyn AssetContext,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        buffered(out, |out| {
            match (self.own().get(index), &self.failure) {
                (Some(&ERROR_FILE), Some((text, _))) => return out.write_all(text.as_bytes()),
                (Some(&"info.json"), _) => return json::write_pretty(&self.info(), out),
                (Some(_), _) => return self.page.write_summary(&self.model, out),
                (None, _) => {}
            }
            match self.file(index).map(|file| &file.content) {
                Some(Content::Table(rows)) => rows(&self.model, context).write(out),
                Some(Content::Values(values, depth)) => {
                    json::write_lines(&values(&self.model, context), *depth, out)
                }
                Some(Content::Other(write)) => write(&self.model, context, out),
                None => Err(io::ErrorKind::NotFound.into()),
            }
        })
    }

    fn failure(&self) -> Option<&Error> {
        self.failure.as_ref().map(|(_, error)| error)
    }

    fn position(&self, wanted: &dyn Fn(&ViewFile) -> bool) -> Option<usize> {
        let mut own = self.own().iter();
        if let Some(own) = own.position(|name| wanted(&ViewFile::from(*name))) {
            return Some(own);
        }
        let mut files = self.page.files.iter();
        Some(self.own().len() + files.position(|file| wanted(&file.place))?)
    }

    fn size(&self, index: usize) -> Option<u64> {
        match (&self.failure, index) {
            (Some((text, _)), 0) => Some(text.len() as u64),
            _ => self.file(index)?.size,
        }
    }

    fn info(&self) -> Node<'_> {
        let page = &self.page;
        let facts = page.facts.iter();
        let facts = facts.map(|(name, value)| (*name, value.clone().into()));
        let computed = page.computed.iter().flat_map(|make| make(&self.model));
        let lists = page.lists.iter().map(|(name, list)| {
            let nodes = move || list.nodes(&self.model);
            (*name, Node::Each(Box::new(nodes)))
        });
        let format = [("format", page.format.into())];
        let warnings = Node::Each(Box::new(|| {
            Box::new(self.warnings().into_iter().map(Node::from))
        }));
        let warnings = warnings.ruled(Rule::Remark);
        let entries = format.into_iter().chain(facts).chain(computed).chain(lists);
        node::map(entries.chain([(WARNINGS, warnings)]))
    }

    fn warnings(&self) -> Vec<String> {
        self.page.warnings(&self.model).texts()
    }

    fn measures(&self) -> Measures {
        (self.page.measures)(&self.model)
    }

    fn table<'a>(&'a self, index: usize, context: &'a dyn AssetContext) -> Option<Rows<'a>> {
        match &self.file(index)?.content {
            Content::Table(rows) => Some(rows(&self.model, context)),
            Content::Values(..) | Content::Other(_) => None,
        }
    }

    fn json<'a>(&'a self, index: usize, context: &'a dyn AssetContext) -> Option<Node<'a>> {
        match &self.file(index)?.content {
            Content::Values(values, _) => Some(values(&self.model, context)),
            Content::Table(_) | Content::Other(_) => None,
        }
    }

    fn values<'a>(&'a self, context: &'a dyn AssetContext) -> Option<(Option<usize>, Node<'a>)> {
        let table_values = self.page.table_values.as_ref();
        let table_values = table_values.map(|values| values(&self.model, context));
        if self.page.has_edits {
            let values = match table_values {
                Some(values) => beside(values, self.info()),
                None => self.info(),
            };
            return Some((self.info_with_edits(), values));
        }
        if let Some(values) = table_values {
            return Some((None, values));
        }
        let own = self.own().len();
        let mut files = own..own + self.page.files.len();
        files.find_map(|index| Some((Some(index), self.json(index, context)?)))
    }

    fn has_values(&self, index: usize, context: &dyn AssetContext) -> bool {
        let file = match self.page.has_edits {
            // Facts may take long to compute.
            true => self.info_with_edits(),
            false => self.values(context).and_then(|(file, _)| file),
        };
        self.has_cells(index) || file == Some(index)
    }

    fn has_cells(&self, index: usize) -> bool {
        let file = self.file(index).filter(|_| self.failure.is_none());
        file.is_some_and(|file| file.cells.is_some())
    }

    fn cell_edits(
        &self,
        index: usize,
        context: &dyn AssetContext,
        edited: &[u8],
    ) -> Result<CellEdits, String> {
        let cells = self.file(index).and_then(|file| file.cells.as_ref());
        let cells = cells.ok_or(NOT_THIS_FILE)?;
        let mut shown = Rendering::new(context);
        let rendered = self.render(index, context, &mut shown);
        rendered.map_err(|error| error.to_string())?;
        cells.edits(&self.model, context, [&shown.bytes, edited])
    }

    fn memory(&self) -> usize {
        let Page {
            heading,
            facts,
            lists,
            files,
            warnings,
            ..
        } = &self.page;
        let files_memory = files.iter().map(|file| {
            let closure = match &file.content {
                Content::Table(rows) => size_of_val(&**rows),
                Content::Values(values, _) => size_of_val(&**values),
                Content::Other(write) => size_of_val(&**write),
            };
            let cells = file.cells.as_ref().map_or(0, Cells::heap_size);
            file.place.heap_size() + closure + cells
        });
        let failure = self.failure.as_ref().map_or(0, |(text, _)| text.capacity());
        size_of_val(self)
            + failure
            + facts.get_heap_size()
            + size_of_val(&lists[..])
            + files.capacity() * size_of::<File<M>>()
            + files_memory.sum::<usize>()
            + heading.len()
            + warnings.get_heap_size()
            + self.model.get_heap_size()
    }
}
