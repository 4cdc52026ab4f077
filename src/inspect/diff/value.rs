//! Differences between two values, field by field.

use std::collections::{HashMap, HashSet};

use hpimount_record::Value;

use super::difference::{Differences, MAX_FIELD};
use super::text::ends_in_common;

/// Fields that identify the objects of a list, the best first.
const KEYS: [&str; 3] = ["id", "name", "index"];

/// Adds the differences between the values of a field. A list of objects is
/// compared by a field that identifies them, else by position; a list of numbers
/// or texts is one value.
pub(super) fn compare(field: String, old: &Value, new: &Value, found: &mut Differences) {
    match (old, new) {
        (old, new) if is_same(old, new) => {}
        (old, new) if field.len() > MAX_FIELD => {
            found.add(field, Some(old.clone()), Some(new.clone()));
        }
        (Value::Map(olds), Value::Map(news)) => {
            let inner = |name: &str| match field.as_str() {
                "" => name.to_owned(),
                field => format!("{field}.{name}"),
            };
            let others: HashMap<_, _> = news.iter().map(|(name, value)| (name, value)).collect();
            for (name, value) in olds {
                match others.get(name) {
                    Some(other) => compare(inner(name), value, other, found),
                    None => found.add(inner(name), Some(value.clone()), None),
                }
            }
            let known: HashSet<_> = olds.iter().map(|(name, _)| name).collect();
            for (name, value) in news.iter().filter(|(name, _)| !known.contains(name)) {
                found.add(inner(name), None, Some(value.clone()));
            }
        }
        (Value::List(olds), Value::List(news)) if has_parts(olds) || has_parts(news) => {
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

/// Returns whether two values are shown alike: NaN is the same as itself.
pub(super) fn is_same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Float(old), Value::Float(new)) => old.to_bits() == new.to_bits(),
        (Value::List(olds), Value::List(news)) => {
            olds.len() == news.len() && olds.iter().zip(news).all(|(old, new)| is_same(old, new))
        }
        (old, new) => old == new,
    }
}

/// Returns whether a list has objects or lists.
fn has_parts(list: &[Value]) -> bool {
    list.iter()
        .any(|value| matches!(value, Value::Map(_) | Value::List(_)))
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
            Value::Text(name) => name.clone().into_owned(),
            Value::Integer(number) => number.to_string(),
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
    let mut olds = olds[start..olds.len() - end].iter();
    let mut news = news[start..news.len() - end].iter();
    for number in start.. {
        let field = format!("{field}[{number}]");
        match (olds.next(), news.next()) {
            (Some(old), Some(new)) => compare(field, old, new, found),
            (None, None) => break,
            (old, new) => found.add(field, old.cloned(), new.cloned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diff::difference::Difference;

    fn differences(old: &str, new: &str) -> Vec<(String, Option<Value>, Option<Value>)> {
        let mut found = Differences::default();
        let [old, new] = [old, new].map(|json| Value::parse(json).unwrap());
        compare(String::new(), &old, &new, &mut found);
        let fields = found.finish().into_iter();
        fields
            .map(|difference| match difference {
                Difference::Field { field, old, new } => (field, old, new),
                Difference::Note(text) => (text, None, None),
            })
            .collect()
    }

    fn json(text: &str) -> Option<Value> {
        Some(Value::parse(text).unwrap())
    }

    #[test]
    fn fields_differ_by_their_paths() {
        let old = r#"{"a": {"b": 1, "gone": [1]}, "same": "x", "at": [1, 2]}"#;
        let new = r#"{"a": {"b": 2}, "same": "x", "at": [1, 3], "more": null}"#;
        let expected = [
            ("a.b".to_owned(), json(r#"1"#), json(r#"2"#)),
            ("a.gone".to_owned(), json(r#"[1]"#), None),
            ("at".to_owned(), json(r#"[1, 2]"#), json(r#"[1, 3]"#)),
            ("more".to_owned(), None, json(r#"null"#)),
        ];
        assert_eq!(differences(old, new), expected);
        assert!(differences(old, old).is_empty());
    }

    #[test]
    fn what_has_a_long_name_is_one_difference() {
        let name = "x".repeat(MAX_FIELD);
        let object = |list: &str| format!(r#"[{{"name": "{name}", "list": {list}, "x": {list}}}]"#);
        let found = differences(&object("[1]"), &object("[2]"));
        let named: Vec<_> = found.iter().map(|(field, ..)| field.as_str()).collect();
        assert_eq!(named, [format!("[{name}]")]);
    }

    #[test]
    fn objects_of_a_list_are_found_by_name_in_any_order() {
        let old = r#"[{"name": "a", "x": 1}, {"name": "b"}, {"name": "c"}]"#;
        let new = r#"[{"name": "c"}, {"name": "a", "x": 2}, {"name": "d"}]"#;
        let expected = [
            ("[a].x".to_owned(), json(r#"1"#), json(r#"2"#)),
            ("[b]".to_owned(), json(r#"{"name": "b"}"#), None),
            ("[d]".to_owned(), None, json(r#"{"name": "d"}"#)),
        ];
        assert_eq!(differences(old, new), expected);
    }

    #[test]
    fn an_inserted_item_without_a_name_is_one_difference() {
        let old = "[[1, 2], [3, 4], [5, 6]]";
        let new = "[[1, 2], [9, 9], [3, 4], [5, 6]]";
        let expected = [("[1]".to_owned(), None, json(r#"[9, 9]"#))];
        assert_eq!(differences(old, new), expected);
    }

    #[test]
    fn differences_are_counted_beyond_the_first_hundred() {
        let object = |value: u32| {
            let fields = (0..150).map(|number| format!("\"{number}\": {value}"));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        };
        let found = differences(&object(1), &object(2));
        assert_eq!(found.len(), 101);
        assert_eq!(found[100].0, "and 50 more differences");
    }
}
