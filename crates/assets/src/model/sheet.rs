//! Contact sheets.

use super::{Picture, Pixels};

/// Width and height of a contact sheet in pixels.
const SHEET_EDGE: u32 = 256;

/// Maximum enlargement of a small picture.
const MAX_ENLARGED: usize = 8;

/// The size of the pictures of a contact sheet.
#[derive(Debug, Clone, Copy)]
pub enum Scale {
    /// Each picture is as large as fits into its cell.
    Own,
    /// All pictures have one scale: a side of this many pixels fits into a cell.
    Common(u32),
}

/// Renders `count` pictures in a square grid on a transparent background. Pictures that
/// cannot be shown leave their cells empty.
pub fn sheet(
    count: usize,
    scale: Scale,
    pictures: impl Iterator<Item = Option<Picture>>,
) -> Picture {
    let edge = SHEET_EDGE as usize;
    let columns = (1..=edge).find(|columns| columns * columns >= count);
    let columns = columns.unwrap_or(edge);
    let cell = edge / columns;
    // A gap between cells, if they are large enough.
    let inner = if cell >= 16 { cell - 2 } else { cell };
    let mut pixels = vec![[0; 4]; edge * edge];
    for (index, picture) in pictures.take(columns * columns).enumerate() {
        let Some(picture) = picture else { continue };
        let (width, height) = (picture.width as usize, picture.height as usize);
        let longest = match scale {
            Scale::Own => 0,
            Scale::Common(longest) => longest as usize,
        };
        let (shown_width, shown_height) = fitted(width, height, longest, inner);
        let scaled = scaled(&picture.rgba(), width, shown_width, shown_height);
        let left = index % columns * cell + (cell - shown_width) / 2;
        let top = index / columns * cell + (cell - shown_height) / 2;
        for (y, row) in scaled.chunks(shown_width).enumerate() {
            let start = (top + y) * edge + left;
            pixels[start..start + shown_width].copy_from_slice(row);
        }
    }
    Picture {
        width: SHEET_EDGE,
        height: SHEET_EDGE,
        pixels: Pixels::Rgba(pixels),
    }
}

/// Downscales a picture so that no side is longer than `edge` pixels. Smaller pictures
/// are unchanged.
pub fn reduced(picture: Picture, edge: u32) -> Picture {
    let longer = picture.width.max(picture.height);
    if longer <= edge {
        return picture;
    }
    let (width, height) = (picture.width as usize, picture.height as usize);
    let (to_width, to_height) = fitted(width, height, 0, edge.max(1) as usize);
    Picture {
        width: to_width as u32,
        height: to_height as u32,
        pixels: Pixels::Rgba(scaled(&picture.rgba(), width, to_width, to_height)),
    }
}

/// Returns the size of a picture in a cell: reduced, or enlarged by an integer factor.
/// A side of `longest` pixels must fit at the same scale.
fn fitted(width: usize, height: usize, longest: usize, cell: usize) -> (usize, usize) {
    let longer = width.max(height).max(longest).max(1);
    if longer <= cell {
        let times = (cell / longer).clamp(1, MAX_ENLARGED);
        return (width * times, height * times);
    }
    let scale = |side: usize| (side * cell / longer).max(1);
    (scale(width), scale(height))
}

/// Scales a picture down: each pixel is the mean of the pixels that it covers.
fn scaled(pixels: &[[u8; 4]], width: usize, to_width: usize, to_height: usize) -> Vec<[u8; 4]> {
    let height = pixels.len() / width.max(1);
    if let Some(times) = enlargement([width, height], [to_width, to_height]) {
        return enlarged(pixels, width, times);
    }
    let covered = |index: usize, from: usize, to: usize| {
        let start = index * from / to;
        let end = ((index + 1) * from).div_ceil(to);
        start..end.clamp(start + 1, from.max(start + 1))
    };
    let mut scaled = Vec::with_capacity(to_width * to_height);
    for y in 0..to_height {
        let rows = covered(y, height, to_height);
        for x in 0..to_width {
            let columns = covered(x, width, to_width);
            let mut sum = [0_u64; 4];
            for row in rows.clone() {
                for part in pixels[row * width..][columns.clone()].chunks(MAX_SUMMED) {
                    let part = weighted_sum(part).map(u64::from);
                    sum = std::array::from_fn(|at| sum[at] + part[at]);
                }
            }
            let count = rows.len() as u64 * columns.len() as u64;
            scaled.push(mean(sum, count));
        }
    }
    scaled
}

/// Number of pixels whose sum fits into 32 bits, which are added more quickly.
const MAX_SUMMED: usize = 1 << 16;

/// Returns the sum of colors with alpha as weight, and of alpha.
fn weighted_sum(pixels: &[[u8; 4]]) -> [u32; 4] {
    pixels.iter().fold([0; 4], |sum, pixel| {
        let weight = u32::from(pixel[3]);
        let part = |at: usize| match at {
            3 => weight,
            at => weight * u32::from(pixel[at]),
        };
        std::array::from_fn(|at| sum[at] + part(at))
    })
}

/// Returns the integer factor between two sizes, if it is one.
fn enlargement(from: [usize; 2], to: [usize; 2]) -> Option<usize> {
    let times = to[0].checked_div(from[0])?;
    (times > 0 && from.map(|side| side * times) == to).then_some(times)
}

/// Returns a picture with each pixel repeated in both directions.
fn enlarged(pixels: &[[u8; 4]], width: usize, times: usize) -> Vec<[u8; 4]> {
    let mut enlarged = Vec::with_capacity(pixels.len() * times * times);
    for row in pixels.chunks_exact(width) {
        let start = enlarged.len();
        for &pixel in row {
            // Transparent pixels have no color, so that means ignore them.
            let pixel = if pixel[3] == 0 { [0; 4] } else { pixel };
            enlarged.extend(std::iter::repeat_n(pixel, times));
        }
        for _ in 1..times {
            enlarged.extend_from_within(start..start + width * times);
        }
    }
    enlarged
}

/// Returns the mean of colors that were summed with alpha as weight.
fn mean([red, green, blue, alpha]: [u64; 4], count: u64) -> [u8; 4] {
    if alpha == 0 {
        return [0; 4];
    }
    let part = |sum: u64| ((sum + alpha / 2) / alpha) as u8;
    let alpha = ((alpha + count / 2) / count) as u8;
    [part(red), part(green), part(blue), alpha]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: u32, height: u32, color: [u8; 4]) -> Picture {
        Picture {
            width,
            height,
            pixels: Pixels::Rgba(vec![color; (width * height) as usize]),
        }
    }

    #[test]
    fn pictures_are_in_their_cells() {
        let red = [255, 0, 0, 255];
        let pictures = [Some(plain(1000, 500, red)), None, Some(plain(3, 1, red))];
        let sheet = sheet(3, Scale::Own, pictures.into_iter());
        assert_eq!((sheet.width, sheet.height), (256, 256));
        let pixels = sheet.rgba();
        let at = |x: usize, y: usize| pixels[256 * y + x];
        // Half as high as wide, in the middle of the first cell of four.
        assert_eq!((at(1, 64), at(126, 64)), (red, red));
        assert_eq!((at(64, 32), at(64, 31)), (red, [0; 4]));
        assert_eq!(at(192, 64), [0; 4]);
        // Enlarged, and no more than eight times.
        let enlarged = pixels[256 * 192..][..128].iter();
        assert_eq!(enlarged.filter(|&&pixel| pixel == red).count(), 24);
    }

    #[test]
    fn pictures_can_have_one_scale() {
        let red = [255, 0, 0, 255];
        let pictures = [Some(plain(100, 50, red)), Some(plain(25, 10, red))];
        // In cells of 126 pixels.
        let sheet = sheet(2, Scale::Common(200), pictures.into_iter());
        let pixels = sheet.rgba();
        let row = pixels[256 * 64..][..256].iter();
        let shown = row.map(|&pixel| usize::from(pixel == red));
        let shown: Vec<usize> = shown.collect();
        let widths = [&shown[..128], &shown[128..]].map(|cell| cell.iter().sum::<usize>());
        assert_eq!(widths, [63, 15]);
    }

    #[test]
    fn transparent_pixels_do_not_darken_their_neighbors() {
        let pixels = [[200, 100, 0, 255], [0, 0, 0, 0]];
        assert_eq!(scaled(&pixels, 2, 1, 1), [[200, 100, 0, 128]]);
    }

    #[test]
    fn enlarged_pictures_repeat_their_pixels() {
        let [red, clear] = [[255, 0, 0, 7], [9, 9, 9, 0]];
        let rows = [[red, red, [0; 4], [0; 4]]; 2].concat();
        assert_eq!(scaled(&[red, clear], 2, 4, 2), rows);
    }

    #[test]
    fn a_picture_is_reduced_and_keeps_its_shape() {
        let red = [255, 0, 0, 255];
        let small = reduced(plain(1000, 500, red), 128);
        assert_eq!((small.width, small.height), (128, 64));
        assert!(small.rgba().iter().all(|&pixel| pixel == red));
        assert_eq!(reduced(plain(12, 5, red), 128), plain(12, 5, red));
        let narrow = reduced(plain(5000, 1, red), 10);
        assert_eq!((narrow.width, narrow.height), (10, 1));
    }

    #[test]
    fn any_number_of_pictures_fits() {
        for count in [0, 1, 2, 64, 65_536, 70_000] {
            let pictures = (0..count).map(|_| Some(plain(7, 5, [1; 4])));
            assert_eq!(sheet(count, Scale::Own, pictures).rgba().len(), 65_536);
        }
    }
}
