//! Temporarily unreadable sources: reads return an error with its offset, and nothing
//! derived from it is kept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hpimount_containers::format::{Input, Options};
use hpimount_containers::formats;
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::io::{Error, ReadAt, Result};
use hpimount_containers::volume::{Content, Entry, FileId, Volume};

use crate::faulty::{Fault, Faulty, Script};
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{V1, V2, usual_tree};
use fixtures::noise;
use testkit::record::{Node, Recorder, generated, read_extent};
use testkit::trial;

/// Returns an archive of every kind.
fn archives() -> Vec<(&'static str, Vec<u8>)> {
    let v1 = |method| V1::new(usual_tree(method)).build().bytes;
    let v2 = |change: fn(&mut V2)| {
        let mut archive = V2::new(usual_tree(Method::Zlib));
        change(&mut archive);
        archive.build().bytes
    };
    let mut hip = Hip::default();
    hip.layer(0);
    let dyna = noise(3, 100);
    for (code, name, bytes) in [(b"DYNA", "a", &dyna), (b"TEXT", "b", &noise(4, 70_000))] {
        hip.add(Asset {
            checksum: Some(1),
            ..Asset::new(code, name, bytes)
        });
    }
    vec![
        ("HPI stored", v1(Method::Stored)),
        ("HPI LZ77", v1(Method::Lz77)),
        ("HPI zlib", v1(Method::Zlib)),
        ("Kingdoms", v2(|_| {})),
        (
            "Kingdoms, long chunks",
            v2(|archive| archive.chunk_size = None),
        ),
        (
            "Kingdoms, plain directory",
            v2(|archive| archive.raw_blocks = true),
        ),
        ("HIP", hip.build()),
    ]
}

/// An archive and its recorded entries.
struct Opened {
    archive: Box<dyn Volume>,
    tree: Recorder,
}

/// The bytes of a file and its attributes.
type Read = (Vec<u8>, Vec<Option<String>>);

impl Opened {
    fn new(source: &Arc<dyn ReadAt>, force: bool) -> Result<Self> {
        let mut tree = Recorder::default();
        let options = Options {
            force,
            verify: true,
            ..Options::default()
        };
        let input = Input::alone(source.clone(), options);
        let format = formats::detect(&input)?;
        let archive = (format.open)(input, &mut tree)?;
        Ok(Self { archive, tree })
    }

    fn files(&self) -> HashMap<FileId, Entry> {
        let entries = self.tree.nodes.iter().filter_map(|node| match node {
            Node::File(entry) => Some((entry.file, *entry)),
            _ => None,
        });
        entries.collect()
    }

    fn read(&self, entry: Entry) -> Result<Read> {
        let file = entry.file;
        let size = entry.size.unwrap_or(0);
        let mut bytes = Vec::new();
        match self.archive.content(file)? {
            Content::Generated(_) => bytes = generated(&*self.archive, file)?,
            Content::Extent { .. } => {
                bytes.resize(size as usize, 0);
                read_extent(&*self.archive, file, 0, &mut bytes)?;
            }
            Content::Stream(_) | Content::Part { .. } => panic!("no archive here has streams"),
            Content::Chunks(archive) => {
                let table = archive.chunk_table(file)?;
                while (bytes.len() as u64) < size {
                    let chunk = table.at(bytes.len() as u64)?;
                    if chunk.length <= 65_536 {
                        bytes.extend(archive.decode_chunk(file, chunk, chunk.length)?);
                    } else {
                        let mut reader = archive.open_chunk(file, chunk)?;
                        let read = reader.read_to_end(&mut bytes);
                        read.map_err(|error| {
                            Error::of_reader(&error, |text| Error::damaged(0, "chunk", text))
                        })?;
                    }
                }
            }
        }
        let names = self.archive.xattr_names(file).into_iter();
        let attributes = names.map(|name| self.archive.xattr(file, name));
        Ok((bytes, attributes.collect::<Result<_>>()?))
    }

    fn read_all(&self) -> HashMap<FileId, Read> {
        let files = self.files().into_iter();
        files
            .map(|(file, entry)| (file, self.read(entry).unwrap()))
            .collect()
    }
}

fn faulty(bytes: &[u8], script: Script) -> (Arc<Faulty>, Arc<dyn ReadAt>) {
    let faulty = Arc::new(Faulty::new(bytes.to_vec(), script));
    (faulty.clone(), faulty)
}

/// Each read of the source fails once in turn, and the others succeed.
#[test]
fn one_read_that_fails_is_an_error_and_nothing_of_it_is_kept() {
    let mut tried = 0;
    for (name, bytes) in archives() {
        for force in [false, true] {
            let (source, clean) = faulty(&bytes, Box::new(|_| Fault::None));
            let golden = Opened::new(&clean, force).unwrap();
            let (info, warnings) = (golden.archive.info(), golden.archive.warnings());
            let all = golden.read_all();
            let step = trial::length(if force { 7 } else { 3 }, 1);
            for victim in (0..source.reads()).step_by(step) {
                let script = move |read| match read == victim {
                    true => Fault::Fails,
                    false => Fault::None,
                };
                let (_, source) = faulty(&bytes, Box::new(script));
                let what = format!("{name}, force {force}, read {victim}");
                tried += 1;
                let opened = match Opened::new(&source, force) {
                    Ok(opened) => opened,
                    Err(error) => {
                        assert_is_fault(&error, bytes.len(), &what);
                        Opened::new(&source, force).unwrap()
                    }
                };
                assert_eq!(opened.archive.info(), info, "{what}");
                assert_eq!(opened.archive.warnings(), warnings, "{what}");
                for (file, entry) in opened.files() {
                    let read = opened.read(entry).or_else(|error| {
                        assert_is_fault(&error, bytes.len(), &what);
                        opened.read(entry)
                    });
                    assert!(read.unwrap() == all[&file], "{what}: {file:?}");
                }
            }
        }
    }
    let happened = "an error with its offset, then the same bytes; nothing kept of it";
    trial::record(
        "one read of the archive fails, each in turn",
        tried,
        happened,
    );
}

fn assert_is_fault(error: &Error, length: usize, what: &str) {
    assert!(error.is_fault(), "{what}: {error}");
    let Error::Read { offset, cause, .. } = error else {
        panic!("{what}: {error}");
    };
    assert!(*offset < length as u64, "{what}: {error}");
    assert_eq!(cause.raw_os_error(), Some(libc::EIO), "{what}: {error}");
}

#[test]
fn delays_change_nothing() {
    let delay = trial::length(Duration::from_micros(200), Duration::from_millis(5));
    for (name, bytes) in archives() {
        let (_, clean) = faulty(&bytes, Box::new(|_| Fault::None));
        let (_, slow) = faulty(
            &bytes,
            Box::new(move |read| match read % 3 {
                0 => Fault::Takes(delay),
                _ => Fault::None,
            }),
        );
        let read = |source| Opened::new(source, false).unwrap().read_all();
        assert!(read(&clean) == read(&slow), "{name}");
    }
}

/// Reads fail at random, at several rates.
#[test]
fn reads_that_fail_repeatedly_are_right_when_they_succeed() {
    let rounds = trial::length(3, 300);
    for (name, bytes) in archives() {
        let (_, clean) = faulty(&bytes, Box::new(|_| Fault::None));
        let all = Opened::new(&clean, false).unwrap().read_all();
        for round in 0..rounds {
            let random = noise(round, 10_000);
            let script = move |read: u64| {
                let byte = random[read as usize % random.len()];
                let fails = byte.is_multiple_of(8 + (round % 7) as u8);
                if fails { Fault::Fails } else { Fault::None }
            };
            let (_, source) = faulty(&bytes, Box::new(script));
            let opened = retry(|| Opened::new(&source, false));
            for (file, entry) in opened.files() {
                let read = retry(|| opened.read(entry));
                assert!(read == all[&file], "{name}, round {round}: {file:?}");
            }
        }
    }
    let happened = "right bytes or an error";
    trial::record(
        "every eighth to fourteenth read of the archive fails",
        rounds,
        happened,
    );
}

fn retry<T>(mut attempt: impl FnMut() -> Result<T>) -> T {
    for _ in 0..10_000 {
        match attempt() {
            Ok(done) => return done,
            Err(error) => assert!(error.is_fault(), "{error}"),
        }
    }
    panic!("no attempt succeeds");
}
