//! Import of edited GLB files as MODL: geometry in the platform-independent form.

use bytes::Bytes;

use super::export::ExportPlan;
use super::parse::{Model, parse};
use super::prelight::is_brightened;
use super::textures::state_of;
use hpimount_assets::model::affine::Affine;
use hpimount_assets::model::edited::Edited;
use hpimount_assets::model::gltf;
use hpimount_assets::model::pairing::Pairing;
use hpimount_assets::view::import::{Changed, Edit, Imported, NOT_THIS_FILE, Problems};
use hpimount_renderware::clump::{Clump, Placement};
use hpimount_renderware::rewrite::{self, Bodies, ClumpSource, ModelEdit, ShownGeometry};
use hpimount_renderware::{Chunk, Chunks, kind};

/// A warning about assets that an edited model does not update.
const NOT_FOLLOWING: &str =
    "collisions, shadows and levels of detail (COLL, SHDW, LODT, MINF) do not follow the model";

/// Encodes an edited model.
pub(crate) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.name != "model.glb" {
        return Err(format!("{NOT_THIS_FILE}: edit model.glb"));
    }
    if edit
        .context
        .asset()
        .is_some_and(|asset| asset.code != *b"MODL")
    {
        return Err(format!(
            "{NOT_THIS_FILE}: only models (MODL) can be edited, collisions name the parts of levels"
        ));
    }
    let edited = gltf::read(edit.file, &|bytes| edit.context.reserve(bytes))?;
    let (asset, mut warnings) = changed(edit, edit.asset, &edited, true)?;
    let Some(asset) = asset else {
        return Ok(Imported::same(edit.asset, warnings));
    };
    let again = changed(edit, &Bytes::copy_from_slice(&asset), &edited, false);
    if !matches!(again, Ok((None, _))) {
        return Err("was not stored as written".to_owned());
    }
    warnings.push(NOT_FOLLOWING.to_owned());
    Ok(Imported::Changed(Changed {
        asset,
        warnings,
        ..Changed::default()
    }))
}

/// Returns the reason why a model cannot be edited.
pub(crate) fn refusal(edit: &Edit<'_>) -> Option<String> {
    let model = parse(edit.asset).ok()?;
    rewrite::refusal(model.clumps.first()?)
}

/// Returns the changed asset, if any, and warnings. New vertices of lit geometry get
/// other colors than in the edited model, so colors are checked only in the first pass.
fn changed(
    edit: &Edit<'_>,
    file: &Bytes,
    edited: &Edited,
    checks_colors: bool,
) -> Result<(Option<Vec<u8>>, Vec<String>), String> {
    let model = parse(file).map_err(|incomplete| incomplete.error.to_string())?;
    let plan = ExportPlan::new(&model, |name| state_of(name, edit.context));
    if !plan.has_scene || !model.worlds.is_empty() {
        return Err(format!("{NOT_THIS_FILE}: only clumps can be edited"));
    }
    let memory = edit.context.reserve_scene(plan.corners);
    let _memory = memory.map_err(|error| error.to_string())?;
    let mut problems = Problems::default();
    let (bodies, warnings) = bodies(&model, &plan, file, edited, checks_colors, &mut problems)?;
    problems.check()?;
    match bodies.is_empty() {
        true => Ok((None, warnings)),
        false => Ok((Some(rewrite::replaced(file, &bodies)?), warnings)),
    }
}

fn bodies(
    model: &Model,
    plan: &ExportPlan,
    file: &Bytes,
    edited: &Edited,
    checks_colors: bool,
    problems: &mut Problems,
) -> Result<(Bodies, Vec<String>), String> {
    let scene = plan.scene(model);
    let pairing = Pairing::new(&scene, edited)?.with_materials_by_color();
    let placed = pairing.placed(|_| false);
    let chunks = Chunks::new(file.clone(), 0).filter(|chunk| chunk.kind == kind::CLUMP);
    let chunks: Vec<Chunk> = chunks.collect();
    let clumps = model.clumps.iter().zip(chunks);
    let clumps: Vec<_> = clumps
        .map(|(clump, chunk)| ClumpSource { clump, chunk })
        .collect();
    // The last nodes belong to the atomics.
    let first = scene.nodes.len().saturating_sub(plan.atomics.len());
    let frames: Vec<_> = model.clumps.iter().map(Clump::placements).collect();
    let atomics = plan.atomics.iter().enumerate();
    let shown = atomics.filter_map(|(place, &(number, atomic))| {
        let clump = model.clumps.get(number)?;
        let atomic = clump.atomics.get(atomic)?;
        let placement = atomic
            .frame
            .and_then(|frame| frames.get(number)?.get(frame));
        let Placement {
            right,
            up,
            at,
            position,
        } = *placement.unwrap_or(&Placement::IDENTITY);
        Some(ShownGeometry {
            node: first + place,
            clump: number,
            geometry: atomic.geometry?,
            back: Affine::new([right, up, at], position).inverse(),
            is_brightened: is_brightened(clump.geometry_of(atomic)?.flags),
        })
    });
    let shown: Vec<ShownGeometry> = shown.collect();
    let model = ModelEdit {
        clumps: &clumps,
        pairing: &pairing,
        placed: &placed,
        is_counted: |_| false,
        adds: false,
    };
    if checks_colors {
        model.check_colors(&shown, problems);
    }
    Ok((model.bodies(&shown, problems), model.warnings(&shown)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_view::FORMAT;
    use fixtures::clump as build;
    use fixtures::heavy_iron::{gamecube_model, plain_model};
    use hpimount_assets::model::Scene;
    use hpimount_assets::model::scene::Corner;
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered;
    use proptest::prelude::*;

    const POSITIONS: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5; 3]];

    fn plain() -> Vec<u8> {
        plain_model(&POSITIONS, &[[0.25; 2]; 4], &[[0, 1, 2], [2, 1, 3]])
    }

    fn import(asset: &[u8], edit: impl FnOnce(&mut Scene<'static>)) -> Result<Imported, String> {
        let file = rendered(&FORMAT, asset, "model.glb").unwrap();
        edited(&FORMAT, asset, "model.glb", &fixtures::resaved(&file, edit))
    }

    #[test]
    fn a_moved_vertex_is_the_only_one() {
        let asset = plain();
        assert_eq!(import(&asset, |_| ()), Ok(Imported::Unchanged));
        let Ok(Imported::Changed(changed)) = import(&asset, |scene| {
            scene.meshes[0].points[1][0] += 3.0;
        }) else {
            panic!("is changed");
        };
        assert_eq!(changed.asset.len(), asset.len());
        assert!(changed.warnings[0].starts_with("collisions, shadows"));
        let model = parse(&changed.asset.into()).unwrap();
        let shape = &model.clumps[0].geometries[0].morphs[0];
        let positions: Vec<_> = shape.positions().collect();
        assert_eq!(
            positions,
            [POSITIONS[0], [4.0, 0.0, 0.0], POSITIONS[2], POSITIONS[3]]
        );
    }

    #[test]
    fn a_vertex_can_be_moved_onto_another() {
        for (moved, onto) in [(0, 1), (1, 2), (2, 0), (3, 0)] {
            let imported = import(&plain(), |scene| {
                let points = &mut scene.meshes[0].points;
                points[moved] = points[onto];
            });
            let Ok(Imported::Changed(changed)) = imported else {
                panic!("{moved} onto {onto}: {imported:?}");
            };
            let model = parse(&changed.asset.into()).unwrap();
            let shape = &model.clumps[0].geometries[0].morphs[0];
            let mut positions = POSITIONS;
            positions[moved] = positions[onto];
            assert_eq!(shape.positions().collect::<Vec<_>>(), positions);
        }
    }

    proptest! {
        #[test]
        fn moved_vertices_are_all_that_changes(
            moved in proptest::collection::vec((0..4_usize, 0..3_usize, any::<i8>()), 1..5),
        ) {
            let mut positions = POSITIONS;
            for &(vertex, axis, by) in &moved {
                positions[vertex][axis] += f32::from(by) / 8.0;
            }
            prop_assume!(positions != POSITIONS);
            let imported = import(&plain(), |scene| {
                for &(vertex, axis, by) in &moved {
                    scene.meshes[0].points[vertex][axis] += f32::from(by) / 8.0;
                }
            });
            let Ok(Imported::Changed(changed)) = imported else {
                return Err(TestCaseError::fail(format!("{imported:?}")));
            };
            let model = parse(&changed.asset.into()).unwrap();
            let geometry = &model.clumps[0].geometries[0];
            let stored: Vec<_> = geometry.morphs[0].positions().collect();
            prop_assert_eq!(stored, positions);
            let (new, old) = (geometry.mesh().unwrap(), parse(&plain().into()).unwrap());
            let old = old.clumps[0].geometries[0].mesh().unwrap();
            prop_assert_eq!(new.uvs, old.uvs);
        }
    }

    #[test]
    fn what_a_material_cannot_have_is_a_warning_also_without_other_changes() {
        let asset = plain();
        let imported = import(&asset, |scene| {
            scene.materials[0].color = [0.5, 0.0, 0.0, 1.0]
        });
        let Ok(Imported::Changed(changed)) = imported else {
            panic!("{imported:?}");
        };
        let [warning] = &changed.warnings[..] else {
            panic!("{:?}", changed.warnings);
        };
        assert!(warning.starts_with("material \""), "{warning}");
        assert_eq!(changed.asset, asset);
    }

    /// Returns a lit square whose corners are black.
    fn lit() -> Vec<u8> {
        let square = build::prelit_square(0x20, [0, 0, 0, 200]);
        let frames = build::frames(&[("root", -1)]);
        build::clump(&frames, &[square], &[build::atomic(0, 0)], &[])
    }

    #[test]
    fn lit_geometry_keeps_its_stored_colors() {
        let asset = lit();
        assert_eq!(import(&asset, |_| ()), Ok(Imported::Unchanged));
        let Ok(Imported::Changed(changed)) = import(&asset, |scene| {
            let mesh = &mut scene.meshes[0];
            let point = mesh.points.len() as u32;
            mesh.points.push([0.5, 0.5, 3.0]);
            let color = [10, 20, 30, 200];
            let corner = mesh.corners[0];
            mesh.corners.push(Corner {
                point,
                color,
                ..corner
            });
            let last = mesh.corners.len() as u32 - 1;
            mesh.parts[0].triangles.push([0, 1, last]);
        }) else {
            panic!("is changed");
        };
        let model = parse(&changed.asset.into()).unwrap();
        let colors = model.clumps[0].geometries[0].mesh().unwrap().colors;
        let black = [0, 0, 0, 200];
        assert_eq!(colors, [black, black, black, black, [255; 4]]);
    }

    #[test]
    fn painted_lit_geometry_is_refused() {
        let paint = |scene: &mut Scene<'static>| scene.meshes[0].corners[1].color[0] = 9;
        let moved = |scene: &mut Scene<'static>| scene.meshes[0].points[0][2] = 7.0;
        let anew = |scene: &mut Scene<'static>| {
            let triangle = scene.meshes[0].parts[0].triangles[0];
            scene.meshes[0].parts[0].triangles.push(triangle);
        };
        let edits: [&dyn Fn(&mut Scene<'static>); 3] = [&|_| (), &moved, &anew];
        for edit in edits {
            let error = import(&lit(), |scene| {
                paint(scene);
                edit(scene);
            });
            let error = error.unwrap_err();
            assert!(error.contains("has colors of a lit geometry"), "{error}");
        }
    }

    #[test]
    fn native_geometry_is_refused_when_it_is_edited() {
        let asset = gamecube_model(false);
        assert_eq!(import(&asset, |_| ()), Ok(Imported::Unchanged));
        let error = import(&asset, |scene| scene.meshes[0].points[0] = [9.0; 3]).unwrap_err();
        assert!(error.contains("is native GameCube geometry"), "{error}");
    }
}
