//! Comparison of edited values with shown values.

use std::collections::{HashMap, HashSet};

use hpimount_record::{Value, shortened};

use super::pairs::{changed, is_same, paired};
use super::patch::{Change, Content, Element, patched};
use super::{Edit, What};
use crate::view::AssetContext;
use crate::view::import::Problems;
use crate::view::node::{Elements, Node, Rule};
use crate::view::place::Encoded;

/// Changes of edited values.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// The changes.
    pub(super) changes: Vec<Change>,
    /// Edits that cannot be made, each with the path of the value in front. At most
    /// [`Problems::MAX`].
    pub(super) problems: Vec<String>,
    /// Doubtful values, each with its path in front. At most [`Problems::MAX`].
    pub(super) warnings: Vec<String>,
}

/// A value to compare: its path, and its number for messages.
pub(super) type At<'p> = (&'p str, usize);

/// Compares edited values with shown values.
pub(super) struct Differences<'c> {
    pub(super) context: &'c dyn AssetContext,
    found: Comparison,
    /// Edited counts: their paths for messages, and the paths of their lists.
    counts: Vec<(String, Value, &'static str)>,
    /// The values belong to a new element, whose derived values the editor could not
    /// know.
    is_new: bool,
    /// The values are cells of a table, which hold lists as text.
    is_cell: bool,
}

impl<'c> Differences<'c> {
    /// Begins a comparison.
    pub(super) fn new(context: &'c dyn AssetContext) -> Self {
        Self {
            context,
            found: Comparison::default(),
            counts: Vec::new(),
            is_new: false,
            is_cell: false,
        }
    }

    /// Begins a comparison of the cells of a table.
    pub(super) fn of_cells(context: &'c dyn AssetContext) -> Self {
        let is_cell = true;
        Self {
            is_cell,
            ..Self::new(context)
        }
    }

    /// Begins a comparison of the values of a new element.
    pub(super) fn of_new(context: &'c dyn AssetContext, is_cell: bool) -> Self {
        Self {
            is_new: true,
            is_cell,
            ..Self::new(context)
        }
    }

    /// Returns the changes and the problems.
    pub(super) fn finish(mut self) -> Comparison {
        for (path, value, list) in std::mem::take(&mut self.counts) {
            let mut changes = self.found.changes.iter();
            let length = changes.find_map(|change| match &change.content {
                Content::List { order, .. } if change.path == list => Some(order.len() as i64),
                _ => None,
            });
            if length.is_none() || value.integer() != length {
                self.problem(&path, format!("follows from the list {list}"));
            }
        }
        self.found
    }

    /// Returns whether it lists no more problems.
    fn is_full(&self) -> bool {
        self.found.problems.len() >= Problems::MAX
    }

    pub(super) fn problem(&mut self, path: &str, reason: impl std::fmt::Display) {
        if !self.is_full() {
            self.found.problems.push(match path {
                "" => reason.to_string(),
                _ => format!("{path}: {reason}"),
            });
        }
    }

    fn warn(&mut self, path: &str, reason: impl std::fmt::Display) {
        if self.found.warnings.len() < Problems::MAX {
            self.found.warnings.push(format!("{path}: {reason}"));
        }
    }

    /// Compares all values of an asset.
    pub(super) fn whole(&mut self, node: &Node<'_>, edited: &Value) {
        let rest = self.selected(node, edited);
        self.node(node, rest.as_ref().unwrap_or(edited), "");
    }

    /// Compares a value at a path such as `links[2].target`.
    pub(super) fn node(&mut self, node: &Node<'_>, edited: &Value, path: &str) {
        match node {
            Node::Ruled(inner, rule) => self.ruled(inner, rule, edited, path),
            Node::Absent(inner) => self.node(inner, edited, path),
            Node::Map(_) | Node::Row(..) | Node::Value(Value::Map(_)) => {
                self.map(node, edited, path);
            }
            Node::List(_) | Node::Each(_) | Node::Value(Value::List(_)) => {
                self.list(node, edited, path);
            }
            Node::Value(value) if self.is_new || is_same(value, edited) => {}
            Node::Value(_) => self.problem(path, "cannot be edited"),
        }
    }

    /// Compares the value at a path with an edited one. `node` is `None` if the asset
    /// does not show the value.
    pub(super) fn at(&mut self, node: Option<&Node<'_>>, path: &str, edited: &Value) {
        match node {
            Some(node) => self.node(node, edited, path),
            None => self.problem(path, "is no field here"),
        }
    }

    /// Adds and deletes rows of the list at a path. `node` is `None` if the asset does
    /// not show the list. Returns the row of a problem.
    pub(super) fn rows(&mut self, node: Option<&Node<'_>>, path: &str, rows: &[&What]) -> usize {
        match node {
            Some(Node::Absent(node)) => return self.rows(Some(node), path, rows),
            Some(Node::Ruled(_, Rule::Elements(list))) => {
                return self.changed_rows(list, path, rows);
            }
            Some(_) => self.problem(path, "has a fixed number of elements"),
            None => self.problem(path, "is no list here"),
        }
        0
    }

    fn changed_rows(&mut self, list: &Elements<'_>, path: &str, rows: &[&What]) -> usize {
        let mut deleted = HashSet::new();
        for (number, row) in rows.iter().enumerate() {
            if let What::Deleted(_, index) = row {
                if *index >= list.ranges.len() {
                    self.problem(path, format!("has no element {index} to delete"));
                    return number;
                }
                deleted.insert(*index);
            }
        }
        let kept = (0..list.ranges.len()).filter(|index| !deleted.contains(index));
        let mut order: Vec<Element> = kept.map(Element::Old).collect();
        let is_added = |row: &&&What| matches!(row, What::Added(..));
        let length = order.len() + rows.iter().filter(is_added).count();
        for (number, row) in rows.iter().enumerate() {
            if let What::Added(_, value) = row {
                if order.len() >= list.most {
                    self.too_many(list, length, path);
                    return number;
                }
                match self.new_element(list, value, &format!("{path}[{}]", order.len())) {
                    Some(element) => order.push(element),
                    None => return number,
                }
            }
        }
        self.order(list, order, path);
        0
    }

    fn too_many(&mut self, list: &Elements<'_>, length: usize, path: &str) {
        let most = list.most;
        let reason = format!("has {length} elements, at most {most} are possible");
        self.problem(path, reason);
    }

    fn ruled(&mut self, node: &Node<'_>, rule: &Rule<'_>, edited: &Value, path: &str) {
        if let Rule::Elements(elements) = rule {
            return self.elements(node, elements, edited, path);
        }
        let shown = node.to_value();
        if is_same(&shown, edited) {
            return;
        }
        match rule {
            Rule::Stored(place) => match place.encode(&shown, edited, self.context) {
                // An id follows from a new name, and a name from a new id.
                Ok(encoded) => {
                    if let Some(id) = place.unknown_id(edited, &encoded, self.context) {
                        self.warn(path, format_args!("no asset here has the id {id:08X}"));
                    }
                    self.bytes(path, &changed(&shown, edited), place.offset, encoded);
                }
                Err(reason) => self.problem(path, reason),
            },
            // Unchanged entries may be derived, or edited elsewhere.
            Rule::Field(field) => {
                let edited = changed(&shown, edited);
                match field.encode(&edited) {
                    Ok(Some((offset, encoded))) => self.bytes(path, &edited, offset, encoded),
                    Ok(None) => {}
                    Err(reason) => self.problem(path, reason),
                }
            }
            Rule::Derived(_) | Rule::Count(_) if self.is_new => {}
            Rule::Remark => {}
            Rule::Derived(reason) => self.problem(path, reason),
            Rule::Count(list) => self.counts.push((path.to_owned(), edited.clone(), list)),
            Rule::Selects(_) => {
                self.problem(
                    path,
                    "selects which fields follow: edit all of them as JSON",
                );
            }
            Rule::Elements(_) => {}
        }
    }

    /// Adds a change of bytes.
    pub(super) fn bytes(&mut self, path: &str, value: &Value, offset: usize, new: Encoded) {
        let Encoded { bytes, mask } = new;
        self.found.changes.push(Change {
            path: path.to_owned(),
            value: value.clone(),
            content: Content::Bytes {
                offset,
                bytes,
                mask,
            },
        });
    }

    fn map(&mut self, node: &Node<'_>, edited: &Value, path: &str) {
        let Value::Map(entries) = edited else {
            return self.problem(path, "must be an object with fields");
        };
        let inner = |key: &str| match path {
            "" => key.to_owned(),
            _ => format!("{path}.{key}"),
        };
        for (key, edited) in entries {
            if self.is_full() {
                return;
            }
            let mut is_known = false;
            node.for_each(&mut |name, child| {
                if name == Some(key) {
                    is_known = true;
                    self.node(child, edited, &inner(key));
                }
            });
            if !is_known {
                let mut names = Vec::new();
                node.for_each(&mut |name, _| names.extend(name.map(str::to_owned)));
                let key = shortened(key);
                let reason = format!("is no field here; {}", similar(&key, &names));
                self.problem(&inner(&key), reason);
            }
        }
    }

    fn list(&mut self, node: &Node<'_>, edited: &Value, path: &str) {
        let mut needed = 0;
        node.for_each(&mut |_, _| needed += 1);
        let given = color(edited, needed).or_else(|| self.in_cell(edited));
        let Some(Value::List(values)) = given.as_ref().or(Some(edited)) else {
            return self.problem(path, "must be a list");
        };
        if values.len() != needed {
            let (has, what) = (values.len(), plural(values));
            return self.problem(path, format!("has {has} {what}, needs {needed}"));
        }
        let mut values = values.iter().enumerate();
        node.for_each(&mut |_, child| {
            if let Some((index, value)) = values.next() {
                self.node(child, value, &format!("{path}[{index}]"));
            }
        });
    }

    /// Compares a list that can grow and shrink. Pairs equal elements, then elements at
    /// the same position between equal ones. Remaining elements are new or deleted.
    fn elements(&mut self, node: &Node<'_>, list: &Elements<'_>, edited: &Value, path: &str) {
        let in_cell = self.in_cell(edited);
        let Some(Value::List(values)) = in_cell.as_ref().or(Some(edited)) else {
            return self.problem(path, "must be a list");
        };
        if values.len() > list.most {
            return self.too_many(list, values.len(), path);
        }
        let mut shown = Vec::with_capacity(list.ranges.len());
        node.for_each(&mut |_, child| shown.push(child.to_value()));
        let pairs = paired(&shown, values, list.kind);
        let new_of: HashMap<usize, usize> = pairs
            .iter()
            .enumerate()
            .filter_map(|(new, pair)| Some(((*pair)?, new)))
            .collect();
        let mut index = 0;
        node.for_each(&mut |_, child| {
            if let Some(&new) = new_of.get(&index) {
                self.kept(child, &values[new], path, [index, new]);
            }
            index += 1;
        });
        let is_kept = pairs.len() == shown.len() && (0..).zip(&pairs).all(|(n, p)| *p == Some(n));
        if is_kept {
            return;
        }
        let mut order = Vec::with_capacity(values.len());
        for (index, (pair, value)) in pairs.iter().zip(values).enumerate() {
            match pair {
                Some(old) => order.push(Element::Old(*old)),
                None => match self.new_element(list, value, &format!("{path}[{index}]")) {
                    Some(element) => order.push(element),
                    None => return,
                },
            }
        }
        self.order(list, order, path);
    }

    /// Compares an element of the list at a path that is not deleted. Changes contain
    /// its old number, and problems its new one.
    fn kept(&mut self, node: &Node<'_>, edited: &Value, path: &str, [old, new]: [usize; 2]) {
        let (problems, counts) = (self.found.problems.len(), self.counts.len());
        let old = format!("{path}[{old}]");
        self.node(node, edited, &old);
        let problems = self.found.problems[problems..].iter_mut();
        let counts = self.counts[counts..].iter_mut().map(|(path, ..)| path);
        for message in problems.chain(counts) {
            if let Some(rest) = message.strip_prefix(&old) {
                *message = format!("{path}[{new}]{rest}");
            }
        }
    }

    /// Adds the change of a list to a new order of elements.
    fn order(&mut self, list: &Elements<'_>, order: Vec<Element>, path: &str) {
        self.found.changes.push(Change {
            path: path.to_owned(),
            value: Value::Null,
            content: Content::List {
                ranges: list.ranges.clone(),
                start: list.start,
                counts: list.counts.clone(),
                least_length: list.least_length,
                order,
            },
        });
    }

    /// Returns a new element with these values, or `None` after a problem.
    fn new_element(&mut self, list: &Elements<'_>, value: &Value, path: &str) -> Option<Element> {
        let (size, node) = match (list.blank)(value) {
            Ok(blank) => blank,
            Err(reason) => {
                self.problem(path, reason);
                return None;
            }
        };
        let bytes = self.new_bytes(size, &node, value, path)?;
        Some(Element::New(bytes, value.clone()))
    }

    /// Returns new bytes with these values at the places in `node`, or `None` after a
    /// problem.
    pub(super) fn new_bytes(
        &mut self,
        size: usize,
        node: &Node<'_>,
        value: &Value,
        path: &str,
    ) -> Option<Vec<u8>> {
        let mut inner = Differences::of_new(self.context, self.is_cell);
        inner.node(node, value, path);
        let found = inner.finish();
        let left = Problems::MAX.saturating_sub(self.found.warnings.len());
        let warnings = found.warnings.into_iter().take(left);
        self.found.warnings.extend(warnings);
        let changes: Vec<_> = found
            .changes
            .into_iter()
            .map(|change| (change, 0))
            .collect();
        let edit = Edit::new(String::new(), What::Values(Value::Null));
        let problems = match found.problems.is_empty() {
            true => match patched(&vec![0; size], &changes, &[edit]) {
                Ok((bytes, _)) => return Some(bytes),
                Err(problems) => problems.into_iter().map(|problem| problem.text).collect(),
            },
            false => found.problems,
        };
        self.found.problems.extend(problems);
        None
    }

    /// Splits a cell with a list at its spaces.
    fn in_cell(&self, edited: &Value) -> Option<Value> {
        match edited {
            Value::Text(text) if self.is_cell => {
                Some(text.split_whitespace().map(str::to_owned).collect())
            }
            Value::Null if self.is_cell => Some(Value::List(Vec::new())),
            _ => None,
        }
    }
}

/// Calls `see` with the number and the value of each path, if there is one, in one
/// traversal.
pub(super) fn visit<'p>(
    node: &Node<'_>,
    paths: Vec<At<'p>>,
    see: &mut dyn FnMut(usize, Option<&Node<'_>>),
) {
    let mut inner: HashMap<&'p str, Vec<At<'p>>> = HashMap::new();
    for (path, number) in paths {
        match path.strip_prefix('.').unwrap_or(path) {
            "" => see(number, Some(node)),
            path => {
                let end = path.char_indices().skip(1);
                let end = end
                    .into_iter()
                    .find(|(_, letter)| ['.', '['].contains(letter));
                let (step, rest) = path.split_at(end.map_or(path.len(), |(end, _)| end));
                inner.entry(step).or_default().push((rest, number));
            }
        }
    }
    if inner.is_empty() {
        return;
    }
    let mut index = 0;
    node.for_each(&mut |name, child| {
        let wanted = match name {
            Some(name) => inner.remove(name),
            None => inner.remove(&*format!("[{index}]")),
        };
        index += 1;
        if let Some(paths) = wanted {
            visit(child, paths, see);
        }
    });
    let missing = inner.into_values().flatten();
    missing.for_each(|(_, number)| see(number, None));
}

/// Formats a color as `#rrggbb` or `#rrggbbaa`.
fn color(edited: &Value, parts: usize) -> Option<Value> {
    let Value::Text(text) = edited else {
        return None;
    };
    let digits = text.strip_prefix('#')?;
    if digits.len() != 2 * parts || !digits.is_ascii() {
        return None;
    }
    let part = |at: usize| i64::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    let parts: Option<Vec<Value>> = (0..parts).map(|at| part(at).map(Value::Integer)).collect();
    parts.map(Value::List)
}

fn plural(values: &[Value]) -> &'static str {
    match values.iter().all(|value| value.number().is_some()) {
        true => "numbers",
        false => "elements",
    }
}

/// Returns the number with this name, ignoring case. `what` names the kind in messages,
/// such as "event".
///
/// # Errors
/// Returns an error for an unknown name, with the most similar known one.
pub fn number_named<'n>(
    what: &str,
    name: &str,
    all: impl Iterator<Item = (u32, &'n str)>,
) -> Result<u32, String> {
    let short = shortened(name);
    let mut nearest: Option<(f64, &str)> = None;
    for (number, known) in all {
        if known.eq_ignore_ascii_case(name) {
            return Ok(number);
        }
        let similarity = similarity(&short, known);
        if nearest.is_none_or(|(most, _)| similarity > most) {
            nearest = Some((similarity, known));
        }
    }
    let nearest = nearest.map_or_else(String::new, |(_, known)| format!("; nearest: {known}"));
    Err(format!("no {what} is called \"{short}\"{nearest}"))
}

/// Returns the similarity of two names, from 0 to 1.
fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}

/// Returns a sentence with the names that are most similar to an unknown one.
fn similar(wrong: &str, names: &[String]) -> String {
    let mut names: Vec<&String> = names.iter().collect();
    if names.is_empty() {
        return "there are none".to_owned();
    }
    names.sort_by(|a, b| similarity(wrong, b).total_cmp(&similarity(wrong, a)));
    names.truncate(8);
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    format!("fields are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use hpimount_containers::io::Endian;

    use super::*;
    use crate::view::edit::{Form, Place, value_of_json};
    use crate::view::{Alone, node};

    #[test]
    fn long_values_are_shortened_in_messages() {
        let long = "x".repeat(1 << 20);
        let reason = number_named("event", &long, [(1, "Run")].into_iter()).unwrap_err();
        assert!(reason.ends_with("xxx\"; nearest: Run"), "{reason}");
        for form in [Form::U8, Form::Float, Form::Code, Form::Hex(2)] {
            let node = Node::from(1).stored(Place::new(0, Endian::Big, form));
            let mut differences = Differences::new(&Alone);
            differences.whole(
                &node::map([("a", node)]),
                &value_of_json(format!("{{\"a\": \"{long}\"}}").as_bytes()).unwrap(),
            );
            let found = differences.finish().problems;
            assert!(found.len() == 1 && found[0].len() < 200, "{form:?}");
        }
    }

    #[test]
    fn a_count_is_named_by_the_number_of_the_edited_element() {
        let row = |number: i64| {
            let count = Node::from(number).ruled(Rule::Count("names"));
            node::map([("name", number.into()), ("count", count)])
        };
        let rows = Node::List([1, 2, 3].map(row).into()).ruled(Rule::Elements(Elements {
            ranges: vec![0..1, 1..2, 2..3],
            start: 0,
            counts: Vec::new(),
            most: 3,
            least_length: 0,
            kind: None,
            blank: Box::new(|_| Err("has no form".to_owned())),
        }));
        let edited = br#"{"rows": [{"name": 2, "count": 2}, {"name": 3, "count": 9}]}"#;
        let mut differences = Differences::new(&Alone);
        let edited = value_of_json(edited).unwrap();
        differences.whole(&node::map([("rows", rows)]), &edited);
        let problem = "rows[1].count: follows from the list names";
        assert_eq!(differences.finish().problems, [problem]);
    }
}
