//! From sources on disk to a mount.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::enter::NewVolume;
use super::error::{OpenCause, OpenError};
use super::image::{self, Images};
use super::layout::{Layout, Opened, describe, seconds};
use super::order::{Order, file_name};
use super::sources::{GameFolder, Prepared, has_name};
use super::{Options, Sources, Vfs};
use crate::content::{MAX_ASSET, Reader};
use crate::io::{self, BlockBuffer, ReadAt};
use crate::namespace::companion::{self, Meta, Shows};
use crate::namespace::tree::TreeBuilder;
use crate::source::FileSource;
use crate::text::numbered;
use crate::view::{VIEW_FORMATS, ViewFormat};
use crate::volume::folder::{self, Disk, Folder};
use crate::volume::{self, Input};

impl Vfs {
    /// Opens the sources and lays out their trees.
    ///
    /// # Errors
    /// The first source that cannot be mounted, and why. Of several sources
    /// those that can be are mounted, unless `options.strict`; then the
    /// others are in the log and in `info.json`.
    pub fn open(sources: &Sources, options: Options) -> Result<Arc<Self>, OpenError> {
        Self::open_prepared(&sources.prepare()?, options)
    }

    /// As [`Vfs::open`], of sources that were prepared before.
    ///
    /// # Errors
    /// As for [`Vfs::open`].
    pub fn open_prepared(prepared: &Prepared, options: Options) -> Result<Arc<Self>, OpenError> {
        let point = options.mount_point.as_deref();
        let disk = Disk::around(point).map_err(|error| {
            let point = point.unwrap_or(Path::new("")).to_string_lossy();
            OpenError::new(point, OpenCause::Unreadable(error))
        })?;
        let vfs = Self::empty(options.clone());
        let mut opener = Opener {
            disk: &Arc::new(disk),
            reader: &vfs.reader,
            options: &options,
            partners: &prepared.partners,
            skipped: Vec::new(),
        };
        let layout = opener.layout(prepared)?;
        let skipped = opener.skipped;

        let grafted = layout.grafted.iter().map(|(_, _, volume)| volume);
        let all: Vec<&NewVolume> = layout.volumes.iter().chain(grafted).collect();
        for volume in &all {
            for warning in volume.warnings() {
                log::warn!("{}: {warning}", volume.name);
            }
        }
        let info = describe(&all, &skipped, layout.order.clone(), &options);
        vfs.graft_layout(layout, &info);
        Ok(Arc::new(vfs))
    }
}

/// Opens sources one after the other.
struct Opener<'a> {
    disk: &'a Arc<Disk>,
    reader: &'a Arc<Reader>,
    options: &'a Options,
    /// Files that sources consist of beside themselves.
    partners: &'a [PathBuf],
    /// Sources that could not be opened.
    skipped: Vec<OpenError>,
}

/// A file on disk that is going to be opened as a volume.
struct Candidate {
    path: PathBuf,
    /// Its name among the sources: that of the file, numbered where another
    /// one has it.
    name: String,
    source: Arc<FileSource>,
}

impl Opener<'_> {
    fn layout(&mut self, prepared: &Prepared) -> Result<Layout, OpenError> {
        match &prepared.sources {
            Sources::Game { order, .. } => match &prepared.game {
                Some(folder) => self.game(folder, *order),
                None => Err(OpenError::new("", io::Error::UnknownFormat)),
            },
            Sources::Given {
                paths,
                order,
                separate,
            } => self.given(paths, *order, *separate),
        }
    }

    fn given(
        &mut self,
        paths: &[PathBuf],
        order: Option<Order>,
        separate: bool,
    ) -> Result<Layout, OpenError> {
        let mut paths = paths.to_vec();
        let order = order.unwrap_or(Order::Cli);
        if !separate {
            order.sort(&mut paths);
        }
        let named: Vec<(String, PathBuf)> = unique_names(&paths).into_iter().zip(paths).collect();
        let opened = self.open_all(&named, |opener, (name, path)| opener.open(name, path))?;
        if opened.len() == 1 && named.len() == 1 {
            return Ok(Layout::single(opened));
        }
        if separate || !opened.iter().all(|opened| opened.is_layered) {
            return Layout::side_by_side(opened, self.options);
        }
        let why = match order {
            Order::Cli => "as given, the last one on top",
            _ => "as --order says",
        };
        Layout::merged(opened, order, why, None, Vec::new(), self.options)
    }

    /// Opens all of several sources, or one, each by `open`.
    fn open_all<T>(
        &mut self,
        sources: &[T],
        open: impl Fn(&Self, &T) -> Result<Opened, OpenError>,
    ) -> Result<Vec<Opened>, OpenError> {
        let mut opened = Vec::with_capacity(sources.len());
        for source in sources {
            match open(self, source) {
                Ok(source) => opened.push(source),
                Err(error) if sources.len() == 1 || self.options.strict => return Err(error),
                Err(error) => self.skip(error),
            }
        }
        match self.skipped.pop() {
            Some(error) if opened.is_empty() => Err(error),
            error => {
                self.skipped.extend(error);
                Ok(opened)
            }
        }
    }

    fn skip(&mut self, error: OpenError) {
        log::error!("left out: {error}");
        self.skipped.push(error);
    }

    fn open(&self, name: &str, path: &Path) -> Result<Opened, OpenError> {
        let located = |cause| OpenError::new(path.to_string_lossy(), cause);
        // Absolute, because the daemon does not stay in the current directory.
        let path =
            std::path::absolute(path).map_err(|error| located(OpenCause::Unreadable(error)))?;
        let located = |cause| OpenError::new(path.to_string_lossy(), cause);
        let metadata =
            fs::metadata(&path).map_err(|error| located(OpenCause::Unreadable(error)))?;
        if metadata.is_dir() {
            self.open_folder(name, &path).map_err(located)
        } else {
            self.open_file(name, &path).map_err(located)
        }
    }

    fn open_folder(&self, name: &str, path: &Path) -> Result<Opened, OpenCause> {
        let path = fs::canonicalize(path).map_err(OpenCause::Unreadable)?;
        let mut builder = self.builder(&path, true)?;
        let folder = Folder::open(&path, self.disk, &mut builder).map_err(unreadable)?;
        builder.probe(&|file, size| volume::head(&folder, file, size));
        Ok(Opened {
            builder,
            volume: folder_volume(name, &path, folder),
            is_layered: false,
            path,
        })
    }

    fn open_file(&self, name: &str, path: &Path) -> Result<Opened, OpenCause> {
        let source = FileSource::open(path, &self.disk.pool).map_err(OpenCause::Unreadable)?;
        let candidate = Candidate {
            path: path.to_owned(),
            name: name.to_owned(),
            source: Arc::new(source),
        };
        match self.open_volume(&candidate, false) {
            Err(OpenCause::Volume(io::Error::UnknownFormat)) => self.open_asset(&candidate),
            opened => opened,
        }
    }

    /// A builder for the tree of a source.
    fn builder(&self, path: &Path, is_plain_folder: bool) -> Result<TreeBuilder, OpenCause> {
        let metadata = fs::metadata(path).map_err(OpenCause::Unreadable)?;
        let modified = metadata.modified().map_or(0, seconds);
        let companions = Vfs::companions(self.options, 0, is_plain_folder);
        Ok(TreeBuilder::new(0, modified, companions))
    }

    /// Opens a source that is a volume; with `layered`, no other than one
    /// that games lay over others.
    fn open_volume(&self, candidate: &Candidate, layered: bool) -> Result<Opened, OpenCause> {
        let partner = |name: &str| self.partner(candidate, name);
        let buffered = Arc::new(BlockBuffer::new(candidate.source.clone()));
        let (source, images) = image::unwrap(self.reader, buffered)?;
        let input = Input {
            source,
            partner: &partner,
            options: self.options.volume_options(&candidate.name),
        };
        let format = volume::detect(&input)?;
        if layered && !format.is_layered {
            return Err(io::Error::UnknownFormat.into());
        }
        let mut builder = self.builder(&candidate.path, format.is_plain_folder)?;
        let volume = (format.open)(input, &mut builder)?;
        builder.probe(&|file, size| volume::head(&*volume, file, size));
        Ok(Opened {
            builder,
            volume: NewVolume {
                name: candidate.name.clone(),
                location: candidate.path.to_string_lossy().into_owned(),
                format: format.name,
                is_plain_folder: format.is_plain_folder,
                nesting: 0,
                images,
                volume,
            },
            is_layered: format.is_layered,
            path: candidate.path.clone(),
        })
    }

    /// Another file beside a source, by its name in any ASCII case: of the
    /// file itself, or with the source's name among the sources for its own.
    fn partner(&self, candidate: &Candidate, name: &str) -> Option<Arc<dyn ReadAt>> {
        let extension = Path::new(name).extension().unwrap_or_default();
        let of_pair = file_name(&candidate.path.with_extension(extension));
        let directory = candidate.path.parent();
        let mut partners = self.partners.iter();
        let path = partners.find(|path| {
            path.parent() == directory && (has_name(path, name) || has_name(path, &of_pair))
        })?;
        match FileSource::open(path, &self.disk.pool) {
            Ok(source) => Some(Arc::new(source)),
            Err(error) => {
                log::warn!("{}: cannot be opened: {error}", path.display());
                None
            }
        }
    }

    /// Opens a lone asset: a folder in which nothing else is seen.
    fn open_asset(&self, candidate: &Candidate) -> Result<Opened, OpenCause> {
        let name = file_name(&candidate.path);
        let shows = lone_asset(&name, &*candidate.source)?;
        let mut builder = self.builder(&candidate.path, true)?;
        builder.show_others(shows.filter(|_| self.options.meta != Meta::Off));
        let folder = Folder::of_one_file(&candidate.path, self.disk, &mut builder);
        Ok(Opened {
            builder,
            volume: folder_volume(
                &candidate.name,
                &candidate.path,
                folder.map_err(unreadable)?,
            ),
            is_layered: false,
            path: candidate.path.clone(),
        })
    }

    /// The archives and loose files of a game's folder.
    fn game(&mut self, folder: &GameFolder, order: Option<Order>) -> Result<Layout, OpenError> {
        let located = |cause: OpenCause| OpenError::new(folder.path.to_string_lossy(), cause);
        let mut paths = folder.archives();
        if paths.is_empty() {
            return Err(located(io::Error::UnknownFormat.into()));
        }
        let mut sources = Vec::with_capacity(paths.len());
        let mut unreadable = Vec::new();
        for path in &paths {
            match FileSource::open(path, &self.disk.pool) {
                Ok(source) => sources.push((path.clone(), Arc::new(source))),
                Err(error) => unreadable.push((path.clone(), error)),
            }
        }
        let (order, why) = match order {
            Some(order) => (order, "as --order says"),
            None => {
                let options = volume::Options::default();
                let inputs = sources.iter();
                let inputs: Vec<_> = inputs
                    .map(|(_, source)| Input::alone(source.clone(), options.clone()))
                    .collect();
                Order::of(&inputs)
            }
        };
        let warnings = order.restrict(&mut paths);
        order.sort(&mut paths);
        for (path, error) in unreadable {
            if paths.contains(&path) {
                let error = OpenError::new(path.to_string_lossy(), OpenCause::Unreadable(error));
                if self.options.strict {
                    return Err(error);
                }
                self.skip(error);
            }
        }
        let names = unique_names(&paths);
        let named = names.into_iter().zip(paths);
        let candidates = named.filter_map(|(name, path)| {
            let found = sources.iter().find(|(known, _)| *known == path);
            let source = found?.1.clone();
            Some(Candidate { path, name, source })
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let opened = self.open_all(&candidates, |opener, candidate| {
            opener
                .open_volume(candidate, true)
                .map_err(|cause| OpenError::new(candidate.path.to_string_lossy(), cause))
        })?;
        let mut warnings = warnings;
        let loose = self.loose_files(folder, &opened, &mut warnings);
        let loose = Some(loose.map_err(located)?);
        Layout::merged(opened, order, why, loose, warnings, self.options)
    }

    /// Everything in the folder but the archives that are merged.
    fn loose_files(
        &self,
        folder: &GameFolder,
        merged: &[Opened],
        warnings: &mut Vec<String>,
    ) -> Result<Opened, OpenCause> {
        let mut builder = self.builder(&folder.path, true)?.without_companions();
        let archives = merged.iter();
        let archives: HashSet<&OsStr> = archives
            .filter_map(|archive| archive.path.file_name())
            .collect();
        let names = folder.names.iter();
        let names = names.filter(|name| !archives.contains(name.as_os_str()));
        let names = names.cloned().collect();
        let files = Folder::open_all(&folder.path, names, self.disk, &mut builder, warnings);
        Ok(Opened {
            builder,
            volume: folder_volume(
                &file_name(&folder.path),
                &folder.path,
                files.map_err(unreadable)?,
            ),
            is_layered: false,
            path: folder.path.clone(),
        })
    }
}

/// The file names of sources, in which no two are the same, letter case
/// aside: of several, the last one has the plain name, and the others are
/// numbered in their order.
fn unique_names(paths: &[PathBuf]) -> Vec<String> {
    let plain: Vec<String> = paths.iter().map(|path| file_name(path)).collect();
    let mut taken: HashSet<String> = plain.iter().map(|name| name.to_ascii_lowercase()).collect();
    let mut unique = Vec::with_capacity(plain.len());
    for (index, name) in plain.iter().enumerate() {
        let later = &plain[index + 1..];
        if later.iter().all(|other| !other.eq_ignore_ascii_case(name)) {
            unique.push(name.clone());
            continue;
        }
        let candidates = (1..).map(|number| numbered(name, number));
        let mut free = candidates.filter(|name| taken.insert(name.to_ascii_lowercase()));
        unique.extend(free.next());
    }
    unique
}

fn folder_volume(name: &str, path: &Path, folder: Folder) -> NewVolume {
    NewVolume {
        name: name.to_owned(),
        location: path.to_string_lossy().into_owned(),
        format: folder::FORMAT_NAME,
        is_plain_folder: true,
        nesting: 0,
        images: Images::default(),
        volume: Box::new(folder),
    }
}

/// A folder's own error as one about the source.
fn unreadable(error: io::Error) -> OpenCause {
    match error {
        io::Error::Listing(cause) => {
            OpenCause::Unreadable(std::io::Error::new(cause.kind(), cause.to_string()))
        }
        error => error.into(),
    }
}

/// What is to be shown of a file that is no archive: nothing more than its
/// extension says, or what its content turns out to be.
fn lone_asset(name: &str, source: &dyn ReadAt) -> Result<Option<Shows>, io::Error> {
    if companion::view_format(name, None).is_some() {
        return Ok(None);
    }
    if source.is_empty() || source.len() > MAX_ASSET {
        return Err(io::Error::UnknownFormat);
    }
    let bytes = io::read_vec(source, 0, source.len(), "file")?.into();
    let matches = |format: &ViewFormat| (format.matches)(&bytes);
    let format = VIEW_FORMATS.iter().position(matches);
    let format = format.ok_or(io::Error::UnknownFormat)?;
    Ok(Some(Shows::Meta(format as u8)))
}
