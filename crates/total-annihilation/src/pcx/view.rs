//! View of a PCX file.

use std::io;

use bytes::Bytes;

use super::import::import;
use super::{PICTURE, colors, picture};
use crate::pal::colors::WithColors;
use hpimount_assets::model::{not_shown, png, size_problem};
use hpimount_assets::parse::pcx::{self, Pcx};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::file_type::FileType;
use hpimount_record::Value;

/// PCX pictures.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: pcx::EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    matches: Some(|bytes| bytes.starts_with(&[10, 5, 1]) && pcx::parse(bytes).is_ok()),
    types: &[
        FileType::new("image/vnd.zbrush.pcx", None),
        FileType::new("image/x-pcx", None),
    ],
    preview: Some(Preview::new(1, &[PICTURE])),
    edits: &[Editable::PNG],
    import: Some(import),
    ..ViewFormat::new("PCX", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut pcx, error) = so_far(pcx::parse(bytes));
    let warnings = std::mem::take(&mut pcx.warnings);
    let colors = colors(&pcx, context);
    let issues = pcx.game_issues().into_iter().map(|issue| issue.to_string());
    let mut page = Page::new(FORMAT.name, "PCX picture", warnings);
    page.fact("version", pcx.version)
        .fact("encoding", pcx.encoding)
        .fact("bits", pcx.bits)
        .fact("planes", pcx.planes)
        .fact("width", pcx.width)
        .fact("height", pcx.height)
        .measures(|WithColors { asset: pcx, .. }: &WithColors<Pcx>| {
            Measures::picture(pcx.width, pcx.height)
        })
        .fact("origin", [pcx.origin.0, pcx.origin.1])
        .fact("bytes_per_line", pcx.bytes_per_line)
        .fact("game_issues", Value::from_iter(issues))
        .fact("palette", colors.source.clone())
        .check(|shown: &WithColors<Pcx>| {
            let decoded = shown.asset.decode();
            decoded.map(|picture| picture.warnings).unwrap_or_default()
        });
    match size_problem(pcx.width.into(), pcx.height.into()) {
        _ if error.is_some() => &mut page,
        None => page.file(PICTURE, |shown: &WithColors<Pcx>, _, out| {
            let picture = picture(&shown.asset, &shown.colors).map_err(io::Error::other)?;
            png::write(&picture, out)
        }),
        Some(problem) => page.warn(not_shown("the picture", problem)),
    };
    Ok(page.show(WithColors { asset: pcx, colors }, error))
}
