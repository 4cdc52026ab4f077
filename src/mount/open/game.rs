//! Opening games: their archives, the loose files of their folders, and mods.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::order::{Order, gta};
use super::sources::{GameFolder, LooseFolder};
use super::streamed::Streamed;
use super::{Candidate, Opener, modified, unique_names, unreadable};
use crate::mount::error::{OpenCause, OpenError};
use crate::mount::tree::control::Images;
use crate::mount::tree::source_trees::{OpenedSource, SourceTrees};
use crate::mount::tree::volume;
use crate::source::FileSource;
use crate::source::folder::Folder;
use hpimount_containers::format::{self, Input};

impl Opener<'_> {
    /// Opens the archives that the lists of a game name, and the loose files of
    /// its folder and of mods.
    pub(super) fn listed_game(
        &mut self,
        archives: &gta::Archives,
        folder: &LooseFolder,
        mods: &[LooseFolder],
    ) -> Result<SourceTrees, OpenError> {
        let names = unique_names(&archives.paths);
        let named: Vec<_> = names.iter().zip(&archives.paths).collect();
        let opened = self.open_all(&named, |opener, (name, path)| opener.open(name, path))?;
        let mut warnings = archives.warnings.clone();
        let loose = self.loose_layers((folder, mods), &[], true, &mut warnings)?;
        let above = self.above(loose, &folder.path.to_string_lossy())?;
        let why = "the lists in the folder data are those of Grand Theft Auto";
        self.merged(opened, (Order::Gta, why), above, warnings)
    }

    /// Opens the archives and loose files of a game's folder.
    pub(super) fn game(
        &mut self,
        game: &GameFolder,
        order: Option<Order>,
    ) -> Result<SourceTrees, OpenError> {
        let folder = &game.folder;
        let located = |cause: OpenCause| OpenError::new(folder.path.to_string_lossy(), cause);
        let mut paths = game.archives();
        if paths.is_empty() {
            return Err(located(OpenCause::NoArchives));
        }
        let mut sources = Vec::with_capacity(paths.len());
        let mut unreadable = Vec::new();
        for path in &paths {
            match FileSource::open(path, &self.disk.pool) {
                Ok(source) => sources.push((path.clone(), Arc::new(source))),
                Err(error) => unreadable.push((path.clone(), error)),
            }
        }
        let (order, why) = match order {
            Some(order) => (order, "set by --order"),
            None => {
                let options = format::Options::default();
                let inputs = sources.iter();
                let inputs: Vec<_> = inputs
                    .map(|(_, source)| Input::alone(source.clone(), options.clone()))
                    .collect();
                Order::of(&inputs)
            }
        };
        let warnings = order.restrict(&mut paths);
        order.sort(&mut paths);
        for (path, error) in unreadable {
            if paths.contains(&path) {
                let error = OpenError::new(path.to_string_lossy(), OpenCause::Unreadable(error));
                if self.options.strict {
                    return Err(error);
                }
                self.skipped.push(error);
            }
        }
        let names = unique_names(&paths);
        let named = names.into_iter().zip(paths);
        let candidates = named.filter_map(|(name, path)| {
            let found = sources.iter().find(|(known, _)| *known == path);
            let source = found?.1.clone();
            let opened = Candidate::on_disk(&path, &name, source);
            Some(opened.map_err(|cause| OpenError::new(path.to_string_lossy(), cause)))
        });
        let candidates: Vec<Candidate> = candidates.collect::<Result<_, _>>()?;
        let opened = self.open_all(&candidates, |opener, candidate| {
            opener
                .open_candidate(candidate, true)
                .map_err(|cause| OpenError::new(candidate.path.to_string_lossy(), cause))
        })?;
        let mut warnings = warnings;
        let loose = self.loose_layers((folder, &game.mods), &opened, false, &mut warnings)?;
        let above = self.above(loose, &folder.path.to_string_lossy())?;
        self.merged(opened, (order, why), above, warnings)
    }

    /// Returns everything in a game's folder except for the merged archives in
    /// it, and the folders of mods. If the game streams files, [`Streamed`]
    /// places the streamed files of mods.
    fn loose_layers(
        &self,
        (folder, mods): (&LooseFolder, &[LooseFolder]),
        merged: &[OpenedSource],
        has_streamed: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<OpenedSource>, OpenError> {
        let folders: Vec<_> = [folder].into_iter().chain(mods).collect();
        let paths: Vec<_> = folders.iter().map(|folder| &folder.path).collect();
        let names = unique_names(&paths).into_iter();
        let layers = names.zip(folders).map(|(name, loose)| {
            let merged = merged.iter().map(|archive| archive.path.as_path());
            let merged = merged.filter(|path| path.parent() == Some(loose.path.as_path()));
            let is_mod = !std::ptr::eq(loose, folder);
            let game = (has_streamed && is_mod).then_some(folder.path.as_path());
            let opened = self.loose_files(&name, loose, game, merged.collect(), warnings);
            opened.map_err(|cause| OpenError::new(loose.path.to_string_lossy(), cause))
        });
        layers.collect()
    }

    /// Returns everything in a folder except for these merged archives. `game` is
    /// the folder of the game whose streamed files a mod replaces.
    fn loose_files(
        &self,
        name: &str,
        folder: &LooseFolder,
        game: Option<&Path>,
        merged: HashSet<&Path>,
        warnings: &mut Vec<String>,
    ) -> Result<OpenedSource, OpenCause> {
        let builder = self.builder(modified(&folder.path)?, true);
        let mut builder = builder.without_companions();
        let names = folder.names.iter();
        let names = names.filter(|name| !merged.contains(folder.path.join(name).as_path()));
        let names = names.cloned().collect();
        let files = match game {
            None => Folder::open_all(&folder.path, names, self.disk, &mut builder, warnings),
            Some(game) => {
                let mut streamed = Streamed::new(&mut builder, game);
                Folder::open_all(&folder.path, names, self.disk, &mut streamed, warnings)
            }
        };
        Ok(OpenedSource {
            builder,
            volume: volume::folder(
                name,
                &folder.path.to_string_lossy(),
                Box::new(files.map_err(unreadable)?),
            ),
            is_layered: false,
            images: Images::new(),
            applied: None,
            path: folder.path.clone(),
        })
    }
}
