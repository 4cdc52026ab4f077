//! Opening of sources for a mount.

mod game;
mod streamed;

use std::collections::HashSet;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use super::applied::AppliedPaths;
use super::changes::{Changed, Changes};
use super::control::Images;
use super::error::{OpenCause, OpenError};
use super::order::{Order, file_name};
use super::partner::{Partners, Surroundings};
use super::source_trees::{OpenedSource, SourceTrees, images, seconds};
use super::sources::{GameFolder, Prepared};
use super::volume::{self, NewVolume, OpenedFile, VolumeFile, probe};
use super::{Ino, Options, Sources, Vfs, beside};
use crate::content::{MAX_ASSET, Reader};
use crate::memory::budget::Budget;
use crate::namespace::companion::{self, Meta, Shows};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::TreeBuilder;
use crate::source::bucket::{BucketFolder, LoneObject};
use crate::source::folder::{Disk, Folder};
use crate::source::remote::{Network, Remote, RemoteFile, RemoteFolder, RemoteOptions, RemoteUrl};
use crate::source::{FileSource, Location};
use hpimount_assets::formats::VIEW_FORMATS;
use hpimount_assets::view::ViewFormat;
use hpimount_containers::changes::Original;
use hpimount_containers::format::Format;
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::text::numbered;
use hpimount_containers::volume::Volume;

/// Maximum number of sources that are opened concurrently if some are on
/// servers.
const MAX_AT_ONCE: usize = 16;

impl Vfs {
    /// Opens the sources and lays out their trees.
    ///
    /// # Errors
    /// Returns an error with the first source that cannot be mounted. Of
    /// several sources, those that can be opened are mounted, unless
    /// `options.strict` is set; the others are named in the log and in
    /// `info.json`.
    pub fn open(sources: &Sources, options: Options) -> Result<Arc<Self>, OpenError> {
        Self::open_prepared(&sources.prepare()?, options)
    }

    /// Like [`Vfs::open`], for sources that are already prepared.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::open`].
    pub fn open_prepared(prepared: &Prepared, options: Options) -> Result<Arc<Self>, OpenError> {
        let point = options.mount_point.as_deref();
        let disk = Disk::around(point, &prepared.paths()).map_err(|error| {
            let point = point.unwrap_or(Path::new("")).to_string_lossy();
            OpenError::new(point, OpenCause::Unreadable(error))
        })?;
        let vfs = Self::empty(options.clone());
        let remote = vfs.connect(prepared)?;
        let mut opener = Opener {
            remote: remote.as_ref(),
            disk: &Arc::new(disk),
            reader: &vfs.reader,
            options: &options,
            partners: &prepared.partners,
            changes: prepared.changes.as_ref(),
            skipped: Vec::new(),
        };
        let sources = opener.source_trees(prepared)?;
        for volume in sources.volumes() {
            for warning in volume.warnings() {
                log::warn!("{}: {warning}", volume.name);
            }
        }
        let applied = sources.applied.as_ref().map(AppliedPaths::of);
        let control = sources.graft(&vfs.grafts, &opener.skipped, &options);
        Ok(Arc::new(Self {
            control,
            applied: applied.unwrap_or_default(),
            ..vfs
        }))
    }

    /// Opens an archive that changes are applied to, within a memory budget that
    /// others use as well.
    ///
    /// # Errors
    /// Returns an error if it is no archive, or its directory cannot be read.
    pub(super) fn of_original(
        original: &Original<'_>,
        options: Options,
        budget: &Arc<Budget>,
    ) -> io::Result<Arc<Self>> {
        let vfs = Self::within(budget, options);
        let open = |name: &str, source: Arc<dyn ReadAt>| {
            let file = VolumeFile {
                name,
                location: name,
                nesting: 0,
                source,
                partner: original.partner,
            };
            let new_builder = |companions| TreeBuilder::new(0, 0, companions);
            volume::open(file, &vfs.reader, &vfs.options, |_| true, new_builder)
        };
        let opened = open(original.name, original.source.clone())?;
        let sources = SourceTrees::single(OpenedSource {
            builder: opened.builder,
            volume: opened.volume,
            is_layered: opened.format.is_layered,
            images: Images::new(),
            applied: None,
            path: PathBuf::from(original.name),
        });
        let control = sources.graft(&vfs.grafts, &[], &vfs.options);
        // References of its assets are resolved in these; they are in no directory.
        for (number, name) in (0..).zip(beside::likely(original.name)) {
            let beside = (original.partner)(&name).and_then(|source| open(&name, source).ok());
            if let Some(OpenedFile {
                builder, volume, ..
            }) = beside
            {
                let origin = Origin::Hidden(Ino(number), Shows::Inside);
                vfs.grafts.add(origin, builder.finish(), vec![volume]);
            }
        }
        Ok(Arc::new(Self { control, ..vfs }))
    }

    /// Starts the client for sources on servers, if there are any.
    fn connect(&self, prepared: &Prepared) -> Result<Option<Arc<Remote>>, OpenError> {
        let Some(first) = prepared.sources.urls().next() else {
            return Ok(None);
        };
        let network = match &self.options.network {
            Some(network) => network.clone(),
            None => {
                let (options, urls) = (RemoteOptions::default(), prepared.sources.urls());
                Network::start(&options, urls, |_| Ok(())).map_err(|problem| {
                    let error = std::io::Error::other(problem);
                    OpenError::new(first.shown(), OpenCause::Unreadable(error))
                })?
            }
        };
        let remote = Remote::new(&network, self.reader.budget());
        Ok(Some(self.remote.get_or_init(|| remote).clone()))
    }
}

/// The state of opening sources.
struct Opener<'a> {
    remote: Option<&'a Arc<Remote>>,
    disk: &'a Arc<Disk>,
    reader: &'a Arc<Reader>,
    options: &'a Options,
    /// Additional files of sources that consist of several.
    partners: &'a [PathBuf],
    /// Changes to the only source.
    changes: Option<&'a Changes>,
    /// Sources that could not be opened.
    skipped: Vec<OpenError>,
}

/// A file that will be opened as a volume.
struct Candidate {
    /// Its path on disk, or the displayed form of its URL.
    path: PathBuf,
    /// Its name among the sources: the file name, numbered if another source
    /// has the same one.
    name: String,
    /// Its location, as users refer to it.
    location: String,
    /// Its URL, if it is on a server.
    url: Option<RemoteUrl>,
    /// Its modification time, in seconds since 1970 UTC.
    modified: i64,
    source: Arc<dyn ReadAt>,
}

impl Candidate {
    fn on_disk(path: &Path, name: &str, source: Arc<FileSource>) -> Result<Self, OpenCause> {
        Ok(Self {
            path: path.to_owned(),
            name: name.to_owned(),
            location: path.to_string_lossy().into_owned(),
            url: None,
            modified: modified(path)?,
            source,
        })
    }
}

impl Opener<'_> {
    fn source_trees(&mut self, prepared: &Prepared) -> Result<SourceTrees, OpenError> {
        match &prepared.sources {
            Sources::Game { order, .. } => match &prepared.game {
                Some(GameFolder {
                    listed: Some(archives),
                    folder,
                    mods,
                }) => self.listed_game(archives, folder, mods),
                Some(game) => self.game(game, *order),
                None => Err(OpenError::new("", io::Error::UnknownFormat)),
            },
            Sources::Given {
                locations,
                order,
                separate,
            } => self.given(locations, *order, *separate),
        }
    }

    fn given(
        &mut self,
        locations: &[Location],
        order: Option<Order>,
        separate: bool,
    ) -> Result<SourceTrees, OpenError> {
        let mut locations = locations.to_vec();
        let order = order.unwrap_or(Order::Cli);
        if !separate {
            order.sort(&mut locations);
        }
        let named: Vec<(String, Location)> = unique_names(&locations)
            .into_iter()
            .zip(locations)
            .collect();
        let mut opened = self.open_all(&named, |opener, (name, location)| match location {
            Location::Path(path) => opener.open(name, path),
            Location::Remote(url) => opener.open_remote(name, url),
        })?;
        if named.len() == 1
            && let Some(only) = opened.pop()
        {
            return Ok(SourceTrees::single(only));
        }
        if separate || !opened.iter().all(|opened| opened.is_layered) {
            return SourceTrees::side_by_side(opened, self.options);
        }
        let why = match order {
            Order::Cli => "as given, the last one on top",
            _ => "set by --order",
        };
        SourceTrees::merged(opened, order, why, Vec::new(), Vec::new(), self.options)
    }

    /// Opens one or several sources with `open`. Of several, those that cannot
    /// be opened are skipped, unless the options are strict.
    fn open_all<T: Sync>(
        &mut self,
        sources: &[T],
        open: impl Fn(&Self, &T) -> Result<OpenedSource, OpenError> + Sync,
    ) -> Result<Vec<OpenedSource>, OpenError> {
        // Servers have latency, and each source takes several round trips.
        let at_once = self.remote.map_or(1, |_| MAX_AT_ONCE);
        let mut opened = Vec::with_capacity(sources.len());
        for outcome in sources
            .chunks(at_once)
            .flat_map(|sources| self.open_some(sources, &open))
            .collect::<Vec<_>>()
        {
            match outcome {
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

    /// Opens one source, or several concurrently.
    fn open_some<T: Sync>(
        &self,
        sources: &[T],
        open: &(impl Fn(&Self, &T) -> Result<OpenedSource, OpenError> + Sync),
    ) -> Vec<Result<OpenedSource, OpenError>> {
        if let [source] = sources {
            return vec![open(self, source)];
        }
        thread::scope(|scope| {
            let started = sources
                .iter()
                .map(|source| scope.spawn(move || open(self, source)));
            let started: Vec<_> = started.collect();
            let ended = started.into_iter().map(|opening| opening.join());
            ended
                .map(|opened| opened.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        })
    }

    fn skip(&mut self, error: OpenError) {
        log::error!("skipped: {error}");
        self.skipped.push(error);
    }

    fn open(&self, name: &str, path: &Path) -> Result<OpenedSource, OpenError> {
        let located = |cause| OpenError::new(path.to_string_lossy(), cause);
        // Absolute, because the daemon changes its working directory.
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

    fn open_remote(&self, name: &str, url: &RemoteUrl) -> Result<OpenedSource, OpenError> {
        let located = |cause| OpenError::new(url.shown(), cause);
        let remote = self.remote.ok_or(io::Error::UnknownFormat);
        let remote = remote.map_err(|error| located(error.into()))?;
        let opened = match url.is_folder() {
            true => self.open_bucket(remote, name, url),
            false => self.open_object(remote, name, url),
        };
        opened.map_err(located)
    }

    fn open_object(
        &self,
        remote: &Arc<Remote>,
        name: &str,
        url: &RemoteUrl,
    ) -> Result<OpenedSource, OpenCause> {
        let file = RemoteFile::open(remote, url).map_err(OpenCause::Unreadable)?;
        self.open_candidate(&Candidate {
            path: url.label().to_owned(),
            name: name.to_owned(),
            location: url.shown().to_owned(),
            url: Some(url.clone()),
            modified: file
                .modified()
                .unwrap_or_else(|| seconds(SystemTime::now())),
            source: Arc::new(file),
        })
    }

    fn open_bucket(
        &self,
        remote: &Arc<Remote>,
        name: &str,
        url: &RemoteUrl,
    ) -> Result<OpenedSource, OpenCause> {
        let folder = RemoteFolder::open(remote, url).map_err(OpenCause::Unreadable)?;
        let mut builder = self.builder(seconds(SystemTime::now()), true);
        let volume = BucketFolder::open(folder, &mut builder).map_err(unreadable)?;
        probe(&mut builder, &volume, false);
        Ok(OpenedSource {
            builder,
            volume: NewVolume::folder(name, url.shown(), Box::new(volume)),
            is_layered: false,
            images: Images::new(),
            applied: None,
            path: url.label().to_owned(),
        })
    }

    fn open_folder(&self, name: &str, path: &Path) -> Result<OpenedSource, OpenCause> {
        let path = fs::canonicalize(path).map_err(OpenCause::Unreadable)?;
        let mut builder = self.builder(modified(&path)?, true);
        let folder = Folder::open(&path, self.disk, &mut builder).map_err(unreadable)?;
        probe(&mut builder, &folder, false);
        Ok(OpenedSource {
            builder,
            volume: NewVolume::folder(name, &path.to_string_lossy(), Box::new(folder)),
            is_layered: false,
            images: Images::new(),
            applied: None,
            path,
        })
    }

    fn open_file(&self, name: &str, path: &Path) -> Result<OpenedSource, OpenCause> {
        let source = FileSource::open(path, &self.disk.pool).map_err(OpenCause::Unreadable)?;
        self.open_candidate(&Candidate::on_disk(path, name, Arc::new(source))?)
    }

    fn open_candidate(&self, candidate: &Candidate) -> Result<OpenedSource, OpenCause> {
        match self.open_volume(candidate, false) {
            Err(OpenCause::Volume(io::Error::UnknownFormat)) => self.open_asset(candidate),
            opened => opened,
        }
    }

    /// Creates a builder for the tree of a source with this modification time.
    fn builder(&self, modified: i64, is_plain_folder: bool) -> TreeBuilder {
        let companions = self.options.companions_in(0, is_plain_folder);
        TreeBuilder::new(0, modified, companions)
    }

    /// Opens a source as a volume; with `layered`, only if it can be merged.
    fn open_volume(&self, candidate: &Candidate, layered: bool) -> Result<OpenedSource, OpenCause> {
        let surroundings = match (self.remote, &candidate.url) {
            (Some(remote), Some(url)) => Surroundings::Server { remote, url },
            _ => Surroundings::Disk {
                files: self.partners,
                pool: &self.disk.pool,
            },
        };
        let partners = Partners::of(&candidate.path, &candidate.name, surroundings);
        let opened = self.open_with(candidate, &partners, layered);
        opened.map_err(|cause| partners.explain(cause))
    }

    /// Opens a source as a volume, together with its additional files.
    fn open_with(
        &self,
        candidate: &Candidate,
        partners: &Partners<'_>,
        layered: bool,
    ) -> Result<OpenedSource, OpenCause> {
        let changed = self.changed(candidate, partners)?;
        let source = changed.as_ref().map(|changed| changed.source.clone());
        let file = VolumeFile {
            name: &candidate.name,
            location: &candidate.location,
            nesting: 0,
            source: source.unwrap_or_else(|| candidate.source.clone()),
            partner: &|name| {
                let changed = changed.as_ref().and_then(|changed| changed.partner(name));
                changed.or_else(|| partners.find(name))
            },
        };
        let accepts = match layered {
            true => |format: &Format| format.is_layered,
            false => |_: &Format| true,
        };
        let new_builder = |companions| TreeBuilder::new(0, candidate.modified, companions);
        let mut opened = volume::open(file, self.reader, self.options, accepts, new_builder)?;
        if self.options.lists_converted(&*opened.volume.volume) {
            opened.builder.list_converted();
        }
        if let Some(changed) = &changed {
            let plan = self.reader.budget();
            let plan = plan.charge("the plan of the changes", changed.memory)?;
            opened.volume.plan = Some(plan);
        }
        let volume = &*opened.volume.volume;
        Ok(OpenedSource {
            images: images(&file_name(&candidate.path), changed.as_ref(), volume),
            builder: opened.builder,
            volume: opened.volume,
            is_layered: opened.format.is_layered,
            applied: changed.map(|changed| changed.report),
            path: candidate.path.clone(),
        })
    }

    /// Returns a source with the changes that are to be applied, if there are any.
    fn changed(
        &self,
        candidate: &Candidate,
        partners: &Partners<'_>,
    ) -> Result<Option<Changed>, OpenCause> {
        let Some(changes) = self.changes else {
            return Ok(None);
        };
        let original = Original {
            source: candidate.source.clone(),
            name: &candidate.name,
            partner: &|name| partners.find(name),
        };
        let applied = changes.apply(&original, self.reader, self.options);
        applied.map(Some)
    }

    /// Opens a single asset: a folder that shows nothing else.
    fn open_asset(&self, candidate: &Candidate) -> Result<OpenedSource, OpenCause> {
        let name = file_name(&candidate.path);
        let shows = lone_asset(&name, &*candidate.source)?;
        let mut builder = self.builder(candidate.modified, true);
        builder.show_others(shows.filter(|_| self.options.meta != Meta::Off));
        let volume: Box<dyn Volume> = match candidate.url {
            None => {
                let folder = Folder::of_one_file(&candidate.path, self.disk, &mut builder);
                Box::new(folder.map_err(unreadable)?)
            }
            Some(_) => {
                let source = candidate.source.clone();
                Box::new(LoneObject::open(source, &name, &mut builder)?)
            }
        };
        Ok(OpenedSource {
            builder,
            volume: NewVolume::folder(&candidate.name, &candidate.location, volume),
            is_layered: false,
            images: Images::new(),
            applied: None,
            path: candidate.path.clone(),
        })
    }
}

/// Returns the file names of sources, made unique ignoring case: of equal
/// names, the last one stays as it is, and the others are numbered in order.
fn unique_names<P: AsRef<Path>>(paths: &[P]) -> Vec<String> {
    let plain: Vec<String> = paths.iter().map(|path| file_name(path.as_ref())).collect();
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

/// Returns the modification time of the file or directory at `path`.
fn modified(path: &Path) -> Result<i64, OpenCause> {
    let metadata = fs::metadata(path).map_err(OpenCause::Unreadable)?;
    Ok(metadata.modified().map_or(0, seconds))
}

/// Converts a folder's own error to one about the source.
fn unreadable(error: io::Error) -> OpenCause {
    match error {
        io::Error::Listing(cause) => {
            OpenCause::Unreadable(std::io::Error::new(cause.kind(), cause.to_string()))
        }
        error => error.into(),
    }
}

/// Returns how a file that is not an archive is shown, by its extension or its
/// content.
fn lone_asset(name: &str, source: &dyn ReadAt) -> Result<Option<Shows>, io::Error> {
    if companion::view_format(name, None).is_some() {
        return Ok(None);
    }
    if source.is_empty() || source.len() > MAX_ASSET {
        return Err(io::Error::UnknownFormat);
    }
    let bytes = io::read_vec(source, 0, source.len(), "file")?.into();
    let matches = |format: &ViewFormat| format.matches(&bytes);
    let format = VIEW_FORMATS.iter().position(matches);
    let format = format.ok_or(io::Error::UnknownFormat)?;
    Ok(Some(Shows::Meta(format as u8)))
}
