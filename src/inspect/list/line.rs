//! An entry as it is listed.

use serde::Serialize;

use crate::inspect::Contents;
use crate::inspect::text::Date;
use crate::mount::{Attr, FileKind, Vfs};
use crate::printable::printable;

/// An entry as it is listed.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    path: &'a str,
    kind: &'static str,
    #[serde(skip)]
    letter: char,
    mode: String,
    #[serde(skip)]
    permissions: u16,
    /// `None` for a packed file whose size is not known.
    size: Option<u64>,
    modified: String,
    #[serde(skip)]
    seconds: i64,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    type_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// Returns the compression method of a file, if its archive has one.
fn method(vfs: &Vfs, attr: Attr) -> Option<String> {
    if attr.kind != FileKind::File {
        return None;
    }
    let names = vfs.xattr_names(attr.ino);
    let name = names.into_iter().find(|name| name.ends_with(".method"))?;
    // Damaged files are listed nevertheless.
    let value = vfs.xattr(attr.ino, name).ok()?;
    String::from_utf8(value).ok()
}

impl<'a> Line<'a> {
    pub(super) fn new(vfs: &Vfs, path: &'a str, attr: Attr, umask: u16) -> Self {
        let (kind, letter) = match attr.kind {
            FileKind::File => ("file", '-'),
            FileKind::Directory => ("directory", 'd'),
            FileKind::Symlink => ("link", 'l'),
        };
        let permissions = attr.mode & !umask;
        let target = match attr.kind {
            FileKind::Symlink => vfs.readlink(attr.ino).ok(),
            FileKind::File | FileKind::Directory => None,
        };
        let type_of = match attr.kind {
            FileKind::File => Contents(vfs).type_of(attr.ino),
            FileKind::Symlink | FileKind::Directory => None,
        };
        Self {
            path,
            kind,
            letter,
            mode: format!("{permissions:04o}"),
            permissions,
            size: (attr.lasting || attr.size > 0).then_some(attr.size),
            modified: Date::new(attr.modified).long(),
            seconds: attr.modified,
            type_of,
            method: method(vfs, attr),
            target: target.map(|target| String::from_utf8_lossy(&target).into_owned()),
            sha256: None,
        }
    }

    pub(super) fn set_sha256(&mut self, sum: &[u8]) {
        self.sha256 = Some(hex::encode(sum));
    }

    pub(super) fn sha256(&self) -> Option<&str> {
        self.sha256.as_deref()
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("it has no maps and writes to memory")
    }

    /// Returns the path, after the checksum if there is one.
    pub(super) fn null(&self) -> String {
        match &self.sha256 {
            Some(sum) => format!("{sum}  {}", self.path),
            None => self.path.to_owned(),
        }
    }

    /// Returns the checksum and the path in the form of `sha256sum`: a backslash
    /// before the line says that backslashes in the path are doubled. Paths in a
    /// mount have no line breaks.
    pub(super) fn summed(&self, is_terminal: bool) -> String {
        let sum = self.sha256().unwrap_or_default();
        let path = shown(self.path, is_terminal);
        match path.contains('\\') {
            true => format!("\\{sum}  {}", path.replace('\\', "\\\\")),
            false => format!("{sum}  {path}"),
        }
    }

    pub(super) fn text(&self, is_terminal: bool) -> String {
        let flags = (0..9).rev().zip("rwxrwxrwx".chars());
        let flags = flags.map(|(bit, flag)| match self.permissions >> bit & 1 {
            0 => '-',
            _ => flag,
        });
        let flags: String = flags.collect();
        let mut name = self.path.to_owned();
        match &self.target {
            Some(target) => name += &format!(" -> {target}"),
            None if self.letter == 'd' => name.push('/'),
            None => {}
        }
        let name = shown(&name, is_terminal);
        let date = Date::new(self.seconds).short();
        let method = self.method.as_deref().unwrap_or("-");
        let letter = self.letter;
        let size = self.size.map_or("?".to_owned(), |size| size.to_string());
        format!("{letter}{flags} {size:>11} {date} {method:<7} {name}")
    }
}

/// Returns a name, with escapes for control characters on a terminal.
fn shown(name: &str, is_terminal: bool) -> String {
    match is_terminal {
        true => printable(name).into_owned(),
        false => name.to_owned(),
    }
}
