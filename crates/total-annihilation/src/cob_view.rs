//! View of a script: its code as text, and its names.

use bytes::Bytes;

use crate::Names;
use crate::cob::{self, Cob};
use crate::tdo;
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Nodes};
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};
use hpimount_containers::file_type::{FileType, Magic};
use hpimount_containers::text::stem;

/// Compiled scripts.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: cob::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    types: &[FileType {
        magic: &[Magic::at(0, &[4, 0, 0, 0]), Magic::at(0, &[6, 0, 0, 0])],
        priority: 50,
        // COBOL files have this extension, too; they are text.
        patterns: &["*.cob"],
        ..FileType::new("application/x-ta-cob", Some("Total Annihilation script"))
    }],
    edits: &[Editable::new("script.bos", "functions")],
    import: Some(cob::import),
    ..ViewFormat::new("COB", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut cob, error) = so_far(cob::parse(bytes));
    let heading = format!("COB script (version {})", cob.version);
    let warnings = std::mem::take(&mut cob.warnings);
    let mut page = Page::new(FORMAT.name, heading, warnings);
    page.fact("version", cob.version)
        .fact("compiled_with", cob.compiled_with())
        .fact("code_words", cob.code_words())
        .fact("statics", cob.statics)
        .list("scripts", scripts)
        .list("pieces", |cob| texts(&cob.pieces))
        .list("strings", |cob| texts(&cob.strings));
    if error.is_none() || cob.code_words() > 0 {
        page.file(cob::TEXT, |cob, _, out| cob.decompile(out))
            .file("script.asm", |cob, _, out| cob.disassemble(out));
    }
    let unit = stem(context.name());
    if let Some(model) = tdo::of_unit(context, unit) {
        let (names, path) = (model.names(), tdo::path_of(unit));
        for piece in cob.pieces.iter() {
            if !names.contains(&piece.text().to_ascii_lowercase()) {
                page.warn(format!("piece \"{piece}\" is not in {path}"));
            }
        }
    }
    Ok(page.show(cob, error))
}

fn scripts(cob: &Cob) -> Nodes<'_> {
    let names = cob.scripts.iter().enumerate();
    Box::new(names.map(|(index, name)| {
        let start = cob.script_start(index);
        node::map([("name", name.to_string().into()), ("start", start.into())])
    }))
}

fn texts(names: &Names) -> Nodes<'_> {
    Box::new(names.iter().map(|name| name.to_string().into()))
}
