//! The picture that represents an asset, for thumbnails.

use super::Assets;
use super::context::Context;
use crate::content::{Caller, Model};
use crate::formats::VIEW_FORMATS;
use crate::mount::tree::subtree::Node;
use crate::mount::{Error, Meta, Result};
use crate::namespace::companion;
use hpimount_assets::model::{Picture, Scale, png, reduced, sheet};
use hpimount_assets::view::{AssetContext, View, ViewFile, ViewFormat};
use hpimount_containers::io::{self, Bounded};

/// Maximum number of pictures on a contact sheet.
pub(crate) const MAX_PICTURES: usize = 16;

/// Maximum side of a picture that is kept for a contact sheet, in pixels.
const CELL: u32 = 128;

/// Bytes of a PNG file beside its pixels, at most.
const MAX_CHUNKS: usize = 64 << 10;

impl Assets<'_> {
    /// Returns the picture that represents an asset: the preview of its format,
    /// or else a contact sheet of the pictures in the first folder of its
    /// `X.meta` that has any. Pictures of more than `max_pixels` pixels are
    /// ignored. `None` if there is no picture, or if the file is not an asset.
    ///
    /// # Errors
    /// Returns an error if the asset cannot be read, or if there is not enough
    /// memory.
    pub(crate) fn picture(
        self,
        asset: &Node<'_>,
        max_pixels: usize,
    ) -> io::Result<Option<Picture>> {
        let Some(format) = format_of(asset) else {
            return Ok(None);
        };
        let context = Context::new(self, asset);
        let model: &Model = &*self.model_in(&context, format, Caller::Request)?;
        let view = Pictures {
            view: &*model.view,
            context: &context,
            max_pixels,
        };
        let picture = view.representative(format);
        context.fault().map_or(Ok(picture), Err)
    }

    /// Returns the picture that represents an asset, with sides of at most `edge` pixels.
    ///
    /// # Errors
    /// Returns [`Error::NoAttribute`] if there is none, or an error if the asset cannot be
    /// read or there is not enough memory.
    pub(crate) fn small_picture(self, asset: &Node<'_>, edge: u32) -> Result<Picture> {
        if self.mount.options.meta == Meta::Off {
            return Err(Error::NoAttribute);
        }
        let budget = self.mount.reader.budget();
        let failed = |error| self.mount.failed(asset, &error);
        // A pixel takes eight bytes while its PNG file is read. Two previews at a time
        // leave memory for their assets.
        let max_pixels = budget.limit() / 32;
        let _memory = budget
            .reserve("its preview", budget.limit() / 3, true)
            .map_err(failed)?;
        let picture = self.picture(asset, max_pixels).map_err(failed)?;
        Ok(reduced(picture.ok_or(Error::NoAttribute)?, edge))
    }
}

/// Returns the format that shows a file; `None` if it is not an asset.
pub(crate) fn format_of(node: &Node<'_>) -> Option<&'static ViewFormat> {
    let file = node.file()?;
    let known = file.volume.volume.asset(file.file);
    let number = companion::view_format(node.tree().name(node.index), known)?;
    VIEW_FORMATS.get(usize::from(number))
}

/// Returns a contact sheet of pictures; a single one is returned unchanged.
pub(crate) fn arranged(mut pictures: Vec<Picture>) -> Option<Picture> {
    if pictures.len() <= 1 {
        return pictures.pop();
    }
    let count = pictures.len();
    let cells = pictures.into_iter();
    Some(sheet(
        count,
        Scale::Own,
        cells.map(|picture| Some(reduced(picture, CELL))),
    ))
}

/// The pictures among the files of a view.
struct Pictures<'a> {
    view: &'a dyn View,
    context: &'a dyn AssetContext,
    max_pixels: usize,
}

impl Pictures<'_> {
    fn representative(&self, format: &ViewFormat) -> Option<Picture> {
        let files: Vec<ViewFile> = self.view.files();
        if let Some(number) = best(&files, format) {
            return self.rendered(number);
        }
        let pictures = || {
            let files = files.iter().enumerate();
            files.filter(|(_, file)| file.folder.is_some() && is_picture(file))
        };
        let (_, first) = pictures().next()?;
        let numbers = pictures().filter(|(_, file)| file.folder == first.folder);
        let pictures = numbers.filter_map(|(number, _)| self.rendered(number));
        arranged(pictures.take(MAX_PICTURES).collect())
    }

    /// Returns the picture in the file with this number.
    fn rendered(&self, number: usize) -> Option<Picture> {
        let mut file = Bounded::new(4 * self.max_pixels + MAX_CHUNKS);
        self.view.render(number, self.context, &mut file).ok()?;
        png::read(&file.into_bytes(), self.max_pixels as u64).ok()
    }
}

fn is_picture(file: &ViewFile) -> bool {
    file.name.ends_with(".png")
}

/// Returns the number of the file that shows the asset by itself: the best
/// preview of its format, or the first picture if the format names none.
fn best(files: &[ViewFile], format: &ViewFormat) -> Option<usize> {
    let in_root = |wanted: &dyn Fn(&ViewFile) -> bool| {
        let mut files = files.iter();
        files.position(|file| file.folder.is_none() && wanted(file))
    };
    match format.preview.map_or(&[][..], |preview| preview.files) {
        [] => in_root(&is_picture),
        known => known
            .iter()
            .find_map(|name| in_root(&|file| file.name == *name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen<'n>(format: &str, names: &[&'n str]) -> Option<&'n str> {
        let format = VIEW_FORMATS.iter().find(|known| known.name == format);
        let files: Vec<ViewFile> = names
            .iter()
            .map(|name| match name.split_once('/') {
                Some((folder, name)) => ViewFile {
                    folder: Some(folder.to_owned().into()),
                    name: name.to_owned(),
                },
                None => ViewFile {
                    folder: None,
                    name: (*name).to_owned(),
                },
            })
            .collect();
        best(&files, format.unwrap()).map(|number| names[number])
    }

    #[test]
    fn the_preview_is_chosen_by_its_name() {
        let map = ["height.png", "map.png", "minimap.png", "info.txt"];
        assert_eq!(chosen("TNT", &map), Some("minimap.png"));
        assert_eq!(chosen("TNT", &["height.png", "error.txt"]), None);
    }

    #[test]
    fn the_first_picture_stands_for_an_asset_without_a_preview() {
        let texture = ["textures.tsv", "grass 00.png", "grass 01.png"];
        for format in ["HIP texture", "BMP"] {
            assert_eq!(chosen(format, &texture), Some("grass 00.png"));
        }
        assert_eq!(chosen("BMP", &["error.txt", "parts/0.png"]), None);
    }
}
