//! Samples as DSP-ADPCM: frames of 8 bytes with 14 samples.

use super::square;
use crate::sound::parse::dsp::{FRAME, SAMPLES, sample_of};
use hpimount_assets::model::quality::snr;

/// Signal-to-noise ratio above which a sound keeps its coefficients, in decibels.
const GOOD: f64 = 30.0;

/// Number of pairs of coefficients.
const PAIRS: usize = 8;

/// Highest scale of a frame.
const MAX_SCALE: u8 = 12;

/// Coefficients are in 1/2048.
const ONE: f64 = 2048.0;

/// Number of rounds of assigning frames to coefficient pairs.
const ROUNDS: usize = 6;

/// An encoded sound.
pub(in super::super) struct Encoded {
    pub(in super::super) data: Vec<u8>,
    pub(in super::super) coefficients: [i16; 16],
    /// The samples as they are played.
    pub(in super::super) played: Vec<i16>,
}

/// Encodes samples with the coefficients of a sound, or with new ones if these are not
/// good enough.
pub(in super::super) fn encode(
    samples: &[i16],
    coefficients: [i16; 16],
    history: [i16; 2],
) -> Encoded {
    let kept = with_coefficients(samples, coefficients, history);
    let Some(ratio) = snr(samples, &kept.played).filter(|&ratio| ratio < GOOD) else {
        return kept;
    };
    let new = with_coefficients(samples, fitted(samples), history);
    match snr(samples, &new.played) {
        Some(other) if other <= ratio => kept,
        _ => new,
    }
}

fn with_coefficients(samples: &[i16], coefficients: [i16; 16], history: [i16; 2]) -> Encoded {
    let frames = samples.len().div_ceil(SAMPLES);
    let mut data = Vec::with_capacity(frames * FRAME);
    let mut played = Vec::with_capacity(frames * SAMPLES);
    let mut history = history;
    for frame in samples.chunks(SAMPLES) {
        let mut best = (u64::MAX, [0; FRAME], [0; SAMPLES]);
        'frame: for pair in 0..PAIRS as u8 {
            let at = 2 * usize::from(pair);
            let c = [coefficients[at], coefficients[at + 1]];
            // Most frames are best with a small scale.
            for scale in 0..=MAX_SCALE {
                let found = encode_frame(frame, c, scale, history, best.0);
                if let Some((error, nibbles, samples)) = found {
                    let mut bytes = [0; FRAME];
                    bytes[0] = pair << 4 | scale;
                    for (byte, pair) in bytes[1..].iter_mut().zip(nibbles.as_chunks::<2>().0) {
                        *byte = pair[0] << 4 | pair[1];
                    }
                    best = (error, bytes, samples);
                    if error == 0 {
                        break 'frame;
                    }
                }
            }
        }
        data.extend_from_slice(&best.1);
        played.extend_from_slice(&best.2[..frame.len()]);
        history = [best.2[SAMPLES - 1], best.2[SAMPLES - 2]];
    }
    Encoded {
        data,
        coefficients,
        played,
    }
}

type Frame = (u64, [u8; SAMPLES], [i16; SAMPLES]);

/// Encodes a frame. Returns the sum of squared errors, the nibbles and the decoded
/// samples, or `None` if the error is not below `most`. Missing samples at the end are
/// silent.
fn encode_frame(
    frame: &[i16],
    c: [i16; 2],
    scale: u8,
    history: [i16; 2],
    most: u64,
) -> Option<Frame> {
    let (mut nibbles, mut played) = ([0; SAMPLES], [0; SAMPLES]);
    let [mut h1, mut h2] = history;
    let mut total = 0;
    for (at, (nibble, sample)) in nibbles.iter_mut().zip(&mut played).enumerate() {
        let wanted = frame.get(at).copied();
        let target = wanted.unwrap_or_default();
        let predicted = i64::from(c[0]) * i64::from(h1) + i64::from(c[1]) * i64::from(h2);
        let rest = (i64::from(target) << 11) - predicted;
        let near = (rest + (1 << (10 + scale))) >> (11 + scale);
        let near = near.clamp(-8, 7);
        let candidates = [near, (near - 1).max(-8), (near + 1).min(7)];
        let tried = candidates.map(|value| {
            let found = sample_of(value, scale, predicted);
            (square(target, found), value, found)
        });
        let mut least = tried[0];
        for other in &tried[1..] {
            if other.0 < least.0 {
                least = *other;
            }
        }
        if wanted.is_some() {
            total += least.0;
        }
        if total >= most {
            return None;
        }
        (*nibble, *sample) = (least.1 as u8 & 15, least.2);
        (h2, h1) = (h1, least.2);
    }
    Some((total, nibbles, played))
}

/// The products of a frame's samples with the previous two samples.
#[derive(Clone, Copy, Default)]
struct Products {
    /// Of the samples with themselves.
    own: f64,
    /// Of samples with the previous one, and with the one before that.
    with: [f64; 2],
    /// Of the previous sample with itself, of both, of the earlier one with itself.
    before: [f64; 3],
}

impl Products {
    fn add(&mut self, other: &Self) {
        self.own += other.own;
        self.with = [self.with[0] + other.with[0], self.with[1] + other.with[1]];
        let before = self.before.iter_mut().zip(other.before);
        before.for_each(|(sum, other)| *sum += other);
    }

    /// Returns the sum of squared prediction errors for coefficients.
    fn rest(&self, [a, b]: [f64; 2]) -> f64 {
        let [one, both, two] = self.before;
        self.own - 2.0 * (a * self.with[0] + b * self.with[1])
            + a * a * one
            + 2.0 * a * b * both
            + b * b * two
    }

    /// Returns the best coefficients.
    fn solved(&self) -> [f64; 2] {
        let [one, both, two] = self.before;
        let determinant = one * two - both * both;
        if determinant > 1e-9 * one * two {
            let [x, y] = self.with;
            let a = (x * two - y * both) / determinant;
            return [a, (y * one - x * both) / determinant];
        }
        [if one > 0.0 { self.with[0] / one } else { 0.0 }, 0.0]
    }
}

/// Fits coefficients to samples: frames are divided into groups that one pair predicts
/// well.
fn fitted(samples: &[i16]) -> [i16; 16] {
    let value = |at: usize| samples.get(at).copied().map_or(0.0, f64::from);
    let frames: Vec<Products> = (0..samples.len())
        .step_by(SAMPLES)
        .map(|start| {
            let mut sum = Products::default();
            for at in start.max(2)..(start + SAMPLES).min(samples.len()) {
                let (x, one, two) = (value(at), value(at - 1), value(at - 2));
                sum.add(&Products {
                    own: x * x,
                    with: [x * one, x * two],
                    before: [one * one, one * two, two * two],
                });
            }
            sum
        })
        .collect();
    let mut all = Products::default();
    frames.iter().for_each(|frame| all.add(frame));
    let mut pairs = vec![all.solved()];
    while pairs.len() < PAIRS {
        let apart = pairs
            .iter()
            .flat_map(|&[a, b]| [[a + 0.02, b - 0.02], [a - 0.02, b + 0.02]]);
        pairs = apart.collect();
        for _ in 0..ROUNDS {
            let mut sums = vec![Products::default(); pairs.len()];
            for frame in &frames {
                let rests = pairs.iter().map(|&pair| frame.rest(pair)).enumerate();
                let best = rests.min_by(|(_, a), (_, b)| a.total_cmp(b));
                sums[best.map_or(0, |(at, _)| at)].add(frame);
            }
            for (pair, sum) in pairs.iter_mut().zip(&sums).filter(|(_, sum)| sum.own > 0.0) {
                *pair = sum.solved();
            }
        }
    }
    let mut coefficients = [0; 16];
    let flat = pairs.iter().flatten();
    for (stored, value) in coefficients.iter_mut().zip(flat) {
        // A cast of a float saturates.
        *stored = (value * ONE).round() as i16;
    }
    coefficients
}
