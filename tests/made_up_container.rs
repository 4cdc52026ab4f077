//! A container format is added by one [`Format`] value. Formats are global, so this is
//! a separate program.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hpimount::inspect::cat;
use hpimount::mount::{Options, Sources, Vfs};
use hpimount_containers::format::{Ambiguous, Format, Input, Pair};
use hpimount_containers::formats;
use hpimount_containers::io::{Error, ReadAt, Result};
use hpimount_containers::volume::{
    Content, Entry, FileId, Mountable, Name, Sink, Volume, no_such_file,
};

/// First bytes of a box in one file, which holds one file with the rest.
const MAGIC: &[u8] = b"BOX!";

/// First bytes of the directory of a box in two files.
const DIRECTORY_MAGIC: &[u8] = b"LID!";

const PAIR: Pair = Pair {
    data: "bxd",
    directory: "bxi",
};

/// Everything that the program knows of the format.
static FORMATS: [Format; 1] = [Format {
    name: "box",
    extensions: &["box"],
    ambiguous: &[Ambiguous {
        extension: "dat",
        at: 0,
        begins: |head| head.starts_with(MAGIC),
        confirms: None,
        may_have: None,
        sheet: None,
    }],
    pair: Some(PAIR),
    matches: |input| Ok(input.bytes(0, 4)? == MAGIC || directory(input)?.is_some()),
    open,
    ..Format::PLAIN
}];

struct BoxVolume {
    source: Arc<dyn ReadAt>,
    offset: u64,
}

impl Volume for BoxVolume {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        match file {
            FileId(0) => Ok(Content::Extent {
                source: &*self.source,
                offset: self.offset,
            }),
            _ => Err(no_such_file(file)),
        }
    }
}

impl Mountable for BoxVolume {
    fn memory(&self) -> usize {
        size_of::<Self>()
    }
}

/// Returns the data of a box in two files.
fn directory(input: &Input<'_>) -> Result<Option<Arc<dyn ReadAt>>> {
    let Some(found) = PAIR.find(input) else {
        return Ok(None);
    };
    let mut magic = [0; DIRECTORY_MAGIC.len()];
    let read = found.directory.read_exact_at(&mut magic, 0);
    read.map_err(|_| Error::UnknownFormat)?;
    Ok((magic == DIRECTORY_MAGIC).then_some(found.data))
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let (source, offset) = match directory(&input)? {
        Some(data) => (data, 0),
        None => (input.source.clone(), MAGIC.len() as u64),
    };
    let entry = Entry {
        file: FileId(0),
        size: Some(source.len() - offset),
        modified: None,
        asset: None,
    };
    sink.file(sink.root(), Name::utf_8("inside.txt"), entry)?;
    Ok(Box::new(BoxVolume { source, offset }))
}

fn mounted(source: &Path) -> Arc<Vfs> {
    let sources = Sources::one(source);
    Vfs::open(&sources, Options::default()).unwrap()
}

fn read(vfs: &Vfs, path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    cat(vfs, path, &mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

#[test]
fn a_container_is_added_by_one_value() {
    assert!(formats::add(&FORMATS).is_ok());
    let folder = tempfile::tempdir().unwrap();
    for (name, contents) in [
        ("one.box", "BOX!one"),
        ("two.dat", "BOX!two"),
        ("three.bxd", "three"),
        ("three.bxi", "LID!"),
        ("other.dat", "data"),
        ("alone.bxd", "alone"),
    ] {
        fs::write(folder.path().join(name), contents).unwrap();
    }

    let vfs = mounted(folder.path());
    for (archive, expected) in [
        ("one.box", Some("one")),
        ("two.dat", Some("two")),
        ("three.bxd", Some("three")),
        ("three.bxi", None),
        ("other.dat", None),
        ("alone.bxd", None),
    ] {
        let found = read(&vfs, &format!("{archive}.d/inside.txt"));
        assert_eq!(found.as_deref(), expected, "{archive}");
    }

    for (source, expected) in [
        ("one.box", "one"),
        ("two.dat", "two"),
        ("three.bxd", "three"),
        ("three.bxi", "three"),
    ] {
        let vfs = mounted(&folder.path().join(source));
        let found = read(&vfs, "inside.txt");
        assert_eq!(found.as_deref(), Some(expected), "{source}");
    }
}
