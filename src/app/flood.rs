//! Repeated messages, which are counted instead of filling the log.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use log::Level;

use crate::sync::lock;

/// Messages of a kind that are logged before the others are counted.
const FIRST: usize = 10;

/// Time between summaries. A kind without messages for so long begins again.
const PERIOD: Duration = Duration::from_secs(60);

/// Maximum number of kinds that are distinguished.
const MAX_KINDS: usize = 256;

/// The kinds of messages in the log.
#[derive(Debug)]
pub(super) struct Flood(Mutex<Kinds>);

#[derive(Debug)]
struct Kinds {
    by_number: HashMap<u64, Kind>,
    /// When the current period began.
    begun: Instant,
}

#[derive(Debug)]
struct Kind {
    level: Level,
    /// Messages that were logged.
    logged: usize,
    /// Messages in this period.
    count: u64,
    /// Messages in this period that were not logged, and the last of them.
    left_out: u64,
    last: String,
}

impl Flood {
    pub(super) fn new(now: Instant) -> Self {
        Self(Mutex::new(Kinds {
            by_number: HashMap::new(),
            begun: now,
        }))
    }

    /// Returns the lines to log when there is a message: itself, unless there were
    /// many of its kind, and summaries of those that were left out.
    pub(super) fn admit(&self, level: Level, text: &str, now: Instant) -> Vec<(Level, String)> {
        let mut kinds = lock(&self.0);
        let mut lines = Vec::new();
        if now.saturating_duration_since(kinds.begun) >= PERIOD {
            lines = kinds.summaries();
            kinds.begun = now;
        }
        let number = kinds.number(level, text);
        let kind = kinds.by_number.entry(number).or_insert_with(|| Kind {
            level,
            logged: 0,
            count: 0,
            left_out: 0,
            last: String::new(),
        });
        kind.count += 1;
        if kind.logged < FIRST {
            kind.logged += 1;
            lines.push((level, text.to_owned()));
        } else {
            kind.left_out += 1;
            text.clone_into(&mut kind.last);
        }
        lines
    }

    /// Returns summaries of all messages that were left out.
    pub(super) fn rest(&self) -> Vec<(Level, String)> {
        lock(&self.0).summaries()
    }
}

impl Kinds {
    fn summaries(&mut self) -> Vec<(Level, String)> {
        self.by_number
            .retain(|_, kind| mem::take(&mut kind.count) > 0);
        let kinds = self.by_number.values_mut();
        let kinds = kinds.filter(|kind| kind.left_out > 0);
        let summary = |kind: &mut Kind| {
            let count = mem::take(&mut kind.left_out);
            let last = mem::take(&mut kind.last);
            (kind.level, format!("{last} (and {count} like this)"))
        };
        kinds.map(summary).collect()
    }

    /// Returns the number of the kind of a message: of the same level, about the
    /// same source, which comes first, and with the same end except for numbers.
    /// When there are too many kinds, all others are one.
    fn number(&self, level: Level, text: &str) -> u64 {
        let (source, rest) = text.split_once(": ").unwrap_or(("", text));
        let problem = rest.rsplit(": ").next().unwrap_or_default();
        let words = problem.split(|c: char| !c.is_alphanumeric());
        let mut hasher = DefaultHasher::new();
        (level, source).hash(&mut hasher);
        words
            .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
            .for_each(|word| word.hash(&mut hasher));
        let number = hasher.finish();
        match self.by_number.len() < MAX_KINDS || self.by_number.contains_key(&number) {
            true => number,
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(flood: &Flood, text: &str, now: Instant) -> Vec<String> {
        let lines = flood.admit(Level::Error, text, now).into_iter();
        lines.map(|(_, line)| line).collect()
    }

    #[test]
    fn messages_of_a_kind_are_counted_after_the_first_ten() {
        let start = Instant::now();
        let flood = Flood::new(start);
        let damaged = |source: &str, number: usize| {
            format!("{source}: units/{number}.fbi: damaged: chunk {number} at {number:#x}")
        };
        let log = |source, number| admitted(&flood, &damaged(source, number), start);
        let logged = (0..1000).flat_map(|number| log("a.hpi", number));
        assert_eq!(logged.count(), 10);
        assert_eq!(log("b.hpi", 0).len(), 1, "another source");
        let other = admitted(&flood, "a.hpi: units/1.fbi: is encrypted", start);
        assert_eq!(other.len(), 1, "another problem");

        let later = start + PERIOD;
        let summary = "a.hpi: units/999.fbi: damaged: chunk 999 at 0x3e7 (and 990 like this)";
        assert_eq!(
            admitted(&flood, "c.hpi: is gone", later),
            [summary, "c.hpi: is gone"]
        );
        assert!(flood.rest().is_empty());
        // The kind had no message for a whole period.
        let later = later + PERIOD;
        assert_eq!(admitted(&flood, &damaged("a.hpi", 1), later).len(), 1);
    }

    #[test]
    fn what_is_known_about_messages_is_bounded() {
        let start = Instant::now();
        let flood = Flood::new(start);
        let texts = (0..100_000).map(|number| format!("source{number}: is gone"));
        let logged = texts.flat_map(|text| admitted(&flood, &text, start));
        assert_eq!(logged.count(), MAX_KINDS + FIRST);
        assert_eq!(lock(&flood.0).by_number.len(), MAX_KINDS + 1);
    }
}
