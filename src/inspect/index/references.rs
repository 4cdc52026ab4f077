//! References, from the reports about the assets of a directory.

use std::io::{self, Write};

use super::ReferenceRow;
use crate::mount::{Ino, Vfs};

/// A report with references, and the meaning of its columns.
struct Table {
    path: &'static str,
    /// The columns with the name and the place of the referring object, the
    /// field, the name and the place of the target, and the target's archive. The
    /// name is empty if the report has no such column.
    columns: [&'static str; 6],
    /// The column and the value of a reference that is missing.
    missing: (&'static str, &'static str),
}

/// The reports with references. Games of different kinds have reports with the
/// same path and other columns.
const TABLES: [Table; 4] = [
    Table {
        path: "tables/references.tsv",
        columns: ["unit", "from", "kind", "name", "path", "resolved_in"],
        missing: ("path", ""),
    },
    Table {
        path: "tables/references.tsv",
        columns: ["model", "file", "needs", "name", "found", ""],
        missing: ("found", ""),
    },
    Table {
        path: "tables/refs.tsv",
        columns: ["name", "id", "field", "target_name", "target", "archive"],
        missing: ("state", "missing"),
    },
    Table {
        path: "tables/links.tsv",
        columns: [
            "source_name",
            "source",
            "event",
            "target_name",
            "target",
            "",
        ],
        missing: ("target_name", ""),
    },
];

impl Table {
    /// Returns the report with this path and these columns.
    fn find(path: &str, columns: &[String]) -> Option<&'static Self> {
        let has = |column: &&str| column.is_empty() || columns.iter().any(|one| one == column);
        let mut tables = TABLES.iter();
        tables.find(|table| table.path == path && table.columns.iter().all(has))
    }
}

/// Sends the references that the reports about a directory have. A report that
/// cannot be written completely is left out from there on.
pub(super) fn send(vfs: &Vfs, directory: Ino, archive: &str, send: &mut dyn FnMut(ReferenceRow)) {
    for report in vfs.reports(directory).unwrap_or_default() {
        if TABLES.iter().all(|table| table.path != report.path) {
            continue;
        }
        let mut rows = Rows::new(report.path, archive, send);
        // The file that is at fault has the error as its own row.
        let _ = vfs.write_report(directory, report, &mut rows);
    }
}

/// Maximum length of a line in bytes.
const MAX_LINE: usize = 1 << 20;

/// Turns the lines of a table into rows as they are written.
struct Rows<'a> {
    path: &'a str,
    archive: &'a str,
    /// The names of the columns, once the first line is complete.
    columns: Vec<String>,
    /// The report that has these columns; `None` for one without references.
    table: Option<&'static Table>,
    line: Vec<u8>,
    send: &'a mut dyn FnMut(ReferenceRow),
}

impl<'a> Rows<'a> {
    fn new(path: &'a str, archive: &'a str, send: &'a mut dyn FnMut(ReferenceRow)) -> Self {
        Self {
            path,
            archive,
            columns: Vec::new(),
            table: None,
            line: Vec::new(),
            send,
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let cells: Vec<&str> = line.split('\t').collect();
        if self.columns.is_empty() {
            self.columns = cells.into_iter().map(str::to_owned).collect();
            self.table = Table::find(self.path, &self.columns);
            return;
        }
        let Some(table) = self.table else {
            return;
        };
        let cell = |name: &str| {
            let column = self.columns.iter().position(|column| column == name);
            let cell = column.and_then(|column| cells.get(column).copied());
            cell.unwrap_or_default()
        };
        let [from, from_place, field, to, to_place, resolved_in] = table.columns.map(cell);
        let (column, value) = table.missing;
        (self.send)(ReferenceRow {
            archive: self.archive.to_owned(),
            from: [from, from_place].map(str::to_owned),
            field: field.to_owned(),
            to: [to, to_place].map(str::to_owned),
            resolved_in: (!resolved_in.is_empty()).then(|| resolved_in.to_owned()),
            is_missing: cell(column) == value,
        });
    }
}

impl Write for Rows<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            match byte {
                b'\n' => self.end_line(),
                _ if self.line.len() < MAX_LINE => self.line.push(byte),
                _ => return Err(io::ErrorKind::FileTooLarge.into()),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_cells_of_their_columns_in_whatever_pieces_they_come() {
        let text = "unit\tkind\tname\tpath\tresolved_in\tfrom\n\
                    TANK\tweapon\tGUN\tweapons/gun.tdf\ta.hpi\tunits/tank.fbi\n\
                    TANK\tsound\tBOOM\n";
        for size in [1, 7, text.len()] {
            let mut found = Vec::new();
            let mut send = |row| found.push(row);
            let mut rows = Rows::new("tables/references.tsv", "x.hpi", &mut send);
            for piece in text.as_bytes().chunks(size) {
                rows.write_all(piece).unwrap();
            }
            let [weapon, sound] = &found[..] else {
                panic!("{found:?}")
            };
            assert_eq!(weapon.from, ["TANK", "units/tank.fbi"]);
            assert_eq!(weapon.to, ["GUN", "weapons/gun.tdf"]);
            assert_eq!(weapon.resolved_in.as_deref(), Some("a.hpi"));
            assert_eq!((weapon.is_missing, sound.is_missing), (false, true));
            assert_eq!(
                (sound.field.as_str(), sound.resolved_in.as_ref()),
                ("sound", None)
            );
        }
    }

    #[test]
    fn the_columns_tell_reports_of_the_same_path_apart() {
        let text = "file\tline\tsection\tid\tmodel\tneeds\tname\tfound\n\
                    a.ide\t2\tobjs\t5\ttree\ttextures\ttrees\ttrees.txd\n\
                    a.ide\t2\tobjs\t5\ttree\tmodel\ttree\t\n";
        let found = |path: &str, text: &str| {
            let mut found = Vec::new();
            let mut send = |row| found.push(row);
            Rows::new(path, "", &mut send)
                .write_all(text.as_bytes())
                .unwrap();
            found
        };
        let [textures, model] = &found("tables/references.tsv", text)[..] else {
            panic!("two rows");
        };
        assert_eq!(textures.from, ["tree", "a.ide"]);
        assert_eq!(textures.field, "textures");
        assert_eq!(textures.to, ["trees", "trees.txd"]);
        assert_eq!((textures.is_missing, model.is_missing), (false, true));
        assert!(found("tables/refs.tsv", text).is_empty());
    }
}
