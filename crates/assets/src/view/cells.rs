//! Tables whose cells are values of their asset.

use std::io::{self, Write};

use hpimount_record::{self as record, Record, Value};

use super::AssetContext;
use super::edit::{Edit, What};
use super::edited_table::{self, Rules};
use crate::model::Reservation;

/// Editing of the cells of a table of an asset with the model `M`.
pub struct Cells<M> {
    /// The columns that name a row.
    pub keys: &'static [&'static [&'static str]],
    /// Returns the value of a text in a cell.
    pub value: Box<CellValue<M>>,
}

/// Returns the path of a value of a model, and the value of a text for it. The row
/// number and the column identify the cell. Returns `None` if it cannot be edited.
pub type CellValue<M> = dyn Fn(&M, usize, &str, &str) -> Option<(String, Value)> + Send + Sync;

/// Changes by an edited table.
#[derive(Debug, Default)]
pub struct CellEdits {
    /// The edits of values, with the places in the table.
    pub edits: Vec<Edit>,
    /// Doubtful edits, one sentence each.
    pub warnings: Vec<String>,
}

impl<M> Cells<M> {
    /// Returns its memory on the heap, in bytes.
    pub(super) fn heap_size(&self) -> usize {
        size_of_val(&*self.value)
    }

    /// Compares an edited, untrusted table with the shown table. Fails with all
    /// problems as one text.
    pub(super) fn edits(
        &self,
        model: &M,
        context: &dyn AssetContext,
        [shown, edited]: [&[u8]; 2],
    ) -> Result<CellEdits, String> {
        let memory = context.reserve(edited_table::memory(shown, edited));
        let _memory = memory.map_err(|error| error.to_string())?;
        let rules = Rules {
            keys: self.keys,
            is_editable: &|column| (self.value)(model, 0, column, "").is_some(),
            ..Rules::FIXED_ROWS
        };
        let found = edited_table::differences(shown, edited, &rules)?;
        let edits = found.changes.iter().filter_map(|change| {
            let (path, value) = (self.value)(model, change.row, &change.column, &change.text)?;
            let place = change.place();
            let what = What::Value(path, value);
            Some(Edit::new(place, what))
        });
        Ok(CellEdits {
            edits: edits.collect(),
            warnings: found.warnings,
        })
    }
}

/// A table during rendering, in reserved memory.
pub(super) struct Rendering<'a> {
    pub(super) bytes: Vec<u8>,
    context: &'a dyn AssetContext,
    memory: Vec<Reservation>,
}

impl<'a> Rendering<'a> {
    pub(super) fn new(context: &'a dyn AssetContext) -> Self {
        Self {
            bytes: Vec::new(),
            context,
            memory: Vec::new(),
        }
    }
}

impl Write for Rendering<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (length, capacity) = (self.bytes.len(), self.bytes.capacity());
        if length + bytes.len() > capacity {
            // Twice the capacity, so that bytes are seldom moved.
            let wanted = (length + bytes.len()).max(2 * capacity);
            self.memory.extend(self.context.reserve(wanted - capacity)?);
            self.bytes.reserve_exact(wanted - length);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the path of the field of a record that a column shows, and the value of a
/// text for it. `path` is the path of the record. Returns `None` if the column cannot
/// be edited.
pub fn of_record(
    record: &dyn Record,
    path: String,
    column: &str,
    text: &str,
) -> Option<(String, Value)> {
    let (member, value) = record::with_cell(record, column, text)?;
    (!member.is_derived).then(|| (format!("{path}.{}", member.name), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::Arc;

    use crate::view::page::{Page, Rows};
    use crate::view::{AssetKey, AssetRef, Bytes, MakeShared, Shared};
    use hpimount_containers::io::Warnings;

    /// The memory that was reserved, in order.
    #[derive(Default)]
    struct Reserved(RefCell<Vec<usize>>);

    impl AssetContext for Reserved {
        fn name(&self) -> &str {
            ""
        }

        fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
            None
        }

        fn read(&self, _: AssetRef) -> Option<Bytes> {
            None
        }

        fn reserve(&self, bytes: usize) -> io::Result<Option<Reservation>> {
            self.0.borrow_mut().push(bytes);
            Ok(None)
        }

        fn shared(&self, _: &'static str, _: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
            None
        }
    }

    #[test]
    fn a_table_is_rendered_and_compared_in_reserved_memory() {
        let mut page = Page::new("made up", "Pixels", Warnings::default());
        page.rows("pixels", |pixels: &Vec<u8>| {
            let rows = pixels.iter().enumerate();
            Rows::new(
                ["index", "gray"],
                rows.map(|(index, &gray)| [index.into(), gray.into()]),
            )
        })
        .cells(&[&["index"]], |_, row, column, text| {
            let value = Value::text(text.to_owned());
            (column == "gray").then(|| (format!("pixels[{row}].gray"), value))
        });
        let view = page.show(vec![7; 5000], None);
        let table = view.position(&|file| file.name == "pixels.tsv").unwrap();
        let mut shown = Vec::new();
        view.render(table, &Reserved::default(), &mut shown)
            .unwrap();
        let edited = b"index\tgray\n3\t8\n";
        let context = Reserved::default();
        let found = view.cell_edits(table, &context, edited).unwrap();
        assert_eq!(found.edits.len(), 1);
        let mut reserved = context.0.into_inner();
        assert_eq!(reserved.pop(), Some(edited_table::memory(&shown, edited)));
        let rendering = reserved.iter().sum();
        assert!((shown.len()..=2 * shown.len()).contains(&rendering));
    }
}
