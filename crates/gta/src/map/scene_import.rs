//! Edited maps: objects that were moved, turned, copied or deleted in `map.glb`, as
//! changes of the rows of the section `inst`.

use std::collections::HashMap;

use super::objects::{Object, Objects};
use super::scene;
use crate::models;
use hpimount_assets::model::pairing::Pairing;
use hpimount_assets::model::{Transform, gltf};
use hpimount_assets::view::edited_table::{Added, Change, Deleted, Differences};
use hpimount_assets::view::import::{Edit, Problems};

/// The columns of places, and of rotations as they are stored.
const PLACE: [&str; 3] = ["x", "y", "z"];
const ROTATION: [&str; 4] = ["rx", "ry", "rz", "rw"];

/// Differences of rotations that are rounding.
const NOTHING: f32 = 1e-5;

/// The row of an object: its line, and its fields by their names.
pub(super) trait Row {
    /// Returns the line of a row.
    fn line(&self, row: usize) -> u64;

    /// Returns the fields of a row.
    fn fields(&self, row: usize) -> Vec<(String, String)>;
}

/// Returns what an edited `map.glb` changes in the rows of the objects.
///
/// # Errors
/// Returns all objects that cannot be changed so, by the names of their nodes.
pub(super) fn differences(
    edit: &Edit<'_>,
    objects: &Objects,
    rows: &dyn Row,
) -> Result<Differences, String> {
    let models = models::models(edit.context);
    let mut built = scene::build(objects, &models, edit.context);
    built.room.clear();
    let edited = gltf::read(edit.file, &|bytes| edit.context.reserve(bytes))?;
    let pairing = Pairing::new(&built.scene, &edited)?;
    let mut map = Map {
        pairing: &pairing,
        objects,
        rows,
        found: Differences::default(),
        problems: Problems::default(),
        by_name: HashMap::new(),
    };
    let placed = pairing.placed(|_| true);
    for (object, node) in objects.objects.iter().zip(&built.objects) {
        let Some(node) = *node else { continue };
        map.object(object, node, placed[node].changed);
    }
    for &node in &pairing.new {
        map.copy(node);
    }
    map.problems.check()?;
    Ok(map.found)
}

struct Map<'a> {
    pairing: &'a Pairing<'a>,
    objects: &'a Objects,
    rows: &'a dyn Row,
    found: Differences,
    problems: Problems,
    /// The first object of each name.
    by_name: HashMap<String, usize>,
}

impl Map<'_> {
    fn object(&mut self, object: &Object, node: usize, changed: Option<Transform>) {
        let name = &self.pairing.shown.nodes[node].name;
        self.by_name
            .entry(name.to_ascii_lowercase())
            .or_insert(object.row);
        let line = self.rows.line(object.row);
        let Some(found) = self.pairing.nodes[node] else {
            if self.pairing.deleted.contains(&node) {
                self.found.deleted.push(Deleted {
                    row: object.row,
                    line,
                });
            }
            return;
        };
        let scale = self.pairing.world(found).scale();
        if (scale - 1.0).abs() > 1e-3 {
            let problem = "is scaled, which the games do not do: scale its model";
            self.problems.add(format!("node \"{name}\": {problem}"));
        }
        let Some(changed) = changed else { return };
        let key = format!("node \"{name}\"");
        for (column, text) in changed_fields(object, &changed) {
            self.found.changes.push(Change {
                row: object.row,
                column: column.into(),
                text,
                line,
                key: key.as_str().into(),
            });
        }
    }

    /// Adds the row of a copied object: that of the original, with its own place.
    fn copy(&mut self, node: usize) {
        let edited = &self.pairing.edited.scene.nodes[node];
        let stem = edited
            .name
            .rsplit_once('.')
            .map_or(&*edited.name, |(stem, _)| stem);
        let row = self.by_name.get(&stem.to_ascii_lowercase());
        let object = row.and_then(|&row| self.objects.objects.iter().find(|one| one.row == row));
        let Some(object) = object else {
            let name = &edited.name;
            self.problems.add(format!(
                "node \"{name}\": is no copy of an object of this map, by its name"
            ));
            return;
        };
        let place = self.pairing.world(node).transform();
        // The root turns the axes.
        let root = self
            .pairing
            .origins
            .iter()
            .position(|origin| *origin == Some(0));
        let turned = root.and_then(|root| self.pairing.world(root).inverse());
        let place = turned.map_or(place, |turned| {
            turned.after(self.pairing.world(node)).transform()
        });
        let changed = changed_fields(object, &place);
        let cells = self
            .rows
            .fields(object.row)
            .into_iter()
            .map(|(name, text)| {
                let new = changed.iter().find(|(column, _)| *column == name);
                let text = match (new, name.as_str()) {
                    (Some((_, text)), _) => text.clone(),
                    (None, "lod") => "-1".to_owned(),
                    (None, _) => text,
                };
                (name.as_str().into(), text)
            });
        self.found.added.push(Added {
            line: self.rows.line(object.row),
            cells: cells.collect(),
        });
    }
}

/// Returns the fields of an object that a transformation changes.
fn changed_fields(object: &Object, place: &Transform) -> Vec<(&'static str, String)> {
    let parts = PLACE
        .into_iter()
        .zip(object.position.into_iter().zip(place.translation));
    let parts = parts.filter(|(_, (old, new))| (old - new).abs() > 1e-4 * old.abs().max(1.0));
    let mut fields: Vec<_> = parts
        .map(|(column, (_, new))| (column, number(new)))
        .collect();
    let same: f32 = (object.rotation.iter().zip(place.rotation))
        .map(|(old, new)| old * new)
        .sum();
    if 1.0 - same.abs() > NOTHING {
        // The file has the inverse; of the two signs, the nearest.
        let sign = if same < 0.0 { -1.0 } else { 1.0 };
        let [x, y, z, w] = place.rotation.map(|part| sign * part);
        let stored = [-x, -y, -z, w].map(|part| part + 0.0);
        fields.extend(ROTATION.into_iter().zip(stored.map(number)));
    }
    fields
}

/// Returns a number in as few digits as it takes but for rounding.
fn number(value: f32) -> String {
    let most = 1e-6 * value.abs().max(1.0);
    for digits in 0..6 {
        let text = format!("{value:.digits$}");
        let near = text
            .parse::<f32>()
            .is_ok_and(|near| (near - value).abs() <= most);
        if near {
            return if text == "-0" { "0".to_owned() } else { text };
        }
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_digits_of_rounding() {
        let pairs = [
            (115.5, "115.5"),
            (12.000_001, "12"),
            (-0.000_000_1, "0"),
            (0.707_106_77, "0.70710677"),
        ];
        for (value, text) in pairs {
            assert_eq!(number(value), text);
        }
    }
}
