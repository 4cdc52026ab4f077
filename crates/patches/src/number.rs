//! The two encodings of variable-length numbers.

use std::io::Write;

use hpimount_containers::io::{Error, Result};

use crate::stream::Stream;

/// Maximum length of a number in bytes.
const MAX_BYTES: usize = 10;

/// Reads a VCDIFF number: seven bits in each byte, the highest first; all bytes but the
/// last have bit 7.
pub(crate) fn read_vcdiff(stream: &mut Stream, field: &'static str) -> Result<u64> {
    let start = stream.offset();
    let mut value = 0_u64;
    for _ in 0..MAX_BYTES {
        if value >> (u64::BITS - 7) != 0 {
            break;
        }
        let byte = stream.byte(field)?;
        value = value << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(too_large(start, field))
}

/// Writes a number of VCDIFF.
pub(crate) fn write_vcdiff(mut value: u64, out: &mut Vec<u8>) {
    let mut bytes = [0; MAX_BYTES];
    let mut start = MAX_BYTES - 1;
    bytes[start] = value as u8 & 0x7F;
    while value >> 7 != 0 {
        value >>= 7;
        start -= 1;
        bytes[start] = value as u8 | 0x80;
    }
    out.extend_from_slice(&bytes[start..]);
}

/// Returns the length of a VCDIFF number in bytes.
pub(crate) fn vcdiff_length(value: u64) -> usize {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// Reads a BPS or UPS number: seven bits in each byte, the lowest first. The last byte
/// has bit 7, and each byte after the first adds one in its unit.
pub(crate) fn read_bps(stream: &mut Stream, field: &'static str) -> Result<u64> {
    let start = stream.offset();
    let (mut value, mut unit) = (0_u64, 1_u64);
    for _ in 0..MAX_BYTES {
        let byte = stream.byte(field)?;
        let digit = u64::from(byte & 0x7F).checked_mul(unit);
        value = digit
            .and_then(|digit| value.checked_add(digit))
            .filter(|value| value >> 63 == 0)
            .ok_or_else(|| too_large(start, field))?;
        if byte & 0x80 != 0 {
            return Ok(value);
        }
        unit = unit
            .checked_mul(0x80)
            .ok_or_else(|| too_large(start, field))?;
        value = value
            .checked_add(unit)
            .ok_or_else(|| too_large(start, field))?;
    }
    Err(too_large(start, field))
}

/// Writes a number of BPS.
pub(crate) fn write_bps(mut value: u64, out: &mut dyn Write) -> std::io::Result<()> {
    loop {
        let byte = value as u8 & 0x7F;
        value >>= 7;
        if value == 0 {
            return out.write_all(&[byte | 0x80]);
        }
        out.write_all(&[byte])?;
        value -= 1;
    }
}

fn too_large(start: u64, field: &'static str) -> Error {
    Error::damaged(start, field, "is a number that is too large")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_containers::io::ReadAt;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn stream(bytes: &[u8]) -> Stream {
        let source: Arc<dyn ReadAt> = Arc::new(bytes.to_vec());
        Stream::new(&source, 0..source.len(), 4)
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(value in any::<u64>(), shift in 0..64) {
            let value = value >> shift;
            let mut bytes = Vec::new();
            write_vcdiff(value, &mut bytes);
            prop_assert_eq!(vcdiff_length(value), bytes.len());
            prop_assert_eq!(read_vcdiff(&mut stream(&bytes), "n").unwrap(), value);
            let value = value >> 1;
            let mut bytes = Vec::new();
            write_bps(value, &mut bytes).unwrap();
            prop_assert_eq!(read_bps(&mut stream(&bytes), "n").unwrap(), value);
        }
    }

    #[test]
    fn numbers_beyond_their_range_are_errors() {
        for bytes in [&[0xFF; 12][..], &[0x80; 12], &[0xFF], &[]] {
            read_vcdiff(&mut stream(bytes), "n").unwrap_err();
        }
        for bytes in [&[0; 12][..], &[0x7F; 12], &[0x7F], &[]] {
            read_bps(&mut stream(bytes), "n").unwrap_err();
        }
    }
}
