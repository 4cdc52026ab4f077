//! ADPCM of the PlayStation's sound chip (SPU): blocks of 16 bytes with 28 samples,
//! which several families use (FORMATS, Neversoft 3).

use hpimount_containers::io::Warnings;

/// Bytes of a block.
pub const BLOCK: usize = 16;

/// Samples of a block.
pub const SAMPLES: usize = 28;

/// Flags of a block.
const END: u8 = 1;
const REPEAT: u8 = 2;
const LOOP_START: u8 = 4;

/// Flags of the inaudible block that Sony's tools append.
const TERMINATOR: u8 = 7;

/// Largest shift and filter that mean something.
const MAX_SHIFT: u8 = 12;
const MAX_FILTER: u8 = 4;

/// The chip uses this shift in place of larger ones.
const OTHER_SHIFT: u8 = 9;

/// Pairs of coefficients, in 1/64.
const FILTERS: [(i32, i32); 5] = [(0, 0), (60, 0), (115, -52), (98, -55), (122, -60)];

/// Rounding of a sample's prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Each of the two terms is rounded, as on the PlayStation.
    Terms,
    /// Their sum.
    Sum,
}

impl Rounding {
    /// Returns the prediction from the two samples before.
    fn predicted(self, (h1, h2): (i32, i32), (a, b): (i32, i32)) -> i32 {
        match self {
            Self::Terms => ((h1 * a) >> 6) + ((h2 * b) >> 6),
            Self::Sum => (h1 * a + h2 * b) >> 6,
        }
    }
}

fn clamp(sample: i32) -> i32 {
    sample.clamp(i16::MIN.into(), i16::MAX.into())
}

/// Encodes samples as blocks without flags. The last block is filled with silence, or
/// with the start of the `repeated` samples. Every block uses the filter and shift with
/// the least error.
fn encode(samples: &[i16], repeated: &[i16], rounding: Rounding) -> Vec<u8> {
    let mut data = Vec::with_capacity(samples.len().div_ceil(SAMPLES) * BLOCK);
    let mut history = (0, 0);
    for samples in samples.chunks(SAMPLES) {
        let mut wanted = [0; SAMPLES];
        let following = samples.iter().chain(repeated.iter().cycle());
        for (wanted, sample) in wanted.iter_mut().zip(following) {
            *wanted = *sample;
        }
        let mut best = (u64::MAX, [0; BLOCK], history);
        for filter in 0..=MAX_FILTER {
            for shift in (0..=MAX_SHIFT).rev() {
                let found = encode_block(&wanted, (filter, shift), rounding, history, best.0);
                best = found.unwrap_or(best);
            }
        }
        data.extend_from_slice(&best.1);
        history = best.2;
    }
    data
}

/// Encodes samples in the layout of the sound `old`, whose first `heard` samples are
/// audible: keeps the flags, and the blocks after the end. `start` is the first sample
/// of the loop, whose beginning fills the last block.
///
/// # Errors
/// Returns the reason why a loop does not fit.
pub fn encode_like(
    samples: &[i16],
    rounding: Rounding,
    old: &[u8],
    heard: u32,
    start: Option<u32>,
) -> Result<Vec<u8>, String> {
    let old = old.as_chunks::<BLOCK>().0;
    let heard = (heard as usize / SAMPLES).min(old.len());
    let count = samples.len().div_ceil(SAMPLES);
    if let Some(start) = start.filter(|&start| start as usize >= samples.len()) {
        return Err(format!(
            "ends before sample {start}, where its loop starts: keep it longer"
        ));
    }
    let first = start.map_or(samples.len(), first_of_block);
    let mut data = encode(samples, &samples[first..], rounding);
    for (number, block) in data.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let like = |number: usize| old.get(number).map_or(0, |block| block[1]);
        let flags = match number {
            last if last + 1 == count && heard > 0 => like(heard - 1),
            inner if inner + 1 < heard => like(inner),
            // Additional blocks have the flags of inner blocks.
            _ if heard > 1 => like(heard - 2) & !LOOP_START,
            _ => 0,
        };
        // Sounds repeat from the last start flag, which may be on the last block.
        block[1] = match start.map(|start| start as usize / SAMPLES) {
            Some(start) if start == number => flags | LOOP_START,
            Some(start) if start < number => flags & !LOOP_START,
            _ => flags,
        };
    }
    data.extend_from_slice(old[heard..].as_flattened());
    Ok(data)
}

/// Returns the first sample of the block with a sample.
fn first_of_block(sample: u32) -> usize {
    sample as usize / SAMPLES * SAMPLES
}

/// Returns a warning if blocks cannot represent a loop from `start` to the end of this
/// number of samples. It tells how the loop is changed.
pub fn loop_warning(samples: u32, start: u32) -> Option<String> {
    let first = first_of_block(start);
    let end = (samples as usize).next_multiple_of(SAMPLES);
    let is_exact = (first, end) == (start as usize, samples as usize);
    (!is_exact).then(|| {
        let last = end - 1;
        format!(
            "the loop is from sample {first} to {last}, because it has whole blocks of {SAMPLES} \
             samples; its begin fills the last one"
        )
    })
}

/// Loops the blocks of the first `heard` samples from the block with this sample.
pub fn set_loop(data: &mut [u8], heard: u32, start: u32) {
    let blocks = data.as_chunks_mut::<BLOCK>().0;
    let heard = (heard as usize).div_ceil(SAMPLES).min(blocks.len());
    let first = start as usize / SAMPLES;
    for (number, block) in blocks[..heard].iter_mut().enumerate() {
        block[1] = block[1] & !LOOP_START | REPEAT;
        if number == first {
            block[1] |= LOOP_START;
        }
    }
    if let Some(last) = blocks[..heard].last_mut() {
        last[1] |= END;
    }
}

/// Encodes a block. Returns the sum of its squared errors and its last two decoded
/// samples, or `None` if the error is not below `most`.
fn encode_block(
    wanted: &[i16; SAMPLES],
    (filter, shift): (u8, u8),
    rounding: Rounding,
    history: (i32, i32),
    most: u64,
) -> Option<(u64, [u8; BLOCK], (i32, i32))> {
    let mut block = [0; BLOCK];
    block[0] = filter << 4 | shift;
    let (mut history, mut total) = (history, 0);
    let nibbles = wanted.as_chunks::<2>().0.iter().zip(&mut block[2..]);
    for (pair, byte) in nibbles {
        for (&wanted, half) in pair.iter().zip([0, 4]) {
            let predicted = rounding.predicted(history, FILTERS[usize::from(filter)]);
            let rest = i32::from(wanted) - predicted;
            let near = ((rest << shift) + (1 << 11)) >> 12;
            let near = near.clamp(-8, 7);
            let sample = clamp((near << 12 >> shift) + predicted);
            total += u64::from(sample.abs_diff(wanted.into())).pow(2);
            if total >= most {
                return None;
            }
            *byte |= (near as u8 & 15) << half;
            history = (sample, history.0);
        }
    }
    Some((total, block, history))
}

/// Decodes blocks into `out`, until one of the two ends.
pub fn decode(data: &[u8], rounding: Rounding, out: &mut [i16]) {
    let (mut h1, mut h2) = (0, 0);
    for (samples, block) in out.chunks_mut(SAMPLES).zip(data.as_chunks::<BLOCK>().0) {
        let filter = FILTERS.get(usize::from(block[0] >> 4));
        let (a, b) = filter.copied().unwrap_or_default();
        let shift = match block[0] & 15 {
            shift @ 0..=MAX_SHIFT => shift,
            _ => OTHER_SHIFT,
        };
        for (pair, byte) in samples.chunks_mut(2).zip(&block[2..]) {
            for (sample, nibble) in pair.iter_mut().zip([byte & 15, byte >> 4]) {
                let value = i32::from((u16::from(nibble) << 12) as i16) >> shift;
                let clamped = clamp(value + rounding.predicted((h1, h2), (a, b)));
                *sample = clamped as i16;
                (h2, h1) = (h1, clamped);
            }
        }
    }
}

/// The part of a sound that is heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Samples before the end.
    pub samples: u32,
    /// First and last sample of the loop.
    pub loops: Option<(u32, u32)>,
}

/// Returns the audible part of a sound: up to the first block with the end flag, or
/// everything if audible blocks follow, as in a stream.
pub fn extent(data: &[u8], warnings: &mut Warnings) -> Extent {
    let (blocks, rest) = data.as_chunks::<BLOCK>();
    if !rest.is_empty() {
        warnings.push(format!("{} bytes follow the last block", rest.len()));
    }
    let mut end = blocks.iter().position(|block| block[1] & END != 0);
    let mut heard = blocks;
    if let Some(last) = end {
        if blocks[last + 1..].iter().any(is_audible) {
            warnings.push(format!("sound follows the end flag of block {last}"));
            end = None;
        } else if is_terminator(&blocks[last]) {
            heard = &blocks[..last];
            end = None;
        } else {
            heard = &blocks[..=last];
        }
    }
    let is_odd = |block: &[u8; BLOCK]| block[0] & 15 > MAX_SHIFT || block[0] >> 4 > MAX_FILTER;
    if let Some(odd) = heard.iter().position(is_odd) {
        let head = heard[odd][0];
        warnings.push(format!(
            "unknown shift or filter {head:#04x} in block {odd}"
        ));
    }
    let sample = |block: usize| u32::try_from(SAMPLES * block).unwrap_or(u32::MAX);
    let samples = sample(heard.len());
    let mut loops = None;
    if end.is_some_and(|end| blocks[end][1] & REPEAT != 0) {
        let start = heard.iter().rposition(|block| block[1] & LOOP_START != 0);
        match start {
            Some(start) => loops = Some((sample(start), samples.saturating_sub(1))),
            None => warnings.push("the sound repeats without a start of the loop"),
        }
    }
    Extent { samples, loops }
}

fn is_terminator(block: &[u8; BLOCK]) -> bool {
    let data = &block[2..];
    let is_filled = |with: u8| data.iter().all(|&byte| byte == with);
    block[1] == TERMINATOR && [0, 7].contains(&block[0]) && (is_filled(0x77) || is_filled(0))
}

fn is_audible(block: &[u8; BLOCK]) -> bool {
    !is_terminator(block) && block[2..].iter().any(|&byte| byte != 0)
}

/// Returns true if bytes without a header may be blocks.
pub fn is_plausible(data: &[u8]) -> bool {
    let (blocks, rest) = data.as_chunks::<BLOCK>();
    let is_block = |block: &[u8; BLOCK]| {
        block[0] & 15 <= MAX_SHIFT && block[0] >> 4 <= MAX_FILTER && block[1] <= TERMINATOR
    };
    rest.is_empty() && !blocks.is_empty() && blocks.iter().all(is_block)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(head: u8, flags: u8, byte: u8) -> [u8; BLOCK] {
        let mut block = [byte; BLOCK];
        (block[0], block[1]) = (head, flags);
        block
    }

    fn extent_of(blocks: &[[u8; BLOCK]]) -> (u32, Option<(u32, u32)>, usize) {
        let mut warnings = Warnings::default();
        let Extent { samples, loops } = extent(blocks.as_flattened(), &mut warnings);
        (samples, loops, warnings.len())
    }

    #[test]
    fn a_sound_ends_at_its_flag_and_repeats_from_the_last_start() {
        let (plain, start) = (block(0, 0, 1), block(0, LOOP_START, 1));
        let repeat = block(0, END | REPEAT, 1);
        let terminator = block(7, TERMINATOR, 0x77);
        assert_eq!(
            extent_of(&[start, start, repeat, terminator]),
            (84, Some((28, 83)), 0)
        );
        assert_eq!(extent_of(&[start, block(0, END, 1)]), (56, None, 0));
        assert_eq!(extent_of(&[plain, repeat]), (56, None, 1));
        assert_eq!(extent_of(&[plain, terminator]), (28, None, 0));
        assert_eq!(extent_of(&[plain, repeat, plain]), (84, None, 1));
        assert_eq!(extent_of(&[block(0x5D, 0, 1)]), (28, None, 1));
    }

    #[test]
    fn the_last_block_of_a_loop_is_filled_with_its_begin_and_has_the_end() {
        let samples: Vec<i16> = (0..100).map(|at| 64 * at).collect();
        let plain = block(0, 0, 0);
        let old = [plain; 2];
        let start = Some(30);
        let encoded = encode_like(&samples, Rounding::Sum, old.as_flattened(), 56, start);
        let mut data = encoded.unwrap();
        set_loop(&mut data, 100, 30);
        assert_eq!(extent_of(data.as_chunks().0), (112, Some((28, 111)), 0));
        let mut decoded = [0; 112];
        decode(&data, Rounding::Sum, &mut decoded);
        let expected = samples.iter().chain(&samples[28..]);
        for (at, (found, expected)) in decoded.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() < 400, "{at}: {found}, {expected}");
        }
        assert_eq!(
            loop_warning(100, 30).unwrap(),
            "the loop is from sample 28 to 111, because it has whole blocks of 28 samples; its \
             begin fills the last one"
        );
        assert_eq!(loop_warning(112, 28), None);
    }

    #[test]
    fn a_loop_can_be_within_the_last_block() {
        let encoded = |count: usize, start: u32, old: &[u8]| {
            let old: Vec<_> = old.iter().map(|&flags| block(0, flags, 1)).collect();
            let heard = (SAMPLES * old.len()) as u32;
            let samples: Vec<i16> = (0..count as i16).collect();
            let old = old.as_flattened();
            encode_like(&samples, Rounding::Sum, old, heard, Some(start))
        };
        // The old flags are sufficient if the sound already loops.
        let whole = [LOOP_START, REPEAT, END | REPEAT];
        let single = [LOOP_START | END | REPEAT];
        for (count, old, last) in [(20, &whole[..], 27), (20, &single, 27), (90, &single, 111)] {
            let data = encoded(count, 0, old).unwrap();
            assert_eq!(
                extent_of(data.as_chunks().0),
                (last + 1, Some((0, last)), 0)
            );
        }
        let mut data = encoded(40, 28, &[0; 3]).unwrap();
        set_loop(&mut data, 40, 28);
        assert_eq!(extent_of(data.as_chunks().0), (56, Some((28, 55)), 0));
        let refused = encoded(40, 40, &[0; 3]).unwrap_err();
        assert_eq!(
            refused,
            "ends before sample 40, where its loop starts: keep it longer"
        );
    }

    #[test]
    fn the_two_terms_of_a_prediction_are_rounded_separately() {
        let data = block(0x2C, 0, 0xFF);
        let decoded = |rounding| {
            let mut out = [0; 4];
            decode(&data, rounding, &mut out);
            out
        };
        assert_eq!(decoded(Rounding::Terms), [-1, -3, -7, -12]);
        assert_eq!(decoded(Rounding::Sum), [-1, -3, -6, -10]);
    }

    #[test]
    fn the_low_half_of_a_byte_comes_first() {
        let mut out = [0; 3];
        decode(&block(12, 0, 0x21), Rounding::Terms, &mut out);
        assert_eq!(out, [1, 2, 1]);
    }
}
