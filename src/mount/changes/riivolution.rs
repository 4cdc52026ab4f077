//! Riivolution's mods and Dolphin's game mod descriptors as folders of changes.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::content::{Reader, unwrap};
use crate::mount::OpenCause;
use crate::platform::canonical;
use crate::source::{ChangesFolder, DiskNames, FilePool};
use hpimount_containers::changes::{
    AppliedPatch, Change, Composed, Folder, NewFile, Notice, Original, Report, Weight,
};
use hpimount_containers::format::Options;
use hpimount_containers::gcm;
use hpimount_containers::io::{self as containers, ReadAt};
use hpimount_patches::riivolution::{
    Card, Descriptor, DescriptorPatch, Disc, Entry, File, Mod, ONLY_GAMECUBE, Part, Plan, Selection,
};

/// Maximum length of an XML or a descriptor, in bytes.
const MAX_LENGTH: u64 = 4 << 20;

/// Folders of the card that have the XML files.
const FOLDERS: [&str; 2] = ["riivolution", "apps/riivolution"];

/// A mod on disk: its XML, read and not parsed, and the SD card around it.
#[derive(Clone)]
pub(super) struct ModFile {
    /// The name of the XML, for messages.
    pub(super) name: String,
    xml: Vec<u8>,
    card: Folder,
    /// Memory of the files of the card, in bytes.
    pub(super) memory: usize,
    /// The folder of the XML on the card.
    folder: String,
    selections: Vec<Selection>,
}

/// Returns the mods of an XML or a descriptor, which may be followed by choices, as in
/// `mod.xml#Section/Option=2`, and adds what is read to `paths`; `None` for other files.
///
/// # Errors
/// Returns an error if something cannot be read.
pub(super) fn open(
    path: &Path,
    pool: &Arc<FilePool>,
    paths: &mut Vec<PathBuf>,
) -> io::Result<Option<Vec<ModFile>>> {
    let (path, selections) = with_selections(path)?;
    let path = canonical(&path)?;
    if fs::metadata(&path)?.len() > MAX_LENGTH {
        return Ok(None);
    }
    let bytes = fs::read(&path)?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let mut patches = match (bytes.trim_ascii_start().first(), Descriptor::parse(bytes)) {
        (_, Ok(descriptor)) => descriptor.patches,
        (Some(b'<'), _) => vec![DescriptorPatch {
            xml: path.to_string_lossy().into_owned(),
            root: None,
            selections: Vec::new(),
        }],
        _ => return Ok(None),
    };
    for patch in &mut patches {
        patch.selections.extend(selections.iter().cloned());
    }
    paths.push(path.clone());
    let around = path.parent().unwrap_or(Path::new(""));
    let mods = patches.into_iter().map(|patch| {
        let mod_file = ModFile::open(around, patch, pool)?;
        paths.push(mod_file.0);
        Ok(mod_file.1)
    });
    mods.collect::<io::Result<Vec<_>>>().map(Some)
}

/// Returns the path of a file, and the choices behind it. A file whose name has a `#`
/// wins.
fn with_selections(path: &Path) -> io::Result<(PathBuf, Vec<Selection>)> {
    let text = path.to_string_lossy();
    let mut marks = text.match_indices('#');
    let mark = marks.find(|(at, _)| !path.exists() && Path::new(&text[..*at]).is_file());
    let Some((at, _)) = mark else {
        return Ok((path.to_owned(), Vec::new()));
    };
    let (file, choices) = (PathBuf::from(&text[..at]), &text[at + 1..]);
    let selection = |choice: &str| {
        Selection::parse(choice).ok_or_else(|| {
            let problem = format!("{choice:?} is not a choice, such as Section/Option=2");
            io::Error::new(io::ErrorKind::InvalidInput, problem)
        })
    };
    let selections = choices
        .split('#')
        .map(selection)
        .collect::<io::Result<_>>()?;
    Ok((file, selections))
}

impl ModFile {
    /// Opens a mod whose paths are relative to the folder `around`. Returns the root of
    /// its card as well.
    fn open(
        around: &Path,
        patch: DescriptorPatch,
        pool: &Arc<FilePool>,
    ) -> io::Result<(PathBuf, Self)> {
        let xml = canonical(&around.join(&patch.xml))?;
        let folder = xml.parent().unwrap_or(Path::new("/"));
        let root = match patch.root {
            Some(root) => canonical(&around.join(root))?,
            None => {
                let of_card = FOLDERS.iter().find(|known| folder.ends_with(known));
                let levels = of_card.map_or(0, |known| known.split('/').count());
                folder.ancestors().nth(levels).unwrap_or(folder).to_owned()
            }
        };
        let within = folder.strip_prefix(&root).unwrap_or(Path::new(""));
        if fs::metadata(&xml)?.len() > MAX_LENGTH {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let (card, memory) = ChangesFolder::open(&root, pool, DiskNames::Plain)?.read()?;
        let mod_file = Self {
            name: xml
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            xml: fs::read(&xml)?,
            card,
            memory,
            folder: within.to_string_lossy().into_owned(),
            selections: patch.selections,
        };
        Ok((root, mod_file))
    }

    /// Returns the changes to a GameCube disc.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] if the mod is damaged, is not for this disc, or
    /// changes nothing.
    pub(super) fn folder(
        &self,
        original: &Original<'_>,
        reader: &Arc<Reader>,
        report: &mut Report,
    ) -> Result<Folder, OpenCause> {
        let disc = GameCube::open(original, reader).map_err(|error| match error {
            containers::Error::UnknownFormat => self.refused(ONLY_GAMECUBE),
            error => error.into(),
        })?;
        let parsed = Mod::parse(&self.xml).map_err(|error| self.refused(error))?;
        let known = Disc::new(&disc.id, disc.number, disc.version, &disc.files);
        let plan = parsed.plan(&known, &OnCard(&self.card), &self.folder, &self.selections);
        let Plan { files, notes } = plan.map_err(|error| self.refused(error))?;
        let ignored = parsed.ignored();
        let ignored = ignored.map(|(name, count)| format!("<{name}> is ignored ({count})"));
        for note in notes.texts().into_iter().chain(ignored) {
            report.note(Weight::Warning, &self.name, note);
        }
        if files.is_empty() {
            return Err(self.refused(no_choice(&parsed)));
        }
        let mut folder = Folder::default();
        for file in &files {
            insert(&mut folder, &file.path, self.new_file(file, &disc));
        }
        report.patches.push(AppliedPatch {
            name: self.name.clone(),
            format: "Riivolution".to_owned(),
            checked: "ID of the disc",
            description: format!("{} files", files.len()),
        });
        Ok(folder)
    }

    /// Returns the content of a changed file.
    fn new_file(&self, file: &File, disc: &GameCube) -> NewFile {
        // A new file has no parts of an original.
        let original = disc.offsets.get(&file.path).copied().unwrap_or(0);
        let mut bytes = Composed::default();
        for part in &file.parts {
            match part {
                Part::Original { offset, length } => {
                    let start = original.saturating_add(*offset);
                    bytes.append(&disc.image, start..start.saturating_add(*length));
                }
                Part::External {
                    path,
                    offset,
                    length,
                } => {
                    if let Some(external) = file_at(&self.card, path) {
                        let external: Arc<dyn ReadAt> = Arc::new(external.clone());
                        bytes.append(&external, *offset..offset.saturating_add(*length));
                    }
                }
                Part::Zeros { length } => bytes.append_fill(0, *length),
            }
        }
        NewFile::new(file.path.as_str(), Arc::new(bytes))
    }

    fn refused(&self, text: impl ToString) -> OpenCause {
        let path = self.name.clone();
        let text = text.to_string();
        OpenCause::Refused(vec![Notice::new(path, text)])
    }
}

/// Returns how to choose an option.
fn no_choice(parsed: &Mod) -> String {
    let sections = parsed.sections().iter();
    let options = sections.flat_map(|section| {
        let options = section.options.iter();
        options.map(|option| format!("{}/{}=1", section.name, option.name))
    });
    let options: Vec<_> = options.take(16).collect();
    format!(
        "changes nothing of this disc; choose an option with `#`, such as {}",
        options.join(", ")
    )
}

/// A GameCube disc.
struct GameCube {
    image: Arc<dyn ReadAt>,
    id: String,
    number: u8,
    version: u8,
    files: Vec<(String, u64)>,
    /// Offset of each file in the image, by its path.
    offsets: HashMap<String, u64>,
}

impl GameCube {
    fn open(original: &Original<'_>, reader: &Arc<Reader>) -> containers::Result<Self> {
        let (image, _) = unwrap(reader, original.source.clone(), &Options::default())?;
        let disc = gcm::Contents::read(&image)?;
        let mut found = Self {
            id: disc.id,
            number: disc.number,
            version: disc.version,
            image,
            files: Vec::new(),
            offsets: HashMap::new(),
        };
        for (path, gcm::Place { range, .. }) in disc.files {
            if path.starts_with("files/") || path == "sys/main.dol" {
                found.files.push((path.clone(), range.end - range.start));
                found.offsets.insert(path, range.start);
            }
        }
        Ok(found)
    }
}

/// The files of the SD card.
struct OnCard<'a>(&'a Folder);

impl Card for OnCard<'_> {
    fn size(&self, path: &str) -> Option<u64> {
        file_at(self.0, path).map(NewFile::len)
    }

    fn entries(&self, folder: &str) -> Option<Vec<Entry>> {
        let entries = folder_at(self.0, folder)?.entries.iter();
        let entries = entries.filter_map(|(name, change)| {
            let is_folder = match change {
                Change::Directory(_) => true,
                Change::File(_) => false,
                _ => return None,
            };
            let name = name.to_string();
            Some(Entry { name, is_folder })
        });
        Some(entries.collect())
    }
}

fn folder_at<'a>(root: &'a Folder, path: &str) -> Option<&'a Folder> {
    let mut names = path.split('/').filter(|name| !name.is_empty());
    names.try_fold(root, |folder, name| match folder.entries.get(name)? {
        Change::Directory(inner) => Some(&**inner),
        _ => None,
    })
}

fn file_at<'a>(root: &'a Folder, path: &str) -> Option<&'a NewFile> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match folder_at(root, folder)?.entries.get(name)? {
        Change::File(file) => Some(file),
        _ => None,
    }
}

/// Inserts a file at a path.
fn insert(folder: &mut Folder, path: &str, file: NewFile) {
    let Some((name, rest)) = path.split_once('/') else {
        folder.entries.insert(path.into(), Change::File(file));
        return;
    };
    let inner = folder.entries.entry(name.into());
    let inner = inner.or_insert_with(|| Change::Directory(Box::default()));
    if let Change::Directory(inner) = inner {
        insert(inner, rest, file);
    }
}
