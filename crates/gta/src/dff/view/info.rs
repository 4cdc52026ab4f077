//! `info.json` and `info.txt` of a model.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::Shown;
use crate::dff::{Dff, FORMAT};
use hpimount_assets::view::{Summary, json};
use hpimount_containers::io::Warnings;
use hpimount_renderware::clump::{Atomic, Clump, Geometry, Light};

/// Maximum number of items of a list in `info.json`.
const MAX_LISTED: usize = 4096;

pub(super) fn write(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(shown), out)
}

fn facts(shown: &Shown) -> Value {
    let mut facts = model_facts(&shown.model);
    let textures = &shown.plan.textures;
    let missing = textures.iter().filter(|one| !one.state.is_found());
    facts["missing_textures"] = missing.map(|one| one.name.as_str()).collect();
    let given = shown.animations.given.iter().map(|given| {
        json!({
            "package": given.package,
            "found": given.file.is_some(),
            "names": given.names,
        })
    });
    facts["animations"] = given.collect();
    facts["definition"] = shown.definition.as_ref().map_or(Value::Null, |one| {
        json!({
            "section": one.section,
            "id": one.id,
            "txd": one.dictionary,
            "animations": one.animations,
            "animation_group": one.group,
        })
    });
    facts
}

/// Returns the facts that the file itself has.
pub(super) fn model_facts(dff: &Dff) -> Value {
    let collision = dff.collision.iter().flat_map(|one| &one.models);
    let collision = collision.map(|model| {
        let shapes = &model.shapes;
        json!({
            "name": model.name,
            "version": model.version,
            "spheres": shapes.spheres.len(),
            "boxes": shapes.boxes.len(),
            "faces": shapes.mesh.faces().count(),
            "shadow_faces": shapes.shadow.faces().count(),
            "error": model.error.as_ref().map(ToString::to_string),
        })
    });
    let animations = dff.uv_animations.iter().take(MAX_LISTED);
    let animations =
        animations.map(|one| json!({"name": one.name, "seconds": one.seconds, "keys": one.keys}));
    json!({
        "format": FORMAT.name,
        "version": dff.version.to_string(),
        "stamp": format!("{:#010x}", dff.version.0),
        "axes": "x right, y forward, z up; meters",
        "clumps": dff.clumps.iter().take(MAX_LISTED).map(clump).collect::<Vec<_>>(),
        "uv_animations": animations.collect::<Vec<_>>(),
        "effects": dff.effects.len(),
        "breakables": dff.breakables.len(),
        "collision": collision.collect::<Vec<_>>(),
        "trailing_bytes": dff.trailing,
        "warnings": dff.warnings.texts(),
    })
}

fn clump(clump: &Clump) -> Value {
    let geometries = clump.geometries.iter().take(MAX_LISTED).map(geometry);
    let atomics = clump.atomics.iter().take(MAX_LISTED);
    let lights = clump.lights.iter().take(MAX_LISTED).map(light);
    json!({
        "version": clump.version.to_string(),
        "frames": clump.frames.len(),
        "declared_atomics": clump.declared_atomics,
        "geometries": geometries.collect::<Vec<_>>(),
        "atomics": atomics.map(|one| atomic(clump, one)).collect::<Vec<_>>(),
        "lights": lights.collect::<Vec<_>>(),
    })
}

fn geometry(geometry: &Geometry) -> Value {
    let plugins = geometry.plugins.iter().take(64);
    let plugins = plugins.map(|plugin| format!("{:#x}", plugin.kind));
    let skin = geometry.skin.as_ref();
    json!({
        "form": geometry.vertices.name(),
        "flags": format!("{:#06x}", geometry.flags),
        "vertices": geometry.declared_vertices,
        "triangles": geometry.declared_triangles,
        "uv_sets": geometry.uv_sets,
        "morphs": geometry.morphs.len(),
        "materials": geometry.material_entries.len(),
        "meshes": geometry.meshes.len(),
        "strips": geometry.is_strips,
        "night_colors": geometry.night_colors().next().is_some(),
        "bones": skin.map(|skin| skin.bones),
        "plugins": plugins.collect::<Vec<_>>(),
        "version": geometry.version.to_string(),
        "error": geometry.error.as_ref().map(ToString::to_string),
    })
}

fn atomic(clump: &Clump, atomic: &Atomic) -> Value {
    let frame = atomic.frame.and_then(|frame| clump.frames.get(frame));
    json!({
        "frame": atomic.frame,
        "name": frame.map(|frame| frame.name.as_str()),
        "geometry": atomic.geometry,
        "flags": atomic.flags,
        "hidden": frame.is_some_and(|frame| super::super::export::is_hidden(&frame.name)),
    })
}

fn light(light: &Light) -> Value {
    json!({
        "frame": light.frame,
        "type": light.kind_name(),
        "color": light.color,
        "radius": light.radius,
        "minus_cosine": light.minus_cosine,
        "flags": light.flags,
    })
}

pub(super) fn page(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let model = &shown.model;
    let mut summary = Summary::new("DFF model (Grand Theft Auto)");
    let clumps = || model.clumps.iter();
    let frames = clumps().flat_map(|clump| &clump.frames);
    let names = frames.map(|frame| frame.name.as_str());
    let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
    let atomics = clumps().map(|clump| clump.atomics.len()).sum::<usize>();
    summary
        .line("version", model.version)
        .line("clumps", model.clumps.len())
        .list("frames", names.into_iter())
        .line("atomics", atomics)
        .list("textures", shown.plan.textures.iter().map(|one| &one.name));
    if let Some(definition) = &shown.definition {
        summary
            .line("id", &definition.id)
            .line("TXD", &definition.dictionary);
    }
    let mut warnings = Warnings::default();
    warnings.append(model.warnings.clone());
    summary.write(&warnings, out)
}
