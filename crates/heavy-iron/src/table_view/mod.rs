//! Assets that are tables: lists of models, lights, states, frames and keys.

pub(crate) mod sheet;
mod values;

pub(crate) use self::values::{PARAMETERS, ROWS};

use std::io;

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::Value;

use crate::edited_cells;
use crate::model::{JspInfo, animated, collision, parse_jsp_info, set};
use crate::names::{Names, hex};
use crate::origin::Origin;
use crate::parts::Part;
use crate::record::{self, Rows as Records};
use crate::tables::{
    self, Animation, AnimationTable, Effect, Flythrough, Fragment, Jaw, JawCurve, Key, LightKit,
    List, Marker, ModelInfo, ModelParameter, Shrapnel,
};
use crate::view;
use crate::{Facts, Parsed};
use hpimount_assets::model::gltf;
use hpimount_assets::parse::{Incomplete, so_far};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, View, ViewFormat};
use hpimount_containers::io::{Error, Warnings};

/// Tables.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[
        *b"ALST", *b"ATBL", *b"COLL", *b"FLY ", *b"JAW ", *b"LKIT", *b"LODT", *b"MAPR", *b"MINF",
        *b"MRKR", *b"PICK", *b"PIPT", *b"SHDW", *b"SHRP", *b"VILP",
    ],
    edits: &[
        Editable::new("table.tsv", "fields of the rows"),
        Editable::new(
            "parameters.tsv",
            "names and values of the parameters of a character",
        ),
        Editable::new("files.tsv", "fields of the files of an animation table"),
        Editable::new("animations.tsv", "animations of an animation table"),
        Editable::new("effects.tsv", "fields of the effects of an animation table"),
        Editable::new(
            "info.json",
            "ids, the position of a marker, fragments of shrapnel",
        ),
    ],
    ..ViewFormat::new("HIP table", open)
};

/// Animations, whose keys are shown as tables.
pub const ANIMATION: ViewFormat = ViewFormat {
    asset_types: &[*b"ANIM"],
    ..ViewFormat::new("HIP animation", open)
};

/// A parsed table.
pub(crate) enum Sheets {
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

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let Origin {
        code, facts, id, ..
    } = Origin::of(context);
    let (mut sheets, error) = so_far(parse(bytes, &facts, code));
    let format = match sheets {
        Sheets::Animation(_) => &ANIMATION,
        _ => &FORMAT,
    };
    let mut page = page(format.name, bytes, context, &mut sheets);
    if let (Sheets::Models(info), None) = (&sheets, &error)
        && set::is_shown(info, context)
    {
        page.file("model.glb", |sheets, context, out| match sheets {
            Sheets::Models(info) => set::write(info, context, out),
            _ => Err(io::ErrorKind::NotFound.into()),
        });
    }
    if let (Sheets::Animation(_), Some(id), None) = (&sheets, id, &error) {
        let models = animated::of_animation(id, context).into_iter();
        let models = models.map(|given| Names(context).reference(given.model));
        page.fact("models", models.collect::<Value>());
        // Without memory, it is unknown whether something is moved.
        if !matches!(animated::skeleton_of(id, context), Ok(None)) {
            // The skeleton of the animation's model.
            page.file("model.glb", move |_, context, out| {
                let found = animated::skeleton_of(id, context)?;
                let (scene, _memory) = found.ok_or(io::ErrorKind::NotFound)?;
                gltf::write(&scene, &|_| None, &|bytes| context.reserve(bytes), out)
            });
        }
    }
    Ok(page.show(sheets, error))
}

/// Returns the view of a JSP asset of a JSPINFO layer.
pub(crate) fn open_level(bytes: &Bytes, context: &dyn AssetContext) -> Box<dyn View> {
    let facts = Origin::of(context).facts;
    let parsed = as_sheets(parse_jsp_info(bytes, &facts), Sheets::Level);
    let (mut sheets, error) = so_far(parsed);
    let mut page = page("HIP level info", bytes, context, &mut sheets);
    if matches!(&sheets, Sheets::Level(info) if info.collision.is_some()) && error.is_none() {
        page.file("collision.glb", |sheets, context, out| match sheets {
            Sheets::Level(info) => collision::write(info, context, out),
            _ => Err(io::ErrorKind::NotFound.into()),
        });
    }
    page.show(sheets, error)
}

/// Returns the page of a table, with its facts and rows.
fn page(
    title: &'static str,
    bytes: &Bytes,
    context: &dyn AssetContext,
    sheets: &mut Sheets,
) -> Page<Sheets> {
    let warnings = std::mem::take(warnings(sheets));
    let mut page = view::page(title, bytes, context, warnings);
    describe(sheets, &mut page, Names(context));
    page.values_of_tables(|sheets, context| values::of(sheets, Names(context)));
    if !matches!(sheets, Sheets::Animation(_) | Sheets::Level(_)) {
        page.edits();
    }
    let files = sheet::tables(sheets, Names(context)).into_iter();
    for (number, (file, _)) in files.enumerate() {
        page.table_in(file, move |sheets, context| {
            sheet::tables(sheets, Names(context)).swap_remove(number).1
        });
        if let Sheets::Marker(_) = sheets {
            // Its only row needs no key.
            page.cells(&[&[]], |_, _, column, text| values::of_marker(column, text));
        }
        if let Some(list) = values::list_of(sheets, file) {
            page.cells(&[&["index"]], move |_, row, column, text| {
                edited_cells::of_record(list, row, column, text)
            });
        }
    }
    page
}

/// Returns whether assets of a type are tables.
pub(crate) fn is_table(code: [u8; 4]) -> bool {
    let formats = [FORMAT, ANIMATION];
    formats
        .iter()
        .any(|format| format.asset_types.contains(&code))
}

/// Parses a table whose type is `code`.
pub(crate) fn parse(bytes: &Bytes, facts: &Facts, code: [u8; 4]) -> Parsed<Sheets> {
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

/// Returns the warnings about a table.
pub(crate) fn warnings(sheets: &mut Sheets) -> &mut Warnings {
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

/// Calls `visit` with the name and the id of each field that refers to an asset, unless
/// the id is 0.
pub(crate) fn references(sheets: &Sheets, visit: &mut dyn FnMut(&'static str, u32)) {
    let mut see = |name, id| {
        if id != 0 {
            visit(name, id);
        }
    };
    match sheets {
        Sheets::Lights(model) => see("group", model.group),
        Sheets::Models(model) => {
            see("animation_table", model.animation_table);
            see("combat", model.combat);
            see("brain", model.brain.unwrap_or_default());
        }
        Sheets::Shrapnel(model) => {
            let parts = model.fragments.iter().flat_map(|one| &one.parts);
            for (name, value) in parts.flat_map(|part| part.record.fields()) {
                if let record::Value::Id(id) = value {
                    see(name, id);
                }
            }
        }
        Sheets::Jaw(model) => {
            model
                .curves
                .iter()
                .for_each(|curve| see("sound", curve.sound));
        }
        Sheets::States(model) => {
            let effects = model.effects.iter();
            effects
                .flat_map(|effect| effect.record.ids())
                .for_each(|(name, id)| see(name, id));
        }
        _ => {}
    }
    for record in records(sheets).into_iter().flat_map(Records::iter) {
        for (name, value) in record.fields() {
            if let record::Value::Id(id) = value {
                see(name, id);
            }
        }
    }
}

impl GetSize for Sheets {
    fn get_heap_size(&self) -> usize {
        match self {
            Sheets::Models(model) => model.parameters.capacity() * size_of::<ModelParameter>(),
            Sheets::States(model) => {
                model.lists.capacity() * size_of::<Bytes>()
                    + model.effects.capacity() * size_of::<Effect>()
            }
            Sheets::Animation(model) => {
                model.times.capacity() * size_of::<f32>()
                    + model.first_keys.capacity() * size_of::<u16>()
                    + model.keys.capacity() * size_of::<Key>()
            }
            Sheets::Jaw(model) => model.curves.capacity() * size_of::<JawCurve>(),
            Sheets::Shrapnel(model) => {
                let parts = model.fragments.iter().map(|one| one.parts.capacity());
                model.fragments.capacity() * size_of::<Fragment>()
                    + parts.sum::<usize>() * size_of::<Part>()
            }
            _ => 0,
        }
    }
}

fn describe(sheets: &Sheets, page: &mut Page<Sheets>, names: Names<'_>) {
    match sheets {
        Sheets::List(model) => page
            .fact("own_id", model.id.map(hex))
            .fact("rows", model.rows.len()),
        Sheets::Lights(model) => page
            .fact("group", names.reference(model.group))
            .fact("lights", model.lights.len())
            .fact("blended", model.blended),
        Sheets::Marker(model) => page.fact("position", model.position.map(view::list)),
        Sheets::Shrapnel(model) => page
            .fact("own_id", hex(model.id))
            .fact("entries", model.count)
            .fact("fragments", fragments(model, names))
            .fact("unknown_bytes", model.rest.len()),
        Sheets::Models(model) => page
            .fact("animation_table", names.reference(model.animation_table))
            .fact("combat", names.reference(model.combat))
            .fact("brain", model.brain.map(|id| names.reference(id)))
            .fact("models", model.models.len())
            .fact("parameters", model.parameters.len()),
        Sheets::States(model) => page
            .fact("construct", model.construct)
            .fact("animations", model.animations.len())
            .fact("files", model.files.len())
            .fact("states", model.states.len()),
        Sheets::Animation(model) => page
            .fact("flags", model.flags)
            .fact("bones", model.bones)
            .fact("times", model.times.len())
            .fact("keys", model.keys.len())
            .fact("version", model.version)
            .fact("duration", model.duration())
            .fact("scale", view::list(model.scale))
            .measures(|sheets| match sheets {
                Sheets::Animation(model) => Measures::seconds(model.duration()),
                _ => Measures::default(),
            }),
        Sheets::Frames(model) => page.fact("frames", model.frames.len()),
        Sheets::Jaw(model) => page.fact("curves", model.curves.len()),
        Sheets::Level(model) => {
            let tree = model.collision.as_ref();
            let bounds = model.bounds.map(|[greatest, least]| [least, greatest]);
            page.fact("branches", tree.map(|tree| tree.branches.len()))
                .fact("triangles", tree.map(|tree| tree.triangles.len()))
                .fact("version", model.version)
                .fact("nodes", model.nodes.len())
                .fact("vectors", model.vectors.len())
                .fact("box", bounds.map(|ends| view::list(ends.map(view::list))))
        }
    };
}

/// Returns the fragments of a shrapnel definition with all fields.
fn fragments(model: &Shrapnel, names: Names<'_>) -> Value {
    let fragments = model.fragments.iter();
    let fragments = fragments.map(|fragment| values::fragment(fragment, names).to_value());
    fragments.collect()
}

/// Returns the records of a table that contains only records.
fn records(sheets: &Sheets) -> Option<&Records> {
    match sheets {
        Sheets::List(model) => Some(&model.rows),
        Sheets::Lights(model) => Some(&model.lights),
        Sheets::Models(model) => Some(&model.models),
        Sheets::States(model) => Some(&model.animations),
        Sheets::Frames(model) => Some(&model.frames),
        Sheets::Level(model) => Some(&model.nodes),
        _ => None,
    }
}
