//! Views of programs and of packed pictures of the Xbox.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;
use serde_json::json;

use super::xpr::{self, Stored, Xpr};
use crate::model::{padded, png};
use crate::parse::slice_of;
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::damaged::failure;
use crate::view::listed::{Listed, ListedView, Render, whole_files};
use crate::view::{ALONE, AssetContext, Failure, Preview, Summary, View, ViewFormat, json};
use hpimount_containers::io::Warnings;
use hpimount_containers::xbe::{MAGIC, MAX_HEADERS, Program, Section};

/// Programs of the Xbox.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &["xbe"],
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(MAGIC)),
    preview: Some(Preview {
        files: &["title.png", "save.png"],
        rank: ALONE,
    }),
    ..ViewFormat::new("XBE", open)
};

/// Packed pictures of the Xbox.
pub const XPR_FORMAT: ViewFormat = ViewFormat {
    extensions: xpr::EXTENSIONS,
    names: xpr::NAMES,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(xpr::MAGIC) && xpr::parse(bytes).is_ok()),
    preview: Some(Preview {
        files: &["frame.png"],
        rank: 6,
    }),
    ..ViewFormat::new("XPR", open_xpr)
};

/// The sections with pictures: of the title, and of its saves.
const PICTURES: [(&str, &str); 2] = [("$$XTIMAG", "title.png"), ("$$XSIMAG", "save.png")];

/// A program with its pictures.
#[derive(GetSize)]
struct Title {
    #[get_size(ignore)]
    program: Program,
    pictures: Vec<Stored>,
    warnings: Warnings,
}

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let headers = &bytes[..bytes.len().min(MAX_HEADERS as usize)];
    let program = Program::parse(headers).map_err(|error| failure(&FORMAT, bytes, error))?;
    let mut files = whole_files(&[("info.json", info as _), ("info.txt", page)]);
    let mut warnings = Warnings::default();
    let mut pictures = Vec::new();
    for (section, file) in PICTURES {
        let Some(found) = program.sections.iter().find(|found| found.name == section) else {
            continue;
        };
        match picture_in(bytes, found) {
            Ok(picture) => {
                let render = Render::Part(picture_of_title, pictures.len());
                files.push(Listed::new(None, file.to_owned(), render));
                pictures.push(picture);
            }
            Err(problem) => warnings.push(format!("section {section}: {problem}")),
        }
    }
    let model = Title {
        program,
        pictures,
        warnings,
    };
    Ok(Box::new(ListedView { model, files }))
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

fn info(title: &Title, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = title.program.certificate.facts();
    facts["format"] = FORMAT.name.into();
    let sections = title.program.sections.iter().map(|section| {
        json!({
            "name": section.name,
            "offset": section.offset,
            "size": section.size,
        })
    });
    facts["sections"] = sections.collect();
    facts["warnings"] = title.warnings.texts().into();
    json::write_pretty(&facts, out)
}

fn page(title: &Title, out: &mut dyn Write) -> io::Result<()> {
    let facts = title.program.certificate.facts();
    let mut page = Summary::new("Xbox program");
    for key in ["title", "id", "region"] {
        page.line(key, facts[key].as_str().unwrap_or_default());
    }
    page.line("sections", title.program.sections.len());
    page.write(&title.warnings, out)
}

fn picture_of_title(title: &Title, number: usize, out: &mut dyn Write) -> io::Result<()> {
    write_picture(&title.pictures, number, out)
}

fn write_picture(pictures: &[Stored], number: usize, out: &mut dyn Write) -> io::Result<()> {
    match pictures.get(number) {
        Some(picture) => png::write(&picture.decode(), out),
        None => Ok(()),
    }
}

fn open_xpr(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let model = xpr::parse(bytes).map_err(|error| failure(&XPR_FORMAT, bytes, error))?;
    let mut files = whole_files(&[("info.json", xpr_info as _), ("info.txt", xpr_page)]);
    let count = model.pictures.len();
    for number in 0..count {
        let name = match count {
            1 => "frame.png".to_owned(),
            _ => format!("{}.png", padded(number, count, 2)),
        };
        files.push(Listed::new(None, name, Render::Part(xpr_picture, number)));
    }
    Ok(Box::new(ListedView { model, files }))
}

fn xpr_info(xpr: &Xpr, out: &mut dyn Write) -> io::Result<()> {
    let pictures = xpr.pictures.iter().map(|picture| {
        json!({
            "offset": picture.offset,
            "width": picture.width,
            "height": picture.height,
            "format": picture.format,
        })
    });
    let facts = json!({
        "format": XPR_FORMAT.name,
        "pictures": pictures.collect::<Vec<_>>(),
        "warnings": [],
    });
    json::write_pretty(&facts, out)
}

fn xpr_page(xpr: &Xpr, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("Xbox pictures");
    let sizes = xpr
        .pictures
        .iter()
        .map(|Stored { width, height, .. }| format!("{width} x {height}"));
    page.list("pictures", sizes);
    page.write(&Warnings::default(), out)
}

fn xpr_picture(xpr: &Xpr, number: usize, out: &mut dyn Write) -> io::Result<()> {
    write_picture(&xpr.pictures, number, out)
}
