//! ADPCM of the Dreamcast's sound chip (AICA), with 4 bits per sample.

/// The minimum, maximum and initial step.
const STEPS: [i32; 2] = [127, 24_576];

/// Step multipliers for each magnitude of a sample, in units of 1/256.
const FACTORS: [i32; 8] = [230, 230, 230, 230, 307, 409, 512, 614];

/// Decodes samples, from the low half of each byte.
pub(super) fn decode(data: &[u8]) -> Vec<i16> {
    let [mut step, mut last] = [STEPS[0], 0];
    let halves = data.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    let samples = halves.map(|half| {
        let size = i32::from(half & 7);
        let change = ((step * (2 * size + 1)) >> 3).min(i16::MAX.into());
        let next = if half & 8 == 0 {
            last + change
        } else {
            last - change
        };
        last = next.clamp(i16::MIN.into(), i16::MAX.into());
        step = ((step * FACTORS[size as usize]) >> 8).clamp(STEPS[0], STEPS[1]);
        last as i16
    });
    samples.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_grows_with_large_changes() {
        // The step is 127, 304, 273, 654: 15/8, -1/8, 15/8 and 1/8 of it.
        assert_eq!(decode(&[0x87, 0x07]), [238, 200, 711, 792]);
    }

    #[test]
    fn samples_and_steps_are_limited() {
        let loud = decode(&[0x77; 40]);
        assert_eq!(loud.last(), Some(&i16::MAX));
        assert_eq!(decode(&[0xFF; 40]).last(), Some(&i16::MIN));
    }
}
