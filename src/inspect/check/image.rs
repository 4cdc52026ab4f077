//! Disc images and their tracks: their checksums, and the comparison with a
//! list of a preservation database.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crc32fast::Hasher as Crc32;
use md5::{Digest, Md5};
use sha1::Sha1;

use super::dat::Entry;
use super::job::{Worker, is_end};
use super::output::{Cause, Image, Severity};
use crate::inspect::Contents;
use crate::inspect::text::hexadecimal;
use crate::mount::Ino;
use hpimount_containers::io;
use hpimount_containers::volume::{DiscImage, Part};

/// Number of bytes hashed at a time.
const PIECE: u64 = 256 << 10;

/// Number of pieces that wait for the slowest checksum.
const WAITING: usize = 4;

/// The checksums of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Sums {
    pub(super) crc32: u32,
    pub(super) md5: [u8; 16],
    pub(super) sha1: [u8; 20],
}

impl Sums {
    /// Returns the CRC-32 in hexadecimal digits.
    pub(super) fn crc32(&self) -> String {
        format!("{:08x}", self.crc32)
    }

    /// Returns the MD5 in hexadecimal digits.
    pub(super) fn md5(&self) -> String {
        hexadecimal(&self.md5)
    }

    /// Returns the SHA-1 in hexadecimal digits.
    pub(super) fn sha1(&self) -> String {
        hexadecimal(&self.sha1)
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

impl Worker<'_, '_> {
    /// Hashes images of an archive, and compares them with the list if there is
    /// one.
    pub(super) fn images(&self, directory: Ino, numbers: Range<usize>, path: &str) {
        let mut hashed = Vec::new();
        let mut is_complete = true;
        for number in numbers {
            let image = match Contents(self.vfs).image(directory, number) {
                Ok(image) => image,
                Err(error) => {
                    let cause = Cause::text(&error);
                    self.findings(path).add(Severity::NotChecked, cause);
                    return;
                }
            };
            // Images that could not be hashed were reported.
            let found = self.hash(&image, path);
            is_complete &= found.is_some();
            hashed.extend(found);
        }
        let listed: Vec<_> = hashed.iter().map(|image| self.listed(image)).collect();
        for (image, listed) in hashed.iter().zip(&listed) {
            self.output.image(
                self.source,
                path,
                &Image {
                    name: &image.name,
                    size: image.size,
                    sums: &image.sums,
                    listed: listed.as_ref(),
                },
            );
        }
        let Some(list) = &self.plan.list else {
            return;
        };
        let mut findings = self.findings(path);
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
                if is_wanted && self.vfs.is_changed() {
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

    fn listed(&self, image: &Hashed) -> Option<Entry<'_>> {
        self.plan.list.as_ref()?.find(image.size, &image.sums)
    }

    /// Reads an image to its end. Returns its sums if it could be read
    /// completely.
    fn hash(&self, image: &DiscImage, path: &str) -> Option<Hashed> {
        let size = image.bytes.len();
        // A thread of its own computes the MD5, which takes longer than the rest.
        let sums = thread::scope(|scope| {
            let (sender, pieces) = sync_channel::<Arc<Vec<u8>>>(WAITING);
            let md5 = scope.spawn(move || {
                let mut md5 = Md5::new();
                pieces.iter().for_each(|piece| md5.update(&**piece));
                md5.finalize()
            });
            let (crc32, sha1) = self.hash_here(image, path, sender)?;
            Some(Sums {
                crc32,
                md5: md5.join().ok()?.into(),
                sha1,
            })
        })?;
        let file = match &image.file {
            Some(file) => file.clone(),
            None => {
                let path = if path.is_empty() { self.source } else { path };
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
            size,
            sums,
        })
    }

    /// Reads an image to its end, and passes its pieces on. Returns the CRC-32 and
    /// the SHA-1 if it could be read completely.
    fn hash_here(
        &self,
        image: &DiscImage,
        path: &str,
        pieces: SyncSender<Arc<Vec<u8>>>,
    ) -> Option<(u32, [u8; 20])> {
        let size = image.bytes.len();
        let mut findings = self.findings(path);
        let (mut crc32, mut sha1) = (Crc32::new(), Sha1::new());
        let mut is_sound = true;
        let mut offset = 0;
        self.output.expect(size);
        while offset < size && !self.output.is_broken() {
            let length = (size - offset).min(PIECE);
            let mut piece = vec![0; length as usize];
            match image.bytes.read_exact_at(&mut piece, offset) {
                Ok(()) if is_sound => {
                    let piece = Arc::new(piece);
                    pieces.send(piece.clone()).ok()?;
                    crc32.update(&piece);
                    sha1.update(&*piece);
                }
                Ok(()) => {}
                Err(error) => {
                    is_sound = false;
                    let error = io::read_error(offset, length, error);
                    findings.error(&error);
                    if is_end(&error) || error.is_fault() {
                        break;
                    }
                }
            }
            offset += length;
            self.output.read(length);
        }
        is_sound.then(|| (crc32.finalize(), sha1.finalize().into()))
    }
}
