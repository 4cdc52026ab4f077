//! Streams of compressed animations (FORMATS, PSX 6).
//!
//! An animation has six consecutive streams for each object: angles about x, y and z,
//! then translations along them. A stream has a value for each frame, in the encoding
//! of the game's decoder:
//!
//! ```text
//! u8 header   low half: mode; high half: frames from key to key, minus 1
//! mode 0      i16 first value, then an i16 for each further key
//! mode 1..13  i16 first value, then the difference of each further key to the
//!             one before: mode + 1 bits each, signed, highest bit first,
//!             padded to a whole byte
//! mode 14     i16 value of all frames
//! mode 15     nothing; all values are 0
//! ```
//!
//! The last key belongs to the last frame. Between two keys, the value changes by the
//! same step in each frame: their difference divided by the number of frames, rounded
//! towards 0.

use hpimount_containers::io::{Cursor, Result};

/// Streams of an object.
pub(super) const STREAMS: usize = 6;

/// The header of a stream.
enum Mode {
    Absolute,
    /// Differences of this many bits.
    Differences(u32),
    Constant,
    Zero,
}

struct Header {
    mode: Mode,
    /// Frames from one key to the next.
    interval: usize,
}

impl Header {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let header = cursor.u8("stream's header")?;
        let mode = match header & 15 {
            0 => Mode::Absolute,
            14 => Mode::Constant,
            15 => Mode::Zero,
            mode => Mode::Differences(u32::from(mode) + 1),
        };
        Ok(Self {
            mode,
            interval: usize::from(header >> 4) + 1,
        })
    }

    /// Returns the length in bytes of the keys after the first one.
    fn keys_size(&self, frames: usize) -> usize {
        let keys = frames.saturating_sub(1).div_ceil(self.interval);
        match self.mode {
            Mode::Absolute => keys.saturating_mul(2),
            Mode::Differences(bits) => keys.saturating_mul(bits as usize).div_ceil(8),
            Mode::Constant | Mode::Zero => 0,
        }
    }
}

/// Skips a stream of `frames` values without decoding it.
pub(super) fn skip(cursor: &mut Cursor<'_>, frames: usize) -> Result<()> {
    let header = Header::read(cursor)?;
    if !matches!(header.mode, Mode::Zero) {
        cursor.take(2, "stream's first value")?;
    }
    cursor.take(header.keys_size(frames), "stream")?;
    Ok(())
}

/// Reads a stream and passes its `frames` values, at least one, to `put`.
pub(super) fn read(cursor: &mut Cursor<'_>, frames: usize, mut put: impl FnMut(i16)) -> Result<()> {
    let header = Header::read(cursor)?;
    let mut value = match header.mode {
        Mode::Zero => 0,
        _ => cursor.i16("stream's first value")?,
    };
    put(value);
    let mut keys = Bits::new(cursor.take(header.keys_size(frames), "stream")?);
    let mut left = frames.saturating_sub(1);
    while left > 0 {
        let length = header.interval.min(left);
        let change = match header.mode {
            Mode::Absolute => i32::from(keys.absolute()) - i32::from(value),
            Mode::Differences(bits) => keys.signed(bits),
            Mode::Constant | Mode::Zero => 0,
        };
        let end = value.wrapping_add(change as i16);
        let step = (change / length as i32) as i16;
        for _ in 1..length {
            value = value.wrapping_add(step);
            put(value);
        }
        value = end;
        put(value);
        left -= length;
    }
    Ok(())
}

/// A reader of numbers of any width, highest bit first. Bits after the end are 0.
struct Bits<'a> {
    bytes: std::slice::Iter<'a, u8>,
    /// Buffered bits, the next ones highest.
    held: u32,
    /// Number of buffered bits.
    count: u32,
}

impl<'a> Bits<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes: bytes.iter(),
            held: 0,
            count: 0,
        }
    }

    /// Returns a little-endian number of 16 bits.
    fn absolute(&mut self) -> i16 {
        let mut byte = || self.bytes.next().copied().unwrap_or(0);
        i16::from_le_bytes([byte(), byte()])
    }

    /// Returns a signed number of at most 16 bits.
    fn signed(&mut self, bits: u32) -> i32 {
        while self.count < bits {
            let byte = self.bytes.next().copied().unwrap_or(0);
            self.held = self.held << 8 | u32::from(byte);
            self.count += 8;
        }
        self.count -= bits;
        let value = self.held >> self.count;
        self.held &= (1 << self.count) - 1;
        let above = 32 - bits;
        (value << above) as i32 >> above
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_containers::io::Endian;
    use proptest::prelude::*;

    /// Returns the values of a stream, and its length in bytes.
    fn values(bytes: &[u8], frames: usize) -> Result<(Vec<i16>, usize)> {
        let mut cursor = Cursor::new(bytes, 0, Endian::Little);
        let mut skipped = cursor.clone();
        let mut values = Vec::new();
        read(&mut cursor, frames, |value| values.push(value))?;
        skip(&mut skipped, frames)?;
        assert_eq!(skipped.offset(), cursor.offset());
        Ok((values, bytes.len() - cursor.remaining()))
    }

    #[test]
    fn keys_are_exact_and_steps_between_them_rounded_towards_zero() {
        let up = [0x10, 0, 0, 5, 0];
        assert_eq!(values(&up, 3).unwrap(), (vec![0, 2, 5], 5));
        let down = [0x20, 1, 0, 0xFB, 0xFF];
        assert_eq!(values(&down, 4).unwrap(), (vec![1, -1, -3, -5], 5));
        let dense = [0x00, 1, 0, 2, 0, 0xFD, 0xFF];
        assert_eq!(values(&dense, 3).unwrap(), (vec![1, 2, -3], 7));
    }

    #[test]
    fn differences_are_packed_from_the_highest_bit_on() {
        // Two bits: 1; then the end.
        assert_eq!(
            values(&[0x11, 0, 0, 0b0100_0000], 3).unwrap(),
            (vec![0, 0, 1], 4)
        );
        // Three bits: 3, -4, -1, in nine bits.
        let packed = [0x02, 10, 0, 0b0111_0011, 0b1000_0000];
        assert_eq!(values(&packed, 4).unwrap(), (vec![10, 13, 9, 8], 5));
    }

    #[test]
    fn the_last_key_is_at_the_last_frame() {
        // A key every four frames, and a final key two frames later.
        let stream = [0x32, 0, 0, 0b0000_1100];
        assert_eq!(values(&stream, 7).unwrap(), (vec![0, 0, 0, 0, 0, 1, 3], 4));
    }

    #[test]
    fn a_constant_applies_to_all_frames_and_no_value_means_zero() {
        assert_eq!(
            values(&[0x0E, 0x34, 0x12], 3).unwrap(),
            (vec![0x1234; 3], 3)
        );
        assert_eq!(values(&[0xFF], 3).unwrap(), (vec![0; 3], 1));
    }

    #[test]
    fn a_stream_past_the_end_is_an_error() {
        let error = values(&[0x00, 1, 0, 2], 2).unwrap_err().to_string();
        assert_eq!(error, "stream at 0x3: needs 2 bytes, 1 are left");
        assert!(values(&[], 1).is_err());
        let mut cursor = Cursor::new(&[0x01, 0, 0], 0, Endian::Little);
        assert!(skip(&mut cursor, usize::MAX).is_err());
    }

    proptest! {
        #[test]
        fn every_stream_has_a_value_for_each_frame(
            header in any::<u8>(),
            rest in proptest::collection::vec(any::<u8>(), 100),
            frames in 1..50_usize,
        ) {
            let (values, taken) = values(&[vec![header], rest].concat(), frames).unwrap();
            prop_assert_eq!(values.len(), frames);
            prop_assert!(taken <= 101);
        }
    }
}
