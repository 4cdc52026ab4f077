//! View of the names of a character's parts: facts and tables.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::json;

use crate::neversoft::psh::{self, Named, Psh};
use crate::view::damaged::failure;
use crate::view::json::Seq;
use crate::view::listed::{ListedView, whole_files};
use crate::view::{AssetContext, Failure, Summary, Table, View, ViewFormat, json};
use hpimount_containers::io::Warnings;

/// Names of the parts of characters.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: psh::EXTENSIONS,
    ..ViewFormat::new("PSH", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let model = psh::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("parts.tsv", parts),
        ("animations.tsv", animations),
    ]);
    Ok(Box::new(ListedView { model, files }))
}

fn info(psh: &Psh, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Facts<'a> {
        format: &'static str,
        parts: Seq<'a, serde_json::Value>,
        animations: Seq<'a, serde_json::Value>,
        warnings: [(); 0],
    }
    let facts = Facts {
        format: FORMAT.name,
        parts: Seq::new(|| {
            psh.parts.iter().map(|part| {
                let Named { index, name } = &part.named;
                json!({ "index": index, "name": name, "parent": part.parent })
            })
        }),
        animations: Seq::new(|| {
            let animations = psh.animations.iter();
            animations.map(|Named { index, name }| json!({ "index": index, "name": name }))
        }),
        warnings: [],
    };
    json::write_pretty(&facts, out)
}

fn page(psh: &Psh, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("Names of a character's parts");
    page.list("parts", psh.parts.iter().map(|part| &part.named.name));
    let animations = psh.animations.iter();
    page.list("animations", animations.map(|animation| &animation.name));
    page.write(&Warnings::default(), out)
}

fn parts(psh: &Psh, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["index", "name", "parent"])?;
    for part in &psh.parts {
        table
            .cell(part.named.index)
            .text(&part.named.name)
            .optional_text(part.parent.as_deref())
            .end_row()?;
    }
    Ok(())
}

fn animations(psh: &Psh, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["index", "name"])?;
    for animation in &psh.animations {
        table
            .cell(animation.index)
            .text(&animation.name)
            .end_row()?;
    }
    Ok(())
}
