//! Parsing assets into models, within the memory budget.

use std::sync::Arc;

use bytes::Bytes;

use super::model::{Kept, Model, SharedKey, SharedValue};
use super::{Access, File, Reader};
use crate::memory::budget::Reservation;
use hpimount_assets::view::{Shared, View};
use hpimount_containers::io::{Error, ReadAt, Result, read_error};
use hpimount_containers::volume::Content;

/// A model is expected to take at most this many times the size of its asset, besides
/// the asset itself.
const EXPANSION: usize = 3;

/// The requester of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A request, which may wait for other parsers.
    Request,
    /// The parser of another model, which must not wait for others.
    Parser,
}

impl Reader {
    /// Returns the model of an asset of `len` bytes, built by `parse` unless it
    /// is cached, with what is kept for it.
    ///
    /// # Errors
    /// Returns an error if the asset cannot be read; [`Error::NoMemory`] if
    /// there is no memory to parse it; [`Error::Changed`] if its file changed
    /// while it was read; or the errors of `parse`.
    pub fn model(
        &self,
        file: File<'_>,
        len: u64,
        caller: Caller,
        parse: impl FnOnce(&Bytes) -> Result<(Box<dyn View>, Kept)>,
    ) -> Result<Arc<Model>> {
        let key = file.key();
        if let Some(model) = self.models.peek(&key) {
            return Ok(model);
        }
        let version = file.volume.volume.version(file.file)?;
        let len = version
            .len
            .map_or(len, |now| if len == 0 { 0 } else { now });
        // Reserved before another thread can wait for the model: a thread that
        // holds memory must always be able to release it.
        let mut memory = self.reserve_for(len, caller)?;
        let make = || {
            let bytes = Bytes::from(self.all_bytes(file, len)?);
            self.stats.count(|stats| &stats.parsed);
            let (view, kept) = parse(&bytes)?;
            if file.volume.volume.version(file.file)? != version {
                return Err(Error::Changed);
            }
            let memory = memory.take().ok_or(Error::Changed)?;
            let size = bytes.len() + view.memory() + size_of_val(&*kept);
            Ok(Arc::new(Model {
                version,
                _memory: memory.into_charge("a parsed asset", size),
                view: view.into(),
                kept,
            }))
        };
        match caller {
            Caller::Request => self.models.get(&key, make),
            Caller::Parser => self.models.get_without_waiting(&key, make),
        }
    }

    /// Returns a shared value, created by `make` unless it is cached, with what is
    /// kept for it. Parsers
    /// and renderings may call this, since it never waits for them.
    ///
    /// # Errors
    /// Returns the errors of `make`, or [`Error::NoMemory`] if it does not fit.
    pub fn shared(
        &self,
        key: SharedKey,
        make: impl FnOnce() -> Result<(Box<dyn Shared>, Kept)>,
    ) -> Result<Arc<dyn Shared>> {
        let kept = self.shared_values.get_without_waiting(&key, || {
            let (value, kept) = make()?;
            let memory = value.memory() + size_of_val(&*kept);
            let charge = self.budget().charge("an index", memory)?;
            Ok(SharedValue {
                value: value.into(),
                _memory: Arc::new((charge, kept)),
            })
        })?;
        Ok(kept.value)
    }

    /// Discards a model whose file has changed.
    pub fn forget_model(&self, file: File<'_>) {
        self.models.remove(&file.key());
    }

    /// Returns whether an asset of `len` bytes can be parsed at all.
    pub fn may_parse(&self, len: u64) -> bool {
        self.budget().may_reserve(parsing(len))
    }

    /// Reserves temporary memory for `what` without waiting, since the caller may hold
    /// other reservations.
    ///
    /// # Errors
    /// Returns [`Error::NoMemory`] if it does not fit.
    pub fn reserve(&self, what: &'static str, bytes: usize) -> Result<Reservation> {
        self.budget().reserve(what, bytes, false)
    }

    fn reserve_for(&self, len: u64, caller: Caller) -> Result<Option<Reservation>> {
        let waits = caller == Caller::Request;
        self.budget()
            .reserve("parsing it", parsing(len), waits)
            .map(Some)
    }

    /// Returns all `len` bytes of a file.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Reader::read`].
    pub fn all_bytes(&self, file: File<'_>, len: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        self.fill(file, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `buf` with the first bytes of a file.
    fn fill(&self, file: File<'_>, buf: &mut [u8]) -> Result<()> {
        if let Content::Extent { source, offset } = file.volume.volume.content(file.file)? {
            let length = buf.len() as u64;
            let source: &dyn ReadAt = source;
            let end = source.len();
            if length > 0
                && offset.saturating_add(length) > end
                && file.volume.volume.version(file.file)?.len.is_none()
            {
                // The file cannot change, so this is not a temporary fault.
                let text = format!("its {length} bytes extend past the end at {end:#x}");
                return Err(Error::damaged(offset, "file", text));
            }
            return source
                .read_exact_at(buf, offset)
                .map_err(|cause| read_error(offset, length, cause));
        }
        let mut filled = 0;
        while filled < buf.len() {
            let bytes = self.read_some(file, filled as u64..buf.len() as u64, Access::Unknown)?;
            buf[filled..filled + bytes.len()].copy_from_slice(&bytes);
            filled += bytes.len();
        }
        Ok(())
    }
}

/// Returns the maximum memory for parsing an asset of `len` bytes.
fn parsing(len: u64) -> usize {
    let bytes = usize::try_from(len).unwrap_or(usize::MAX);
    bytes.saturating_mul(1 + EXPANSION)
}
