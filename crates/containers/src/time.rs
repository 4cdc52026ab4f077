//! Times of containers as seconds since 1970 UTC.

/// Seconds from 1601, when FILETIME begins, to 1970.
const FILETIME_EPOCH: i64 = 11_644_473_600;

/// Converts a FILETIME of Windows, in units of 100 ns since 1601 UTC, to
/// seconds since 1970 UTC. Returns `None` for 0, which means no time.
pub(super) fn filetime(time: u64) -> Option<i64> {
    // The quotient has at most 41 bits.
    (time != 0).then(|| (time / 10_000_000) as i64 - FILETIME_EPOCH)
}

/// Returns the seconds of a date (year, month, day) and time (hour, minute,
/// second), which are UTC or treated as UTC if the zone is unknown. `None` if
/// they are not valid.
pub(super) fn seconds(date: [u16; 3], time: [u8; 3]) -> Option<i64> {
    let [year, month, day] = date;
    let [hour, minute, second] = time;
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    (is_date && hour < 24 && minute < 60 && second < 60).then(|| {
        let days = days_since_1970(year.into(), month.into(), day.into());
        days * 86_400 + i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)
    })
}

/// Returns the days from 1970-01-01 to a day of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March, so that the leap day is their last.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filetimes_are_counted_from_1601() {
        assert_eq!(filetime(0), None);
        assert_eq!(filetime(116_444_736_000_000_000), Some(0));
        assert_eq!(filetime(1), Some(-FILETIME_EPOCH));
    }

    #[test]
    fn dates_are_of_the_gregorian_calendar() {
        let midnight = |date| seconds(date, [0; 3]);
        assert_eq!(midnight([1970, 1, 1]), Some(0));
        assert_eq!(midnight([1980, 1, 1]), Some(315_532_800));
        assert_eq!(midnight([2000, 2, 29]), Some(951_782_400));
        assert_eq!(midnight([2000, 3, 1]), Some(951_868_800));
        let evening = seconds([2026, 12, 31], [23, 59, 58]);
        assert_eq!(evening, Some(1_798_761_598));
        assert_eq!(midnight([1980, 0, 0]), None);
        assert_eq!(midnight([2000, 13, 1]), None);
        assert_eq!(seconds([2000, 1, 1], [24, 0, 0]), None);
    }
}
