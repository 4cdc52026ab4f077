//! Decoder for FLAC frames (RFC 9639) as used by CHD: without metadata, two
//! channels of 16 bits.
//!
//! The decoders on crates.io read whole files with a header, do not return how
//! many bytes the frames have, after which the subchannels begin, or have not
//! been released for years.

use crc::{CRC_16_UMTS, Crc, Table};

use crate::codec::bits::Bits;
use crate::codec::block::Decoded;

/// The checksum after a frame.
const CRC: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_UMTS);

/// The start of a frame: 14 bits of sync and a zero.
const SYNC: u32 = 0x7FFC;

const CHANNELS: usize = 2;
const BITS: usize = 16;

/// Bytes per sample of both channels.
const SAMPLE: usize = CHANNELS * BITS / 8;

/// The channel assignment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stereo {
    Independent,
    /// The second one is stored as the first minus the second.
    LeftSide,
    /// The first one is stored as the first minus the second.
    SideRight,
    /// Half the sum, and the first minus the second.
    MidSide,
}

/// Fills `out` with samples in the requested byte order, and returns the number
/// of packed bytes that were used.
///
/// # Errors
/// Returns a message if the frames are damaged, too few, or unsupported.
pub(super) fn decode(packed: &[u8], is_big: bool, mut out: &mut [u8]) -> Decoded<usize> {
    let mut taken = 0;
    while !out.is_empty() {
        let frame = packed.get(taken..).unwrap_or_default();
        let most = out.len() / SAMPLE;
        let (channels, length) = read_frame(frame, most)?;
        taken += length;
        let [first, second] = &channels;
        let (filled, rest) = out.split_at_mut(first.len() * SAMPLE);
        let samples = first.iter().zip(second).flat_map(|(a, b)| [*a, *b]);
        for (out, sample) in filled.as_chunks_mut().0.iter_mut().zip(samples) {
            let sample = sample as i16;
            *out = match is_big {
                true => sample.to_be_bytes(),
                false => sample.to_le_bytes(),
            };
        }
        out = rest;
    }
    Ok(taken)
}

/// Returns the samples of both channels of a frame, at most `most` of each, and
/// the length of the frame in bytes.
fn read_frame(bytes: &[u8], most: usize) -> Decoded<([Vec<i32>; CHANNELS], usize)> {
    let mut bits = Bits::new(bytes);
    let (length, stereo) = read_header(&mut bits)?;
    if length > most {
        return Err(format!(
            "has a frame of {length} samples, where {most} are left"
        ));
    }
    let widths = match stereo {
        Stereo::Independent => [BITS, BITS],
        Stereo::LeftSide | Stereo::MidSide => [BITS, BITS + 1],
        Stereo::SideRight => [BITS + 1, BITS],
    };
    let mut first = read_channel(&mut bits, widths[0], length)?;
    let mut second = read_channel(&mut bits, widths[1], length)?;
    for (a, b) in first.iter_mut().zip(&mut second) {
        (*a, *b) = match stereo {
            Stereo::Independent => (*a, *b),
            Stereo::LeftSide => (*a, a.wrapping_sub(*b)),
            Stereo::SideRight => (a.wrapping_add(*b), *b),
            Stereo::MidSide => {
                let sum = a.wrapping_shl(1) | *b & 1;
                (sum.wrapping_add(*b) >> 1, sum.wrapping_sub(*b) >> 1)
            }
        };
    }
    bits.align();
    let end = bits.bytes_taken();
    let sum = bits.take(16)?;
    if u32::from(CRC.checksum(&bytes[..end])) != sum {
        return Err("checksum of a frame is wrong".into());
    }
    Ok(([first, second], end + 2))
}

/// Returns the number of samples of a frame, and how its channels are stored.
fn read_header(bits: &mut Bits<'_>) -> Decoded<(usize, Stereo)> {
    if bits.take(15)? != SYNC {
        return Err("has no frame where one should begin".into());
    }
    bits.take(1)?;
    let (length, rate) = (bits.take(4)?, bits.take(4)?);
    let stereo = match bits.take(4)? {
        1 => Stereo::Independent,
        8 => Stereo::LeftSide,
        9 => Stereo::SideRight,
        10 => Stereo::MidSide,
        other => return Err(format!("has channels of kind {other}")),
    };
    let width = bits.take(3)?;
    if !matches!(width, 0 | 4) {
        return Err(format!("has samples of kind {width}"));
    }
    bits.take(1)?;
    // The number of the frame, encoded like UTF-8.
    let ones = (!bits.take(8)?.wrapping_shl(24)).leading_zeros() as usize;
    bits.skip(8 * ones.min(7).saturating_sub(1))?;
    let length = match length {
        1 => 192,
        2..=5 => 144 << length,
        6 => bits.take(8)? + 1,
        7 => bits.take(16)? + 1,
        8.. => 1 << length,
        _ => return Err("has a frame of an unknown length".into()),
    };
    match rate {
        12 => bits.skip(8)?,
        13 | 14 => bits.skip(16)?,
        _ => {}
    }
    // Skip the checksum of the header: the checksum of the frame covers the
    // header as well.
    bits.skip(8)?;
    Ok((length as usize, stereo))
}

/// Reads a signed number of `width` bits, at most 32.
fn signed(bits: &mut Bits<'_>, width: usize) -> Decoded<i32> {
    let number = bits.take(width)?;
    let unused = 32 - width as u32;
    Ok(number.wrapping_shl(unused) as i32 >> unused.min(31))
}

/// Returns the samples of a channel of `width` bits.
fn read_channel(bits: &mut Bits<'_>, width: usize, length: usize) -> Decoded<Vec<i32>> {
    bits.skip(1)?;
    let kind = bits.take(6)? as usize;
    let wasted = match bits.bit()? {
        true => bits.zeros()? as usize + 1,
        false => 0,
    };
    let width = width.checked_sub(wasted).filter(|&width| width > 0);
    let width = width.ok_or("has samples of no bits")?;
    let mut samples = match kind {
        0 => vec![signed(bits, width)?; length],
        1 => (0..length)
            .map(|_| signed(bits, width))
            .collect::<Decoded<_>>()?,
        8..=12 => {
            const FIXED: [&[i32]; 5] = [&[], &[1], &[2, -1], &[3, -3, 1], &[4, -6, 4, -1]];
            let coefficients = FIXED[kind - 8];
            let mut samples = warm_up(bits, width, coefficients.len(), length)?;
            read_residual(bits, &mut samples, length, coefficients.len())?;
            predict(&mut samples, coefficients, 0);
            samples
        }
        32.. => {
            let order = kind - 31;
            let mut samples = warm_up(bits, width, order, length)?;
            let precision = bits.take(4)? as usize + 1;
            let shift = signed(bits, 5)?;
            if precision == 16 || shift < 0 {
                return Err("has a predictor of an unknown kind".into());
            }
            let coefficients = (0..order).map(|_| signed(bits, precision));
            let coefficients: Vec<i32> = coefficients.collect::<Decoded<_>>()?;
            read_residual(bits, &mut samples, length, order)?;
            predict(&mut samples, &coefficients, shift);
            samples
        }
        other => return Err(format!("has a channel of kind {other}")),
    };
    if wasted > 0 {
        samples.iter_mut().for_each(|sample| *sample <<= wasted);
    }
    Ok(samples)
}

/// Reads the samples that are stored before the prediction starts.
fn warm_up(bits: &mut Bits<'_>, width: usize, order: usize, length: usize) -> Decoded<Vec<i32>> {
    if order > length {
        return Err("has a predictor longer than the frame".into());
    }
    let mut samples = Vec::with_capacity(length);
    for _ in 0..order {
        samples.push(signed(bits, width)?);
    }
    Ok(samples)
}

/// Adds the residual of the predictor of this order: Rice codes in partitions
/// with a parameter each.
fn read_residual(
    bits: &mut Bits<'_>,
    samples: &mut Vec<i32>,
    length: usize,
    order: usize,
) -> Decoded<()> {
    let width = match bits.take(2)? {
        0 => 4,
        1 => 5,
        other => return Err(format!("has codes of kind {other}")),
    };
    let partitions = 1 << bits.take(4)?;
    let each = length / partitions;
    if !length.is_multiple_of(partitions) || each < order {
        return Err(format!("has {partitions} partitions of {length} samples"));
    }
    for number in 1..=partitions {
        let parameter = bits.take(width)?;
        let count = number * each - samples.len();
        if parameter == (1 << width) - 1 {
            let width = bits.take(5)? as usize;
            for _ in 0..count {
                samples.push(if width == 0 { 0 } else { signed(bits, width)? });
            }
            continue;
        }
        for _ in 0..count {
            let high = bits.zeros()?;
            let code = high.wrapping_shl(parameter) | bits.take(parameter as usize)?;
            // Even codes are positive, odd ones negative.
            samples.push((code >> 1) as i32 ^ -((code & 1) as i32));
        }
    }
    Ok(())
}

/// Turns the residual into samples, given the first ones.
fn predict(samples: &mut [i32], coefficients: &[i32], shift: i32) {
    for index in coefficients.len()..samples.len() {
        let (before, rest) = samples.split_at_mut(index);
        let terms = coefficients.iter().zip(before.iter().rev());
        let terms = terms.map(|(&a, &b)| i64::from(a) * i64::from(b));
        let predicted = terms.sum::<i64>() >> shift;
        rest[0] = rest[0].wrapping_add(predicted as i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a frame of 192 samples in two constant channels, with a number
    /// of one byte.
    fn constant(first: i16, second: i16) -> Vec<u8> {
        let mut frame = vec![0xFF, 0xF8, 0x19, 0x18, 0, 0];
        for sample in [first, second] {
            frame.push(0);
            frame.extend(sample.to_be_bytes());
        }
        let sum = CRC.checksum(&frame);
        frame.extend(sum.to_be_bytes());
        frame
    }

    #[test]
    fn samples_have_the_requested_byte_order() {
        let frames = [constant(-2, 0x1234), constant(5, 6)].concat();
        let mut out = vec![0; 2 * 192 * 4];
        assert_eq!(decode(&frames, true, &mut out).unwrap(), frames.len());
        assert_eq!(out[..8], [0xFF, 0xFE, 0x12, 0x34, 0xFF, 0xFE, 0x12, 0x34]);
        decode(&frames, false, &mut out).unwrap();
        assert_eq!(out[192 * 4..][..4], [5, 0, 6, 0]);
    }

    #[test]
    fn a_damaged_or_cut_frame_is_an_error() {
        let frame = constant(1, 2);
        let mut out = vec![0; 192 * 4];
        for at in 0..frame.len() {
            let mut damaged = frame.clone();
            damaged[at] ^= 0x10;
            assert!(decode(&damaged, true, &mut out).is_err(), "{at}");
            assert!(decode(&frame[..at], true, &mut out).is_err(), "{at}");
        }
        let error = decode(&frame, true, &mut [0; 191 * 4]).unwrap_err();
        assert!(error.contains("191 are left"), "{error}");
    }

    #[test]
    fn predictors_are_exact_for_polynomials() {
        // 1, 4, 9, 16, ... has a third difference of 0.
        let mut samples = vec![1, 4, 9, 0, 0, 0];
        predict(&mut samples, &[3, -3, 1], 0);
        assert_eq!(samples, [1, 4, 9, 16, 25, 36]);
    }
}
