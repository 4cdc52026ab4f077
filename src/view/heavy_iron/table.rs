//! Assets that are tables: lists of models, lights, states, frames and keys.

use std::io::{self, Write};

use bytes::Bytes;

use super::info::Info;
use super::names::Names;
use super::{Kind, Origin, Shown, hex};
use crate::asset::Incomplete;
use crate::asset::heavy_iron::model::{JspInfo, parse_jsp_info};
use crate::asset::heavy_iron::record::{self, Layout, Record, Rows, Value};
use crate::asset::heavy_iron::tables::{
    self, Animation, AnimationTable, Flythrough, Jaw, JawCurve, LightKit, List, Marker, ModelInfo,
    ModelParameter, Shrapnel,
};
use crate::asset::heavy_iron::{Facts, Parsed};
use crate::io::{Error, Warnings};
use crate::view::listed::{InContext, Listed, Render};
use crate::view::{AssetContext, Failure, Table, View, ViewFormat};

/// Tables.
pub const FORMAT: ViewFormat = ViewFormat {
    name: "HIP table",
    extensions: &[],
    asset_types: &[
        *b"ALST", *b"ANIM", *b"ATBL", *b"COLL", *b"FLY ", *b"JAW ", *b"LKIT", *b"LODT", *b"MAPR",
        *b"MINF", *b"MRKR", *b"PICK", *b"PIPT", *b"SHDW", *b"SHRP",
    ],
    open,
    matches: |_| false,
};

/// A parsed table.
enum Sheets {
    List(List),
    Lights(LightKit),
    Marker(Marker),
    Shrapnel(Shrapnel),
    Models(ModelInfo),
    States(AnimationTable),
    Animation(Animation),
    Frames(Flythrough),
    Jaw(Jaw),
    Level(JspInfo),
}

const KIND: Kind<Sheets> = Kind {
    title: "HIP table",
    describe,
    warnings,
    heap,
};

const LEVEL: Kind<Sheets> = Kind {
    title: "HIP level info",
    ..KIND
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let Origin { code, facts, .. } = Origin::of(context);
    let parsed = parse(bytes, &facts, code);
    KIND.view(bytes, context, parsed, |shown| files(&shown.model))
}

/// The view of a JSP asset of a JSPINFO layer.
pub(super) fn open_level(
    bytes: &Bytes,
    context: &dyn AssetContext,
) -> Result<Box<dyn View>, Box<Failure>> {
    let facts = Origin::of(context).facts;
    let parsed = as_sheets(parse_jsp_info(bytes, &facts), Sheets::Level);
    LEVEL.view(bytes, context, parsed, |shown| files(&shown.model))
}

fn parse(bytes: &Bytes, facts: &Facts, code: [u8; 4]) -> Parsed<Sheets> {
    match &code {
        b"LKIT" => as_sheets(tables::parse_light_kit(bytes, facts), Sheets::Lights),
        b"MRKR" => as_sheets(tables::parse_marker(bytes, facts), Sheets::Marker),
        b"SHRP" => as_sheets(tables::parse_shrapnel(bytes, facts), Sheets::Shrapnel),
        b"MINF" => as_sheets(tables::parse_model_info(bytes, facts), Sheets::Models),
        b"ATBL" => as_sheets(tables::parse_animation_table(bytes, facts), Sheets::States),
        b"ANIM" => as_sheets(tables::parse_animation(bytes, facts), Sheets::Animation),
        b"FLY " => as_sheets(tables::parse_flythrough(bytes), Sheets::Frames),
        b"JAW " => as_sheets(tables::parse_jaw(bytes, facts), Sheets::Jaw),
        _ if tables::is_list(code) => {
            as_sheets(tables::parse_list(bytes, facts, code), Sheets::List)
        }
        _ => Err(Box::new(Incomplete {
            error: Error::UnknownFormat,
            model: Sheets::List(List::default()),
        })),
    }
}

fn as_sheets<M>(parsed: Parsed<M>, sheets: fn(M) -> Sheets) -> Parsed<Sheets> {
    parsed.map(sheets).map_err(|incomplete| {
        let Incomplete { error, model } = *incomplete;
        let model = sheets(model);
        Box::new(Incomplete { error, model })
    })
}

fn warnings(sheets: &mut Sheets) -> &mut Warnings {
    match sheets {
        Sheets::List(model) => &mut model.warnings,
        Sheets::Lights(model) => &mut model.warnings,
        Sheets::Marker(model) => &mut model.warnings,
        Sheets::Shrapnel(model) => &mut model.warnings,
        Sheets::Models(model) => &mut model.warnings,
        Sheets::States(model) => &mut model.warnings,
        Sheets::Animation(model) => &mut model.warnings,
        Sheets::Frames(model) => &mut model.warnings,
        Sheets::Jaw(model) => &mut model.warnings,
        Sheets::Level(model) => &mut model.warnings,
    }
}

fn heap(sheets: &Sheets) -> usize {
    match sheets {
        Sheets::Models(model) => model.parameters.capacity() * size_of::<ModelParameter>(),
        Sheets::States(model) => model.lists.capacity() * size_of::<Bytes>(),
        Sheets::Animation(model) => {
            model.times.capacity() * size_of::<f32>()
                + model.first_keys.capacity() * size_of::<u16>()
        }
        Sheets::Jaw(model) => model.curves.capacity() * size_of::<JawCurve>(),
        _ => 0,
    }
}

fn describe(sheets: &Sheets, info: &mut Info, names: Names<'_>) {
    match sheets {
        Sheets::List(model) => {
            info.add("own_id", model.id.map(|id| format!("{id:08X}")));
            info.add("rows", model.rows.len());
        }
        Sheets::Lights(model) => {
            info.add("group", names.reference(model.group));
            info.add("lights", model.lights.len());
        }
        Sheets::Marker(model) => {
            info.add("position", model.position);
        }
        Sheets::Shrapnel(model) => {
            info.add("own_id", format!("{:08X}", model.id));
            info.add("entries", model.count);
            info.add("unknown_bytes", model.rest.len());
        }
        Sheets::Models(model) => {
            info.add("animation_table", names.reference(model.animation_table));
            info.add("combat", names.reference(model.combat));
            info.add("brain", model.brain.map(|id| names.reference(id)));
            info.add("models", model.models.len());
            info.add("parameters", model.parameters.len());
        }
        Sheets::States(model) => {
            info.add("construct", model.construct);
            info.add("animations", model.animations.len());
            info.add("files", model.files.len());
            info.add("states", model.states.len());
        }
        Sheets::Animation(model) => {
            info.add("flags", model.flags);
            info.add("bones", model.bones);
            info.add("times", model.times.len());
            info.add("keys", model.key_count());
            info.add("duration", model.duration());
            info.add("scale", model.scale);
        }
        Sheets::Frames(model) => {
            info.add("frames", model.frames.len());
        }
        Sheets::Jaw(model) => {
            info.add("curves", model.curves.len());
        }
        Sheets::Level(model) => {
            let collision = model.collision.as_ref();
            info.add("branches", collision.map(|tree| tree.branches.len()));
            info.add("triangles", collision.map(|tree| tree.triangles.len()));
            info.add("version", model.version);
            info.add("nodes", model.nodes.len());
            info.add("vectors", model.vectors.len());
        }
    }
}

/// How a file of a table is written.
type Sheet = fn(&Sheets, Names<'_>, &mut dyn Write) -> io::Result<()>;

/// The files of a table and how they are written; the order is that of
/// [`files`].
fn sheets_of(sheets: &Sheets) -> &'static [(&'static str, Sheet)] {
    match sheets {
        Sheets::List(_) | Sheets::Lights(_) | Sheets::Frames(_) => &[("table.tsv", plain)],
        Sheets::Marker(_) => &[("table.tsv", marker)],
        Sheets::Shrapnel(_) => &[("table.tsv", shrapnel)],
        Sheets::Models(_) => &[("table.tsv", plain), ("parameters.tsv", parameters)],
        Sheets::States(_) => &[
            ("table.tsv", states),
            ("files.tsv", files_of_states),
            ("animations.tsv", plain),
        ],
        Sheets::Animation(_) => &[("table.tsv", keys), ("times.tsv", times)],
        Sheets::Jaw(_) => &[("table.tsv", jaw)],
        Sheets::Level(_) => &[
            ("table.tsv", plain),
            ("branches.tsv", branches),
            ("triangles.tsv", triangles),
            ("vectors.tsv", vectors),
        ],
    }
}

fn files(sheets: &Sheets) -> Vec<Listed<Shown<Sheets>>> {
    let render: InContext<Shown<Sheets>> = |shown, number, context, out| {
        let sheets = sheets_of(&shown.model);
        match sheets.get(number) {
            Some((_, write)) => write(&shown.model, Names(context), out),
            None => Ok(()),
        }
    };
    let names = sheets_of(sheets).iter().enumerate();
    names
        .map(|(number, (name, _))| {
            Listed::new(None, (*name).to_owned(), Render::InContext(render, number))
        })
        .collect()
}

/// The records of a table that is nothing but records.
fn plain(sheets: &Sheets, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let records = match sheets {
        Sheets::List(model) => &model.rows,
        Sheets::Lights(model) => &model.lights,
        Sheets::Models(model) => &model.models,
        Sheets::States(model) => &model.animations,
        Sheets::Frames(model) => &model.frames,
        Sheets::Level(model) => &model.nodes,
        _ => return Ok(()),
    };
    write_rows(records, names, out)
}

fn branches(sheets: &Sheets, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    match sheets {
        Sheets::Level(JspInfo {
            collision: Some(tree),
            ..
        }) => write_rows(&tree.branches, names, out),
        _ => Ok(()),
    }
}

fn triangles(sheets: &Sheets, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    match sheets {
        Sheets::Level(JspInfo {
            collision: Some(tree),
            ..
        }) => write_rows(&tree.triangles, names, out),
        _ => Ok(()),
    }
}

fn vectors(sheets: &Sheets, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    match sheets {
        Sheets::Level(model) => write_rows(&model.vectors, names, out),
        _ => Ok(()),
    }
}

/// Writes records with their number before them.
fn write_rows(rows: &Rows, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut columns = vec!["index".to_owned()];
    add_columns(rows.layout(), &mut columns);
    let mut table = new_table(&columns, out)?;
    for (index, record) in rows.iter().enumerate() {
        table.cell(index);
        add_cells(&record, names, &mut table);
        table.end_row()?;
    }
    Ok(())
}

fn new_table<'w>(columns: &[String], out: &'w mut dyn Write) -> io::Result<Table<'w>> {
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    Table::new(out, &columns)
}

/// The columns of a layout: two for an id, one for each part of a vector.
fn add_columns(layout: Layout, columns: &mut Vec<String>) {
    for column in layout {
        let name = column.name;
        let parts: &[&str] = match column.kind {
            record::Kind::Pad1 | record::Kind::Pad2 | record::Kind::Pad4 => continue,
            record::Kind::Id => &["", "_name"],
            record::Kind::Vec2 => &["_x", "_y"],
            record::Kind::Vec3 => &["_x", "_y", "_z"],
            record::Kind::Colour => &["_r", "_g", "_b", "_a"],
            _ => &[""],
        };
        columns.extend(parts.iter().map(|part| format!("{name}{part}")));
    }
}

fn add_cells(record: &Record, names: Names<'_>, table: &mut Table<'_>) {
    for (_, value) in record.fields() {
        match value {
            Value::Unsigned(value) => {
                table.cell(value);
            }
            Value::Signed(value) => {
                table.cell(value);
            }
            Value::Float(value) => add_floats(&[value], table),
            Value::Vec2(values) => add_floats(&values, table),
            Value::Vec3(values) => add_floats(&values, table),
            Value::Id(id) => names.cells(id, table),
            Value::Colour(parts) => parts.iter().for_each(|part| {
                table.cell(part);
            }),
            Value::Code(code) => {
                table.text(&code.escape_ascii().to_string());
            }
        }
    }
}

fn add_floats(values: &[f32], table: &mut Table<'_>) {
    for &value in values {
        table.float(value);
    }
}

fn marker(sheets: &Sheets, _names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["x", "y", "z"])?;
    if let Sheets::Marker(Marker {
        position: Some(position),
        ..
    }) = sheets
    {
        add_floats(position, &mut table);
        table.end_row()?;
    }
    Ok(())
}

fn shrapnel(sheets: &Sheets, _names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["entries", "id", "rest"])?;
    if let Sheets::Shrapnel(model) = sheets {
        let id = format!("{:08X}", model.id);
        table.cell(model.count).cell(id).cell(hex(&model.rest));
        table.end_row()?;
    }
    Ok(())
}

/// `parameters.tsv` of MINF.
fn parameters(sheets: &Sheets, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["index", "name", "name_name", "value"])?;
    if let Sheets::Models(model) = sheets {
        for (index, parameter) in model.parameters.iter().enumerate() {
            table.cell(index);
            names.cells(parameter.name, &mut table);
            table.text(&parameter.value()).end_row()?;
        }
    }
    Ok(())
}

/// `table.tsv` of ATBL: the states, with the animations of their files.
fn states(sheets: &Sheets, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Sheets::States(model) = sheets else {
        return Ok(());
    };
    let mut columns = vec!["index".to_owned()];
    add_columns(model.states.layout(), &mut columns);
    columns.push("animations".to_owned());
    let mut table = new_table(&columns, out)?;
    for (index, state) in model.states.iter().enumerate() {
        table.cell(index);
        add_cells(&state, names, &mut table);
        let file = state.number("file").unwrap_or(u32::MAX);
        table.text(&animations_of(model, file as usize, names));
        table.end_row()?;
    }
    Ok(())
}

/// `files.tsv` of ATBL.
fn files_of_states(sheets: &Sheets, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Sheets::States(model) = sheets else {
        return Ok(());
    };
    let mut columns = vec!["index".to_owned()];
    add_columns(model.files.layout(), &mut columns);
    columns.extend(["numbers", "animations"].map(str::to_owned));
    let mut table = new_table(&columns, out)?;
    for (index, file) in model.files.iter().enumerate() {
        table.cell(index);
        add_cells(&file, names, &mut table);
        let numbers: Vec<_> = model
            .list(index)
            .take(MOST_LISTED)
            .map(|n| n.to_string())
            .collect();
        table.text(&numbers.join(" "));
        table.text(&animations_of(model, index, names));
        table.end_row()?;
    }
    Ok(())
}

/// Most numbers of a list that a cell shows.
const MOST_LISTED: usize = 64;

/// The animations of a file of an ATBL by their names, or else their ids.
fn animations_of(model: &AnimationTable, file: usize, names: Names<'_>) -> String {
    let animations = model.list(file).take(MOST_LISTED).filter_map(|number| {
        let record = model.animations.get(number as usize)?;
        let id = record.number("animation").filter(|&id| id != 0)?;
        Some(names.find(id).unwrap_or_else(|| format!("{id:08X}")))
    });
    animations.collect::<Vec<_>>().join(" ")
}

/// `table.tsv` of ANIM: the keys.
fn keys(sheets: &Sheets, _names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index", "time", "seconds", "qx", "qy", "qz", "qw", "x", "y", "z",
    ];
    let mut table = Table::new(out, &columns)?;
    if let Sheets::Animation(model) = sheets {
        for (index, key) in model.keys().enumerate() {
            table.cell(index).cell(key.time);
            table.optional(model.times.get(usize::from(key.time)));
            add_floats(&key.rotation, &mut table);
            add_floats(&key.translation, &mut table);
            table.end_row()?;
        }
    }
    Ok(())
}

/// `times.tsv` of ANIM: the times, each with the first keys of the bones.
fn times(sheets: &Sheets, _names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["index", "seconds", "first_keys"])?;
    if let Sheets::Animation(model) = sheets {
        let mut firsts = model.first_keys.chunks(usize::from(model.bones).max(1));
        for (index, &seconds) in model.times.iter().enumerate() {
            let keys = firsts.next().unwrap_or_default().iter();
            let keys: Vec<_> = keys.map(ToString::to_string).collect();
            table.cell(index).float(seconds).cell(keys.join(" "));
            table.end_row()?;
        }
    }
    Ok(())
}

fn jaw(sheets: &Sheets, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "sound",
        "sound_name",
        "flags",
        "samples",
        "opening",
    ];
    let mut table = Table::new(out, &columns)?;
    if let Sheets::Jaw(model) = sheets {
        for (index, curve) in model.curves.iter().enumerate() {
            table.cell(index);
            names.cells(curve.sound, &mut table);
            let values: Vec<_> = curve.values.iter().map(ToString::to_string).collect();
            table
                .optional(curve.flags)
                .cell(curve.values.len())
                .cell(values.join(" "))
                .end_row()?;
        }
    }
    Ok(())
}
