//! Writing edited values into the bytes of an asset.
//!
//! A view that shows values with their [`Rule`]s can be edited. An edited file is
//! compared with the shown values, and each difference becomes a change of bytes. The
//! changes of an asset from all files that show it are written together ([`edited`]);
//! other bytes stay.

mod difference;
mod json;
mod pairs;
mod patch;
mod selector;

pub use self::difference::number_named;
pub use self::json::value_of_json;
pub use self::pairs::is_same;
pub use super::field::StoredField;
pub use super::node::{Blank, Counted, Elements, Rule, Selector};
pub use super::place::{Form, Place, Reference, id_of};

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use self::difference::{At, Comparison, Differences, visit};
use self::patch::{Change, Content, Element, patched};
use super::AssetContext;
use super::import::Problems;
use super::node::Node;
use hpimount_record::Value;

/// An edit of an asset.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The origin of the edit for messages about conflicts: a file, or a line of one.
    /// Edits of one place are adjacent.
    pub place: String,
    /// The edit.
    pub what: What,
    /// Of conflicting edits, the one with the highest rank wins. Equal ranks are a
    /// problem.
    pub rank: u64,
}

impl Edit {
    /// Creates an edit of the lowest rank.
    pub fn new(place: String, what: What) -> Self {
        let rank = 0;
        Self { place, what, rank }
    }
}

/// The content of an edit.
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

/// Writes edits of the values of a text. Returns `None` if nothing changes.
///
/// # Errors
/// Returns all edits that cannot be made.
pub type EditText = fn(&[u8], &[Edit]) -> Result<Option<Vec<u8>>, Vec<Problem>>;

/// An edit that cannot be made, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The number of the edit.
    pub edit: usize,
    /// The path of the affected value, and the reason.
    pub text: String,
    /// A conflicting edit, and its value.
    pub disagreement: Option<Disagreement>,
}

/// Two edits of one value that disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// The number of the other edit.
    pub with: usize,
    /// The path of the value.
    pub path: String,
}

impl Problem {
    /// Creates a problem of an edit alone.
    pub fn new(edit: usize, text: String) -> Self {
        Self {
            edit,
            text,
            disagreement: None,
        }
    }
}

/// An asset with edited values.
pub struct Edited {
    /// Bytes.
    pub asset: Vec<u8>,
    /// Doubtful values, each with the number of its edit.
    pub warnings: Vec<(usize, String)>,
    changes: Vec<(Change, usize)>,
}

/// The value that an edited asset must show at a path.
enum Expected<'e> {
    Value(&'e Value),
    NewElement(&'e Value),
    Elements(usize),
}

impl Edited {
    /// Checks that the new asset shows the edited values. `node` has the values of
    /// `asset`, its bytes.
    ///
    /// # Errors
    /// Returns the values that the asset does not show.
    pub fn check(
        &self,
        node: &Node<'_>,
        asset: &[u8],
        context: &dyn AssetContext,
    ) -> Result<(), Vec<Problem>> {
        let expected = self.expected();
        let paths = expected.iter().enumerate();
        let paths = paths.map(|(number, (path, ..))| (path.as_str(), number));
        let mut problems = Vec::new();
        visit(node, paths.collect(), &mut |number, node| {
            let (path, expected, edit) = &expected[number];
            if !node.is_some_and(|node| expected.is_shown(node, asset, context)) {
                let text = format!("{path}: was not stored as written");
                problems.push(Problem::new(*edit, text));
            }
        });
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems),
        }
    }

    /// Returns the expected values, each with its path and the number of its edit.
    fn expected(&self) -> Vec<(String, Expected<'_>, usize)> {
        let mut expected = Vec::new();
        let lists = self.lists();
        for (change, edit) in &self.changes {
            match &change.content {
                Content::Bytes { .. } => {
                    let path = renumbered(&change.path, &lists);
                    expected.push((path, Expected::Value(&change.value), *edit));
                }
                Content::List { order, .. } => {
                    let length = Expected::Elements(order.len());
                    expected.push((change.path.clone(), length, *edit));
                    expected.extend((0..).zip(order).filter_map(|(index, element)| {
                        let Element::New(_, value) = element else {
                            return None;
                        };
                        let path = format!("{}[{index}]", change.path);
                        Some((path, Expected::NewElement(value), *edit))
                    }));
                }
            }
        }
        expected
    }

    /// Returns the new positions of the old elements of each changed list.
    fn lists(&self) -> Lists<'_> {
        let lists = self.changes.iter().filter_map(|(list, _)| {
            let Content::List { order, .. } = &list.content else {
                return None;
            };
            let kept = order
                .iter()
                .enumerate()
                .filter_map(|(new, element)| match element {
                    Element::Old(old) => Some((*old, new)),
                    Element::New(..) => None,
                });
            Some((list.path.as_str(), kept.collect()))
        });
        lists.collect()
    }
}

/// The new positions of old elements, by the paths of their lists.
type Lists<'e> = HashMap<&'e str, HashMap<usize, usize>>;

/// Returns the path of a value after its list changed.
fn renumbered(path: &str, lists: &Lists<'_>) -> String {
    let new = path.match_indices('[').find_map(|(place, _)| {
        let (list, inner) = path.split_at(place);
        let (index, rest) = inner[1..].split_once(']')?;
        let index = lists.get(list)?.get(&index.parse().ok()?)?;
        Some(format!("{list}[{index}]{rest}"))
    });
    new.unwrap_or_else(|| path.to_owned())
}

impl Expected<'_> {
    fn is_shown(&self, node: &Node<'_>, asset: &[u8], context: &dyn AssetContext) -> bool {
        let (mut differences, value) = match *self {
            Self::Value(value) => (Differences::of_cells(context), value),
            Self::NewElement(value) => (Differences::of_new(context, true), value),
            Self::Elements(length) => {
                let mut shown = 0;
                node.for_each(&mut |_, _| shown += 1);
                return shown == length;
            }
        };
        differences.node(node, value, "");
        let found = differences.finish();
        found.problems.is_empty() && found.changes.iter().all(|change| change.is_in(asset))
    }
}

/// Returns an asset with edited values, or `None` if nothing changes.
///
/// # Errors
/// Returns all edits that cannot be made.
pub fn edited(
    node: &Node<'_>,
    asset: &[u8],
    edits: &[Edit],
    context: &dyn AssetContext,
) -> Result<Option<Edited>, Vec<Problem>> {
    let mut collected = Collected::default();
    let mut values: Vec<At<'_>> = Vec::new();
    let mut lists: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, edit) in edits.iter().enumerate() {
        match &edit.what {
            What::Values(all) => {
                let mut differences = Differences::new(context);
                differences.whole(node, all);
                collected.add(number, "", differences.finish());
            }
            What::Value(path, _) => values.push((path, number)),
            What::Added(list, _) | What::Deleted(list, _) => {
                lists.entry(list).or_default().push(number);
            }
            What::Text(..) => {
                let problem = Problem::new(number, "is no text".to_owned());
                collected.problems.push(problem);
            }
        }
    }
    visit(node, values, &mut |number, node| {
        if let What::Value(path, value) = &edits[number].what {
            let mut differences = Differences::of_cells(context);
            differences.at(node, path, value);
            collected.add(number, path, differences.finish());
        }
    });
    let paths = lists.iter().map(|(path, rows)| (*path, rows[0])).collect();
    visit(node, paths, &mut |first, node| {
        if let What::Added(path, _) | What::Deleted(path, _) = &edits[first].what {
            let numbers = &lists[path.as_str()];
            let rows: Vec<&What> = numbers.iter().map(|&row| &edits[row].what).collect();
            let mut differences = Differences::of_cells(context);
            let row = differences.rows(node, path, &rows);
            collected.add(numbers[row], "", differences.finish());
        }
    });
    collected.written(asset, edits)
}

/// The changes and problems of all edits, each with the number of its edit.
#[derive(Default)]
struct Collected {
    changes: Vec<(Change, usize)>,
    problems: Vec<Problem>,
    warnings: Vec<(usize, String)>,
}

impl Collected {
    /// Adds the changes and problems of an edit. Its place already names `path`.
    fn add(&mut self, number: usize, path: &str, found: Comparison) {
        let changes = found.changes.into_iter();
        self.changes.extend(changes.map(|change| (change, number)));
        let reason = |message: String| {
            let reason = message.strip_prefix(path);
            let reason = reason.and_then(|reason| reason.strip_prefix(": "));
            reason.map_or_else(|| message.clone(), str::to_owned)
        };
        let problems = found.problems.into_iter().map(reason);
        self.problems
            .extend(problems.map(|reason| Problem::new(number, reason)));
        let left = Problems::MAX.saturating_sub(self.warnings.len());
        let warnings = found.warnings.into_iter().take(left).map(reason);
        self.warnings
            .extend(warnings.map(|reason| (number, reason)));
    }

    fn written(mut self, asset: &[u8], edits: &[Edit]) -> Result<Option<Edited>, Vec<Problem>> {
        if !self.problems.is_empty() {
            self.problems.sort_by_key(|problem| problem.edit);
            return Err(self.problems);
        }
        let rank = |number: usize| Reverse(edits[number].rank);
        self.changes
            .sort_by_key(|(_, number)| (rank(*number), *number));
        let (new, written) = patched(asset, &self.changes, edits)?;
        let mut written = written.into_iter();
        self.changes.retain(|_| written.next() == Some(true));
        Ok((new != asset).then_some(Edited {
            asset: new,
            warnings: self.warnings,
            changes: self.changes,
        }))
    }
}
