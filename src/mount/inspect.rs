//! Going through everything in a mount without a kernel: what is after the
//! entries, and why bytes cannot be read.

use super::context::Context;
use super::subtree::Node;
use super::{Bytes, Error, Ino, Meta, Result, Vfs};
use crate::content::Asked;
use crate::io;
use crate::namespace::companion::{self, Shows};
use crate::namespace::tree::{Kind, ROOT};
use crate::view::VIEW_FORMATS;
use crate::volume::{Content, DiscImage, folder};

/// Maximum length of the `info.json` whose warnings are taken, in bytes.
const MAX_INFO: usize = 16 << 20;

/// What an entry is to those who go through all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A directory of a source.
    Directory,
    /// `X.d`, which shows what is inside an archive.
    Inside,
    /// A directory that shows assets.
    Shown,
    /// A file whose bytes a source has.
    File {
        /// Whether there is a view of its kind of asset, and the mount shows
        /// views at all.
        is_asset: bool,
    },
    /// A file that is generated.
    Generated,
    /// A symbolic link.
    Link,
}

/// An entry of a directory.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its inode number.
    pub ino: Ino,
    /// What it is.
    pub role: Role,
    /// Number of its links.
    pub links: u32,
    /// Decoded size in bytes; 0 for what is no file, and for a generated file
    /// whose size is not known.
    pub size: u64,
}

/// What stands in a directory that is the root of a source, or `X.d`.
pub struct Archive {
    /// Whether it is more than a folder on disk.
    pub is_container: bool,
    /// Why there is nothing in it.
    pub problem: Option<io::Error>,
    /// Warnings about it, one sentence each.
    pub warnings: Vec<String>,
    /// The images that it is.
    pub images: Vec<DiscImage>,
}

/// Why something cannot be read, in more words than the kernel gets.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Trouble {
    /// There is no such entry, or not of this kind.
    #[error(transparent)]
    Entry(#[from] Error),
    /// The bytes of a source are at fault.
    #[error(transparent)]
    Bytes(#[from] io::Error),
}

/// What parsing an asset has found.
#[derive(Debug)]
pub struct Parsed {
    /// Why it could not be parsed to its end.
    pub failure: Option<io::Error>,
    /// Warnings about it, one sentence each.
    pub warnings: Vec<String>,
}

impl Vfs {
    /// At most `most` entries of a directory, from number `start` on.
    ///
    /// # Errors
    /// Returns [`Error::NotADirectory`], [`Error::NotFound`], and those of
    /// entering a directory that is built on demand.
    pub fn entries(&self, directory: Ino, start: usize, most: usize) -> Result<Vec<Entry>> {
        let (node, _) = self.directory(directory)?;
        let entries = node.tree().entries(node.index, start).take(most);
        Ok(entries
            .filter_map(|(name, index)| {
                let node = node.other(index);
                let inode = node.tree().inode(index)?;
                Some(Entry {
                    name: name.to_owned(),
                    ino: node.ino(),
                    role: self.role_of(&node)?,
                    links: inode.nlink,
                    size: inode.size().unwrap_or(0),
                })
            })
            .collect())
    }

    /// What an inode is.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`].
    pub fn role(&self, ino: Ino) -> Result<Role> {
        match self.node(ino) {
            Ok(node) => self.role_of(&node).ok_or(Error::NotFound),
            // Another spelling of a directory.
            Err(Error::NotFound) => {
                let (node, _) = self.directory(ino)?;
                Ok(match node.subtree().is_rendered() {
                    true => Role::Shown,
                    false => Role::Directory,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// As [`Vfs::read`], but what is wrong is not logged, and returned whole.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::read`].
    pub fn read_explained(
        &self,
        ino: Ino,
        offset: u64,
        size: u32,
    ) -> std::result::Result<Bytes, Trouble> {
        let range = offset..offset.saturating_add(size.into());
        Ok(self.range_of_node(&self.node(ino)?, range)??)
    }

    /// Returns whether the parts of a file can be read without those before
    /// them.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`].
    pub fn is_divisible(&self, ino: Ino) -> Result<bool> {
        let node = self.node(ino)?;
        let file = node.file().ok_or(Error::NotFound)?;
        let content = file.volume.volume.content(file.file);
        Ok(matches!(
            content,
            Ok(Content::Extent { .. } | Content::Chunks(_))
        ))
    }

    /// What stands in the root of a source, or in an `X.d`.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::entries`].
    pub fn archive(&self, directory: Ino) -> Result<Archive> {
        let (node, _) = self.directory(directory)?;
        let subtree = node.subtree();
        let volume = subtree.volumes.first().ok_or(Error::NotFound)?;
        let mut warnings = volume.image_warnings.clone();
        warnings.extend_from_slice(volume.volume.warnings());
        Ok(Archive {
            is_container: volume.format != folder::FORMAT_NAME,
            problem: subtree.problem.clone(),
            warnings,
            images: volume.volume.images(),
        })
    }

    /// Returns an image that the archive in a directory is: a disc, or a track
    /// of one.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] for a number that no image has, and as for
    /// [`Vfs::entries`].
    pub fn image(&self, directory: Ino, number: usize) -> Result<DiscImage> {
        let (node, _) = self.directory(directory)?;
        let volume = node.subtree().volumes.first().ok_or(Error::NotFound)?;
        let mut images = volume.volume.images().into_iter();
        images.nth(number).ok_or(Error::NotFound)
    }

    /// Warnings about the bytes of a file, which is read for it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn oddity(&self, ino: Ino) -> std::result::Result<Option<String>, Trouble> {
        let node = self.node(ino)?;
        let file = node.file().ok_or(Error::NotFound)?;
        Ok(file.volume.volume.oddity(file.file)?)
    }

    /// Parses a file as the asset that its archive or its name says it is.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or there is no memory for it.
    pub fn parse(&self, ino: Ino) -> std::result::Result<Parsed, Trouble> {
        let node = self.node(ino)?;
        let number = view_number(&node).ok_or(Error::NotFound)?;
        let format = VIEW_FORMATS.get(number).ok_or(Error::NotFound)?;
        let context = Context::new(self, &node);
        let model = self.model_in(&context, format, Asked::ByRequest)?;
        let failure = model.view.failure().cloned();
        let warnings = match failure {
            None => self.warnings_of(&*model.view, &context)?,
            Some(_) => Vec::new(),
        };
        Ok(Parsed { failure, warnings })
    }

    /// Returns the warnings that the `info.json` of a view has.
    fn warnings_of(
        &self,
        view: &dyn crate::view::View,
        context: &Context<'_>,
    ) -> io::Result<Vec<String>> {
        let mut files = view.files().into_iter();
        let Some(number) = files.position(|file| file.folder.is_none() && file.name == "info.json")
        else {
            return Ok(Vec::new());
        };
        let budget = self.reader.budget();
        let mut info = Bounded {
            bytes: Vec::new(),
            most: MAX_INFO.min(budget.limit() / 4),
        };
        let _memory = budget.reserve("its warnings", info.most, true)?;
        if let Err(error) = view.render(number, context, &mut info) {
            return match error.kind() {
                // Nothing that is odd enough to be reported is that long.
                std::io::ErrorKind::FileTooLarge => Ok(Vec::new()),
                _ => Err(io::Error::of_output(&error)),
            };
        }
        #[derive(serde::Deserialize)]
        struct Info {
            #[serde(default)]
            warnings: Vec<String>,
        }
        let info = serde_json::from_slice::<Info>(&info.bytes);
        Ok(info.map(|info| info.warnings).unwrap_or_default())
    }

    /// What an inode is.
    fn role_of(&self, node: &Node<'_>) -> Option<Role> {
        if node.index == ROOT && node.subtree().is_rendered() {
            return Some(Role::Shown);
        }
        let inode = node.tree().inode(node.index)?;
        Some(match inode.kind {
            Kind::Dir { .. } | Kind::Deferred { .. } | Kind::Grafted | Kind::Shown { .. } => {
                Role::Directory
            }
            Kind::Companion { shows, .. } => match shows {
                Shows::Inside => Role::Inside,
                Shows::Meta(_) | Shows::Converted => Role::Shown,
            },
            Kind::Symlink { .. } | Kind::Verbatim { .. } => Role::Link,
            Kind::File { .. } if node.file().is_none() || inode.size().is_none() => Role::Generated,
            Kind::File { .. } => Role::File {
                is_asset: self.options.meta != Meta::Off && view_number(node).is_some(),
            },
        })
    }
}

/// Returns the number of the view of a file, if there is one.
fn view_number(node: &Node<'_>) -> Option<usize> {
    let file = node.file()?;
    let known = file.volume.volume.asset(file.file);
    let number = companion::view_format(node.tree().name(node.index), known);
    number.map(usize::from)
}

/// Memory for a text that may be too long.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
