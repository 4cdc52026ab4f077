//! TEXT and CRDT as text.

use std::io::{self, Write};

use bytes::Bytes;
use hpimount_record::Value;

use crate::names::hex;
use crate::origin::Origin;
use crate::text::credits::{self, Credits};
use crate::text::import::{TEXT, import};
use crate::text::{self, Tag, Text};
use crate::view::{self, list};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{AssetContext, Measures, Opened, ViewFormat};
use hpimount_containers::text::windows_1252;

/// Texts.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"TEXT"],
    converted: Conversion::Always(
        Converted::whole(&[ConvertedFile::named("txt", TEXT)]).within(Folder::Named("texts")),
    ),
    edits: &[Editable::new(TEXT, "text")],
    import: Some(import),
    ..ViewFormat::new("HIP text", open)
};

/// Credits.
pub const CREDITS_FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"CRDT"],
    converted: Conversion::Always(
        Converted::whole(&[ConvertedFile::named("txt", "text.txt")]).within(Folder::Named("texts")),
    ),
    left_out: &[Editable::new(
        "text.txt",
        "is made from credits, whose lines have times and styles that the text lacks",
    )],
    ..ViewFormat::new("HIP credits", open_credits)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let facts = Origin::of(context).facts;
    let (mut model, error) = so_far(text::parse(bytes, &facts));
    let warnings = std::mem::take(&mut model.warnings);
    let mut page = view::page(FORMAT.name, bytes, context, warnings);
    let tags: Vec<_> = model.tags().collect();
    let references = tags.iter().filter_map(|tag| tag.reference());
    let closing = tags.iter().copied().filter(|tag| Tag::is_closing(*tag));
    page.fact("declared_length", model.declared)
        .fact("characters", model.text.chars().count())
        .fact("tags", tags.len())
        .fact(
            "references",
            list(references.map(|(_, name)| name.to_owned())),
        )
        .fact("closing_tags", closing.count())
        .file(TEXT, |model: &Text, _, out| {
            out.write_all(model.text.as_bytes())
        })
        .sized(model.text.len() as u64);
    Ok(page.show(model, error))
}

fn open_credits(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let facts = Origin::of(context).facts;
    let (mut model, error) = so_far(credits::parse(bytes, &facts));
    let warnings = std::mem::take(&mut model.warnings);
    let mut page = view::page(CREDITS_FORMAT.name, bytes, context, warnings);
    let lines = model.sections.iter().map(|section| section.lines.len());
    page.fact("version", model.version)
        .fact("own_id", hex(model.id))
        .fact("state", model.state)
        .fact("duration", model.duration)
        .measures(|model: &Credits| Measures::seconds(model.duration))
        .fact("sections", model.sections.len())
        .fact("lines", lines.sum::<usize>());
    if error.is_none() {
        page.file("text.txt", |model, _, out| write(model, out));
    }
    page.table("lines.tsv", lines_of);
    Ok(page.show(model, error))
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

fn lines_of(model: &Credits) -> Rows<'_> {
    let sections = model.sections.iter().enumerate();
    let rows = sections.flat_map(|(number, section)| {
        let lines = section.lines.iter().enumerate();
        lines.map(move |(index, line)| {
            let text = |text: &Bytes| Value::from(windows_1252(text).into_owned());
            let [left, right] = line
                .texts
                .each_ref()
                .map(|one| one.as_ref().map(text).into());
            let [section, index] = [number, index].map(Value::from);
            let [start, end] = [line.start, line.end].map(Value::from);
            let preset = line.preset.into();
            [section, index, start, end, preset, left, right]
        })
    });
    let columns = ["section", "line", "start", "end", "preset", "left", "right"];
    Rows::new(columns, rows)
}
