//! Models of assets, and the files that are rendered from them.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use super::Assets;
use super::context::Context;
use crate::content::{Caller, Kept, MAX_ASSET, Model};
use crate::mount::tree::subtree::{FileOfAsset, Node, RenderedFile};
use crate::mount::{Access, Bytes, Error, Result};
use crate::namespace::tree::InodeKind;
use hpimount_assets::view::report::Report;
use hpimount_assets::view::{self, TableSink, ViewFormat};
use hpimount_containers::io;

impl<'m> Assets<'m> {
    /// Returns the parsed model of an asset.
    pub(crate) fn model(
        self,
        asset: &Node<'_>,
        format: &'static ViewFormat,
    ) -> io::Result<Arc<Model>> {
        self.model_in(&Context::new(self, asset), format, Caller::Request)
    }

    /// Like [`Assets::model`], for the asset of `context`.
    pub(crate) fn model_in(
        self,
        context: &Context<'_>,
        format: &'static ViewFormat,
        caller: Caller,
    ) -> io::Result<Arc<Model>> {
        let asset = context.node_of_asset();
        let file = asset.file().ok_or(io::Error::UnknownFormat)?;
        let refused = |size, error| {
            let view = (view::refused(format, size, error), Kept::default());
            self.mount.reader.model(file, 0, caller, |_| Ok(view))
        };
        let size = match self.size_of(asset) {
            Ok(size) if size > MAX_ASSET => {
                let text = format!("has {size} bytes; assets are shown up to {MAX_ASSET}");
                return refused(size, io::Error::Unsupported(text));
            }
            Ok(size) => size,
            Err(error @ (io::Error::Damaged { .. } | io::Error::Unsupported(_))) => {
                return refused(0, error);
            }
            Err(error) => return Err(error),
        };
        let parsed = self.mount.reader.model(file, size, caller, |bytes| {
            context.show(bytes);
            let view = view::open(format, bytes, context);
            // A model that lacks unreadable parts must not be cached.
            context.fault().map_or(Ok((view, context.kept())), Err)
        });
        match parsed {
            Err(error @ io::Error::NoMemory { .. }) if !self.mount.reader.may_parse(size) => {
                refused(size, error)
            }
            // Unlike a fault, damage of the asset's data is permanent.
            Err(error @ io::Error::Damaged { .. }) => refused(size, error),
            parsed => parsed,
        }
    }

    /// Returns the bytes of a file in the part of a range that is inside it; the
    /// inner error is about its data.
    pub(crate) fn bytes(
        self,
        node: &Node<'_>,
        range: Range<u64>,
        access: Access,
    ) -> Result<io::Result<Bytes>> {
        if !matches!(node.kind(), Some(InodeKind::File { .. })) {
            return Err(Error::IsADirectory);
        }
        let size = match self.size_of(node) {
            Ok(size) => size,
            Err(error) => return Ok(Err(error)),
        };
        let range = range.start..range.end.min(size);
        if range.is_empty() {
            return Ok(Ok(Bytes::EMPTY));
        }
        Ok(match node.file() {
            Some(file) => self.mount.reader.read(file, range, access),
            None => self.rendered_bytes(node, range),
        })
    }

    /// Returns the bytes of a rendered file in `range`. What renders it is
    /// determined only if no rendering is kept.
    pub(crate) fn rendered_bytes(self, node: &Node<'_>, range: Range<u64>) -> io::Result<Bytes> {
        let (rendered, file) = node.rendered().ok_or(io::Error::UnknownFormat)?;
        self.mount.reader.rendered(file, range, &|out| {
            self.part_of(node, &rendered)?.render(self, out)
        })
    }

    /// Sends the table that a rendered file consists of. Returns false if it is no table.
    pub(crate) fn table(self, node: &Node<'_>, to: &mut dyn TableSink) -> io::Result<bool> {
        match node.rendered() {
            Some((rendered, _)) => self.part_of(node, &rendered)?.send(self, to),
            None => Ok(false),
        }
    }

    /// Returns the size of a file in bytes. One that was declared without a size is
    /// decoded or rendered if no cache knows it.
    pub(crate) fn size_of(self, node: &Node<'_>) -> io::Result<u64> {
        node.size().map_or_else(|| self.rendered_size(node), Ok)
    }

    /// Returns the size of a file that was declared without one; renders a generated file
    /// only if neither a cache nor the model of its asset knows its size.
    pub(crate) fn rendered_size(self, node: &Node<'_>) -> io::Result<u64> {
        if let Some(file) = node.file() {
            return self.mount.decoded_size(file);
        }
        let (rendered, file) = node.rendered().ok_or(io::Error::UnknownFormat)?;
        let key = file.key;
        if let Some(size) = self.mount.reader.known_size(key) {
            return Ok(size);
        }
        let part = self.part_of(node, &rendered)?;
        if let Some(size) = part.size() {
            // Cached for listings, which parse no assets.
            self.mount.reader.keep_size(key, size);
            return Ok(size);
        }
        self.mount
            .reader
            .rendered_size(file, &|out| part.render(self, out))
    }

    /// Determines what a rendered file is a part of, for its size and its bytes.
    fn part_of(self, node: &Node<'_>, rendered: &RenderedFile<'_>) -> io::Result<Part<'m>> {
        match *rendered {
            RenderedFile::OfView(viewed, number) => {
                let asset = self
                    .mount
                    .node(viewed.asset)
                    .map_err(|_| io::Error::Changed)?;
                let model = self.model(&asset, viewed.format)?;
                if model.version != viewed.version {
                    self.mount.give_up(node);
                    return Err(io::Error::Changed);
                }
                Ok(Part::Asset(asset, model, number.0 as usize))
            }
            RenderedFile::OfAsset(file) => self.part_of_asset(node, file),
            RenderedFile::Report(report, directory) => {
                let directory = self
                    .mount
                    .node(directory)
                    .and_then(|node| self.mount.enter(node));
                let directory = directory.map_err(|_| io::Error::Changed)?;
                Ok(Part::Report(directory, report))
            }
        }
    }

    /// Like [`Assets::part_of`], for a file of a converted tree.
    fn part_of_asset(self, node: &Node<'_>, file: &FileOfAsset) -> io::Result<Part<'m>> {
        let changed = || {
            self.mount.give_up(node);
            io::Error::Changed
        };
        let asset = self.mount.node(file.asset).map_err(|_| changed())?;
        let model = self.model(&asset, file.format)?;
        if file.stamp.is_some_and(|stamp| stamp != model.version.stamp) {
            if let Some(file) = asset.file() {
                self.mount.reader.forget_model(file);
            }
            return Err(changed());
        }
        Ok(match number_in_view(&asset, file, &model) {
            Some(part) => Part::Asset(asset, model, part),
            None => Part::Nothing,
        })
    }

    /// Returns the number in the view of an asset of a file that is converted
    /// from it; `None` if the asset does not have this file.
    pub(crate) fn number_in_view(
        self,
        asset: &Node<'_>,
        file: &FileOfAsset,
    ) -> io::Result<Option<usize>> {
        let model = self.model(asset, file.format)?;
        Ok(number_in_view(asset, file, &model))
    }

    /// Returns the size of a file if it is known without rendering.
    pub(crate) fn known_size(self, node: &Node<'_>) -> Option<u64> {
        if let Some(size) = node.size() {
            return Some(size);
        }
        let key = match node.file() {
            Some(file) => file.key(),
            None => node.rendered()?.1.key,
        };
        self.mount.reader.known_size(key)
    }
}

fn number_in_view(asset: &Node<'_>, file: &FileOfAsset, model: &Model) -> Option<usize> {
    let known = asset
        .file()
        .and_then(|file| file.volume.volume.asset(file.file));
    let files = file.format.converted.of(known).files;
    files.get(usize::from(file.position))?.find(&*model.view)
}

/// The asset or report that a rendered file is a part of.
enum Part<'a> {
    /// The file with this number of an asset's view.
    Asset(Node<'a>, Arc<Model>, usize),
    /// A report about a directory.
    Report(Node<'a>, &'static Report),
    /// The asset does not have this file, which is empty then.
    Nothing,
}

impl Part<'_> {
    /// Returns its size in bytes if the model of its asset knows it.
    fn size(&self) -> Option<u64> {
        match self {
            Self::Asset(_, model, number) => model.view.size(*number),
            Self::Report(..) => None,
            Self::Nothing => Some(0),
        }
    }

    /// Sends its table. Returns false if it is no table.
    fn send(&self, assets: Assets<'_>, to: &mut dyn TableSink) -> io::Result<bool> {
        match self {
            Self::Asset(asset, model, number) => {
                let context = Context::new(assets, asset);
                let rows = model.view.table(*number, &context);
                let sent = rows.map(|rows| rows.send(to)).transpose();
                written(sent.map(|sent| sent.is_some()), &context)
            }
            Self::Report(directory, report) => {
                let context = Context::new(assets, directory);
                written(report.send(&context, to), &context)
            }
            Self::Nothing => Ok(false),
        }
    }

    fn render(&self, assets: Assets<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Asset(asset, model, number) => {
                let context = Context::new(assets, asset);
                written(model.view.render(*number, &context, out), &context)
            }
            Self::Report(directory, report) => {
                let context = Context::new(assets, directory);
                written(report.render(&context, out), &context)
            }
            Self::Nothing => Ok(()),
        }
    }
}

/// Turns a result that depends on a fault into an error, so that it is not
/// cached.
fn written<T>(rendered: std::io::Result<T>, context: &Context<'_>) -> io::Result<T> {
    let rendered = rendered.map_err(|error| io::Error::of_output(&error))?;
    context.fault().map_or(Ok(rendered), Err)
}
