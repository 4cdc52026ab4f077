//! Numbers that compare assets of all formats.

use std::iter::Sum;

/// Numbers that compare assets of all formats, as far as an asset has them. Their sum
/// has the size of the largest picture, all vertices, and the longest time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Width and height of the largest picture in pixels.
    pub pixels: Option<[u32; 2]>,
    /// Number of vertices of all models.
    pub vertices: Option<u64>,
    /// Length of the longest sound or animation in seconds.
    pub seconds: Option<f64>,
}

impl Measures {
    /// Creates the measures of a picture, unless its size is negative.
    pub fn picture(width: impl TryInto<u32>, height: impl TryInto<u32>) -> Self {
        let size = width.try_into().ok().zip(height.try_into().ok());
        Self {
            pixels: size.map(From::from),
            ..Self::default()
        }
    }

    /// Creates the measures of pictures of these sizes.
    pub fn pictures<T: TryInto<u32>>(sizes: impl Iterator<Item = [T; 2]>) -> Self {
        sizes
            .map(|[width, height]| Self::picture(width, height))
            .sum()
    }

    /// Creates the measures of models with this many vertices.
    pub fn vertices(count: impl TryInto<u64>) -> Self {
        Self {
            vertices: count.try_into().ok(),
            ..Self::default()
        }
    }

    /// Creates the measures of something that takes this long, unless the time is not
    /// finite.
    pub fn seconds(seconds: impl Into<f64>) -> Self {
        Self {
            seconds: Some(seconds.into()).filter(|seconds| seconds.is_finite()),
            ..Self::default()
        }
    }

    /// Creates the measures of a sound with `rate` samples per second.
    pub fn sound(samples: u32, rate: u32) -> Self {
        match rate {
            0 => Self::default(),
            rate => Self::seconds(f64::from(samples) / f64::from(rate)),
        }
    }
}

impl Sum for Measures {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            pixels: both(sum.pixels, part.pixels, larger),
            vertices: both(sum.vertices, part.vertices, u64::saturating_add),
            seconds: both(sum.seconds, part.seconds, f64::max),
        })
    }
}

/// Combines two numbers, or returns the only one.
fn both<T>(one: Option<T>, other: Option<T>, combine: fn(T, T) -> T) -> Option<T> {
    one.into_iter().chain(other).reduce(combine)
}

/// Returns the size with more pixels.
fn larger(known: [u32; 2], other: [u32; 2]) -> [u32; 2] {
    let area = |[width, height]: [u32; 2]| u64::from(width) * u64::from(height);
    if area(other) > area(known) {
        other
    } else {
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_parts_the_largest_picture_all_vertices_and_the_longest_time_count() {
        let parts = [
            Measures::picture(40_u8, 30_u16),
            Measures::vertices(3),
            Measures::picture(64_u32, 16_u32),
            Measures::seconds(0.5_f32),
            Measures::sound(22_050, 11_025),
            Measures::sound(1, 0),
            Measures::seconds(f32::INFINITY),
            Measures::vertices(4),
            Measures::picture(100, -1),
        ];
        let expected = Measures {
            pixels: Some([40, 30]),
            vertices: Some(7),
            seconds: Some(2.0),
        };
        assert_eq!(parts.into_iter().sum::<Measures>(), expected);
    }
}
