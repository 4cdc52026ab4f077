//! Patches of whole files: `.xdelta`, `.bps`, `.ups`, `.ppf` and `.ips`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::memory::budget::Budget;
use crate::mount::{self, OpenCause};
use crate::platform::{canonical, read_exact_at, write_all_at};
use crate::source::{FilePool, read_patch};
use crate::sync::lock;
use hpimount_containers::changes::{AppliedPatch, Notice};
use hpimount_containers::io::ReadAt;
use hpimount_patches::{Check, Options, Patch, Patched, Spool};

/// A result is compared with checksums if it has at most this many bytes, and this many
/// for each byte of the original and of the patch: 40 bytes can stand for a terabyte.
const COMPARED: u64 = 1 << 30;
const COMPARED_PER_BYTE: u64 = 16;

/// A patch on disk, opened and not parsed.
#[derive(Clone)]
pub(crate) struct PatchFile {
    path: PathBuf,
    source: Arc<dyn ReadAt>,
    /// Storage for decoded sections.
    spool: Option<Arc<SpoolFile>>,
}

/// A file with a patch applied to it.
pub(crate) struct PatchedFile {
    /// The number of the original among those that were given.
    pub(crate) number: usize,
    pub(crate) patched: Arc<Patched>,
    pub(crate) applied: AppliedPatch,
    /// Doubts, such as a missing checksum.
    pub(crate) notes: Vec<String>,
}

impl PatchFile {
    /// Opens a patch.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub(crate) fn open(
        path: &Path,
        pool: &Arc<FilePool>,
        spool: Option<Arc<SpoolFile>>,
    ) -> io::Result<Self> {
        Ok(Self {
            path: canonical(path)?,
            source: read_patch(path, pool)?,
            spool,
        })
    }

    /// Applies it to the file that it was made for among some: to the first one that
    /// passes its check; if several do, to the one whose length is closest to the result's.
    /// Its lists may take as much as `budget` has in all, its windows the rest.
    /// With `options.verify`, compares all checksums.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] if the patch is damaged, or was made for none of
    /// them: then it is about the first one; or an error if there is not enough memory.
    pub(crate) fn apply(
        &self,
        originals: &[(String, Arc<dyn ReadAt>)],
        budget: &Arc<Budget>,
        options: &mount::Options,
    ) -> Result<PatchedFile, OpenCause> {
        let spool = self.spool.clone().map(|spool| {
            spool.most.store(options.spool_size, Ordering::Relaxed);
            spool as Arc<dyn Spool>
        });
        let resources = Options {
            memory: budget.limit(),
            spool,
            // A mount that has no room for a window is refused rather than its reads.
            ..Options::default()
        };
        let patch = Patch::open_with(self.source.clone(), resources);
        let patch = patch.map_err(|error| self.failed("it", error))?;
        // Until the plan of the changes is charged, which they are a part of.
        let _windows = budget.charge("the plan of the changes", patch.memory_of_windows())?;
        let chosen = self.choose(&patch, originals);
        let (number, check, patched) = chosen.map_err(|cause| for_file(cause, &patch, options))?;
        let (name, original) = &originals[number];
        if options.verify {
            self.verify(&patched, original, name)?;
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
        Ok(PatchedFile {
            number,
            applied: self.applied(&patch, check, options.verify),
            patched: Arc::new(patched),
            notes,
        })
    }

    /// Returns the number of the file that a patch was made for, with the patch applied.
    fn choose(
        &self,
        patch: &Patch,
        originals: &[(String, Arc<dyn ReadAt>)],
    ) -> Result<(usize, Check, Patched), OpenCause> {
        let (mut first, mut best) = (None, None);
        for (number, (name, original)) in originals.iter().enumerate() {
            let applied = patch
                .check(original)
                .and_then(|check| Ok((check, patch.apply(original.clone())?)));
            match applied {
                // Without a check every file would do.
                Ok((Check::Nothing, _)) if number > 0 => {}
                Ok((check, patched)) => {
                    let distance = patched.len().abs_diff(original.len());
                    let is_closer = |(other, _): &(u64, _)| distance < *other;
                    if best.as_ref().is_none_or(is_closer) {
                        best = Some((distance, (number, check, patched)));
                    }
                }
                Err(error) if error.is_fault() => return Err(self.failed(name, error)),
                Err(error) => {
                    first.get_or_insert_with(|| self.failed(name, error));
                }
            }
        }
        match (best, first) {
            (Some((_, chosen)), _) => Ok(chosen),
            (None, Some(error)) => Err(error),
            (None, None) => Err(self.refused("there is nothing to patch".to_owned())),
        }
    }

    /// Compares all checksums of the patch.
    fn verify(
        &self,
        patched: &Patched,
        original: &Arc<dyn ReadAt>,
        name: &str,
    ) -> Result<(), OpenCause> {
        let bytes = original.len().saturating_add(self.source.len());
        if patched.len() > COMPARED.max(bytes.saturating_mul(COMPARED_PER_BYTE)) {
            let length = patched.len();
            let text = format!("its result has {length} bytes, too many to be compared");
            return Err(self.refused(text));
        }
        let verified = patched.verify();
        verified.map_err(|error| self.failed(name, error))
    }

    /// Returns why a file with this name cannot be patched.
    fn failed(&self, name: &str, error: hpimount_patches::Error) -> OpenCause {
        match error {
            hpimount_patches::Error::Source(error) if error.is_fault() => error.into(),
            error => self.refused(error.of(name)),
        }
    }

    /// Returns its name, for messages.
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn refused(&self, text: String) -> OpenCause {
        let path = self.name();
        OpenCause::Refused(vec![Notice::new(path, text)])
    }

    fn applied(&self, patch: &Patch, check: Check, verifies: bool) -> AppliedPatch {
        let description = patch.metadata().description.escape_ascii().to_string();
        AppliedPatch {
            name: self.name(),
            format: patch.format().to_string(),
            checked: match check {
                _ if verifies && patch.has_checksums() => "all",
                Check::Nothing => "nothing",
                Check::Size => "size",
                Check::Block => "block",
                Check::Window => "one window",
            },
            description: description.trim_end().to_owned(),
        }
    }
}

/// Adds the name of the file that a patch is for to a refusal, if a list has it.
fn for_file(cause: OpenCause, patch: &Patch, options: &mount::Options) -> OpenCause {
    let known = options.known_files.as_ref().zip(patch.metadata().original);
    let name = known.and_then(|(files, original)| files.name_of(original.size, original.crc32));
    match (cause, name) {
        (OpenCause::Refused(mut notices), Some(name)) => {
            for notice in &mut notices {
                notice.text.push_str(&format!("; it is for {name}"));
            }
            OpenCause::Refused(notices)
        }
        (cause, _) => cause,
    }
}

/// Decoded sections of patches in a temporary file.
pub(super) struct SpoolFile {
    file: File,
    len: Mutex<u64>,
    /// Maximum length in bytes.
    most: AtomicU64,
}

impl SpoolFile {
    /// Creates it, which confined threads cannot do; `None` if there is no room for
    /// temporary files.
    pub(super) fn create() -> Option<Arc<Self>> {
        let file = tempfile::tempfile().ok()?;
        Some(Arc::new(Self {
            file,
            len: Mutex::new(0),
            most: AtomicU64::new(0),
        }))
    }
}

impl Spool for SpoolFile {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut len = lock(&self.len);
        let end = *len + bytes.len() as u64;
        let most = self.most.load(Ordering::Relaxed);
        if end > most {
            let problem =
                format!("the sections of all patches have more than {most} bytes (spoolsize)");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        write_all_at(&self.file, bytes, *len)?;
        *len = end;
        Ok(())
    }
}

impl ReadAt for SpoolFile {
    fn len(&self) -> u64 {
        *lock(&self.len)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        read_exact_at(&self.file, buf, offset)
    }
}
