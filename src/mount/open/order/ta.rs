//! Total Annihilation, as TotalA.exe 3.1c mounts its archives.

use std::path::Path;

use super::{Rules, has_extension};
use hpimount_containers::hpi;

/// The patch archive that TotalA.exe looks for.
const PATCH: &str = "rev31.gp3";

/// Another `.gp3` is mounted only if the game's own patch is absent.
pub(super) const RULES: Rules = Rules {
    groups: &["hpi", "ufo", "ccx", "gp3"],
    newest_wins: false,
    limit: Some(("hpi", 10)),
    leaves_out: |path, all| {
        let superseded = has_extension(path, "gp3")
            && !is_patch(path)
            && all.iter().any(|other| is_patch(other));
        superseded.then(|| format!("the game mounts no .gp3 but {PATCH}"))
    },
    made_for: Some((
        |input| Ok(hpi::version(&*input.source) == Some(hpi::record::VERSION_1)),
        "most archives are of Total Annihilation",
    )),
};

fn is_patch(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| name.eq_ignore_ascii_case(PATCH))
}
