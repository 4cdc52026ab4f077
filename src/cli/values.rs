//! Parsing of option values.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

use crate::percent::decoded;
use crate::platform::path_of_uri;
use hpimount_containers::format::Encoding;

/// Returns a value as text.
pub(super) fn text(value: &OsStr) -> Result<&str, String> {
    value.to_str().ok_or_else(|| "is not UTF-8".to_owned())
}

/// Parses the name of a character set.
pub(super) fn encoding(value: &OsStr) -> Result<&'static Encoding, String> {
    let found = Encoding::for_label(text(value)?.as_bytes());
    // Names have single bytes as separators.
    let found = found.filter(|encoding| encoding.is_ascii_compatible());
    found.ok_or_else(|| {
        "is not a character set, such as shift_jis, gbk, euc-kr or windows-1251".to_owned()
    })
}

/// Parses a decimal number.
pub(super) fn number<T: FromStr>(value: &OsStr) -> Result<T, String> {
    let number = text(value)?.parse();
    number.map_err(|_| "is not a number".to_owned())
}

/// Parses permission bits in octal, at most 0777.
pub(super) fn permissions(value: &OsStr) -> Result<u16, String> {
    u16::from_str_radix(text(value)?, 8)
        .ok()
        .filter(|mask| *mask <= 0o777)
        .ok_or_else(|| "is not an octal mask".to_owned())
}

/// Parses a number of bytes, with K, M or G for the powers of 1024.
pub(super) fn size<T: TryFrom<u64>>(value: &OsStr) -> Result<T, String> {
    let text = text(value)?;
    let unit = match text.as_bytes().last() {
        Some(b'K' | b'k') => 10,
        Some(b'M' | b'm') => 20,
        Some(b'G' | b'g') => 30,
        _ => 0,
    };
    let digits = if unit == 0 {
        text
    } else {
        &text[..text.len() - 1]
    };
    number::<u64>(OsStr::new(digits))?
        .checked_mul(1 << unit)
        .and_then(|size| T::try_from(size).ok())
        .ok_or_else(|| "is too large".to_owned())
}

/// Returns the value with this name.
pub(super) fn choice<T: Copy>(value: &OsStr, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == value);
    found.map(|&(_, meaning)| meaning).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|&(name, _)| name).collect();
        match names.split_last() {
            Some((last, [])) => format!("must be {last}"),
            Some((last, rest)) => format!("must be {} or {last}", rest.join(", ")),
            None => "has no values".to_owned(),
        }
    })
}

/// Parses a path, or a `file://` URI (RFC 8089) of this machine.
pub(super) fn local_file(value: &OsStr) -> Result<PathBuf, String> {
    let bytes = value.as_encoded_bytes();
    let Some(rest) = bytes.strip_prefix(b"file://") else {
        return Ok(PathBuf::from(value));
    };
    let rest = rest.strip_prefix(b"localhost").unwrap_or(rest);
    let path = decoded(rest).filter(|path| path.starts_with(b"/"));
    let path = path.and_then(path_of_uri);
    path.ok_or_else(|| format!("{}: is not a local file", value.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_limits() {
        for (text, bytes) in [
            ("0", Ok(0)),
            ("17", Ok(17)),
            ("3K", Ok(3 << 10)),
            ("3m", Ok(3 << 20)),
            ("3G", Ok(3 << 30)),
            ("17179869183G", Ok(17_179_869_183 << 30)),
            ("17179869184G", Err("is too large".to_owned())),
            ("", Err("is not a number".to_owned())),
            ("G", Err("is not a number".to_owned())),
            ("1.5G", Err("is not a number".to_owned())),
            ("-1", Err("is not a number".to_owned())),
            ("3T", Err("is not a number".to_owned())),
        ] {
            assert_eq!(size::<u64>(OsStr::new(text)), bytes, "{text}");
        }
        let larger_than_target = size::<u32>(OsStr::new("4G"));
        assert_eq!(larger_than_target.unwrap_err(), "is too large");
    }

    #[test]
    fn a_file_is_named_by_a_path_or_a_uri() {
        for (text, path) in [
            ("a%20b", Some("a%20b")),
            ("file:///a%20b/%C3%A9", Some("/a b/é")),
            ("file://localhost/a", Some("/a")),
            ("file:///a%2", None),
            ("file:///%zz", None),
            ("file://elsewhere/a", None),
            ("file://", None),
        ] {
            let file = local_file(OsStr::new(text));
            assert_eq!(file.ok(), path.map(PathBuf::from), "{text}");
        }
    }

    #[test]
    fn the_error_for_an_invalid_choice_lists_the_valid_ones() {
        let known = [("a", 1), ("b", 2), ("c", 3)];
        assert_eq!(choice(OsStr::new("b"), &known), Ok(2));
        assert_eq!(
            choice(OsStr::new("B"), &known).unwrap_err(),
            "must be a, b or c"
        );
    }
}
