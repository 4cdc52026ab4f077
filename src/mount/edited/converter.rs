//! Opening of archives and assets that are edited, without a kernel.

use std::path::PathBuf;
use std::sync::Arc;

use crate::memory::budget::Budget;
use crate::mount::assets::{self, beside};
use crate::mount::tree::asset;
use crate::mount::tree::control::Images;
use crate::mount::tree::source_trees::{OpenedSource, SourceTrees};
use crate::mount::tree::volume::{self, OpenedFile, VolumeFile};
use crate::mount::{Ino, Options, Vfs};
use crate::namespace::companion::Shows;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::TreeBuilder;
use hpimount_containers::changes::Original;
use hpimount_containers::io::{self, ReadAt};

/// Opens an archive or an asset that changes are applied to, within a memory budget that
/// others use as well.
///
/// # Errors
/// Returns an error if it is neither, or its directory cannot be read.
pub(super) fn open(
    original: &Original<'_>,
    options: Options,
    budget: &Arc<Budget>,
) -> io::Result<Vfs> {
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
