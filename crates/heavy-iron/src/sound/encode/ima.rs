//! Samples as Xbox ADPCM: blocks of 36 bytes and 64 samples per channel.

use super::square;
use crate::sound::parse::ima::{self, BLOCK, SAMPLES, STEPS, step};

/// Encodes interleaved samples. Blocks of the old data `old` are kept where they have
/// the same samples.
pub(in super::super) fn encode(samples: &[i16], channels: usize, old: &[u8]) -> Vec<u8> {
    let size = BLOCK * channels;
    let mut data = Vec::with_capacity(samples.len().div_ceil(SAMPLES * channels) * size);
    let mut old = old.chunks_exact(size);
    for frames in samples.chunks(SAMPLES * channels) {
        let mut played = vec![0; frames.len()];
        if let Some(old) = old.next() {
            ima::decode(old, channels, &mut played);
            if played == frames {
                data.extend_from_slice(old);
                continue;
            }
        }
        let mut block = vec![0; size];
        for channel in 0..channels {
            let wanted = frames.iter().skip(channel).step_by(channels).copied();
            let (head, nibbles) = encode_channel(&wanted.collect::<Vec<_>>());
            block[4 * channel..][..4].copy_from_slice(&head);
            for (word, nibbles) in nibbles.as_chunks::<8>().0.iter().enumerate() {
                let at = 4 * (channels + word * channels + channel);
                for (byte, pair) in block[at..at + 4].iter_mut().zip(nibbles.as_chunks::<2>().0) {
                    *byte = pair[0] | pair[1] << 4;
                }
            }
        }
        data.extend_from_slice(&block);
    }
    data
}

/// Returns the header and the nibbles of a channel of a block, with the initial step
/// that gives the least error.
fn encode_channel(samples: &[i16]) -> ([u8; 4], [u8; SAMPLES]) {
    let first = samples.first().copied().unwrap_or_default();
    let mut best = (u64::MAX, 0, [0; SAMPLES]);
    for start in 0..STEPS.len() {
        let (mut value, mut index, mut total) = (first, start, 0);
        let mut nibbles = [0; SAMPLES];
        for (&wanted, nibble) in samples[1.min(samples.len())..].iter().zip(&mut nibbles) {
            let sign = if wanted < value { 8 } else { 0 };
            let candidates = (sign..sign + 8).map(|nibble| {
                let (found, next) = step(value, index, nibble);
                (square(wanted, found), nibble, found, next)
            });
            let least = candidates.min_by_key(|&(error, ..)| error);
            let (error, chosen, found, next) = least.unwrap_or_default();
            total += error;
            (*nibble, value, index) = (chosen, found, next);
            if total >= best.0 {
                break;
            }
        }
        if total < best.0 {
            best = (total, start, nibbles);
        }
    }
    let [low, high] = first.to_le_bytes();
    ([low, high, best.1 as u8, 0], best.2)
}
