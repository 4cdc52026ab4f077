//! TA: Kingdoms, as KINGDOMS.icd mounts its archives.

use super::Rules;
use hpimount_containers::hpi;

/// A `.kmp` holds one map; its precedence over others is unknown.
pub(super) const RULES: Rules = Rules {
    groups: &["kmp", "ufo", "hpi"],
    newest_wins: true,
    limit: None,
    leaves_out: |_, _| None,
    made_for: Some((
        |input| Ok(hpi::version(&*input.source) == Some(hpi::record::VERSION_2)),
        "most archives are of TA: Kingdoms",
    )),
};
