//! Tables whose cells are values of their asset.

use hpimount_record::{self as record, Record, Scope, Value};

use super::AssetContext;
use super::edit::{Edit, What};
use super::edited_table::{self, Rules};

/// How the cells of a table of an asset with the model `M` are edited.
pub struct Cells<M> {
    /// The columns that name a row.
    pub keys: &'static [&'static [&'static str]],
    /// Returns the value that a text in a cell stands for.
    pub value: CellValue<M>,
}

/// Returns the path of a value of a model, and the value that a text gives it. The cell is
/// named by the number of its row and by its column; `None` if it cannot be edited.
pub type CellValue<M> = fn(&M, usize, &str, &str) -> Option<(String, Value)>;

/// What an edited table changes.
#[derive(Debug, Default)]
pub struct CellEdits {
    /// The edits of values. Their places are those in the table.
    pub edits: Vec<Edit>,
    /// What may not be as expected, one sentence each.
    pub warnings: Vec<String>,
}

impl<M> Cells<M> {
    /// Compares an edited table, which is untrusted, with the table as it is shown.
    ///
    /// # Errors
    /// Returns all problems as one text.
    pub(super) fn edits(
        &self,
        model: &M,
        context: &dyn AssetContext,
        [shown, edited]: [&[u8]; 2],
    ) -> Result<CellEdits, String> {
        let memory = 2 * edited_table::memory(shown) + edited_table::memory(edited);
        let _memory = context.reserve(memory).map_err(|error| error.to_string())?;
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

/// Returns the path of the field of a record that a column shows, and the value that a
/// text gives it. `path` is that of the record. `None` if the column cannot be edited.
pub fn of_record(
    record: &dyn Record,
    path: String,
    column: &str,
    text: &str,
) -> Option<(String, Value)> {
    let (member, value) = record::with_cell(record, column, text, &Scope::default())?;
    (!member.is_derived).then(|| (format!("{path}.{}", member.name), value))
}
