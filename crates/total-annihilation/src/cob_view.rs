//! View of a script: its code as text, and its names.

use std::io::{self, Write};

use bytes::Bytes;
use serde::Serialize;
use serde_json::json;

use crate::cob::{self, Cob};
use crate::tdo;
use crate::view::{partial_view, parts, stem};
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::json::Seq;
use hpimount_assets::view::listed::{Listed, Render, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Summary, View, ViewFormat, json};
use hpimount_containers::file_type::{FileType, Magic};
use hpimount_containers::io::Warnings;

/// Compiled scripts.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: cob::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    types: &[FileType {
        magic: &[Magic::at(0, &[4, 0, 0, 0]), Magic::at(0, &[6, 0, 0, 0])],
        priority: 50,
        // COBOL has this extension, too; it is text.
        patterns: &["*.cob"],
        ..FileType::new("application/x-ta-cob", Some("Total Annihilation script"))
    }],
    ..ViewFormat::new("COB", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let is_shown = |cob: &Cob| cob.code_words() > 0;
    let (cob, error) = parts(cob::parse(bytes), is_shown, |cob| {
        json::bounded_value(&Facts::new(cob, &cob.warnings), &json!({}))
    })?;
    let mut files = vec![
        Listed::new(None, "info.json".into(), Render::InContext(info, 0)),
        Listed::new(None, "info.txt".into(), Render::InContext(page, 0)),
    ];
    files.extend(whole_files(&[
        ("script.bos", source as _),
        ("script.asm", script),
    ]));
    Ok(partial_view(cob, files, error))
}

#[derive(Serialize)]
struct Facts<'a> {
    format: &'static str,
    version: u32,
    compiled_with: Option<String>,
    code_words: usize,
    statics: u32,
    scripts: Seq<'a, ScriptFacts>,
    pieces: Seq<'a, String>,
    strings: Seq<'a, String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct ScriptFacts {
    name: String,
    start: Option<u32>,
}

impl<'a> Facts<'a> {
    fn new(cob: &'a Cob, warnings: &Warnings) -> Self {
        Self {
            format: FORMAT.name,
            version: cob.version,
            compiled_with: cob.compiled_with(),
            code_words: cob.code_words(),
            statics: cob.statics,
            scripts: Seq::new(|| {
                let names = cob.scripts.iter().enumerate();
                names.map(|(index, name)| ScriptFacts {
                    name: name.to_string(),
                    start: cob.script_start(index),
                })
            }),
            pieces: Seq::new(|| cob.pieces.iter().map(|name| name.to_string())),
            strings: Seq::new(|| cob.strings.iter().map(|name| name.to_string())),
            warnings: warnings.texts(),
        }
    }
}

/// Returns the warnings of a script, including pieces that its model lacks.
fn warnings(cob: &Cob, context: &dyn AssetContext) -> Warnings {
    let mut warnings = cob.warnings.clone();
    let unit = stem(context.name());
    if let Some(model) = tdo::of_unit(context, unit) {
        let (names, path) = (model.names(), tdo::path_of(unit));
        for piece in cob.pieces.iter() {
            if !names.contains(&piece.text().to_ascii_lowercase()) {
                warnings.push(format!("piece \"{piece}\" is not in {path}"));
            }
        }
    }
    warnings
}

fn info(
    cob: &Cob,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    json::write_pretty(&Facts::new(cob, &warnings(cob, context)), out)
}

fn page(
    cob: &Cob,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = Summary::new(format_args!("COB script (version {})", cob.version));
    page.line("scripts", cob.scripts.len());
    page.line("pieces", cob.pieces.len());
    page.line("code", format_args!("{} words", cob.code_words()));
    if let Some(compiler) = cob.compiled_with() {
        page.line("compiled with", compiler);
    }
    page.write(&warnings(cob, context), out)
}

fn source(cob: &Cob, out: &mut dyn Write) -> io::Result<()> {
    cob.decompile(out)
}

fn script(cob: &Cob, out: &mut dyn Write) -> io::Result<()> {
    cob.disassemble(out)
}
