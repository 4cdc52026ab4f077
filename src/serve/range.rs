//! Ranges, and conditions by tags and times (RFC 9110, sections 13 and 14).

use std::ops::Range;
use std::time::{Duration, SystemTime};

use super::head::Head;

/// Entity tag of a file's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    /// Equal only for equal bytes.
    Strong(String),
    /// Equal for what is made of the same file; what else it is made of is not known.
    Weak(String),
}

impl Tag {
    /// Returns it as in a header.
    pub(super) fn quoted(&self) -> String {
        match self {
            Self::Strong(tag) => format!("\"{tag}\""),
            Self::Weak(tag) => format!("W/\"{tag}\""),
        }
    }

    /// Returns whether one of the tags in a header is this one. A strong comparison fails
    /// for weak tags.
    fn is_among(&self, header: &str, is_strong: bool) -> bool {
        let (own, is_weak) = match self {
            Self::Strong(tag) => (tag, false),
            Self::Weak(tag) => (tag, true),
        };
        header.trim() == "*"
            || header.split(',').any(|other| {
                let other = other.trim();
                let (other, is_other_weak) = match other.strip_prefix("W/") {
                    Some(other) => (other, true),
                    None => (other, false),
                };
                let is_comparable = !is_strong || !is_weak && !is_other_weak;
                is_comparable && other.trim_matches('"') == own
            })
    }
}

/// The part of a file that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// Some of it, which is not empty.
    Range(Range<u64>),
    /// Nothing: the range begins after its end.
    Unsatisfiable,
    /// Nothing: the client has it.
    NotModified,
    /// Nothing: it is not the one that the client means.
    OtherVersion,
}

/// Returns the part of a file with this tag, time and size that is sent. Without a time,
/// conditions about it do not hold anything back.
pub(super) fn part(
    head: &Head,
    tag: Option<&Tag>,
    modified: Option<SystemTime>,
    size: u64,
) -> Part {
    let is_tagged = |header: &str, is_strong| {
        let header = head.header(header)?;
        Some(match tag {
            Some(tag) => tag.is_among(header, is_strong),
            None => header.trim() == "*",
        })
    };
    let is_newer = |header: &str| {
        let time = httpdate::parse_http_date(head.header(header)?).ok()?;
        Some(modified? > time)
    };
    let is_other = match is_tagged("if-match", true) {
        Some(is_same) => !is_same,
        None => is_newer("if-unmodified-since").unwrap_or(false),
    };
    if is_other {
        return Part::OtherVersion;
    }
    let is_known = match is_tagged("if-none-match", false) {
        Some(is_same) => is_same,
        None => is_newer("if-modified-since").is_some_and(|is_newer| !is_newer),
    };
    if is_known {
        return Part::NotModified;
    }
    match head.header("range") {
        // It means nothing to other methods.
        Some(range) if head.method == "GET" && is_same_range(head, tag) => of_range(range, size),
        _ => Part::Whole,
    }
}

/// Returns whether a range is of the version that the client has the rest of. A time is no
/// proof of that, since a file may change twice in a second.
fn is_same_range(head: &Head, tag: Option<&Tag>) -> bool {
    match (head.header("if-range"), tag) {
        (None, _) => true,
        (Some(condition), Some(tag)) => tag.is_among(condition, true),
        (Some(_), None) => false,
    }
}

/// Returns the part of a file that a `Range` asks for. Several ranges, and units that are not
/// known, are answered with all of it.
fn of_range(header: &str, size: u64) -> Part {
    let Some(range) = header.trim().strip_prefix("bytes=") else {
        return Part::Whole;
    };
    let Some((first, last)) = range.split_once('-') else {
        return Part::Whole;
    };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match (first.trim(), last.trim()) {
        ("", last) => match number(last) {
            None => Part::Whole,
            Some(0) => Part::Unsatisfiable,
            Some(_) if size == 0 => Part::Unsatisfiable,
            Some(length) => Part::Range(size.saturating_sub(length)..size),
        },
        (first, last) => {
            let last = match last {
                "" => Some(u64::MAX),
                last => number(last),
            };
            match (number(first), last) {
                (Some(first), Some(last)) if first > last => Part::Whole,
                (Some(first), Some(_)) if first >= size => Part::Unsatisfiable,
                (Some(first), Some(last)) => Part::Range(first..last.saturating_add(1).min(size)),
                _ => Part::Whole,
            }
        }
    }
}

/// Returns a time in seconds since 1970, which may be before.
pub(super) fn time(seconds: i64) -> SystemTime {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let time = match seconds {
        0.. => SystemTime::UNIX_EPOCH.checked_add(distance),
        _ => None,
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The last second whose year has four digits.
const LAST_SECOND: i64 = 253_402_300_799;

/// Returns a time as in a header. The format has the years from 1970 to 9999.
pub(super) fn http_date(seconds: i64) -> String {
    httpdate::fmt_http_date(time(seconds.min(LAST_SECOND)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(headers: &[(&'static str, &str)]) -> Part {
        let head = Head {
            method: "GET".to_owned(),
            headers: headers
                .iter()
                .map(|&(name, value)| (name, value.to_owned()))
                .collect(),
            ..Head::default()
        };
        let tag = Tag::Strong("abc".to_owned());
        part(&head, Some(&tag), Some(time(1_000_000_000)), 100)
    }

    #[test]
    fn a_range_is_within_the_file() {
        let ranges = [
            ("bytes=0-9", Part::Range(0..10)),
            ("bytes=90-", Part::Range(90..100)),
            ("bytes=-5", Part::Range(95..100)),
            ("bytes=-500", Part::Range(0..100)),
            ("bytes=50-500", Part::Range(50..100)),
            ("bytes=100-", Part::Unsatisfiable),
            ("bytes=-0", Part::Unsatisfiable),
            ("bytes=0-1,5-6", Part::Whole),
            ("lines=1-2", Part::Whole),
            ("bytes=9-1", Part::Whole),
            ("bytes=x-1", Part::Whole),
        ];
        for (range, expected) in ranges {
            assert_eq!(asked(&[("range", range)]), expected, "{range}");
        }
    }

    #[test]
    fn conditions_compare_tags_before_times() {
        let date = "Sun, 09 Sep 2001 01:46:40 GMT";
        let cases: [(&[(&str, &str)], Part); 11] = [
            (&[("if-none-match", "\"abc\"")], Part::NotModified),
            (&[("if-none-match", "\"x\", W/\"abc\"")], Part::NotModified),
            (&[("if-none-match", "*")], Part::NotModified),
            (
                &[("if-none-match", "\"x\""), ("if-modified-since", date)],
                Part::Whole,
            ),
            (&[("if-modified-since", date)], Part::NotModified),
            (&[("if-match", "\"x\"")], Part::OtherVersion),
            (&[("if-match", "W/\"abc\"")], Part::OtherVersion),
            (&[("if-match", "\"abc\"")], Part::Whole),
            (
                &[("if-unmodified-since", "Sun, 09 Sep 2001 01:46:39 GMT")],
                Part::OtherVersion,
            ),
            (
                &[("range", "bytes=1-2"), ("if-range", "\"abc\"")],
                Part::Range(1..3),
            ),
            (&[("range", "bytes=1-2"), ("if-range", date)], Part::Whole),
        ];
        for (headers, expected) in cases {
            let headers: Vec<_> = headers
                .iter()
                .map(|(name, value)| {
                    let known = super::super::head::HEADERS.iter();
                    (*known.clone().find(|known| *known == name).unwrap(), *value)
                })
                .collect();
            assert_eq!(asked(&headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn times_outside_of_the_format_are_moved_into_it() {
        assert_eq!(http_date(-1), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(http_date(i64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
    }

    proptest! {
        #[test]
        fn no_range_leaves_the_file(header in "(bytes=)?[-0-9, ]{0,24}", size in 0..200_u64) {
            match of_range(&header, size) {
                Part::Range(range) => prop_assert!(range.start < range.end && range.end <= size),
                part => prop_assert!(matches!(part, Part::Whole | Part::Unsatisfiable)),
            }
        }
    }
}
