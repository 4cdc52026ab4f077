//! The view of an asset that could not be parsed completely.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;
use serde_json::{Value, json};

use super::listed::{ListedView, whole_files};
use super::node::Node;
use super::page::Rows;
use super::{AssetContext, Failure, Summary, View, ViewFile, ViewFormat, json};
use hpimount_containers::io::{Error, Warnings};

/// Name of the file with the error of a damaged asset or archive. It is the first
/// one of a view.
pub const ERROR_FILE: &str = "error.txt";

/// The view of the parts that were read, and the error in front of them.
struct Damaged {
    failure: Error,
    text: String,
    parts: Box<dyn View>,
}

/// Returns the view of an asset that could not be parsed completely: the files
/// of `parts`, a view of everything before the error, and `error.txt`.
pub fn damaged(failure: Error, parts: Box<dyn View>) -> Box<dyn View> {
    Box::new(Damaged {
        text: format!("{failure}\n"),
        failure,
        parts,
    })
}

/// Returns the failure for a file that could not be parsed at all.
pub fn failure(format: &ViewFormat, bytes: &Bytes, error: Error) -> Box<Failure> {
    let partial = json!({ "format": format.name, "file_size": bytes.len() });
    Box::new(Failure { error, partial })
}

/// The known facts of an asset, as `info.json` and `info.txt`.
#[derive(GetSize)]
struct Facts {
    json: Vec<u8>,
    summary: Vec<u8>,
}

/// Returns the view of an asset that has nothing to show but known facts.
pub(super) fn facts_only(failure: Failure) -> Box<dyn View> {
    let Failure { error, partial } = failure;
    let parts = ListedView {
        model: Facts {
            json: json::pretty(&partial),
            summary: summary(&error, &partial),
        },
        files: whole_files(&[
            ("info.json", |facts: &Facts, out| out.write_all(&facts.json)),
            ("info.txt", |facts, out| out.write_all(&facts.summary)),
        ]),
    };
    damaged(error, Box::new(parts))
}

/// Returns the text of `info.txt`: the error, and the facts that are a word or
/// a number.
fn summary(error: &Error, partial: &Value) -> Vec<u8> {
    let format = partial["format"].as_str().unwrap_or("file");
    let mut page = Summary::new(format_args!("{format} that cannot be read completely"));
    page.line("error", error);
    let facts = partial.as_object().into_iter().flatten();
    for (name, value) in facts.filter(|(name, _)| *name != "format") {
        match value {
            Value::String(text) => page.line(name, text),
            Value::Bool(_) | Value::Number(_) => page.line(name, value),
            Value::Null | Value::Array(_) | Value::Object(_) => &mut page,
        };
    }
    let mut warnings = Warnings::default();
    let texts = partial["warnings"].as_array().into_iter().flatten();
    for text in texts.filter_map(Value::as_str) {
        warnings.push(text.to_owned());
    }
    let mut text = Vec::new();
    page.write(&warnings, &mut text)
        .expect("writing to memory cannot fail");
    text
}

impl View for Damaged {
    fn files(&self) -> Vec<ViewFile> {
        let mut files = self.parts.files();
        files.insert(0, ERROR_FILE.into());
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

    fn info(&self) -> Node<'_> {
        self.parts.info()
    }

    fn warnings(&self) -> Vec<String> {
        self.parts.warnings()
    }

    fn table(&self, index: usize) -> Option<Rows<'_>> {
        self.parts.table(index.checked_sub(1)?)
    }

    fn table_in<'a>(&'a self, index: usize, context: &'a dyn AssetContext) -> Option<Rows<'a>> {
        self.parts.table_in(index.checked_sub(1)?, context)
    }

    fn position(&self, wanted: &dyn Fn(&ViewFile) -> bool) -> Option<usize> {
        if wanted(&ERROR_FILE.into()) {
            return Some(0);
        }
        Some(self.parts.position(wanted)? + 1)
    }

    fn memory(&self) -> usize {
        size_of_val(self) + self.text.capacity() + self.parts.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Alone;
    use serde_json::json;

    #[test]
    fn the_summary_of_a_damaged_asset_has_the_error_and_the_known_facts() {
        let failure = Failure {
            error: Error::damaged(16, "pieces", "is 7"),
            partial: json!({
                "format": "COB",
                "version": 4,
                "scripts": [],
                "warnings": ["odd\u{0}"],
            }),
        };
        let view = facts_only(failure);
        let files = view.files();
        let index = files.iter().position(|file| file.name == "info.txt");
        let mut text = Vec::new();
        view.render(index.unwrap(), &Alone, &mut text).unwrap();
        let expected = "COB that cannot be read completely\n\n\
             error          pieces at 0x10: is 7\n\
             version        4\n\
             warnings       1\n  odd\\u{0}\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
