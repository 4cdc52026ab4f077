//! What `.hpimount/stats.json` tells.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cache::lock;

/// Errors that are remembered.
const MAX_ERRORS: usize = 32;

/// Counters of a mount, from its start on.
#[derive(Debug, Default)]
pub(super) struct Stats {
    /// Names looked up.
    pub(super) lookups: AtomicU64,
    /// Attributes asked for.
    pub(super) getattrs: AtomicU64,
    /// Parts of directories listed.
    pub(super) readdirs: AtomicU64,
    /// Reads of files.
    pub(super) reads: AtomicU64,
    /// Bytes given to readers.
    pub(super) bytes_read: AtomicU64,
    /// Bytes decoded from chunks.
    decoded: AtomicU64,
    /// Assets parsed for their views.
    pub(super) parsed: AtomicU64,
    /// Reads that failed.
    pub(super) errors: AtomicU64,
    last_errors: Mutex<VecDeque<String>>,
}

impl Stats {
    /// Counts one more.
    pub(super) fn count(&self, counter: impl Fn(&Self) -> &AtomicU64) {
        counter(self).fetch_add(1, Ordering::Relaxed);
    }

    /// Counts bytes that were decoded.
    pub(super) fn add_decoded(&self, bytes: usize) {
        self.decoded.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Logs and remembers why a read failed.
    pub(super) fn failed(&self, error: String) {
        log::error!("{error}");
        self.count(|stats| &stats.errors);
        let mut last = lock(&self.last_errors);
        if last.len() == MAX_ERRORS {
            last.pop_front();
        }
        last.push_back(error);
    }

    /// The counters by name.
    pub(super) fn to_json(&self) -> serde_json::Value {
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        serde_json::json!({
            "lookups": value(&self.lookups),
            "getattrs": value(&self.getattrs),
            "readdirs": value(&self.readdirs),
            "reads": value(&self.reads),
            "bytes_read": value(&self.bytes_read),
            "bytes_decoded": value(&self.decoded),
            "assets_parsed": value(&self.parsed),
            "errors": value(&self.errors),
            "last_errors": Vec::from_iter(lock(&self.last_errors).iter().cloned()),
        })
    }
}
