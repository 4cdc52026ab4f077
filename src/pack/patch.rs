//! Writing the changes of an archive or a disc as a patch.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::apply::Edit;
use super::{Error, Result};
use crate::mount::{Outcome, Stage};
use crate::sync::lock;
use hpimount_containers::changes::{Composed, Report};
use hpimount_containers::io::{Origin, ReadAt};
use hpimount_containers::write;
use hpimount_patches::write::{self as patches, VcdiffOptions};
use hpimount_patches::{Extents, Format};

/// Maximum number of sources in one another that are looked through for the original.
const MAX_DEPTH: usize = 64;

/// Returns the format of the patch at this path, by its extension.
///
/// # Errors
/// Returns [`Error::Target`] for a format that is only read.
pub(super) fn format_of(path: &Path) -> Result<Option<Format>> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    Ok(Some(match extension.as_str() {
        "xdelta" | "xd3" | "vcdiff" | "delta" => Format::Vcdiff,
        "bps" => Format::Bps,
        "ppf" => Format::Ppf,
        "ips" => Format::Ips,
        "ups" => return Err(Error::target(path, "UPS patches are not written; use .bps")),
        _ => return Ok(None),
    }))
}

/// The result of changes, in terms of what they were applied to.
pub(super) struct Changed {
    /// The source, or the plain image that it is a compressed one of.
    pub(super) original: Arc<dyn ReadAt>,
    /// The name of the original.
    pub(super) name: String,
    pub(super) result: Arc<Composed>,
    /// The result in ranges of the original.
    pub(super) extents: Extents,
    pub(super) report: Report,
}

impl Changed {
    /// Applies changes.
    ///
    /// # Errors
    /// Returns [`Error::Refused`] with everything that cannot be applied, or if the
    /// result has several files.
    pub(super) fn new(edit: &mut Edit) -> Result<Self> {
        let path = edit.path().to_owned();
        let (outcome, original, name) = edit.apply_to_plain()?;
        let Outcome {
            written,
            report,
            stages,
            ..
        } = outcome;
        if written.directory.is_some() || !written.files.is_empty() {
            let text = "consists of several files; a patch is made for one";
            return Err(Error::refused(&path, text));
        }
        let lineage = Lineage::new(&original, &stages);
        let lineage = lineage.map_err(|error| Error::source(&path, error))?;
        let result = Arc::new(written.data);
        Ok(Self {
            extents: lineage.of_spliced(&result),
            original,
            name,
            result,
            report,
        })
    }
}

/// A patch that is ready to be written.
pub(super) struct Plan {
    format: Format,
    changed: Changed,
    /// The name of the result.
    new_name: String,
    /// The source.
    path: PathBuf,
    /// The patch.
    out: PathBuf,
}

impl Plan {
    /// Plans to write the changes of a source as a patch to `out`.
    ///
    /// # Errors
    /// Returns [`Error::Refused`] with everything that cannot be applied, or if the
    /// result has several files.
    pub(super) fn new(mut edit: Edit, format: Format, out: &Path) -> Result<Self> {
        let changed = Changed::new(&mut edit)?;
        let extension = changed.name.rsplit_once('.');
        let extension = extension.map_or("bin", |(_, extension)| extension);
        let stem = out.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self {
            format,
            new_name: format!("{stem}.{extension}"),
            changed,
            path: edit.path().to_owned(),
            out: out.to_owned(),
        })
    }

    /// Returns the number of bytes of the result.
    pub(super) fn bytes(&self) -> u64 {
        self.changed.extents.len()
    }

    pub(super) fn report(&self) -> &Report {
        &self.changed.report
    }

    /// Returns a sentence about what the patch is for, if it is not the source itself.
    pub(super) fn applies_to(&self) -> Option<String> {
        let Changed { name, original, .. } = &self.changed;
        let is_packed = Some(name.as_ref()) != self.path.file_name();
        is_packed.then(|| {
            format!(
                "{} applies to the plain image of {}, {name} of {} bytes",
                self.out.display(),
                self.path.display(),
                original.len()
            )
        })
    }

    /// Writes the patch.
    ///
    /// # Errors
    /// Returns [`Error::Refused`] if the format cannot express the changes or nothing has
    /// changed, or an error if a file cannot be read or `out` fails.
    pub(super) fn write(&self, mut out: impl Write, progress: &(dyn Fn(u64) + Sync)) -> Result<()> {
        let Changed {
            extents, original, ..
        } = &self.changed;
        let original = &Watched {
            source: original.clone(),
            progress,
            left: Mutex::new(self.bytes()),
        };
        let written = match self.format {
            Format::Bps => patches::bps(extents, original, &mut out),
            Format::Ppf => patches::ppf(extents, original, &mut out),
            Format::Ips => patches::ips(extents, original, &mut out),
            _ => {
                let options = VcdiffOptions {
                    names: Some((&self.new_name, &self.changed.name)),
                    ..VcdiffOptions::default()
                };
                patches::xdelta(extents, original, options, &mut out)
            }
        };
        written.map_err(|error| match error {
            hpimount_patches::Error::Output(error) => {
                let error = std::io::Error::new(error.kind(), error.to_string());
                write::Error::Output(error).into()
            }
            error if error.is_fault() => Error::source(&self.path, error),
            error => Error::refused(&self.out, error.to_string()),
        })?;
        out.flush().map_err(write::Error::Output)?;
        progress(*lock(&original.left));
        Ok(())
    }
}

/// An original whose reads are shown as progress.
struct Watched<'a> {
    source: Arc<dyn ReadAt>,
    progress: &'a (dyn Fn(u64) + Sync),
    /// Number of bytes that are still to be shown. New bytes are read elsewhere, and some
    /// of the original twice.
    left: Mutex<u64>,
}

impl ReadAt for Watched<'_> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.source.read_exact_at(buf, offset)?;
        let mut left = lock(&self.left);
        let shown = left.saturating_sub(1).min(buf.len() as u64);
        *left -= shown;
        (self.progress)(shown);
        Ok(())
    }
}

/// The original and the results of the steps, in terms of the original.
struct Lineage(Vec<(Arc<dyn ReadAt>, Extents)>);

impl Lineage {
    fn new(original: &Arc<dyn ReadAt>, stages: &[Stage]) -> hpimount_patches::Result<Self> {
        let mut extents = Extents::default();
        extents.append_original(0..original.len());
        let mut lineage = Self(vec![(original.clone(), extents)]);
        for stage in stages {
            let (source, extents): (Arc<dyn ReadAt>, _) = match stage {
                Stage::Composed(spliced) => (spliced.clone(), Some(lineage.of_spliced(spliced))),
                Stage::Patched(patched) => {
                    let extents = patched.extents()?;
                    let before = lineage.of(&**patched.original());
                    (patched.clone(), before.map(|before| extents.over(before)))
                }
            };
            lineage.0.extend(extents.map(|extents| (source, extents)));
        }
        Ok(lineage)
    }

    /// Returns a source in terms of the original; `None` if all of it is new.
    fn of(&self, source: &dyn ReadAt) -> Option<&Extents> {
        let known = self.0.iter();
        let mut same = known.filter(|(known, _)| std::ptr::addr_eq(source, &**known));
        same.next().map(|(_, extents)| extents)
    }

    /// Returns the result of a folder in terms of the original, also of what it has from
    /// archives in archives.
    fn of_spliced(&self, spliced: &Arc<Composed>) -> Extents {
        let mut extents = Extents::default();
        let whole: Arc<dyn ReadAt> = spliced.clone();
        while extents.len() < whole.len() {
            let Origin { source, length } = spliced.origin_at(extents.len());
            let length = length.min(whole.len() - extents.len());
            self.append(&mut extents, &whole, source, length, 0);
        }
        extents
    }

    /// Appends `length` bytes of `whole` that come from a source.
    fn append(
        &self,
        extents: &mut Extents,
        whole: &Arc<dyn ReadAt>,
        source: Option<(&dyn ReadAt, u64)>,
        length: u64,
        depth: usize,
    ) {
        let end = extents.len() + length;
        let Some((source, from)) = source.filter(|_| depth < MAX_DEPTH) else {
            return extents.append_source(whole, extents.len()..end);
        };
        if let Some(before) = self.of(source) {
            return extents.append_range(before, from..from + length);
        }
        let mut from = from;
        while extents.len() < end {
            let origin = source.origin_at(from);
            let length = origin.length.clamp(1, end - extents.len());
            self.append(extents, whole, origin.source, length, depth + 1);
            from += length;
        }
    }
}
