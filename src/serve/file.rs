//! `/files` and `/converted`: the bytes of files.

use std::sync::Arc;

use bytes::Bytes;

use super::answer::{Answer, Broken, Content, Pieces, Policy, Refusal};
use super::head::Head;
use super::kind::media_type;
use super::page;
use super::range::{Part, http_date, part, time};
use super::site::{PIECE, Place, Site};
use crate::content::{Access, BLOCK_SIZE};
use crate::mount::{Error, FileKind};
use crate::percent::encoded;
use crate::printable::printable;

/// Answers a request for a file.
///
/// # Errors
/// Returns an error if there is none, or its first bytes cannot be read.
pub(super) fn answer(
    site: &Arc<Site>,
    head: &Head,
    path: &str,
    is_download: bool,
) -> Result<Answer, Refusal> {
    let place = Place::find(site, path)?;
    if place.found.attr.kind == FileKind::Directory {
        return directory(head, path, &place.found.path);
    }
    let (size, modified) = (place.found.attr.size, place.found.attr.modified);
    let name = place.found.path.rsplit('/').next().unwrap_or_default();
    let tag = place.tag();
    let part = part(head, tag.as_ref(), place.lasting_time().map(time), size);
    let mut answer = Answer::empty(match &part {
        Part::Whole => 200,
        Part::Range(_) => 206,
        Part::NotModified => 304,
        Part::OtherVersion => 412,
        Part::Unsatisfiable => 416,
    });
    answer = answer.with_policy(Policy::Contents);
    answer = answer.with("last-modified", http_date(modified));
    answer = answer.with("accept-ranges", "bytes");
    if let Some(tag) = &tag {
        answer = answer.with("etag", tag.quoted());
    }
    let range = match part {
        Part::NotModified => {
            answer.length = None;
            return Ok(answer);
        }
        Part::OtherVersion => return Ok(answer),
        Part::Unsatisfiable => return Ok(answer.with("content-range", format!("bytes */{size}"))),
        Part::Whole => 0..size,
        Part::Range(range) => {
            let (first, last) = (range.start, range.end - 1);
            answer = answer.with("content-range", format!("bytes {first}-{last}/{size}"));
            range
        }
    };
    answer = answer.with("content-type", media_type(name));
    if is_download {
        answer = answer.with("content-disposition", disposition(name));
    }
    answer.length = Some(range.end - range.start);
    if head.method == "HEAD" || range.is_empty() {
        return Ok(answer);
    }
    let mut pieces = FilePieces {
        place,
        next: range.start,
        end: range.end,
        access: Access::Unknown,
    };
    let first = pieces.next(PIECE);
    let first = first.map_err(|(error, message)| Refusal::Failed(error, message))?;
    pieces.access = Access::Sequential;
    answer.body = match pieces.next == pieces.end {
        true => Content::Bytes(first),
        false => Content::Pieces(first, Box::new(pieces)),
    };
    Ok(answer)
}

/// Answers a request for a directory as if it were a file: people see it in the page.
fn directory(head: &Head, asked: &str, path: &str) -> Result<Answer, Refusal> {
    if head.is_from_browser() {
        return Ok(Answer::redirect(page::url_of(path)));
    }
    let message = format!(
        "{asked}: is a directory; /api/list?path={} lists it",
        encoded(path)
    );
    Err(Refusal::Failed(Error::IsADirectory, message))
}

/// Returns the header that makes a browser save a file under its name (RFC 8187).
pub(super) fn disposition(name: &str) -> String {
    let escaped = encoded(name).replace('/', "%2F");
    format!("attachment; filename*=UTF-8''{escaped}")
}

/// A part of a file.
struct FilePieces {
    place: Place,
    /// The offset of the next piece, and of the end of the part.
    next: u64,
    end: u64,
    access: Access,
}

impl FilePieces {
    /// Returns the next piece, which ends with a block.
    fn next(&mut self, wanted: usize) -> Result<Bytes, (Error, String)> {
        if self.next == 0 {
            self.place.note_taken();
        }
        let block = u64::from(BLOCK_SIZE);
        // Only clients that take them quickly get large pieces.
        let is_fast = wanted > PIECE;
        let wanted = wanted as u64 - self.next % block % wanted as u64;
        let size = wanted.min(self.end - self.next) as u32;
        let bytes = match is_fast {
            true => self.place.read_on(self.next, size)?,
            false => self.place.read(self.next, size, self.access)?,
        };
        if bytes.len() as u64 != u64::from(size) {
            let message = format!("{}: is shorter than before", self.place.found.path);
            return Err((Error::Stale, message));
        }
        self.next += u64::from(size);
        Ok(bytes)
    }
}

impl Pieces for FilePieces {
    fn read(&mut self, wanted: usize) -> Result<Bytes, Broken> {
        if self.next == self.end {
            return Ok(Bytes::new());
        }
        // The tree logs what it cannot read.
        self.next(wanted).map_err(|(error, message)| {
            if error == Error::Stale {
                log::error!("{}", printable(&message));
            }
            Broken
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_file_has_its_name_and_no_other_headers() {
        let header = disposition("a \"ü\r\nset-cookie: x.txt");
        assert_eq!(
            header,
            "attachment; filename*=UTF-8''a%20%22%C3%BC%0D%0Aset-cookie%3A%20x.txt"
        );
    }
}
