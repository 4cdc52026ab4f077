//! The facts about a model.

use super::DffView;
use crate::col;
use crate::dff::export::is_hidden;
use crate::dff::{FORMAT, UvAnimation};
use crate::models::{AnimationPackage, Definition};
use hpimount_assets::view::Measures;
use hpimount_assets::view::node::{self, Node, Nodes};
use hpimount_assets::view::page::Page;
use hpimount_record::Value;
use hpimount_renderware::clump::{Clump, Geometry, Light};

/// Returns the page with the facts.
pub(super) fn page(shown: &mut DffView, definition: Option<&Definition>) -> Page<DffView> {
    let mut page: Page<DffView> = crate::page(FORMAT.name, "DFF model", &mut shown.model.warnings);
    let DffView { model, plan, .. } = shown;
    let atomics = model.clumps.iter().map(|clump| clump.atomics.len());
    let textures = || plan.textures.iter();
    let missing = textures().filter(|one| !one.state.is_found());
    page.fact("version", model.version.to_string())
        .fact("stamp", format!("{:#010x}", model.version.0))
        .fact("axes", "x right, y forward, z up; meters")
        .fact("atomics", atomics.sum::<usize>())
        .fact(
            "textures",
            textures().map(|one| one.name.clone()).collect::<Value>(),
        )
        .fact(
            "missing_textures",
            missing.map(|one| one.name.clone()).collect::<Value>(),
        )
        .fact("effects", model.effects.len())
        .fact("breakables", model.breakables.len())
        .fact("trailing_bytes", model.trailing)
        .list("clumps", |shown| {
            Box::new(shown.model.clumps.iter().map(clump))
        })
        .list("uv_animations", |shown| {
            Box::new(shown.model.uv_animations.iter().map(uv_animation))
        })
        .list("collision", |shown| {
            let models = shown.model.collision.iter().flat_map(|one| &one.models);
            Box::new(models.map(collision))
        })
        .list("animations", |shown| {
            Box::new(shown.animations.given.iter().map(given))
        })
        .rows("frames", super::tables::frames)
        .measures(measures);
    if let Some(definition) = definition {
        page.fact("definition", self::definition(definition));
    }
    page
}

fn measures(shown: &DffView) -> Measures {
    let clumps = shown.model.clumps.iter();
    let geometries = clumps.flat_map(|clump| &clump.geometries);
    let vertices = geometries.map(|geometry| Measures::vertices(geometry.declared_vertices));
    let animations = shown.model.uv_animations.iter();
    let times = animations.map(|animation| Measures::seconds(animation.seconds));
    vertices.chain(times).sum()
}

fn definition(definition: &Definition) -> Value {
    let entries = [
        ("section", definition.section.into()),
        ("id", definition.id.clone().into()),
        ("txd", definition.dictionary.clone().into()),
        ("animations", definition.animations.clone().into()),
        ("animation_group", definition.group.clone().into()),
    ];
    Value::Map(entries.map(|(name, value)| (name.into(), value)).into())
}

fn given(given: &AnimationPackage) -> Node<'_> {
    let names = given.names.as_ref();
    let names = names.map(|names| names.iter().cloned().collect::<Value>());
    node::map([
        ("package", given.package.clone().into()),
        ("found", given.file.is_some().into()),
        ("names", names.into()),
    ])
}

fn uv_animation(animation: &UvAnimation) -> Node<'_> {
    node::map([
        ("name", animation.name.clone().into()),
        ("seconds", animation.seconds.into()),
        ("keys", animation.keys.into()),
    ])
}

fn collision(model: &col::Model) -> Node<'_> {
    let shapes = &model.shapes;
    node::map([
        ("name", model.name.clone().into()),
        ("version", model.version.into()),
        ("spheres", shapes.spheres.len().into()),
        ("boxes", shapes.boxes.len().into()),
        ("faces", shapes.mesh.faces().count().into()),
        ("shadow_faces", shapes.shadow.faces().count().into()),
        (
            "error",
            model.error.as_ref().map(ToString::to_string).into(),
        ),
    ])
}

fn clump(clump: &Clump) -> Node<'_> {
    node::map([
        ("version", clump.version.to_string().into()),
        ("frames", clump.frames.len().into()),
        ("declared_atomics", clump.declared_atomics.into()),
        ("geometries", Node::each(&clump.geometries, geometry)),
        ("atomics", Node::Each(Box::new(|| atomics(clump)))),
        ("lights", Node::each(&clump.lights, light)),
    ])
}

fn geometry(geometry: &Geometry) -> Node<'_> {
    let plugins = geometry.plugins.iter().take(64);
    let plugins = plugins.map(|plugin| format!("{:#x}", plugin.kind));
    let skin = geometry.skin.as_ref();
    node::map([
        ("form", geometry.vertices.name().into()),
        ("flags", format!("{:#06x}", geometry.flags).into()),
        ("vertices", geometry.declared_vertices.into()),
        ("triangles", geometry.declared_triangles.into()),
        ("uv_sets", geometry.uv_sets.into()),
        ("morphs", geometry.morphs.len().into()),
        ("materials", geometry.material_entries.len().into()),
        ("meshes", geometry.meshes.len().into()),
        ("strips", geometry.is_strips.into()),
        (
            "night_colors",
            geometry.night_colors().next().is_some().into(),
        ),
        ("bones", skin.map(|skin| skin.bones).into()),
        ("plugins", Node::texts(plugins.collect())),
        ("version", geometry.version.to_string().into()),
        (
            "error",
            geometry.error.as_ref().map(ToString::to_string).into(),
        ),
    ])
}

fn atomics(clump: &Clump) -> Nodes<'_> {
    Box::new(clump.atomics.iter().map(|atomic| {
        let frame = atomic.frame.and_then(|frame| clump.frames.get(frame));
        let name = frame.map(|frame| frame.name.as_str());
        node::map([
            ("frame", atomic.frame.into()),
            ("name", name.map(str::to_owned).into()),
            ("geometry", atomic.geometry.into()),
            ("flags", atomic.flags.into()),
            ("hidden", name.is_some_and(is_hidden).into()),
        ])
    }))
}

fn light(light: &Light) -> Node<'_> {
    node::map([
        ("frame", light.frame.into()),
        ("type", light.kind_name().into()),
        ("color", Node::numbers(&light.color)),
        ("radius", light.radius.into()),
        ("minus_cosine", light.minus_cosine.into()),
        ("flags", light.flags.into()),
    ])
}
