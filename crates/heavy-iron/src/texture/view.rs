//! RWTX and TEXS: textures as pictures.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::json;

use crate::info::Info;
use crate::names::Names;
use crate::texture::import::import;
use crate::texture::names::picture_names;
use crate::texture::{self, Texture, Textures};
use crate::view::{Kind, Shown};
use hpimount_assets::model::png;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::listed::{Listed, Render};
use hpimount_assets::view::{AssetContext, Failure, Preview, Table, View, ViewFormat};
use hpimount_containers::file_type::FileType;
use hpimount_renderware::texture::export;
use hpimount_renderware::texture::table::{COLUMNS, cells};

/// Textures.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &["rwtx", "texs"],
    asset_types: &[*b"RWTX", *b"TEXS"],
    converted: Conversion::Always(
        Converted::whole(&[ConvertedFile::first("png")]).within(Folder::Named("textures")),
    ),
    types: &[FileType {
        patterns: &["*.rwtx", "*.rw3"],
        ..FileType::new("image/x-renderware-texture", Some("RenderWare texture"))
    }],
    preview: Some(Preview {
        files: &[],
        rank: 6,
    }),
    import: Some(import),
    ..ViewFormat::new("HIP texture", open)
};

pub(crate) const KIND: Kind<Textures> = Kind {
    title: "HIP texture",
    describe,
    warnings: |model| &mut model.warnings,
    heap: |model| {
        let texture = |texture: &Texture| {
            let levels = texture.levels.capacity() * size_of::<texture::Level>();
            texture.name.capacity() + texture.mask.capacity() + levels
        };
        let textures = &model.textures;
        textures.capacity() * size_of::<Texture>() + textures.iter().map(texture).sum::<usize>()
    },
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    KIND.view(bytes, context, texture::parse(bytes), |shown| {
        let mut files = vec![Listed::whole("textures.tsv", |shown: &Shown<_>, out| {
            table(&shown.model, out)
        })];
        let textures = &shown.model.textures;
        let names = (0..).zip(picture_names(textures.len(), context));
        for ((index, name), texture) in names.zip(textures) {
            if let Some(problem) = export::picture_problem(texture) {
                let what = format!("texture {index}");
                shown
                    .info
                    .warnings
                    .push(hpimount_assets::model::not_shown(what, problem));
                continue;
            }
            files.push(Listed::new(None, name, Render::Part(picture, index)));
        }
        files
    })
}

fn describe(model: &Textures, info: &mut Info, _names: Names<'_>) {
    info.add("declared_textures", model.declared);
    let textures = model.textures.iter().map(|texture| {
        json!({
            "name": texture.name,
            "mask": texture.mask,
            "platform": texture.format.platform(),
            "format": texture.format.name(),
            "palette": texture.format.palette_name(),
            "width": texture.width,
            "height": texture.height,
            "depth": texture.depth,
            "levels": texture.levels.len(),
            "alpha": texture.has_alpha,
            "version": format!("{:#x}", texture.version.number()),
        })
    });
    info.add("textures", textures.collect::<Vec<_>>());
}

fn picture(shown: &Shown<Textures>, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let texture = shown.model.textures.get(index);
    match texture.and_then(export::picture) {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}

/// Writes `textures.tsv`.
fn table(model: &Textures, out: &mut dyn Write) -> io::Result<()> {
    let columns = [&["index", "name"][..], &COLUMNS].concat();
    let mut table = Table::new(out, &columns)?;
    for (index, texture) in model.textures.iter().enumerate() {
        table.cell(index).text(&texture.name);
        cells(texture, &mut table);
        table.end_row()?;
    }
    Ok(())
}
