//! Disc images and their tracks: their checksums, and the comparison with a
//! list of a preservation database.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crc32fast::Hasher as Crc32;
use md5::{Digest, Md5};
use sha1::Sha1;

use super::job::{Worker, is_end};
use super::output::{Cause, Image, Severity};
use crate::inspect::Contents;
use crate::mount::Ino;
use hpimount_containers::io;
use hpimount_containers::volume::DiscImage;

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

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An image that was hashed.
struct Hashed {
    name: String,
    /// Name of its file.
    file: String,
    is_track: bool,
    size: u64,
    sums: Sums,
}

impl Worker<'_, '_> {
    /// Hashes the images of one file of an archive: the file, and its tracks if
    /// it has several.
    pub(super) fn images(&self, directory: Ino, numbers: Range<usize>, path: &str) {
        let mut hashed = Vec::new();
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
            hashed.extend(self.hash(&image, path));
        }
        // A list contains a file as a whole or its tracks.
        let has_tracks = hashed.iter().any(|image| image.is_track);
        let matches: Vec<_> = hashed.iter().map(|image| self.listed(image)).collect();
        let whole_is_listed = hashed
            .iter()
            .zip(&matches)
            .any(|(image, listed)| !image.is_track && listed.is_some());
        for (image, listed) in hashed.iter().zip(matches) {
            let is_listed = listed.is_some();
            self.output.image(
                self.source,
                path,
                &Image {
                    name: &image.name,
                    size: image.size,
                    sums: &image.sums,
                    listed,
                },
            );
            let is_wanted = match image.is_track {
                true => !whole_is_listed,
                false => !has_tracks,
            };
            if let Some(list) = &self.plan.list
                && is_wanted
                && !is_listed
            {
                let cause = Cause::text(&list.difference(&image.file, image.size, &image.sums));
                self.findings(path).add(Severity::Damage, cause);
            }
        }
    }

    fn listed(&self, image: &Hashed) -> Option<String> {
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
        let name = match (&image.file, image.track) {
            (_, Some(track)) => format!("track {track:02} of {file}"),
            (Some(_), None) => file.clone(),
            (None, None) => "image".to_owned(),
        };
        Some(Hashed {
            name,
            file,
            is_track: image.track.is_some(),
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
