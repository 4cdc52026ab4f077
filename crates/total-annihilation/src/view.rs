//! Views of the assets of Total Annihilation and TA: Kingdoms.

use get_size2::GetSize;
use serde_json::Value;

use hpimount_assets::parse::Incomplete;
use hpimount_assets::view::damaged::damaged;
use hpimount_assets::view::listed::{Listed, ListedView};
use hpimount_assets::view::{Failure, View};
use hpimount_containers::io::Error;

/// Returns the view with these files, which show the parts of the asset before
/// the error, if there was one.
pub(crate) fn partial_view<M: GetSize + Send + Sync + 'static>(
    model: M,
    files: Vec<Listed<M>>,
    error: Option<Error>,
) -> Box<dyn View> {
    let parts = Box::new(ListedView { model, files });
    match error {
        Some(error) => damaged(error, parts),
        None => parts,
    }
}

/// Returns the failure for an asset that could not be parsed completely.
pub(crate) fn failure<M>(
    incomplete: Incomplete<M>,
    partial: impl FnOnce(&M) -> Value,
) -> Box<Failure> {
    let Incomplete { error, model } = incomplete;
    let partial = partial(&model);
    Box::new(Failure { error, partial })
}

/// Returns the parsed asset, and the error if it could not be parsed
/// completely. If there is nothing to show of it, by `is_shown`, its facts are
/// returned as a failure.
pub(crate) fn parts<M>(
    parsed: Result<M, Box<Incomplete<M>>>,
    is_shown: impl FnOnce(&M) -> bool,
    partial: impl FnOnce(&M) -> Value,
) -> Result<(M, Option<Error>), Box<Failure>> {
    match parsed {
        Ok(model) => Ok((model, None)),
        Err(incomplete) if is_shown(&incomplete.model) => {
            let Incomplete { error, model } = *incomplete;
            Ok((model, Some(error)))
        }
        Err(incomplete) => Err(failure(*incomplete, partial)),
    }
}

/// Returns the name of an asset without its extension.
pub(crate) fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns a name as a part of a file's name, without separators and control
/// characters.
pub(crate) fn file_part(name: &str) -> String {
    let safe = |c: char| {
        if c.is_control() || "/\\".contains(c) {
            '_'
        } else {
            c
        }
    };
    name.trim().chars().map(safe).collect()
}
