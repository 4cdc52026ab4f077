//! Import of edited tables of collision models.

use super::parse::{self, BoxShape, Model, Sphere};
use hpimount_assets::view::ViewFormat;
use hpimount_assets::view::edited_table::{Change, Rules, of_view};
use hpimount_assets::view::import::{Edit, Imported, NOT_THIS_FILE, Problems};
use hpimount_assets::view::patches::Patches;
use hpimount_containers::io::Endian;
use hpimount_containers::text::windows_1252_byte;
use hpimount_record::{Field, FixedSize, Problem, Value, Writer};

const SHAPES: &str = "shapes.tsv";
const MODELS: &str = "models.tsv";

/// The columns with 32-bit numbers.
const COORDINATES: [&str; 7] = ["x1", "y1", "z1", "x2", "y2", "z2", "radius"];

/// The columns of a surface, one byte each.
const SURFACE: [&str; 4] = ["material", "flags", "brightness", "light"];

/// Rules for editing the table of shapes.
const RULES: Rules<'_> = Rules {
    keys: &[&["model", "shape", "index"]],
    name: Some("name"),
    is_editable: &|column| COORDINATES.contains(&column) || SURFACE.contains(&column),
    ..Rules::FIXED_ROWS
};

/// Encodes an edited table.
pub(super) fn import(edit: &Edit<'_>, format: &ViewFormat) -> Result<Imported, String> {
    let col = parse::parse(edit.asset).map_err(|error| error.to_string())?;
    let shapes: Vec<_> = col.models.iter().flat_map(shapes).collect();
    let found = match (&edit.part.folder, &*edit.part.name) {
        (None, SHAPES) => of_view(format, edit, &RULES)?,
        (None, MODELS) => {
            let rules = Rules {
                keys: &[&["index"]],
                is_editable: &|column| ["name", "id"].contains(&column),
                ..RULES
            };
            of_view(format, edit, &rules)?
        }
        _ => return Err(NOT_THIS_FILE.to_owned()),
    };
    let mut patches = Patches::default();
    let mut problems = Problems::default();
    for change in &found.changes {
        let patch = match &*edit.part.name {
            SHAPES => match &shapes[change.row] {
                Some(shape) => shape.patch(change),
                None => Err(Problem::new("is derived from the faces")),
            },
            _ => header_patch(&col.models[change.row], change),
        };
        match patch {
            Ok((offset, bytes)) => patches.replace(offset..offset + bytes.len(), bytes),
            Err(problem) => problems.add(change.problem(problem.reason())),
        }
    }
    problems.check()?;
    let asset = patches
        .apply(edit.asset)
        .ok_or("has shapes that are not in the file")?;
    Ok(found.imported(edit, asset))
}

/// A sphere or a box.
struct Shape {
    /// Offset in the file.
    offset: usize,
    /// The columns of its numbers, in order.
    coordinates: &'static [&'static str],
}

/// The numbers of spheres in version 1, of later spheres, and of boxes.
const FIRST_SPHERE: &[&str] = &["radius", "x1", "y1", "z1"];
const LATER_SPHERE: &[&str] = &["x1", "y1", "z1", "radius"];
const BOX: &[&str] = &["x1", "y1", "z1", "x2", "y2", "z2"];

/// Returns a shape for each row of a model in the table; `None` for materials of
/// meshes.
fn shapes(model: &Model) -> Vec<Option<Shape>> {
    let found = &model.shapes;
    let start = model.offset as usize;
    let (spheres, boxes) = (start + found.offsets.spheres, start + found.offsets.boxes);
    let sphere = match model.version {
        1 => FIRST_SPHERE,
        _ => LATER_SPHERE,
    };
    let shape = |start: usize, size: usize, coordinates| {
        move |index: usize| {
            Some(Shape {
                offset: start + index * size,
                coordinates,
            })
        }
    };
    let spheres = (0..found.spheres.len()).map(shape(spheres, Sphere::SIZE, sphere));
    let boxes = (0..found.boxes.len()).map(shape(boxes, BoxShape::SIZE, BOX));
    let materials = found.mesh.materials().chain(found.shadow.materials());
    spheres
        .chain(boxes)
        .chain(materials.map(|_| None))
        .collect()
}

/// The place and the bytes of a value.
type Patch = Result<(usize, Vec<u8>), Problem>;

impl Shape {
    /// Returns the place and the bytes of an edited cell.
    fn patch(&self, change: &Change) -> Patch {
        let place = |columns: &[&str]| columns.iter().position(|name| *name == &*change.column);
        let surface = self.offset + 4 * self.coordinates.len();
        if let Some(place) = place(self.coordinates) {
            Ok((self.offset + 4 * place, bytes::<f32>(&change.text)?))
        } else if let Some(place) = place(&SURFACE) {
            Ok((surface + place, bytes::<u8>(&change.text)?))
        } else {
            Err(Problem::new("is no number of such a shape"))
        }
    }
}

/// Returns the bytes of a field with this value.
fn bytes<F: Field + Default>(text: &str) -> Result<Vec<u8>, Problem> {
    let mut field = F::default();
    field.set(&Value::text(text.to_owned()))?;
    let mut writer = Writer::new(Endian::Little);
    field.write(&mut writer);
    Ok(writer.bytes)
}

/// Offsets of a model's name and number, and the length of the name.
const NAME: usize = 8;
const ID: usize = 30;
const NAME_SIZE: usize = ID - NAME;

/// Returns the place and the bytes of an edited name or number of a model.
fn header_patch(model: &Model, change: &Change) -> Patch {
    let start = model.offset as usize;
    if &*change.column == "id" {
        return Ok((start + ID, bytes::<u16>(&change.text)?));
    }
    let letters = change.text.chars().map(windows_1252_byte);
    let name: Option<Vec<u8>> = letters.collect();
    let mut name = name
        .filter(|name| name.len() < NAME_SIZE && !name.contains(&0))
        .ok_or_else(|| Problem::new(format!("must have at most {} letters", NAME_SIZE - 1)))?;
    name.resize(NAME_SIZE, 0);
    Ok((start + NAME, name))
}

#[cfg(test)]
mod tests {
    use super::super::view::FORMAT;
    use super::*;
    use fixtures::col as build;
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered_text;

    fn with(bytes: &[u8], table: &str, edits: &[(&str, &str)]) -> Result<Vec<u8>, String> {
        let mut text = rendered_text(&FORMAT, bytes, table).unwrap();
        for (old, new) in edits {
            assert!(text.contains(old), "{old:?} is not in {text}");
            text = text.replace(old, new);
        }
        match edited(&FORMAT, bytes, table, text.as_bytes())? {
            Imported::Unchanged => Ok(bytes.to_vec()),
            Imported::Changed(changed) => Ok(changed.asset),
        }
    }

    #[test]
    fn the_edited_shapes_are_shown_in_all_versions() {
        let edits = [
            (
                "b\tsphere\t0\t1\t2\t3\t\t\t\t0.5\t\t9",
                "b\tsphere\t0\t1\t2.5\t3\t\t\t\t4\t\t8",
            ),
            (
                "b\tbox\t0\t-1\t-1\t-1\t1\t1\t1\t\t\t4\t1",
                "b\tbox\t0\t-1\t-2\t-1\t1\t1\t3\t\t\t4\t7",
            ),
        ];
        for version in 1..=4 {
            let bytes = [build::model(2, "a"), build::model(version, "b")].concat();
            assert_eq!(with(&bytes, SHAPES, &[]).unwrap(), bytes);
            let changed = with(&bytes, SHAPES, &edits).unwrap();
            let mut expected = rendered_text(&FORMAT, &bytes, SHAPES).unwrap();
            for (old, new) in edits {
                expected = expected.replace(old, new);
            }
            assert_eq!(rendered_text(&FORMAT, &changed, SHAPES).unwrap(), expected);
            let differing = bytes.iter().zip(&changed).filter(|(old, new)| old != new);
            assert_eq!(
                (changed.len(), differing.count()),
                (bytes.len(), 9),
                "version {version}"
            );
        }
    }

    #[test]
    fn names_and_numbers_of_models_change() {
        let bytes = [build::model(1, "a"), build::model(3, "b")].concat();
        let changed = with(&bytes, MODELS, &[("1\tb\t7", "1\tcrate\t300")]).unwrap();
        let mut expected = bytes.clone();
        let start = build::model(1, "a").len();
        expected[start + 8..start + 13].copy_from_slice(b"crate");
        expected[start + 30..start + 32].copy_from_slice(&300_u16.to_le_bytes());
        assert_eq!(changed, expected);
        let long = "1\ta_name_of_22_characters\t70000";
        assert_eq!(
            with(&bytes, MODELS, &[("1\tb\t7", long)]).unwrap_err(),
            "line 3, column name (b): must have at most 21 letters; \
             line 3, column id (b): \"70000\" is not from 0 to 65535"
        );
    }

    #[test]
    fn what_is_derived_or_missing_is_refused() {
        let bytes = build::model(1, "b");
        let edits = [
            ("sphere\t0\t1\t2\t3\t\t", "sphere\t0\t1\t2\tfar\t4\t"),
            ("\t1\t5\t\t\t", "\t1\t6\t\t\t"),
        ];
        assert_eq!(
            with(&bytes, SHAPES, &edits).unwrap_err(),
            "line 2, column z1 (b sphere 0): \"far\" is not a number that fits into 32 bits; \
             line 2, column x2 (b sphere 0): is no number of such a shape; \
             line 4, column material (b mesh 0): is derived from the faces"
        );
    }
}
