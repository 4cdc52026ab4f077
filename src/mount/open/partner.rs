//! The other files that a source consists of: the second file of a pair, and
//! the tracks of a cue sheet.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::order::file_name;
use crate::mount::OpenCause;
use crate::source::remote::{Remote, RemoteFile, RemoteUrl};
use crate::source::{FilePool, FileSource, has_name};
use hpimount_containers::io::{Error, ReadAt};
use hpimount_containers::text::stem;

/// The location of a source, and the files beside it.
pub(super) enum Surroundings<'a> {
    /// On disk.
    Disk {
        /// The files that it may consist of.
        files: &'a [PathBuf],
        /// The pool that opens them.
        pool: &'a Arc<FilePool>,
    },
    /// On a server.
    Server {
        /// The client.
        remote: &'a Arc<Remote>,
        /// The URL of the source.
        url: &'a RemoteUrl,
    },
}

/// The files beside a source that its format requests.
pub(super) struct Partners<'a> {
    surroundings: Surroundings<'a>,
    /// The path of the source, or the displayed form of its URL.
    path: &'a Path,
    /// Its name among the sources.
    name: &'a str,
    /// The files requested so far, by name.
    found: RefCell<HashMap<String, Option<Arc<dyn ReadAt>>>>,
    /// The reason why a file that may exist is unavailable.
    problem: RefCell<Option<io::Error>>,
}

impl<'a> Partners<'a> {
    /// Creates the partners of the source at `path`, which is called `name`
    /// among the sources.
    pub(super) fn of(path: &'a Path, name: &'a str, surroundings: Surroundings<'a>) -> Self {
        Self {
            surroundings,
            path,
            name,
            found: RefCell::default(),
            problem: RefCell::default(),
        }
    }

    /// Finds the file with this name, ignoring ASCII case on disk, or in one of
    /// the likely spellings on a server. The source's name among the sources is
    /// replaced by its real name.
    pub(super) fn find(&self, name: &str) -> Option<Arc<dyn ReadAt>> {
        if let Some(known) = self.found.borrow().get(name) {
            return known.clone();
        }
        let found = match &self.surroundings {
            Surroundings::Disk { files, pool } => self.on_disk(files, pool, name),
            Surroundings::Server { remote, url } => self.on_server(remote, url, name),
        };
        self.found
            .borrow_mut()
            .insert(name.to_owned(), found.clone());
        found
    }

    /// Replaces the error of a source that could not be opened if the cause may
    /// be an unavailable file beside it.
    pub(super) fn explain(&self, cause: OpenCause) -> OpenCause {
        let may_lack_a_file = matches!(
            cause,
            OpenCause::Volume(Error::UnknownFormat | Error::Unsupported(_))
        );
        match self.problem.take() {
            Some(problem) if may_lack_a_file => OpenCause::Unreadable(problem),
            _ => cause,
        }
    }

    /// Returns the real name of the source with the extension of `name`.
    fn of_pair(&self, name: &str) -> String {
        let extension = Path::new(name).extension().unwrap_or_default();
        file_name(&self.path.with_extension(extension))
    }

    fn on_disk(
        &self,
        files: &[PathBuf],
        pool: &Arc<FilePool>,
        name: &str,
    ) -> Option<Arc<dyn ReadAt>> {
        let of_pair = self.of_pair(name);
        let directory = self.path.parent();
        let path = files.iter().find(|path| {
            path.parent() == directory && (has_name(path, name) || has_name(path, &of_pair))
        })?;
        match FileSource::open(path, pool) {
            Ok(source) => Some(Arc::new(source)),
            Err(error) => {
                log::warn!("{}: cannot be opened: {error}", path.display());
                None
            }
        }
    }

    fn on_server(
        &self,
        remote: &Arc<Remote>,
        url: &RemoteUrl,
        name: &str,
    ) -> Option<Arc<dyn ReadAt>> {
        let name = match stem(name) == stem(self.name) {
            true => self.of_pair(name),
            false => name.to_owned(),
        };
        for spelling in spellings(&name) {
            let url = match url.sibling(&spelling) {
                Ok(url) => url,
                Err(why) => {
                    *self.problem.borrow_mut() = Some(io::Error::other(why));
                    break;
                }
            };
            match RemoteFile::open(remote, &url) {
                Ok(file) => return Some(Arc::new(file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    let ends_search = error.kind() != io::ErrorKind::PermissionDenied;
                    let error = io::Error::new(error.kind(), format!("{spelling}: {error}"));
                    self.problem.borrow_mut().get_or_insert(error);
                    if ends_search {
                        break;
                    }
                }
            }
        }
        None
    }
}

/// Returns a name as given, with its extension in lower and upper case, and
/// entirely in lower and upper case, since servers do not list names.
fn spellings(name: &str) -> Vec<String> {
    let (lower, upper) = (name.to_ascii_lowercase(), name.to_ascii_uppercase());
    let stem = name.rfind('.').unwrap_or(name.len());
    let extended = |other: &str| format!("{}{}", &name[..stem], &other[stem..]);
    let all = [
        name.to_owned(),
        extended(&lower),
        extended(&upper),
        lower,
        upper,
    ];
    let mut spellings: Vec<String> = Vec::with_capacity(all.len());
    for spelling in all {
        if !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_tried_in_either_case() {
        let all = ["GTA3.dir", "GTA3.DIR", "gta3.dir"];
        assert_eq!(spellings("GTA3.dir"), all);
        assert_eq!(
            spellings("a.b.Bin"),
            ["a.b.Bin", "a.b.bin", "a.b.BIN", "A.B.BIN"]
        );
        assert_eq!(spellings("\u{e9}a"), ["\u{e9}a", "\u{e9}A"]);
    }
}
