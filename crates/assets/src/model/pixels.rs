//! Bounds of the pixels of many pictures.

use super::{Picture, reduced};

/// The remaining pixels for the pictures of a scene.
#[derive(Debug)]
pub(crate) struct PixelsLeft(pub(crate) u64);

impl PixelsLeft {
    /// Takes the pixels of a picture. First reduces it to an eighth of the remaining
    /// ones, so that many pictures become small before any is omitted.
    pub(crate) fn take(&mut self, mut picture: Picture) -> Option<Picture> {
        while pixels(&picture) > self.0 / 8 {
            let edge = picture.width.max(picture.height);
            if edge <= 1 {
                return None;
            }
            picture = reduced(picture, edge / 2);
        }
        self.0 -= pixels(&picture);
        Some(picture)
    }
}

fn pixels(picture: &Picture) -> u64 {
    u64::from(picture.width) * u64::from(picture.height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pixels;

    #[test]
    fn many_pictures_become_smaller_before_one_is_omitted() {
        let mut left = PixelsLeft(1 << 11);
        let taken = (0..500).map(|_| {
            left.take(Picture {
                width: 16,
                height: 16,
                pixels: Pixels::Rgba(vec![[1; 4]; 256]),
            })
        });
        let widths: Vec<_> = taken.map(|one| one.map_or(0, |one| one.width)).collect();
        assert!(widths.is_sorted_by(|a, b| a >= b), "{widths:?}");
        let count = |width| widths.iter().filter(|one| **one == width).count();
        assert_eq!([16, 8, 4, 2, 1].map(count), [1, 21, 21, 21, 21]);
    }
}
