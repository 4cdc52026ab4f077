//! What is odd about an archive.

/// Warnings that are kept; a hostile archive can be odd a million times.
const MOST: usize = 500;

/// The warnings of one archive, a sentence each.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    texts: Vec<String>,
    dropped: usize,
}

impl Warnings {
    /// Adds a warning, as long as there are few enough.
    pub(super) fn push(&mut self, text: impl Into<String>) {
        if self.texts.len() < MOST {
            self.texts.push(text.into());
        } else {
            self.dropped += 1;
        }
    }

    /// The warnings; where there were too many, the last one says how many
    /// more there are.
    pub(super) fn into_texts(mut self) -> Vec<String> {
        if self.dropped > 0 {
            self.texts
                .push(format!("and {} more warnings", self.dropped));
        }
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_beyond_the_limit_are_counted_and_not_kept() {
        let mut warnings = Warnings::default();
        for number in 0..MOST + 7 {
            warnings.push(format!("odd {number}"));
        }
        let texts = warnings.into_texts();
        assert_eq!(texts.len(), MOST + 1);
        assert_eq!(texts[MOST], "and 7 more warnings");
    }
}
