//! Numbers that select the fields of a part of an asset.

use hpimount_record::Value;

use super::difference::Differences;
use super::pairs::is_same;
use crate::view::node::{Node, Rule, Selector};
use crate::view::place::Encoded;

/// The name of the kind of a part, derived from the number.
const KIND: &str = "kind";

impl Differences<'_> {
    /// Replaces the fields of parts after their selector was edited. Returns the other
    /// values, or `None` if no selector was edited.
    pub(super) fn selected(&mut self, node: &Node<'_>, edited: &Value) -> Option<Value> {
        let mut rest = None;
        node.for_each(&mut |part, child| {
            let (Some(part), Node::Map(_)) = (part, child) else {
                return;
            };
            child.for_each(&mut |field, child| {
                let (Some(field), Node::Ruled(shown, Rule::Selects(selector))) = (field, child)
                else {
                    return;
                };
                let shown = shown.to_value();
                let number = edited.get(part).and_then(|part| part.get(field));
                if let Some(number) = number.filter(|number| !is_same(&shown, number)) {
                    let rest = rest.get_or_insert_with(|| edited.clone());
                    remove(rest, part, &|name| name == field);
                    self.select(
                        node,
                        selector,
                        &format!("{part}.{field}"),
                        (&shown, number),
                        rest,
                    );
                }
            });
        });
        rest
    }

    /// Selects other fields, and takes them from `rest`.
    fn select(
        &mut self,
        node: &Node<'_>,
        selector: &Selector<'_>,
        path: &str,
        (shown, edited): (&Value, &Value),
        rest: &mut Value,
    ) {
        let Selector {
            place, part, start, ..
        } = selector;
        let encoded = match place.encode(shown, edited, self.context) {
            Ok(encoded) => encoded,
            Err(reason) => return self.problem(path, reason),
        };
        let fields = |number: &Value| {
            let number = number
                .integer()
                .and_then(|number| u32::try_from(number).ok());
            (selector.fields)(number?)
        };
        let (Some(old), Some(new)) = (fields(shown), fields(edited)) else {
            return self.problem(
                path,
                format!("{} selects no known fields", edited.shortened()),
            );
        };
        let old = names(&old, |_| true);
        let (needed, derived) = (
            names(&new, |node| !is_derived(node)),
            names(&new, is_derived),
        );
        let others: Vec<String> = match find(node, part) {
            Some(shown) => shown
                .into_iter()
                .filter(|name| !old.contains(name))
                .collect(),
            None => Vec::new(),
        };
        let is_other = |name: &str| name != KIND && others.iter().any(|other| other == name);
        let given = remove(rest, part, &|name| !is_other(name));
        let is_own = |name: &str| name != KIND && !derived.iter().any(|derived| derived == name);
        let values: Vec<_> = given.into_iter().filter(|(name, _)| is_own(name)).collect();
        let is_complete = values.len() == needed.len()
            && needed
                .iter()
                .all(|name| values.iter().any(|(given, _)| given == name));
        if !is_complete {
            let needed = match needed.is_empty() {
                true => "no fields of its own".to_owned(),
                false => format!("the fields {}", needed.join(", ")),
            };
            return self.problem(path, format!("{} needs {needed}", edited.shortened()));
        }
        let values = Value::Map(values);
        if let Some(bytes) = self.new_bytes(selector.size, &new, &values, part) {
            let mask = vec![0xFF; bytes.len()];
            self.bytes(part, &values, *start, Encoded { bytes, mask });
            self.bytes(path, edited, place.offset, encoded);
        }
    }
}

/// Returns the names of the fields of a part.
fn find(node: &Node<'_>, part: &str) -> Option<Vec<String>> {
    let mut found = None;
    node.for_each(&mut |name, child| {
        if name == Some(part) {
            found = Some(names(child, |_| true));
        }
    });
    found
}

/// Returns the names of the fields that `is_wanted` accepts.
fn names(node: &Node<'_>, is_wanted: fn(&Node<'_>) -> bool) -> Vec<String> {
    let mut names = Vec::new();
    node.for_each(&mut |name, node| {
        names.extend(name.filter(|_| is_wanted(node)).map(str::to_owned));
    });
    names
}

/// Returns whether a field follows from others.
fn is_derived(node: &Node<'_>) -> bool {
    matches!(node, Node::Ruled(_, Rule::Derived(_)))
}

/// Removes fields of a part from values, and returns them.
fn remove(
    values: &mut Value,
    part: &str,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Vec<(std::borrow::Cow<'static, str>, Value)> {
    let Value::Map(parts) = values else {
        return Vec::new();
    };
    let Some((_, Value::Map(fields))) = parts.iter_mut().find(|(name, _)| name == part) else {
        return Vec::new();
    };
    let (removed, kept) = std::mem::take(fields)
        .into_iter()
        .partition(|(name, _)| is_wanted(name));
    *fields = kept;
    removed
}
