//! Edits of an archive's tables become edits of asset values.

use std::collections::HashMap;

use crate::archive::Archive;
use crate::edited_cells::{Paths, value_of};
use crate::names::id_named;
use crate::object::is_object;
use crate::parts::{BODY, DYNA};
use crate::table_view;
use hpimount_assets::view::edit::{Edit, What, id_of};
use hpimount_assets::view::edited_table::{
    Added, Adding, Change, Differences, Rules, ShownTable, differences, edited_text,
};
use hpimount_assets::view::import::Problems;
use hpimount_assets::view::node::Node;
use hpimount_assets::view::report::{EditTable, Editing, TableEdit, TableEdits, shown_file};
use hpimount_assets::view::{AssetContext, AssetRef};
use hpimount_record::Value;

use super::edited_paths::{self, LINKS, LIST, ROWS, SCALE};
use super::objects::PLACE;
use super::texts::is_subtitles;

/// Maximum number of ids in a cell, and of list elements with columns.
const MAX_LISTED: usize = crate::table_view::sheet::MAX_LISTED;

/// The reason why a cell cannot be edited.
const DERIVED: &str = "is derived";

/// The reason why a row cannot be edited.
const NO_ASSET: &str = "no asset of the archive has this id";

/// The table of the assets of a type.
pub(super) const TYPES: Editing = Editing {
    key: "asset, and index if there is one; else asset_name",
    cells: "fields that are stored, also references by the names of assets; not kinds, counts \
            and what follows from other fields",
    rows: "with an index can be deleted, and added with an empty index",
    edit: types,
};

/// The same for types with lists of fixed length, since offsets point into them.
pub(super) const VALUES: Editing = Editing {
    rows: Editing::FIXED_ROWS,
    ..TYPES
};

/// The table of the parameters of characters.
pub(super) const PARAMETERS: Editing = Editing {
    key: "asset (or asset_name) and index",
    cells: "name, name_name and value",
    rows: "can be deleted, and added with an empty index",
    edit: |context, shown, edited| {
        let rules = Rules {
            adding: Adding::WithoutIndex,
            can_delete: true,
            ..LISTED
        };
        of_list(context, table_view::PARAMETERS, (shown, edited), &rules)
    },
};

/// The rows of a table with one row for each list element.
const LISTED: Rules<'_> = Rules {
    keys: &[&["asset", "index"], &["asset_name", "index"]],
    name: Some("asset_name"),
    is_editable: &|column| !["asset", "asset_name", "index"].contains(&column),
    ..Rules::FIXED_ROWS
};

/// The table of the records of a fixed-length list. `edit` calls [`records`] with its
/// name.
pub(super) const fn records_table(edit: EditTable) -> Editing {
    Editing {
        key: "asset (or asset_name) and index",
        cells: TYPES.cells,
        rows: Editing::FIXED_ROWS,
        edit,
    }
}

/// Edits the table of the records of a list.
pub(super) fn records(
    context: &dyn AssetContext,
    list: &'static str,
    tables: (&[u8], &[u8]),
) -> Result<TableEdits, String> {
    of_list(context, list, tables, &LISTED)
}

/// The table of the fields of objects.
pub(super) const FIELDS: Editing = Editing {
    key: "asset (or asset_name) and field",
    cells: "value, or value_name of a reference",
    rows: Editing::FIXED_ROWS,
    edit: fields,
};

/// The table of links.
pub(super) const LINKS_TABLE: Editing = Editing {
    key: "source (or source_name) and index, or else the order of its rows",
    cells: "event, event_id, target, target_name, send, send_id, param1 to param4, param_asset, \
            check_asset and their names",
    rows: "can be added behind those of their source with an empty index, and deleted",
    edit: links,
};

/// The table of placements.
pub(super) const PLACEMENTS: Editing = Editing {
    key: "id, else name and type",
    cells: "x, y, z, yaw, pitch, roll, scale_x, scale_y, scale_z, model, model_name, where they \
            are not empty",
    rows: Editing::FIXED_ROWS,
    edit: placements,
};

/// The table of texts.
pub(super) const TEXTS: Editing = Editing {
    key: "id, else name",
    cells: "text",
    rows: Editing::FIXED_ROWS,
    edit: texts,
};

/// Edits a table with a row for each asset of a type, or for each element of their
/// lists.
fn types(context: &dyn AssetContext, shown: &[u8], edited: &[u8]) -> Result<TableEdits, String> {
    let has_index = shown.starts_with(b"asset\tasset_name\tindex\t");
    let rules = Rules {
        keys: match has_index {
            true => &[&["asset", "index"], &["asset_name", "index"]],
            false => &[&["asset"], &["asset_name"]],
        },
        name: Some("asset_name"),
        is_editable: &|column| !["asset", "asset_name", "index"].contains(&column),
        adding: match has_index {
            true => Adding::WithoutIndex,
            false => Adding::Never,
        },
        can_delete: has_index,
    };
    let place = |table: &ShownTable, row: usize, _: usize| match has_index {
        true => format!("{ROWS}[{}].", table.cell(row, "index")),
        false => String::new(),
    };
    Table::new(context, shown, "asset", &place)?.edits(edited, &rules)
}

/// Edits a table with a row for each list element. `tables` are the shown and the
/// edited table.
fn of_list(
    context: &dyn AssetContext,
    list: &'static str,
    (shown, edited): (&[u8], &[u8]),
    rules: &Rules<'_>,
) -> Result<TableEdits, String> {
    let place =
        |table: &ShownTable, row: usize, _: usize| format!("{list}[{}].", table.cell(row, "index"));
    let mut table = Table::new(context, shown, "asset", &place)?;
    table.list = Some(list);
    table.edits(edited, rules)
}

/// Edits a table with a row for each field of each object.
fn fields(context: &dyn AssetContext, shown: &[u8], edited: &[u8]) -> Result<TableEdits, String> {
    let rules = Rules {
        keys: &[&["asset", "field"], &["asset_name", "field"]],
        name: Some("asset_name"),
        is_editable: &|column| ["value", "value_name"].contains(&column),
        ..Rules::FIXED_ROWS
    };
    let found = differences(shown, edited, &rules)?;
    of_cells(
        context,
        shown,
        "asset",
        found,
        |assets, asset, table, change| {
            let path = assets.path_of_field(asset, table.cell(change.row, "field"));
            let place = change.place();
            let what = What::Value(path, value_of(&change.column, &change.text));
            Ok(TableEdit::Value(Edit::new(place, what)))
        },
    )
}

fn links(context: &dyn AssetContext, shown: &[u8], edited: &[u8]) -> Result<TableEdits, String> {
    let derived = [
        "source",
        "source_name",
        "source_type",
        "index",
        "target_type",
        "event_word",
        "send_word",
    ];
    let rules = Rules {
        keys: &[&["source", "index"], &["source"], &["source_name"]],
        name: Some("source_name"),
        is_editable: &|column| !derived.contains(&column),
        adding: Adding::Behind,
        can_delete: true,
    };
    let place = |_: &ShownTable, _: usize, index: usize| format!("{LINKS}[{index}].");
    Table::new(context, shown, "source", &place)?.edits(edited, &rules)
}

fn placements(
    context: &dyn AssetContext,
    shown: &[u8],
    edited: &[u8],
) -> Result<TableEdits, String> {
    let rules = Rules {
        keys: &[&["id"], &["name", "type"]],
        name: Some("name"),
        is_editable: &|column| PLACE.contains(&column) || SCALE.contains(&column),
        ..Rules::FIXED_ROWS
    };
    let place = |_: &ShownTable, _: usize, _: usize| String::new();
    Table::new(context, shown, "id", &place)?.edits(edited, &rules)
}

fn texts(context: &dyn AssetContext, shown: &[u8], edited: &[u8]) -> Result<TableEdits, String> {
    let rules = Rules {
        keys: &[&["id"], &["name"]],
        name: Some("name"),
        is_editable: &|column| column == "text",
        ..Rules::FIXED_ROWS
    };
    let found = differences(shown, edited, &rules)?;
    of_cells(context, shown, "id", found, |_, asset, _, change| {
        if context
            .asset_of(asset)
            .is_some_and(|asset| is_subtitles(asset.code))
        {
            return Err("is a part of subtitles, whose texts cannot be edited".to_owned());
        }
        let shown = shown_file(context, asset, TEXT).unwrap_or_default();
        let text = edited_text(&String::from_utf8_lossy(&shown), &change.text)?;
        Ok(TableEdit::File(
            TEXT.to_owned(),
            text.into_bytes(),
            change.place(),
        ))
    })
}

/// Calls `edit` for each changed cell with the asset whose id is in a column of its
/// row.
fn of_cells(
    context: &dyn AssetContext,
    shown: &[u8],
    id: &str,
    found: Differences,
    edit: impl Fn(&Assets<'_>, AssetRef, &ShownTable, &Change) -> Result<TableEdit, String>,
) -> Result<TableEdits, String> {
    let table = ShownTable::read(shown)?;
    let assets = Assets::new(context);
    let mut problems = Problems::default();
    let mut edits = Vec::new();
    for change in &found.changes {
        let asset = assets
            .find(table.cell(change.row, id))
            .ok_or(NO_ASSET.to_owned());
        let edit = asset.and_then(|asset| Ok((asset, edit(&assets, asset, &table, change)?)));
        match edit {
            Ok(edit) => edits.push(edit),
            Err(reason) => problems.add(change.problem(reason)),
        }
    }
    problems.check()?;
    Ok(TableEdits {
        edits,
        warnings: found.warnings,
    })
}

/// The file with the text of an asset.
const TEXT: &str = "text.txt";

/// The assets of an archive by their ids.
struct Assets<'a> {
    context: &'a dyn AssetContext,
    files: HashMap<u32, AssetRef>,
}

impl<'a> Assets<'a> {
    fn new(context: &'a dyn AssetContext) -> Self {
        let archive = Archive::new(context);
        let members = archive.members();
        let files = members.map(|member| (member.asset.id, member.file));
        let files = files.collect();
        Self { context, files }
    }

    /// Returns the asset with an id in hexadecimal digits.
    fn find(&self, id: &str) -> Option<AssetRef> {
        self.files.get(&id_of(id)?).copied()
    }

    /// Calls `see` with the values of an asset.
    fn values<T>(&self, asset: AssetRef, see: impl FnOnce(&Node<'_>) -> T) -> Option<T> {
        let view = self.context.model(asset)?;
        let (_, values) = view.values(self.context)?;
        Some(see(&values))
    }

    /// Returns the path of a field from its cell in a table of fields, which omits the
    /// parts `body` and `dyna`.
    fn path_of_field(&self, asset: AssetRef, cell: &str) -> String {
        if cell.contains('.') {
            return cell.to_owned();
        }
        let mut part = BODY;
        self.values(asset, |values| {
            values.for_each(&mut |name, node| {
                if name == Some(DYNA) {
                    node.for_each(&mut |field, _| {
                        if field == Some(cell) {
                            part = DYNA;
                        }
                    });
                }
            });
        });
        format!("{part}.{cell}")
    }
}

/// Returns the path of the part of an asset in a row, from the table, the row number,
/// and the number among the rows of the asset.
type PartOfRow<'a> = &'a dyn Fn(&ShownTable, usize, usize) -> String;

/// A table with rows of many assets.
struct Table<'a> {
    assets: Assets<'a>,
    shown: &'a [u8],
    table: ShownTable,
    /// The column with the id of the asset.
    id: &'static str,
    part_of_row: PartOfRow<'a>,
    /// The list of its rows, if it does not depend on the asset.
    list: Option<&'static str>,
    /// The number of each row among the rows of its asset.
    indexes: Vec<usize>,
}

impl<'a> Table<'a> {
    fn new(
        context: &'a dyn AssetContext,
        shown: &'a [u8],
        id: &'static str,
        part_of_row: PartOfRow<'a>,
    ) -> Result<Self, String> {
        let table = ShownTable::read(shown)?;
        let mut counts: HashMap<String, usize> = HashMap::new();
        let indexes = (0..table.len()).map(|row| {
            let count = counts.entry(table.cell(row, id).to_owned()).or_default();
            *count += 1;
            *count - 1
        });
        let indexes = indexes.collect();
        Ok(Self {
            assets: Assets::new(context),
            shown,
            table,
            id,
            part_of_row,
            list: None,
            indexes,
        })
    }

    fn edits(&self, edited: &[u8], rules: &Rules<'_>) -> Result<TableEdits, String> {
        let mut found = differences(self.shown, edited, rules)?;
        // The rows of an asset are contiguous, so its paths are collected once.
        found.changes.sort_by_key(|change| change.row);
        let mut paths: Option<(AssetRef, Paths)> = None;
        let mut edits = Vec::new();
        let mut problems = Problems::default();
        for change in &found.changes {
            match self.edit(change, &mut paths) {
                Ok(edit) => edits.push(edit),
                Err(reason) => problems.add(change.problem(reason)),
            }
        }
        for added in &found.added {
            let asset = match self.asset_of_added(added) {
                Ok(asset) => asset,
                Err((column, reason)) => {
                    problems.add(added.problem(&column, reason));
                    continue;
                }
            };
            let value = self.new_row(added.cells.iter().map(|(name, text)| (&**name, &**text)));
            let what = What::Added(self.list(asset).to_owned(), value);
            let place = format!("line {}", added.line);
            edits.push((asset, TableEdit::Value(Edit::new(place, what))));
        }
        for deleted in &found.deleted {
            let Some(asset) = self.assets.find(self.table.cell(deleted.row, self.id)) else {
                problems.add(format!("line {}: {NO_ASSET}", deleted.line));
                continue;
            };
            let index = self.table.cell(deleted.row, "index").parse();
            let index = index.unwrap_or(self.indexes[deleted.row]);
            let what = What::Deleted(self.list(asset).to_owned(), index);
            let place = format!("line {}", deleted.line);
            edits.push((asset, TableEdit::Value(Edit::new(place, what))));
        }
        problems.check()?;
        Ok(TableEdits {
            edits,
            warnings: found.warnings,
        })
    }

    /// Returns the value for a changed cell. `paths` belong to the previously edited
    /// asset.
    fn edit(
        &self,
        change: &Change,
        paths: &mut Option<(AssetRef, Paths)>,
    ) -> Result<(AssetRef, TableEdit), String> {
        let asset = self.assets.find(self.table.cell(change.row, self.id));
        let asset = asset.ok_or(NO_ASSET)?;
        let known = paths.take_if(|(known, _)| *known == asset);
        let (_, known) = paths.insert(known.unwrap_or_else(|| (asset, self.paths(asset))));
        let part = (self.part_of_row)(&self.table, change.row, self.indexes[change.row]);
        // Rows may also show values of the whole asset.
        let path = known.get(&format!("{part}{}", change.column));
        let path = path.or_else(|| known.get(&*change.column)).ok_or(DERIVED)?;
        if path == LIST && self.is_cut(change.row) {
            return Err(format!(
                "may show only the first {MAX_LISTED} ids: edit the object.json"
            ));
        }
        let place = change.place();
        let what = What::Value(path.clone(), value_of(&change.column, &change.text));
        Ok((asset, TableEdit::Value(Edit::new(place, what))))
    }

    /// Returns the asset of a new row, by id or else by name. Fails with the column and
    /// the reason.
    fn asset_of_added(&self, added: &Added) -> Result<AssetRef, (String, String)> {
        let name = format!("{}_name", self.id);
        let (column, id) = match (added.get(self.id), added.get(&name)) {
            ("", text) if !text.is_empty() => match id_named(self.assets.context, text) {
                Ok(id) => (name, format!("{id:08X}")),
                Err(reason) => return Err((name, reason)),
            },
            (id, _) => (self.id.to_owned(), id.to_owned()),
        };
        let asset = self.assets.find(&id);
        asset.ok_or_else(|| (column, NO_ASSET.to_owned()))
    }

    /// Returns the list with the rows of an asset.
    fn list(&self, asset: AssetRef) -> &'static str {
        if let Some(list) = self.list {
            return list;
        }
        let code = self.assets.context.asset_of(asset).map(|asset| asset.code);
        match code {
            Some(code) if self.id == "source" && is_object(code) => LINKS,
            Some(code) if is_object(code) => "commands",
            _ => ROWS,
        }
    }

    /// Returns the values of a new row.
    fn new_row<'c>(&self, cells: impl Iterator<Item = (&'c str, &'c str)>) -> Value {
        let mut entries: Vec<(std::borrow::Cow<'static, str>, Value)> = Vec::new();
        let mut parameters = vec![Value::Integer(0); 4];
        for (column, text) in cells {
            let value = value_of(column, text);
            let parameter = column
                .strip_prefix("param")
                .and_then(|digit| digit.parse().ok());
            if let Some(number) = parameter.filter(|number: &usize| (1..=4).contains(number)) {
                parameters[number - 1] = value;
                continue;
            }
            let is_key = [
                self.id,
                "asset_name",
                "source_name",
                "source_type",
                "target_type",
            ];
            if is_key.contains(&column) || column == "index" || column.ends_with("_word") {
                continue;
            }
            let name = column.strip_suffix("_name").unwrap_or(column);
            match entries.iter_mut().find(|(known, _)| known == name) {
                Some((_, id)) => with_name(id, value),
                None => entries.push((name.to_owned().into(), value)),
            }
        }
        if self.id == "source" {
            entries.push(("params".into(), Value::List(parameters)));
        }
        Value::Map(entries)
    }

    /// Returns the paths of an asset's values, by column.
    fn paths(&self, asset: AssetRef) -> Paths {
        let paths = |values: &Node<'_>| edited_paths::of_values(values, self.list);
        self.assets.values(asset, paths).unwrap_or_default()
    }

    /// Returns whether the cell of a list is abbreviated.
    fn is_cut(&self, row: usize) -> bool {
        self.table.cell(row, LIST).split(' ').count() >= MAX_LISTED
    }
}

/// Adds the name of an asset to its id. Names of other numbers are derived.
fn with_name(id: &mut Value, name: Value) {
    if id_of(&id.to_string()).is_some() {
        let entries = [("id", id.clone()), ("name", name)];
        let entries = entries.map(|(key, value)| (key.into(), value));
        *id = Value::Map(entries.into());
    }
}
