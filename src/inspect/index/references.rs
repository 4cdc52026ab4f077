//! References, from the reports about the assets of a directory.

use std::io::{self, Write};

use super::ReferenceRow;
use crate::mount::{Ino, Vfs};

/// A report with references, and the columns that are taken from it.
struct Table {
    path: &'static str,
    from: [&'static str; 2],
    field: &'static str,
    to: [&'static str; 2],
    resolved_in: &'static str,
    /// The column and the value of a reference that is missing.
    missing: (&'static str, &'static str),
}

/// The reports with references.
const TABLES: [Table; 3] = [
    Table {
        path: "tables/references.tsv",
        from: ["unit", "from"],
        field: "kind",
        to: ["name", "path"],
        resolved_in: "resolved_in",
        missing: ("path", ""),
    },
    Table {
        path: "tables/refs.tsv",
        from: ["name", "id"],
        field: "field",
        to: ["target_name", "target"],
        resolved_in: "archive",
        missing: ("state", "missing"),
    },
    Table {
        path: "tables/links.tsv",
        from: ["source_name", "source"],
        field: "event",
        to: ["target_name", "target"],
        resolved_in: "",
        missing: ("target_name", ""),
    },
];

/// Sends the references that the reports about a directory have. A report that
/// cannot be written completely is left out from there on.
pub(super) fn send(vfs: &Vfs, directory: Ino, archive: &str, send: &mut dyn FnMut(ReferenceRow)) {
    for report in vfs.reports(directory).unwrap_or_default() {
        let mut tables = TABLES.iter();
        let Some(table) = tables.find(|table| table.path == report.path) else {
            continue;
        };
        let mut rows = Rows {
            table,
            archive,
            columns: Vec::new(),
            line: Vec::new(),
            send,
        };
        // The file that is at fault has the error as its own row.
        let _ = vfs.write_report(directory, report, &mut rows);
    }
}

/// Maximum length of a line in bytes.
const MAX_LINE: usize = 1 << 20;

/// Turns the lines of a table into rows as they are written.
struct Rows<'a> {
    table: &'static Table,
    archive: &'a str,
    /// The names of the columns, once the first line is complete.
    columns: Vec<String>,
    line: Vec<u8>,
    send: &'a mut dyn FnMut(ReferenceRow),
}

impl Rows<'_> {
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let cells: Vec<&str> = line.split('\t').collect();
        if self.columns.is_empty() {
            self.columns = cells.into_iter().map(str::to_owned).collect();
            return;
        }
        let cell = |name: &str| {
            let column = self.columns.iter().position(|column| column == name);
            let cell = column.and_then(|column| cells.get(column).copied());
            cell.unwrap_or_default()
        };
        let resolved_in = cell(self.table.resolved_in);
        let (column, value) = self.table.missing;
        (self.send)(ReferenceRow {
            archive: self.archive.to_owned(),
            from: self.table.from.map(|name| cell(name).to_owned()),
            field: cell(self.table.field).to_owned(),
            to: self.table.to.map(|name| cell(name).to_owned()),
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
            let mut rows = Rows {
                table: &TABLES[0],
                archive: "x.hpi",
                columns: Vec::new(),
                line: Vec::new(),
                send: &mut |row| found.push(row),
            };
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
}
