//! Converted trees: they mirror the directories of the files, and contain the
//! assets in converted form (SEMANTICS, Converted trees).

mod made_of;
mod names;

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use self::names::Named;
use super::Assets;
use super::context::Context;
use super::game;
use crate::formats::REPORTS;
use crate::formats::VIEW_FORMATS;
use crate::mount::tree::MountTree;
use crate::mount::tree::grafts::{Built, Files};
use crate::mount::tree::subtree::{Converted, ConvertedSource, FileOfAsset, Node, Rendered};
use crate::mount::{Ino, Result};
use crate::namespace::companion::{self, Companions, Shows};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{Index, InodeKind, Label, NewInode, Tree, TreeBuilder};
use hpimount_assets::view::ViewFormat;
use hpimount_assets::view::converted::Folder;
use hpimount_containers::io::{self, Compact};
use hpimount_containers::text::windows_1252;
use hpimount_containers::volume::{AssetName, AssetType, FileId, Name, NodeId, Sink};

/// Number of entries after which the memory charge is updated.
const CHARGED_AT_ONCE: usize = 4096;

/// The directory, beside converted files, of the directories with all parts of
/// their assets. File managers list directories first, and people look for the
/// pictures.
const PARTS: &str = "parts";

/// A file of a directory that can be converted.
struct Asset {
    index: Index,
    format: u8,
    /// Its type, if the volume has one for it.
    known: Option<AssetType>,
}

impl Asset {
    fn format(&self) -> &'static ViewFormat {
        &VIEW_FORMATS[usize::from(self.format)]
    }

    fn converted(&self) -> hpimount_assets::view::converted::Converted {
        self.format().converted.of(self.known)
    }

    /// Returns whether its directory is not in [`PARTS`], since there are no
    /// files that it is a part of.
    fn is_directory_in_place(&self) -> bool {
        let converted = self.converted();
        converted.has_directory && converted.files.is_empty()
    }
}

/// A directory of a converted tree under construction.
struct Draft {
    builder: TreeBuilder,
    files: Vec<ConvertedSource>,
    fingerprint: DefaultHasher,
    /// Directories by their parents and names.
    folders: HashMap<(NodeId, String), NodeId>,
}

/// Returns whether there may be reports about a directory, which was entered:
/// it has a converted tree, or is the root of an unpacked game.
pub(crate) fn has_reports(mount: &MountTree, directory: &Node<'_>) -> bool {
    mount.is_container_root(directory) || game::is_root(directory)
}

/// Builds the directory of a converted tree that mirrors a directory of
/// files.
pub(crate) fn build(mount: &MountTree, directory: &Node<'_>, modified: i64) -> Result<Built> {
    let directory = match directory.subtree().range.origin {
        Origin::Control => mount.node(mount.options.root_of_files())?,
        _ => directory.clone(),
    };
    let directory = mount.enter(directory)?;
    let mut draft = Draft {
        builder: mount.new_builder(modified, Companions::NONE),
        files: Vec::new(),
        fingerprint: DefaultHasher::new(),
        folders: HashMap::new(),
    };
    let is_root = mount.is_container_root(&directory);
    let volume = directory.subtree().volumes.first();
    let has_kinds = is_root && volume.is_some_and(|volume| volume.volume.assets().is_some());
    let drafted = match has_kinds {
        true => draft.by_kind(&directory),
        false => draft.mirror(&directory),
    };
    let drafted = drafted.and_then(|()| match has_reports(mount, &directory) {
        true => draft.reports(&Context::new(Assets::of(mount), &directory)),
        false => Ok(()),
    });
    drafted.map_err(|error| mount.failed(&directory, &error))?;
    draft.files.compact();
    Ok(Built {
        builder: draft.builder,
        files: Files::Rendered,
        rendered: Rendered::Converted(Converted {
            of: directory.ino(),
            files: draft.files,
            by_asset: OnceLock::new(),
        }),
        problem: None,
        fingerprint: draft.fingerprint.finish(),
    })
}

impl Draft {
    /// Adds the entries of a directory under their own paths.
    fn mirror(&mut self, directory: &Node<'_>) -> io::Result<()> {
        let tree = directory.tree();
        let mut taken = Vec::new();
        let mut assets = Vec::new();
        let mut files = 0;
        let shown = shown_by_companions(tree, directory.index);
        for (number, (name, index)) in (1_usize..).zip(tree.entries(directory.index, 0)) {
            if is_mirrored(directory, index) {
                taken.push(name);
                self.directory(directory.ino_of(index), name, tree, index)?;
            } else if let Some(asset) = asset(&directory.other(index), name, &shown) {
                files += asset.converted().files.len();
                assets.push((name, asset));
            }
            if number.is_multiple_of(CHARGED_AT_ONCE) {
                let names = taken.len() + assets.len() + files;
                self.builder.needs_temporarily(
                    taken.capacity() * size_of::<&str>()
                        + assets.capacity() * size_of::<(&str, Asset)>()
                        + assets.len() * size_of::<Named<'_>>()
                        + names * names::MEMORY_OF_NAME
                        + files * size_of::<ConvertedSource>(),
                )?;
            }
        }
        self.files.reserve_exact(files);
        let in_place = assets.iter();
        let in_place = in_place.filter(|(_, asset)| asset.is_directory_in_place());
        taken.extend(in_place.map(|(name, _)| *name));
        let named = assets.iter().map(|(name, asset)| Named {
            name,
            stem: names::stem(name, asset.format()),
            files: asset.converted().files,
        });
        let named: Vec<_> = named.collect();
        let names = names::names(&named, &taken);
        let root = self.builder.root();
        for ((name, asset), names) in assets.iter().zip(names) {
            self.asset(root, &directory.other(asset.index), asset, name, &names)?;
        }
        Ok(())
    }

    /// Adds the assets of an archive in a directory for each kind, for archives
    /// whose own directories have no meaning for users.
    fn by_kind(&mut self, directory: &Node<'_>) -> io::Result<()> {
        let volume = directory.subtree().volumes.first();
        let Some(table) = volume.and_then(|volume| volume.volume.assets()) else {
            return Ok(());
        };
        let tree = directory.tree();
        let mut kinds: Vec<(String, Vec<Asset>)> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        let mut memory = 0;
        let mut count: usize = 0;
        for index in 0..tree.inodes() {
            let node = directory.other(index);
            let Some(asset) = asset(&node, tree.name(index), &HashMap::new()) else {
                continue;
            };
            let Some(folder) = folder(&asset) else {
                continue;
            };
            let position = *positions.entry(folder).or_insert_with_key(|folder| {
                kinds.push((folder.clone(), Vec::new()));
                kinds.len() - 1
            });
            memory += asset.converted().files.len() * size_of::<ConvertedSource>()
                + 2 * size_of::<Asset>()
                + size_of::<(FileId, AssetName)>()
                + 2 * tree.name(index).len();
            count += 1;
            if count.is_multiple_of(CHARGED_AT_ONCE) {
                self.builder.needs_temporarily(memory)?;
            }
            kinds[position].1.push(asset);
        }
        kinds.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (folder, assets) in kinds {
            let files = assets.iter().filter_map(|asset| file(tree, asset.index));
            let names = table.file_names(&files.collect::<Vec<_>>());
            let parent = self.folder(self.builder.root(), &folder)?;
            for (asset, AssetName { stem, extension }) in
                assets.iter().zip(names.unwrap_or_default())
            {
                let files = asset.converted().files.iter();
                let names: Vec<_> = files
                    .map(|file| format!("{stem}.{}", file.extension))
                    .collect();
                let node = directory.other(asset.index);
                let whole = format!("{stem}{extension}");
                self.asset(parent, &node, asset, &whole, &names)?;
            }
        }
        Ok(())
    }

    /// Adds the reports to the root of the tree.
    fn reports(&mut self, context: &Context<'_>) -> io::Result<()> {
        let reports = REPORTS.iter().copied().flatten();
        for report in reports.filter(|report| (report.applies)(context)) {
            let root = self.builder.root();
            let (parent, name) = match report.path.rsplit_once('/') {
                Some((folder, name)) => (self.folder(root, folder)?, name),
                None => (root, report.path),
            };
            self.file(parent, name, ConvertedSource::Report(report), None)?;
        }
        Ok(())
    }

    /// Adds a directory of files that is entered on demand.
    fn directory(&mut self, of: Ino, name: &str, tree: &Tree, index: Index) -> io::Result<()> {
        let shows = Shows::Converted;
        let inode = NewInode {
            kind: InodeKind::ForeignCompanion { of, shows },
            modified: tree.inode(index).map(|inode| inode.modified),
            ..NewInode::DIR
        };
        let root = self.builder.root();
        self.builder
            .add(root, &Label::new(Name::utf_8(name)), inode)?;
        Ok(())
    }

    /// Adds the conversions of an asset: its files, and the directory with all
    /// parts.
    fn asset(
        &mut self,
        parent: NodeId,
        node: &Node<'_>,
        asset: &Asset,
        name: &str,
        names: &[String],
    ) -> io::Result<()> {
        let modified = node.tree().inode(node.index).map(|inode| inode.modified);
        let converted = asset.converted();
        // A failure here will be reported when the file is read.
        let stamp = node.file().and_then(|file| {
            let version = file.volume.volume.version(file.file);
            version.ok().map(|version| version.stamp)
        });
        stamp.hash(&mut self.fingerprint);
        for (position, (file, name)) in (0..).zip(converted.files.iter().zip(names)) {
            let parent = match file.folder {
                Some(folder) => self.folder(parent, folder)?,
                None => parent,
            };
            let file = FileOfAsset {
                asset: node.ino(),
                format: asset.format(),
                position,
                stamp,
            };
            self.file(parent, name, ConvertedSource::Asset(file), modified)?;
        }
        node.ino().hash(&mut self.fingerprint);
        if converted.has_directory {
            let inode = NewInode {
                kind: InodeKind::ForeignCompanion {
                    of: node.ino(),
                    shows: Shows::Meta(asset.format),
                },
                modified,
                ..NewInode::DIR
            };
            let parent = match asset.is_directory_in_place() {
                true => parent,
                false => self.folder(parent, PARTS)?,
            };
            self.builder
                .add(parent, &Label::new(Name::utf_8(name)), inode)?;
        }
        Ok(())
    }

    fn file(
        &mut self,
        parent: NodeId,
        name: &str,
        file: ConvertedSource,
        modified: Option<i64>,
    ) -> io::Result<()> {
        let inode = NewInode {
            kind: self.builder.file_kind(FileId(self.files.len() as u32)),
            size: None,
            modified,
        };
        self.files.push(file);
        self.builder
            .add(parent, &Label::new(Name::utf_8(name)), inode)?;
        Ok(())
    }

    /// Returns the directory at a path below another one, and creates it if
    /// needed.
    fn folder(&mut self, from: NodeId, path: &str) -> io::Result<NodeId> {
        let mut folder = from;
        for name in path.split('/') {
            let key = (folder, name.to_owned());
            folder = match self.folders.get(&key) {
                Some(&known) => known,
                None => {
                    let made = self.builder.dir(folder, Name::utf_8(name), None)?;
                    self.folders.insert(key, made);
                    made
                }
            };
        }
        Ok(folder)
    }
}

/// Returns the folder of an asset in a tree by kind; `None` if it is not
/// converted.
fn folder(asset: &Asset) -> Option<String> {
    let converted = asset.converted();
    if !converted.is_something() {
        return None;
    }
    Some(match (converted.folder, asset.known) {
        (Folder::OfType(folder), Some(known)) => {
            let kind = windows_1252(&known.code);
            let kind: Cow<'_, str> = match kind.trim_end().replace('/', "%2F") {
                kind if kind.is_empty() => "_".into(),
                kind => kind.into(),
            };
            format!("{folder}/{kind}")
        }
        (Folder::Named(folder) | Folder::OfType(folder), _) => folder.to_owned(),
    })
}

fn file(tree: &Tree, index: Index) -> Option<FileId> {
    match tree.inode(index)?.kind {
        InodeKind::File { file, .. } => Some(file),
        _ => None,
    }
}

/// Returns the formats of the files of a directory that follow from listed
/// companions and not from names, as for a single source.
fn shown_by_companions(tree: &Tree, directory: Index) -> HashMap<Index, u8> {
    let entries = tree.entries(directory, 0);
    let formats = entries.filter_map(|(_, index)| match tree.inode(index)?.kind {
        InodeKind::Companion {
            of,
            shows: Shows::Meta(format),
        } if companion::view_format(tree.name(of), None).is_none() => Some((of, format)),
        _ => None,
    });
    formats.collect()
}

/// Returns the asset of a file, if it can be converted.
fn asset(node: &Node<'_>, name: &str, shown: &HashMap<Index, u8>) -> Option<Asset> {
    let file = node.file()?;
    let known = file.volume.volume.asset(file.file);
    let format = companion::view_format(name, known).or_else(|| shown.get(&node.index).copied());
    let asset = Asset {
        index: node.index,
        format: format?,
        known,
    };
    asset.converted().is_something().then_some(asset)
}

/// Returns whether a directory is mirrored in the converted tree: an archive, a
/// directory that is listed on demand, or one that contains something to
/// convert, or a game with its tables. Archives and directories on demand are
/// not entered to find out.
fn is_mirrored(directory: &Node<'_>, index: Index) -> bool {
    let tree = directory.tree();
    let kind = |index| tree.inode(index).map(|inode| inode.kind);
    if !matches!(kind(index), Some(InodeKind::Dir { .. })) {
        return kind(index).is_some_and(is_entered_on_demand);
    }
    let is_game = |index| game::is_root(&directory.other(index));
    if is_game(index) {
        return true;
    }
    let unknown = HashMap::new();
    // An iterator for each directory on the path: the memory depends on the
    // depth, not on the number of entries.
    let mut open = vec![tree.entries(index, 0)];
    while let Some(entries) = open.last_mut() {
        let Some((name, index)) = entries.next() else {
            open.pop();
            continue;
        };
        match kind(index) {
            Some(InodeKind::Dir { .. }) if is_game(index) => return true,
            Some(InodeKind::Dir { .. }) => open.push(tree.entries(index, 0)),
            Some(InodeKind::File { .. })
                if asset(&directory.other(index), name, &unknown).is_some() =>
            {
                return true;
            }
            Some(kind) if is_entered_on_demand(kind) => return true,
            _ => {}
        }
    }
    false
}

/// Returns whether the entries of a directory of files are unknown before it is
/// entered.
fn is_entered_on_demand(kind: InodeKind) -> bool {
    match kind {
        InodeKind::Deferred { .. } | InodeKind::Grafted => true,
        InodeKind::Companion { shows, .. } => shows == Shows::Inside,
        _ => false,
    }
}
