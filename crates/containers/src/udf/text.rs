//! Texts in compressed Unicode (OSTA CS0), and timestamps.

use std::borrow::Cow;

use encoding_rs::UTF_16BE;

use crate::time;

/// Returns a text: a byte with the bits of a character, then the characters.
/// `None` if the number of bits is not known.
pub(super) fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let Some((&bits, characters)) = bytes.split_first() else {
        return Some(Cow::Borrowed(""));
    };
    match bits {
        8 => Some(match str::from_utf8(characters) {
            Ok(text) if text.is_ascii() => Cow::Borrowed(text),
            _ => characters.iter().map(|&byte| char::from(byte)).collect(),
        }),
        16 => Some(UTF_16BE.decode_without_bom_handling(characters).0),
        _ => None,
    }
}

/// Returns the text of a field of fixed length, whose last byte is the length of
/// the text.
pub(super) fn field(bytes: &[u8]) -> String {
    let length = bytes.last().map_or(0, |&length| usize::from(length));
    let used = bytes.get(..length).unwrap_or_default();
    let text = text(used).unwrap_or_default();
    text.trim_end_matches([' ', '\0']).to_owned()
}

/// Length of a timestamp in bytes.
pub(super) const TIMESTAMP: usize = 12;

/// Offset from UTC of a time in an unknown zone.
const NO_ZONE: i16 = -2047;

/// Returns the seconds since 1970 UTC of a timestamp: type and offset from UTC
/// in minutes, year, month, day, hour, minute, second, and fractions. `None` if
/// it is not valid.
pub(super) fn timestamp(bytes: [u8; TIMESTAMP]) -> Option<i64> {
    let [
        zone,
        zone_high,
        year,
        year_high,
        month,
        day,
        hour,
        minute,
        second,
        ..,
    ] = bytes;
    let date = [
        u16::from_le_bytes([year, year_high]),
        month.into(),
        day.into(),
    ];
    let local = time::seconds(date, [hour, minute, second])?;
    // The offset has 12 bits with a sign.
    let zone = i16::from_le_bytes([zone, zone_high]) << 4 >> 4;
    let zone = if zone == NO_ZONE { 0 } else { zone };
    Some(local - i64::from(zone) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_8_or_16_bits_per_character() {
        assert_eq!(text(b"\x08caf\xE9").unwrap(), "café");
        assert_eq!(text(b"\x08plain").unwrap(), "plain");
        assert_eq!(text(b"\x10\x30\xC6\x00a").unwrap(), "テa");
        assert_eq!(text(b"").unwrap(), "");
        assert_eq!(text(b"\xFEgone"), None);
    }

    #[test]
    fn a_field_ends_with_the_length_of_its_text() {
        let mut bytes = [0; 32];
        bytes[..5].copy_from_slice(b"\x08DISC");
        bytes[31] = 5;
        assert_eq!(field(&bytes), "DISC");
        bytes[31] = 200;
        assert_eq!(field(&bytes), "");
    }

    #[test]
    fn timestamps_have_an_offset_from_utc() {
        let at = |zone: i16| {
            let [low, high] = ((zone & 0x0FFF) | 0x1000).to_le_bytes();
            timestamp([low, high, 0xD0, 7, 2, 29, 2, 0, 1, 0, 0, 0])
        };
        assert_eq!(at(0), Some(951_789_601));
        assert_eq!(at(120), Some(951_789_601 - 7200));
        assert_eq!(at(-60), Some(951_789_601 + 3600));
        assert_eq!(at(NO_ZONE), Some(951_789_601));
        assert_eq!(timestamp([0; 12]), None);
    }
}
