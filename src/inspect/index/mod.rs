//! `hpi index`: a catalogue of everything in a source, as rows of a database.
//!
//! One thread walks the tree and queues entries, the others read them and send
//! rows. These threads are confined; the database is written elsewhere, see
//! [`Database`].

#[cfg(feature = "index")]
mod database;
mod jobs;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, OnceLock};

use indicatif::ProgressBar;

#[cfg(feature = "index")]
pub use self::database::{Database, TextIndex};
use self::jobs::Job;
use super::bounds::Bounds;
use super::hash::sha256;
use super::pool::{no_lane, unordered};
use super::room::{Room, Taken};
use super::shown::Shown;
use super::texts::{self, MAX_TEXT};
use super::walk::{Step, Walk};
use super::{Contents, Role};
use crate::mount::{HeldIno, Ino, Meta, Vfs, format_of};
use crate::sync::lock;
use hpimount_assets::view::Measures;
use hpimount_assets::view::report::Reference;

/// Length of the texts that wait for the database without taking room.
const SHORT: usize = 16 << 10;

/// Cost of each row in addition to its names and texts.
const ROW: usize = 256;

/// Part of the memory budget that the other texts may have while they wait.
const PART_OF_BUDGET: usize = 8;

/// Size of the rows that are sent together: a thread that was woken for each row would
/// spend more time on that.
const BATCH: usize = 64 << 10;

/// A row of the catalogue.
pub enum Row {
    /// An entry of a directory.
    Entry(Box<EntryRow>),
    /// A reference from one definition or asset to another.
    Reference(ReferenceRow),
}

impl Row {
    /// Returns the path of the archive that it is about, empty for the source
    /// itself, and roughly how many bytes it has in a database.
    fn size(&self) -> (&str, usize) {
        let lengths = |texts: &[&String]| texts.iter().map(|text| text.len()).sum::<usize>();
        match self {
            Self::Entry(row) => {
                let texts = row.text.as_ref().map_or(0, String::len);
                let names = lengths(&[&row.archive, &row.path]);
                (&row.archive, ROW + names + texts)
            }
            Self::Reference(ReferenceRow { archive, reference }) => {
                let [from, from_place] = &reference.from;
                let [to, to_place] = &reference.to;
                let all = [archive, from, from_place, &reference.field, to, to_place];
                (archive, ROW + lengths(&all))
            }
        }
    }
}

/// An entry of a directory.
#[derive(Default)]
pub struct EntryRow {
    /// The path of the archive that it is in, empty for the source itself.
    pub archive: String,
    /// Its path in the mount of the source.
    pub path: String,
    /// `file`, `archive`, `directory` or `link`.
    pub kind: &'static str,
    /// The type of a file, as of `hpi list`.
    pub type_of: Option<String>,
    /// Decoded size in bytes.
    pub size: u64,
    /// Packed size in bytes, if it is packed by itself.
    pub stored_size: Option<u64>,
    /// Modification time in seconds since 1970 UTC.
    pub modified: i64,
    /// SHA-256 of a file.
    pub sha256: Option<[u8; 32]>,
    /// The error, if it cannot be read.
    pub error: Option<String>,
    /// The facts of an asset.
    pub asset: Option<AssetRow>,
    /// The text of a file, up to a limit.
    pub text: Option<String>,
    /// Room for a long text.
    room: Option<Taken>,
}

/// The facts of an asset.
#[derive(Debug, Default, PartialEq)]
pub struct AssetRow {
    /// Name of its format.
    pub format: &'static str,
    /// Its name in its archive, if that records one.
    pub name: Option<String>,
    /// Its id in its archive, if that records one.
    pub id: Option<u32>,
    /// The numbers that compare it with other assets.
    pub measures: Measures,
    /// The error, if it could not be parsed completely.
    pub error: Option<String>,
}

/// A reference between assets of an archive.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReferenceRow {
    /// The path of the archive, empty for the source itself.
    pub archive: String,
    /// The reference.
    pub reference: Reference,
}

/// Words that follow each other in a text; the last one may be the beginning of one.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// The words.
    pub text: String,
    /// The start of the paths of the files.
    pub folder: String,
    /// The type of the files in lower case, if only those of one are wanted.
    pub type_of: Option<String>,
}

/// A file with words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// Its number in the database.
    pub number: i64,
    /// Its path.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// The words with those around them, in `<` and `>`.
    pub snippet: String,
}

/// Sends a row for each entry of a source, and for each reference in it, several at a
/// time. Ends early if the receiver of the rows is gone. At most `expansion` bytes are read
/// for each byte of the source, and the rows have no more.
///
/// # Errors
/// Returns a message if something was left out because it exceeds that.
pub fn index(
    vfs: &Vfs,
    threads: usize,
    expansion: u64,
    rows: &SyncSender<Vec<Row>>,
    bar: &ProgressBar,
) -> Result<(), String> {
    let indexer = Indexer {
        vfs,
        rows,
        batch: Mutex::default(),
        bar,
        bounds: Bounds::of(vfs, Ino::ROOT, expansion),
        left_out: OnceLock::new(),
        room: Room::new(vfs.reader().budget().limit() / PART_OF_BUDGET),
        is_over: AtomicBool::new(false),
    };
    let root = HeldIno::kept(Ino::ROOT);
    let walk = Walk::within(indexer.bounds.clone(), root, String::new());
    let queue = |push: &mut dyn FnMut(Job)| jobs::queue(vfs, walk, push, &indexer.is_over);
    let walked = unordered(threads, queue, no_lane, |job| indexer.run(job));
    indexer.send_batch(lock(&indexer.batch).take());
    indexer.left_out.into_inner().map_or(walked, Err)
}

struct Indexer<'a> {
    vfs: &'a Vfs,
    rows: &'a SyncSender<Vec<Row>>,
    batch: Mutex<Batch>,
    bar: &'a ProgressBar,
    room: Arc<Room>,
    bounds: Arc<Bounds>,
    /// The reason why further rows are left out.
    left_out: OnceLock<String>,
    /// True if no more rows are sent.
    is_over: AtomicBool,
}

/// Rows that are sent together.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    size: usize,
}

impl Batch {
    fn take(&mut self) -> Vec<Row> {
        std::mem::take(self).rows
    }
}

impl Indexer<'_> {
    fn run(&self, job: Job) {
        if self.is_over.load(Ordering::Relaxed) {
            return;
        }
        match job {
            Job::References { archive, directory } => {
                let mut send = |reference| {
                    let archive = archive.clone();
                    self.send(Row::Reference(ReferenceRow { archive, reference }));
                    match self.is_over.load(Ordering::Relaxed) {
                        true => Err(std::io::ErrorKind::BrokenPipe.into()),
                        false => Ok(()),
                    }
                };
                // The file that is at fault has the error as its own row.
                let _ = self.vfs.assets().references(*directory, &mut send);
            }
            Job::Unlisted(row) => self.send(Row::Entry(row)),
            Job::Entry {
                archive,
                step,
                kind,
            } => {
                let mut row = self.entry(archive, step, kind);
                let length = row.text.as_ref().map_or(0, String::len);
                row.room = (length > SHORT).then(|| self.room.take(length));
                self.send(Row::Entry(Box::new(row)));
                self.bar.inc(1);
            }
        }
    }

    fn send(&self, row: Row) {
        if self.exceeds(&row) {
            self.is_over.store(true, Ordering::Relaxed);
            return;
        }
        // Other threads wait for the room that it has.
        let is_long = matches!(&row, Row::Entry(row) if row.room.is_some());
        let mut batch = lock(&self.batch);
        batch.size += row.size().1;
        batch.rows.push(row);
        if is_long || batch.size >= BATCH {
            let rows = batch.take();
            drop(batch);
            self.send_batch(rows);
        }
    }

    fn send_batch(&self, rows: Vec<Row>) {
        if self.rows.send(rows).is_err() {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    /// Counts a row, and returns whether the rows have too many bytes with it.
    fn exceeds(&self, row: &Row) -> bool {
        let (archive, size) = row.size();
        let archives = usize::from(!archive.is_empty());
        let counted = self.bounds.row(archives, size as u64);
        let left_out = counted.map_err(|problem| self.left_out.get_or_init(|| problem));
        left_out.is_err()
    }

    fn entry(&self, archive: String, step: Step, kind: &'static str) -> EntryRow {
        let Step { path, entry } = step;
        let contents = Contents(self.vfs);
        let mut row = EntryRow {
            archive,
            path,
            kind,
            size: entry.size,
            modified: self.vfs.getattr(*entry.ino).map_or(0, |attr| attr.modified),
            ..EntryRow::default()
        };
        let Role::File { is_asset } = entry.role else {
            return row;
        };
        row.type_of = contents.type_of(*entry.ino);
        match sha256(self.vfs, *entry.ino) {
            Ok(sum) => row.sha256 = Some(sum),
            Err(trouble) => {
                row.error = Some(trouble.to_string());
                return row;
            }
        }
        row.stored_size = contents.stored_size(*entry.ino);
        if let Some(inside) = contents.inside(*entry.ino) {
            row.kind = "archive";
            row.error = match contents.archive(*inside) {
                Ok(archive) => archive.problem.map(|problem| problem.to_string()),
                Err(error) => Some(error.to_string()),
            };
        } else if is_asset {
            self.asset(*entry.ino, &mut row);
        }
        if row.text.is_none() && self.vfs.options().meta != Meta::Off {
            row.text = texts::of_file(self.vfs, *entry.ino, MAX_TEXT);
        }
        row
    }

    /// Adds the facts and the text of an asset.
    fn asset(&self, ino: Ino, row: &mut EntryRow) {
        let Ok(node) = self.vfs.node(ino) else {
            return;
        };
        let Some(format) = format_of(&node) else {
            return;
        };
        let volume = node.file();
        let table = volume.and_then(|file| Some((file.volume.volume.assets()?, file.file)));
        let mut asset = AssetRow {
            format: format.name,
            name: table.and_then(|(assets, file)| assets.name(file)),
            id: Contents(self.vfs).asset_of(ino).map(|known| known.id),
            ..AssetRow::default()
        };
        match Shown::new(self.vfs, &node, format) {
            Ok(shown) => {
                asset.error = shown.model.view.failure().map(ToString::to_string);
                asset.measures = shown.model.view.measures();
                // Text that cannot be read now was read for the checksum.
                row.text = texts::of_view(&shown).unwrap_or_default();
            }
            Err(trouble) => asset.error = Some(trouble.to_string()),
        }
        row.asset = Some(asset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::EXPANSION;
    use crate::mount::{Options, Sources};
    use std::sync::mpsc::sync_channel;

    /// The made-up format has no column or fact that is called like a measure.
    #[test]
    fn an_asset_has_the_measures_of_its_view_whatever_its_columns_are_called() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.made"), [1, 2, 3]).unwrap();
        let vfs = Vfs::open(&Sources::one(folder.path()), Options::default()).unwrap();
        let (sender, rows) = sync_channel(10);
        index(&vfs, 1, EXPANSION, &sender, &ProgressBar::hidden()).unwrap();
        drop(sender);
        let assets = rows.into_iter().flatten().filter_map(|row| match row {
            Row::Entry(row) => row.asset,
            Row::Reference(_) => None,
        });
        let expected = AssetRow {
            format: "made up",
            measures: Measures::picture(3, 1),
            ..AssetRow::default()
        };
        assert_eq!(assets.collect::<Vec<_>>(), [expected]);
    }
}
