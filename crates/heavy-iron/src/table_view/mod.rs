//! Assets that are tables: lists of models, lights, states, frames and keys.

pub(crate) mod sheet;

use std::io::{self, Write};

use bytes::Bytes;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use self::sheet::sheets_of;
use crate::fields::{NoWords, Parts};
use crate::info::Info;
use crate::model::{JspInfo, animated, collision, parse_jsp_info, set};
use crate::names::Names;
use crate::origin::Origin;
use crate::parts::Part;
use crate::record::{Rows as Records, Value};
use crate::tables::{
    self, Animation, AnimationTable, Effect, Flythrough, Fragment, Jaw, JawCurve, Key, LightKit,
    List, Marker, ModelInfo, ModelParameter, Shrapnel,
};
use crate::view::{Kind, Shown};
use crate::{Facts, Parsed};
use hpimount_assets::model::gltf;
use hpimount_assets::parse::Incomplete;
use hpimount_assets::view::listed::{InContext, Listed, Render};
use hpimount_assets::view::{AssetContext, Failure, View, ViewFormat, json};
use hpimount_containers::io::{Error, Warnings};

/// Tables.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[
        *b"ALST", *b"ANIM", *b"ATBL", *b"COLL", *b"FLY ", *b"JAW ", *b"LKIT", *b"LODT", *b"MAPR",
        *b"MINF", *b"MRKR", *b"PICK", *b"PIPT", *b"SHDW", *b"SHRP", *b"VILP",
    ],
    ..ViewFormat::new("HIP table", open)
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

pub(crate) const KIND: Kind<Sheets> = Kind {
    title: "HIP table",
    describe,
    warnings,
    heap,
};

pub(crate) const LEVEL: Kind<Sheets> = Kind {
    title: "HIP level info",
    ..KIND
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let Origin {
        code, facts, id, ..
    } = Origin::of(context);
    let parsed = parse(bytes, &facts, code);
    KIND.view(bytes, context, parsed, |shown| {
        let mut files = files(&shown.model);
        if let Sheets::Models(info) = &shown.model
            && set::is_shown(info, context)
        {
            let render: InContext<Shown<Sheets>> = |shown, _, context, out| match &shown.model {
                Sheets::Models(info) => set::write(info, context, out),
                _ => Ok(()),
            };
            let render = Render::InContext(render, 0);
            files.push(Listed::new(None, "model.glb".to_owned(), render));
        }
        let is_animation = matches!(shown.model, Sheets::Animation(_));
        let id = id.filter(|_| is_animation).unwrap_or_default();
        if id != 0 {
            let models = animated::of_animation(id, context).into_iter();
            let models: Vec<_> = models
                .map(|given| Names(context).reference(given.model))
                .collect();
            shown.info.add("models", models);
            if animated::skeleton_of(id, context).is_some() {
                let render = Render::InContext(moved_skeleton, 0);
                files.push(Listed::new(None, "model.glb".to_owned(), render));
            }
        }
        files
    })
}

/// Writes the skeleton of a model that an animation is given to, with the
/// animation.
fn moved_skeleton(
    _shown: &Shown<Sheets>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let id = Origin::of(context).id.unwrap_or_default();
    match animated::skeleton_of(id, context) {
        Some(scene) => gltf::write(&scene, &|_| None, &|bytes| context.reserve(bytes), out),
        None => Ok(()),
    }
}

/// Returns the view of a JSP asset of a JSPINFO layer.
pub(crate) fn open_level(
    bytes: &Bytes,
    context: &dyn AssetContext,
) -> Result<Box<dyn View>, Box<Failure>> {
    let facts = Origin::of(context).facts;
    let parsed = as_sheets(parse_jsp_info(bytes, &facts), Sheets::Level);
    LEVEL.view(bytes, context, parsed, |shown| {
        let mut files = files(&shown.model);
        if matches!(&shown.model, Sheets::Level(info) if info.collision.is_some()) {
            let render: InContext<Shown<Sheets>> = |shown, _, context, out| match &shown.model {
                Sheets::Level(info) => collision::write(info, context, out),
                _ => Ok(()),
            };
            let render = Render::InContext(render, 0);
            files.push(Listed::new(None, "collision.glb".to_owned(), render));
        }
        files
    })
}

/// Returns whether assets of a type are tables.
pub(crate) fn is_table(code: [u8; 4]) -> bool {
    FORMAT.asset_types.contains(&code)
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

/// Calls `visit` with the name of each field that refers to an asset, and its
/// id, unless it is 0.
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
                if let Value::Id(id) = value {
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
            if let Value::Id(id) = value {
                see(name, id);
            }
        }
    }
}

fn heap(sheets: &Sheets) -> usize {
    match sheets {
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
            info.add("fragments", fragments(model, names));
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
            info.add("keys", model.keys.len());
            info.add("version", model.version);
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
            info.add(
                "box",
                model.bounds.map(|[greatest, least]| [least, greatest]),
            );
        }
    }
}

/// Returns the fragments of a shrapnel definition with all their fields.
fn fragments(model: &Shrapnel, names: Names<'_>) -> Vec<serde_json::Value> {
    let fragments = model.fragments.iter();
    fragments
        .map(|fragment| {
            json::value(&Pieces {
                fragment,
                parts: Parts {
                    parts: &fragment.parts,
                    words: &NoWords,
                    names,
                },
            })
        })
        .collect()
}

/// A fragment as JSON: its kind, and its parts.
struct Pieces<'a> {
    fragment: &'a Fragment,
    parts: Parts<'a>,
}

impl Serialize for Pieces<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.fragment.kind)?;
        self.parts.entries(&mut map)?;
        map.end()
    }
}

fn files(sheets: &Sheets) -> Vec<Listed<Shown<Sheets>>> {
    let render: InContext<Shown<Sheets>> = |shown, number, context, out| {
        let sheets = sheets_of(&shown.model);
        match sheets.get(number) {
            Some(sheet) => sheet.write(&shown.model, Names(context), out),
            None => Ok(()),
        }
    };
    let sheets = sheets_of(sheets).iter().enumerate();
    sheets
        .map(|(number, sheet)| {
            let file = sheet.file.to_owned();
            Listed::new(None, file, Render::InContext(render, number))
        })
        .collect()
}

/// Returns the records of a table that consists only of records.
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
