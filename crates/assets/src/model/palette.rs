//! Colors of edited pictures in palettes.

use std::collections::{BinaryHeap, HashMap, HashSet};

use super::{Reservation, Reserve};

/// Maximum number of cached colors.
const MAX_KNOWN: usize = 1 << 16;

/// Share of pixels that may change color without a warning: one in a hundred.
const TOLERATED: usize = 100;

/// Finds palette indices for the pixels of an edited picture.
pub struct Palettized<'a> {
    colors: &'a [[u8; 4]],
    /// The index that no pixel may get.
    reserved: Option<u16>,
    /// The first index of each color of the palette.
    exact: HashMap<[u8; 4], u16>,
    /// The index of each color that was looked up, and true if its color is exact.
    known: HashMap<[u8; 4], (u16, bool)>,
    pixels: usize,
    inexact: usize,
}

impl<'a> Palettized<'a> {
    /// Creates a search among at most 65,536 colors. Never finds the index `reserved`.
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

    /// Returns the index for a pixel: `old` if its color is the same, else the first
    /// index with the color, else the nearest color.
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

    /// Returns a warning if many pixels changed their color.
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

/// Returns the index of each pixel of an edited picture without transparency, given its
/// old indices, in at most 256 colors, and a warning if many pixels changed their color.
pub fn indices(
    colors: &[[u8; 4]],
    edited: &[[u8; 4]],
    old: impl IntoIterator<Item = u8>,
) -> (Vec<u8>, Option<String>) {
    let mut palettized = Palettized::new(&colors[..colors.len().min(256)], None);
    let pixels = edited.iter().zip(old);
    let indices = pixels
        .map(|(&[red, green, blue, _], old)| {
            palettized.index([red, green, blue, 255], old.into()) as u8
        })
        .collect();
    (indices, palettized.warning())
}

/// Returns the index of the nearest color, and true if it is the same color.
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

/// The pixels of an edited picture in the palette of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fitted {
    /// The colors of the palette, also new ones.
    pub colors: Vec<[u8; 4]>,
    /// The index of each pixel.
    pub indices: Vec<u16>,
    /// Number of colors that the palette lacked.
    pub lacking: usize,
}

impl Fitted {
    /// Fits pixels to a palette whose first `usable` colors can change. `old` has the
    /// previous indices of the pixels. `rounded` returns the nearest color that the
    /// palette can store. `reserve` accounts for the colors of the pixels.
    ///
    /// A pixel whose palette color is right keeps its index. Missing colors replace
    /// unused ones, so a color that was changed everywhere keeps its index. If there
    /// are too few unused colors, the palette is computed anew; remaining colors keep
    /// their index.
    ///
    /// # Errors
    /// Returns the error of `reserve`.
    pub fn new(
        colors: &[[u8; 4]],
        usable: usize,
        old: &[u16],
        pixels: &[[u8; 4]],
        rounded: impl Fn([u8; 4]) -> [u8; 4],
        reserve: Reserve<'_>,
    ) -> Result<Self, String> {
        let has = |old: u16, pixel| colors.get(usize::from(old)) == Some(&pixel);
        let pairs = || old.iter().copied().zip(pixels.iter().copied());
        let mut fitted = colors.to_vec();
        let usable = usable.min(colors.len());
        let before = Palettized::new(&colors[..usable], None);
        let mut is_needed = vec![false; usable];
        let mut need = |index: u16| {
            if let Some(is_needed) = is_needed.get_mut(usize::from(index)) {
                *is_needed = true;
            }
        };
        let kept_or_rounded = |(old, pixel)| match has(old, pixel) {
            true => (old, pixel),
            false => (old, rounded(pixel)),
        };
        let (mut missing, mut seen) = (Vec::new(), HashSet::new());
        for (old, color) in pairs().map(kept_or_rounded) {
            match before.exact.get(&color) {
                _ if has(old, color) => need(old),
                Some(&index) => need(index),
                None if missing.len() > usable => break,
                None if seen.insert(color) => missing.push((color, usize::from(old))),
                None => {}
            }
        }
        let mut lacking = missing.len();
        let free = is_needed.iter().filter(|is_needed| !**is_needed).count();
        if lacking > free {
            let colors = pairs().map(kept_or_rounded).map(|(old, color)| {
                let is_missing = !has(old, color) && !before.has(color);
                (color, is_missing)
            });
            let (counts, _memory);
            (counts, lacking, _memory) = counted(colors.collect(), reserve)?;
            let chosen = reduced(counts, usable).into_iter();
            choose(&before, chosen.map(&rounded).collect(), &mut fitted);
        } else {
            add(missing, is_needed, &mut fitted);
        }
        let mut after = Palettized::new(&fitted[..usable], None);
        let indices = pairs().map(|(old, pixel)| match fitted.get(usize::from(old)) {
            Some(color) if *color == pixel => old,
            _ => after.index(rounded(pixel), old),
        });
        Ok(Self {
            indices: indices.collect(),
            colors: fitted,
            lacking,
        })
    }

    /// Returns the changed colors: index, color, and an index that had it before.
    pub fn changes(
        &self,
        before: &[[u8; 4]],
    ) -> impl Iterator<Item = (usize, [u8; 4], Option<usize>)> {
        let colors = self.colors.iter().zip(before).enumerate();
        let changed = colors.filter(|(_, (color, before))| color != before);
        changed.map(move |(index, (color, _))| {
            let known = before.iter().position(|before| before == color);
            (index, *color, known)
        })
    }
}

/// Colors with their numbers, the count of missing colors, and the reserved memory.
type Counted = (Vec<([u8; 4], u32)>, usize, Option<Reservation>);

/// Counts the pixels of each color. Each pixel comes with a flag for a missing color.
fn counted(mut pixels: Vec<([u8; 4], bool)>, reserve: Reserve<'_>) -> Result<Counted, String> {
    // Sorted in place: a map of the colors of a photo needs several times the memory.
    pixels.sort_unstable();
    let colors = || pixels.chunk_by(|a, b| a.0 == b.0);
    let number = colors().count();
    let memory = reserve(number * size_of::<([u8; 4], u32)>());
    let memory = memory.map_err(|error| error.to_string())?;
    let mut counts = Vec::with_capacity(number);
    let mut missing = 0;
    for same in colors() {
        counts.push((same[0].0, same.len() as u32));
        missing += usize::from(same.iter().any(|&(_, is_missing)| is_missing));
    }
    Ok((counts, missing, memory))
}

/// Puts chosen colors in a palette. Colors of the palette `before` keep their index.
fn choose(before: &Palettized<'_>, chosen: Vec<[u8; 4]>, colors: &mut [[u8; 4]]) {
    let (stay, new): (Vec<_>, Vec<_>) = chosen.into_iter().partition(|&color| before.has(color));
    let stay: HashSet<u16> = stay.iter().map(|color| before.exact[color]).collect();
    let replaced = (0..=u16::MAX).zip(colors).take(before.colors.len());
    let replaced = replaced.filter(|(index, _)| !stay.contains(index));
    for ((_, color), new) in replaced.zip(new) {
        *color = new;
    }
}

/// Replaces unused colors of a palette, which has enough of them, by missing ones. Each
/// comes with its preferred index.
fn add(mut missing: Vec<([u8; 4], usize)>, mut is_needed: Vec<bool>, colors: &mut [[u8; 4]]) {
    missing.retain(|&(pixel, old)| match is_needed.get_mut(old) {
        Some(is_needed) if !*is_needed => {
            *is_needed = true;
            colors[old] = pixel;
            false
        }
        _ => true,
    });
    let free = (0..is_needed.len()).filter(|&index| !is_needed[index]);
    for (index, (pixel, _)) in free.zip(missing) {
        colors[index] = pixel;
    }
}

/// Chooses at most `count` colors for pixels, given as counted colors: all of them if
/// they are few enough, else by median cut. The result does not depend on their order.
pub fn reduced(mut colors: Vec<([u8; 4], u32)>, count: usize) -> Vec<[u8; 4]> {
    colors.sort_unstable();
    if colors.len() <= count {
        return colors.into_iter().map(|(color, _)| color).collect();
    }
    // The box with the widest range is divided next; of equal ones, the box with the
    // highest colors.
    let mut boxes = BinaryHeap::from([spread(&mut colors)]);
    while boxes.len() < count {
        let Some(((1.., part), cut)) = boxes.pop() else {
            break;
        };
        cut.sort_unstable_by_key(|&(color, _)| (color[part], color));
        let pixels: u64 = cut.iter().map(|&(_, number)| u64::from(number)).sum();
        let mut before = 0;
        let middle = cut.iter().position(|&(_, number)| {
            before += u64::from(number);
            2 * before >= pixels
        });
        let middle = (middle.unwrap_or_default() + 1).min(cut.len() - 1);
        let (low, high) = cut.split_at_mut(middle);
        boxes.extend([spread(low), spread(high)]);
    }
    let mean = |colors: &[([u8; 4], u32)]| {
        let pixels: u64 = colors.iter().map(|&(_, number)| u64::from(number)).sum();
        let pixels = pixels.max(1);
        std::array::from_fn(|part| {
            let parts = colors.iter();
            let parts = parts.map(|&(color, number)| u64::from(color[part]) * u64::from(number));
            ((parts.sum::<u64>() + pixels / 2) / pixels) as u8
        })
    };
    let mut chosen: Vec<[u8; 4]> = boxes.iter().map(|(_, colors)| mean(colors)).collect();
    chosen.sort_unstable();
    chosen
}

/// A box of counted colors: its widest range, the channel with that range, and the
/// colors.
type Spread<'a> = ((u8, usize), &'a mut [([u8; 4], u32)]);

fn spread(colors: &mut [([u8; 4], u32)]) -> Spread<'_> {
    let parts = (0..4).map(|part| {
        let values = colors.iter().map(|(color, _)| color[part]);
        let range = values.clone().min().zip(values.max());
        (range.map_or(0, |(least, most)| most - least), part)
    });
    (parts.max().unwrap_or_default(), colors)
}

#[cfg(test)]
mod tests {
    use std::io;

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

    /// Fits pixels to a palette that can store all colors.
    fn fit(colors: &[[u8; 4]], usable: usize, old: &[u16], pixels: &[[u8; 4]]) -> Fitted {
        Fitted::new(colors, usable, old, pixels, |color| color, &|_| Ok(None)).unwrap()
    }

    #[test]
    fn memory_for_the_colors_of_pixels_is_reserved_if_they_are_chosen_anew() {
        let pixels = [[7; 4], [8; 4], [9; 4], [7; 4]];
        let needs = |pixels| {
            let reserve = |bytes: usize| Err(io::Error::other(bytes.to_string()));
            Fitted::new(&COLORS[..2], 2, &[0; 4], pixels, |color| color, &reserve)
        };
        assert_eq!(needs(&pixels).unwrap_err(), "24");
        assert!(needs(&pixels[..2]).is_ok());
    }

    #[test]
    fn a_color_that_was_changed_everywhere_keeps_its_index() {
        let [black, gray, _, red] = COLORS;
        let green = [0, 255, 0, 255];
        let fit = |pixels: &[[u8; 4]]| fit(&COLORS, 4, &[0, 3, 3, 0], pixels);
        let fitted = fit(&[black, green, green, black]);
        assert_eq!(fitted.colors, [black, gray, gray, green]);
        assert_eq!(fitted.indices, [0, 3, 3, 0]);
        // Red is still in use, so green gets an unused index.
        let fitted = fit(&[black, green, red, black]);
        assert_eq!(fitted.colors, [black, green, gray, red]);
        assert_eq!(fitted.indices, [0, 1, 3, 0]);
    }

    #[test]
    fn indices_behind_those_that_can_be_changed_stay() {
        let blue = [0, 0, 255, 255];
        let pixels = [COLORS[3], blue, COLORS[0]];
        let fitted = fit(&COLORS, 2, &[3, 0, 0], &pixels);
        assert_eq!(fitted.colors, [COLORS[0], blue, COLORS[2], COLORS[3]]);
        assert_eq!(fitted.indices, [3, 1, 0]);
    }

    #[test]
    fn colors_are_chosen_anew_if_there_are_too_many() {
        let pixels: Vec<_> = (0..=255).map(|gray| [gray, gray, gray, 255]).collect();
        let fitted = fit(&COLORS, 4, &[0; 256], &pixels);
        assert_eq!(fitted.lacking, 254);
        let mut grays: Vec<u8> = fitted.colors.iter().map(|color| color[0]).collect();
        grays.dedup();
        assert_eq!(grays.len(), 4);
        assert_eq!((fitted.indices[0], fitted.indices[255]), (0, 3));
    }

    #[test]
    fn colors_that_stay_in_a_palette_that_is_chosen_anew_keep_their_index() {
        let grays: Vec<_> = [0, 60, 120, 240].map(|gray| [gray, gray, gray, 255]).into();
        let old: Vec<u16> = (0..40).map(|at| at / 10).collect();
        let mut pixels: Vec<_> = old.iter().map(|&old| grays[usize::from(old)]).collect();
        pixels[39] = [244, 240, 240, 255];
        let fitted = fit(&grays, 4, &old, &pixels);
        assert_eq!((&fitted.colors[..3], fitted.lacking), (&grays[..3], 1));
        assert_eq!(fitted.indices, old);
    }

    #[test]
    fn no_pixel_gets_the_reserved_index() {
        let mut found = Palettized::new(&COLORS, Some(1));
        assert_eq!(found.index([9, 9, 9, 255], 1), 2);
        assert_eq!(found.index([9, 9, 9, 255], 0), 2);
    }
}
