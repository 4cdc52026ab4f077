//! Views of the files in the folder `data`: a table for each kind of row.

use std::borrow::Cow;

use bytes::Bytes;
use get_size2::GetSize;

use super::files::{self, Files};
use super::groups::{self, Groups};
use super::texts::{self, Texts};
use super::water::{self, Water};
use super::waterpro::{self, WaterPro};
use super::{colors, handling};
use crate::document::{Document, Row};
use crate::{Opened, page, table};
use hpimount_assets::model::gltf;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::page::{Columns, Rows};
use hpimount_assets::view::{AssetContext, AssetKey, Open, ViewFormat};
use hpimount_record::Value;

/// The files that a game loads.
pub const FILES_FORMAT: ViewFormat = ViewFormat {
    names: files::NAMES,
    ..format("DAT", open_files)
};

/// Groups of animations.
pub const GROUPS_FORMAT: ViewFormat = ViewFormat {
    names: &["animgrp.dat"],
    ..format("animation groups", open_groups)
};

/// Surfaces of water.
pub const WATER_FORMAT: ViewFormat = ViewFormat {
    names: &["water.dat"],
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("glb")])),
    ..format("water", open_water)
};

/// Water in squares.
pub const WATERPRO_FORMAT: ViewFormat = ViewFormat {
    names: &["waterpro.dat"],
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("glb")])),
    ..format("waterpro", open_waterpro)
};

/// The handling of vehicles.
pub const HANDLING_FORMAT: ViewFormat = ViewFormat {
    names: &["handling.cfg"],
    ..format("handling", open_handling)
};

/// Paints of vehicles.
pub const COLORS_FORMAT: ViewFormat = ViewFormat {
    names: &["carcols.dat"],
    ..format("vehicle colors", open_colors)
};

/// Texts of mods.
pub const TEXTS_FORMAT: ViewFormat = ViewFormat {
    extensions: &["fxt"],
    ..format("FXT", open_texts)
};

const fn format(name: &'static str, open: Open) -> ViewFormat {
    ViewFormat {
        converted: Conversion::Always(Converted::parts(&[])),
        ..ViewFormat::new(name, open)
    }
}

fn open_files(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut files = files::parse(bytes)?;
    let mut page = page(FILES_FORMAT.name, FILES_FORMAT.name, &mut files.warnings);
    page.rows("files", |files: &Files| {
        let rows = files.files.iter().map(|file| {
            [
                file.line.into(),
                file.kind.clone().into(),
                file.path.clone().into(),
                file.level.into(),
            ]
        });
        Rows::new(["line", "kind", "path", "level"], rows)
    });
    Ok(page.show(files, None))
}

fn open_groups(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut groups = groups::parse(bytes)?;
    let mut page = page(GROUPS_FORMAT.name, GROUPS_FORMAT.name, &mut groups.warnings);
    let animations = groups.groups.iter().map(|group| group.animations.len());
    page.fact("groups", groups.groups.len())
        .fact("animations", animations.sum::<usize>())
        .table("groups.tsv", group_rows);
    Ok(page.show(groups, None))
}

/// Returns one row for each animation of a group, or one row for an empty group.
fn group_rows(groups: &Groups) -> Rows<'_> {
    let rows = groups.groups.iter().flat_map(|group| {
        let none = group.animations.is_empty().then_some(None);
        let animations = group.animations.iter().map(Some).chain(none);
        animations.map(|animation| {
            [
                group.line.into(),
                group.name.clone().into(),
                group.package.clone().into(),
                group.kind.clone().into(),
                animation.cloned().into(),
            ]
        })
    });
    Rows::new(["line", "group", "package", "type", "animation"], rows)
}

fn open_water(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut water = water::parse(bytes)?;
    let mut page = page(WATER_FORMAT.name, WATER_FORMAT.name, &mut water.warnings);
    page.fact("surfaces", water.surfaces.len())
        .table("surfaces.tsv", corners)
        .rows("rectangles", |water: &Water| {
            let rows = water.rectangles.iter().map(|one| {
                let [left, bottom, right, top] = one.edges.map(Value::from);
                [one.line.into(), one.level.into(), left, bottom, right, top]
            });
            Rows::new(["line", "level", "left", "bottom", "right", "top"], rows)
        });
    if !water.surfaces.is_empty() || !water.rectangles.is_empty() {
        page.file("water.glb", |water: &Water, context, out| {
            let reserve = |bytes| context.reserve(bytes);
            gltf::write(&water::scene(water), &|_| None, &reserve, out)
        });
    }
    Ok(page.show(water, None))
}

/// Returns a row for each corner of a surface.
fn corners(water: &Water) -> Rows<'_> {
    let columns = [
        "line",
        "corner",
        "x",
        "y",
        "z",
        "flow_x",
        "flow_y",
        "big_waves",
        "small_waves",
        "flags",
    ];
    let rows = water.surfaces.iter().flat_map(|surface| {
        let corners = surface.corners.iter().enumerate();
        corners.map(|(number, corner)| {
            let mut row = vec![surface.line.into(), number.into()];
            row.extend(corner.map(Value::from));
            row.push(surface.flags.into());
            row
        })
    });
    table(columns, rows)
}

/// Water in squares, and the origin of its map.
#[derive(GetSize)]
struct Squares {
    water: WaterPro,
    start: [f32; 2],
}

fn open_waterpro(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    // The file does not identify its game.
    let start = match context.find(AssetKey::Sibling("gta_vc.dat")) {
        Some(_) => waterpro::START_OF_VICE_CITY,
        None => waterpro::START,
    };
    let mut water = waterpro::parse(bytes)?;
    let mut page = page(
        WATERPRO_FORMAT.name,
        WATERPRO_FORMAT.name,
        &mut water.warnings,
    );
    page.fact("near", water.strips(&water.fine, start).count())
        .fact("far", water.strips(&water.coarse, start).count())
        .rows("levels", |squares: &Squares| {
            let levels = squares.water.levels.iter().enumerate();
            let rows = levels.map(|(index, &level)| [index.into(), level.into()]);
            Rows::new(["index", "level"], rows)
        })
        .table("strips.tsv", strips)
        .file("water.glb", |squares: &Squares, context, out| {
            let scene = waterpro::scene(&squares.water, squares.start);
            gltf::write(&scene, &|_| None, &|bytes| context.reserve(bytes), out)
        });
    Ok(page.show(Squares { water, start }, None))
}

fn strips(squares: &Squares) -> Rows<'_> {
    let columns = [
        "squares", "index", "level", "left", "bottom", "right", "top",
    ];
    let Squares { water, start } = squares;
    let grids = [("near", &water.fine), ("far", &water.coarse)];
    let rows = grids.into_iter().flat_map(|(name, grid)| {
        water.strips(grid, *start).map(move |strip| {
            let [left, bottom, right, top] = strip.edges.map(Value::from);
            let (index, level) = (strip.index.into(), strip.level.into());
            [name.into(), index, level, left, bottom, right, top]
        })
    });
    Rows::new(columns, rows)
}

fn open_handling(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut document = handling::parse(bytes)?;
    let mut page = document.page(HANDLING_FORMAT.name);
    for (index, section) in document.sections.iter().enumerate() {
        if !section.rows.is_empty() {
            let path = format!("{}.tsv", section.name);
            page.table(&path, move |document| numbered(document, index));
        }
    }
    Ok(page.show(document, None))
}

/// Maximum number of columns of a row of handling.cfg, twice as many as the games'
/// files have.
const MAX_FIELDS: usize = 64;

/// Returns the fields of a section's rows, which have numbers instead of names.
fn numbered(document: &Document, section: usize) -> Rows<'_> {
    let rows = document.sections[section].rows.iter();
    let fields = |row| document.fields(row).take(MAX_FIELDS);
    let most = rows.clone().map(|row| fields(row).count()).max();
    let names = (0..most.unwrap_or(0)).map(|number| format!("field_{number}"));
    let names = names.map(Cow::Owned);
    let columns: Columns = [Cow::Borrowed("line")].into_iter().chain(names).collect();
    let length = columns.len();
    let rows = rows.map(move |row| {
        let line = row.line.into();
        let fields = fields(row).map(|field| field.to_owned().into());
        let mut values: Vec<Value> = [line].into_iter().chain(fields).collect();
        values.resize(length, Value::Null);
        values
    });
    Rows {
        columns,
        rows: Box::new(rows),
    }
}

fn open_colors(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut document = colors::parse(bytes)?;
    let mut page = document.page(COLORS_FORMAT.name);
    page.table("colors.tsv", |document: &Document| {
        let rows = document.rows("col").iter().enumerate();
        let rows = rows.map(|(number, row)| {
            let hex = colors::hex(document, row);
            [row.line.into(), number.into(), hex.into()]
        });
        Rows::new(["line", "color", "hex"], rows)
    })
    .table("vehicles.tsv", vehicles);
    Ok(page.show(document, None))
}

/// Returns a row for each choice of paints of a vehicle.
fn vehicles(document: &Document) -> Rows<'_> {
    let columns = [
        "line", "model", "choice", "color1", "color2", "color3", "color4", "hex1", "hex2", "hex3",
        "hex4",
    ];
    let colors = document.rows("col").iter();
    let colors: Vec<_> = colors.map(|row| colors::hex(document, row)).collect();
    let choices = colors::VEHICLES
        .into_iter()
        .flat_map(move |(section, paints)| {
            let rows = document.rows(section).iter();
            rows.flat_map(move |row| choices(document, row, paints))
        });
    let rows = choices.map(move |(line, model, choice, paints)| {
        let paint = |place: usize| Value::from(paints.get(place).map(ToString::to_string));
        let hex = |place: usize| {
            let color = paints.get(place)?.parse::<usize>().ok()?;
            colors.get(color)?.clone()
        };
        [
            line.into(),
            model.to_owned().into(),
            choice.into(),
            paint(0),
            paint(1),
            paint(2),
            paint(3),
            hex(0).into(),
            hex(1).into(),
            hex(2).into(),
            hex(3).into(),
        ]
    });
    Rows::new(columns, rows)
}

/// The line and the model of a row, and the number and the paints of a choice.
type Choice<'a> = (u32, &'a str, usize, Vec<&'a str>);

fn choices<'a>(
    document: &'a Document,
    row: &Row,
    paints: usize,
) -> impl Iterator<Item = Choice<'a>> + use<'a> {
    let line = row.line;
    let mut fields = document.fields(row);
    let model = fields.next().unwrap_or_default();
    let fields: Vec<&str> = fields.collect();
    let choices = fields.chunks(paints).map(<[_]>::to_vec);
    let choices: Vec<_> = choices.collect();
    let choices = choices.into_iter().enumerate();
    choices.map(move |(choice, paints)| (line, model, choice, paints))
}

fn open_texts(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut texts = texts::parse(bytes)?;
    let mut page = page(TEXTS_FORMAT.name, TEXTS_FORMAT.name, &mut texts.warnings);
    page.rows("texts", |texts: &Texts| {
        let texts = texts.texts.iter();
        let rows = texts.map(|one| {
            [
                one.line.into(),
                one.key.clone().into(),
                one.text.clone().into(),
            ]
        });
        Rows::new(["line", "key", "text"], rows)
    });
    Ok(page.show(texts, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(format: &ViewFormat, bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(format, bytes, name).unwrap()
    }

    #[test]
    fn the_paints_of_a_vehicle_are_shown_as_colors() {
        let text = b"col\n0,0,0\n245,16,1\nend\ncar\nbus, 0,1, 1,9\nend\n";
        assert_eq!(
            rendered(&COLORS_FORMAT, text, "vehicles.tsv"),
            "line\tmodel\tchoice\tcolor1\tcolor2\tcolor3\tcolor4\thex1\thex2\thex3\thex4\n\
             6\tbus\t0\t0\t1\t\t\t#000000\t#f51001\t\t\n\
             6\tbus\t1\t1\t9\t\t\t#f51001\t\t\t\n"
        );
    }

    #[test]
    fn handling_has_a_table_for_each_kind_of_vehicle() {
        let text = b"CAR 1 2\nVAN 3\n!BIKE 4\n";
        assert_eq!(
            rendered(&HANDLING_FORMAT, text, "vehicles.tsv"),
            "line\tfield_0\tfield_1\tfield_2\n1\tCAR\t1\t2\n2\tVAN\t3\t\n"
        );
        assert_eq!(
            rendered(&HANDLING_FORMAT, text, "bikes.tsv"),
            "line\tfield_0\tfield_1\n3\tBIKE\t4\n"
        );
    }

    #[test]
    fn groups_and_files_and_texts_are_tables() {
        assert_eq!(
            rendered(&GROUPS_FORMAT, b"man ped walk 1\nrun\nend\n", "groups.tsv"),
            "line\tgroup\tpackage\ttype\tanimation\n1\tman\tped\twalk\trun\n"
        );
        assert_eq!(
            rendered(&FILES_FORMAT, b"COLFILE 2 a\\b.col\n", "files.tsv"),
            "line\tkind\tpath\tlevel\n1\tCOLFILE\ta/b.col\t2\n"
        );
        assert_eq!(
            rendered(&TEXTS_FORMAT, b"KEY Some text\n", "texts.tsv"),
            "line\tkey\ttext\n1\tKEY\tSome text\n"
        );
    }
}
