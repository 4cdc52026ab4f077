//! Formats that are identified but not read: scenarios and videos (FORMATS, TA 12).

use get_size2::GetSize;

use crate::pointer::little;
use hpimount_assets::parse::count::count;
use hpimount_containers::io::{Error, Result};

/// First word of a scenario: 1.0 as a float.
const SCENARIO: u32 = 0x3F80_0000;

/// Bytes of a unit of a scenario.
const UNIT_SIZE: usize = 568;

/// A recognized file.
#[derive(Debug, Clone, Copy, PartialEq, GetSize)]
pub enum Recognized {
    /// A scenario of TA: Kingdoms (CRT).
    Scenario {
        /// Number of units in it.
        units: usize,
    },
    /// A Smacker video; ZRB in Total Annihilation.
    Smacker(Smacker),
    /// A Bink video.
    Bink,
}

/// The header of a Smacker video.
#[derive(Debug, Clone, Copy, PartialEq, GetSize)]
pub struct Smacker {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Number of frames.
    pub frames: u32,
    /// Duration of a frame in units of 1/100,000 s.
    pub frame_time: u64,
}

impl Smacker {
    /// Returns the duration of a frame in seconds.
    pub fn frame_seconds(&self) -> f64 {
        self.frame_time as f64 / 100_000.0
    }

    /// Returns the duration of the video in seconds.
    pub fn seconds(&self) -> f64 {
        self.frame_seconds() * f64::from(self.frames)
    }
}

/// Recognizes a file by its first bytes.
///
/// # Errors
/// Returns [`Error::Damaged`] if it is one of these and its header is invalid,
/// and [`Error::Unsupported`] if it is none of them.
pub fn recognize(file: &[u8]) -> Result<Recognized> {
    match file.first_chunk() {
        Some(b"SMK2" | b"SMK4") => Ok(Recognized::Smacker(smacker(file)?)),
        Some(b"BIKb" | b"BIKd" | b"BIKf" | b"BIKg" | b"BIKh" | b"BIKi" | b"BIKk") => {
            Ok(Recognized::Bink)
        }
        Some(&word) if u32::from_le_bytes(word) == SCENARIO => {
            let mut cursor = little(file);
            cursor.take(8, "header")?;
            let units = count(&mut cursor, UNIT_SIZE, "unit count")?;
            Ok(Recognized::Scenario { units })
        }
        _ => Err(Error::Unsupported(
            "is neither a scenario nor a video".to_owned(),
        )),
    }
}

fn smacker(file: &[u8]) -> Result<Smacker> {
    let mut cursor = little(file);
    cursor.take(4, "magic")?;
    Ok(Smacker {
        width: cursor.u32("width")?,
        height: cursor.u32("height")?,
        frames: cursor.u32("frame count")?,
        frame_time: match cursor.i32("frame rate")? {
            // Milliseconds; if negative, units of 10 microseconds.
            0 => 10_000,
            rate @ 1.. => 100 * u64::from(rate.unsigned_abs()),
            rate => rate.unsigned_abs().into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognized_by_their_first_bytes() {
        let video = |rate: i32| {
            let mut bytes = b"SMK2".to_vec();
            [320, 200, 9]
                .iter()
                .for_each(|number: &u32| bytes.extend(number.to_le_bytes()));
            bytes.extend(rate.to_le_bytes());
            match recognize(&bytes).unwrap() {
                Recognized::Smacker(video) => video,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            (video(0).width, video(0).height, video(0).frames),
            (320, 200, 9)
        );
        let times = [0, 66, -6667].map(|rate| video(rate).frame_time);
        assert_eq!(times, [10_000, 6600, 6667]);
        assert!(
            recognize(b"SMK2")
                .unwrap_err()
                .to_string()
                .contains("width at 0x4")
        );
        assert_eq!(recognize(b"BIKi").unwrap(), Recognized::Bink);
        let scenario = |units: u8| [0, 0, 0x80, 0x3F, 0, 0, 0, 0, units, 0, 0, 0];
        assert_eq!(
            recognize(&scenario(0)).unwrap(),
            Recognized::Scenario { units: 0 }
        );
        assert!(recognize(&scenario(1)).is_err());
        assert!(matches!(recognize(b""), Err(Error::Unsupported(_))));
    }
}
