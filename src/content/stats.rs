//! The counters in `.hpimount/stats.json`.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::sync::lock;
use crate::sync::tally::Tally;

/// Number of errors that `stats.json` lists.
const MAX_ERRORS: usize = 32;

/// Counters of a mount, from its start on.
#[derive(Debug, Default)]
pub struct Stats {
    /// Number of lookups.
    pub lookups: Tally,
    /// Attributes requested.
    pub getattrs: Tally,
    /// Parts of directories listed.
    pub readdirs: Tally,
    /// Entries passed on by listings.
    pub entries: Tally,
    /// Reads of files.
    pub reads: Tally,
    /// Bytes returned to readers.
    pub bytes_read: Tally,
    /// Bytes decoded from chunks.
    decoded: Tally,
    /// Bytes rendered for generated files.
    pub rendered: Tally,
    /// Assets parsed for their views.
    pub parsed: Tally,
    /// Reads that failed.
    pub errors: Tally,
    last_errors: Mutex<VecDeque<String>>,
}

impl Stats {
    /// Counts one more.
    pub fn count(&self, counter: impl Fn(&Self) -> &Tally) {
        counter(self).add(1);
    }

    /// Counts bytes that were decoded.
    pub fn add_decoded(&self, bytes: usize) {
        self.decoded.add(bytes as u64);
    }

    /// Returns the number of bytes that were decoded.
    pub fn decoded(&self) -> u64 {
        self.decoded.get()
    }

    /// Logs and remembers why a read failed.
    pub fn failed(&self, error: String) {
        log::error!("{error}");
        self.count(|stats| &stats.errors);
        let mut last = lock(&self.last_errors);
        if last.len() == MAX_ERRORS {
            last.pop_front();
        }
        last.push_back(error);
    }

    /// Returns the counters by name.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "lookups": self.lookups.get(),
            "getattrs": self.getattrs.get(),
            "readdirs": self.readdirs.get(),
            "entries": self.entries.get(),
            "reads": self.reads.get(),
            "bytes_read": self.bytes_read.get(),
            "bytes_decoded": self.decoded.get(),
            "bytes_rendered": self.rendered.get(),
            "assets_parsed": self.parsed.get(),
            "errors": self.errors.get(),
            "last_errors": Vec::from_iter(lock(&self.last_errors).iter().cloned()),
        })
    }
}
