//! Smaller levels of a texture.

use std::borrow::Cow;

use crate::model::math::{linear, powf};

/// A color in linear light, multiplied by its alpha.
type Linear = [f32; 4];

/// Returns the pixels of all levels of `picture`, the first level. Each pixel of a
/// smaller level is the mean of up to four pixels of the previous level, in linear
/// light and weighted by alpha. Takes at most six bytes of memory for each pixel of the
/// picture.
pub fn levels<'a>(picture: &'a [[u8; 4]], sizes: &[(u32, u32)]) -> Vec<Cow<'a, [[u8; 4]]>> {
    let mut levels = Vec::with_capacity(sizes.len());
    levels.push(Cow::Borrowed(picture));
    let mut linear: Option<Vec<Linear>> = None;
    for pair in sizes.windows(2) {
        let (size, smaller) = (pair[0], pair[1]);
        let halved = match linear {
            Some(linear) => halved(|at| linear[at], size, smaller),
            None => halved(|at| to_linear(picture[at]), size, smaller),
        };
        levels.push(halved.iter().map(|&pixel| from_linear(pixel)).collect());
        linear = Some(halved);
    }
    levels
}

/// Returns the pixels of a level. `from` returns pixels of the previous level by
/// number.
fn halved(from: impl Fn(usize) -> Linear, size: (u32, u32), smaller: (u32, u32)) -> Vec<Linear> {
    let (width, height) = (size.0 as usize, size.1 as usize);
    let (columns, rows) = (smaller.0 as usize, smaller.1 as usize);
    let mut pixels = Vec::with_capacity(columns * rows);
    for y in 0..rows {
        for x in 0..columns {
            let corners = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(right, down)| {
                let (x, y) = (
                    (2 * x + right).min(width - 1),
                    (2 * y + down).min(height - 1),
                );
                from(y * width + x)
            });
            pixels.push(std::array::from_fn(|part| {
                corners.iter().map(|corner| corner[part]).sum::<f32>() / 4.0
            }));
        }
    }
    pixels
}

/// Converts a color from sRGB.
fn to_linear([r, g, b, a]: [u8; 4]) -> Linear {
    let alpha = f32::from(a) / 255.0;
    let part = |part: u8| alpha * linear(f32::from(part) / 255.0);
    [part(r), part(g), part(b), alpha]
}

/// Converts a color to sRGB.
fn from_linear([r, g, b, alpha]: Linear) -> [u8; 4] {
    let part = |part: f32| {
        let part = if alpha > 0.0 { part / alpha } else { 0.0 };
        let part = match part {
            part if part <= 0.003_130_8 => part * 12.92,
            part => 1.055 * powf(part, 1.0 / 2.4) - 0.055,
        };
        // A cast of a float saturates.
        (part * 255.0).round() as u8
    };
    [part(r), part(g), part(b), (alpha * 255.0).round() as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_taken_in_linear_light_and_without_transparent_pixels() {
        let (black, white) = ([0, 0, 0, 255], [255; 4]);
        let sizes = [(2, 2), (1, 1)];
        let picture = [black, white, white, black];
        let half = levels(&picture, &sizes);
        assert_eq!(*half[1], [[188, 188, 188, 255]]);
        let red = [255, 0, 0, 255];
        let picture = [red, [0; 4], red, [0; 4]];
        let faded = levels(&picture, &sizes);
        assert_eq!(*faded[1], [[255, 0, 0, 128]]);
    }

    #[test]
    fn every_color_stays_as_it_is() {
        for gray in 0..=255 {
            let pixel = [gray, 7, 255 - gray, 255];
            assert_eq!(from_linear(to_linear(pixel)), pixel);
        }
        let sizes = [(3, 1), (1, 1)];
        let row = [[9, 9, 9, 255]; 3];
        assert_eq!(*levels(&row, &sizes)[1], [[9, 9, 9, 255]]);
    }
}
