//! Edited tables of an archive: the values of assets that their cells show.

use std::collections::HashMap;

use crate::archive::Archive;
use crate::object::is_object;
use crate::parts::{BODY, DYNA};
use hpimount_assets::view::edit::{Edit, Form, Place, Rule, What, id_of};
use hpimount_assets::view::edited_table::{
    Adding, Change, Differences, Rules, ShownTable, differences, edited_text,
};
use hpimount_assets::view::import::Problems;
use hpimount_assets::view::node::Node;
use hpimount_assets::view::report::{Editing, TableEdit, TableEdits, shown_file};
use hpimount_assets::view::{AssetContext, AssetRef};
use hpimount_record::Value;

use super::objects::PLACE;

/// The most ids that a cell shows of a list, and the most elements of one with columns.
const MAX_LISTED: usize = crate::table_view::sheet::MAX_LISTED;

/// The columns of a table of placements after `id`, `name` and `type`.
const SCALE: [&str; 3] = ["scale_x", "scale_y", "scale_z"];

/// Why a cell cannot be edited.
const DERIVED: &str = "is derived";

/// Why a row cannot be edited.
const NO_ASSET: &str = "no asset of the archive has this id";

/// The table of the assets of a type.
pub(super) const TYPES: Editing = Editing {
    key: "asset, and index if there is one; else asset_name",
    cells: "fields that are stored, also references by the names of assets; not kinds, counts \
            and what follows from other fields",
    rows: "with an index can be deleted, and added with an empty index",
    edit: types,
};

/// The table of the fields of objects.
pub(super) const FIELDS: Editing = Editing {
    key: "asset (or asset_name) and field",
    cells: "value, or value_name of a reference",
    rows: Editing::FIXED_ROWS,
    edit: fields,
};

/// The table of links.
pub(super) const LINKS_TABLE: Editing = Editing {
    key: "source (or source_name), and the order of its rows",
    cells: "event, event_id, target, target_name, send, send_id, param1 to param4, param_asset, \
            check_asset and their names",
    rows: "can be added behind those of their source, and deleted",
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

/// Edits a table of the assets of a type, with a row for each, or for each element of
/// their lists.
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

/// Edits the table of links.
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

/// Edits the table of placements.
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

/// Edits the table of texts.
fn texts(context: &dyn AssetContext, shown: &[u8], edited: &[u8]) -> Result<TableEdits, String> {
    let rules = Rules {
        keys: &[&["id"], &["name"]],
        name: Some("name"),
        is_editable: &|column| column == "text",
        ..Rules::FIXED_ROWS
    };
    let found = differences(shown, edited, &rules)?;
    of_cells(context, shown, "id", found, |_, asset, _, change| {
        let shown = shown_file(context, asset, TEXT).unwrap_or_default();
        let text = edited_text(&String::from_utf8_lossy(&shown), &change.text)?;
        Ok(TableEdit::File(
            TEXT.to_owned(),
            text.into_bytes(),
            change.place(),
        ))
    })
}

/// Returns what `edit` makes of each changed cell, for the asset whose id is in a column of
/// its row.
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

/// The lists of values that tables show.
const ROWS: &str = "rows";
const LINKS: &str = "links";

/// The assets of an archive by their ids.
struct Assets<'a> {
    context: &'a dyn AssetContext,
    files: HashMap<String, AssetRef>,
}

impl<'a> Assets<'a> {
    fn new(context: &'a dyn AssetContext) -> Self {
        let archive = Archive::new(context);
        let members = archive.members();
        let files = members.map(|member| (format!("{:08X}", member.asset.id), member.file));
        let files = files.collect();
        Self { context, files }
    }

    /// Returns the asset with an id in hexadecimal digits.
    fn find(&self, id: &str) -> Option<AssetRef> {
        self.files.get(id.trim_start_matches("0x")).copied()
    }

    /// Calls `see` with the values of an asset.
    fn values<T>(&self, asset: AssetRef, see: impl FnOnce(&Node<'_>) -> T) -> Option<T> {
        let view = self.context.model(asset)?;
        let (_, values) = view.values(self.context)?;
        Some(see(&values))
    }

    /// Returns the path of a field by its cell in a table with a row for each, which leaves
    /// out the parts `body` and `dyna`.
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

/// Returns the path of the part of an asset that a row shows, by the table, the number of
/// the row, and its number among the rows of the asset.
type PartOfRow<'a> = &'a dyn Fn(&ShownTable, usize, usize) -> String;

/// A table with rows of many assets.
struct Table<'a> {
    assets: Assets<'a>,
    shown: &'a [u8],
    table: ShownTable,
    /// The column with the id of the asset.
    id: &'static str,
    part_of_row: PartOfRow<'a>,
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
            indexes,
        })
    }

    fn edits(&self, edited: &[u8], rules: &Rules<'_>) -> Result<TableEdits, String> {
        let mut found = differences(self.shown, edited, rules)?;
        // The rows of an asset are together, so that its paths are collected once.
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
            let Some(asset) = self.assets.find(added.get(self.id)) else {
                problems.add(added.problem(self.id, NO_ASSET));
                continue;
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

    /// Returns the value that a changed cell edits. `paths` are of the asset that was
    /// edited before.
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
        // Each row may also show values of the whole asset.
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

    /// Returns the list that the rows of an asset are.
    fn list(&self, asset: AssetRef) -> &'static str {
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

    /// Returns whether the cell of a list does not show all of it.
    fn is_cut(&self, row: usize) -> bool {
        self.table.cell(row, LIST).split(' ').count() >= MAX_LISTED
    }

    /// Returns the paths of the values of an asset by their columns.
    fn paths(&self, asset: AssetRef) -> Paths {
        let mut paths = HashMap::new();
        self.assets.values(asset, |values| {
            values.for_each(&mut |name, node| {
                let Some(name) = name else { return };
                match name {
                    "entity" => placed(node, &mut paths),
                    "position" => {
                        for (index, column) in PLACE[..3].iter().enumerate() {
                            paths.insert((*column).to_owned(), format!("position[{index}]"));
                        }
                    }
                    "header" | "light_kit" | "rest" => {}
                    LINKS => each(
                        node,
                        LINKS,
                        |path, link, paths| {
                            columns(link, &format!("{path}."), path, paths);
                        },
                        &mut paths,
                    ),
                    "commands" => each(
                        node,
                        "commands",
                        |path, command, paths| {
                            let column = path.replace("commands", ROWS);
                            columns(command, &format!("{column}."), path, paths);
                        },
                        &mut paths,
                    ),
                    ROWS => each(
                        node,
                        ROWS,
                        |path, row, paths| {
                            columns(row, &format!("{path}."), path, paths);
                        },
                        &mut paths,
                    ),
                    LIST => {
                        paths.insert(LIST.to_owned(), LIST.to_owned());
                        paths.insert("list_name".to_owned(), LIST.to_owned());
                    }
                    BODY | DYNA => {
                        columns(node, "", name, &mut paths);
                        centre(node, name, &mut paths);
                    }
                    _ => {
                        leaf(node, name, name, &mut paths);
                        part(node, name, &mut paths);
                    }
                }
            });
        });
        paths
    }
}

/// The ids of a group or of the next points.
const LIST: &str = "list";

type Paths = HashMap<String, String>;

/// Returns the value of a cell. The names of a list are separated by `; `.
fn value_of(column: &str, text: &str) -> Value {
    match (column, text) {
        (_, "") => Value::Null,
        ("list_name", names) => names.split("; ").map(str::to_owned).collect(),
        _ => text.to_owned().into(),
    }
}

/// Adds the name of an asset to its id. Names of numbers follow from these.
fn with_name(id: &mut Value, name: Value) {
    if id_of(&id.to_string()).is_some() {
        let entries = [("id", id.clone()), ("name", name)];
        let entries = entries.map(|(key, value)| (key.into(), value));
        *id = Value::Map(entries.into());
    }
}

/// Adds the columns of a part with a name, or of the first elements of a list with one.
fn part(node: &Node<'_>, name: &str, paths: &mut Paths) {
    let mut index = 0;
    node.for_each(&mut |field, child| match field {
        Some(field) => {
            // `motion_type` is a name without the part's, too.
            let prefix = match field.starts_with(name) {
                true => String::new(),
                false => format!("{name}_"),
            };
            leaf(
                child,
                &format!("{prefix}{field}"),
                &format!("{name}.{field}"),
                paths,
            );
        }
        None if index < MAX_LISTED => {
            let path = format!("{name}[{index}]");
            columns(child, &format!("{name}{index}_"), &path, paths);
            index += 1;
        }
        None => {}
    });
}

/// Calls `add` with the path of each element of a list.
fn each(node: &Node<'_>, name: &str, add: impl Fn(&str, &Node<'_>, &mut Paths), paths: &mut Paths) {
    let mut index = 0;
    node.for_each(&mut |_, child| {
        add(&format!("{name}[{index}]"), child, paths);
        index += 1;
    });
}

/// Adds the columns of the fields of a map.
fn columns(node: &Node<'_>, prefix: &str, path: &str, paths: &mut Paths) {
    node.for_each(&mut |name, child| {
        let Some(name) = name else { return };
        let inner = match path {
            "" => name.to_owned(),
            _ => format!("{path}.{name}"),
        };
        if name == "params" {
            for number in 1..=4 {
                paths.insert(
                    format!("{prefix}param{number}"),
                    format!("{inner}[{}]", number - 1),
                );
            }
        } else {
            leaf(child, &format!("{prefix}{name}"), &inner, paths);
        }
    });
}

/// Adds the columns of a field: of a reference two, of a vector one for each part.
fn leaf(node: &Node<'_>, column: &str, path: &str, paths: &mut Paths) {
    let mut add = |column: String, path: String| {
        paths.entry(column).or_insert(path);
    };
    match node {
        Node::Ruled(_, Rule::Stored(Place { form, .. })) => {
            if matches!(form, Form::Reference(_)) {
                add(format!("{column}_name"), path.to_owned());
            }
            add(column.to_owned(), path.to_owned());
        }
        Node::Ruled(_, Rule::Count(_)) => add(column.to_owned(), path.to_owned()),
        Node::List(parts) => {
            let is_color = parts.iter().all(|part| {
                matches!(part, Node::Ruled(_, Rule::Stored(Place { form, .. })) if form.size() == 1)
            });
            let names = if is_color { "rgba" } else { "xyzw" };
            for (index, name) in names.chars().take(parts.len()).enumerate() {
                add(format!("{column}_{name}"), format!("{path}[{index}]"));
            }
        }
        _ => {}
    }
}

/// Adds the columns of the place of an entity.
fn placed(node: &Node<'_>, paths: &mut Paths) {
    let mut triple = |field: &str, columns: &[&str]| {
        for (index, column) in columns.iter().enumerate() {
            paths.insert((*column).to_owned(), format!("entity.{field}[{index}]"));
        }
    };
    node.for_each(&mut |name, _| match name {
        Some("pos") => triple("pos", &PLACE[..3]),
        Some("ang") => triple("ang", &PLACE[3..6]),
        Some("scale") => triple("scale", &SCALE),
        _ => {}
    });
    for column in &PLACE[6..] {
        paths.insert((*column).to_owned(), "entity.model".to_owned());
    }
}

/// Adds the columns of the place of an object that is no entity.
fn centre(node: &Node<'_>, part: &str, paths: &mut Paths) {
    node.for_each(&mut |name, _| {
        if let Some(name @ ("pos" | "center")) = name {
            for (index, column) in PLACE[..3].iter().enumerate() {
                let path = format!("{part}.{name}[{index}]");
                paths.entry((*column).to_owned()).or_insert(path);
            }
        }
    });
}
