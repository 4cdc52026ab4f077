//! Opening of sources for a mount.

mod changed;
mod game;
mod identify;
pub(super) mod order;
mod partner;
pub(super) mod sources;
mod streamed;

use std::collections::HashSet;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use self::changed::Changed;
use self::order::{Order, file_name};
use self::partner::{Partners, Surroundings};
use self::sources::{GameFolder, Prepared};
use crate::content::Reader;
use crate::memory::budget::{Budget, Charge};
use crate::mount::assets;
use crate::mount::changes::Changed as ChangedSource;
use crate::mount::changes::List;
use crate::mount::error::{OpenCause, OpenError};
use crate::mount::tree::MountTree;
use crate::mount::tree::asset;
use crate::mount::tree::control::Images;
use crate::mount::tree::source_trees::{Above, OpenedSource, SourceTrees, seconds};
use crate::mount::tree::volume::{self, VolumeFile, probe};
use crate::mount::{Options, Sources, Vfs};
use crate::namespace::tree::TreeBuilder;
use crate::platform::canonical;
use crate::source::bucket::BucketFolder;
use crate::source::folder::{Disk, Folder};
use crate::source::remote::{Network, Remote, RemoteFile, RemoteFolder, RemoteOptions, RemoteUrl};
use crate::source::{FileSource, Location};
use hpimount_containers::changes::Original;
use hpimount_containers::format::Format;
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::text::{self, Name, numbered, stem};
use hpimount_containers::volume::{Sink, Volume};
use serde_json::json;

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
        Self::open_prepared(sources.prepare()?, options)
    }

    /// Like [`Vfs::open`], for sources that are already prepared.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::open`].
    pub fn open_prepared(prepared: Prepared, options: Options) -> Result<Arc<Self>, OpenError> {
        Self::open_within(&Budget::new(options.cache_size), prepared, options)
    }

    /// Like [`Vfs::open_prepared`], with a memory budget that others use as well.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::open`].
    pub(crate) fn open_within(
        budget: &Arc<Budget>,
        mut prepared: Prepared,
        options: Options,
    ) -> Result<Arc<Self>, OpenError> {
        let point = options.mount_point.as_deref();
        let disk = Disk::around(point, &prepared.paths()).map_err(|error| {
            let point = point.unwrap_or(Path::new("")).to_string_lossy();
            OpenError::new(point, OpenCause::Unreadable(error))
        })?;
        let mount = assets::new_tree(budget, options.clone());
        let remote = connect(&mount, &prepared)?;
        let changes = prepared.changes.take();
        let mut opener = Opener {
            remote: remote.as_ref(),
            disk: &Arc::new(disk),
            reader: &mount.reader,
            options: &options,
            partners: &prepared.partners,
            changed: Changed::Nothing,
            skipped: Vec::new(),
        };
        let sources = opener.source_trees(&prepared, changes);
        let skipped = opener.skipped;
        for error in &skipped {
            log::error!("skipped: {error}");
        }
        let sources = sources?;
        for warning in &sources.warnings {
            log::warn!("{warning}");
        }
        for volume in sources.volumes() {
            for warning in volume.warnings() {
                log::warn!("{}: {warning}", volume.name);
            }
        }
        let vfs = Self::with_sources(mount, sources, &skipped, remote);
        Ok(Arc::new(vfs))
    }
}

/// Starts the client for sources on servers, if there are any.
fn connect(mount: &MountTree, prepared: &Prepared) -> Result<Option<Arc<Remote>>, OpenError> {
    let Some(first) = prepared.sources.urls().next() else {
        return Ok(None);
    };
    let network = match &mount.options.network {
        Some(network) => network.clone(),
        None => {
            let (options, urls) = (RemoteOptions::default(), prepared.sources.urls());
            Network::start(&options, urls, |_, _| Ok(())).map_err(|problem| {
                let error = std::io::Error::other(problem);
                OpenError::new(first.shown(), OpenCause::Unreadable(error))
            })?
        }
    };
    Ok(Some(Remote::new(&network, mount.reader.budget())))
}

/// The state of opening sources.
struct Opener<'a> {
    remote: Option<&'a Arc<Remote>>,
    disk: &'a Arc<Disk>,
    reader: &'a Arc<Reader>,
    options: &'a Options,
    /// Additional files of sources that consist of several.
    partners: &'a [PathBuf],
    /// The sources that have changes.
    changed: Changed,
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
    /// Merges sources in an order, which was chosen because of `why`.
    fn merged(
        &self,
        sources: Vec<OpenedSource>,
        (order, why): (Order, &str),
        above: Above,
        mut warnings: Vec<String>,
    ) -> Result<SourceTrees, OpenError> {
        let paths: Vec<PathBuf> = sources.iter().map(|source| source.path.clone()).collect();
        warnings.extend(order.beyond_the_limit(&paths));
        // The archives of Grand Theft Auto are folders in all but name.
        let companions = self.options.companions_in(0, order == Order::Gta);
        let rule = (order.rule(sources.len()), companions);
        let description = json!({ "rule": order, "why": why });
        SourceTrees::merged(sources, above, rule, description, warnings)
    }

    fn open_all_sources(&mut self, prepared: &Prepared) -> Result<SourceTrees, OpenError> {
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
        let above = self.above(Vec::new(), &named[0].0)?;
        self.merged(opened, (order, why), above, Vec::new())
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
        let mut refused: Option<OpenError> = None;
        for outcome in sources
            .chunks(at_once)
            .flat_map(|sources| self.open_some(sources, &open))
            .collect::<Vec<_>>()
        {
            match outcome {
                Ok(source) => opened.push(source),
                Err(OpenError {
                    source_name,
                    cause: OpenCause::Refused(more),
                }) => match refused.as_mut().map(|error| &mut error.cause) {
                    Some(OpenCause::Refused(refusals)) => refusals.extend(more),
                    _ => refused = Some(OpenError::new(source_name, OpenCause::Refused(more))),
                },
                Err(error) if sources.len() == 1 || self.options.strict => return Err(error),
                Err(error) => self.skipped.push(error),
            }
        }
        if let Some(error) = refused {
            return Err(error);
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
        let modified = file.modified();
        let candidate = Candidate {
            path: url.label().to_owned(),
            name: name.to_owned(),
            location: url.shown().to_owned(),
            url: Some(url.clone()),
            modified: modified.unwrap_or_else(|| seconds(SystemTime::now())),
            source: Arc::new(file),
        };
        self.open_candidate(&candidate, false)
    }

    fn open_bucket(
        &self,
        remote: &Arc<Remote>,
        name: &str,
        url: &RemoteUrl,
    ) -> Result<OpenedSource, OpenCause> {
        let list = |sink: &mut dyn Sink| {
            let folder = RemoteFolder::open(remote, url).map_err(io::Error::listing)?;
            Ok(Box::new(BucketFolder::open(folder, sink)?) as Box<dyn Volume>)
        };
        let now = seconds(SystemTime::now());
        self.open_with_layer(name, &list, |list| {
            self.folder(name, url.shown(), url.label(), now, list)
        })
    }

    fn open_folder(&self, name: &str, path: &Path) -> Result<OpenedSource, OpenCause> {
        let path = canonical(path).map_err(OpenCause::Unreadable)?;
        let list = |sink: &mut dyn Sink| {
            Ok(Box::new(Folder::open(&path, self.disk, sink)?) as Box<dyn Volume>)
        };
        let (location, modified) = (path.to_string_lossy(), modified(&path)?);
        self.open_with_layer(name, &list, |list| {
            self.folder(name, &location, &path, modified, list)
        })
    }

    /// Returns a folder that is listed on demand, first by `list`.
    fn folder(
        &self,
        name: &str,
        location: &str,
        path: &Path,
        modified: i64,
        list: List<'_>,
    ) -> Result<OpenedSource, OpenCause> {
        let mut builder = self.builder(modified, true);
        let volume = list(&mut builder).map_err(unreadable)?;
        probe(&mut builder, &*volume, false);
        Ok(OpenedSource {
            builder,
            volume: volume::folder(name, location, volume),
            is_layered: false,
            images: Images::new(),
            applied: None,
            path: path.to_owned(),
        })
    }

    fn open_file(&self, name: &str, path: &Path) -> Result<OpenedSource, OpenCause> {
        let source = FileSource::open(path, &self.disk.pool).map_err(OpenCause::Unreadable)?;
        self.open_candidate(&Candidate::on_disk(path, name, Arc::new(source))?, false)
    }

    /// Creates a builder for the tree of a source with this modification time.
    fn builder(&self, modified: i64, is_plain_folder: bool) -> TreeBuilder {
        let companions = self.options.companions_in(0, is_plain_folder);
        TreeBuilder::new(0, modified, companions)
    }

    /// Opens a source as a volume or as an asset; with `layered`, only as a volume
    /// that can be merged.
    fn open_candidate(
        &self,
        candidate: &Candidate,
        layered: bool,
    ) -> Result<OpenedSource, OpenCause> {
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

    /// Opens a source together with its additional files.
    fn open_with(
        &self,
        candidate: &Candidate,
        partners: &Partners<'_>,
        layered: bool,
    ) -> Result<OpenedSource, OpenCause> {
        let changed = self.changed(candidate, partners)?;
        let source = changed.as_ref().map(|changed| changed.source.clone());
        let name = changed
            .as_ref()
            .map_or(&candidate.name, |changed| &changed.name);
        let file = VolumeFile {
            name,
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
        let opened = volume::open(file, self.reader, self.options, accepts, new_builder);
        let mut opened = match opened {
            Err(io::Error::UnknownFormat) if !layered => {
                return self.open_asset(candidate, changed);
            }
            opened => opened?,
        };
        opened.volume.name.clone_from(&candidate.name);
        if self.options.lists_converted(&*opened.volume.volume) {
            opened.builder.list_converted();
        }
        opened.volume.plan = self.charge_plan(changed.as_ref())?;
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

    /// Counts the memory of the changes of a source, if there are any.
    fn charge_plan(&self, changed: Option<&ChangedSource>) -> io::Result<Option<Charge>> {
        let budget = self.reader.budget();
        let charge =
            |changed: &ChangedSource| budget.charge("the plan of the changes", changed.memory);
        changed.map(charge).transpose()
    }

    /// Returns a source with the changes that are to be applied, if there are any.
    fn changed(
        &self,
        candidate: &Candidate,
        partners: &Partners<'_>,
    ) -> Result<Option<ChangedSource>, OpenCause> {
        let Some(changes) = self.take_changes(&candidate.name) else {
            return Ok(None);
        };
        let original = Original {
            source: candidate.source.clone(),
            name: &candidate.name,
            shown: &file_name(&candidate.path),
            partner: &|name| partners.find(name),
            is_changed: false,
        };
        let applied = changes.apply(&original, self.reader, self.options);
        applied.map(Some)
    }

    /// Opens a single asset.
    fn open_asset(
        &self,
        candidate: &Candidate,
        changed: Option<ChangedSource>,
    ) -> Result<OpenedSource, OpenCause> {
        let name = file_name(&candidate.path);
        let source = changed.as_ref().map(|changed| &changed.source);
        let source = source.unwrap_or(&candidate.source).clone();
        let mut builder = self.builder(candidate.modified, true);
        asset::prepare(&mut builder, &name, &*source, self.options)?;
        let volume: Box<dyn Volume> = match (&candidate.url, &changed) {
            (None, None) => {
                let folder = Folder::of_one_file(&candidate.path, self.disk, &mut builder);
                Box::new(folder.map_err(unreadable)?)
            }
            _ => Box::new(asset::declare(&mut builder, &name, source)?),
        };
        let mut volume = volume::folder(&candidate.name, &candidate.location, volume);
        volume.plan = self.charge_plan(changed.as_ref())?;
        Ok(OpenedSource {
            builder,
            volume,
            is_layered: false,
            images: Images::new(),
            applied: changed.map(|changed| changed.report),
            path: candidate.path.clone(),
        })
    }
}

/// Returns the file names of sources, made unique ignoring case: of equal
/// names, the last one stays as it is, and the others are numbered in order.
fn unique_names<P: AsRef<Path>>(paths: &[P]) -> Vec<String> {
    let shown = |path: &P| {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or(path.as_os_str());
        text::file_name(Name::host(name)).into_owned()
    };
    let plain: Vec<String> = paths.iter().map(shown).collect();
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

/// Returns the files that the source called `name` is, which is opened as `volume`:
/// the plain files of a disc, or a source with its changes.
fn images(name: &str, changed: Option<&ChangedSource>, volume: &dyn Volume) -> Images {
    let mut images = volume.plain_files(stem(name));
    if let Some(changed) = changed.filter(|_| images.is_empty()) {
        images.push((name.to_owned(), changed.source.clone()));
        images.extend(changed.partners.clone());
    }
    images
}
