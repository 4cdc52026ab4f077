//! Views of the files in the folder `data`: a table for each kind of row.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;

use super::files::{self, Files};
use super::groups::{self, Groups};
use super::texts::{self, Texts};
use super::water::{self, Water};
use super::waterpro::{self, Grid, Strip, WaterPro};
use super::{colors, handling};
use crate::document::{Document, Row};
use crate::rows::{Opened, Rows, Shown, view};
use hpimount_assets::model::gltf;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{Listed, Render, Whole};
use hpimount_assets::view::{AssetContext, Open, Table, ViewFormat, Wanted};
use hpimount_containers::io::Warnings;

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

/// How vehicles move.
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

impl Rows for Files {
    fn counts(&self) -> Vec<(&str, usize)> {
        vec![("files", self.files.len())]
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

impl Rows for Groups {
    fn counts(&self) -> Vec<(&str, usize)> {
        let animations = self.groups.iter().map(|group| group.animations.len());
        vec![
            ("groups", self.groups.len()),
            ("animations", animations.sum()),
        ]
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

impl Rows for Water {
    fn counts(&self) -> Vec<(&str, usize)> {
        vec![
            ("surfaces", self.surfaces.len()),
            ("rectangles", self.rectangles.len()),
        ]
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

/// Water in squares, and where its map begins.
#[derive(GetSize)]
struct Squares {
    water: WaterPro,
    start: [f32; 2],
}

impl Squares {
    fn strips<'a>(&'a self, grid: &'a Grid) -> impl Iterator<Item = Strip> {
        self.water.strips(grid, self.start)
    }
}

impl Rows for Squares {
    fn counts(&self) -> Vec<(&str, usize)> {
        let WaterPro {
            levels,
            coarse,
            fine,
            ..
        } = &self.water;
        vec![
            ("levels", levels.len()),
            ("near", self.strips(fine).count()),
            ("far", self.strips(coarse).count()),
        ]
    }

    fn warnings(&self) -> &Warnings {
        &self.water.warnings
    }
}

impl Rows for Texts {
    fn counts(&self) -> Vec<(&str, usize)> {
        vec![("texts", self.texts.len())]
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

fn open_files(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let tables = [("files.tsv", files_table as _)];
    Ok(Box::new(view(
        FILES_FORMAT.name,
        files::parse(bytes),
        &tables,
    )?))
}

fn files_table(shown: &Shown<Files>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["line", "kind", "path", "level"])?;
    for file in &shown.model.files {
        table.cell(file.line).text(&file.kind).text(&file.path);
        table.optional(file.level).end_row()?;
    }
    Ok(())
}

fn open_groups(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let tables = [("groups.tsv", groups_table as _)];
    Ok(Box::new(view(
        GROUPS_FORMAT.name,
        groups::parse(bytes),
        &tables,
    )?))
}

/// Writes a row for each animation of a group, and one for a group without any.
fn groups_table(shown: &Shown<Groups>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["line", "group", "package", "type", "animation"])?;
    for group in &shown.model.groups {
        let animations = group.animations.iter().map(|name| Some(name.as_str()));
        let none = group.animations.is_empty().then_some(None);
        for animation in animations.chain(none) {
            table
                .cell(group.line)
                .text(&group.name)
                .text(&group.package)
                .text(&group.kind)
                .optional_text(animation)
                .end_row()?;
        }
    }
    Ok(())
}

fn open_water(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let tables: [(_, Whole<Shown<Water>>); 2] =
        [("surfaces.tsv", surfaces), ("rectangles.tsv", rectangles)];
    let mut view = view(WATER_FORMAT.name, water::parse(bytes), &tables)?;
    let water = &view.model.model;
    if !water.surfaces.is_empty() || !water.rectangles.is_empty() {
        let render = Render::InContext(water_glb, 0);
        view.files
            .push(Listed::new(None, "water.glb".to_owned(), render));
    }
    Ok(Box::new(view))
}

/// Writes a row for each corner of a surface.
fn surfaces(shown: &Shown<Water>, out: &mut dyn Write) -> io::Result<()> {
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
    let mut table = Table::new(out, &columns)?;
    for surface in &shown.model.surfaces {
        for (number, corner) in surface.corners.iter().enumerate() {
            table.cell(surface.line).cell(number);
            for value in corner {
                table.float(*value);
            }
            table.cell(surface.flags).end_row()?;
        }
    }
    Ok(())
}

fn rectangles(shown: &Shown<Water>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["line", "level", "left", "bottom", "right", "top"])?;
    for rectangle in &shown.model.rectangles {
        table.cell(rectangle.line).float(rectangle.level);
        for edge in rectangle.edges {
            table.float(edge);
        }
        table.end_row()?;
    }
    Ok(())
}

fn water_glb(
    shown: &Shown<Water>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let reserve = |bytes| context.reserve(bytes);
    gltf::write(&water::scene(&shown.model), &|_| None, &reserve, out)
}

fn open_waterpro(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    // The file itself does not say which game it is for.
    let start = match context.find(Wanted::Sibling("gta_vc.dat")) {
        Some(_) => waterpro::START_OF_VICE_CITY,
        None => waterpro::START,
    };
    let parsed = waterpro::parse(bytes).map(|water| Squares { water, start });
    let tables: [(_, Whole<Shown<Squares>>); 2] = [("levels.tsv", levels), ("strips.tsv", strips)];
    let mut view = view(WATERPRO_FORMAT.name, parsed, &tables)?;
    let render = Render::InContext(waterpro_glb, 0);
    view.files
        .push(Listed::new(None, "water.glb".to_owned(), render));
    Ok(Box::new(view))
}

fn levels(shown: &Shown<Squares>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["index", "level"])?;
    for (index, level) in shown.model.water.levels.iter().enumerate() {
        table.cell(index).float(*level).end_row()?;
    }
    Ok(())
}

fn strips(shown: &Shown<Squares>, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "squares", "index", "level", "left", "bottom", "right", "top",
    ];
    let mut table = Table::new(out, &columns)?;
    let squares = &shown.model;
    for (name, grid) in [
        ("near", &squares.water.fine),
        ("far", &squares.water.coarse),
    ] {
        for strip in squares.strips(grid) {
            table.cell(name).cell(strip.index).float(strip.level);
            for edge in strip.edges {
                table.float(edge);
            }
            table.end_row()?;
        }
    }
    Ok(())
}

fn waterpro_glb(
    shown: &Shown<Squares>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Squares { water, start } = &shown.model;
    let reserve = |bytes| context.reserve(bytes);
    gltf::write(&waterpro::scene(water, *start), &|_| None, &reserve, out)
}

fn open_handling(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut view = view(HANDLING_FORMAT.name, handling::parse(bytes), &[])?;
    for (index, section) in view.model.model.sections.iter().enumerate() {
        if !section.rows.is_empty() {
            let name = format!("{}.tsv", section.name);
            view.files
                .push(Listed::new(None, name, Render::Part(numbered, index)));
        }
    }
    Ok(Box::new(view))
}

/// Writes the fields of a section's rows, which have numbers instead of names.
fn numbered(shown: &Shown<Document>, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let document = &shown.model;
    let Some(section) = document.sections.get(index) else {
        return Ok(());
    };
    let rows = section.rows.iter();
    let most = rows.map(|row| document.fields(row).take(MAX_FIELDS).count());
    let names: Vec<String> = (0..most.max().unwrap_or(0))
        .map(|number| format!("field_{number}"))
        .collect();
    let columns: Vec<&str> = ["line"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let mut table = Table::new(out, &columns)?;
    for row in &section.rows {
        table.cell(row.line);
        let mut fields = document.fields(row);
        for _ in &names {
            table.optional_text(fields.next());
        }
        table.end_row()?;
    }
    Ok(())
}

/// Maximum number of columns of a row of handling.cfg. Those of the games have
/// half as many.
const MAX_FIELDS: usize = 64;

fn open_colors(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let tables: [(_, Whole<Shown<Document>>); 2] =
        [("colors.tsv", colors_table), ("vehicles.tsv", vehicles)];
    Ok(Box::new(view(
        COLORS_FORMAT.name,
        colors::parse(bytes),
        &tables,
    )?))
}

fn colors_table(shown: &Shown<Document>, out: &mut dyn Write) -> io::Result<()> {
    let document = &shown.model;
    let mut table = Table::new(out, &["line", "color", "hex"])?;
    for (number, row) in document.rows("col").iter().enumerate() {
        let hex = colors::hex(document, row);
        table.cell(row.line).cell(number);
        table.optional_text(hex.as_deref()).end_row()?;
    }
    Ok(())
}

/// Writes a row for each choice of paints of a vehicle.
fn vehicles(shown: &Shown<Document>, out: &mut dyn Write) -> io::Result<()> {
    let document = &shown.model;
    let columns = [
        "line", "model", "choice", "color1", "color2", "color3", "color4", "hex1", "hex2", "hex3",
        "hex4",
    ];
    let colors = document.rows("col").iter();
    let colors: Vec<_> = colors.map(|row| colors::hex(document, row)).collect();
    let hex = |field: &&str| {
        let number: Option<usize> = field.parse().ok();
        number.and_then(|number| colors.get(number)?.as_deref())
    };
    let mut table = Table::new(out, &columns)?;
    for (section, paints) in colors::VEHICLES {
        for row in document.rows(section) {
            choices(document, row, paints, |model, choice, paints| {
                table.cell(row.line).text(model).cell(choice);
                let place = |place: usize| paints.get(place);
                for number in 0..4 {
                    table.optional_text(place(number).copied());
                }
                for number in 0..4 {
                    table.optional_text(place(number).and_then(hex));
                }
                table.end_row()
            })?;
        }
    }
    Ok(())
}

/// Calls `visit` with the model of a row, and the number and the paints of each
/// of its choices.
fn choices(
    document: &Document,
    row: &Row,
    paints: usize,
    mut visit: impl FnMut(&str, usize, &[&str]) -> io::Result<()>,
) -> io::Result<()> {
    let mut fields = document.fields(row);
    let model = fields.next().unwrap_or_default();
    let fields: Vec<&str> = fields.collect();
    let mut choices = fields.chunks(paints).enumerate();
    choices.try_for_each(|(choice, paints)| visit(model, choice, paints))
}

fn open_texts(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let tables = [("texts.tsv", texts_table as _)];
    Ok(Box::new(view(
        TEXTS_FORMAT.name,
        texts::parse(bytes),
        &tables,
    )?))
}

fn texts_table(shown: &Shown<Texts>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["line", "key", "text"])?;
    for text in &shown.model.texts {
        table.cell(text.line).text(&text.key).text(&text.text);
        table.end_row()?;
    }
    Ok(())
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
