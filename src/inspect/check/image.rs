//! Disc images and their tracks: their checksums, and the comparison with a
//! list of a preservation database.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use crc32fast::Hasher as Crc32;
use md5::{Digest, Md5};
use sha1::Sha1;

use super::covered::{HashedImages, PartOfImage};
use super::dat::{Dat, Entry};
use super::finding::{Cause, Severity, is_end};
use super::output::Image;
use super::subject::{Findings, Subject};
use super::sums::Sums;
use crate::inspect::Contents;
use crate::inspect::pool::{no_lane, ordered};
use crate::inspect::room::{Room, Taken};
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::volume::{DiscImage, Part};

/// Number of bytes read at a time: a finding names as many. A larger block of a block
/// image is read as a whole if the budget allows it, so that each thread decodes
/// another block.
const PIECE: u64 = 256 << 10;

/// Part of the memory budget that the pieces of all images may have while they wait,
/// and part of that for a piece.
const PART_OF_BUDGET: usize = 8;
const PART_OF_ROOM: u64 = 4;

/// The images that are being hashed, which share the threads that read and the room
/// for pieces.
pub(super) struct Hashing {
    images: AtomicUsize,
    /// Number of bytes that the room has.
    limit: u64,
    room: Arc<Room>,
}

impl Hashing {
    /// Creates what images share, within a memory budget.
    pub(super) fn new(budget: usize) -> Self {
        let limit = budget / PART_OF_BUDGET;
        Self {
            images: AtomicUsize::new(0),
            limit: limit as u64,
            room: Room::new(limit),
        }
    }

    /// Begins to hash an image.
    fn begin(&self, threads: usize, bytes: &dyn ReadAt) -> Share<'_> {
        let piece = self.longest_piece(bytes);
        let pieces_of = |bytes: u64| (bytes / piece).max(1) as usize;
        let others = self.images.fetch_add(1, Ordering::Relaxed);
        Share {
            hashing: self,
            piece,
            readers: (threads / (others + 1)).clamp(1, pieces_of(self.limit / 2)),
        }
    }

    /// Returns the maximum length of the pieces of an image.
    fn longest_piece(&self, bytes: &dyn ReadAt) -> u64 {
        let block = bytes.unit_at(bytes.len() / 2);
        let block = block.map_or(0, |block| block.end - block.start);
        match block <= self.limit / PART_OF_ROOM {
            true => block.max(PIECE),
            false => PIECE,
        }
    }
}

/// Share of the resources for one image while it is hashed.
struct Share<'h> {
    hashing: &'h Hashing,
    /// Maximum length of a piece in bytes.
    piece: u64,
    /// Number of threads that read it.
    readers: usize,
}

/// A piece of an image that was read, with the room that it has until all checksums have
/// it.
struct Piece {
    bytes: Vec<u8>,
    _room: Taken,
}

impl Share<'_> {
    /// Returns the piece of an image at `start`. Large blocks are pieces.
    fn piece_at(&self, bytes: &dyn ReadAt, start: u64) -> Range<u64> {
        let end = start + self.piece;
        let block = bytes.unit_at(start).filter(|_| self.piece > PIECE);
        let end = block.map_or(end, |block| block.end.clamp(start + 1, end));
        start..end.min(bytes.len())
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.hashing.images.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An image that was hashed.
struct Hashed {
    name: String,
    /// Name of its file.
    file: String,
    part: Part,
    size: u64,
    sums: Sums,
}

/// The check of some images of an archive.
pub(super) struct ImageCheck<'a, 'r> {
    pub(super) subject: &'a Subject<'a, 'r>,
    pub(super) hashing: &'a Hashing,
    /// The images.
    pub(super) hashed: &'a HashedImages,
    /// The path of the archive.
    pub(super) path: &'a str,
}

impl ImageCheck<'_, '_> {
    /// Hashes images of the archive, and compares them with the list if there is
    /// one.
    pub(super) fn run(&self, numbers: Range<usize>) {
        let Subject { source, output, .. } = self.subject;
        let mut hashed = Vec::new();
        let mut is_complete = true;
        for number in numbers {
            let image = match Contents(self.subject.vfs).image(*self.hashed.directory, number) {
                Ok(image) => image,
                Err(error) => {
                    let cause = Cause::text(&error);
                    let mut findings = self.subject.findings(self.path);
                    findings.add(Severity::NotChecked, cause);
                    self.not_read(number, 0..u64::MAX);
                    return;
                }
            };
            // Images that could not be hashed were reported.
            let found = self.hash(number, &image);
            is_complete &= found.is_some();
            hashed.extend(found);
        }
        let listed = hashed.iter().map(|image| {
            let list = self.subject.list?;
            list.find(image.size, &image.sums)
        });
        let listed: Vec<_> = listed.collect();
        for (image, listed) in hashed.iter().zip(&listed) {
            let image = Image {
                name: &image.name,
                size: image.size,
                sums: &image.sums,
                listed: listed.as_ref(),
            };
            output.image(source, self.path, &image);
        }
        if let Some(list) = self.subject.list {
            self.compare(list, &hashed, &listed, is_complete);
        }
    }

    /// Notes that a range of an image could not be read.
    fn not_read(&self, image: usize, range: Range<u64>) {
        self.hashed.note_unread(PartOfImage { image, range });
    }

    /// Reports how images differ from the list; `listed` has the entry of each.
    fn compare(
        &self,
        list: &Dat,
        hashed: &[Hashed],
        listed: &[Option<Entry<'_>>],
        is_complete: bool,
    ) {
        let mut findings = self.subject.findings(self.path);
        let of_file = |one: &Hashed, other: &Hashed| one.file == other.file;
        let mut entries = listed.iter();
        for images in hashed.chunk_by(of_file) {
            let entries: Vec<_> = entries.by_ref().take(images.len()).collect();
            let pairs = || images.iter().zip(&entries);
            // A list contains a file as a whole or its tracks.
            let has_tracks = images
                .iter()
                .any(|image| matches!(image.part, Part::Track(_)));
            let whole_is_listed =
                pairs().any(|(image, entry)| image.part == Part::Whole && entry.is_some());
            for (image, _) in pairs().filter(|(_, entry)| entry.is_none()) {
                let (size, sums) = (image.size, &image.sums);
                let is_wanted = match image.part {
                    Part::Track(_) => !whole_is_listed,
                    Part::Whole => !has_tracks,
                    Part::Sheet => {
                        // Sheets with other names of files are as good.
                        if let Some(text) = list.other_sheet(&image.file, size, sums) {
                            findings.add(Severity::Warning, Cause::text(&text));
                        }
                        false
                    }
                };
                if is_wanted && self.subject.vfs.is_changed() {
                    let cause = Cause::text(&"is not in the list, because it is changed");
                    findings.add(Severity::Warning, cause);
                } else if is_wanted {
                    let cause = Cause::text(&list.difference(&image.file, size, sums));
                    findings.add(Severity::Damage, cause);
                }
            }
        }
        if is_complete {
            let images = hashed.iter().map(|image| (image.size, &image.sums));
            for text in list.incomplete(&images.collect::<Vec<_>>()) {
                findings.add(Severity::Warning, Cause::text(&text));
            }
        }
    }

    /// Reads an image to its end. Returns its sums if it could be read
    /// completely.
    fn hash(&self, number: usize, image: &DiscImage) -> Option<Hashed> {
        let share = self.hashing.begin(self.subject.threads, &*image.bytes);
        // A thread of its own computes the MD5, which takes longer than the rest.
        let sums = thread::scope(|scope| {
            let (sender, pieces) = channel::<Arc<Piece>>();
            let md5 = scope.spawn(move || {
                let mut md5 = Md5::new();
                pieces.iter().for_each(|piece| md5.update(&piece.bytes));
                md5.finalize()
            });
            let (crc32, sha1) = self.hash_but_md5(number, &*image.bytes, &share, sender)?;
            Some(Sums {
                crc32,
                md5: md5.join().ok()?.into(),
                sha1,
            })
        })?;
        let file = match &image.file {
            Some(file) => file.clone(),
            None => {
                let path = match self.path {
                    "" => self.subject.source,
                    path => path,
                };
                path.rsplit('/').next().unwrap_or(path).to_owned()
            }
        };
        let name = match (&image.file, image.part) {
            (_, Part::Track(track)) => format!("track {track:02} of {file}"),
            (_, Part::Sheet) => "sheet".to_owned(),
            (Some(_), Part::Whole) => file.clone(),
            (None, Part::Whole) => "image".to_owned(),
        };
        Some(Hashed {
            name,
            file,
            part: image.part,
            size: image.bytes.len(),
            sums,
        })
    }

    /// Reads an image to its end on several threads, and passes its pieces on in
    /// their order. Returns the CRC-32 and the SHA-1 if it could be read completely.
    fn hash_but_md5(
        &self,
        number: usize,
        bytes: &dyn ReadAt,
        share: &Share<'_>,
        md5: Sender<Arc<Piece>>,
    ) -> Option<(u32, [u8; 20])> {
        let output = self.subject.output;
        let mut pieces = Pieces {
            check: self,
            number,
            findings: self.subject.findings(self.path),
            md5,
            crc32: Crc32::new(),
            sha1: Sha1::new(),
            is_sound: true,
        };
        output.expect(bytes.len());
        let has_ended = AtomicBool::new(false);
        let goes_on = || !has_ended.load(Ordering::Relaxed) && !output.is_broken();
        let produce = |push: &mut dyn FnMut((Range<u64>, Taken))| {
            let mut start = 0;
            while start < bytes.len() && goes_on() {
                let piece = share.piece_at(bytes, start);
                start = piece.end;
                let room = self.hashing.room.take((piece.end - piece.start) as usize);
                push((piece, room));
            }
        };
        let read = |(range, room)| {
            let piece = goes_on().then(|| read(bytes, &range, room));
            (range, piece)
        };
        let add = |(range, piece): (Range<u64>, Option<std::io::Result<Piece>>)| {
            let Some(piece) = piece.filter(|_| goes_on()) else {
                return;
            };
            let goes_on = match piece {
                Ok(piece) => pieces.add(piece),
                Err(error) => pieces.leave_out(range, error),
            };
            has_ended.fetch_or(!goes_on, Ordering::Relaxed);
        };
        ordered(share.readers, produce, no_lane, read, add);
        let Pieces {
            crc32,
            sha1,
            is_sound,
            ..
        } = pieces;
        is_sound.then(|| (crc32.finalize(), sha1.finalize().into()))
    }
}

/// The pieces of an image that were read so far.
struct Pieces<'a, 'r> {
    check: &'a ImageCheck<'a, 'r>,
    number: usize,
    findings: Findings<'a, 'r>,
    /// The thread that computes the MD5.
    md5: Sender<Arc<Piece>>,
    crc32: Crc32,
    sha1: Sha1,
    /// True if all of them could be read.
    is_sound: bool,
}

impl Pieces<'_, '_> {
    /// Adds the next piece. Returns whether reading should go on.
    fn add(&mut self, piece: Piece) -> bool {
        self.check.subject.output.read(piece.bytes.len() as u64);
        if !self.is_sound {
            return true;
        }
        let piece = Arc::new(piece);
        // The thread ends earlier only if it has panicked, which the scope propagates.
        let is_taken = self.md5.send(piece.clone()).is_ok();
        self.crc32.update(&piece.bytes);
        self.sha1.update(&piece.bytes);
        is_taken
    }

    /// Leaves the next piece out, which could not be read. Returns whether reading
    /// should go on.
    fn leave_out(&mut self, range: Range<u64>, error: std::io::Error) -> bool {
        let length = range.end - range.start;
        let error = io::read_error(range.start, length, error);
        self.is_sound = false;
        self.findings.error(&error);
        if is_end(&error) || error.is_fault() {
            self.check.not_read(self.number, range.start..u64::MAX);
            return false;
        }
        self.check.subject.output.read(length);
        self.check.not_read(self.number, range);
        true
    }
}

fn read(bytes: &dyn ReadAt, range: &Range<u64>, room: Taken) -> std::io::Result<Piece> {
    let mut piece = Piece {
        bytes: vec![0; (range.end - range.start) as usize],
        _room: room,
    };
    bytes.read_exact_at(&mut piece.bytes, range.start)?;
    Ok(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// An image of 5 MiB in blocks.
    struct InBlocks(u64);

    impl ReadAt for InBlocks {
        fn len(&self) -> u64 {
            5 * MIB
        }

        fn read_exact_at(&self, _: &mut [u8], _: u64) -> std::io::Result<()> {
            Ok(())
        }

        fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
            let start = offset - offset % self.0;
            Some(start..start + self.0)
        }
    }

    #[test]
    fn images_share_the_threads_and_a_part_of_the_budget() {
        let plain = Vec::new();
        let hashing = Hashing::new(64 << 20);
        let first = hashing.begin(256, &plain);
        assert_eq!(first.readers, 16);
        assert_eq!(hashing.begin(3, &plain).readers, 1);
        let small = Hashing::new(1 << 20);
        assert_eq!(small.begin(256, &plain).readers, 1);
    }

    #[test]
    fn threads_read_different_blocks_if_the_budget_has_room_for_them() {
        let pieces = |budget: usize, block| {
            let (hashing, image) = (Hashing::new(budget), InBlocks(block));
            let share = hashing.begin(2, &image);
            assert_eq!(share.readers, 2);
            let mut ends = vec![share.piece_at(&image, 0).end];
            while let Some(&start) = ends.last().filter(|&&end| end < image.len()) {
                ends.push(share.piece_at(&image, start).end);
            }
            ends
        };
        let small: Vec<_> = (1..=20).map(|number| number * PIECE).collect();
        assert_eq!(pieces(64 << 20, 2048), small);
        assert_eq!(pieces(64 << 20, 2 * MIB), [2 * MIB, 4 * MIB, 5 * MIB]);
        assert_eq!(pieces(64 << 20, 4 * MIB), small);
        assert_eq!(pieces(128 << 20, 4 * MIB), [4 * MIB, 5 * MIB]);
    }
}
