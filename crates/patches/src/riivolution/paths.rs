//! Parameters in texts, and paths on the SD card.

use std::collections::HashMap;
use std::sync::Arc;

use hpimount_containers::io::{Error, Result};

use super::disc::Disc;

/// Maximum length of a text after replacing parameters, in bytes.
const MAX_LENGTH: usize = 4096;

/// The parameters of a patch, of its choice and of its option; the last two are shared.
/// The first value of a name counts.
pub(super) type Parameters = [Arc<HashMap<String, String>>; 3];

/// Replaces `{$NAME}` by parameters, and by parts of the disc ID. Values are not
/// expanded again.
pub(super) fn substitute(text: &str, disc: &Disc<'_>, parameters: &Parameters) -> Result<String> {
    let (mut result, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("{$") {
        let (before, from) = rest.split_at(start);
        result += before;
        let end = from.find('}');
        let value = end.and_then(|end| value(&from[2..end], disc, parameters));
        let (value, length) = match (value, end) {
            (Some(value), Some(end)) => (value, end + 1),
            _ => ("{$", 2),
        };
        result += value;
        rest = &from[length..];
        check(&result)?;
    }
    result += rest;
    check(&result)?;
    Ok(result)
}

fn check(text: &str) -> Result<()> {
    match text.len() <= MAX_LENGTH {
        true => Ok(()),
        false => Err(Error::damaged(
            0,
            "path",
            format!("is longer than {MAX_LENGTH} bytes"),
        )),
    }
}

fn value<'a>(name: &str, disc: &'a Disc<'_>, parameters: &'a Parameters) -> Option<&'a str> {
    match name {
        "__gameid" => disc.id.get(..3),
        "__region" => disc.id.get(3..4),
        "__maker" => disc.id.get(4..6),
        "__ngid" => Some("00000000"),
        _ => {
            let mut values = parameters.iter().filter_map(|layer| layer.get(name));
            values.next().map(|value| &**value)
        }
    }
}

/// Resolves a path relative to `folder`, or to the root of the card if it begins with a
/// slash. It may not leave its base.
pub(super) fn resolve(folder: &str, path: &str) -> Result<String> {
    let names = |path| str::split(path, '/').filter(|name| !matches!(*name, "" | "."));
    let mut found: Vec<&str> = match path.starts_with('/') {
        true => Vec::new(),
        false => names(folder).collect(),
    };
    let above = found.len();
    for name in names(path) {
        match name {
            ".." if found.len() > above => drop(found.pop()),
            ".." => {
                let problem = format!("{path:?} leads out of its folder");
                return Err(Error::damaged(0, "path", problem));
            }
            _ => found.push(name),
        }
    }
    Ok(found.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_replaced_once() {
        let disc = Disc::new("GXXE01", 0, 0, &[]);
        let layer = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter();
            Arc::new(
                pairs
                    .map(|(name, value)| (name.to_string(), value.to_string()))
                    .collect(),
            )
        };
        let parameters = [
            layer(&[("a", "2")]),
            layer(&[("b", "{$a}")]),
            layer(&[("a", "1")]),
        ];
        let of = |text| substitute(text, &disc, &parameters).unwrap();
        assert_eq!(of("x{$a}{$b}y"), "x2{$a}y");
        assert_eq!(of("{$__gameid}{$__region}{$__maker}"), "GXXE01");
        assert_eq!(of("{$c}{$"), "{$c}{$");
        let value = "x".repeat(1000);
        let long = [layer(&[("a", &value)]), layer(&[]), layer(&[])];
        substitute(&"{$a}".repeat(5), &disc, &long).unwrap_err();
    }

    #[test]
    fn paths_stay_below_where_they_begin() {
        assert_eq!(resolve("a/b", "c/../d/./e").unwrap(), "a/b/d/e");
        assert_eq!(resolve("a/b", "/c//d").unwrap(), "c/d");
        for path in ["..", "c/../../d", "/..", "/a/../../b"] {
            resolve("a/b", path).unwrap_err();
        }
    }
}
