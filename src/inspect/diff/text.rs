//! Differences between two texts, line by line.

use serde_json::Value;

use super::asset::Differences;

/// Adds the lines between those that both texts begin and end with.
pub(super) fn compare(name: &str, texts: [&str; 2], found: &mut Differences) {
    let [olds, news] = texts.map(|text| text.lines().collect::<Vec<_>>());
    let (start, end) = ends_in_common(&olds, &news);
    let line = |line: &str| Some(Value::String(line.to_owned()));
    let field = |number: usize| format!("{name}: line {}", start + number + 1);
    for (number, old) in olds[start..olds.len() - end].iter().enumerate() {
        found.add(field(number), line(old), None);
    }
    for (number, new) in news[start..news.len() - end].iter().enumerate() {
        found.add(field(number), None, line(new));
    }
}

/// Returns how many items two lists have in common at their starts, and at their
/// ends after that.
pub(super) fn ends_in_common<T: PartialEq>(olds: &[T], news: &[T]) -> (usize, usize) {
    let pairs = olds.iter().zip(news);
    let start = pairs.take_while(|(old, new)| old == new).count();
    let pairs = olds[start..].iter().rev().zip(news[start..].iter().rev());
    (start, pairs.take_while(|(old, new)| old == new).count())
}

#[cfg(test)]
mod tests {
    use super::super::asset::Difference;
    use super::*;

    #[test]
    fn the_lines_between_equal_ones_differ() {
        let mut found = Differences::default();
        compare("a.txt", ["a\nb\nc\n", "a\nx\ny\nc\n"], &mut found);
        let fields = found
            .finish()
            .into_iter()
            .map(|difference| match difference {
                Difference::Field { field, old, new } => (field, old.is_some(), new.is_some()),
                Difference::Note(text) => (text, false, false),
            });
        let expected = [
            ("a.txt: line 2".to_owned(), true, false),
            ("a.txt: line 2".to_owned(), false, true),
            ("a.txt: line 3".to_owned(), false, true),
        ];
        assert!(fields.eq(expected));
    }

    #[test]
    fn ends_do_not_overlap() {
        assert_eq!(ends_in_common(&[1, 1], &[1, 1, 1]), (2, 0));
        assert_eq!(ends_in_common(&[1, 2, 3], &[1, 3]), (1, 1));
        assert_eq!(ends_in_common::<u8>(&[], &[]), (0, 0));
    }
}
