//! RWE, an engine for the files of Total Annihilation.

use super::Rules;

/// All groups of Total Annihilation, and `.gpf`.
pub(super) const RULES: Rules = Rules {
    groups: &["hpi", "ufo", "ccx", "gpf", "gp3"],
    newest_wins: false,
    limit: None,
    leaves_out: |_, _| None,
    made_for: None,
};
