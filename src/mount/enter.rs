//! Subtrees that are built on demand: directories of folders on disk, and the
//! companions `X.d` and `X.meta`.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use super::image::{self, Images};
use super::subtree::{Node, Rendered, Subtree, Viewed, volume_id};
use super::{Attr, Error, Meta, Result, Vfs};
use crate::content::{Member, OpenVolume};
use crate::namespace::companion::{self, CONVERTED, Companions, Shows};
use crate::namespace::numbers::{Origin, Range};
use crate::namespace::tree::{Kind, Label, NewInode, ROOT, TreeBuilder};
use crate::sync::lock;
use hpimount_assets::formats::VIEW_FORMATS;
use hpimount_assets::view::View;
use hpimount_containers::format;
use hpimount_containers::format::Input;
use hpimount_containers::formats;
use hpimount_containers::io::{self, BlockBuffer, ReadAt};
use hpimount_containers::volume::{self, FileId, Name, NodeId, Sink, Version, Volume};

/// Maximum nesting of archives in archives.
pub(super) const MAX_NESTING: u8 = 16;

/// The contents of a subtree before it has numbers.
pub(super) struct Built {
    pub(super) builder: TreeBuilder,
    pub(super) volume: Option<NewVolume>,
    pub(super) rendered: Rendered,
    /// Why it is empty.
    pub(super) problem: Option<io::Error>,
    /// Changes when the files behind the entries change.
    pub(super) fingerprint: u64,
}

/// A volume before it has a number.
pub(super) struct NewVolume {
    pub(super) name: String,
    pub(super) location: String,
    pub(super) format: &'static str,
    pub(super) is_plain_folder: bool,
    pub(super) nesting: u8,
    /// Block images around it.
    pub(super) images: Images,
    pub(super) volume: Box<dyn Volume>,
}

impl NewVolume {
    /// Returns the memory that it holds, in bytes.
    fn memory(&self) -> usize {
        self.volume.memory() + self.images.memory
    }

    /// Returns the warnings about it and the block images around it.
    pub(super) fn warnings(&self) -> impl Iterator<Item = &String> {
        self.images.warnings.iter().chain(self.volume.warnings())
    }

    /// Returns the volume with its number.
    pub(super) fn open(self, range: Range, number: usize) -> OpenVolume {
        OpenVolume {
            id: volume_id(range, number),
            name: self.name,
            location: self.location,
            format: self.format,
            image_warnings: self.images.warnings,
            is_plain_folder: self.is_plain_folder,
            nesting: self.nesting,
            volume: self.volume,
            charge: None,
        }
    }
}

impl Vfs {
    /// Returns the node that holds the entries of a directory: itself, or the
    /// root of the subtree grafted at it.
    pub(super) fn enter<'a>(&'a self, node: Node<'a>) -> Result<Node<'a>> {
        match node.kind().ok_or(Error::NotFound)? {
            Kind::Dir { .. } => Ok(node),
            Kind::Deferred { .. } | Kind::Companion { .. } | Kind::Shown { .. } => {
                let subtree = self.subtree(Origin::Directory(node.ino()))?;
                Ok(Node::entered(subtree, ROOT))
            }
            Kind::Grafted => {
                let origin = Origin::Directory(node.ino());
                let mut fixed = self.fixed.iter();
                let found = fixed.find(|(_, subtree)| subtree.range.origin == origin);
                let (_, subtree) = found.ok_or(Error::NotFound)?;
                Ok(Node::fixed(subtree, ROOT))
            }
            Kind::File { .. } | Kind::Symlink { .. } | Kind::Verbatim { .. } => {
                Err(Error::NotADirectory)
            }
        }
    }

    /// Returns the subtree that is grafted at `origin`, building it unless it
    /// is cached.
    pub(super) fn subtree(&self, origin: Origin) -> Result<Arc<Subtree>> {
        self.subtrees.get(&origin, || self.build(origin))
    }

    fn build(&self, origin: Origin) -> Result<Arc<Subtree>> {
        let (node, built) = match origin {
            Origin::Root | Origin::Files | Origin::Control => return Err(Error::NotFound),
            Origin::Hidden(asset, shows) => {
                let asset = self.node(asset)?;
                let attr = self.node_attr(&asset)?;
                let built = self.build_companion(&asset, shows, attr)?;
                (asset, built)
            }
            Origin::Directory(directory) => {
                let node = self.node(directory)?;
                let attr = self.node_attr(&node)?;
                let built = match node.kind() {
                    Some(Kind::Companion { of, shows }) => {
                        self.build_companion(&node.other(of), shows, attr)?
                    }
                    Some(Kind::Shown { of, shows }) => {
                        let of = self.node(of).inspect_err(|_| self.give_up(&node))?;
                        self.build_companion(&of, shows, attr)?
                    }
                    Some(Kind::Deferred { directory, .. }) => {
                        self.list_deferred(&node, directory, attr)?
                    }
                    _ => return Err(Error::NotADirectory),
                };
                (node, built)
            }
        };
        self.graft(origin, built)
            .map_err(|error| self.failed(&node, &error))
    }

    /// Assigns inode numbers to a subtree, and charges its memory.
    fn graft(&self, origin: Origin, built: Built) -> io::Result<Arc<Subtree>> {
        let (tree, mut charge) = built.builder.finish_charged()?;
        let volume_memory = built.volume.as_ref().map_or(0, NewVolume::memory);
        if let Some(charge) = &mut charge {
            let memory = tree.memory() + volume_memory + built.rendered.memory();
            charge.grow_beyond(memory)?;
        }
        let fingerprint = tree.fingerprint() ^ built.fingerprint;
        let (range, is_new) = self
            .numbers
            .assign(origin, tree.inodes(), fingerprint)
            .ok_or_else(|| io::Error::Unsupported("there are no inode numbers left".into()))?;
        if is_new {
            let mut charge = lock(&self.numbers_charge);
            let bytes = charge.bytes() + Range::MEMORY;
            charge.grow_to(bytes)?;
        }
        let volume = built.volume.map(|new| Arc::new(new.open(range, 0)));
        Ok(Arc::new(Subtree {
            range,
            tree,
            volumes: volume.into_iter().collect(),
            rendered: built.rendered,
            problem: built.problem,
            _charge: charge,
        }))
    }

    /// Detects which files of a volume are archives if their names are
    /// ambiguous. `in_blocks` is set if the volume is in a block image.
    pub(super) fn probe(builder: &mut TreeBuilder, volume: &dyn Volume, in_blocks: bool) {
        match volume.is_remote() {
            true => builder.trust_extensions(),
            false => builder.probe(in_blocks, &|file, size| format::head(volume, file, size)),
        }
    }

    /// Creates a builder whose tree counts towards the budget.
    pub(super) fn builder(&self, attr: Attr, companions: Companions) -> TreeBuilder {
        let mut builder = TreeBuilder::new(0, attr.modified, companions);
        builder.charge(self.reader.budget().empty_charge("the directory"));
        builder
    }

    /// Returns which files of a volume at this nesting depth have listed
    /// companions.
    pub(super) fn companions(options: &super::Options, nesting: u8, plain: bool) -> Companions {
        Companions {
            inside: options.companions && nesting < MAX_NESTING,
            meta: match options.meta {
                Meta::Default | Meta::Converted => plain,
                Meta::Visible => true,
                Meta::Hidden | Meta::Off => false,
            },
            converted: options.meta == Meta::Visible,
            others: None,
        }
    }

    /// Returns whether `converted` is listed in the root of a volume at this
    /// nesting depth.
    pub(super) fn lists_converted(
        options: &super::Options,
        volume: &dyn Volume,
        nesting: u8,
    ) -> bool {
        match options.meta {
            // For archives whose own directories have no meaning for users.
            Meta::Default => nesting == 0 && volume.names_of_assets(&[]).is_some(),
            Meta::Visible | Meta::Converted => true,
            Meta::Hidden | Meta::Off => false,
        }
    }

    fn build_companion(&self, file: &Node<'_>, shows: Shows, attr: Attr) -> Result<Built> {
        match shows {
            Shows::Inside => self.build_inside(file, attr),
            Shows::Meta(format) => self.build_meta(file, attr, format),
            Shows::Converted => self.build_converted(file, attr),
        }
    }

    /// Builds the tree of an archive that is a file of the mount.
    fn build_inside(&self, file: &Node<'_>, attr: Attr) -> Result<Built> {
        let name = file.tree().name(file.index).to_owned();
        let (Some(outer), Some(Kind::File { file: number, .. })) = (file.volume(), file.kind())
        else {
            return Err(Error::NotFound);
        };
        let nesting = outer.nesting + 1;
        let version = outer.volume.version(number);
        let version = version.map_err(|error| self.failed(file, &error))?;
        let member = Member {
            reader: self.reader.clone(),
            volume: outer.clone(),
            file: number,
            len: self.node_attr(file)?.size,
        };
        let source: Arc<dyn ReadAt> = Arc::new(BlockBuffer::new(Arc::new(member)));
        // The result depends on both files of a pair.
        let versions = Cell::new(version.stamp);
        let partner = |name: &str| {
            let (source, version) = self.partner(file, name)?;
            versions.set(versions.get().rotate_left(1) ^ version.stamp);
            Some(source)
        };
        let opened = image::unwrap(&self.reader, source).and_then(|(source, images)| {
            let input = Input {
                source,
                partner: &partner,
                tracks: &images.tracks,
                options: self.options.volume_options(&name),
            };
            let format = formats::detect(&input)?;
            let companions = Self::companions(&self.options, nesting, format.is_plain_folder);
            let mut builder = self.builder(attr, companions);
            let volume = (format.open)(input, &mut builder)?;
            Self::probe(&mut builder, &*volume, !images.formats.is_empty());
            let new = NewVolume {
                name: name.clone(),
                location: String::new(),
                format: format.name,
                is_plain_folder: format.is_plain_folder,
                nesting,
                images,
                volume,
            };
            Ok((builder, new))
        });
        let mut problem = None;
        let (builder, volume) = match opened {
            Ok(opened) => opened,
            // A fault may be temporary, so its error is not cached.
            Err(error) if error.is_fault() => return Err(self.failed(file, &error)),
            Err(error) => {
                log::warn!("{}: {error}", self.path(file)?);
                let shown = self.problem(attr, &error);
                problem = Some(error);
                shown.map_err(|error| self.failed(file, &error))?
            }
        };
        Ok(Built {
            builder,
            volume: Some(volume),
            rendered: Rendered::No,
            problem,
            fingerprint: versions.get(),
        })
    }

    /// Returns another file in the directory of a file, as a source, and its
    /// version.
    fn partner(&self, file: &Node<'_>, name: &str) -> Option<(Arc<dyn ReadAt>, Version)> {
        let directory = file.tree().inode(file.index)?.parent;
        let (_, index) = file.tree().find(directory, name, true)?;
        let other = file.other(index);
        let Kind::File { file, .. } = other.kind()? else {
            return None;
        };
        let volume = other.volume()?.clone();
        let version = volume.volume.version(file).ok()?;
        let member = Member {
            reader: self.reader.clone(),
            volume,
            file,
            len: self.node_attr(&other).ok()?.size,
        };
        Some((Arc::new(member), version))
    }

    /// Returns the contents of `X.d` for an archive that cannot be opened:
    /// `error.txt`.
    fn problem(&self, attr: Attr, error: &io::Error) -> io::Result<(TreeBuilder, NewVolume)> {
        let text = format!("{error}\n");
        let mut builder = self.builder(attr, Companions::NONE);
        let entry = volume::Entry {
            file: FileId(0),
            size: Some(text.len() as u64),
            modified: None,
            asset: None,
        };
        let root = builder.root();
        builder.file(root, Name::utf_8("error.txt"), entry)?;
        let volume = NewVolume {
            name: String::new(),
            location: String::new(),
            format: "unknown",
            is_plain_folder: false,
            nesting: 0,
            images: Images::default(),
            volume: Box::new(super::control::Texts::new(vec![text.into_bytes()])),
        };
        Ok((builder, volume))
    }

    /// Builds the tree of the files that an asset's view generates.
    fn build_meta(&self, file: &Node<'_>, attr: Attr, format: u8) -> Result<Built> {
        let format = VIEW_FORMATS.get(format as usize).ok_or(Error::NotFound)?;
        let model = self
            .model(file, format)
            .map_err(|error| self.failed(file, &error))?;
        let mut builder = self.builder(attr, Companions::NONE);
        add_view(&mut builder, &*model.view).map_err(|error| self.failed(file, &error))?;
        let asset = file
            .file()
            .and_then(|file| file.volume.volume.asset(file.file));
        let converted = (0..).zip(format.converted.of(asset).files);
        let converted = converted.filter_map(|(position, file)| {
            let number = file.find(&*model.view)?;
            Some((position, FileId(number as u32)))
        });
        Ok(Built {
            builder,
            volume: None,
            rendered: Rendered::View(Viewed {
                asset: file.ino(),
                format,
                version: model.version,
                converted: converted.collect(),
            }),
            problem: None,
            fingerprint: model.version.stamp,
        })
    }

    /// Builds a directory that a volume lists on demand.
    fn list_deferred(&self, node: &Node<'_>, directory: FileId, attr: Attr) -> Result<Built> {
        let volume = node.volume().ok_or(Error::NotFound)?;
        let companions = Companions {
            converted: false,
            ..Self::companions(&self.options, volume.nesting, volume.is_plain_folder)
        };
        let mut builder = self.builder(attr, companions);
        let listed = volume
            .volume
            .list(directory, &mut builder)
            .map_err(|error| {
                let path = self.path(node).unwrap_or_default();
                self.reader
                    .stats
                    .failed(format!("{}/{path}: {error}", volume.location));
                Error::from(&error)
            })?;
        Self::probe(&mut builder, &*listed, false);
        Ok(Built {
            builder,
            fingerprint: listed.fingerprint(),
            volume: Some(NewVolume {
                name: node.tree().name(node.index).to_owned(),
                location: volume.location.clone(),
                format: volume.format,
                is_plain_folder: volume.is_plain_folder,
                nesting: volume.nesting,
                images: Images::default(),
                volume: listed,
            }),
            rendered: Rendered::No,
            problem: None,
        })
    }

    /// Finds a companion that is not listed. Also returns the name under which
    /// it would be listed.
    pub(super) fn hidden_companion<'a>(
        &'a self,
        directory: &Node<'a>,
        name: &str,
    ) -> Result<(Node<'a>, String)> {
        if self.options.meta == Meta::Off || directory.subtree().is_rendered() {
            return Err(Error::NotFound);
        }
        let is_same = |a: &str, b: &str| match self.folds() {
            true => a.eq_ignore_ascii_case(b),
            false => a == b,
        };
        if is_same(name, CONVERTED) && self.has_converted(directory) {
            let shows = Shows::Converted;
            let subtree = self.subtree(Origin::Hidden(directory.ino(), shows))?;
            return Ok((Node::entered(subtree, ROOT), CONVERTED.to_owned()));
        }
        let suffix = name.len().checked_sub(META_SUFFIX.len());
        let (stem, suffix) = suffix
            .and_then(|at| name.split_at_checked(at))
            .ok_or(Error::NotFound)?;
        if !is_same(suffix, META_SUFFIX) {
            return Err(Error::NotFound);
        }
        let tree = directory.tree();
        let found = tree.find(directory.index, stem, self.folds());
        let (true_stem, index) = found.ok_or(Error::NotFound)?;
        let asset = directory.other(index);
        let file = asset.file().ok_or(Error::NotFound)?;
        let known = file.volume.volume.asset(file.file);
        let format = companion::view_format(true_stem, known).ok_or(Error::NotFound)?;
        let shows = Shows::Meta(format);
        let subtree = self.subtree(Origin::Hidden(asset.ino(), shows))?;
        Ok((Node::entered(subtree, ROOT), shows.name_beside(true_stem)))
    }
}

/// Suffix of the names of companions of assets.
const META_SUFFIX: &str = ".meta";

/// Adds the files of a view, with their directories.
fn add_view(builder: &mut TreeBuilder, view: &dyn View) -> io::Result<()> {
    let root = builder.root();
    let mut folders: HashMap<Cow<'_, str>, NodeId> = HashMap::new();
    for (number, file) in view.files().into_iter().enumerate() {
        let parent = match file.folder {
            None => root,
            Some(name) => match folders.get(&name) {
                Some(&folder) => folder,
                None => {
                    let folder = builder.dir(root, Name::utf_8(&name), None)?;
                    folders.insert(name, folder);
                    folder
                }
            },
        };
        let inode = NewInode {
            kind: builder.file_kind(FileId(number as u32)),
            size: view.size(number),
            modified: None,
        };
        builder.add(parent, &Label::new(Name::utf_8(&file.name)), inode)?;
    }
    Ok(())
}
