//! Edited GLB files as DFF: geometry in the platform-independent form, and the places of
//! frames.

use bytes::Bytes;

use super::export::{self, ExportPlan, FIRST_FRAME};
use super::parse::{self, BREAKABLE};
use super::view;
use hpimount_assets::model::affine::Affine;
use hpimount_assets::model::edited::Edited;
use hpimount_assets::model::gltf;
use hpimount_assets::model::pairing::Pairing;
use hpimount_assets::view::import::{Changed, Edit, Imported, NOT_THIS_FILE, Problems};
use hpimount_renderware::clump::{Clump, Geometry, Vertices};
use hpimount_renderware::rewrite::{self, Bodies, ClumpSource, ModelEdit, ShownGeometry};
use hpimount_renderware::{Chunk, Chunks, kind};

/// Encodes an edited model.
///
/// # Errors
/// Returns all reasons why it cannot be the model.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let edited = gltf::read(edit.file, &|bytes| edit.context.reserve(bytes));
    let (asset, warnings) = changed(edit, edit.asset, &edited)?;
    let Some(asset) = asset else {
        return Ok(Imported::Unchanged);
    };
    let again = changed(edit, &Bytes::copy_from_slice(&asset), &edited);
    if !matches!(again, Ok((None, _))) {
        return Err("was not stored as written".to_owned());
    }
    Ok(Imported::Changed(Changed {
        asset,
        warnings,
        ..Changed::default()
    }))
}

/// Returns the new file, if it differs, and warnings.
fn changed(
    edit: &Edit<'_>,
    file: &Bytes,
    edited: &Result<Edited, String>,
) -> Result<(Option<Vec<u8>>, Vec<String>), String> {
    let model = parse::parse(file).map_err(|incomplete| incomplete.error.to_string())?;
    let number = view::clump_of(edit.part, &model);
    let number = number.ok_or_else(|| format!("{NOT_THIS_FILE}: edit model.glb"))?;
    let edited = edited.as_ref().map_err(String::clone)?;
    let plan = view::plan(&model, edit.context);
    let missing = || "shows a clump that is not there".to_owned();
    let clump = model.clumps.get(number).ok_or_else(missing)?;
    let chunk = clump_chunk(file, number).ok_or_else(missing)?;
    let _memory = edit.context.reserve_scene(export::sizes(clump).0);
    let mut problems = Problems::default();
    let (bodies, warnings) = bodies(&plan, clump, chunk, edited, &mut problems)?;
    problems.result()?;
    match bodies.is_empty() {
        true => Ok((None, warnings)),
        false => Ok((Some(rewrite::replaced(file, &bodies)?), warnings)),
    }
}

/// Returns the new bodies of the chunks of a clump, and warnings.
fn bodies(
    plan: &ExportPlan,
    clump: &Clump,
    chunk: Chunk,
    edited: &Edited,
    problems: &mut Problems,
) -> Result<(Bodies, Vec<String>), String> {
    let (scene, drawn) = plan.drawn(clump);
    let pairing = Pairing::new(&scene, edited)?;
    let placed = pairing.placed();
    let shown: Vec<_> = drawn
        .iter()
        .map(|&(node, geometry)| ShownGeometry {
            node,
            clump: 0,
            geometry,
            back: is_straight(&pairing, node, &clump.geometries[geometry])
                .then_some(Affine::IDENTITY),
            is_brightened: false,
        })
        .collect();
    let mut changes = Vec::new();
    let mut warnings = Vec::new();
    for (node, placed) in placed.iter().enumerate() {
        let frame = node.checked_sub(FIRST_FRAME);
        let frame = frame.filter(|&frame| frame < clump.frames.len());
        changes.extend(frame.zip(placed.changed));
        if (placed.mesh.scale() - 1.0).abs() > 1e-3 {
            let name = &scene.nodes[node].name;
            warnings.push(format!(
                "node \"{name}\": its scale becomes a part of its mesh"
            ));
        }
    }
    let model = ModelEdit {
        clumps: &[ClumpSource {
            clump,
            chunk: chunk.clone(),
        }],
        pairing: &pairing,
        placed: &placed,
        is_counted: is_breakable,
    };
    let mut bodies = model.bodies(&shown, problems);
    if let Err(problem) = rewrite::frames(&chunk, clump, &changes, &mut bodies) {
        problems.add(problem);
    }
    Ok((bodies, warnings))
}

/// Returns whether a node shows the points of a geometry as they are stored: a sheared
/// frame bends them.
fn is_straight(pairing: &Pairing<'_>, node: usize, geometry: &Geometry) -> bool {
    let mesh = pairing.shown.nodes[node].mesh;
    let mesh = mesh.and_then(|mesh| pairing.shown.meshes.get(mesh));
    let is_plain = matches!(geometry.vertices, Vertices::Plain(_));
    let shape = geometry.morphs.first().filter(|_| is_plain);
    mesh.zip(shape)
        .is_none_or(|(mesh, shape)| mesh.points.iter().copied().eq(shape.positions()))
}

/// Returns whether pieces that a geometry breaks into are stored with it.
fn is_breakable(geometry: &Geometry) -> bool {
    let plugin = geometry.plugins.find(BREAKABLE);
    plugin.is_some_and(|plugin| plugin.body.first_chunk() != Some(&[0; 4]))
}

/// Returns the chunk of a clump of a model.
fn clump_chunk(file: &Bytes, number: usize) -> Option<Chunk> {
    let chunks = Chunks::new(file.clone(), 0);
    let mut clumps = chunks.filter(|chunk| matches!(chunk.kind, kind::CLUMP | kind::ATOMIC));
    clumps.nth(number)
}
