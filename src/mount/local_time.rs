//! The time zone of this computer, for archives whose times are local.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;

static ZONE: LazyLock<TimeZone> = LazyLock::new(TimeZone::system);

/// Finds the time zone. Threads that are confined cannot read its file later.
pub(super) fn load() {
    LazyLock::force(&ZONE);
}

/// Returns the seconds since 1970 UTC of a local time, which is given in seconds
/// as if it were UTC. Where clocks are set back, the earlier time is meant.
pub(super) fn to_utc(local: i64) -> i64 {
    in_zone(local, &ZONE)
}

fn in_zone(local: i64, zone: &TimeZone) -> i64 {
    let utc = || {
        let shown = Timestamp::from_second(local).ok()?;
        let shown = TimeZone::UTC.to_datetime(shown);
        let time = zone.to_ambiguous_timestamp(shown).compatible();
        Some(time.ok()?.as_second())
    };
    utc().unwrap_or(local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_times_have_the_offset_of_their_season() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        // Noon of 2026-01-01 and of 2026-07-01.
        let (winter, summer) = (1_767_268_800, 1_782_907_200);
        assert_eq!(in_zone(winter, &berlin), winter - 3600);
        assert_eq!(in_zone(summer, &berlin), summer - 7200);
        assert_eq!(in_zone(i64::MAX, &berlin), i64::MAX);
    }
}
