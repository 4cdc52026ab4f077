//! Patches of whole files: `.xdelta`, `.bps`, `.ups`, `.ppf` and `.ips`.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::memory::budget::Budget;
use crate::mount::OpenCause;
use crate::source::{FilePool, FileSource};
use crate::sync::lock;
use hpimount_containers::changes::Notice;
use hpimount_containers::io::ReadAt;
use hpimount_patches::{Check, Options, Patch, Patched, Spool};

/// Maximum memory of a patch, in bytes: enough for the longest windows of VCDIFF. It may
/// take half of the memory budget at most.
const MEMORY: usize = 144 << 20;

/// Maximum number of bytes of decoded sections on disk.
const MAX_SPOOL: u64 = 4 << 30;

/// A patch on disk, opened and not parsed.
#[derive(Clone)]
pub(crate) struct PatchFile {
    pub(crate) path: PathBuf,
    source: Arc<FileSource>,
    /// A file for decoded sections, which confined threads cannot create.
    spool: Option<Arc<SpoolFile>>,
}

/// A file with a patch applied to it.
pub(crate) struct PatchedFile {
    /// The number of the original among those that were given.
    pub(crate) number: usize,
    pub(crate) patched: Arc<Patched>,
    /// What is shown of it in `info.json`.
    pub(crate) facts: Value,
    /// What is not certain.
    pub(crate) notes: Vec<String>,
}

impl PatchFile {
    /// Opens a patch.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub(crate) fn open(path: &Path, pool: &Arc<FilePool>) -> io::Result<Self> {
        let spool = tempfile::tempfile().ok();
        Ok(Self {
            path: path.canonicalize()?,
            source: Arc::new(FileSource::open(path, pool)?),
            spool: spool.map(|file| {
                let len = Mutex::new(0);
                Arc::new(SpoolFile { file, len })
            }),
        })
    }

    /// Applies it to the first of some files, given with their names, that it was made
    /// for. With `verifies`, compares all checksums.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] if the patch is damaged, or was made for none of
    /// them: then it is about the first one.
    pub(crate) fn apply(
        &self,
        originals: &[(String, Arc<dyn ReadAt>)],
        budget: &Arc<Budget>,
        verifies: bool,
    ) -> Result<PatchedFile, OpenCause> {
        let refused = |name: &str, error: &hpimount_patches::Error| self.refused(error.of(name));
        let options = Options {
            memory: MEMORY.min(budget.limit() / 2),
            spool: self.spool.clone().map(|spool| spool as Arc<dyn Spool>),
        };
        let patch = Patch::open_with(self.source.clone(), options);
        let patch = patch.map_err(|error| refused("it", &error))?;
        let mut first = None;
        for (number, (name, original)) in originals.iter().enumerate() {
            let applied = patch
                .check(original)
                .and_then(|check| Ok((check, patch.apply(original.clone())?)));
            let (check, patched) = match applied {
                Ok(applied) => applied,
                Err(error) => {
                    first.get_or_insert_with(|| refused(name, &error));
                    continue;
                }
            };
            if verifies {
                patched.verify().map_err(|error| refused(name, &error))?;
            }
            let mut notes = Vec::new();
            if number > 0 {
                notes.push(format!("made for {name}, not for {}", originals[0].0));
            }
            if !patch.has_checksums() && check != Check::Block {
                notes.push(format!(
                    "has no checksum; nothing says that {name} is its original"
                ));
            }
            return Ok(PatchedFile {
                number,
                patched: Arc::new(patched),
                facts: self.facts(&patch, check, verifies, &notes),
                notes,
            });
        }
        Err(first.unwrap_or_else(|| self.refused("there is nothing to patch".to_owned())))
    }

    /// Returns its name, for messages.
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn refused(&self, text: String) -> OpenCause {
        let path = self.name();
        OpenCause::Refused(vec![Notice { path, text }])
    }

    fn facts(&self, patch: &Patch, check: Check, verifies: bool, notes: &[String]) -> Value {
        let checked = match check {
            _ if verifies && patch.has_checksums() => "all",
            Check::Nothing => "nothing",
            Check::Size => "size",
            Check::Block => "block",
            Check::Window => "one window",
        };
        let description = patch.metadata().description.escape_ascii().to_string();
        json!({
            "name": self.name(),
            "format": patch.format().to_string(),
            "checked": checked,
            "description": description.trim_end(),
            "notes": notes,
        })
    }
}

/// Decoded sections of a patch in a temporary file.
struct SpoolFile {
    file: File,
    len: Mutex<u64>,
}

impl Spool for SpoolFile {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut len = lock(&self.len);
        let end = *len + bytes.len() as u64;
        if end > MAX_SPOOL {
            let problem = format!("its sections have more than {MAX_SPOOL} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        self.file.write_all_at(bytes, *len)?;
        *len = end;
        Ok(())
    }
}

impl ReadAt for SpoolFile {
    fn len(&self) -> u64 {
        *lock(&self.len)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buf, offset)
    }
}
