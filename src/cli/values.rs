//! Values of options, from text.

use std::ffi::OsStr;
use std::str::FromStr;

/// The value as text.
pub(super) fn text(value: &OsStr) -> Result<&str, String> {
    value.to_str().ok_or_else(|| "is not UTF-8".to_owned())
}

/// A decimal number.
pub(super) fn number<T: FromStr>(value: &OsStr) -> Result<T, String> {
    let number = text(value)?.parse();
    number.map_err(|_| "is not a number".to_owned())
}

/// Permission bits in octal, at most 0777.
pub(super) fn permissions(value: &OsStr) -> Result<u16, String> {
    u16::from_str_radix(text(value)?, 8)
        .ok()
        .filter(|mask| *mask <= 0o777)
        .ok_or_else(|| "is not an octal mask".to_owned())
}

/// A number of bytes, with K, M or G for the powers of 1024.
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

/// What a name stands for.
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
    fn the_choices_are_named_where_none_fits() {
        let known = [("a", 1), ("b", 2), ("c", 3)];
        assert_eq!(choice(OsStr::new("b"), &known), Ok(2));
        assert_eq!(
            choice(OsStr::new("B"), &known).unwrap_err(),
            "must be a, b or c"
        );
    }
}
