//! TEXT and CRDT as text.

use std::io::{self, Write};

use bytes::Bytes;

use crate::info::Info;
use crate::names::Names;
use crate::text::credits::{self, Credits, Line, Section};
use crate::text::import::{TEXT, import};
use crate::text::{self, Tag, Text};
use crate::view::{Kind, write_text};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::listed::Listed;
use hpimount_assets::view::{AssetContext, Failure, Table, View, ViewFormat};

/// Texts.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"TEXT"],
    converted: Conversion::Always(
        Converted::whole(&[ConvertedFile::named("txt", TEXT)]).within(Folder::Named("texts")),
    ),
    import: Some(import),
    ..ViewFormat::new("HIP text", open)
};

/// Credits.
pub const CREDITS_FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"CRDT"],
    converted: Conversion::Always(
        Converted::whole(&[ConvertedFile::named("txt", "text.txt")]).within(Folder::Named("texts")),
    ),
    ..ViewFormat::new("HIP credits", open_credits)
};

pub(crate) const KIND: Kind<Text> = Kind {
    title: "HIP text",
    describe,
    warnings: |model| &mut model.warnings,
    heap: |model| model.text.capacity(),
};

pub(crate) const CREDITS: Kind<Credits> = Kind {
    title: "HIP credits",
    describe: describe_credits,
    warnings: |model| &mut model.warnings,
    heap: |model| {
        let lines = |section: &Section| section.lines.capacity() * size_of::<Line>();
        let sections = &model.sections;
        sections.capacity() * size_of::<Section>() + sections.iter().map(lines).sum::<usize>()
    },
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let facts = crate::origin::Origin::of(context).facts;
    KIND.view(bytes, context, text::parse(bytes, &facts), |shown| {
        let size = shown.model.text.len() as u64;
        let text = Listed::whole(TEXT, |shown: &crate::view::Shown<Text>, out| {
            write_text(&shown.model.text, out)
        });
        vec![text.sized(size)]
    })
}

fn describe(model: &Text, info: &mut Info, _names: Names<'_>) {
    info.add("declared_length", model.declared);
    info.add("characters", model.text.chars().count());
    let tags: Vec<_> = model.tags().collect();
    info.add("tags", tags.len());
    let references = tags.iter().filter_map(|tag| tag.reference());
    let names: Vec<_> = references.map(|(_, name)| name).collect();
    info.add("references", names);
    let closing = tags.iter().copied().filter(|tag| Tag::is_closing(*tag));
    info.add("closing_tags", closing.count());
}

fn open_credits(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let facts = crate::origin::Origin::of(context).facts;
    CREDITS.view(bytes, context, credits::parse(bytes, &facts), |_| {
        vec![
            Listed::whole("text.txt", |shown: &crate::view::Shown<Credits>, out| {
                credits_text(&shown.model, out)
            }),
            Listed::whole("lines.tsv", |shown: &crate::view::Shown<Credits>, out| {
                credits_table(&shown.model, out)
            }),
        ]
    })
}

fn describe_credits(model: &Credits, info: &mut Info, _names: Names<'_>) {
    info.add("version", model.version);
    info.add("own_id", format!("{:08X}", model.id));
    info.add("state", model.state);
    info.add("duration", model.duration);
    info.add("sections", model.sections.len());
    let lines = model.sections.iter().map(|section| section.lines.len());
    info.add("lines", lines.sum::<usize>());
}

/// Writes `text.txt`: the lines, each with its second text after a tab, and an
/// empty line between sections.
fn credits_text(model: &Credits, out: &mut dyn Write) -> io::Result<()> {
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

/// Writes `lines.tsv`.
fn credits_table(model: &Credits, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["section", "line", "start", "end", "preset", "left", "right"];
    let mut table = Table::new(out, &columns)?;
    for (number, section) in model.sections.iter().enumerate() {
        for (index, line) in section.lines.iter().enumerate() {
            table.cell(number).cell(index);
            table.float(line.start).float(line.end).cell(line.preset);
            for text in &line.texts {
                let text = text
                    .as_ref()
                    .map(|text| hpimount_containers::text::windows_1252(text));
                table.optional_text(text.as_deref());
            }
            table.end_row()?;
        }
    }
    Ok(())
}
