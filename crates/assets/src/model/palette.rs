//! Colors of edited pictures in fixed palettes.

use std::collections::{BinaryHeap, HashMap};

/// Maximum number of colors whose indices a search keeps.
const MAX_KNOWN: usize = 1 << 16;

/// Share of the pixels that may have another color before this is worth a
/// warning: one in a hundred.
const TOLERATED: usize = 100;

/// Finds palette indices for the pixels of an edited picture.
pub struct Palettized<'a> {
    colors: &'a [[u8; 4]],
    /// The index that no pixel may get.
    reserved: Option<u16>,
    /// The first index of each color of the palette.
    exact: HashMap<[u8; 4], u16>,
    /// The index of each color that was looked up, and whether that is exact.
    known: HashMap<[u8; 4], (u16, bool)>,
    pixels: usize,
    inexact: usize,
}

impl<'a> Palettized<'a> {
    /// Creates a search among at most 65,536 colors; no pixel gets the index
    /// `reserved`.
    pub fn new(colors: &'a [[u8; 4]], reserved: Option<u16>) -> Self {
        let colors = &colors[..colors.len().min(1 << 16)];
        let numbered = (0..=u16::MAX).zip(colors);
        let usable = numbered.filter(|&(index, _)| Some(index) != reserved);
        let mut exact = HashMap::with_capacity(colors.len());
        for (index, &color) in usable {
            exact.entry(color).or_insert(index);
        }
        Self {
            colors,
            reserved,
            exact,
            known: HashMap::new(),
            pixels: 0,
            inexact: 0,
        }
    }

    /// Returns the index for a pixel: the one that it had if its color is the
    /// same, else the first one with its color, else the nearest one.
    pub fn index(&mut self, color: [u8; 4], old: u16) -> u16 {
        self.pixels += 1;
        let is_old = self.colors.get(usize::from(old)) == Some(&color);
        if is_old && self.reserved != Some(old) {
            return old;
        }
        if let Some(&index) = self.exact.get(&color) {
            return index;
        }
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        let (colors, reserved) = (self.colors, self.reserved);
        let found = self.known.entry(color);
        let (index, is_exact) = *found.or_insert_with(|| nearest(colors, reserved, color));
        self.inexact += usize::from(!is_exact);
        index
    }

    /// Returns whether the palette has a color.
    pub fn has(&self, color: [u8; 4]) -> bool {
        self.exact.contains_key(&color)
    }

    /// Returns a sentence about the pixels that got another color, if they are
    /// many.
    pub fn warning(&self) -> Option<String> {
        let Self {
            inexact, pixels, ..
        } = self;
        (inexact * TOLERATED > *pixels).then(|| {
            format!(
                "{inexact} of {pixels} pixels have colors that the palette does not have: they \
                 get the nearest ones"
            )
        })
    }
}

/// Returns the index of the color nearest to another one, and whether it is the
/// same.
fn nearest(colors: &[[u8; 4]], reserved: Option<u16>, wanted: [u8; 4]) -> (u16, bool) {
    let distance = |color: &[u8; 4]| -> u32 {
        let parts = color.iter().zip(wanted);
        parts
            .map(|(part, wanted)| u32::from(part.abs_diff(wanted)).pow(2))
            .sum()
    };
    let colors = (0..=u16::MAX).zip(colors);
    let usable = colors.filter(|&(index, _)| Some(index) != reserved);
    let found = usable
        .map(|(index, color)| (distance(color), index))
        .min()
        .unwrap_or_default();
    (found.1, found.0 == 0)
}

/// Chooses at most `count` colors for pixels, which are given as colors with their
/// numbers: all of them if they are few enough, else by median cut. The result
/// does not depend on their order.
pub fn reduced(mut colors: Vec<([u8; 4], u32)>, count: usize) -> Vec<[u8; 4]> {
    colors.sort_unstable();
    if colors.len() <= count {
        return colors.into_iter().map(|(color, _)| color).collect();
    }
    // The box with the widest range of a part, and of several the one with the
    // highest colors, is divided next.
    let spread = |colors: Vec<([u8; 4], u32)>| {
        let parts = (0..4).map(|part| {
            let values = colors.iter().map(|(color, _)| color[part]);
            let range = values.clone().min().zip(values.max());
            (range.map_or(0, |(least, most)| most - least), part)
        });
        (parts.max().unwrap_or_default(), colors)
    };
    let mut boxes = BinaryHeap::from([spread(colors)]);
    while boxes.len() < count {
        let Some(((1.., part), mut low)) = boxes.pop() else {
            break;
        };
        low.sort_unstable_by_key(|&(color, _)| (color[part], color));
        let pixels: u64 = low.iter().map(|&(_, number)| u64::from(number)).sum();
        let mut before = 0;
        let middle = low.iter().position(|&(_, number)| {
            before += u64::from(number);
            2 * before >= pixels
        });
        let middle = (middle.unwrap_or_default() + 1).min(low.len() - 1);
        let high = low.split_off(middle);
        boxes.extend([low, high].map(spread));
    }
    let mean = |colors: Vec<([u8; 4], u32)>| {
        let pixels: u64 = colors.iter().map(|&(_, number)| u64::from(number)).sum();
        let pixels = pixels.max(1);
        std::array::from_fn(|part| {
            let parts = colors.iter();
            let parts = parts.map(|&(color, number)| u64::from(color[part]) * u64::from(number));
            ((parts.sum::<u64>() + pixels / 2) / pixels) as u8
        })
    };
    let mut chosen: Vec<[u8; 4]> = boxes.into_iter().map(|(_, colors)| mean(colors)).collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLORS: [[u8; 4]; 4] = [
        [0, 0, 0, 255],
        [9, 9, 9, 255],
        [9, 9, 9, 255],
        [255, 0, 0, 255],
    ];

    #[test]
    fn a_pixel_keeps_its_index_and_a_new_color_gets_the_nearest_one() {
        let mut found = Palettized::new(&COLORS, None);
        assert_eq!(found.index([9, 9, 9, 255], 2), 2);
        assert_eq!(found.index([9, 9, 9, 255], 0), 1);
        assert_eq!(found.warning(), None);
        assert_eq!(found.index([250, 9, 0, 255], 0), 3);
        let warning = found.warning().unwrap();
        assert!(warning.starts_with("1 of 3 pixels"), "{warning}");
    }

    #[test]
    fn few_colors_are_all_chosen_and_many_are_averaged() {
        let few: Vec<_> = (0..16).map(|at| ([at * 3, 9, 255 - at, 255], 5)).collect();
        let mut colors: Vec<_> = few.iter().map(|&(color, _)| color).collect();
        colors.sort_unstable();
        assert_eq!(reduced(few, 16), colors);
        let many = (0..=255).map(|at| ([at, at, at, 255], 1)).collect();
        let chosen = reduced(many, 16);
        assert_eq!(chosen.len(), 16);
        let gaps = chosen.windows(2).map(|pair| pair[1][0] - pair[0][0]);
        assert!(
            gaps.clone().all(|gap| (14..=18).contains(&gap)),
            "{chosen:?}"
        );
    }

    #[test]
    fn no_pixel_gets_the_reserved_index() {
        let mut found = Palettized::new(&COLORS, Some(1));
        assert_eq!(found.index([9, 9, 9, 255], 1), 2);
        assert_eq!(found.index([9, 9, 9, 255], 0), 2);
    }
}
