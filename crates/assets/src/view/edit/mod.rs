//! Edited values: what a shown value becomes in the bytes of its asset.
//!
//! A view that shows values with their [`Rule`]s can be edited: an edited file is
//! compared with the values as they are shown, and what differs becomes a change of
//! bytes. All changes of an asset, from all files that show it, are then written
//! together ([`edited`]); what is not named in them stays.

mod difference;
mod patch;
pub(super) mod place;

pub use self::difference::{number_named, value_of_json};
pub use self::place::{Form, Place, Reference};
pub use super::node::{Blank, Counted, Elements, Rule};

use std::collections::BTreeMap;

use self::difference::Differences;
use self::patch::{Change, patched};
use super::AssetContext;
use super::node::Node;
use hpimount_record::Value;

/// An edit of an asset.
#[derive(Debug, Clone)]
pub struct Edit {
    /// Where it was made, for messages about edits that disagree: a file, or a line of
    /// one. Edits of one place are together.
    pub place: String,
    /// The edit.
    pub what: What,
}

/// What an edit says.
#[derive(Debug, Clone)]
pub enum What {
    /// All values, as an edited file has them.
    Values(Value),
    /// The value at a path, such as `links[2].target`.
    Value(String, Value),
    /// A new element at the end of the list at a path.
    Added(String, Value),
    /// The element with this number of the list at a path is deleted.
    Deleted(String, usize),
    /// The value with this name, in the part of a text at a position in bytes.
    Text(usize, String, String),
}

/// Writes edits of the values of a text; `None` if nothing changes.
///
/// # Errors
/// Returns everything that cannot be changed so.
pub type EditText = fn(&[u8], &[Edit]) -> Result<Option<Vec<u8>>, Vec<Problem>>;

/// A problem of the edit with this number.
pub type Problem = (usize, String);

/// An asset with edited values.
pub struct Edited {
    /// Its bytes.
    pub asset: Vec<u8>,
    changes: Vec<(Change, usize)>,
}

impl Edited {
    /// Checks that the new asset shows the edited values. `node` has the values of
    /// `asset`, its bytes.
    ///
    /// # Errors
    /// Returns the values that are not shown.
    pub fn check(
        &self,
        node: &Node<'_>,
        asset: &[u8],
        context: &dyn AssetContext,
    ) -> Result<(), Vec<Problem>> {
        let lists = self.changes.iter().filter(|(change, _)| change.is_list());
        let lists: Vec<_> = lists
            .map(|(change, _)| format!("{}[", change.path))
            .collect();
        // The elements of a changed list have other numbers.
        let is_placed = |change: &Change| {
            !change.is_list() && !lists.iter().any(|list| change.path.starts_with(list))
        };
        let mut problems = Vec::new();
        for (change, number) in &self.changes {
            if !is_placed(change) {
                continue;
            }
            let mut differences = Differences::new(context);
            differences.at(node, &change.path, &change.value);
            let found = differences.finish();
            let again = found.changes.iter().map(|change| (change, (0, "")));
            let is_shown = patched(asset, again).is_ok_and(|again| again == asset);
            if !is_shown || !found.problems.is_empty() {
                let problem = format!("{}: was not stored as written", change.path);
                problems.push((*number, problem));
            }
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems),
        }
    }
}

/// Returns an asset with edits of its values; `None` if nothing changes.
///
/// # Errors
/// Returns everything that cannot be changed so.
pub fn edited(
    node: &Node<'_>,
    asset: &[u8],
    edits: &[Edit],
    context: &dyn AssetContext,
) -> Result<Option<Edited>, Vec<Problem>> {
    let mut changes: Vec<(Change, usize)> = Vec::new();
    let mut problems: Vec<Problem> = Vec::new();
    let mut lists: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, edit) in edits.iter().enumerate() {
        let mut differences = Differences::new(context);
        match &edit.what {
            What::Values(values) => differences.node(node, values, ""),
            What::Value(path, value) => differences.at(node, path, value),
            What::Added(list, _) | What::Deleted(list, _) => {
                lists.entry(list).or_default().push(number);
                continue;
            }
            What::Text(..) => problems.push((number, "is no text".to_owned())),
        }
        let found = differences.finish();
        changes.extend(found.changes.into_iter().map(|change| (change, number)));
        problems.extend(found.problems.into_iter().map(|problem| {
            // The place of a single value says which it is.
            let reason = match &edit.what {
                What::Value(path, _) => problem.strip_prefix(&format!("{path}: ")),
                _ => None,
            };
            (number, reason.unwrap_or(&problem).to_owned())
        }));
    }
    for (list, rows) in lists {
        let mut differences = Differences::new(context);
        let whats: Vec<&What> = rows.iter().map(|&row| &edits[row].what).collect();
        differences.rows(node, list, &whats);
        let found = differences.finish();
        let first = rows.first().copied().unwrap_or_default();
        changes.extend(found.changes.into_iter().map(|change| (change, first)));
        problems.extend(found.problems.into_iter().map(|problem| (first, problem)));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    if changes.is_empty() {
        return Ok(None);
    }
    let placed = changes
        .iter()
        .map(|(change, number)| (change, (*number, edits[*number].place.as_str())));
    let asset = patched(asset, placed)?;
    Ok(Some(Edited { asset, changes }))
}
