//! `/thumb`: small pictures of files.

use std::sync::Arc;

use bytes::Bytes;

use super::answer::{Answer, Policy, Refusal};
use super::head::Head;
use super::range::{Part, Tag, part};
use super::site::{Place, Site, Thumbnail};
use crate::content::Access;
use crate::mount::{Error, FileKind};
use hpimount_assets::model::{Picture, png, reduced};
use hpimount_containers::io::Bounded;
use hpimount_containers::text::has_extension;

/// Longest picture file that is made smaller, in bytes, and most pixels of one.
const MAX_FILE: u32 = 16 << 20;
const MAX_PIXELS: usize = 64 << 20;

/// Most bytes of a thumbnail: those of its pixels, and some more.
const MAX_THUMBNAIL: usize = 2 << 20;

/// Answers with a picture of a file as PNG, of at most this many pixels on each side.
///
/// # Errors
/// Returns an error if the file is not there, or has no picture.
pub(super) fn answer(
    site: &Arc<Site>,
    head: &Head,
    path: &str,
    size: u32,
) -> Result<Answer, Refusal> {
    let place = Place::find(site, path)?;
    if place.found.attr.kind != FileKind::File {
        return Err(Refusal::at(path, Error::NotFound));
    }
    let tag = place.tag();
    // Other pictures of the same bytes have other tags.
    let own = tag.as_ref().map(|tag| match tag {
        Tag::Strong(tag) => Tag::Strong(format!("{tag}-{size}")),
        Tag::Weak(tag) => Tag::Weak(format!("{tag}-{size}")),
    });
    let headers = |answer: Answer| {
        let answer = answer.with_policy(Policy::Contents);
        let answer = match &own {
            Some(own) => answer.with("etag", own.quoted()),
            None => answer,
        };
        match head.has("v") {
            true => answer.with("cache-control", "private, max-age=31536000, immutable"),
            false => answer,
        }
    };
    if part(head, own.as_ref(), None, 0) == Part::NotModified {
        let answer = headers(Answer::empty(304));
        return Ok(Answer {
            length: None,
            ..answer
        });
    }
    let failed = |error| Refusal::at(path, error);
    let make = || made(&place, size).map(Thumbnail);
    let Thumbnail(bytes) = match &tag {
        Some(tag) => site.common.thumbnails.get(&(tag.quoted(), size), make),
        None => make(),
    }
    .map_err(failed)?;
    let mut answer = headers(Answer::empty(200)).with("content-type", "image/png");
    answer.length = Some(bytes.len() as u64);
    answer.body = super::answer::Content::Bytes(bytes);
    Ok(answer)
}

/// Returns the picture of a file.
fn made(place: &Place, size: u32) -> Result<Bytes, Error> {
    let (vfs, ino) = (place.vfs(), place.found.attr.ino);
    let of_asset = match place.is_in_overlay() {
        true => Err(Error::NoAttribute),
        false => {
            let asset = vfs.node(vfs.asset_of_generated(ino).unwrap_or(ino))?;
            vfs.assets().small_picture(&asset, size)
        }
    };
    let picture = match of_asset {
        Err(Error::NoAttribute) if has_extension(place.found.path.as_bytes(), "png") => {
            of_file(place, size)?
        }
        Err(Error::NoAttribute) => return Err(Error::NotFound),
        picture => picture?,
    };
    let mut file = Bounded::new(MAX_THUMBNAIL);
    png::write(&picture, &mut file).map_err(|_| Error::NoMemory)?;
    Ok(file.into_bytes().into())
}

/// Returns the picture in a PNG file.
fn of_file(place: &Place, size: u32) -> Result<Picture, Error> {
    let budget = place.vfs().reader().budget();
    let length = u32::try_from(place.found.attr.size).unwrap_or(u32::MAX);
    if length > MAX_FILE {
        return Err(Error::NotFound);
    }
    // A pixel takes eight bytes while it is read. Two at a time leave memory for others.
    let max_pixels = (budget.limit() / 32).min(MAX_PIXELS);
    let _memory = budget
        .reserve("a thumbnail", budget.limit() / 3, true)
        .map_err(|error| Error::from(&error))?;
    let file = place.read(0, length, Access::Unknown);
    let file = file.map_err(|(error, _)| error)?;
    let picture = png::read(&file, max_pixels as u64).map_err(|_| Error::NotFound)?;
    Ok(reduced(picture, size))
}
