//! RWTX and TEXS: textures as pictures.

use bytes::Bytes;
use get_size2::GetSize;

use crate::texture::import::{import, picture_names};
use crate::texture::{self, Texture, Textures};
use crate::view;
use hpimount_assets::model::not_shown;
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::file_type::FileType;
use hpimount_renderware::texture::export;
use hpimount_renderware::texture::table::{COLUMNS, values};

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
    preview: Some(Preview::new(6, &[])),
    edits: &[Editable::PNG],
    import: Some(import),
    ..ViewFormat::new("HIP texture", open)
};

impl GetSize for Textures {
    fn get_heap_size(&self) -> usize {
        let texture = |texture: &Texture| {
            let levels = texture.levels.get_heap_size();
            texture.name.capacity() + texture.mask.capacity() + levels
        };
        self.textures.capacity() * size_of::<Texture>()
            + self.textures.iter().map(texture).sum::<usize>()
    }
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut model, error) = so_far(texture::parse(bytes));
    let warnings = std::mem::take(&mut model.warnings);
    let mut page = view::page(FORMAT.name, bytes, context, warnings);
    page.fact("declared_textures", model.declared)
        .rows("textures", rows)
        .measures(|model: &Textures| {
            let textures = model.textures.iter();
            Measures::pictures(textures.map(|texture| [texture.width, texture.height]))
        });
    let names = picture_names(model.textures.len(), context);
    for (index, (name, texture)) in names.zip(&model.textures).enumerate() {
        if let Some(problem) = export::picture_problem(texture) {
            page.warn(not_shown(format_args!("texture {index}"), problem));
            continue;
        }
        page.picture(name, move |model| {
            export::picture(model.textures.get(index)?)
        });
    }
    Ok(page.show(model, error))
}

fn rows(model: &Textures) -> Rows<'_> {
    let columns = ["index", "name"].into_iter().chain(COLUMNS);
    let rows = model.textures.iter().enumerate().map(|(index, texture)| {
        let mut row = vec![index.into(), texture.name.clone().into()];
        row.extend(values(texture));
        row.push(format!("{:#x}", texture.version.number()).into());
        row
    });
    Rows {
        columns: columns.chain(["version"]).map(Into::into).collect(),
        rows: Box::new(rows),
    }
}
