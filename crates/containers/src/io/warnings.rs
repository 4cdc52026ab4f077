//! Warnings about an asset that can be used nevertheless.

use get_size2::GetSize;

/// Maximum number of warnings that are kept; the rest is only counted, because
/// a hostile file of a megabyte can cause a hundred thousand.
const MAX_WARNINGS: usize = 1000;

/// The warnings of one asset, one sentence each, in the order of the file.
#[derive(Debug, Default, Clone, PartialEq, Eq, GetSize)]
pub struct Warnings {
    texts: Vec<String>,
    dropped: usize,
}

impl Warnings {
    /// Adds a warning, with its position.
    pub fn push(&mut self, text: impl Into<String>) {
        if self.texts.len() < MAX_WARNINGS {
            self.texts.push(text.into());
        } else {
            self.dropped += 1;
        }
    }

    /// Appends the warnings of `other`.
    pub fn append(&mut self, other: Self) {
        self.dropped += other.dropped;
        other.texts.into_iter().for_each(|text| self.push(text));
    }

    /// Returns the number of warnings, including those whose text was not kept.
    pub fn len(&self) -> usize {
        self.texts.len() + self.dropped
    }

    /// Returns whether there are no warnings.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the warnings to be shown; if there were too many, the last one
    /// gives the number of the others.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = self.texts.clone();
        if self.dropped > 0 {
            texts.push(format!("and {} more warnings", self.dropped));
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_beyond_the_limit_are_counted_and_not_kept() {
        let mut warnings = Warnings::default();
        assert!(warnings.is_empty());
        for number in 0..MAX_WARNINGS + 7 {
            warnings.push(format!("odd {number}"));
        }
        assert_eq!(warnings.len(), MAX_WARNINGS + 7);
        let texts = warnings.texts();
        assert_eq!(texts.len(), MAX_WARNINGS + 1);
        assert_eq!(texts[MAX_WARNINGS], "and 7 more warnings");
        let mut all = Warnings::default();
        all.push("first");
        all.append(warnings);
        assert_eq!(all.len(), 1 + MAX_WARNINGS + 7);
        assert_eq!(all.texts()[..2], ["first", "odd 0"]);
    }
}
