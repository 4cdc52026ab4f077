//! Edited files of an archive or an asset, which is opened for them without a kernel.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Edits, asset_of};
use crate::content::Reader;
use crate::memory::budget::Budget;
use crate::mount::assets::editable::unexpected;
use crate::mount::assets::{self, beside};
use crate::mount::tree::asset;
use crate::mount::tree::control::Images;
use crate::mount::tree::source_trees::{OpenedSource, SourceTrees};
use crate::mount::tree::volume::{self, OpenedFile, VolumeFile};
use crate::mount::{Ino, Options, Vfs};
use crate::namespace::companion::Shows;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::TreeBuilder;
use hpimount_containers::changes::{Convert, Edited, NewFile, Original, Report};
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::volume::FileId;

/// Turns edited files of converted trees into assets.
pub(crate) struct Converter<'a> {
    /// The options of the mount that the edited files were copied from.
    pub(crate) options: &'a Options,
    /// The reader with the memory for the trees, and with the storage for the new
    /// assets.
    pub(crate) reader: &'a Reader,
}

impl Convert for Converter<'_> {
    fn convert(
        &self,
        original: &Original<'_>,
        edited: Edited,
        report: &mut Report,
    ) -> io::Result<Vec<(FileId, NewFile)>> {
        let vfs = self.open(original)?;
        let mut edits = Edits::new(&vfs, report);
        edits.known = self.known(original)?;
        let assets = edits.all(edited, &|file| asset_of(&vfs, file), self.reader)?;
        with_file_numbers(&vfs, assets)
    }

    fn is_asset(&self, original: &Original<'_>) -> io::Result<bool> {
        match asset::shows(original.shown, &*original.source) {
            Err(io::Error::UnknownFormat) => Ok(false),
            shows => shows.map(|_| true),
        }
    }
}

/// Returns files of an archive, which is the root of a mount, by their numbers in it.
fn with_file_numbers(vfs: &Vfs, assets: Vec<(Ino, NewFile)>) -> io::Result<Vec<(FileId, NewFile)>> {
    let number = |(ino, new)| {
        let node = vfs.node(ino).map_err(unexpected)?;
        let file = node.file().ok_or(io::Error::Changed)?;
        Ok((file.file, new))
    };
    assets.into_iter().map(number).collect()
}

impl Converter<'_> {
    /// Opens an archive or an asset with its converted tree.
    fn open(&self, original: &Original<'_>) -> io::Result<Vfs> {
        let options = self.options.of_original();
        open(original, options, self.reader.budget())
    }

    /// Encodes files in the form of assets of an archive, as [`Convert::convert`]
    /// does for files of its converted tree.
    ///
    /// # Errors
    /// Returns an error under the same conditions.
    pub(crate) fn encode(
        &self,
        original: &Original<'_>,
        files: Vec<ForAsset>,
        report: &mut Report,
    ) -> io::Result<Vec<(FileId, NewFile)>> {
        let vfs = self.open(original)?;
        let mut edits = Edits::new(&vfs, report);
        for ForAsset {
            asset,
            extension,
            new,
            otherwise,
        } in files
        {
            match edits.conversion(asset, extension)? {
                Some(shown) => edits.conversion_of(&shown, new)?,
                None => edits.report.refuse(new.path(), otherwise),
            }
        }
        let assets = edits.assets(self.reader)?;
        with_file_numbers(&vfs, assets)
    }
}

/// A file that an asset is to be made from.
pub(crate) struct ForAsset {
    /// The asset.
    pub(crate) asset: FileId,
    /// The extension of the conversion that the file is.
    pub(crate) extension: &'static str,
    /// The file.
    pub(crate) new: NewFile,
    /// The reason for refusing it if there is no such conversion.
    pub(crate) otherwise: String,
}

/// Opens an archive or an asset that changes are applied to, within a memory budget that
/// others use as well.
fn open(original: &Original<'_>, options: Options, budget: &Arc<Budget>) -> io::Result<Vfs> {
    let mount = assets::new_tree(budget, options);
    let open = |name: &str, source: Arc<dyn ReadAt>| {
        let file = VolumeFile {
            name,
            location: name,
            nesting: 0,
            source,
            partner: original.partner,
        };
        let new_builder = |companions| TreeBuilder::new(0, 0, companions);
        volume::open(file, &mount.reader, &mount.options, |_| true, new_builder)
    };
    let (builder, volume) = match open(original.name, original.source.clone()) {
        Ok(opened) => (opened.builder, opened.volume),
        Err(io::Error::UnknownFormat) => {
            let mut builder = TreeBuilder::new(0, 0, mount.options.companions_in(0, true));
            let (name, source) = (original.shown, &original.source);
            asset::prepare(&mut builder, name, &**source, &mount.options)?;
            let volume = asset::declare(&mut builder, name, source.clone())?;
            (builder, volume::folder(name, name, Box::new(volume)))
        }
        Err(error) => return Err(error),
    };
    // References of its assets are resolved in these; they are in no directory.
    let beside: Vec<_> = beside::likely(original.name)
        .into_iter()
        .map(|name| (original.partner)(&name).and_then(|source| open(&name, source).ok()))
        .collect();
    let sources = SourceTrees::single(OpenedSource {
        builder,
        volume,
        is_layered: false,
        images: Images::new(),
        applied: None,
        path: PathBuf::from(original.name),
    });
    let vfs = Vfs::with_sources(mount, sources, &[], None);
    for (number, opened) in (0..).zip(beside) {
        if let Some(OpenedFile {
            builder, volume, ..
        }) = opened
        {
            let origin = Origin::Hidden(Ino(number), Shows::Inside);
            let grafts = &vfs.mount.grafts;
            grafts.add(origin, builder.finish(), vec![volume]);
        }
    }
    Ok(vfs)
}
