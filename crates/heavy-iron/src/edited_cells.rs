//! The values that edited cells of tables stand for.

use std::collections::HashMap;

use hpimount_assets::view::edit::{Form, Place, Rule};
use hpimount_assets::view::node::Node;
use hpimount_containers::io::Endian;
use hpimount_record::Value;

use crate::fields;
use crate::record::Layout;

/// The paths of the values of an asset by their columns. The columns of rows that are a
/// list begin with the path of the element.
pub(super) type Paths = HashMap<String, String>;

/// Returns the path of the value that a cell shows of an element of a list with these
/// fields, and the value that a text gives it; `None` if the column shows no field.
pub(super) fn of_record(
    (list, fields): (&str, Layout),
    row: usize,
    column: &str,
    text: &str,
) -> Option<(String, Value)> {
    let fields = Node::Map(fields::blank(fields, Endian::Little));
    let mut paths = Paths::new();
    columns(&fields, "", "", &mut paths);
    let field = paths.remove(column)?;
    Some((format!("{list}[{row}].{field}"), value_of(column, text)))
}

/// Adds the columns of the fields of a map.
pub(super) fn columns(node: &Node<'_>, prefix: &str, path: &str, paths: &mut Paths) {
    node.for_each(&mut |name, child| {
        let Some(name) = name else { return };
        let inner = match path {
            "" => name.to_owned(),
            _ => format!("{path}.{name}"),
        };
        if name == "params" {
            for number in 1..=4 {
                paths.insert(
                    format!("{prefix}param{number}"),
                    format!("{inner}[{}]", number - 1),
                );
            }
        } else {
            leaf(child, &format!("{prefix}{name}"), &inner, paths);
        }
    });
}

/// Adds the columns of a field: of a reference two, of a vector one for each part.
pub(super) fn leaf(node: &Node<'_>, column: &str, path: &str, paths: &mut Paths) {
    let mut add = |column: String, path: String| {
        paths.entry(column).or_insert(path);
    };
    match node {
        Node::Ruled(_, Rule::Stored(Place { form, .. })) => {
            if matches!(form, Form::Reference(_)) {
                add(format!("{column}_name"), path.to_owned());
            }
            add(column.to_owned(), path.to_owned());
        }
        Node::Ruled(_, Rule::Count(_)) => add(column.to_owned(), path.to_owned()),
        Node::List(parts) => {
            let is_color = parts.iter().all(|part| {
                matches!(part, Node::Ruled(_, Rule::Stored(Place { form, .. })) if form.size() == 1)
            });
            let names = if is_color { "rgba" } else { "xyzw" };
            for (index, name) in names.chars().take(parts.len()).enumerate() {
                add(format!("{column}_{name}"), format!("{path}[{index}]"));
            }
        }
        _ => {}
    }
}

/// Returns the value of a cell. The names of a list are separated by `; `.
pub(super) fn value_of(column: &str, text: &str) -> Value {
    match (column, text) {
        (_, "") => Value::Null,
        ("list_name", names) => names.split("; ").map(str::to_owned).collect(),
        _ => text.to_owned().into(),
    }
}
