//! Assets that an earlier version of a mount that is edited has made from the same files.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Converter, EditedAsset, Edits};
use crate::content::{MadeAsset, MadeAssets};
use crate::mount::assets::editable::unexpected;
use crate::mount::{Access, Ino};
use hpimount_containers::changes::{NewFile, Original, Report};
use hpimount_containers::io::{self, read_vec};

/// Number of bytes at both ends of an archive, where their tables are, that tell it from
/// others.
const END: u64 = 64 << 10;

/// Number of bytes at the beginning of an asset that tell it from others of its size.
const HEAD: u64 = 4 << 10;

/// Memory of the record of an edited file, about, without its path.
const MEMORY_OF_FILE: usize = 128;

/// The known assets of an archive.
pub(super) struct Known<'a> {
    pub(super) made: &'a MadeAssets,
    archive: u64,
}

impl Converter<'_> {
    /// Returns the known assets of an archive, if the mount is edited.
    pub(super) fn known(&self, original: &Original<'_>) -> io::Result<Option<Known<'_>>> {
        let made = self.options.made.as_ref();
        // Of another archive in its place, parts that are not looked at here may differ.
        let Some(made) = made.filter(|_| !original.is_changed) else {
            return Ok(None);
        };
        let source = &*original.source;
        let mut hasher = DefaultHasher::new();
        source.len().hash(&mut hasher);
        let end = source.len().min(END);
        for start in [0, source.len() - end] {
            hasher.write(&read_vec(source, start, end, "archive")?);
        }
        let archive = hasher.finish();
        Ok(Some(Known { made, archive }))
    }
}

/// Inputs that an asset is made from.
pub(super) struct Ingredients {
    files: Vec<(usize, NewFile)>,
    original: u64,
}

impl Edits<'_> {
    /// Returns whether an asset is known that was made from a file.
    pub(super) fn is_known(&self, file: &NewFile) -> bool {
        self.known.as_ref().is_some_and(|known| {
            let made = known.made.of(file);
            made.is_some_and(|made| made.archive == known.archive)
        })
    }

    /// Returns what an asset is made from, if it can be remembered.
    pub(super) fn ingredients(
        &self,
        asset: Ino,
        edited: &EditedAsset,
    ) -> io::Result<Option<Ingredients>> {
        let has_others = !edited.values.is_empty()
            || !edited.added.is_empty()
            || !edited.deleted.is_empty()
            || edited.format.import_all.is_some();
        if self.known.is_none() || has_others {
            return Ok(None);
        }
        let files = edited.files.iter();
        Ok(Some(Ingredients {
            files: files
                .map(|(number, file)| (*number, file.clone()))
                .collect(),
            original: self.hash_of(asset)?,
        }))
    }

    /// Returns a number that other bytes of an asset are unlikely to have.
    fn hash_of(&self, asset: Ino) -> io::Result<u64> {
        let node = self.vfs.node(asset).map_err(unexpected)?;
        let size = self.vfs.assets().size_of(&node)?;
        let mut hasher = DefaultHasher::new();
        size.hash(&mut hasher);
        let head = self
            .vfs
            .assets()
            .bytes(&node, 0..size.min(HEAD), Access::Unknown);
        hasher.write(&head.map_err(unexpected)??);
        Ok(hasher.finish())
    }

    /// Returns the known asset that was made of these, and reports what there is to say.
    pub(super) fn known_asset(&mut self, of: &Ingredients) -> Option<NewFile> {
        let known = self.known.as_ref()?;
        let made = known.made.of(&of.files.first()?.1)?;
        let is_same = |(one, other): (&(usize, NewFile), &(usize, NewFile))| {
            one.0 == other.0 && one.1.is_same(&other.1)
        };
        let is_made_of = made.archive == known.archive
            && made.original == of.original
            && made.files.len() == of.files.len()
            && made.files.iter().zip(&of.files).all(is_same);
        is_made_of.then(|| {
            self.report.extend(made.report.clone());
            made.asset.clone()
        })
    }

    /// Remembers an asset that was made of these, if there is memory for it.
    pub(super) fn remember(&self, of: Ingredients, asset: &NewFile, report: &Report) {
        let paths = of
            .files
            .iter()
            .map(|(_, file)| MEMORY_OF_FILE + file.path().len());
        let notes = report.notes().map(|note| note.len());
        let memory = size_of::<MadeAsset>() + paths.sum::<usize>() + notes.sum::<usize>();
        let memory = self.vfs.reader().budget().charge("known assets", memory);
        let known = self.known.as_ref().filter(|_| report.refusals.is_empty());
        if let (Some(known), Ok(memory)) = (known, memory) {
            known.made.insert(MadeAsset {
                archive: known.archive,
                original: of.original,
                files: of.files,
                asset: asset.clone(),
                report: report.clone(),
                memory,
            });
        }
    }
}
