//! Models of assets, and the files that are rendered from them.

use std::io::Write;
use std::sync::Arc;

use super::Vfs;
use super::context::Context;
use super::subtree::{FileOfAsset, Node, RenderedFile};
use crate::content::{Asked, Key, MAX_ASSET, Model};
use hpimount_assets::view::{self, ViewFormat};
use hpimount_containers::io;
use hpimount_containers::volume;

impl Vfs {
    /// Returns the parsed model of an asset.
    pub(super) fn model(
        &self,
        asset: &Node<'_>,
        format: &'static ViewFormat,
    ) -> io::Result<Arc<Model>> {
        self.model_in(&Context::new(self, asset), format, Asked::ByRequest)
    }

    /// Like [`Vfs::model`], for the asset of `context`.
    pub(crate) fn model_in(
        &self,
        context: &Context<'_>,
        format: &'static ViewFormat,
        asked: Asked,
    ) -> io::Result<Arc<Model>> {
        let asset = context.node_of_asset();
        let file = asset.file().ok_or(io::Error::UnknownFormat)?;
        let size = asset
            .tree()
            .inode(asset.index)
            .and_then(|inode| inode.size());
        let size = size.unwrap_or(0);
        if size > MAX_ASSET {
            return self.reader.model(file, 0, asked, |_| {
                Ok(view::refused(io::Error::Unsupported(format!(
                    "has {size} bytes; assets are shown up to {MAX_ASSET}"
                ))))
            });
        }
        let parsed = self.reader.model(file, size, asked, |bytes| {
            let view = view::open(format, bytes, context);
            // A model that lacks unreadable parts must not be cached.
            context.fault().map_or(Ok(view), Err)
        });
        let refused = |error| {
            self.reader
                .model(file, 0, asked, |_| Ok(view::refused(error)))
        };
        match parsed {
            Err(error @ io::Error::NoMemory { .. }) if !self.reader.may_parse(size) => {
                refused(error)
            }
            // Unlike a fault, damage of the asset's data is permanent.
            Err(error @ io::Error::Damaged { .. }) => refused(error),
            parsed => parsed,
        }
    }

    /// Calls `use_rendering` with the renderer of a generated file and its
    /// cache key.
    pub(super) fn with_rendering<T>(
        &self,
        node: &Node<'_>,
        use_rendering: impl FnOnce(Key, &dyn Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<T>,
    ) -> io::Result<T> {
        if let Some(file) = node.file() {
            return match file.volume.volume.content(file.file)? {
                volume::Content::Generated(volume) => {
                    use_rendering(file.key(), &|out| volume.generate(file.file, out))
                }
                _ => Err(io::Error::UnknownFormat),
            };
        }
        let (rendered, key) = node.rendered().ok_or(io::Error::UnknownFormat)?;
        use_rendering(key, &|out| match rendered {
            RenderedFile::OfView(viewed, number) => {
                let asset = self.node(viewed.asset).map_err(|_| io::Error::Changed)?;
                let model = self.model(&asset, viewed.format)?;
                if model.version != viewed.version {
                    self.give_up(node);
                    return Err(io::Error::Changed);
                }
                self.render_part(&asset, &model, number.0 as usize, out)
            }
            RenderedFile::OfAsset(file) => {
                let (asset, model, part) = self.part_of(node, file)?;
                match part {
                    Some(part) => self.render_part(&asset, &model, part, out),
                    // The asset does not have this file.
                    None => Ok(()),
                }
            }
            RenderedFile::Report(report, directory) => {
                let directory = self.node(directory).and_then(|node| self.enter(node));
                let directory = directory.map_err(|_| io::Error::Changed)?;
                let context = Context::new(self, &directory);
                written((report.render)(&context, out), &context)
            }
        })
    }

    fn render_part(
        &self,
        asset: &Node<'_>,
        model: &Model,
        part: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let context = Context::new(self, asset);
        written(model.view.render(part, &context, out), &context)
    }

    /// Resolves a file of a converted tree to its asset, the model of that, and
    /// the number of the view's file, if the asset has it.
    fn part_of(
        &self,
        node: &Node<'_>,
        file: &FileOfAsset,
    ) -> io::Result<(Node<'_>, Arc<Model>, Option<usize>)> {
        let changed = || {
            self.give_up(node);
            io::Error::Changed
        };
        let asset = self.node(file.asset).map_err(|_| changed())?;
        let model = self.model(&asset, file.format)?;
        if file.stamp.is_some_and(|stamp| stamp != model.version.stamp) {
            if let Some(file) = asset.file() {
                self.reader.forget_model(file);
            }
            return Err(changed());
        }
        let known = asset
            .file()
            .and_then(|file| file.volume.volume.asset(file.file));
        let files = file.format.converted.of(known).files;
        let part = files.get(usize::from(file.position));
        let part = part.and_then(|part| part.find(&*model.view));
        Ok((asset, model, part))
    }

    /// Returns the size of a generated file; renders it only if the model does
    /// not know its size.
    pub(super) fn rendered_size(&self, node: &Node<'_>) -> io::Result<u64> {
        if self.known_size(node).is_none()
            && let Some((RenderedFile::OfAsset(file), key)) = node.rendered()
        {
            let (_, model, part) = self.part_of(node, file)?;
            if let Some(size) = part.and_then(|part| model.view.size(part)) {
                // Cached for listings, which parse no assets.
                self.reader.keep_size(key, size);
                return Ok(size);
            }
        }
        self.with_rendering(node, |key, render| self.reader.rendered_size(key, render))
    }

    /// Returns the size of a generated file if it is known without rendering.
    pub(super) fn known_size(&self, node: &Node<'_>) -> Option<u64> {
        let key = match node.file() {
            Some(file) => file.key(),
            None => node.rendered()?.1,
        };
        self.reader.known_size(key)
    }
}

/// Turns a result that depends on a fault into an error, so that it is not
/// cached.
fn written(rendered: std::io::Result<()>, context: &Context<'_>) -> io::Result<()> {
    rendered.map_err(|error| io::Error::of_output(&error))?;
    context.fault().map_or(Ok(()), Err)
}
