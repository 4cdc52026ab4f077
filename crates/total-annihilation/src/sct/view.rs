//! View of a section of a map.

use bytes::Bytes;

use crate::pal::colors::{Colors, WithColors};
use crate::sct::{self, Sct};
use crate::terrain::TILE_EDGE;
use crate::terrain::import::{HEIGHTS, MINIMAP, Pictures, import};
use crate::terrain::view;
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::file_type::FileType;

/// Sections.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: sct::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named("png", MINIMAP)])),
    types: &[FileType {
        patterns: &["*.sct"],
        ..FileType::new("image/x-ta-sct", Some("Total Annihilation map section"))
    }],
    preview: Some(Preview::new(10, &[MINIMAP, "section.png"])),
    edits: &[
        Editable::new(MINIMAP, "pixels"),
        Editable::new(HEIGHTS, "heights"),
    ],
    import: Some(|edit| import(edit, pictures)),
    left_out: &[Editable::new(
        "section.png",
        "is made from tiles, which are not edited",
    )],
    ..ViewFormat::new("SCT", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut sct, error) = so_far(sct::parse(bytes));
    let heading = format!("SCT section of a map (version {})", sct.version);
    let warnings = std::mem::take(&mut sct.warnings);
    let colors = Colors::of_mount(context);
    let tiles = [sct.terrain.width, sct.terrain.height];
    let mut page = Page::new(FORMAT.name, heading, warnings);
    page.fact("version", sct.version)
        .fact("tiles", tiles)
        .fact("cells", [sct.width(), sct.height()])
        .fact("pixels", tiles.map(|edge| edge.saturating_mul(TILE_EDGE)))
        .measures(|shown: &WithColors<Sct>| {
            let terrain = &shown.asset.terrain;
            let tiles = [terrain.width, terrain.height];
            let [width, height] = tiles.map(|edge| edge.saturating_mul(TILE_EDGE));
            Measures::picture(width, height)
        })
        .fact("tile_count", sct.terrain.tile_count())
        .fact("palette", colors.source.clone())
        .computed(|shown: &WithColors<Sct>| {
            vec![("height_range", view::range(shown.asset.heights()).into())]
        });
    if let Some(minimap) = sct.minimap.clone() {
        page.file(MINIMAP, move |shown, _, out| {
            view::write_minimap(&minimap, None, &shown.colors, out)
        });
    }
    if view::has_ground(&sct.terrain) {
        if view::is_shown_whole(&sct.terrain) {
            page.file("section.png", |shown, _, out| {
                view::write(&shown.asset.terrain, &shown.colors, 1, out)
            });
        } else {
            page.warn("the picture of the section is too large to be shown");
        }
    }
    // After better previews.
    if sct.heights().next().is_some() {
        page.file(HEIGHTS, |WithColors { asset: sct, .. }, _, out| {
            view::write_heights((sct.width(), sct.height()), sct.heights(), out)
        });
    }
    Ok(page.show(WithColors { asset: sct, colors }, error))
}

/// Finds the pictures that can be edited.
fn pictures(file: &Bytes, context: &dyn AssetContext) -> Result<Pictures, String> {
    let sct = sct::parse(file).map_err(|incomplete| incomplete.error.to_string())?;
    Ok(Pictures {
        used: None,
        others: sct.parts_without_pictures(file),
        colors: Colors::of_mount(context),
        size: (sct.width(), sct.height()),
        heights: sct.heights,
        minimap: sct.minimap,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ta::put;
    use fixtures::ta::tnt::Section;
    use hpimount_assets::view::Alone;

    #[test]
    fn a_damaged_part_hides_only_itself() {
        let mut bytes = Section::small(3).file();
        put(&mut bytes, 4, &[0xFF; 4]);
        let view = open(&bytes.into(), &Alone).ok().unwrap();
        let names: Vec<_> = view.files().into_iter().map(|file| file.name).collect();
        let shown = ["info.json", "info.txt", "section.png", "height.png"];
        assert_eq!(names[0], "error.txt");
        assert_eq!(names[1..], shown);
        assert!(view.failure().unwrap().to_string().starts_with("minimap"));
    }
}
