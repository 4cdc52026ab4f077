//! Import of edited tables of maps.

use super::binary::{self, Binary};
use super::objects::{self, Objects};
use super::scene_import;
use crate::document::edit::EditedDocument;
use crate::document::schema::{IPL, Schema};
use crate::document::{self, Document};
use crate::models;
use hpimount_assets::view::edited_table::{Added, Adding, Deleted, Differences, Rules, of_view};
use hpimount_assets::view::import::{Changed, Edit, Imported, NOT_THIS_FILE, Problems};
use hpimount_assets::view::{AssetContext, ViewFormat};
use hpimount_containers::io::Endian;
use hpimount_record::{self as record, Record, Writer};

/// Rules for editing the table of a section.
const TEXT_RULES: Rules<'_> = Rules {
    keys: &[&["line"]],
    name: None,
    is_editable: &|column| column != "fields",
    adding: Adding::WithoutIndex,
    can_delete: true,
};

/// Encodes an edited table of a text file.
pub(super) fn import_text(
    edit: &Edit<'_>,
    format: &ViewFormat,
    schema: &'static Schema,
) -> Result<Imported, String> {
    let document = document::parse(edit.asset, schema).map_err(|error| error.to_string())?;
    let is_map = edit.part.name.ends_with(".glb");
    let name = match is_map {
        true => "inst",
        false => edit.part.name.strip_suffix(".tsv").unwrap_or_default(),
    };
    let is_part = |name: &str| edit.part.folder.is_none() && schema.knows(name);
    let sections = document.sections.iter();
    let section = sections
        .clone()
        .position(|section| section.name == name && is_part(name));
    let section = section.ok_or(NOT_THIS_FILE)?;
    let mut found = match is_map {
        true => {
            let models = models::models(edit.context);
            let objects = Objects::of_text(&document, &models, edit.context);
            scene_import::differences(edit, &objects, &TextRows(&document))?
        }
        false => of_view(format, edit, &TEXT_RULES)?,
    };
    found.deleted.sort_unstable_by_key(|deleted| deleted.row);
    let mut edited = EditedSection {
        edited: EditedDocument::new(edit.asset, &document, schema),
        document: &document,
        schema,
        section,
        problems: Problems::default(),
    };
    edited.change(&found);
    if name == "inst" {
        edited.renumber(&found.deleted);
    }
    edited.problems.check()?;
    let Some(asset) = edited.edited.finish()? else {
        return Ok(Imported::Unchanged);
    };
    let mut changed = Changed {
        asset,
        warnings: found.warnings,
        ..Changed::default()
    };
    if name == "inst" && !found.deleted.is_empty() {
        follow(edit.context, &document, &found.deleted, &mut changed)?;
    }
    Ok(Imported::Changed(changed))
}

/// The objects of a text file.
struct TextRows<'a>(&'a Document);

impl scene_import::Row for TextRows<'_> {
    fn line(&self, row: usize) -> u64 {
        let rows = self.0.rows("inst");
        rows.get(row).map_or(0, |row| row.line.into())
    }

    fn fields(&self, row: usize) -> Vec<(String, String)> {
        let Some(row) = self.0.rows("inst").get(row) else {
            return Vec::new();
        };
        let named = self.0.named(&IPL, "inst", row);
        let columns = IPL.columns("inst", named.fields.len());
        let columns = columns.into_iter().flatten();
        let fields = columns.zip(&named.fields);
        fields
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect()
    }
}

/// A section of a text file during an edit.
struct EditedSection<'a> {
    edited: EditedDocument<'a>,
    document: &'a Document,
    schema: &'static Schema,
    section: usize,
    problems: Problems,
}

impl EditedSection<'_> {
    /// Makes the changes of the section's table.
    fn change(&mut self, found: &Differences) {
        let rows = &self.document.sections[self.section];
        for change in &found.changes {
            let count = self.document.fields(&rows.rows[change.row]).count();
            let mut columns = self.schema.columns(&rows.name, count).into_iter().flatten();
            let field = columns.position(|name| name == &*change.column);
            let set = match field {
                Some(_) if !is_possible(&change.column, &change.text) => {
                    Err(format!("{:?} is no whole number", change.text))
                }
                Some(field) => self
                    .edited
                    .set(self.section, change.row, field, &change.text),
                None => Err(format!("is no field of a row with {count} fields")),
            };
            if let Err(problem) = set {
                self.problems.add(change.problem(problem));
            }
        }
        for deleted in &found.deleted {
            self.edited.delete(self.section, deleted.row);
        }
        for added in &found.added {
            if let Err(problem) = self.add(added, &found.deleted) {
                self.problems.add(problem);
            }
        }
    }

    /// Adds a row. Deleted rows change the number of its distant replacement.
    fn add(&mut self, added: &Added, deleted: &[Deleted]) -> Result<(), String> {
        let name = &self.document.sections[self.section].name;
        let names: Vec<&str> = added.cells.iter().map(|(name, _)| &**name).collect();
        let form = self.schema.form(name, &names).ok_or_else(|| {
            let (has, line) = (names.join(" "), added.line);
            format!("line {line}: no row of {name} has just the fields {has}")
        })?;
        for (column, text) in &added.cells {
            if !is_possible(column, text) {
                return Err(added.problem(column, format_args!("{text:?} is no whole number")));
            }
        }
        let mut fields: Vec<String> = form
            .clone()
            .map(|name| added.get(name).to_owned())
            .collect();
        let lod = form.clone().position(|name| name == "lod");
        if let Some(lod) = lod.map(|place| &mut fields[place]) {
            let number = lod.parse().map_or(Ok(None), |lod| renumbered(lod, deleted));
            let number = number.map_err(|line| replaces(line, added.line))?;
            *lod = number.map_or(std::mem::take(lod), |number| number.to_string());
        }
        let added_row = self.edited.add(self.section, fields);
        added_row.map_err(|(field, problem)| {
            let column = form.clone().nth(field).unwrap_or_default();
            added.problem(column, problem)
        })
    }

    /// Changes the numbers of distant replacements after rows were deleted.
    fn renumber(&mut self, deleted: &[Deleted]) {
        if deleted.is_empty() {
            return;
        }
        let name = &self.document.sections[self.section].name;
        let rows = self.document.sections[self.section].rows.len();
        for row in 0..rows {
            let Some(fields) = self.edited.fields(self.section, row) else {
                continue;
            };
            let mut columns = self
                .schema
                .columns(name, fields.len())
                .into_iter()
                .flatten();
            let Some(place) = columns.position(|column| column == "lod") else {
                continue;
            };
            let Ok(lod) = fields[place].parse() else {
                continue;
            };
            match renumbered(lod, deleted) {
                Ok(None) => {}
                Ok(Some(lod)) => {
                    let lod = lod.to_string();
                    if let Err(problem) = self.edited.set(self.section, row, place, &lod) {
                        self.problems.add(problem);
                    }
                }
                Err(line) => {
                    let of = self.document.sections[self.section].rows[row].line;
                    self.problems.add(replaces(line, of.into()));
                }
            }
        }
    }
}

/// Returns false for a number in a column of whole numbers that is not whole.
fn is_possible(column: &str, text: &str) -> bool {
    let is_whole = ["id", "interior", "lod"].contains(&column);
    !is_whole || text.parse::<f64>().is_err() || text.parse::<i64>().is_ok()
}

/// Returns the problem of a deleted object that replaces another one.
fn replaces(line: u64, of: u64) -> String {
    format!("line {line}, column #: replaces the object of line {of} from afar")
}

/// Returns the new number of an object in a text file, if it changes. Fails with the
/// line of the edited table if the object was deleted.
fn renumbered(lod: i64, deleted: &[Deleted]) -> Result<Option<i64>, u64> {
    let row = |deleted: &Deleted| deleted.row as i64;
    let before = deleted.partition_point(|one| row(one) < lod);
    match deleted.get(before) {
        Some(deleted) if row(deleted) == lod => Err(deleted.line),
        _ => Ok((before > 0).then(|| lod - before as i64)),
    }
}

/// Changes the numbers of objects in the binary files of a text file after rows of the
/// text file were deleted.
fn follow(
    context: &dyn AssetContext,
    document: &Document,
    deleted: &[Deleted],
    changed: &mut Changed,
) -> Result<(), String> {
    let mut problems = Problems::default();
    let streams = objects::streams(context);
    let has_lods = document
        .rows("inst")
        .iter()
        .any(|row| document.named(&IPL, "inst", row).get("lod").is_some());
    if streams.is_empty() && has_lods {
        changed.warnings.push(
            "objects behind the deleted ones have new numbers: the column lod of binary files in \
             archives does not follow"
                .to_owned(),
        );
    }
    for file in streams {
        let read = || Some((context.read(file)?, context.path_of(file)));
        let Some((bytes, path)) = read() else {
            continue;
        };
        let Ok(mut binary) = binary::parse(&bytes) else {
            continue;
        };
        let mut is_changed = false;
        for one in &mut binary.instances {
            match renumbered(one.lod.into(), deleted) {
                Ok(None) => {}
                Ok(Some(lod)) => {
                    one.lod = lod as i32;
                    is_changed = true;
                }
                Err(line) => problems.add(format!(
                    "line {line}, column #: replaces an object of {path} from afar"
                )),
            }
        }
        if is_changed {
            changed.others.push((file, stored(&bytes, &binary)));
        }
    }
    problems.check()
}

/// Rules for editing the tables of a binary file.
const BINARY_RULES: Rules<'_> = Rules {
    keys: &[&["index"]],
    name: None,
    is_editable: &|_| true,
    ..Rules::FIXED_ROWS
};

/// Encodes an edited table of a binary file.
pub(super) fn import_binary(edit: &Edit<'_>, format: &ViewFormat) -> Result<Imported, String> {
    let mut binary = binary::parse(edit.asset).map_err(|error| error.to_string())?;
    let found = match &*edit.part.name {
        "map.glb" => {
            let models = models::models(edit.context);
            let objects = Objects::of_binary(&binary, &models);
            scene_import::differences(edit, &objects, &BinaryRows)?
        }
        "inst.tsv" | "cars.tsv" => of_view(format, edit, &BINARY_RULES)?,
        _ => return Err(NOT_THIS_FILE.to_owned()),
    };
    if !found.added.is_empty() || !found.deleted.is_empty() {
        return Err("has other objects than the binary file: only their places go back".to_owned());
    }
    let mut problems = Problems::default();
    for change in &found.changes {
        let record: Option<&mut dyn Record> = match &*edit.part.name {
            "inst.tsv" | "map.glb" => binary.instances.get_mut(change.row).map(|one| one as _),
            "cars.tsv" => binary.cars.get_mut(change.row).map(|one| one as _),
            _ => None,
        };
        let record = record.ok_or(NOT_THIS_FILE)?;
        let set = record::set_cell(record, &change.column, &change.text);
        if let Err(problem) = set {
            problems.add(change.problem(problem.reason()));
        }
    }
    problems.check()?;
    Ok(found.imported(edit, stored(edit.asset, &binary)))
}

/// The objects of a binary file, which have no lines.
struct BinaryRows;

impl scene_import::Row for BinaryRows {
    fn line(&self, row: usize) -> u64 {
        row as u64
    }

    fn fields(&self, _: usize) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Returns a binary file with these entries in place of its own.
fn stored(bytes: &[u8], binary: &Binary) -> Vec<u8> {
    fn write<R: Record>(bytes: &mut [u8], start: usize, entries: &[R]) {
        // The offset of an empty list may be anywhere, even past the end of the file.
        if entries.is_empty() {
            return;
        }
        let mut writer = Writer::new(Endian::Little);
        entries
            .iter()
            .for_each(|entry| record::write(entry, &mut writer));
        bytes[start..][..writer.bytes.len()].copy_from_slice(&writer.bytes);
    }
    let mut bytes = bytes.to_vec();
    write(&mut bytes, binary.instances_at, &binary.instances);
    write(&mut bytes, binary.cars_at, &binary.cars);
    bytes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::view::{IDE_FORMAT, IPL_FORMAT};
    use super::*;
    use bytes::Bytes;
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::{AssetKey, AssetRef, MakeShared, Shared, ViewFile, rendered_text};

    const PLACED: &str = "inst\r\n\
        1, near, 0, 1.50, 2, 3, 0, 0, 0, 1, 2 # a note\r\n\
        2, other, 0, 1, 2, 3, 0, 0, 0, 1, -1\r\n\
        3, far, 0, 1, 2, 3, 0, 0, 0, 1, -1\r\nend\r\n";

    /// Returns the file with an edited table, after replacing texts.
    fn with(
        format: &ViewFormat,
        asset: &[u8],
        table: &str,
        edits: &[(&str, &str)],
    ) -> Result<Vec<u8>, String> {
        let mut text = rendered_text(format, asset, table).unwrap();
        for (old, new) in edits {
            assert!(text.contains(old), "{old:?} is not in {text}");
            text = text.replace(old, new);
        }
        match edited(format, asset, table, text.as_bytes())? {
            Imported::Unchanged => Ok(asset.to_vec()),
            Imported::Changed(changed) => Ok(changed.asset),
        }
    }

    fn placed(edits: &[(&str, &str)]) -> Result<String, String> {
        let changed = with(&IPL_FORMAT, PLACED.as_bytes(), "inst.tsv", edits)?;
        Ok(String::from_utf8(changed).unwrap())
    }

    #[test]
    fn only_the_edited_fields_of_rows_change() {
        assert_eq!(placed(&[]).unwrap(), PLACED);
        assert_eq!(placed(&[("1.50", "1.5")]).unwrap(), PLACED);
        let moved = placed(&[("near\t0\t1.50\t2", "near\t0\t-4\t2.25")]).unwrap();
        assert_eq!(moved, PLACED.replace("1.50, 2,", "-4, 2.25,"));
        let definitions = b"objs\n1 a b 100 0\nend\n";
        assert_eq!(
            with(
                &IDE_FORMAT,
                definitions,
                "objs.tsv",
                &[("\t100\t", "\t299.5\t")]
            )
            .unwrap(),
            b"objs\n1 a b 299.5 0\nend\n"
        );
    }

    #[test]
    fn rows_are_added_with_the_fields_of_a_form() {
        let row = "\t4\tnew\t0\t7\t8\t9\t\t\t\t0\t0\t0\t1\t-1\t\n";
        let with_row = |row: &str| placed(&[("4\t3\tfar", &format!("{row}4\t3\tfar"))]);
        let end = "4, new, 0, 7, 8, 9, 0, 0, 0, 1, -1\r\nend";
        assert_eq!(with_row(row).unwrap(), PLACED.replace("end", end));
        assert_eq!(
            with_row("\t4\tnew\n").unwrap_err(),
            "line 4: no row of inst has just the fields id model"
        );
        let row = row.replace('7', "far");
        assert_eq!(
            with_row(&row).unwrap_err(),
            "line 4, column x: \"far\" is no number"
        );
    }

    #[test]
    fn replacements_of_added_rows_follow_deleted_rows() {
        let with_row = |deleted: &str| {
            let table = format!(
                "#\tline\tid\tmodel\tinterior\tx\ty\tz\trx\try\trz\trw\tlod\n\
                 -\t{deleted}\n\t\t4\tnew\t0\t7\t8\t9\t0\t0\t0\t1\t2\n"
            );
            edited(&IPL_FORMAT, PLACED.as_bytes(), "inst.tsv", table.as_bytes())
        };
        let Ok(Imported::Changed(changed)) = with_row("3") else {
            panic!("a row was added");
        };
        let changed = String::from_utf8(changed.asset).unwrap();
        assert!(
            changed.contains("4, new, 0, 7, 8, 9, 0, 0, 0, 1, 1\r\nend"),
            "{changed}"
        );
        let lines = with_row("4").unwrap_err();
        let expected = "line 2, column #: replaces the object of line 3 from afar";
        assert!(lines.contains(expected), "{lines}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        assert_eq!(
            placed(&[
                ("other", "an other"),
                ("1.50", "far"),
                ("near\t0", "near\t")
            ])
            .unwrap_err(),
            "line 2, column interior (2): cannot be empty: rows keep their number of fields; \
             line 2, column x (2): \"far\" is no number; \
             line 3, column model (3): \"an other\": ' ' separates fields, and cannot be in one"
        );
        assert_eq!(
            placed(&[("near\t0\t1.50\t2\t3\t", "near\t0\t1.50\t2\t3\t1")]).unwrap_err(),
            "line 2, column sx (2): is no field of a row with 11 fields"
        );
        assert_eq!(
            placed(&[("near\t0\t", "near\t0.5\t")]).unwrap_err(),
            "line 2, column interior (2): \"0.5\" is no whole number"
        );
        let binary = binary_file(&[5]);
        for part in ["models.tsv", "info.json", "zone.tsv"] {
            for file in [PLACED.as_bytes(), &*binary] {
                let refused = edited(&IPL_FORMAT, file, part, b"line\n");
                assert_eq!(refused, Err(NOT_THIS_FILE.to_owned()), "{part}");
            }
        }
    }

    /// A mount with a binary file of the text file `map.ipl`.
    struct Streamed(Bytes);

    impl AssetContext for Streamed {
        fn name(&self) -> &str {
            "map.ipl"
        }

        fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
            None
        }

        fn find_extensions(&self, _: &str, _: &[&str]) -> Vec<AssetRef> {
            vec![AssetRef(1)]
        }

        fn path_of(&self, _: AssetRef) -> String {
            "data/MAP_stream0.ipl".to_owned()
        }

        fn read(&self, _: AssetRef) -> Option<Bytes> {
            Some(self.0.clone())
        }

        fn shared(&self, _: &'static str, _: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
            None
        }
    }

    /// Returns a binary file of objects with these distant replacements.
    fn binary_file(lods: &[i32]) -> Vec<u8> {
        let header = [lods.len() as u32, 0, 0, 0, 0, 0, 0x4C];
        let mut bytes = [binary::MAGIC, &header.map(u32::to_le_bytes).concat()].concat();
        bytes.resize(0x4C, 0);
        for &lod in lods {
            let numbers = [1.0_f32, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0].map(f32::to_le_bytes);
            bytes.extend(numbers.concat());
            bytes.extend([7, 0, lod].map(i32::to_le_bytes).concat());
        }
        bytes
    }

    #[test]
    fn replacements_follow_deleted_rows_also_in_binary_files() {
        let delete = |lods: &[i32], row: &str| -> Result<Changed, String> {
            let asset = Bytes::from_static(PLACED.as_bytes());
            let context = Streamed(binary_file(lods).into());
            let table = format!("#\tline\n-\t{row}\n");
            let edit = Edit {
                asset: &asset,
                original: &asset,
                context: &context,
                part: &ViewFile::from("inst.tsv"),
                file: table.as_bytes(),
            };
            match import_text(&edit, &IPL_FORMAT, &IPL)? {
                Imported::Changed(changed) => Ok(changed),
                Imported::Unchanged => panic!("a row was deleted"),
            }
        };
        let changed = delete(&[2, -1, 0], "3").unwrap();
        let other = "2, other, 0, 1, 2, 3, 0, 0, 0, 1, -1\r\n";
        let expected = PLACED.replace(other, "").replace("1, 2 #", "1, 1 #");
        assert_eq!(String::from_utf8(changed.asset).unwrap(), expected);
        assert_eq!(changed.others, [(AssetRef(1), binary_file(&[1, -1, 0]))]);
        assert_eq!(
            delete(&[-1], "4").unwrap_err(),
            "line 2, column #: replaces the object of line 2 from afar"
        );
        assert_eq!(
            delete(&[1], "3").unwrap_err(),
            "line 2, column #: replaces an object of data/MAP_stream0.ipl from afar"
        );
    }

    #[test]
    fn a_binary_file_without_cars_may_have_any_offset_of_them() {
        let with_offset = |lods: &[i32]| {
            let mut file = binary_file(lods);
            file[4 + 6 * 4 + 4 * 8..][..4].fill(0xFF);
            file
        };
        let changed = with(
            &IPL_FORMAT,
            &with_offset(&[5]),
            "inst.tsv",
            &[("5\n", "9\n")],
        );
        assert_eq!(changed, Ok(with_offset(&[9])));
    }

    #[test]
    fn entries_of_binary_files_change_in_place() {
        let file = binary_file(&[5, -1]);
        let edits = [("1\t1\t2\t3", "1\t1\t2.5\t3"), ("-1\n", "9\n")];
        let changed = with(&IPL_FORMAT, &file, "inst.tsv", &edits).unwrap();
        let mut expected = binary_file(&[5, 9]);
        expected[0x4C + 40 + 4..][..4].copy_from_slice(&2.5_f32.to_le_bytes());
        assert_eq!(changed, expected);
        assert_eq!(
            with(&IPL_FORMAT, &file, "inst.tsv", &[("-1\n", "x\n")]).unwrap_err(),
            "line 3, column lod (1): \"x\" is not a whole number"
        );
    }
}
