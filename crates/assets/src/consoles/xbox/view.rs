//! Views of programs and of packed pictures of the Xbox.

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::Value;
use serde::Deserialize;

use super::import;
use super::xpr::{self, Stored, Xpr};
use crate::parse::slice_of;
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::import::Editable;
use crate::view::node::{Node, map};
use crate::view::page::Page;
use crate::view::{ALONE, AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::io::Warnings;
use hpimount_containers::xbe::{MAGIC, MAX_HEADERS, Program, Section};

/// Programs of the Xbox.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &["xbe"],
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(MAGIC)),
    preview: Some(Preview::new(ALONE, &["title.png", "save.png"])),
    left_out: &[Editable::new(
        "*.png",
        "is a part of a signed program, whose checksums an edit would break",
    )],
    ..ViewFormat::new("XBE", open)
};

/// Packed pictures of the Xbox.
pub const XPR_FORMAT: ViewFormat = ViewFormat {
    extensions: xpr::EXTENSIONS,
    names: xpr::NAMES,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(xpr::MAGIC) && xpr::parse(bytes).is_ok()),
    preview: Some(Preview::new(6, &["frame.png"])),
    edits: &[Editable::PNG],
    import: Some(import::import),
    ..ViewFormat::new("XPR", open_xpr)
};

/// The sections with pictures: of the title, and of its saves.
const PICTURES: [(&str, &str); 2] = [("$$XTIMAG", "title.png"), ("$$XSIMAG", "save.png")];

/// The sections of a program, and pictures.
#[derive(Default, GetSize)]
struct XbeView {
    #[get_size(ignore)]
    sections: Vec<Section>,
    pictures: Vec<Stored>,
}

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let headers = &bytes[..bytes.len().min(MAX_HEADERS as usize)];
    let program = Program::parse(headers)?;
    let mut page = Page::new(FORMAT.name, "Xbox program", Warnings::default());
    let facts = program.certificate.facts();
    for name in ["title", "id", "region", "disc", "version"] {
        page.fact(
            name,
            Value::deserialize(&facts[name]).unwrap_or(Value::Null),
        );
    }
    let mut shown = XbeView {
        sections: program.sections,
        ..XbeView::default()
    };
    page.list("sections", |shown: &XbeView| {
        Box::new(shown.sections.iter().map(|section| {
            map([
                ("name", section.name.clone().into()),
                ("offset", section.offset.into()),
                ("size", section.size.into()),
            ])
        }))
    });
    for (name, file) in PICTURES {
        let Some(section) = shown.sections.iter().find(|section| section.name == name) else {
            continue;
        };
        match picture_in(bytes, section) {
            Ok(picture) => {
                add_picture(&mut page, file, shown.pictures.len());
                shown.pictures.push(picture);
            }
            Err(problem) => {
                page.warn(format!("section {name}: {problem}"));
            }
        }
    }
    Ok(page.show(shown, None))
}

fn add_picture(page: &mut Page<XbeView>, file: &str, number: usize) {
    page.picture(file, move |shown: &XbeView| {
        Some(shown.pictures[number].decode())
    });
}

/// Returns the first picture in a section.
fn picture_in(bytes: &Bytes, section: &Section) -> Result<Stored, String> {
    let (start, size) = (section.offset as usize, section.size as usize);
    let data = bytes.get(start..start.saturating_add(size));
    let data = data.ok_or("extends past the end of the file")?;
    let found = xpr::parse(&slice_of(bytes, data)).map_err(|error| error.to_string())?;
    let first = found.pictures.into_iter().next();
    first.ok_or_else(|| "has no picture".to_owned())
}

fn open_xpr(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let Xpr { pictures } = xpr::parse(bytes)?;
    let mut page = Page::new(XPR_FORMAT.name, "Xbox pictures", Warnings::default());
    page.list("pictures", |shown: &XbeView| {
        Box::new(shown.pictures.iter().map(picture))
    })
    .measures(|shown| {
        let pictures = shown.pictures.iter();
        Measures::pictures(pictures.map(|picture| [picture.width, picture.height]))
    });
    for (number, name) in import::names(pictures.len()).enumerate() {
        add_picture(&mut page, &name, number);
    }
    let shown = XbeView {
        pictures,
        ..XbeView::default()
    };
    Ok(page.show(shown, None))
}

fn picture(picture: &Stored) -> Node<'_> {
    map([
        ("offset", picture.offset.into()),
        ("width", picture.width.into()),
        ("height", picture.height.into()),
        ("format", picture.format.into()),
    ])
}
