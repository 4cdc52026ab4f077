//! The description of a volume.

use serde_json::Value;

/// The description of a volume for `info.json`. It is kept as text: of a small archive, a
/// tree of values would take more memory than everything else.
#[derive(Default)]
pub(crate) struct Description(Box<str>);

impl From<Value> for Description {
    fn from(value: Value) -> Self {
        Self(value.to_string().into())
    }
}

impl Description {
    /// Returns the values.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Returns its memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_description_has_the_values_it_was_made_of() {
        let value = json!({ "size": u64::MAX, "title": "ビキニ", "region": null });
        let description = Description::from(value.clone());
        assert_eq!(description.value(), value);
        assert!(description.memory() < 70);
    }
}
