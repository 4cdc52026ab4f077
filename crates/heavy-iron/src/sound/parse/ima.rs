//! Xbox ADPCM: blocks of 36 bytes and 64 samples per channel.

use super::clamp;
use hpimount_containers::io::Warnings;

/// The format's number in a WAV header.
pub(super) const FORMAT: u16 = 0x69;

/// Bytes of a block per channel.
pub(in super::super) const BLOCK: usize = 36;

/// Samples of a block per channel.
pub(in super::super) const SAMPLES: usize = 64;

/// Differences between samples.
pub(in super::super) const STEPS: [i32; 89] = [
    7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66,
    73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449,
    494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272,
    2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493,
    10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767,
];

/// Change of the index into [`STEPS`], by the lower three bits of a nibble.
const CHANGES: [i8; 8] = [-1, -1, -1, -1, 2, 4, 6, 8];

/// Warns about blocks with a step index that is out of range.
pub(super) fn check(data: &[u8], channels: usize, warnings: &mut Warnings) {
    let blocks = data.chunks_exact(BLOCK * channels);
    let heads = blocks.flat_map(|block| block[..4 * channels].as_chunks::<4>().0);
    let odd = heads
        .filter(|head| usize::from(head[2]) >= STEPS.len())
        .count();
    if odd > 0 {
        warnings.push(format!("{odd} blocks begin with a step above 88"));
    }
}

/// Decodes interleaved samples. A block has one sample in its header and one for each
/// nibble except the last.
pub(in super::super) fn decode(data: &[u8], channels: usize, out: &mut [i16]) {
    let blocks = data.chunks_exact(BLOCK * channels);
    for (samples, block) in out.chunks_mut(SAMPLES * channels).zip(blocks) {
        for channel in 0..channels {
            let channel_samples = samples.iter_mut().skip(channel).step_by(channels);
            decode_channel(block, channel, channels, channel_samples);
        }
    }
}

fn decode_channel<'a>(
    block: &[u8],
    channel: usize,
    channels: usize,
    mut out: impl Iterator<Item = &'a mut i16>,
) {
    let (heads, groups) = block.split_at(4 * channels);
    let [low, high, start, _] = heads.as_chunks().0[channel];
    let mut value = i16::from_le_bytes([low, high]);
    let mut index = usize::from(start).min(STEPS.len() - 1);
    if let Some(first) = out.next() {
        *first = value;
    }
    let words = groups
        .as_chunks::<4>()
        .0
        .iter()
        .skip(channel)
        .step_by(channels);
    let nibbles = words.flatten().flat_map(|byte| [byte & 15, byte >> 4]);
    for (sample, nibble) in out.zip(nibbles) {
        (value, index) = step(value, index, nibble);
        *sample = value;
    }
}

/// Returns the sample for a nibble after the sample `value`, and the next step index.
pub(in super::super) fn step(value: i16, index: usize, nibble: u8) -> (i16, usize) {
    let step = STEPS[index];
    let mut change = step >> 3;
    for (bit, part) in [(1, step >> 2), (2, step >> 1), (4, step)] {
        if nibble & bit != 0 {
            change += part;
        }
    }
    let change = if nibble & 8 != 0 { -change } else { change };
    let next = index.saturating_add_signed(CHANGES[usize::from(nibble & 7)].into());
    (clamp(i32::from(value) + change), next.min(STEPS.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_is_in_the_head_and_low_nibbles_come_first() {
        let mut block = vec![0x64, 0, 0, 0, 0xF7];
        block.resize(BLOCK, 0);
        let mut out = [0; 4];
        decode(&block, 1, &mut out);
        // Step 7: +7+3+1+0, then with step 16 the same downwards.
        assert_eq!(out[..3], [100, 111, 81]);
    }

    #[test]
    fn channels_alternate_in_groups_of_four_bytes() {
        let mut block = vec![10, 0, 0, 0, 20, 0, 0, 0];
        block.extend([0x77, 0x77, 0x77, 0x77, 0, 0, 0, 0]);
        block.resize(2 * BLOCK, 0);
        let mut out = [0; 8];
        decode(&block, 2, &mut out);
        assert_eq!([out[0], out[1], out[3], out[5]], [10, 20, 20, 20]);
        assert!(out[2] > 10 && out[4] > out[2]);
    }
}
