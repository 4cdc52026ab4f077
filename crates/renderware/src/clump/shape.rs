//! Triangles, quads, strips and fans.

/// The shapes that consoles draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Quads,
    Triangles,
    Strip,
    Fan,
}

impl Shape {
    /// Returns the triangles of `vertices` vertices, counter-clockwise.
    pub(super) fn triangles(self, vertices: usize) -> impl Iterator<Item = [usize; 3]> {
        let count = match self {
            Self::Quads => vertices / 4 * 2,
            Self::Triangles => vertices / 3,
            Self::Strip | Self::Fan => vertices.saturating_sub(2),
        };
        (0..count).map(move |i| match self {
            Self::Quads if i % 2 == 0 => [i * 2, i * 2 + 1, i * 2 + 2],
            Self::Quads => [i * 2 - 2, i * 2, i * 2 + 1],
            Self::Triangles => [i * 3, i * 3 + 1, i * 3 + 2],
            Self::Strip if i % 2 == 0 => [i, i + 1, i + 2],
            Self::Strip => [i + 1, i, i + 2],
            Self::Fan => [0, i + 1, i + 2],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_form_triangles() {
        let of = |shape: Shape, count| shape.triangles(count).collect::<Vec<_>>();
        assert_eq!(
            of(Shape::Quads, 9),
            [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
        );
        assert_eq!(of(Shape::Triangles, 5), [[0, 1, 2]]);
        assert_eq!(of(Shape::Strip, 5), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
        assert_eq!(of(Shape::Fan, 4), [[0, 1, 2], [0, 2, 3]]);
        assert!(of(Shape::Strip, 1).is_empty());
    }
}
