//! Formatting of output.

use std::fmt::Write as _;

/// Returns bytes in lower-case hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A calendar date and time in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    year: i64,
    month: i64,
    day: i64,
    second_of_day: i64,
}

impl Date {
    /// Returns the date that is this many seconds after 1970 began.
    pub(super) fn new(seconds: i64) -> Self {
        let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Years begin in March here, so that the leap day is the last one, in
        // cycles of 400 years.
        let days = days + 719_468;
        let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let is_next_year = month >= 10;
        Self {
            year: cycle * 400 + year + i64::from(is_next_year),
            month: if is_next_year { month - 9 } else { month + 3 },
            day: day - (153 * month + 2) / 5 + 1,
            second_of_day,
        }
    }

    /// Returns the form `2001-08-23 14:05`.
    pub(super) fn short(self) -> String {
        let (hour, minute) = (self.second_of_day / 3600, self.second_of_day / 60 % 60);
        let mut text = self.day();
        // Writing to memory cannot fail.
        let _ = write!(text, " {hour:02}:{minute:02}");
        text
    }

    /// Returns the form of RFC 3339: `2001-08-23T14:05:06Z`.
    pub(super) fn long(self) -> String {
        let (hour, minute) = (self.second_of_day / 3600, self.second_of_day / 60 % 60);
        let second = self.second_of_day % 60;
        format!("{}T{hour:02}:{minute:02}:{second:02}Z", self.day())
    }

    fn day(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
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
        ] {
            assert_eq!(Date::new(seconds).long(), date);
        }
        assert_eq!(Date::new(998_575_506).short(), "2001-08-23 14:05");
    }
}
