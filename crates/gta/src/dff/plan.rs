//! Export plan of a model with the textures and definitions of its game.

use super::Dff;
use super::export::ExportPlan;
use super::textures::{Dictionaries, Source};
use crate::models;
use hpimount_assets::view::{AssetContext, ViewFile};
use hpimount_renderware::export::TextureState;

/// Returns the export plan of a model.
pub(super) fn plan(model: &Dff, context: &dyn AssetContext) -> ExportPlan {
    let models = models::models(context);
    planned(name_of(context), model, &models, context).0
}

/// Returns the model name of a file.
pub(super) fn name_of(context: &dyn AssetContext) -> &str {
    let name = context.name();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the export plan of a model with this name, and the sources of its textures.
pub(crate) fn planned(
    name: &str,
    model: &Dff,
    models: &models::Models,
    context: &dyn AssetContext,
) -> (ExportPlan, Vec<Option<Source>>) {
    let mut sources = Vec::new();
    let mut dictionaries = Dictionaries::new(models.dictionaries(name, context), context);
    let mut plan = ExportPlan::new(model, |name| {
        let found = dictionaries.find(name);
        sources.push(found.as_ref().map(|(source, _)| source.clone()));
        found.map_or(TextureState::Missing, |(_, state)| state)
    });
    let definition = models.definition(name);
    plan.is_double_sided = definition.is_some_and(|one| one.is_double_sided());
    plan.name = name.to_owned();
    (plan, sources)
}

/// Returns the name of a clump's GLB file.
pub(super) fn glb_of(clump: usize) -> String {
    match clump {
        0 => "model.glb".to_owned(),
        _ => format!("clump {}.glb", clump + 1),
    }
}

/// Returns the clump in a GLB file of the view.
pub(super) fn clump_of(file: &ViewFile, model: &Dff) -> Option<usize> {
    let mut clumps = 0..model.clumps.len();
    clumps.find(|&clump| file.folder.is_none() && glb_of(clump) == file.name)
}
