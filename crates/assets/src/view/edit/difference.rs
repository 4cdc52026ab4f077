//! What an edited file has changed.

use std::collections::{HashMap, HashSet};

use hpimount_record::Value;

use super::What;
use super::patch::{Change, Content, Element, patched};
use super::place::Place;
use crate::view::AssetContext;
use crate::view::node::{Elements, Node, Rule};

/// The largest number of pairs of elements that two lists are compared by. Longer
/// lists are paired by position between their equal ends.
const MAX_PAIRS: usize = 1 << 22;

/// What edited values have changed.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The changes.
    pub(super) changes: Vec<Change>,
    /// What cannot be changed so: each with the path of the value in front.
    pub(super) problems: Vec<String>,
}

/// Compares edited values with the values as they are shown.
pub(super) struct Differences<'c> {
    context: &'c dyn AssetContext,
    found: Found,
    /// Counts that were edited, with the paths of their lists.
    counts: Vec<(String, Value, &'static str)>,
    /// The values are those of a new element, so that what follows from something else
    /// cannot be known before.
    is_new: bool,
}

/// Parses an edited JSON file.
///
/// # Errors
/// Returns an error with its line and column.
pub fn value_of_json(file: &[u8]) -> Result<Value, String> {
    let text = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    let text = std::str::from_utf8(text)
        .map_err(|error| format!("is not UTF-8 at byte {}", error.valid_up_to()))?;
    Value::parse(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or_default();
        format!("{line}:{column}: is no JSON: {reason}")
    })
}

impl<'c> Differences<'c> {
    /// Begins a comparison.
    pub(super) fn new(context: &'c dyn AssetContext) -> Self {
        Self {
            context,
            found: Found::default(),
            counts: Vec::new(),
            is_new: false,
        }
    }

    /// Returns what was found.
    pub(super) fn finish(mut self) -> Found {
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

    fn problem(&mut self, path: &str, reason: impl std::fmt::Display) {
        self.found.problems.push(match path {
            "" => reason.to_string(),
            _ => format!("{path}: {reason}"),
        });
    }

    /// Compares a value at a path such as `links[2].target`.
    pub(super) fn node(&mut self, node: &Node<'_>, edited: &Value, path: &str) {
        match node {
            Node::Ruled(inner, rule) => self.ruled(inner, rule, edited, path),
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

    /// Compares the value at a path with an edited one.
    pub(super) fn at(&mut self, node: &Node<'_>, path: &str, edited: &Value) {
        let is_found = find(node, path, &mut |node| self.node(node, edited, path));
        if !is_found {
            self.problem(path, "is no field here");
        }
    }

    /// Adds rows to the list at a path, and deletes some.
    pub(super) fn rows(&mut self, node: &Node<'_>, path: &str, rows: &[&What]) {
        let is_found = find(node, path, &mut |node| match node {
            Node::Ruled(_, Rule::Elements(list)) => self.changed_rows(list, path, rows),
            _ => self.problem(path, "has a fixed number of elements"),
        });
        if !is_found {
            self.problem(path, "is no list here");
        }
    }

    fn changed_rows(&mut self, list: &Elements<'_>, path: &str, rows: &[&What]) {
        let deleted = |index: &usize| {
            let mut rows = rows.iter();
            rows.any(|row| matches!(row, What::Deleted(_, deleted) if deleted == index))
        };
        let kept = (0..list.ranges.len()).filter(|index| !deleted(index));
        let mut order: Vec<Element> = kept.map(Element::Old).collect();
        for row in rows {
            if let What::Added(_, value) = row {
                match self.new_element(list, value, &format!("{path}[{}]", order.len())) {
                    Some(bytes) => order.push(Element::New(bytes)),
                    None => return,
                }
            }
        }
        match order.len() <= list.most {
            true => self.order(list, order, path),
            false => {
                let (has, most) = (order.len(), list.most);
                self.problem(
                    path,
                    format!("has {has} elements, at most {most} are possible"),
                );
            }
        }
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
                Ok(encoded) => self.found.changes.push(Change {
                    path: path.to_owned(),
                    value: edited.clone(),
                    content: Content::Bytes {
                        offset: place.offset,
                        bytes: encoded.bytes,
                        mask: encoded.mask,
                    },
                }),
                Err(reason) => self.problem(path, reason),
            },
            Rule::Derived(_) | Rule::Count(_) if self.is_new => {}
            Rule::Derived(reason) => self.problem(path, reason),
            Rule::Count(list) => self.counts.push((path.to_owned(), edited.clone(), list)),
            Rule::Elements(_) => {}
        }
    }

    fn map(&mut self, node: &Node<'_>, edited: &Value, path: &str) {
        let Value::Map(entries) = edited else {
            return self.problem(path, "must be an object with fields");
        };
        for (key, edited) in entries {
            let inner = match path {
                "" => key.clone().into_owned(),
                _ => format!("{path}.{key}"),
            };
            let mut names = Vec::new();
            let mut is_known = false;
            node.for_each(&mut |name, child| {
                if name == Some(key) {
                    is_known = true;
                    self.node(child, edited, &inner);
                } else {
                    names.extend(name.map(str::to_owned));
                }
            });
            if !is_known {
                let reason = format!("is no field here; {}", similar(key, &names));
                self.problem(&inner, reason);
            }
        }
    }

    fn list(&mut self, node: &Node<'_>, edited: &Value, path: &str) {
        let mut needed = 0;
        node.for_each(&mut |_, _| needed += 1);
        let given = color(edited, needed).or_else(|| in_cell(edited));
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

    /// Compares a list that can grow and shrink. Elements that are equal, or else at
    /// the same place between two that are, are the same; those that are left are new
    /// or deleted.
    fn elements(&mut self, node: &Node<'_>, list: &Elements<'_>, edited: &Value, path: &str) {
        let in_cell = in_cell(edited);
        let Some(Value::List(values)) = in_cell.as_ref().or(Some(edited)) else {
            return self.problem(path, "must be a list");
        };
        if values.len() > list.most {
            let (has, most) = (values.len(), list.most);
            return self.problem(
                path,
                format!("has {has} elements, at most {most} are possible"),
            );
        }
        let mut shown = Vec::with_capacity(list.ranges.len());
        node.for_each(&mut |_, child| shown.push(child.to_value()));
        let pairs = paired(&shown, values);
        let new_of: HashMap<usize, &Value> = pairs
            .iter()
            .zip(values)
            .filter_map(|(pair, value)| Some(((*pair)?, value)))
            .collect();
        let mut index = 0;
        node.for_each(&mut |_, child| {
            if let Some(value) = new_of.get(&index) {
                self.node(child, value, &format!("{path}[{index}]"));
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
                    Some(bytes) => order.push(Element::New(bytes)),
                    None => return,
                },
            }
        }
        self.order(list, order, path);
    }

    /// Adds the change of a list to these elements.
    pub(super) fn order(&mut self, list: &Elements<'_>, order: Vec<Element>, path: &str) {
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

    /// Returns the bytes of a new element with these values; `None` after a problem.
    pub(super) fn new_element(
        &mut self,
        list: &Elements<'_>,
        value: &Value,
        path: &str,
    ) -> Option<Vec<u8>> {
        let (size, node) = match (list.blank)(value) {
            Ok(blank) => blank,
            Err(reason) => {
                self.problem(path, reason);
                return None;
            }
        };
        let mut inner = Differences {
            is_new: true,
            ..Differences::new(self.context)
        };
        inner.node(&node, value, path);
        let found = inner.finish();
        let made = match found.problems.is_empty() {
            true => patched(
                &vec![0; size],
                found.changes.iter().map(|change| (change, (0, ""))),
            )
            .map_err(|problems| problems.into_iter().map(|(_, problem)| problem).collect()),
            false => Err(found.problems),
        };
        made.map_err(|problems| self.found.problems.extend(problems))
            .ok()
    }
}

/// Calls `see` with the fact at a path, and returns whether there is one.
fn find(node: &Node<'_>, path: &str, see: &mut dyn FnMut(&Node<'_>)) -> bool {
    if path.is_empty() {
        see(node);
        return true;
    }
    let path = path.strip_prefix('.').unwrap_or(path);
    let end = path
        .get(1..)
        .unwrap_or_default()
        .find(['.', '['])
        .map_or(path.len(), |end| end + 1);
    let (step, rest) = path.split_at(end);
    let number = step
        .strip_prefix('[')
        .and_then(|step| step.strip_suffix(']'));
    let number: Option<usize> = number.and_then(|number| number.parse().ok());
    let mut index = 0;
    let mut is_found = false;
    node.for_each(&mut |name, child| {
        let is_wanted = match name {
            Some(name) => name == step,
            None => number == Some(index),
        };
        index += 1;
        if is_wanted && !is_found {
            is_found = find(child, rest, see);
        }
    });
    is_found
}

/// Returns whether an edited value says what is shown. Of maps, only the keys that it
/// has are compared.
fn is_same(shown: &Value, edited: &Value) -> bool {
    match (shown, edited) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(shown), Value::Bool(edited)) => shown == edited,
        (Value::Bool(shown), Value::Text(text)) => shown.to_string().eq_ignore_ascii_case(text),
        (Value::Integer(shown), edited) => edited.integer() == Some(*shown),
        (Value::Float(shown), edited) => match edited.number() {
            Some(number) => number as f32 == *shown,
            None => edited.to_string() == shown.to_string(),
        },
        (Value::Double(shown), edited) => edited.number() == Some(*shown),
        (Value::Text(shown), Value::Text(edited)) => shown == edited,
        (Value::List(shown), Value::List(edited)) => {
            shown.len() == edited.len() && shown.iter().zip(edited).all(|(a, b)| is_same(a, b))
        }
        (Value::Map(_), Value::Map(edited)) => edited
            .iter()
            .all(|(key, value)| shown.get(key).is_some_and(|shown| is_same(shown, value))),
        _ => false,
    }
}

/// Returns which shown element each edited one is.
fn paired(shown: &[Value], edited: &[Value]) -> Vec<Option<usize>> {
    let is_equal = |(old, new): (usize, usize)| is_same(&shown[old], &edited[new]);
    let common = shown.len().min(edited.len());
    let first = (0..common).take_while(|&n| is_equal((n, n))).count();
    let from_end = |n: usize| (shown.len() - 1 - n, edited.len() - 1 - n);
    let last = (0..common - first)
        .take_while(|&n| is_equal(from_end(n)))
        .count();
    let mut pairs: Vec<Option<usize>> = vec![None; edited.len()];
    for (index, pair) in pairs.iter_mut().enumerate() {
        if index < first {
            *pair = Some(index);
        } else if index >= edited.len() - last {
            *pair = Some(index + shown.len() - edited.len());
        }
    }
    let old = first..shown.len() - last;
    let new = first..edited.len() - last;
    if old.len().saturating_mul(new.len()) <= MAX_PAIRS {
        for (old, new) in common_elements(&old, &new, is_equal) {
            pairs[new] = Some(old);
        }
    }
    pair_moved(&mut pairs, new.clone(), old.clone(), is_equal);
    pair_by_position(&mut pairs, new, old);
    pairs
}

/// Returns the longest common subsequence, as pairs of positions.
fn common_elements(
    old: &std::ops::Range<usize>,
    new: &std::ops::Range<usize>,
    is_equal: impl Fn((usize, usize)) -> bool,
) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    let mut equal = vec![false; old.len() * new.len()];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            let is_pair = is_equal((old.start + row, new.start + column));
            equal[row * new.len() + column] = is_pair;
            let at = row * width + column;
            lengths[at] = match is_pair {
                true => lengths[at + width + 1] + 1,
                false => lengths[at + width].max(lengths[at + 1]),
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < old.len() && column < new.len() {
        let at = row * width + column;
        if equal[row * new.len() + column] {
            pairs.push((old.start + row, new.start + column));
            row += 1;
            column += 1;
        } else if lengths[at + width] >= lengths[at + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// Pairs elements that were moved.
fn pair_moved(
    pairs: &mut [Option<usize>],
    new: std::ops::Range<usize>,
    old: std::ops::Range<usize>,
    is_equal: impl Fn((usize, usize)) -> bool,
) {
    if old.len().saturating_mul(new.len()) > MAX_PAIRS {
        return;
    }
    let mut used: HashSet<usize> = pairs.iter().flatten().copied().collect();
    for index in new
        .filter(|&index| pairs[index].is_none())
        .collect::<Vec<_>>()
    {
        let mut left = old.clone().filter(|old| !used.contains(old));
        let found = left.find(|&old| is_equal((old, index)));
        used.extend(found);
        pairs[index] = found;
    }
}

/// Pairs what is left between two pairs by position.
fn pair_by_position(
    pairs: &mut [Option<usize>],
    new: std::ops::Range<usize>,
    old: std::ops::Range<usize>,
) {
    let used: HashSet<usize> = pairs.iter().flatten().copied().collect();
    let mut next = old.start;
    for index in new {
        match pairs[index] {
            Some(old) => next = next.max(old + 1),
            None if next < old.end && !used.contains(&next) => {
                pairs[index] = Some(next);
                next += 1;
            }
            None => {}
        }
    }
}

/// Returns the elements of a list that is in one cell, with blanks between them.
fn in_cell(edited: &Value) -> Option<Value> {
    match edited {
        Value::Text(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
        Value::Null => Some(Value::List(Vec::new())),
        _ => None,
    }
}

/// Returns the parts of a color as `#rrggbb` or `#rrggbbaa`.
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

/// Returns the number with this name, without regard to case. `what` is what has such
/// names, such as "event".
///
/// # Errors
/// Returns an error with the most similar name for an unknown one.
pub fn number_named<'n>(
    what: &str,
    name: &str,
    all: impl Iterator<Item = (u32, &'n str)>,
) -> Result<u32, String> {
    let mut nearest: Option<(f64, &str)> = None;
    for (number, known) in all {
        if known.eq_ignore_ascii_case(name) {
            return Ok(number);
        }
        let similarity = similarity(name, known);
        if nearest.is_none_or(|(most, _)| similarity > most) {
            nearest = Some((similarity, known));
        }
    }
    let nearest = nearest.map_or_else(String::new, |(_, known)| format!("; nearest: {known}"));
    Err(format!("no {what} is called \"{name}\"{nearest}"))
}

/// Returns how similar two names are, from 0 to 1.
fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}

/// Returns a sentence with the names that are most similar to a wrong one.
pub(crate) fn similar(wrong: &str, names: &[String]) -> String {
    let mut names: Vec<&String> = names.iter().collect();
    if names.is_empty() {
        return "there are none".to_owned();
    }
    names.sort_by(|a, b| similarity(wrong, b).total_cmp(&similarity(wrong, a)));
    names.truncate(8);
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    format!("fields are {}", names.join(", "))
}

/// Returns a place of a number at this offset, for counts.
impl Place {
    pub(super) fn with_number(&self, number: u32) -> Vec<u8> {
        self.number(number, u32::MAX, self.form.size()).bytes
    }
}
