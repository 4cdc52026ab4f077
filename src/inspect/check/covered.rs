//! Files whose bytes are read when the disc images around them are hashed. They are
//! not read again: an image that was read to its end without an error has no damaged
//! files. Where an image could not be read, its files are read after all, so that the
//! findings name them.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::output::CheckOutput;
use crate::inspect::{Contents, Entry, Role};
use crate::mount::{HeldIno, Vfs};
use crate::sync::lock;
use hpimount_containers::io::{ReadAt, layers_of};
use hpimount_containers::volume::DiscImage;

/// Maximum number of unreadable ranges in the list for the images of one archive. With
/// more, all of the images count as unreadable.
const MAX_UNREAD: usize = 1024;

/// The images of an archive that are hashed.
pub(super) struct HashedImages {
    /// The directory that shows the archive, and its path.
    pub(super) directory: HeldIno,
    pub(super) path: String,
    /// Parts of the images that could not be read.
    unread: Mutex<Vec<PartOfImage>>,
    /// Number of files that are parts of the images, and their bytes.
    files: AtomicU64,
    bytes: AtomicU64,
}

/// A range of the image with a number in its archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartOfImage {
    pub(super) image: usize,
    pub(super) range: Range<u64>,
}

impl HashedImages {
    /// Creates the images of the archive that a directory shows, before they are
    /// hashed.
    pub(super) fn new(directory: HeldIno, path: &str) -> Arc<Self> {
        Arc::new(Self {
            directory,
            path: path.to_owned(),
            unread: Mutex::default(),
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        })
    }

    /// Notes that a part could not be read.
    pub(super) fn note_unread(&self, part: PartOfImage) {
        let mut unread = lock(&self.unread);
        if let Some(last) = unread.last_mut()
            && last.image == part.image
            && last.range.end == part.range.start
        {
            last.range.end = part.range.end;
        } else if unread.len() < MAX_UNREAD {
            unread.push(part);
        }
    }

    /// Returns whether a part was read.
    pub(super) fn is_read(&self, part: &PartOfImage) -> bool {
        let unread = lock(&self.unread);
        let overlaps = |other: &PartOfImage| {
            other.image == part.image
                && other.range.start < part.range.end
                && part.range.start < other.range.end
        };
        unread.len() < MAX_UNREAD && !unread.iter().any(overlaps)
    }

    /// Counts a file that is a part of the images.
    pub(super) fn add_file(&self, size: u64) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(size, Ordering::Relaxed);
    }

    /// Returns the number of files that are parts of the images.
    pub(super) fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }
}

/// The images that were hashed, as far as something must be read again.
#[derive(Default)]
pub(super) struct Unsound(Mutex<Vec<HashedImages>>);

impl Unsound {
    /// Gives up a reference to the images of an archive, of a job that has hashed
    /// them or of the walk that has seen all files. The last one counts the files as
    /// read, or notes that they have to be read.
    pub(super) fn settle(&self, hashed: Arc<HashedImages>, output: &CheckOutput<'_>) {
        let Some(hashed) = Arc::into_inner(hashed).filter(|hashed| hashed.files() > 0) else {
            return;
        };
        let is_sound = lock(&hashed.unread).is_empty();
        if is_sound {
            let bytes = hashed.bytes.load(Ordering::Relaxed);
            output.expect(bytes);
            output.read(bytes);
        } else {
            lock(&self.0).push(hashed);
        }
    }

    /// Returns the images whose files have to be read, and forgets them.
    pub(super) fn take(&self) -> Vec<HashedImages> {
        std::mem::take(&mut lock(&self.0))
    }
}

/// Images, and where their bytes are.
pub(super) struct ImageSources {
    /// They keep the sources below, so that no other source has the same address.
    images: Vec<DiscImage>,
    /// The sources with the bytes of each image unchanged: the number of the image,
    /// the address of the source, and the offset of the image in it.
    sources: Vec<(usize, usize, u64)>,
}

impl ImageSources {
    /// Finds the sources of images.
    pub(super) fn of(images: Vec<DiscImage>) -> Self {
        let mut sources = Vec::new();
        for (number, image) in images.iter().enumerate() {
            let layers = layers_of(&*image.bytes, 0..image.bytes.len());
            sources.extend(layers.map(|(source, start)| (number, address(source), start)));
        }
        Self { images, sources }
    }

    /// Returns the part of an image that a file consists of; `None` if the file needs its
    /// own check: it is an asset, packed, or has a checksum.
    pub(super) fn part_of(&self, vfs: &Vfs, file: &Entry) -> Option<PartOfImage> {
        if file.role != (Role::File { is_asset: false }) || file.size == 0 {
            return None;
        }
        Contents(vfs).plain_extent(*file.ino, |source, range| {
            let length = range.end - range.start;
            layers_of(source, range).find_map(|(source, start)| self.at(source, start, length))
        })
    }

    /// Returns the part of an image that has `length` bytes at `offset` of a source.
    fn at(&self, source: &dyn ReadAt, offset: u64, length: u64) -> Option<PartOfImage> {
        let mut sources = self.sources.iter();
        sources.find_map(|&(image, known, first)| {
            let start = offset.checked_sub(first)?;
            let end = start.checked_add(length)?;
            let is_inside = known == address(source) && end <= self.images[image].bytes.len();
            is_inside.then_some(PartOfImage {
                image,
                range: start..end,
            })
        })
    }
}

/// Returns the address of a source.
fn address(source: &dyn ReadAt) -> usize {
    std::ptr::from_ref(source).addr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mount::Ino;
    use hpimount_containers::io::BlockBuffer;
    use hpimount_containers::volume::Part;

    fn part(image: usize, range: Range<u64>) -> PartOfImage {
        PartOfImage { image, range }
    }

    #[test]
    fn bytes_are_found_in_an_image_through_the_sources_around_them() {
        let disc: Arc<dyn ReadAt> = Arc::new(vec![0; 100]);
        let other: Arc<dyn ReadAt> = Arc::new(vec![0; 100]);
        let image = |bytes: &Arc<dyn ReadAt>| DiscImage {
            file: None,
            part: Part::Whole,
            bytes: Arc::new(BlockBuffer::new(bytes.clone())),
        };
        let images = ImageSources::of(vec![image(&other), image(&disc)]);
        let at = |source: &dyn ReadAt, range: Range<u64>| {
            let length = range.end - range.start;
            let mut layers = layers_of(source, range);
            layers.find_map(|(source, start)| images.at(source, start, length))
        };
        // The buffer of the file is another one.
        let file = BlockBuffer::new(disc.clone());
        assert_eq!(at(&file, 20..30), Some(part(1, 20..30)));
        assert_eq!(at(&*other, 20..30), Some(part(0, 20..30)));
        assert_eq!(at(&file, 95..101), None, "past the end");
        assert_eq!(at(&vec![0_u8; 100], 20..30), None);
    }

    #[test]
    fn what_overlaps_an_unreadable_part_was_not_read() {
        let hashed = HashedImages::new(HeldIno::kept(Ino::ROOT), "");
        hashed.note_unread(part(1, 10..20));
        hashed.note_unread(part(1, 20..30));
        assert_eq!(lock(&hashed.unread).len(), 1);
        for (range, is_read) in [
            (0..10, true),
            (9..11, false),
            (29..40, false),
            (30..40, true),
        ] {
            assert_eq!(
                hashed.is_read(&part(1, range.clone())),
                is_read,
                "{range:?}"
            );
        }
        assert!(hashed.is_read(&part(0, 0..40)));
        for number in 0..MAX_UNREAD as u64 {
            hashed.note_unread(part(0, 3 * number..3 * number + 1));
        }
        assert!(!hashed.is_read(&part(1, 30..40)), "too many to remember");
    }
}
