//! Archives and discs with the changes of a folder.
//!
//! [`apply`] matches a [`Folder`] against the entries of an original and returns
//! the changed archive as a [`Composed`] source: ranges of the original, files of
//! the folder, and new tables in memory. Nothing is copied, and the result is
//! read like any other source: mounting it and writing it to a file give the
//! same bytes.
//!
//! Changes inside an archive `X` are in the directory `X.d` of the folder; they
//! are applied first, and their result is the new content of `X`. Edited files
//! in `converted` become assets again, by a [`Convert`] of the caller.
//!
//! [`apply_to_files`] does the same for files that are not in one archive, such as the
//! files of a folder, and returns what becomes of each.
//!
//! Whatever cannot be applied is a refusal in the [`Report`]: all of them are
//! collected, and with a single one there is no result.

use std::sync::Arc;

use crate::changes::converted::{ConvertEdited, enter_archives, replace_assets};
use crate::changes::matching::{Inside, add_folder, match_folder};
use crate::changes::member::{is_stored, member};
use crate::changes::{
    Changeable, Composed, Convert, Fate, Folder, Job, Kind, NewFile, NotConverted, Original,
    Report, Tree, Weight, Written,
};
use crate::formats;
use crate::image::{self, CdTrack};
use crate::input::{Input, Options};
use crate::io::{Error, ReadAt, Result};
use crate::volume::{Entry, FileId, Name, NodeId, Sink, Sources, Volume};

/// Maximum number of archives in archives that are changed.
const MAX_NESTING: usize = 8;

/// Removes the block images around a source, and returns what is inside with the
/// tracks of a CD.
pub type Unwrap<'a> = &'a dyn Fn(Arc<dyn ReadAt>) -> Result<(Arc<dyn ReadAt>, Vec<CdTrack>)>;

/// Operations that the caller provides for applying changes.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    /// Removes block images.
    pub unwrap: Unwrap<'a>,
    /// Turns edited files of converted trees into assets.
    pub convert: &'a dyn Convert,
}

impl Tools<'_> {
    /// Keeps the last block of a block image, and makes no assets of edited files.
    pub const PLAIN: Self = Tools {
        unwrap: &image::unwrap,
        convert: &NotConverted,
    };
}

/// Returns an archive, a disc or an asset with the changes of a folder; `None` if
/// anything is refused, which is then in the report. `prefix` is the path of the
/// original's entries in the mount: empty, or with a slash at the end.
pub fn apply(
    original: &Original<'_>,
    folder: Folder,
    prefix: &str,
    tools: Tools<'_>,
    report: &mut Report,
) -> Option<Written> {
    let mut level = Level {
        tools,
        depth: 0,
        is_changed: original.is_changed,
    };
    let written = level.apply(original, folder, prefix, report)?;
    report.refusals.is_empty().then_some(written)
}

/// Files that are not in one archive: the files of a folder, or of merged archives.
pub struct Files<'a> {
    /// The entries of all directories that the changes have.
    pub tree: Tree,
    /// The bytes of the files.
    pub volume: Arc<dyn Volume>,
    /// Turns edited files of their converted tree into assets.
    pub convert: ConvertEdited<'a>,
}

/// Returns what becomes of files with the changes of a folder; `None` if anything
/// is refused, which is then in the report. `prefix` is as in [`apply`].
pub fn apply_to_files(
    files: Files<'_>,
    folder: Folder,
    prefix: &str,
    tools: Tools<'_>,
    report: &mut Report,
) -> Option<Tree> {
    let tree = match_files(files, folder, prefix, tools, report);
    report.refusals.is_empty().then_some(tree)
}

/// Returns what becomes of files, as far as it is not refused.
fn match_files(
    files: Files<'_>,
    folder: Folder,
    prefix: &str,
    tools: Tools<'_>,
    report: &mut Report,
) -> Tree {
    let mut tree = files.tree;
    tree.complete();
    let mut level = Level {
        tools,
        depth: 0,
        is_changed: false,
    };
    let mut job = Job {
        tree,
        volume: files.volume,
        report,
        prefix,
    };
    let matched = level.match_changes(folder, files.convert, &mut job);
    let tree = job.tree;
    if let Err(error) = matched {
        report.refuse(prefix.trim_end_matches('/'), error.to_string());
    }
    tree
}

/// Archives in archives.
struct Level<'a> {
    tools: Tools<'a>,
    /// Number of archives around the current one.
    depth: usize,
    /// True if changes have made the current one.
    is_changed: bool,
}

impl Level<'_> {
    /// Applies the changes in `folder`, whose path is `prefix`. Errors become
    /// refusals.
    fn apply(
        &mut self,
        original: &Original<'_>,
        folder: Folder,
        prefix: &str,
        report: &mut Report,
    ) -> Option<Written> {
        let applied = match self.depth {
            depth if depth > MAX_NESTING => Err(Error::Unsupported(format!(
                "is in more than {MAX_NESTING} archives"
            ))),
            _ => self.try_apply(original, folder, prefix, report),
        };
        let refused = |error: Error| {
            let path = match prefix.trim_end_matches('/') {
                "" => original.name,
                path => path,
            };
            report.refuse(path, error.to_string());
        };
        applied.map_err(refused).ok()
    }

    fn try_apply(
        &mut self,
        original: &Original<'_>,
        folder: Folder,
        prefix: &str,
        report: &mut Report,
    ) -> Result<Written> {
        let (source, tracks) = (self.tools.unwrap)(original.source.clone())?;
        let input = || Input {
            source: source.clone(),
            partner: original.partner,
            tracks: &tracks,
            options: Options {
                name: original.name.to_owned(),
                to_change: true,
                ..Options::default()
            },
        };
        let format = match formats::detect(&input()) {
            Err(Error::UnknownFormat)
                if self.depth == 0 && self.tools.convert.is_asset(original)? =>
            {
                return self.try_apply_to_asset(original, folder, prefix, report);
            }
            detected => detected?,
        };
        let mut tree = Tree::default();
        let change = match format.change {
            Some(change) if tracks.is_empty() => change,
            _ => {
                let volume = (format.open)(input(), &mut tree)?;
                if !tracks.is_empty() {
                    return self.try_apply_to_cd(original, &*volume, folder, prefix, report);
                }
                let text = match volume.images().is_empty() {
                    true => format!(
                        "{} archives cannot be changed: unpack it and pack it again",
                        format.name
                    ),
                    false => format!("{} discs cannot be written", format.name),
                };
                return Err(Error::Unsupported(text));
            }
        };
        let Changeable { volume, write } = change(input(), &mut tree)?;
        tree.complete();
        let mut job = Job {
            tree,
            volume,
            report,
            prefix,
        };
        let tools = self.tools;
        let convert = |edited, report: &mut Report| tools.convert.convert(original, edited, report);
        self.match_changes(folder, &convert, &mut job)?;
        if !job.tree.is_changed() && format.pair.is_none() && format.sheet.is_none() {
            return Ok(Written::alone(Composed::whole(&source)));
        }
        write(&mut job)
    }

    /// Sets what becomes of the entries of an archive: by the files of the folder,
    /// by changes inside of archives, and by edited files of its converted tree.
    fn match_changes(
        &mut self,
        folder: Folder,
        convert: ConvertEdited<'_>,
        job: &mut Job<'_>,
    ) -> Result<()> {
        let mut matched = match_folder(folder, formats::is_archive, job)?;
        enter_archives(&mut matched, job);
        for changes in matched.inside {
            self.inside(changes, job)?;
        }
        match matched.edited.is_empty() {
            true => Ok(()),
            false => replace_assets(convert(matched.edited, job.report)?, job),
        }
    }

    /// Returns whether a file is no archive. If it is new, `X.d` beside it is a directory of
    /// its own.
    fn is_unknown(&self, original: &Original<'_>) -> bool {
        let Ok((source, tracks)) = (self.tools.unwrap)(original.source.clone()) else {
            return false;
        };
        let detected = formats::detect(&Input {
            source,
            partner: original.partner,
            tracks: &tracks,
            options: Options {
                name: original.name.to_owned(),
                ..Options::default()
            },
        });
        matches!(detected, Err(Error::UnknownFormat))
    }

    /// Applies changes to a file that is an asset, and no archive.
    fn try_apply_to_asset(
        &mut self,
        original: &Original<'_>,
        folder: Folder,
        prefix: &str,
        report: &mut Report,
    ) -> Result<Written> {
        let asset = Entry {
            file: FileId(0),
            size: Some(original.source.len()),
            modified: None,
            asset: None,
        };
        let mut tree = Tree::default();
        let root = tree.root();
        let asset = tree.file(root, Name::utf_8(original.shown), asset)?;
        let tools = self.tools;
        let files = Files {
            tree,
            volume: Arc::new(Sources(vec![original.source.clone()])),
            convert: &|edited, report| tools.convert.convert(original, edited, report),
        };
        let tree = match_files(files, folder, prefix, tools, report);
        let others = tree.nodes().skip(1).filter(|&(node, _)| node != asset);
        for (node, _) in others {
            let path = format!("{prefix}{}", tree.path(node));
            let reason = format!("cannot be added: the source is the file {}", original.shown);
            report.refuse(path, reason);
        }
        if tree.is_deleted(asset) {
            report.refuse(original.shown, "is the source, and cannot be deleted");
        }
        Ok(Written::alone(match tree.new_at(asset) {
            Some(new) => new.composed(),
            None => Composed::whole(&original.source),
        }))
    }

    /// Applies changes to a CD in a block image: to its description and the files of its
    /// tracks.
    fn try_apply_to_cd(
        &mut self,
        original: &Original<'_>,
        disc: &dyn Volume,
        folder: Folder,
        prefix: &str,
        report: &mut Report,
    ) -> Result<Written> {
        let stem = original
            .name
            .rsplit_once('.')
            .map_or(original.name, |(stem, _)| stem);
        let files = disc.plain_files(stem);
        let [(name, sheet), tracks @ ..] = &files[..] else {
            let text = "has tracks that cannot be written as raw sectors";
            return Err(Error::Unsupported(text.to_owned()));
        };
        if self.depth > 0 {
            let text = "is a CD in a block image, whose tracks would be other files";
            return Err(Error::Unsupported(text.to_owned()));
        }
        let plain = Original {
            source: sheet.clone(),
            name,
            shown: name,
            partner: &|wanted| {
                let mut tracks = tracks.iter();
                let found = tracks.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
                found.map(|(_, sectors)| sectors.clone())
            },
            is_changed: self.is_changed,
        };
        self.try_apply(&plain, folder, prefix, report)
    }

    /// Applies the changes inside a file, whose result is its new content.
    fn inside(&mut self, changes: Inside, job: &mut Job<'_>) -> Result<()> {
        let Inside { node, folder, path } = changes;
        let (tree, volume) = (&mut job.tree, &job.volume);
        let source = match content(tree, volume, node) {
            Ok(source) => source,
            Err(error) if error.is_fault() => return Err(error),
            Err(error) => {
                job.report.refuse(path, error.to_string());
                return Ok(());
            }
        };
        if let (None, Kind::File(Some(entry))) = (tree.new_at(node), tree.node(node).kind)
            && !is_stored(volume, entry)?
        {
            job.report.inside += source.len() as usize;
        }
        if tree.new_at(node).is_some() {
            let text = "is changed inside as well: these changes are applied on top";
            let shown = path.trim_end_matches(".d");
            job.report.note(Weight::Warning, shown, text);
        }
        let name = tree.node(node).name.to_owned();
        let parent = tree.parent(node);
        let partners = formats::changed_pairs().filter_map(|pair| pair.directory_of(&name));
        let partners = partners.filter_map(|name| tree.find(parent, &name).ok()?);
        let mut files = std::iter::once(node).chain(partners);
        let has_new = files.any(|file| tree.new_at(tree.resolve(file)).is_some());
        let original = Original {
            source,
            name: &name,
            shown: &name,
            partner: &|wanted| {
                let sibling = tree.find(parent, wanted).ok()??;
                content(tree, volume, tree.resolve(sibling)).ok()
            },
            is_changed: self.is_changed || has_new,
        };
        let is_added = tree.node(node).is_added;
        if is_added && !formats::is_archive(&name) && self.is_unknown(&original) {
            let matched = add_folder(folder, parent, path, formats::is_archive, job)?;
            return matched
                .inside
                .into_iter()
                .try_for_each(|changes| self.inside(changes, job));
        }
        if folder.entries.is_empty() && !folder.is_opaque {
            return Ok(());
        }
        let around = std::mem::replace(&mut self.is_changed, original.is_changed);
        self.depth += 1;
        let written = self.apply(&original, folder, &format!("{path}/"), job.report);
        self.depth -= 1;
        self.is_changed = around;
        let Some(written) = written else {
            return Ok(());
        };
        let mut file = |spliced: Composed| {
            job.report.inside += spliced.memory();
            NewFile::new(path.as_str(), Arc::new(spliced))
        };
        if let Some(directory) = written.directory {
            let names = formats::changed_pairs().filter_map(|pair| pair.directory_of(&name));
            let partner = names
                .filter_map(|name| tree.find(parent, &name).ok()?)
                .next();
            let partner = partner.ok_or(Error::UnknownFormat)?;
            tree.set(tree.resolve(partner), Fate::New(file(directory)));
        }
        for (name, spliced) in written.files {
            let sibling = tree.find(parent, &name).ok().flatten();
            let sibling = sibling.ok_or(Error::UnknownFormat)?;
            tree.set(tree.resolve(sibling), Fate::New(file(spliced)));
        }
        tree.set(node, Fate::New(file(written.data)));
        Ok(())
    }
}

/// Returns the content of a file, which may be new.
fn content(tree: &Tree, volume: &Arc<dyn Volume>, node: NodeId) -> Result<Arc<dyn ReadAt>> {
    match (tree.new_at(node), tree.node(node).kind) {
        (Some(new), _) => Ok(Arc::new(new.clone())),
        (None, Kind::File(Some(entry))) => member(volume, entry),
        _ => Err(Error::UnknownFormat),
    }
}
