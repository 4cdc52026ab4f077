//! Helpers of the views of this family.

use hpimount_assets::view::edit::{Form, Place};
use hpimount_assets::view::node::Node;
use hpimount_containers::io::Endian;
use hpimount_record::Value;

/// Rounds a number to three decimals.
pub(crate) fn rounded(number: f64) -> Value {
    Value::Double((number * 1000.0).round() / 1000.0)
}

/// Formats a hash or an id.
pub(crate) fn hash_text(hash: u32) -> String {
    format!("0x{hash:08X}")
}

/// Returns a value at an offset of the file.
pub(crate) fn stored<'a>(value: impl Into<Value>, offset: usize, form: Form) -> Node<'a> {
    Node::Value(value.into()).stored(Place::new(offset, Endian::Little, form))
}

/// The steps of a unit of length and of a full turn.
const UNIT: f64 = 4096.0;

/// Returns the field of a cell of a position or of angles, and its value; `None` for
/// other columns.
pub(crate) fn place_cell(column: &str, text: &str) -> Option<(&'static str, Value)> {
    let units = || steps(text, UNIT);
    let degrees = |angle| steps(angle, UNIT / 360.0);
    Some(match column {
        "x" => ("position[0]", units()),
        "y" => ("position[1]", units()),
        "z" => ("position[2]", units()),
        "angles" => ("angles", text.split_whitespace().map(degrees).collect()),
        _ => return None,
    })
}

/// Returns the integer number of steps for a text in a table. If a text is not a
/// number, it is returned, and the field refuses it.
fn steps(text: &str, unit: f64) -> Value {
    let text = Value::text(text.to_owned());
    let whole = || text.integer().map(|number| number as f64);
    match text.number().or_else(whole) {
        Some(number) => Value::Integer((number * unit).round() as i64),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_units_and_angles_in_degrees() {
        let place = |column, text| place_cell(column, text).unwrap().1;
        assert_eq!(place("y", "-1.5"), Value::Integer(-6144));
        assert_eq!(
            place("angles", "90 0"),
            Value::from_iter([Value::Integer(1024), Value::Integer(0)])
        );
        for text in ["nan", "inf", "1,5", ""] {
            assert_eq!(place("x", text), Value::text(text.to_owned()));
        }
        assert!(place_cell("flags", "1").is_none());
    }
}
