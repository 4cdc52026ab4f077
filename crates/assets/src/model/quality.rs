//! The quality of encoded pictures and sounds.

use super::math::log10;

/// Returns a sentence with the peak signal-to-noise ratio of encoded pixels; `None` if
/// they decode to the same pixels. Ignores the colors of transparent pixels.
pub fn of_pixels(before: &[[u8; 4]], after: &[[u8; 4]]) -> Option<String> {
    let ratio = psnr(before, after)?;
    Some(format!("loses quality: PSNR {ratio:.1} dB"))
}

/// Returns a sentence with the signal-to-noise ratio of encoded samples; `None` if they
/// decode to the same samples.
pub fn of_samples(before: &[i16], after: &[i16]) -> Option<String> {
    let ratio = snr(before, after)?;
    Some(format!("loses quality: SNR {ratio:.1} dB"))
}

/// Returns the peak signal-to-noise ratio in decibels; `None` without noise.
pub fn psnr(before: &[[u8; 4]], after: &[[u8; 4]]) -> Option<f64> {
    let square = |a: u8, b: u8| f64::from(a.abs_diff(b)).powi(2);
    let noise = before.iter().zip(after).map(|(before, after)| {
        let parts = if before[3] == 0 && after[3] == 0 {
            3..4
        } else {
            0..4
        };
        parts
            .map(|part| square(before[part], after[part]))
            .sum::<f64>()
    });
    let noise = noise.sum::<f64>() / (4 * before.len()).max(1) as f64;
    (noise > 0.0).then(|| 10.0 * log10(255.0_f64.powi(2) / noise))
}

/// Returns the signal-to-noise ratio in decibels; `None` without noise.
pub fn snr(before: &[i16], after: &[i16]) -> Option<f64> {
    let power = |sum: f64, value: i32| sum + f64::from(value).powi(2);
    let signal = before.iter().map(|&sample| i32::from(sample));
    let noise = before.iter().zip(after);
    let noise = noise.map(|(&before, &after)| i32::from(before) - i32::from(after));
    let (signal, noise) = (signal.fold(0.0, power), noise.fold(0.0, power));
    (noise > 0.0).then(|| 10.0 * log10(signal.max(1.0) / noise))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_compared_with_the_peak_or_the_signal() {
        let black = [[0, 0, 0, 255]; 4];
        assert_eq!(psnr(&black, &black), None);
        let white = [[255, 255, 255, 255]; 4];
        let all = psnr(&black, &white).unwrap();
        assert!((all - 10.0 * log10(4.0 / 3.0)).abs() < 1e-9, "{all}");
        assert_eq!(psnr(&[[1, 2, 3, 0]], &[[4, 5, 6, 0]]), None);
        assert_eq!(snr(&[100, -100], &[90, -90]).unwrap().round(), 20.0);
        assert_eq!(snr(&[5], &[5]), None);
    }
}
