//! Placed objects of text files: numbers and rotations (FORMATS, GTA 6.3).

use crate::document::schema::IPL;
use crate::document::{Document, Row};
use hpimount_assets::model::math::finite;

/// A placed object.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Number of its line.
    pub line: u32,
    /// Number of its model in the game.
    pub id: i64,
    /// Name of its model.
    pub model: String,
    /// Interior in the low byte, and flags; `None` in files of the first game.
    pub interior: Option<i64>,
    /// Position.
    pub position: [f32; 3],
    /// Rotation: a unit quaternion, the conjugate of the stored one.
    pub rotation: [f32; 4],
    /// Number of the distant replacement.
    pub lod: Option<usize>,
}

/// Converts a stored rotation to the actual one, or returns `None` if it has no
/// direction.
pub fn drawn([x, y, z, w]: [f32; 4]) -> Option<[f32; 4]> {
    let length = [x, y, z, w]
        .iter()
        .map(|part| part * part)
        .sum::<f32>()
        .sqrt();
    let is_direction = length.is_finite() && length > 0.0;
    // A difference has no negative zero.
    is_direction.then(|| [0.0 - x, 0.0 - y, 0.0 - z, w].map(|part| part / length))
}

/// Returns the object of a row of the section `inst`.
///
/// # Errors Returns the problem of the row.
pub fn instance(document: &Document, row: &Row) -> Result<Instance, String> {
    let named = document.named(&IPL, "inst", row);
    if !named.has_form() {
        return Err(format!("has {} fields", named.fields.len()));
    }
    let text = |name: &str| named.get(name);
    let integer = |name| text(name).and_then(|text| text.parse::<i64>().ok());
    let number = |name: &str| {
        let value = text(name).and_then(|text| text.parse::<f32>().ok());
        let value = value.filter(|value| value.is_finite());
        value.ok_or_else(|| format!("{name} is not a number"))
    };
    let rotation = [number("rx")?, number("ry")?, number("rz")?, number("rw")?];
    Ok(Instance {
        line: row.line,
        id: integer("id").ok_or("id is not a number")?,
        model: text("model").unwrap_or_default().to_owned(),
        interior: integer("interior"),
        position: [number("x")?, number("y")?, number("z")?].map(finite),
        rotation: drawn(rotation).ok_or("its rotation has the length 0")?,
        lod: integer("lod").and_then(|lod| usize::try_from(lod).ok()),
    })
}

/// Number of fields of a row that ends with the number of a distant replacement.
const WITH_LOD: usize = 11;

/// Returns a document with warnings about invalid rows of the section `inst`, and about
/// replacements that do not exist.
pub fn checked(mut document: Document) -> Document {
    let rows = document.rows("inst");
    let count = rows.len();
    let mut problems = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        // Other numbers of fields share a warning.
        let fields = document.fields(row).count();
        if IPL.columns("inst", fields).is_none() {
            continue;
        }
        let line = row.line;
        if let Err(problem) = instance(&document, row) {
            problems.push(format!("line {line}: {problem}"));
        }
        // Rows of the first games lack this field.
        let last = document.fields(row).last().filter(|_| fields == WITH_LOD);
        let lod = last.and_then(|lod| usize::try_from(lod.parse::<i64>().ok()?).ok());
        if let Some(lod) = lod.filter(|&lod| lod >= count || lod == number) {
            problems.push(format!("line {line}: LOD {lod} of {count}"));
        }
    }
    for problem in problems {
        document.warnings.push(problem);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;

    #[test]
    fn objects_are_turned_by_the_conjugate_of_the_stored_rotation() {
        let text = "inst\n7 crate 0 1 2 3 0 0 -1.4 1.4 -1\n8 old 1 2 3 1 1 1 0 0 0 1\nend\n";
        let document = parse(text.as_bytes(), &IPL).unwrap();
        let rows = document.rows("inst");
        let found = instance(&document, &rows[0]).unwrap();
        assert_eq!(
            (found.id, found.model.as_str(), found.lod),
            (7, "crate", None)
        );
        assert_eq!(found.position, [1.0, 2.0, 3.0]);
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let parts = found.rotation.iter().zip([0.0, 0.0, half, half]);
        assert!(parts.clone().all(|(a, b)| (a - b).abs() < 1e-6));
        let old = instance(&document, &rows[1]).unwrap();
        assert_eq!((old.interior, old.rotation[3]), (None, 1.0));
    }

    #[test]
    fn objects_that_cannot_be_placed_are_warnings() {
        let rows = [
            "7 a 0 1 2 3 0 0 0 0 -1",
            "7 b 0 x 2 3 0 0 0 1 -1",
            "7 c 0 1 2 3 0 0 0 1 2",
        ];
        let text = format!("inst\n{}\nend\n", rows.join("\n"));
        let document = checked(parse(text.as_bytes(), &IPL).unwrap());
        assert_eq!(
            document.warnings.texts(),
            [
                "line 2: its rotation has the length 0",
                "line 3: x is not a number",
                "line 4: LOD 2 of 3",
            ]
        );
    }
}
