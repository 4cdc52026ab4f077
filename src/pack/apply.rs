//! Writing an archive, a disc or an asset with the changes of a folder.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{iter, mem};

use super::copy::copy;
use super::target::Target;
use super::walk::identity;
use super::{Error, Result};
use crate::content::{Reader, Spool, unwrap};
use crate::memory::budget::Budget;
use crate::mount::{self, Changes, OpenCause, Outcome};
use crate::platform::canonical;
use crate::source::{ChangesFolder, DiskNames, FilePool, FileSource, files_beside, has_name};
use hpimount_containers::apply::{self, Tools};
use hpimount_containers::changes::{Action, Applied, Composed, Original, Report, Written};
use hpimount_containers::extract::Listing;
use hpimount_containers::format::{Input, Options};
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::pack::Empty;
use hpimount_containers::text::Table;
use hpimount_containers::volume::{Content, Entry};
use hpimount_containers::{formats, image, sheet};

/// Memory for decoded blocks of compressed discs, and for edited assets, in bytes: a picture
/// of 2048 by 2048 pixels that the asset has as four bytes each, with smaller levels, takes
/// 140 MiB of it.
pub(super) const MEMORY: usize = 192 << 20;

/// Memory for decoded blocks of compressed discs where nothing is encoded, in bytes.
const MEMORY_TO_READ: usize = 64 << 20;

/// Memory that the windows and the lists of a patch may take, in bytes.
const PATCH_MEMORY: usize = 144 << 20;

/// An archive, a disc or an asset, and the changes to apply to it: opened, and not
/// parsed.
pub struct Edit {
    path: PathBuf,
    source: Arc<FileSource>,
    /// The files beside it that it may consist of.
    beside: Vec<PathBuf>,
    pool: Arc<FilePool>,
    changes: Changes,
    /// A file for new assets, which confined threads cannot create.
    spool: Option<Arc<File>>,
}

impl Edit {
    /// Opens the source at `path`, and reads folders of changes, whose files have such
    /// `names`, and patches, which are applied one after the other. If it `is_strict`, risks are refused too.
    ///
    /// # Errors
    /// Returns [`Error::Source`] if something cannot be read, or [`Error::Refused`] if
    /// `path` is a folder.
    pub fn open(
        path: &Path,
        changes: &[PathBuf],
        is_strict: bool,
        names: DiskNames,
    ) -> Result<Self> {
        if path.is_dir() {
            let text = "is a folder: mount it with `hpimount --apply`, and copy what the \
                        mount shows; or apply the changes in X.d to an archive X in it";
            return Err(Error::refused(path, text));
        }
        let pool = Arc::new(FilePool::default());
        let changes = Changes::read(changes, is_strict, names)
            .map_err(|error| Error::source(Path::new(&error.source_name), error.cause))?;
        let source = FileSource::open(path, &pool);
        let source = source.map_err(|cause| Error::source(path, cause))?;
        Ok(Self {
            path: path.to_owned(),
            source: Arc::new(source),
            beside: files_beside(path),
            pool,
            changes,
            spool: tempfile::tempfile().ok().map(Arc::new),
        })
    }

    /// Returns everything that will be read: files, and directories including
    /// their contents.
    pub fn paths(&self) -> Vec<PathBuf> {
        let beside = self.beside.iter().chain(&self.changes.paths);
        beside.chain([&self.path]).cloned().collect()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Applies the changes.
    fn apply(&mut self) -> Result<Outcome> {
        let changes = mem::take(&mut self.changes);
        self.apply_to(changes, &self.reader(), self.source.clone(), &self.name())
    }

    /// Applies the changes to the plain image that the source is a compressed one of, if
    /// it is, so that the result can be compared with it. Returns that image as well, with
    /// its name.
    pub(super) fn apply_to_plain(&mut self) -> Result<(Outcome, Arc<dyn ReadAt>, String)> {
        let reader = self.reader();
        let unwrapped = unwrap(&reader, self.source.clone(), &Options::default());
        let (source, images) = unwrapped.map_err(|error| Error::source(&self.path, error))?;
        let is_image = matches!(image::detect(&*self.source), Ok(Some(_)));
        let name = match self.path.file_stem() {
            Some(stem) if is_image => format!("{}.iso", stem.to_string_lossy()),
            // Such as the tar archive in a compressed one.
            Some(stem) if !images.formats.is_empty() => stem.to_string_lossy().into_owned(),
            _ => self.name(),
        };
        if !images.tracks.is_empty() {
            let text = "is a compressed CD; patches are made from plain images";
            return Err(Error::refused(&self.path, text));
        }
        let changes = mem::take(&mut self.changes);
        let outcome = self.apply_to(changes, &reader, source.clone(), &name)?;
        Ok((outcome, source, name))
    }

    fn apply_to(
        &self,
        changes: Changes,
        reader: &Arc<Reader>,
        source: Arc<dyn ReadAt>,
        name: &str,
    ) -> Result<Outcome> {
        let original = Original {
            source,
            name,
            shown: name,
            partner: &|wanted| self.partner(wanted),
            is_changed: false,
        };
        // The result is written once, and read for years.
        let options = mount::Options {
            verify: true,
            ..mount::Options::default()
        };
        let budget = Budget::new(PATCH_MEMORY);
        let outcome = changes.write(&original, reader, &budget, &options);
        outcome.map_err(|cause| match cause {
            OpenCause::Refused(refusals) => Error::Refused(refusals),
            cause => Error::source(&self.path, cause),
        })
    }

    fn reader(&self) -> Arc<Reader> {
        let space = match &self.spool {
            Some(_) => mount::Options::default().spool_size,
            None => 0,
        };
        Reader::new(&Budget::new(MEMORY), Spool::new(self.spool.clone(), space))
    }

    /// Opens the file with this name, ignoring ASCII case, that belongs to the
    /// archive.
    fn partner(&self, wanted: &str) -> Option<Arc<dyn ReadAt>> {
        let path = self.beside.iter().find(|path| has_name(path, wanted))?;
        let source = FileSource::open(path, &self.pool).ok()?;
        Some(Arc::new(source))
    }
}

/// An archive with the changes of folders, ready to be written.
pub(super) struct Plan {
    /// The file at the path of the target.
    file: Composed,
    /// The other files that it consists of.
    beside: Vec<(PathBuf, Composed)>,
    /// The original, if it is a file.
    original: Option<Arc<FileSource>>,
    /// Its path.
    source: PathBuf,
    /// Outcome of the changes.
    report: Report,
}

impl Plan {
    /// Plans to apply changes, and to write the result to `out`.
    ///
    /// # Errors
    /// Returns [`Error::Refused`] with everything that cannot be applied, or
    /// [`Error::Target`] if the result has several files and `out` does not have the
    /// extension of the first one.
    pub(super) fn new(mut edit: Edit, out: &Path) -> Result<Self> {
        let Outcome {
            written, report, ..
        } = edit.apply()?;
        let (file, beside) = files(written, &edit.path, out)?;
        Ok(Self {
            file,
            beside,
            original: Some(edit.source),
            source: edit.path,
            report,
        })
    }

    /// Plans to add everything in a directory to an empty archive at `out`.
    ///
    /// # Errors
    /// Returns [`Error::Source`] if the directory cannot be read, or
    /// [`Error::Refused`] with everything that the format has no place for.
    pub(super) fn of_directory(
        directory: &Path,
        names: DiskNames,
        out: &Path,
        empty: Empty,
    ) -> Result<Self> {
        let pool = Arc::new(FilePool::default());
        let read = ChangesFolder::open(directory, &pool, names).and_then(|opened| opened.read());
        let (folder, _) = read.map_err(|cause| Error::source(directory, cause))?;
        let original = empty.original();
        let reader = Reader::new(&Budget::new(MEMORY_TO_READ), Spool::new(None, 0));
        let apply = |tools: Tools<'_>, report: &mut Report| {
            apply::apply(&original, folder, "", tools, report)
        };
        let written = mount::with_tools(&reader, &mount::Options::default(), false, apply);
        let (written, report) = written.map_err(Error::Refused)?;
        let (file, beside) = files(written, directory, out)?;
        Ok(Self {
            file,
            beside,
            original: None,
            source: directory.to_owned(),
            report,
        })
    }

    /// Creates the plan of a file that is made of the original at `source`.
    pub(super) fn of_file(
        file: Composed,
        original: Arc<FileSource>,
        source: &Path,
        report: Report,
    ) -> Self {
        Self {
            file,
            beside: Vec::new(),
            original: Some(original),
            source: source.to_owned(),
            report,
        }
    }

    /// Returns the number of bytes of the result.
    pub(super) fn bytes(&self) -> u64 {
        self.files().map(Composed::len).sum()
    }

    fn files(&self) -> impl Iterator<Item = &Composed> {
        iter::once(&self.file).chain(self.beside.iter().map(|(_, file)| file))
    }

    /// Returns the paths of the other files.
    pub(super) fn beside(&self) -> Vec<PathBuf> {
        self.beside.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Writes the result to `out`, and the other files to their own targets.
    ///
    /// # Errors
    /// Returns an error if the original or a changed file cannot be read, or if
    /// writing fails.
    pub(super) fn write(
        &self,
        out: &File,
        beside: &[Target],
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let targets = iter::once(out).chain(beside.iter().map(Target::file));
        for (file, target) in self.files().zip(targets) {
            let original = self.original.as_deref();
            copy(file, original, &self.source, target, progress)?;
        }
        Ok(())
    }

    /// Returns what became of the changes.
    pub(super) fn report(&self) -> &Report {
        &self.report
    }
}

/// The file at the path of a target, and the files beside it with their paths.
type Files = (Composed, Vec<(PathBuf, Composed)>);

/// Returns the files of a result that is written to `out`.
fn files(written: Written, source: &Path, out: &Path) -> Result<Files> {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let wanted = |extension: &str| {
        let problem = format!("is one of several files: its extension must be .{extension}");
        Err(Error::target(out, problem))
    };
    let mut files = Vec::new();
    if let Some(directory) = written.directory {
        let pairs = formats::changed_pairs;
        let found = pairs().find_map(|pair| pair.directory_of(&name));
        let Some((stem, own)) = found.as_deref().and_then(|name| name.rsplit_once('.')) else {
            let of_source = source.file_name().unwrap_or_default().to_string_lossy();
            let pair = pairs().find(|pair| pair.other(&of_source).is_some());
            return wanted(pair.map_or("wad", |pair| pair.data));
        };
        // In the case of the given extension.
        let is_upper = !extension.chars().any(char::is_lowercase);
        let own = if is_upper {
            own.to_uppercase()
        } else {
            own.to_owned()
        };
        files.push((out.with_file_name(format!("{stem}.{own}")), directory));
    }
    if written.files.is_empty() {
        return Ok((written.data, files));
    }
    let mut sheet = vec![0; written.data.len() as usize];
    let read = written.data.read_exact_at(&mut sheet, 0);
    read.map_err(|cause| Error::source(source, cause))?;
    let of_sheet = sheet::extension(&sheet);
    if !extension.eq_ignore_ascii_case(of_sheet) {
        return wanted(of_sheet);
    }
    let stem = |path: &Path| {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let (old, new) = (stem(source), stem(out));
    let is_alone = written.files.len() == 1;
    let rename = |name: &str| match name.strip_prefix(&*old) {
        Some(rest) => format!("{new}{rest}"),
        None if is_alone => match name.rsplit_once('.') {
            Some((_, extension)) => format!("{new}.{extension}"),
            None => format!("{new}.bin"),
        },
        None => format!("{new} {name}"),
    };
    let renamed = sheet::renamed(&sheet, rename);
    let others = written.files.into_iter();
    files.extend(others.map(|(name, file)| (out.with_file_name(rename(&name)), file)));
    Ok((Composed::of_bytes(renamed), files))
}

/// The archive or disc that changes would make, as a table.
pub struct DryRun(Vec<[String; 5]>);

impl DryRun {
    /// Plans changes without writing anything.
    ///
    /// # Errors
    /// Returns [`Error::Refused`] with everything that cannot be applied, or
    /// [`Error::Source`] if the original cannot be read.
    pub fn new(mut edit: Edit) -> Result<(Self, Vec<String>)> {
        let Outcome {
            written, report, ..
        } = edit.apply()?;
        let failed = |error: io::Error| Error::source(&edit.path, error);
        let source: Arc<dyn ReadAt> = edit.source.clone();
        let before = places(&edit, source, &|_| None).map_err(failed)?;
        let directory = written
            .directory
            .map(|directory| Arc::new(directory) as Arc<dyn ReadAt>);
        let files = written.files.into_iter();
        let files = files.map(|(name, file)| (name, Arc::new(file) as Arc<dyn ReadAt>));
        let files: Vec<_> = files.collect();
        let partner = |wanted: &str| {
            let is_wanted = |(name, _): &&(String, _)| name.eq_ignore_ascii_case(wanted);
            let found = files.iter().find(is_wanted).map(|(_, file)| file.clone());
            found.or_else(|| directory.clone())
        };
        let after = places(&edit, Arc::new(written.data), &partner).map_err(failed)?;
        let place = |places: &HashMap<String, u64>, path: &str| {
            places.get(path).map(u64::to_string).unwrap_or_default()
        };
        let row = |applied: &Applied| {
            let bytes = applied.new_file().map(|new| new.len().to_string());
            let new = match applied.action() {
                Action::Delete => String::new(),
                _ => place(&after, applied.path()),
            };
            let old = place(&before, applied.path());
            [
                applied.action().name().to_owned(),
                applied.path().to_owned(),
                old,
                new,
                bytes.unwrap_or_default(),
            ]
        };
        let rows = report.applied.iter().map(row).collect();
        let notes = report.notes();
        let patches = report.patches.iter().map(|patch| {
            let (name, format, checked) = (&patch.name, &patch.format, patch.checked);
            format!("{name}: {format}, compared with the original: {checked}")
        });
        let notes = notes.chain(patches).chain([report.summary()]).collect();
        Ok((Self(rows), notes))
    }

    /// Writes the table.
    ///
    /// # Errors
    /// Returns the error of `out`.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let columns = ["action", "path", "old place", "new place", "bytes"];
        let mut table = Table::new(out);
        table.columns(&columns)?;
        for row in &self.0 {
            for cell in row {
                table.text(cell);
            }
            table.end_row()?;
        }
        out.flush()
    }
}

/// Returns the offsets of stored files by their paths: in the archive, or in the user
/// data of a disc.
fn places(
    edit: &Edit,
    source: Arc<dyn ReadAt>,
    partner: &dyn Fn(&str) -> Option<Arc<dyn ReadAt>>,
) -> io::Result<HashMap<String, u64>> {
    let reader = Reader::new(&Budget::new(MEMORY_TO_READ), Spool::new(None, 0));
    let (source, images) = unwrap(&reader, source, &Options::default())?;
    let find = |wanted: &str| partner(wanted).or_else(|| edit.partner(wanted));
    let input = || Input {
        source: source.clone(),
        partner: &find,
        tracks: &images.tracks,
        options: Options {
            name: edit.name(),
            ..Options::default()
        },
    };
    let format = match formats::detect(&input()) {
        // An asset has no files, and so no places.
        Err(io::Error::UnknownFormat) => return Ok(HashMap::new()),
        format => format?,
    };
    let mut listing = Listing::default();
    let volume = (format.open)(input(), &mut listing)?;
    let offset = |entry: Entry| match volume.content(entry.file) {
        Ok(Content::Extent { offset, .. }) => Some(offset),
        _ => None,
    };
    let files = listing.files();
    let placed = files.filter_map(|(path, entry)| Some((path.to_owned(), offset(entry)?)));
    Ok(placed.collect())
}

/// Checks that the target `out` is neither the original nor in a folder of
/// changes.
///
/// # Errors
/// Returns [`Error::Target`] if it is.
pub fn check_target(out: &Path, source: &Path, folders: &[PathBuf], force: bool) -> Result<()> {
    if !force && identity(out).is_some() && identity(out) == identity(source) {
        return Err(Error::target(out, "is the original; --force replaces it"));
    }
    let directory = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let above: Vec<_> = match canonical(directory) {
        Ok(directory) => directory.ancestors().filter_map(identity).collect(),
        Err(_) => Vec::new(),
    };
    let is_inside = |folder: &&PathBuf| identity(folder).is_some_and(|id| above.contains(&id));
    match folders.iter().find(is_inside) {
        Some(folder) => {
            let problem = format!("is in {}, the folder of changes", folder.display());
            Err(Error::target(out, problem))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_stays_on_its_row_without_control_characters() {
        let row = ["add", "a\tb\x1b[31m", "", "", "3"].map(str::to_owned);
        let mut shown = Vec::new();
        DryRun(vec![row]).write(&mut shown).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        assert!(
            shown.ends_with("\nadd\ta\\tb\\u{1b}[31m\t\t\t3\n"),
            "{shown}"
        );
    }
}
