//! The columns of an archive's tables, and the paths of the values in them.

use std::collections::HashMap;

use super::objects::PLACE;
use crate::edited_cells::{Paths, columns, leaf};
use crate::parts::{BODY, DYNA};
use crate::table_view::sheet::MAX_LISTED;
use hpimount_assets::view::node::Node;

/// The columns of a table of placements after `id`, `name` and `type`.
pub(super) const SCALE: [&str; 3] = ["scale_x", "scale_y", "scale_z"];

/// The lists of values that tables show.
pub(super) use crate::table_view::ROWS;
pub(super) const LINKS: &str = "links";

/// The ids of a group or of the next points.
pub(super) const LIST: &str = "list";

/// Returns the paths of an asset's values. `list` names the list of the table's rows,
/// if it is not the default one.
pub(super) fn of_values(values: &Node<'_>, list: Option<&str>) -> Paths {
    let mut paths = HashMap::new();
    values.for_each(&mut |name, node| {
        let Some(name) = name else { return };
        match name {
            "entity" => placed(node, &mut paths),
            "position" => {
                for (index, column) in PLACE[..3].iter().enumerate() {
                    paths.insert((*column).to_owned(), format!("position[{index}]"));
                }
            }
            "header" | "light_kit" | "rest" => {}
            LINKS => each(
                node,
                LINKS,
                |path, link, paths| {
                    columns(link, &format!("{path}."), path, paths);
                },
                &mut paths,
            ),
            "commands" => each(
                node,
                "commands",
                |path, command, paths| {
                    let column = path.replace("commands", ROWS);
                    columns(command, &format!("{column}."), path, paths);
                },
                &mut paths,
            ),
            _ if name == ROWS || Some(name) == list => each(
                node,
                name,
                |path, row, paths| {
                    columns(row, &format!("{path}."), path, paths);
                },
                &mut paths,
            ),
            LIST => {
                paths.insert(LIST.to_owned(), LIST.to_owned());
                paths.insert("list_name".to_owned(), LIST.to_owned());
            }
            BODY | DYNA => {
                columns(node, "", name, &mut paths);
                centre(node, name, &mut paths);
            }
            _ => {
                leaf(node, name, name, &mut paths);
                part(node, name, &mut paths);
            }
        }
    });
    paths
}

/// Adds the columns of a named part, or of the first elements of a named list.
fn part(node: &Node<'_>, name: &str, paths: &mut Paths) {
    let mut index = 0;
    node.for_each(&mut |field, child| match field {
        Some(field) => {
            // `motion_type` is also a name without the part's prefix.
            let prefix = match field.starts_with(name) {
                true => String::new(),
                false => format!("{name}_"),
            };
            leaf(
                child,
                &format!("{prefix}{field}"),
                &format!("{name}.{field}"),
                paths,
            );
        }
        None if index < MAX_LISTED => {
            let path = format!("{name}[{index}]");
            columns(child, &format!("{name}{index}_"), &path, paths);
            index += 1;
        }
        None => {}
    });
}

/// Calls `add` with the path of each element of a list.
fn each(node: &Node<'_>, name: &str, add: impl Fn(&str, &Node<'_>, &mut Paths), paths: &mut Paths) {
    let mut index = 0;
    node.for_each(&mut |_, child| {
        add(&format!("{name}[{index}]"), child, paths);
        index += 1;
    });
}

/// Adds the columns of an entity's placement.
fn placed(node: &Node<'_>, paths: &mut Paths) {
    let mut triple = |field: &str, columns: &[&str]| {
        for (index, column) in columns.iter().enumerate() {
            paths.insert((*column).to_owned(), format!("entity.{field}[{index}]"));
        }
    };
    node.for_each(&mut |name, _| match name {
        Some("pos") => triple("pos", &PLACE[..3]),
        Some("ang") => triple("ang", &PLACE[3..6]),
        Some("scale") => triple("scale", &SCALE),
        _ => {}
    });
    for column in &PLACE[6..] {
        paths.insert((*column).to_owned(), "entity.model".to_owned());
    }
}

/// Adds the columns of the position of an object that is not an entity.
fn centre(node: &Node<'_>, part: &str, paths: &mut Paths) {
    node.for_each(&mut |name, _| {
        if let Some(name @ ("pos" | "center")) = name {
            for (index, column) in PLACE[..3].iter().enumerate() {
                let path = format!("{part}.{name}[{index}]");
                paths.entry((*column).to_owned()).or_insert(path);
            }
        }
    });
}
