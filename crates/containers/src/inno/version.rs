//! The version of the format, which is the first thing in a header.

use std::fmt;

/// Length of the version text in bytes, padded with zeros.
pub(super) const LENGTH: u64 = 64;

/// First bytes of the version text.
pub(super) const PREFIX: &[u8; 23] = b"Inno Setup Setup Data (";

/// The number of a variant of a version that compilers by others write, as the last
/// of the four.
pub(super) const VARIANT: u8 = 1;

/// A version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version {
    number: [u8; 4],
    /// True if strings are UTF-16.
    is_unicode: bool,
}

impl Version {
    /// Reads the version text; `None` if it is none.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = bytes.strip_prefix(PREFIX)?;
        let text = text.split(|&byte| byte == 0).next()?;
        let (digits, rest) = str::from_utf8(text).ok()?.split_once(')')?;
        let mut number = [0; 4];
        for (place, digits) in digits.split('.').enumerate() {
            *number.get_mut(place)? = digits.trim_end_matches('a').parse().ok()?;
        }
        let is_marked = rest.trim_start().to_ascii_lowercase().starts_with("(u)");
        Some(Self {
            number,
            is_unicode: is_marked || number >= [6, 3, 0, 0],
        })
    }

    /// Returns whether it is this one or a later one.
    pub(super) fn since(self, major: u8, minor: u8, patch: u8) -> bool {
        self.number >= [major, minor, patch, 0]
    }

    /// Returns whether it is exactly this one.
    pub(super) fn is(self, number: [u8; 4]) -> bool {
        self.number == number
    }

    /// Returns whether it is 6.4.0.1 or later.
    pub(super) fn since_6_4_0_1(self) -> bool {
        self.number >= [6, 4, 0, 1]
    }

    /// Returns whether it is 7.0.0.3 or later.
    pub(super) fn since_7_0_0_3(self) -> bool {
        self.number >= [7, 0, 0, 3]
    }

    /// Returns whether strings are UTF-16.
    pub(super) fn is_unicode(self) -> bool {
        self.is_unicode
    }

    /// Returns whether it can be read.
    pub(super) fn is_supported(self) -> bool {
        (5..=7).contains(&self.number[0])
    }

    /// Returns the layouts that a header with this version may have, the likeliest one
    /// first.
    pub(super) fn candidates(self) -> impl Iterator<Item = Self> {
        let has_variant = matches!(
            self.number,
            [5, 3, 10, 0] | [5, 4, 2, 0] | [5, 5, 0 | 7, 0] | [6, 5, 0, 0]
        );
        let mut variant = self;
        variant.number[3] = VARIANT;
        [self].into_iter().chain(has_variant.then_some(variant))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch, _] = self.number;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_three_or_four_numbers_and_a_mark() {
        let parse = |text: &str| Version::parse(text.as_bytes());
        let version = parse("Inno Setup Setup Data (5.5.7) (u)\0\0").unwrap();
        assert!(version.is([5, 5, 7, 0]) && version.is_unicode());
        assert_eq!(version.candidates().count(), 2);
        let version = parse("Inno Setup Setup Data (5.4.2)\0").unwrap();
        assert!(!version.is_unicode() && version.since(5, 3, 9) && !version.since(5, 5, 0));
        let version = parse("Inno Setup Setup Data (6.4.0.1)").unwrap();
        assert!(version.is_unicode() && version.since_6_4_0_1());
        assert_eq!(version.candidates().count(), 1);
        for other in [
            "Inno Setup",
            "Inno Setup Setup Data (x)",
            "Inno Setup Setup Data (5",
        ] {
            assert!(parse(other).is_none(), "{other}");
        }
    }
}
