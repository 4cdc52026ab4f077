//! View of a map: its ground, minimap, heights, and features.

use std::io::{self, Write};

use bytes::Bytes;

use super::ota::{self, Start};
use super::scenery::{self, Scenery};
use crate::pal::colors::{Colors, WithColors};
use crate::tdf;
use crate::terrain::TILE_EDGE;
use crate::terrain::import::{HEIGHTS, MINIMAP, Pictures, import};
use crate::terrain::view::{self, REDUCED};
use crate::tnt::{self, Ground, Tnt, Version};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::edit::{Form, Place};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Entry, Node, Nodes, Rule};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{
    AssetContext, AssetKey, AssetRef, Measures, Opened, Preview, ViewFormat,
};
use hpimount_containers::file_type::FileType;
use hpimount_containers::io::Endian;
use hpimount_containers::text::stem;
use hpimount_record::{Field, Text, Value};

/// Maps.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: tnt::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named("png", MINIMAP)])),
    types: &[FileType {
        patterns: &["*.tnt"],
        ..FileType::new("image/x-ta-tnt", Some("Total Annihilation map"))
    }],
    preview: Some(Preview::new(5, &[MINIMAP, "map_1_8.png"])),
    edits: &[
        Editable::new("info.json", "sea_level, flags and names of features"),
        Editable::new("features.tsv", "names"),
        Editable::new(MINIMAP, "pixels"),
        Editable::new(HEIGHTS, "heights"),
    ],
    import: Some(|edit| import(edit, pictures)),
    left_out: &[Editable::new(
        "map*.png",
        "is made from tiles, which are not edited",
    )],
    ..ViewFormat::new("TNT", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut tnt, error) = so_far(tnt::parse(bytes));
    let warnings = std::mem::take(&mut tnt.warnings);
    let colors = colors(tnt.version, context);
    let heading = format!("TNT map ({})", name(tnt.version));
    let mut page = Page::new(FORMAT.name, heading, warnings);
    page.edits()
        .computed(facts)
        .measures(|shown: &WithColors<Tnt>| {
            let [width, height] = pixels(&shown.asset);
            Measures::picture(width, height)
        })
        .list("features", features_with_places);
    add_files(&tnt, context, &mut page);
    Ok(page.show(WithColors { asset: tnt, colors }, error))
}

/// Returns the name of a version.
fn name(version: Version) -> &'static str {
    match version {
        Version::Ta => "TA",
        Version::OldTa => "TA, early form",
        Version::Kingdoms => "TAK",
    }
}

fn colors(version: Version, context: &dyn AssetContext) -> Colors {
    match version {
        Version::Ta | Version::OldTa => Colors::of_mount(context),
        Version::Kingdoms => Colors::of_kingdoms_map(context),
    }
}

/// Finds the pictures that can be edited.
fn pictures(file: &Bytes, context: &dyn AssetContext) -> Result<Pictures, String> {
    let tnt = tnt::parse(file).map_err(|incomplete| incomplete.error.to_string())?;
    Ok(Pictures {
        used: tnt.minimap_used(),
        others: tnt.parts_without_pictures(file),
        colors: colors(tnt.version, context),
        size: (tnt.width, tnt.height),
        heights: tnt.heights,
        minimap: tnt.minimap,
    })
}

/// Returns width and height in tiles; a tile covers four cells.
fn tiles(tnt: &Tnt) -> [u32; 2] {
    [tnt.width / 2, tnt.height / 2]
}

/// Returns width and height of the ground in pixels.
fn pixels(tnt: &Tnt) -> [u32; 2] {
    tiles(tnt).map(|edge| edge.saturating_mul(TILE_EDGE))
}

fn facts(shown: &WithColors<Tnt>) -> Vec<Entry<'_>> {
    let tnt = &shown.asset;
    let value = |value: Value| Node::from(value);
    let minimap = tnt.minimap.as_ref();
    let minimap = minimap.map(|minimap| [minimap.width, minimap.height]);
    let used = tnt.minimap_used().map(|(width, height)| [width, height]);
    let without = tnt.cells_without_feature().into_iter();
    let without = without.map(|(word, count)| (format!("{word:04X}").into(), count.into()));
    let word = |value: u32, at: Option<usize>| match at {
        Some(at) => Node::from(value).stored(Place::new(at, Endian::Little, Form::U32)),
        None => value.into(),
    };
    let is_stored = tnt.flags & 1 != 0;
    vec![
        ("game", value(name(tnt.version).into())),
        ("cells", value([tnt.width, tnt.height].into())),
        ("tiles", value(tiles(tnt).into())),
        ("pixels", value(pixels(tnt).into())),
        ("tile_count", tnt.terrain.tile_count().into()),
        ("sea_level", word(tnt.sea_level, tnt.sea_level_at)),
        ("flags", word(tnt.flags, tnt.flags_at)),
        (
            "uses_stored_minimap",
            value(is_stored.into()).derived("is the lowest bit of flags"),
        ),
        ("minimap", value(minimap.into())),
        ("minimap_used", value(used.into()).ruled(Rule::Remark)),
        ("ground", value(tnt.ground.as_ref().map(ground).into())),
        ("palette", value(shown.colors.source.clone().into())),
        (
            "height_range",
            value(view::range(tnt.heights())).ruled(Rule::Remark),
        ),
        ("features_placed", placed(tnt).iter().sum::<usize>().into()),
        ("cells_without_feature", Node::Map(without.collect())),
    ]
}

fn ground(ground: &Ground) -> Value {
    Value::Map(vec![
        ("places".into(), ground.len().into()),
        ("coordinate_size".into(), ground.coordinate_size.into()),
        ("large_minimap".into(), ground.large_minimap.into()),
    ])
}

/// Returns the number of cells with each feature.
fn placed(tnt: &Tnt) -> Vec<usize> {
    let mut counts = vec![0; tnt.features.len()];
    for feature in (0..tnt.cells()).filter_map(|cell| tnt.feature(cell)) {
        if let Some(count) = counts.get_mut(feature) {
            *count += 1;
        }
    }
    counts
}

fn add_files(tnt: &Tnt, context: &dyn AssetContext, page: &mut Page<WithColors<Tnt>>) {
    if !tnt.features.is_empty() {
        page.table("features.tsv", features)
            .cells(&[&["number"]], |_, row, column, text| {
                let name = || Value::text(text.to_owned());
                (column == "name").then(|| (format!("features[{row}].name"), name()))
            });
    }
    let used = tnt.minimap_used();
    let minimap = tnt.minimap.clone();
    if let Some(minimap) = minimap.filter(|minimap| view::is_picture(minimap, used)) {
        page.file(MINIMAP, move |shown, _, out| {
            view::write_minimap(&minimap, used, &shown.colors, out)
        });
    }
    if view::has_ground(&tnt.terrain) {
        page.file("map_1_8.png", |shown, _, out| {
            view::write(&shown.asset.terrain, &shown.colors, REDUCED, out)
        });
        if view::is_shown_whole(&tnt.terrain) {
            page.file("map.png", |shown, _, out| {
                view::write(&shown.asset.terrain, &shown.colors, 1, out)
            });
            if !tnt.features.is_empty() && !scenery::texts(context).is_empty() {
                page.file("map_features.png", |shown, context, out| {
                    write_scenery(shown, &[], context, out)
                });
            }
            if text_of(context).is_some() {
                page.file("map_starts.png", |shown, context, out| {
                    write_scenery(shown, &starts(context), context, out)
                });
            }
        } else {
            page.warn("the map is shown only at an eighth of its size");
        }
    }
    // After better previews.
    if tnt.heights().next().is_some() {
        page.file(HEIGHTS, |WithColors { asset: tnt, .. }, _, out| {
            view::write_heights((tnt.width, tnt.height), tnt.heights(), out)
        });
    }
}

/// Returns the features, whose names can be edited.
fn features_with_places(shown: &WithColors<Tnt>) -> Nodes<'_> {
    let form = Form::Own {
        size: tnt::NAME_SIZE,
        encode: |name, _| {
            let mut stored = Text::<{ tnt::NAME_SIZE }>::default();
            let set = stored.set(name);
            set.map_err(|problem| problem.reason().to_owned())?;
            Ok(stored.0.to_vec())
        },
    };
    let features = &shown.asset.features;
    let counted = features.iter().zip(placed(&shown.asset)).enumerate();
    Box::new(counted.map(move |(number, (feature, count))| {
        let place = Place::new(features.name_offset(number), Endian::Little, form);
        node::map([
            ("index", feature.index.into()),
            ("name", Node::from(feature.name).stored(place)),
            ("placed", count.into()),
        ])
    }))
}

/// Returns the names of features, and the number of cells with each.
fn features(shown: &WithColors<Tnt>) -> Rows<'_> {
    let features = shown.asset.features.iter().zip(placed(&shown.asset));
    let rows = features.enumerate().map(|(number, (feature, count))| {
        [
            number.into(),
            feature.index.into(),
            feature.name.into(),
            count.into(),
        ]
    });
    Rows::new(["number", "index", "name", "placed"], rows)
}

/// Writes the ground with its features and start positions.
fn write_scenery(
    shown: &WithColors<Tnt>,
    starts: &[Start],
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut scenery = Scenery::new(&shown.asset, &shown.colors.palette, context);
    scenery.add_starts(starts, &shown.colors.palette);
    let mut rows = scenery.rows();
    let mut draw = |y: u32, row: &mut [u8]| rows.draw(y, row);
    view::write_with(&shown.asset.terrain, &shown.colors, &mut draw, out)
}

fn starts(context: &dyn AssetContext) -> Vec<Start> {
    let Some(text) = text_of(context).and_then(|file| context.read(file)) else {
        return Vec::new();
    };
    let text = tdf::parse(&text).unwrap_or_else(|lost| lost.model);
    let header = text.root().section("GlobalHeader");
    header.map(ota::starts).unwrap_or_default()
}

/// Returns the text of a map.
fn text_of(context: &dyn AssetContext) -> Option<AssetRef> {
    let name = format!("{}.ota", stem(context.name()));
    context.find(AssetKey::Sibling(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ta::put;
    use fixtures::ta::tnt::{Kingdoms, Map};
    use fixtures::{edited_table, edited_value};
    use hpimount_assets::view::Alone;

    /// Offsets of the pointers to the parts of a map in its header.
    const CELLS: usize = 0x10;
    const TILES: usize = 0x14;
    const FEATURES: usize = 0x20;

    /// Returns a map of 16 x 16 cells, which is large enough for a minimap.
    fn map() -> Map {
        Map {
            width: 16,
            height: 16,
            map: vec![0; 64],
            cells: vec![(1, 0xFFFF); 256],
            minimap: (252, 252, vec![0; 252 * 252]),
            ..Map::small()
        }
    }

    /// Opens a file with the word `value` at the offset `at`, renders all files of its
    /// view, and returns their names.
    fn files_with(mut bytes: Vec<u8>, at: usize, value: u32) -> Vec<String> {
        put(&mut bytes, at, &value.to_le_bytes());
        let view = open(&bytes.into(), &Alone).ok().unwrap();
        let files = view.files();
        for (index, file) in files.iter().enumerate() {
            let mut rendering = Vec::new();
            view.render(index, &Alone, &mut rendering).unwrap();
            assert!(!rendering.is_empty(), "{}", file.name);
            if file.name == "error.txt" {
                let error = view.failure().unwrap();
                assert_eq!(rendering, format!("{error}\n").into_bytes());
            }
        }
        let has_error = files.iter().any(|file| file.name == "error.txt");
        assert_eq!(view.failure().is_some(), has_error);
        files.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn a_damaged_part_hides_only_itself() {
        let expected = [
            "error.txt",
            "info.json",
            "info.txt",
            "features.tsv",
            "minimap.png",
            "map_1_8.png",
            "map.png",
            "height.png",
        ];
        let without = |hidden: &[&str]| -> Vec<&str> {
            let names = expected.into_iter();
            names.filter(|name| !hidden.contains(name)).collect()
        };
        let damaged = |at| files_with(map().file(0x2000), at, u32::MAX);
        assert_eq!(damaged(FEATURES), without(&["features.tsv"]));
        assert_eq!(damaged(CELLS), without(&["height.png"]));
        assert_eq!(damaged(TILES), expected, "missing tiles are black");
        let intact = files_with(map().file(0x2000), 4, 16);
        assert_eq!(intact, without(&["error.txt"]));
        let kingdoms = files_with(Kingdoms::small(false).file(), 0x20, u32::MAX);
        assert_eq!(
            kingdoms,
            without(&["map_1_8.png", "map.png"]),
            "the ground is in other files"
        );
    }

    #[test]
    fn features_are_renamed_in_their_table() {
        let file = Bytes::from(map().file(0x2000));
        let edited = |names: [&str; 2]| edited_table(&FORMAT, &file, "features.tsv", names);
        let named = |name: &str| {
            let features = vec!["Tree".to_owned(), name.to_owned()];
            let file = Map { features, ..map() }.file(0x2000);
            Ok(Some(Bytes::from(file)))
        };
        let longest = "R".repeat(127);
        assert!(edited(["Rock", "Palm 2"]) == named("Palm 2"));
        assert!(edited(["Rock", &longest]) == named(&longest));
        let umlaut = edited(["Rock", "Öl"]).unwrap().unwrap();
        assert!(umlaut.windows(4).any(|name| name == b"\xD6l\0\0"));
        let refused = edited(["Rock", &"R".repeat(128)]).unwrap_err();
        let (start, end) = (
            "line 3, column name (1): \"RR",
            "is not at most 127 letters",
        );
        assert!(
            refused.starts_with(start) && refused.ends_with(end),
            "{refused}"
        );
        assert!(edited(["1\t1\tRock", "1\t7\tRock"]).is_err(), "indices");
    }

    #[test]
    fn sea_level_and_flags_are_edited_where_each_version_has_them() {
        let map = |sea_level| Map { sea_level, ..map() };
        for version in [0x2000, 0x1020] {
            let edited = edited_value(&FORMAT, &map(75).file(version), "sea_level", "90");
            assert!(edited == Ok(Some(map(90).file(version))));
            let edited = edited_value(&FORMAT, &map(75).file(version), "flags", "6");
            let edited = tnt::parse(&edited.unwrap().unwrap().into()).unwrap();
            assert_eq!((edited.flags, edited.sea_level), (6, 75));
        }
        let kingdoms = Kingdoms::small(true).file();
        let edited = edited_value(&FORMAT, &kingdoms, "sea_level", "90");
        let edited = tnt::parse(&edited.unwrap().unwrap().into()).unwrap();
        assert_eq!(edited.sea_level, 90);
        edited_value(&FORMAT, &kingdoms, "flags", "1").unwrap_err();
    }

    #[test]
    fn a_map_with_a_damaged_part_has_its_preview_in_the_converted_tree() {
        let mut bytes = map().file(0x2000);
        put(&mut bytes, FEATURES, &[0xFF; 4]);
        let view = open(&bytes.into(), &Alone).ok().unwrap();
        assert!(view.failure().is_some());
        let preview = FORMAT.converted.of(None).files[0].find(&*view).unwrap();
        assert_eq!(view.files()[preview].name, "minimap.png");
    }

    #[test]
    fn a_file_of_another_version_or_size_has_only_its_error() {
        for (at, value) in [(0, 0x3000), (4, 0), (8, u32::MAX)] {
            let mut bytes = map().file(0x2000);
            put(&mut bytes, at, &u32::to_le_bytes(value));
            let view = open(&bytes.into(), &Alone).ok().unwrap();
            let names: Vec<_> = view.files().into_iter().map(|file| file.name).collect();
            assert_eq!(names, ["error.txt", "info.json", "info.txt"]);
        }
    }

    #[test]
    fn a_map_without_minimap_is_previewed_by_its_ground() {
        let mut bytes = map().file(0x2000);
        put(&mut bytes, 0x28, &[0; 4]);
        let view = open(&bytes.into(), &Alone).ok().unwrap();
        let Conversion::Always(converted) = FORMAT.converted else {
            unreachable!("maps of all types are converted alike");
        };
        let preview = converted.files[0].find(&*view).unwrap();
        assert_eq!(view.files()[preview].name, "map_1_8.png");
        assert!(FORMAT.preview.unwrap().files.contains(&"map_1_8.png"));
    }
}
