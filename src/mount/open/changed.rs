//! Opening of sources with changes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::Opener;
use super::sources::Prepared;
use crate::mount::Vfs;
use crate::mount::assets;
use crate::mount::changes::{ChangedFolder, Changes, Layer, List};
use crate::mount::error::{OpenCause, OpenError};
use crate::mount::tree::control::Images;
use crate::mount::tree::source_trees::{Above, OpenedSource, SourceTrees};
use crate::mount::tree::volume;
use crate::sync::lock;
use hpimount_containers::changes::Report;
use hpimount_containers::volume::{Sink, Volume};

/// The sources that changes are applied to while they are opened.
#[derive(Default)]
pub(super) enum Changed {
    /// None.
    #[default]
    Nothing,
    /// The only source, until it is opened.
    Source(Mutex<Option<Changes>>),
    /// Sources that are shown side by side, by their names, until they are opened.
    Directories(Mutex<HashMap<String, Changes>>),
    /// All of them, which are merged: they get a layer on top, which takes this memory in
    /// bytes and has this modification time.
    Merged(Layer, Report, usize, i64),
}

impl Opener<'_> {
    /// Opens the sources, and applies the changes if there are any.
    pub(super) fn source_trees(
        &mut self,
        prepared: &Prepared,
        changes: Option<Changes>,
    ) -> Result<SourceTrees, OpenError> {
        let Some(changes) = changes else {
            return self.open_all_sources(prepared);
        };
        if prepared.sources.is_single() {
            self.changed = Changed::Source(Mutex::new(Some(changes)));
            return self.open_all_sources(prepared);
        }
        // The target of a path of the changes is known when the sources are open.
        let trees = self.open_all_sources(prepared)?;
        let modified = changes.modified;
        let changed = match trees.directories() {
            Some(names) => changes
                .divide(&names)
                .map(|divided| Changed::Directories(Mutex::new(divided))),
            None => self
                .layer_over(changes, trees)
                .map(|(layer, report, memory)| Changed::Merged(layer, report, memory, modified)),
        };
        let name = || prepared.sources.name();
        self.changed = changed.map_err(|cause| OpenError::new(name(), cause))?;
        self.skipped.clear();
        self.open_all_sources(prepared)
    }

    /// Takes the changes of a source, if there are any.
    pub(super) fn take_changes(&self, name: &str) -> Option<Changes> {
        match &self.changed {
            Changed::Source(changes) => lock(changes).take(),
            Changed::Directories(changes) => lock(changes).remove(name),
            Changed::Nothing | Changed::Merged(..) => None,
        }
    }

    /// Returns what changes do to the files of sources, and the memory that they take in
    /// bytes.
    fn layer_over(
        &self,
        changes: Changes,
        sources: SourceTrees,
    ) -> Result<(Layer, Report, usize), OpenCause> {
        let mount = assets::new_tree(self.reader.budget(), self.options.of_original());
        changes.layer_over(&Arc::new(Vfs::with_sources(mount, sources, &[], None)))
    }

    /// Opens a folder that is listed on demand by `list`, which `new_source` makes a
    /// source of, with its changes.
    pub(super) fn open_with_layer(
        &self,
        name: &str,
        list: List<'_>,
        new_source: impl Fn(List<'_>) -> Result<OpenedSource, OpenCause>,
    ) -> Result<OpenedSource, OpenCause> {
        let Some(changes) = self.take_changes(name) else {
            return new_source(list);
        };
        let plain = SourceTrees::single(new_source(list)?);
        let (layer, report, memory) = self.layer_over(changes, plain)?;
        let mut opened = new_source(&|sink: &mut dyn Sink| {
            let folder = ChangedFolder::list(Some(list), &layer, sink)?;
            Ok(Box::new(folder) as Box<dyn Volume>)
        })?;
        let budget = self.reader.budget();
        let plan = budget.charge("the plan of the changes", memory)?;
        opened.volume.plan = Some(plan);
        opened.applied = Some(report);
        Ok(opened)
    }

    /// Returns the layers above merged archives: the given ones, and the changes.
    pub(super) fn above(
        &mut self,
        mut layers: Vec<OpenedSource>,
        first: &str,
    ) -> Result<Above, OpenError> {
        let (layer, report, memory, modified) = match std::mem::take(&mut self.changed) {
            Changed::Merged(layer, report, memory, modified) => (layer, report, memory, modified),
            changed => {
                self.changed = changed;
                return Ok(Above::of(layers));
            }
        };
        let located = |cause: OpenCause| OpenError::new(first, cause);
        let (builder, files, whiteouts) = layer
            .lay_out(modified)
            .map_err(|error| located(error.into()))?;
        let mut volume = volume::folder("changes", "", Box::new(files));
        let plan = self
            .reader
            .budget()
            .charge("the plan of the changes", memory);
        volume.plan = Some(plan.map_err(|error| located(error.into()))?);
        layers.push(OpenedSource {
            builder,
            volume,
            is_layered: false,
            images: Images::new(),
            applied: Some(report),
            path: PathBuf::new(),
        });
        Ok(Above { layers, whiteouts })
    }
}
