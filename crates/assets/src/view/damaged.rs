//! The view of an asset that could not be parsed completely.

use std::io::{self, Write};

use get_size2::GetSize;

use super::listed::{ListedView, whole_files};
use super::{AssetContext, Failure, View, ViewFile, json};
use hpimount_containers::io::Error;

/// Name of the file with the error, which is the first one.
const ERROR_FILE: &str = "error.txt";

/// The view of the parts that were read, and the error in front of them.
struct Damaged {
    failure: Error,
    text: String,
    parts: Box<dyn View>,
}

/// Returns the view of an asset that could not be parsed completely: the files
/// of `parts`, a view of everything before the error, and `error.txt`.
pub(crate) fn damaged(failure: Error, parts: Box<dyn View>) -> Box<dyn View> {
    Box::new(Damaged {
        text: format!("{failure}\n"),
        failure,
        parts,
    })
}

/// The known facts of an asset, as `info.json`.
#[derive(GetSize)]
struct Facts(Vec<u8>);

/// Returns the view of an asset that has nothing to show but known facts.
pub(super) fn facts_only(failure: Failure) -> Box<dyn View> {
    let Failure { error, partial } = failure;
    let parts = ListedView {
        model: Facts(json::pretty(&partial)),
        files: whole_files(&[("info.json", |facts: &Facts, out| out.write_all(&facts.0))]),
    };
    damaged(error, Box::new(parts))
}

impl View for Damaged {
    fn files(&self) -> Vec<ViewFile> {
        let mut files = self.parts.files();
        files.insert(0, error_file());
        files
    }

    fn render(
        &self,
        index: usize,
        context: &dyn AssetContext,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match index.checked_sub(1) {
            None => out.write_all(self.text.as_bytes()),
            Some(index) => self.parts.render(index, context, out),
        }
    }

    fn size(&self, index: usize) -> Option<u64> {
        match index.checked_sub(1) {
            None => Some(self.text.len() as u64),
            Some(index) => self.parts.size(index),
        }
    }

    fn failure(&self) -> Option<&Error> {
        Some(&self.failure)
    }

    fn position(&self, wanted: &dyn Fn(&ViewFile) -> bool) -> Option<usize> {
        if wanted(&error_file()) {
            return Some(0);
        }
        Some(self.parts.position(wanted)? + 1)
    }

    fn memory(&self) -> usize {
        size_of_val(self) + self.text.capacity() + self.parts.memory()
    }
}

fn error_file() -> ViewFile {
    ViewFile {
        folder: None,
        name: ERROR_FILE.to_owned(),
    }
}
