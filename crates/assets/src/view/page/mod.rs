//! Pages: the values that a view shows.
//!
//! A page has facts and lists, which are `info.json` and, in short, `info.txt`; tables;
//! other files; and warnings. The texts of all formats are written here.

mod shown;

use std::borrow::Cow;
use std::io::{self, Write};
use std::rc::Rc;

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_containers::io::{Error, Warnings};
use hpimount_record::{self as record, Record, Value};

use self::shown::PageView;
use super::cells::Cells;
use super::node::{Entry, Node, Nodes};
pub use super::rows::{Columns, Rows, take, take_row};
use super::{AssetContext, Measures, Summary, View, ViewFile};
use crate::model::wav::{self, Wav};
use crate::model::{Picture, png};

/// Writes a file from a model.
type WriteFile<M> =
    Box<dyn Fn(&M, &dyn AssetContext, &mut dyn Write) -> io::Result<()> + Send + Sync>;

/// Makes a table from a model.
type MakeTable<M> = Box<dyn for<'a> Fn(&'a M, &'a dyn AssetContext) -> Rows<'a> + Send + Sync>;

/// Creates the values of a JSON file from a model.
type MakeValues<M> = Box<dyn for<'a> Fn(&'a M, &'a dyn AssetContext) -> Node<'a> + Send + Sync>;

/// The values and files that show an asset with the model `M`.
pub struct Page<M> {
    format: &'static str,
    heading: Cow<'static, str>,
    facts: Vec<(&'static str, Value)>,
    computed: Option<fn(&M) -> Vec<Entry<'_>>>,
    lists: Vec<(&'static str, List<M>)>,
    files: Vec<File<M>>,
    table_values: Option<MakeValues<M>>,
    /// The facts and lists have editable values.
    has_edits: bool,
    warnings: Warnings,
    check: Option<fn(&M) -> Warnings>,
    measures: fn(&M) -> Measures,
}

/// A list of facts, or a table whose rows are facts.
enum List<M> {
    Nodes(fn(&M) -> Nodes<'_>),
    Rows(fn(&M) -> Rows<'_>),
}

impl<M> List<M> {
    /// Returns the facts.
    fn nodes<'a>(&self, model: &'a M) -> Nodes<'a> {
        match self {
            Self::Nodes(nodes) => nodes(model),
            Self::Rows(rows) => {
                let Rows { columns, rows } = rows(model);
                Box::new(rows.map(move |row| Node::Row(Rc::clone(&columns), row)))
            }
        }
    }

    /// Adds the number of facts to a summary, and the first names.
    fn summarize(&self, label: &str, model: &M, summary: &mut Summary) {
        match self {
            Self::Nodes(nodes) => {
                summary.named(label, nodes(model).map(|node| node.label()));
            }
            Self::Rows(rows) => {
                let Rows { columns, rows } = rows(model);
                let name = columns.iter().position(|column| column == "name");
                let name = |row: Vec<Value>| row.into_iter().nth(name?);
                summary.named(label, rows.map(name));
            }
        }
    }
}

struct File<M> {
    place: ViewFile,
    size: Option<u64>,
    content: Content<M>,
    /// Editing of the cells of a table.
    cells: Option<Cells<M>>,
}

enum Content<M> {
    Table(MakeTable<M>),
    /// With the depth where values begin to share a line.
    Values(MakeValues<M>, usize),
    Other(WriteFile<M>),
}

impl<M: GetSize + Send + Sync + 'static> Page<M> {
    /// Creates the page of an asset of this format, with the first line of its
    /// summary.
    pub fn new(
        format: &'static str,
        heading: impl Into<Cow<'static, str>>,
        warnings: Warnings,
    ) -> Self {
        Self {
            format,
            heading: heading.into(),
            facts: Vec::new(),
            computed: None,
            lists: Vec::new(),
            files: Vec::new(),
            table_values: None,
            has_edits: false,
            warnings,
            check: None,
            measures: |_| Measures::default(),
        }
    }

    /// Adds a fact.
    pub fn fact(&mut self, name: &'static str, value: impl Into<Value>) -> &mut Self {
        self.facts.push((name, value.into()));
        self
    }

    /// Adds the fields of a record as facts.
    pub fn record(&mut self, record: &dyn Record) -> &mut Self {
        self.facts.extend(record::entries(record));
        self
    }

    /// Adds facts that take much time or memory: they are computed when they are shown.
    pub fn computed(&mut self, facts: fn(&M) -> Vec<Entry<'_>>) -> &mut Self {
        self.computed = Some(facts);
        self
    }

    /// Adds a list, which may be long.
    pub fn list(&mut self, name: &'static str, values: fn(&M) -> Nodes<'_>) -> &mut Self {
        self.lists.push((name, List::Nodes(values)));
        self
    }

    /// Adds a list, and `NAME.tsv` as its table.
    pub fn rows(&mut self, name: &'static str, rows: fn(&M) -> Rows<'_>) -> &mut Self {
        self.lists.push((name, List::Rows(rows)));
        self.table(&format!("{name}.tsv"), rows)
    }

    /// Adds a table.
    pub fn table(
        &mut self,
        path: &str,
        rows: impl Fn(&M) -> Rows<'_> + Send + Sync + 'static,
    ) -> &mut Self {
        self.table_at(ViewFile::at(path), rows)
    }

    /// Adds a table with a name from the asset.
    pub fn table_at(
        &mut self,
        file: ViewFile,
        rows: impl Fn(&M) -> Rows<'_> + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(
            file,
            None,
            Content::Table(Box::new(move |model, _| rows(model))),
        )
    }

    /// Adds a table with values from other files.
    pub fn table_in(
        &mut self,
        path: &str,
        rows: impl for<'a> Fn(&'a M, &'a dyn AssetContext) -> Rows<'a> + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(ViewFile::at(path), None, Content::Table(Box::new(rows)))
    }

    /// Adds a JSON file, which is editable where its values have rules. A page has at
    /// most one. Values up to depth two have their own lines.
    pub fn values(
        &mut self,
        path: &str,
        values: impl for<'a> Fn(&'a M, &'a dyn AssetContext) -> Node<'a> + Send + Sync + 'static,
    ) -> &mut Self {
        let content = Content::Values(Box::new(values), 2);
        self.add(ViewFile::at(path), None, content)
    }

    /// Adds such a file with one line for each value.
    pub fn pretty_values(
        &mut self,
        path: &str,
        values: impl for<'a> Fn(&'a M, &'a dyn AssetContext) -> Node<'a> + Send + Sync + 'static,
    ) -> &mut Self {
        let content = Content::Values(Box::new(values), usize::MAX);
        self.add(ViewFile::at(path), None, content)
    }

    /// Makes `info.json` editable where its values have rules.
    pub fn edits(&mut self) -> &mut Self {
        self.has_edits = true;
        self
    }

    /// Makes the cells of the last table editable as the values of `info.json`, see
    /// [`Cells`].
    pub fn cells(
        &mut self,
        keys: &'static [&'static [&'static str]],
        value: impl Fn(&M, usize, &str, &str) -> Option<(String, Value)> + Send + Sync + 'static,
    ) -> &mut Self {
        if let Some(file) = self.files.last_mut() {
            let value = Box::new(value);
            file.cells = Some(Cells { keys, value });
        }
        self
    }

    /// Sets the values of tables, which makes them editable.
    pub fn values_of_tables(
        &mut self,
        values: impl for<'a> Fn(&'a M, &'a dyn AssetContext) -> Node<'a> + Send + Sync + 'static,
    ) -> &mut Self {
        self.table_values = Some(Box::new(values));
        self
    }

    /// Adds a sound as a WAV file. `samples` returns its samples. Adds a warning if the
    /// sound is too long.
    pub fn wav(
        &mut self,
        name: String,
        wav: Wav,
        samples: impl Fn(&M) -> Vec<i16> + Send + Sync + 'static,
    ) -> &mut Self {
        if let Some(problem) = wav.length_problem() {
            return self.warn(crate::model::not_shown(name, problem));
        }
        let size = Some(wav.size());
        let write: WriteFile<M> =
            Box::new(move |model, _, out| wav::write(&wav, &samples(model), out));
        self.add(ViewFile::from(name), size, Content::Other(write))
    }

    /// Adds a file that `write` generates from the model.
    pub fn file(
        &mut self,
        file: impl Into<ViewFile>,
        write: impl Fn(&M, &dyn AssetContext, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(file.into(), None, Content::Other(Box::new(write)))
    }

    /// Adds the picture returned by `picture` as a PNG file, which cannot be read without
    /// a picture.
    pub fn picture(
        &mut self,
        file: impl Into<ViewFile>,
        picture: impl Fn(&M) -> Option<Picture> + Send + Sync + 'static,
    ) -> &mut Self {
        self.file(file, move |model, _, out| {
            png::write(&picture(model).ok_or_else(no_picture)?, out)
        })
    }

    /// Sets the size in bytes of the last file.
    pub fn sized(&mut self, size: u64) -> &mut Self {
        if let Some(file) = self.files.last_mut() {
            file.size = Some(size);
        }
        self
    }

    /// Adds a file with these bytes, a slice of the asset.
    pub fn stored(&mut self, name: String, bytes: Bytes) -> &mut Self {
        let size = Some(bytes.len() as u64);
        let write: WriteFile<M> = Box::new(move |_, _, out| out.write_all(&bytes));
        self.add(ViewFile::from(name), size, Content::Other(write))
    }

    /// Adds a warning.
    pub fn warn(&mut self, warning: impl Into<String>) -> &mut Self {
        self.warnings.push(warning);
        self
    }

    /// Adds warnings that take long to find: they are computed when they are shown.
    pub fn check(&mut self, find: fn(&M) -> Warnings) -> &mut Self {
        self.check = Some(find);
        self
    }

    /// Sets the numbers that compare the asset with others, such as in an index.
    pub fn measures(&mut self, measures: fn(&M) -> Measures) -> &mut Self {
        self.measures = measures;
        self
    }

    /// Returns all warnings.
    fn warnings(&self, model: &M) -> Cow<'_, Warnings> {
        let Some(find) = self.check else {
            return Cow::Borrowed(&self.warnings);
        };
        let mut warnings = self.warnings.clone();
        warnings.append(find(model));
        Cow::Owned(warnings)
    }

    fn add(&mut self, place: ViewFile, size: Option<u64>, content: Content<M>) -> &mut Self {
        self.files.push(File {
            place,
            size,
            content,
            cells: None,
        });
        self
    }

    /// Returns the view of `model` with this page. With an error, the model is
    /// incomplete, and the view shows a damaged asset.
    pub fn show(self, model: M, error: Option<Error>) -> Box<dyn View> {
        Box::new(PageView {
            page: self,
            model,
            failure: error.map(|error| (format!("{error}\n"), error)),
        })
    }

    fn write_summary(&self, model: &M, out: &mut dyn Write) -> io::Result<()> {
        let mut summary = Summary::new(&self.heading);
        let facts = self.facts.iter();
        let facts = facts.map(|(name, value)| (*name, value.clone().into()));
        for (name, node) in facts.chain(self.computed.iter().flat_map(|make| make(model))) {
            summary.fact(&name.replace('_', " "), &node);
        }
        for (name, list) in &self.lists {
            let label = name.replace('_', " ");
            list.summarize(&label, model, &mut summary);
        }
        summary.write(&self.warnings(model), out)
    }
}

/// Name of the file with the error of a damaged asset or archive. It is the first
/// one of a view.
pub const ERROR_FILE: &str = "error.txt";

/// Name of the list of warnings among the facts.
pub const WARNINGS: &str = "warnings";

/// Returns the error of a picture that cannot be shown.
pub fn no_picture() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "has no picture that can be shown",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Alone;

    fn page() -> Box<dyn View> {
        let mut warnings = Warnings::default();
        warnings.push("odd");
        let mut page = Page::new("made up", "A row of pixels", warnings);
        page.fact("file_size", 2_u32)
            .rows("pixels", |pixels: &Vec<u8>| {
                let rows = pixels.iter().map(|&gray| [gray.into(), "a\tb".into()]);
                Rows::new(["gray", "name"], rows)
            })
            .stored("copy".to_owned(), Bytes::from_static(b"xy"));
        page.show(vec![7, 8], None)
    }

    fn text(view: &dyn View, index: usize) -> String {
        let mut bytes = Vec::new();
        view.render(index, &Alone, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn facts_and_tables_are_declared_once_and_written_thrice() {
        let view = page();
        let names: Vec<_> = view.files().into_iter().map(|file| file.name).collect();
        assert_eq!(names, ["info.json", "info.txt", "pixels.tsv", "copy"]);
        let json: serde_json::Value = serde_json::from_str(&text(&*view, 0)).unwrap();
        let pixels = serde_json::json!([{"gray": 7, "name": "a\tb"}, {"gray": 8, "name": "a\tb"}]);
        assert_eq!(json["pixels"], pixels);
        assert_eq!(
            (&json["file_size"], &json["warnings"][0]),
            (&2.into(), &"odd".into())
        );
        assert_eq!(
            text(&*view, 1),
            "A row of pixels\n\nfile size      2\npixels         2: a\\tb, a\\tb\nwarnings       1\n  odd\n"
        );
        assert_eq!(text(&*view, 2), "gray\tname\n7\ta\\tb\n8\ta\\tb\n");
        assert_eq!((text(&*view, 3).as_str(), view.size(3)), ("xy", Some(2)));
    }

    #[test]
    fn computed_facts_and_warnings_are_as_if_they_had_been_known() {
        let mut page = Page::new("made up", "Pixels", Warnings::default());
        page.fact("none", Value::Null)
            .computed(|pixels: &Vec<u8>| {
                let texts = Node::each(pixels, |pixel| format!("#{pixel}").into());
                vec![("count", pixels.len().into()), ("texts", texts)]
            })
            .check(|_| {
                let mut warnings = Warnings::default();
                warnings.push("dark");
                warnings
            });
        let view = page.show(vec![7, 8], None);
        assert_eq!(view.warnings(), ["dark"]);
        assert_eq!(view.info().get("count"), Some(&Value::Integer(2)));
        assert_eq!(
            text(&*view, 1),
            "Pixels\n\ncount          2\ntexts          2: #7, #8\nwarnings       1\n  dark\n"
        );
    }

    #[test]
    fn a_number_without_a_file_is_an_error() {
        let error = page().render(4, &Alone, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
