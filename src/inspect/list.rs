//! `--list`: one line per entry.

use std::io::Write;

use serde::Serialize;

use super::Error;
use super::path::find;
use super::text::Date;
use super::walk::Walk;
use crate::inspect::Role;
use crate::mount::{Attr, FileKind, Vfs};
use crate::printable::printable;

/// How entries are listed.
#[derive(Debug, Clone, Copy)]
pub struct ListStyle {
    /// JSON, one object per line.
    pub json: bool,
    /// Permission bits to remove from all modes.
    pub umask: u16,
}

/// An entry as it is listed.
#[derive(Serialize)]
struct Line<'a> {
    path: &'a str,
    kind: &'static str,
    #[serde(skip)]
    letter: char,
    mode: String,
    #[serde(skip)]
    permissions: u16,
    size: u64,
    modified: String,
    #[serde(skip)]
    seconds: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

/// Lists a path and everything below it. Entries that a mount adds to a source,
/// such as `X.d` and `X.meta`, are listed only if the path leads to them. With
/// `is_terminal`, control characters are escaped.
///
/// # Errors
/// Returns an error if there is no such entry, if one of the directories cannot
/// be listed, or if writing fails.
pub fn list(
    vfs: &Vfs,
    path: &str,
    style: ListStyle,
    is_terminal: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut write = |path: &str, attr| {
        let line = Line::new(vfs, path, attr, style.umask);
        let text = match style.json {
            true => serde_json::to_string(&line).expect("it has no maps and writes to memory"),
            false => line.text(is_terminal),
        };
        writeln!(out, "{text}").map_err(Error::Output)
    };
    let found = find(vfs, path)?;
    if !found.path.is_empty() {
        write(&found.path, found.attr)?;
    }
    if found.attr.kind != FileKind::Directory {
        return Ok(());
    }
    let mut walk = Walk::new(found.attr.ino, found.path);
    while let Some(step) = walk.next(vfs) {
        let step = step.map_err(|(path, error)| Error::path(&path, error))?;
        if matches!(step.entry.role, Role::Inside | Role::AssetDirectory) {
            continue;
        }
        let attr = vfs.getattr(step.entry.ino);
        let attr = attr.map_err(|error| Error::path(&step.path, error))?;
        write(&step.path, attr)?;
        if step.entry.role == Role::Directory {
            walk.enter(step);
        }
    }
    Ok(())
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
    fn new(vfs: &Vfs, path: &'a str, attr: Attr, umask: u16) -> Self {
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
        Self {
            path,
            kind,
            letter,
            mode: format!("{permissions:04o}"),
            permissions,
            size: attr.size,
            modified: Date::new(attr.modified).long(),
            seconds: attr.modified,
            method: method(vfs, attr),
            target: target.map(|target| String::from_utf8_lossy(&target).into_owned()),
        }
    }

    fn text(&self, is_terminal: bool) -> String {
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
        let name = match is_terminal {
            true => printable(&name).into_owned(),
            false => name,
        };
        let date = Date::new(self.seconds).short();
        let method = self.method.as_deref().unwrap_or("-");
        let letter = self.letter;
        format!(
            "{letter}{flags} {:>11} {date} {method:<7} {name}",
            self.size
        )
    }
}
