//! Credits as text and as a table of lines.

use std::io::{self, Write};

use bytes::Bytes;
use hpimount_record::Value;

use super::import::{LINES, import};
use super::{Credits, MAGIC_SIZE};
use crate::origin::Origin;
use crate::view;
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Entry, Node, Nodes, Rule};
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{AssetContext, Measures, Opened, ViewFormat};
use hpimount_containers::text::windows_1252;

/// The file with the texts.
const TEXT: &str = "text.txt";

/// The columns of the table.
const COLUMNS: [&str; 7] = ["section", "line", "start", "end", "preset", "left", "right"];

/// Credits.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"CRDT"],
    converted: Conversion::Always(
        Converted::parts(&[ConvertedFile::named("txt", TEXT)]).within(Folder::Named("texts")),
    ),
    edits: &[
        Editable::new(
            LINES,
            "times, presets and texts; lines can be added and deleted",
        ),
        Editable::new("info.json", "id, durations, flags and motions"),
    ],
    import: Some(|edit| import(edit, &FORMAT)),
    left_out: &[Editable::new(
        TEXT,
        "shows only the texts of credits: edit their lines.tsv",
    )],
    ..ViewFormat::new("HIP credits", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let facts = Origin::of(context).facts;
    let (mut model, error) = so_far(super::parse(bytes, &facts));
    let warnings = std::mem::take(&mut model.warnings);
    let mut page = view::page(FORMAT.name, bytes, context, warnings);
    page.edits()
        .computed(header)
        .list("sections", sections)
        .measures(|model: &Credits| Measures::seconds(model.header.duration));
    if error.is_none() {
        page.file(TEXT, |model, _, out| write(model, out));
    }
    page.table(LINES, lines);
    Ok(page.show(model, error))
}

fn header(model: &Credits) -> Vec<Entry<'_>> {
    let header = node::stored(&model.header, MAGIC_SIZE, model.endian);
    without_size(header).collect()
}

fn sections(model: &Credits) -> Nodes<'_> {
    Box::new(model.sections.iter().map(|section| {
        let header = node::stored(&section.header, section.offset, model.endian);
        let lines = Node::from(section.lines.len()).ruled(Rule::Remark);
        node::map(without_size(header).chain([("lines", lines)]))
    }))
}

/// Leaves out the size in bytes, which an edited line changes.
fn without_size(header: Vec<Entry<'_>>) -> impl Iterator<Item = Entry<'_>> {
    header.into_iter().filter(|(name, _)| *name != "size")
}

/// Writes the lines, each with its second text after a tab, and an empty line between
/// sections.
fn write(model: &Credits, out: &mut dyn Write) -> io::Result<()> {
    for (number, section) in model.sections.iter().enumerate() {
        if number > 0 {
            out.write_all(b"\n")?;
        }
        for line in &section.lines {
            let texts: Vec<_> = line.shown().collect();
            writeln!(out, "{}", texts.join("\t"))?;
        }
    }
    Ok(())
}

fn lines(model: &Credits) -> Rows<'_> {
    let sections = model.sections.iter().enumerate();
    let rows = sections.flat_map(|(number, section)| {
        let lines = section.lines.iter().enumerate();
        lines.map(move |(index, line)| {
            let text = |text: &Bytes| Value::from(windows_1252(text).into_owned());
            let [left, right] = line
                .texts
                .each_ref()
                .map(|one| one.as_ref().map(text).into());
            let header = &line.header;
            let [section, index] = [number, index].map(Value::from);
            let [start, end] = [header.start, header.end].map(Value::from);
            [
                section,
                index,
                start,
                end,
                header.preset.into(),
                left,
                right,
            ]
        })
    });
    Rows::new(COLUMNS, rows)
}
