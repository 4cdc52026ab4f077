//! All texts of a file as lines of one text.

use crate::gxt::Gxt;

/// The file of `X.meta` with all texts.
pub(super) const ALL: &str = "texts.txt";

/// Returns the lines of `texts.txt`: the name of a table, its texts, and an empty
/// line before the next one.
pub(super) fn lines(gxt: &Gxt) -> impl Iterator<Item = String> {
    gxt.tables.iter().enumerate().flat_map(|(index, table)| {
        let between = (index > 0).then(String::new).into_iter();
        let name = format!("[{}]", plain(&table.name));
        let texts = table.entries.iter().map(|entry| {
            let key = entry.key.to_string();
            format!("{}={}", plain(&key), plain(&gxt.text(entry)))
        });
        between.chain([name]).chain(texts)
    })
}

/// Returns a text without control characters, which would break its line.
pub(super) fn plain(text: &str) -> String {
    let characters = text.chars().flat_map(|character| {
        let escaped = character.is_control().then(|| character.escape_default());
        let same = escaped.is_none().then_some(character);
        escaped.into_iter().flatten().chain(same)
    });
    characters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_on_its_line() {
        assert_eq!(plain("a\nb~r~\u{1b}"), "a\\nb~r~\\u{1b}");
    }
}
