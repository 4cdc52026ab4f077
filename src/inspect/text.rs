//! Formatting of output.

use jiff::Timestamp;

/// A calendar date and time in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date(Timestamp);

impl Date {
    /// Returns the date that is this many seconds after 1970 began; of times that
    /// only a damaged archive has, the first or last one with four digits of the year.
    pub(super) fn new(seconds: i64) -> Self {
        let nearest = || match seconds < 0 {
            true => Timestamp::MIN,
            false => Timestamp::MAX,
        };
        Self(Timestamp::from_second(seconds).unwrap_or_else(|_| nearest()))
    }

    /// Returns the form `2001-08-23 14:05`.
    pub(super) fn short(self) -> String {
        self.0.strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Returns the form of RFC 3339: `2001-08-23T14:05:06Z`.
    pub(super) fn long(self) -> String {
        format!("{:.0}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_of_the_gregorian_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_798_761_598, "2026-12-31T23:59:58Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (-2_203_891_200, "1900-03-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (i64::MAX, "9999-12-30T22:00:00Z"),
        ] {
            assert_eq!(Date::new(seconds).long(), date);
        }
        assert_eq!(Date::new(998_575_506).short(), "2001-08-23 14:05");
    }
}
