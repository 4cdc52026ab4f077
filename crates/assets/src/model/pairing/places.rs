//! Points at the same place except for rounding.

use std::collections::HashMap;

/// Numbers of places. Points within a distance of each other share a place.
pub struct Places {
    distance: f32,
    /// The places in each cube of a grid. Edges are a little more than twice the
    /// distance: few places fit into a cube, and near points are in at most two cubes
    /// along each axis.
    cubes: HashMap<[i64; 3], Vec<(u32, [f32; 3])>>,
    count: u32,
}

impl Places {
    /// Creates places of points that differ by at most `distance` along each axis.
    pub fn new(distance: f32) -> Self {
        Self {
            distance: distance.max(f32::MIN_POSITIVE),
            cubes: HashMap::new(),
            count: 0,
        }
    }

    /// Returns the place of a point, or `None` if it has no place yet.
    pub fn find(&self, point: [f32; 3]) -> Option<u32> {
        let ends = [-self.distance, self.distance].map(|step| self.cube(point, step));
        let is_near = |other: &[f32; 3]| {
            let parts = point.iter().zip(other);
            parts.clone().all(|(a, b)| (a - b).abs() <= self.distance)
        };
        let corners =
            (0..8).map(|bits: usize| std::array::from_fn(|axis| ends[bits >> axis & 1][axis]));
        let mut found = None;
        for cube in corners {
            let places = self.cubes.get(&cube).into_iter().flatten();
            let near = places
                .filter(|(_, other)| is_near(other))
                .map(|(place, _)| *place);
            found = found.into_iter().chain(near).min();
        }
        found
    }

    /// Returns the place of a point, or a new place.
    pub fn number(&mut self, point: [f32; 3]) -> u32 {
        if let Some(known) = self.find(point) {
            return known;
        }
        let place = self.count;
        self.count += 1;
        self.cubes
            .entry(self.cube(point, 0.0))
            .or_default()
            .push((place, point));
        place
    }

    /// Returns the cube of a point that is moved along all axes.
    fn cube(&self, point: [f32; 3], step: f32) -> [i64; 3] {
        let edge = 2.5 * f64::from(self.distance);
        // Too large numbers become the largest cube.
        point.map(|part| ((f64::from(part) + f64::from(step)) / edge).floor() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn near_points_have_one_place_and_others_have_their_own(
            point in prop::array::uniform3(-50.0_f32..50.0),
            step in prop::array::uniform3(-1.0_f32..1.0),
        ) {
            let mut places = Places::new(0.01);
            let place = places.number(point);
            let moved = |length: f32| std::array::from_fn(|axis| point[axis] + length * step[axis]);
            prop_assert_eq!(places.number(point), place);
            prop_assert_eq!(places.number(moved(0.009)), place);
            prop_assume!(step.iter().any(|part| part.abs() > 0.5));
            prop_assert_eq!(places.find(moved(0.03)), None);
        }
    }
}
