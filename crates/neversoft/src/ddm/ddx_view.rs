//! View of a list of textures: facts, a table, and each texture as DDS and PNG.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use super::ddx::{self, Ddx, Entry};
use hpimount_assets::model::{padded, png};
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::damaged::failure;
use hpimount_assets::view::json::Seq;
use hpimount_assets::view::listed::{Listed, ListedView, Render, whole_files};
use hpimount_assets::view::{
    AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, json,
};

/// Lists of textures of THPS2X.
pub const DDX_FORMAT: ViewFormat = ViewFormat {
    extensions: ddx::DDX_EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    preview: Some(Preview {
        files: &[],
        rank: 6,
    }),
    ..ViewFormat::new("DDX", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let model = ddx::parse(bytes).map_err(|error| failure(&DDX_FORMAT, bytes, error))?;
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("textures.tsv", table),
    ]);
    for (index, entry) in model.entries.iter().enumerate() {
        let name = format!("{} {}", padded(index, model.entries.len(), 2), entry.stem());
        if entry.shown().is_some() {
            let render = Render::Part(picture, index);
            files.push(Listed::new(None, format!("{name}.png"), render));
        }
        if entry.dds.is_some() {
            let file = Listed::new(None, format!("{name}.dds"), Render::Part(stored, index));
            files.push(file.sized(entry.bytes.len() as u64));
        }
    }
    Ok(Box::new(ListedView { model, files }))
}

fn info(ddx: &Ddx, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Facts<'a> {
        format: &'static str,
        size: u32,
        data: u32,
        entries: Seq<'a, Value>,
        warnings: Vec<String>,
    }
    let facts = Facts {
        format: DDX_FORMAT.name,
        size: ddx.size,
        data: ddx.data,
        entries: Seq::new(|| {
            let entries = ddx.entries.iter().enumerate();
            entries.map(|(index, entry)| entry_facts(index, entry))
        }),
        warnings: ddx.warnings.texts(),
    };
    json::write_pretty(&facts, out)
}

fn entry_facts(index: usize, entry: &Entry) -> Value {
    let mut facts = json!({
        "index": index,
        "name": entry.name,
        "offset": entry.offset,
        "size": entry.size,
    });
    if let Some(dds) = &entry.dds {
        facts["dds"] = json!({
            "width": dds.width,
            "height": dds.height,
            "mipmaps": dds.mipmaps,
            "fourcc": dds.compression,
            "bits": dds.bits,
        });
    }
    if let Some(problem) = &entry.problem {
        facts["error"] = problem.as_str().into();
    }
    facts
}

fn page(ddx: &Ddx, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("DDX list of textures");
    page.list("textures", ddx.entries.iter().map(|entry| &entry.name));
    page.write(&ddx.warnings, out)
}

fn table(ddx: &Ddx, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index", "name", "offset", "size", "width", "height", "mipmaps", "fourcc", "bits",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, entry) in ddx.entries.iter().enumerate() {
        let dds = entry.dds.as_ref();
        table
            .cell(index)
            .text(&entry.name)
            .cell(entry.offset)
            .cell(entry.size)
            .optional(dds.map(|dds| dds.width))
            .optional(dds.map(|dds| dds.height))
            .optional(dds.map(|dds| dds.mipmaps))
            .optional_text(dds.map(|dds| dds.compression.as_str()))
            .optional(dds.map(|dds| dds.bits))
            .end_row()?;
    }
    Ok(())
}

fn picture(ddx: &Ddx, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let entry = ddx.entries.get(index);
    match entry.and_then(|entry| entry.shown()?.picture()) {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}

fn stored(ddx: &Ddx, index: usize, out: &mut dyn Write) -> io::Result<()> {
    match ddx.entries.get(index) {
        Some(entry) => out.write_all(&entry.bytes),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ddx::tests::list;
    use super::*;
    use hpimount_assets::view::{Alone, rendered_text};

    #[test]
    fn each_texture_is_a_picture_and_a_file() {
        let bytes = list(&["floor.dds"]);
        let view = open(&bytes.clone().into(), &Alone).unwrap();
        let names: Vec<_> = view
            .files()
            .into_iter()
            .skip(3)
            .map(|file| file.name)
            .collect();
        assert_eq!(names, ["00 floor.png", "00 floor.dds"]);
        assert_eq!(
            rendered_text(&DDX_FORMAT, &bytes, "textures.tsv").unwrap(),
            "index\tname\toffset\tsize\twidth\theight\tmipmaps\tfourcc\tbits\n\
             0\tfloor.dds\t280\t132\t1\t1\t0\t\t32\n"
        );
    }
}
