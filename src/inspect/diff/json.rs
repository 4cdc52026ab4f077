//! Differences between two JSON values, field by field.

use std::collections::HashMap;

use serde_json::Value;

use super::difference::Differences;
use super::text::ends_in_common;

/// Fields that identify the objects of a list, the best first.
const KEYS: [&str; 3] = ["id", "name", "index"];

/// Adds the differences between the values of a field. A list of objects is
/// compared by a field that identifies them, else by position; a list of numbers
/// or texts is one value.
pub(super) fn compare(field: String, old: &Value, new: &Value, found: &mut Differences) {
    match (old, new) {
        (old, new) if old == new => {}
        (Value::Object(old), Value::Object(new)) => {
            let inner = |name: &str| match field.as_str() {
                "" => name.to_owned(),
                field => format!("{field}.{name}"),
            };
            for (name, value) in old {
                match new.get(name) {
                    Some(other) => compare(inner(name), value, other, found),
                    None => found.add(inner(name), Some(value.clone()), None),
                }
            }
            for (name, value) in new {
                if !old.contains_key(name) {
                    found.add(inner(name), None, Some(value.clone()));
                }
            }
        }
        (Value::Array(olds), Value::Array(news)) if has_parts(olds) || has_parts(news) => {
            match KEYS
                .iter()
                .find_map(|key| Some((keyed(olds, key)?, keyed(news, key)?)))
            {
                Some((olds, news)) => by_key(&field, &olds, &news, found),
                None => by_position(&field, olds, news, found),
            }
        }
        (old, new) => found.add(field, Some(old.clone()), Some(new.clone())),
    }
}

/// Returns whether a list has objects or lists.
fn has_parts(list: &[Value]) -> bool {
    list.iter()
        .any(|value| value.is_object() || value.is_array())
}

/// The objects of a list with the values that identify them, in order.
struct Keyed<'a> {
    names: Vec<String>,
    values: HashMap<String, &'a Value>,
}

/// Returns the objects of a list by the values of a field; `None` if these do not
/// identify all of them.
fn keyed<'a>(list: &'a [Value], key: &str) -> Option<Keyed<'a>> {
    let mut found = Keyed {
        names: Vec::with_capacity(list.len()),
        values: HashMap::with_capacity(list.len()),
    };
    for object in list {
        let name = match object.get(key)? {
            Value::String(name) => name.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        if found.values.insert(name.clone(), object).is_some() {
            return None;
        }
        found.names.push(name);
    }
    Some(found)
}

fn by_key(field: &str, olds: &Keyed<'_>, news: &Keyed<'_>, found: &mut Differences) {
    for name in &olds.names {
        let field = format!("{field}[{name}]");
        match (olds.values.get(name), news.values.get(name)) {
            (Some(old), Some(new)) => compare(field, old, new, found),
            (Some(old), None) => found.add(field, Some((*old).clone()), None),
            (None, _) => {}
        }
    }
    for name in &news.names {
        if let Some(new) = news.values.get(name)
            && !olds.values.contains_key(name)
        {
            found.add(format!("{field}[{name}]"), None, Some((*new).clone()));
        }
    }
}

/// Compares lists whose items nothing identifies: what both begin and end with is
/// the same, and the rest is compared in order.
fn by_position(field: &str, olds: &[Value], news: &[Value], found: &mut Differences) {
    let (start, end) = ends_in_common(olds, news);
    let rest = |list: &[Value]| list[start..list.len() - end].to_vec();
    let (mut olds, mut news) = (rest(olds).into_iter(), rest(news).into_iter());
    for number in start.. {
        let field = format!("{field}[{number}]");
        match (olds.next(), news.next()) {
            (Some(old), Some(new)) => compare(field, &old, &new, found),
            (None, None) => break,
            (old, new) => found.add(field, old, new),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::inspect::diff::difference::Difference;

    fn differences(old: &Value, new: &Value) -> Vec<(String, Option<Value>, Option<Value>)> {
        let mut found = Differences::default();
        compare(String::new(), old, new, &mut found);
        let fields = found.finish().into_iter();
        fields
            .map(|difference| match difference {
                Difference::Field { field, old, new } => (field, old, new),
                Difference::Note(text) => (text, None, None),
            })
            .collect()
    }

    #[test]
    fn fields_differ_by_their_paths() {
        let old = json!({"a": {"b": 1, "gone": [1]}, "same": "x", "at": [1, 2]});
        let new = json!({"a": {"b": 2}, "same": "x", "at": [1, 3], "more": null});
        let expected = [
            ("a.b".to_owned(), Some(json!(1)), Some(json!(2))),
            ("a.gone".to_owned(), Some(json!([1])), None),
            ("at".to_owned(), Some(json!([1, 2])), Some(json!([1, 3]))),
            ("more".to_owned(), None, Some(json!(null))),
        ];
        assert_eq!(differences(&old, &new), expected);
        assert!(differences(&old, &old).is_empty());
    }

    #[test]
    fn objects_of_a_list_are_found_by_name_in_any_order() {
        let old = json!([{"name": "a", "x": 1}, {"name": "b"}, {"name": "c"}]);
        let new = json!([{"name": "c"}, {"name": "a", "x": 2}, {"name": "d"}]);
        let expected = [
            ("[a].x".to_owned(), Some(json!(1)), Some(json!(2))),
            ("[b]".to_owned(), Some(json!({"name": "b"})), None),
            ("[d]".to_owned(), None, Some(json!({"name": "d"}))),
        ];
        assert_eq!(differences(&old, &new), expected);
    }

    #[test]
    fn an_inserted_item_without_a_name_is_one_difference() {
        let old = json!([[1, 2], [3, 4], [5, 6]]);
        let new = json!([[1, 2], [9, 9], [3, 4], [5, 6]]);
        let expected = [("[1]".to_owned(), None, Some(json!([9, 9])))];
        assert_eq!(differences(&old, &new), expected);
    }

    #[test]
    fn differences_are_counted_beyond_the_first_hundred() {
        let object = |value: u32| -> Value {
            let fields = (0..150).map(|number| (number.to_string(), json!(value)));
            Value::Object(fields.collect())
        };
        let found = differences(&object(1), &object(2));
        assert_eq!(found.len(), 101);
        assert_eq!(found[100].0, "and 50 more differences");
    }
}
