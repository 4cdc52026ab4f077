//! View of a PCX file.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use super::PICTURE;
use super::export::{colors, picture};
use super::import::import;
use crate::pal::shown::Shown;
use crate::view::failure;
use hpimount_assets::model::{png, size_problem};
use hpimount_assets::parse::pcx::{self, Pcx};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{Listed, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Preview, Summary, View, ViewFormat, json};
use hpimount_containers::file_type::FileType;

/// PCX pictures.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: pcx::EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(&[10, 5, 1]) && pcx::parse(bytes).is_ok()),
    types: &[
        FileType::new("image/vnd.zbrush.pcx", None),
        FileType::new("image/x-pcx", None),
    ],
    preview: Some(Preview {
        files: &[PICTURE],
        rank: 1,
    }),
    import: Some(import),
    ..ViewFormat::new("PCX", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut pcx = pcx::parse(bytes).map_err(|incomplete| failure(*incomplete, facts))?;
    let colors = colors(&pcx, context);
    let mut files = whole_files(&[("info.json", info), ("info.txt", page)]);
    match size_problem(pcx.width.into(), pcx.height.into()) {
        None => files.push(Listed::whole(PICTURE, write_picture)),
        Some(problem) => pcx
            .warnings
            .push(format!("the picture is not shown: {problem}")),
    }
    let shown = Shown { asset: pcx, colors };
    Ok(shown.view(files))
}

fn facts(pcx: &Pcx) -> Value {
    let issues = pcx.game_issues();
    let issues: Vec<String> = issues.iter().map(ToString::to_string).collect();
    json!({
        "format": FORMAT.name,
        "version": pcx.version,
        "encoding": pcx.encoding,
        "bits": pcx.bits,
        "planes": pcx.planes,
        "width": pcx.width,
        "height": pcx.height,
        "origin": [pcx.origin.0, pcx.origin.1],
        "bytes_per_line": pcx.bytes_per_line,
        "game_issues": issues,
        "warnings": pcx.warnings.texts(),
    })
}

fn info(shown: &Shown<Pcx>, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = facts(&shown.asset);
    facts["palette"] = shown.colors.source.as_str().into();
    let mut warnings = shown.asset.warnings.clone();
    if let Ok(decoded) = shown.asset.decode() {
        warnings.append(decoded.warnings);
    }
    facts["warnings"] = warnings.texts().into();
    json::write_pretty(&facts, out)
}

fn page(shown: &Shown<Pcx>, out: &mut dyn Write) -> io::Result<()> {
    let pcx = &shown.asset;
    let mut page = Summary::new("PCX picture");
    page.line("size", format_args!("{} x {}", pcx.width, pcx.height));
    page.line("depth", format_args!("{} of {} bits", pcx.planes, pcx.bits));
    page.line("palette", &shown.colors.source);
    for issue in pcx.game_issues() {
        page.line("in the game", issue);
    }
    page.write(&pcx.warnings, out)
}

fn write_picture(shown: &Shown<Pcx>, out: &mut dyn Write) -> io::Result<()> {
    let picture = picture(&shown.asset, &shown.colors).map_err(io::Error::other)?;
    png::write(&picture, out)
}
