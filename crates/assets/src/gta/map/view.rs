//! Views of maps: a table for each section of their files.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;
use serde_json::{Map, Value, json};

use super::binary::{self, Binary};
use super::document::{self, Document, Section};
use super::schema::{IDE, IPL, Schema};
use crate::view::converted::{Conversion, Converted};
use crate::view::listed::{Listed, ListedView, Render, whole_files};
use crate::view::{AssetContext, Failure, Summary, Table, View, ViewFormat, json};
use hpimount_containers::io::Error;

/// Definitions of models.
pub const IDE_FORMAT: ViewFormat = ViewFormat {
    extensions: &["ide"],
    converted: Conversion::Always(Converted::parts(&[])),
    ..ViewFormat::new("IDE", open_ide)
};

/// Placements, and zones of the map.
pub const IPL_FORMAT: ViewFormat = ViewFormat {
    extensions: &["ipl", "zon"],
    converted: Conversion::Always(Converted::parts(&[])),
    ..ViewFormat::new("IPL", open_ipl)
};

/// A text file of a map.
#[derive(GetSize)]
struct Text {
    format: &'static str,
    #[get_size(ignore)]
    schema: &'static Schema,
    document: Document,
}

fn refused(format: &'static str, error: Error) -> Box<Failure> {
    Box::new(Failure {
        error,
        partial: json!({ "format": format }),
    })
}

fn open_ide(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    open_text(bytes, IDE_FORMAT.name, &IDE)
}

fn open_ipl(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    if !bytes.starts_with(binary::MAGIC) {
        return open_text(bytes, IPL_FORMAT.name, &IPL);
    }
    let model = binary::parse(bytes).map_err(|error| refused(IPL_FORMAT.name, error))?;
    let files = whole_files(&[
        ("info.json", binary_info as _),
        ("info.txt", binary_page),
        ("inst.tsv", binary_instances),
        ("cars.tsv", binary_cars),
    ]);
    Ok(Box::new(ListedView { model, files }))
}

fn open_text(
    bytes: &Bytes,
    format: &'static str,
    schema: &'static Schema,
) -> Result<Box<dyn View>, Box<Failure>> {
    let document = document::parse(bytes, schema).map_err(|error| refused(format, error))?;
    let mut files = whole_files(&[("info.json", info as _), ("info.txt", page)]);
    for (index, section) in document.sections.iter().enumerate() {
        if schema.knows(&section.name) && !section.rows.is_empty() {
            let name = format!("{}.tsv", section.name);
            files.push(Listed::new(None, name, Render::Part(table, index)));
        }
    }
    let model = Text {
        format,
        schema,
        document,
    };
    Ok(Box::new(ListedView { model, files }))
}

/// Maximum number of sections in `info.json`.
const MAX_LISTED: usize = 256;

fn info(text: &Text, out: &mut dyn Write) -> io::Result<()> {
    let sections = text.document.sections.iter().take(MAX_LISTED);
    let rows: Map<String, Value> = sections
        .map(|section| (section.name.clone(), section.rows.len().into()))
        .collect();
    let facts = json!({
        "format": text.format,
        "rows": rows,
        "warnings": text.document.warnings.texts(),
    });
    json::write_pretty(&facts, out)
}

fn page(text: &Text, out: &mut dyn Write) -> io::Result<()> {
    let mut summary = Summary::new(format_args!("{} map file (Grand Theft Auto)", text.format));
    for section in text.document.sections.iter().take(MAX_LISTED) {
        summary.line(&section.name, section.rows.len());
    }
    summary.write(&text.document.warnings, out)
}

/// Writes the table of a section: a column for each field that a form of its
/// rows has, and one for the fields of rows of an unknown form.
fn table(text: &Text, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let Some(section) = text.document.sections.get(index) else {
        return Ok(());
    };
    let names = text.schema.all_columns(&section.name);
    let columns: Vec<_> = ["line"]
        .into_iter()
        .chain(names.iter().copied())
        .chain(["fields"])
        .collect();
    let mut table = Table::new(out, &columns)?;
    rows(text, section, &names, &mut table)
}

fn rows(text: &Text, section: &Section, names: &[&str], table: &mut Table<'_>) -> io::Result<()> {
    for row in &section.rows {
        let fields: Vec<_> = text.document.fields(row).collect();
        let form = text.schema.columns(&section.name, fields.len());
        table.cell(row.line);
        for name in names {
            let place = form.and_then(|form| form.iter().position(|column| column == name));
            table.optional_text(place.and_then(|place| fields.get(place)).copied());
        }
        match form {
            Some(_) => table.cell(""),
            None => table.text(&fields.join(" ")),
        };
        table.end_row()?;
    }
    Ok(())
}

fn binary_info(binary: &Binary, out: &mut dyn Write) -> io::Result<()> {
    let facts = json!({
        "format": "IPL binary",
        "rows": {"inst": binary.instances.len(), "cars": binary.cars.len()},
        "warnings": binary.warnings.texts(),
    });
    json::write_pretty(&facts, out)
}

fn binary_page(binary: &Binary, out: &mut dyn Write) -> io::Result<()> {
    let mut summary = Summary::new("Binary IPL map file (Grand Theft Auto)");
    summary
        .line("inst", binary.instances.len())
        .line("cars", binary.cars.len());
    summary.write(&binary.warnings, out)
}

fn binary_instances(binary: &Binary, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index", "id", "interior", "x", "y", "z", "rx", "ry", "rz", "rw", "lod",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, one) in binary.instances.iter().enumerate() {
        table.cell(index).cell(one.id).cell(one.interior);
        for part in one.position.iter().chain(&one.rotation) {
            table.float(*part);
        }
        table.cell(one.lod).end_row()?;
    }
    Ok(())
}

fn binary_cars(binary: &Binary, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "x",
        "y",
        "z",
        "angle",
        "model",
        "color1",
        "color2",
        "force",
        "alarm",
        "locked",
        "min_delay",
        "max_delay",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, car) in binary.cars.iter().enumerate() {
        table.cell(index);
        for part in car.position.iter().chain([&car.angle]) {
            table.float(*part);
        }
        for value in car.values {
            table.cell(value);
        }
        table.end_row()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::view::rendered;

    #[test]
    fn each_section_is_a_table_with_the_fields_of_all_forms() {
        let text = b"objs\n1 crate box 100 0\n2 two box 1 80 4\n3 odd\nend\n";
        assert_eq!(
            rendered(super::open_ide, text, "objs.tsv"),
            "line\tid\tmodel\ttxd\tmeshes\tdraw1\tdraw2\tdraw3\tflags\tfields\n\
             2\t1\tcrate\tbox\t\t100\t\t\t0\t\n\
             3\t2\ttwo\tbox\t1\t80\t\t\t4\t\n\
             4\t\t\t\t\t\t\t\t\t3 odd\n"
        );
    }
}
