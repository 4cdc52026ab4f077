//! Differences between two assets.

use hpimount_record::Value;
use serde_json::json;

use super::Side;
use crate::inspect::Trouble;

/// A difference between two assets.
#[derive(Debug, PartialEq)]
pub(super) enum Difference {
    /// A field, a cell of a table or a line of a text.
    Field {
        field: String,
        old: Option<Value>,
        new: Option<Value>,
    },
    /// A remark.
    Note(String),
}

impl Difference {
    /// Returns the remark that an asset could not be compared.
    pub(super) fn not_compared(side: Side, trouble: &Trouble) -> Self {
        let side = if side == 0 { "first" } else { "second" };
        Self::Note(format!("not compared: on the {side} side, {trouble}"))
    }

    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Self::Field { field, old, new } => {
                let mut line = json!({ "field": field });
                if let Some(old) = old {
                    line["old"] = json!(old);
                }
                if let Some(new) = new {
                    line["new"] = json!(new);
                }
                line
            }
            Self::Note(text) => json!({ "note": text }),
        }
    }
}

/// Maximum length of the name of a field whose parts are compared, in bytes. The names
/// of all parts contain it; what has a longer one is compared as a whole.
pub(super) const MAX_FIELD: usize = 4096;

/// Maximum number of differences of one asset that are shown.
const MAX_DIFFERENCES: usize = 100;

/// Differences up to a number, and how many more there are.
#[derive(Default)]
pub(super) struct Differences {
    kept: Vec<Difference>,
    more: usize,
}

impl Differences {
    pub(super) fn add(&mut self, field: String, old: Option<Value>, new: Option<Value>) {
        self.push(Difference::Field { field, old, new });
    }

    pub(super) fn note(&mut self, text: String) {
        self.push(Difference::Note(text));
    }

    fn push(&mut self, difference: Difference) {
        match self.kept.len() < MAX_DIFFERENCES {
            true => self.kept.push(difference),
            false => self.more += 1,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(super) fn finish(mut self) -> Vec<Difference> {
        if self.more > 0 {
            let text = format!("and {} more differences", self.more);
            self.kept.push(Difference::Note(text));
        }
        self.kept
    }
}
