//! Palettes and blend tables (FORMATS, TA 2).

mod table;

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_assets::parse::{Incomplete, color, finish};
use hpimount_containers::io::{Error, Result, Warnings};

/// Extensions of palette files.
pub const EXTENSIONS: &[&str] = &["pal"];

/// Extensions of blend tables.
pub const BLEND_EXTENSIONS: &[&str] = &["alp", "shd", "lht"];

/// Bytes of a palette file.
const FILE_SIZE: usize = 1024;

/// Bytes of a palette without padding.
pub const RGB_SIZE: usize = 768;

/// 256 colors, each red, green, blue. All are opaque, including index 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Palette(pub [[u8; 3]; 256]);

impl Palette {
    /// The palette of Total Annihilation.
    pub const TA: Self = Self(ta());

    /// Returns the gray ramp: index 0 is black, 255 is white.
    pub fn gray() -> Self {
        Self(std::array::from_fn(|index| [index as u8; 3]))
    }

    /// Creates a palette from [`RGB_SIZE`] bytes, three for each color; `None` for
    /// another number of bytes.
    pub fn from_rgb(bytes: &[u8]) -> Option<Self> {
        color::palette(bytes).map(Self)
    }

    /// Returns the index of the nearest color.
    pub fn nearest(&self, wanted: [u8; 3]) -> u8 {
        let distance = |color: &[u8; 3]| {
            let parts = color.iter().zip(wanted);
            parts
                .map(|(part, wanted)| u32::from(part.abs_diff(wanted)))
                .sum::<u32>()
        };
        let colors = self.0.iter().enumerate();
        let nearest = colors.min_by_key(|(_, color)| distance(color));
        nearest.map_or(0, |(index, _)| index as u8)
    }
}

impl Default for Palette {
    fn default() -> Self {
        Self([[0; 3]; 256])
    }
}

const fn ta() -> [[u8; 3]; 256] {
    let mut colors = [[0; 3]; 256];
    let mut index = 0;
    while index < colors.len() {
        let [_, red, green, blue] = table::COLORS[index].to_be_bytes();
        colors[index] = [red, green, blue];
        index += 1;
    }
    colors
}

/// The parsed contents of a palette file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Pal {
    /// The colors.
    pub palette: Palette,
    /// Number of colors with a nonzero fourth byte, which has no meaning.
    pub nonzero_padding: usize,
    /// Bytes after the last color. The game ignores them.
    pub trailing: usize,
    /// Warnings.
    pub warnings: Warnings,
}

/// Parses a palette file.
///
/// # Errors
/// Returns [`Incomplete`] with the existing colors if the file has fewer than
/// 1024 bytes.
pub fn parse(bytes: &Bytes) -> std::result::Result<Pal, Box<Incomplete<Pal>>> {
    let mut pal = Pal {
        trailing: bytes.len().saturating_sub(FILE_SIZE),
        ..Pal::default()
    };
    let (colors, _) = bytes.as_chunks();
    for (color, &[red, green, blue, padding]) in pal.palette.0.iter_mut().zip(colors) {
        *color = [red, green, blue];
        pal.nonzero_padding += usize::from(padding != 0);
    }
    if pal.nonzero_padding > 0 {
        let count = pal.nonzero_padding;
        pal.warnings
            .push(format!("the fourth byte of {count} colors is not 0"));
    }
    if pal.trailing > 0 {
        let count = pal.trailing;
        pal.warnings
            .push(format!("{count} bytes follow the last color at 0x400"));
    }
    let result = sized(bytes, "palette", &[FILE_SIZE..=usize::MAX]);
    finish(pal, result)
}

/// The purpose of a blend table, according to its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlendKind {
    /// Blends two colors: a row for each lower color, a column for each upper color.
    Alpha,
    /// Shades or lightens a color: a row for each of 32 levels, a column for each
    /// color.
    Levels,
}

/// The parsed contents of a blend table.
#[derive(Debug, Clone, Default, GetSize)]
pub struct BlendTable {
    /// Rows of 256 palette indices.
    #[get_size(ignore)]
    pub rows: Bytes,
}

impl BlendTable {
    /// Returns its purpose.
    pub fn kind(&self) -> BlendKind {
        match self.rows.len() {
            LEVELS_SIZE => BlendKind::Levels,
            _ => BlendKind::Alpha,
        }
    }
}

/// Bytes of a table of 32 levels.
const LEVELS_SIZE: usize = 32 * 256;

/// Bytes of a table for two colors.
const ALPHA_SIZE: usize = 256 * 256;

/// Parses a blend table, which is detected only by its size.
///
/// # Errors
/// Returns [`Incomplete`] if the file does not have the size of such a table.
/// The game ignores it then.
pub fn parse_blend(bytes: &Bytes) -> std::result::Result<BlendTable, Box<Incomplete<BlendTable>>> {
    let sizes = [LEVELS_SIZE..=LEVELS_SIZE, ALPHA_SIZE..=ALPHA_SIZE];
    let result = sized(bytes, "blend table", &sizes);
    let rows = result
        .as_ref()
        .map_or_else(|_| Bytes::new(), |()| bytes.clone());
    finish(BlendTable { rows }, result)
}

fn sized(
    bytes: &[u8],
    field: &'static str,
    sizes: &[std::ops::RangeInclusive<usize>],
) -> Result<()> {
    if sizes.iter().any(|size| size.contains(&bytes.len())) {
        return Ok(());
    }
    let expected: Vec<_> = sizes.iter().map(|size| size.start().to_string()).collect();
    let problem = format!(
        "has {} bytes, should have {}",
        bytes.len(),
        expected.join(" or ")
    );
    Err(Error::damaged(0, field, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_palette_is_the_published_one() {
        use sha2::Digest;
        let bytes = Palette::TA.0.as_flattened();
        let sum: String = sha2::Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            sum,
            "088bf675609b8319495240d30fe51ee98f88617f8061979eef50b9fe320dffc3"
        );
        assert_eq!(Palette::from_rgb(bytes), Some(Palette::TA));
    }

    #[test]
    fn a_short_palette_is_an_error_and_a_long_one_is_cut() {
        let file = |length| Bytes::from(vec![7; length]);
        let incomplete = parse(&file(1023)).unwrap_err();
        assert_eq!(
            incomplete.error.to_string(),
            "palette at 0x0: has 1023 bytes, should have 1024"
        );
        assert_eq!(incomplete.model.palette.0[254], [7; 3]);
        assert_eq!(incomplete.model.palette.0[255], [0; 3]);
        let long = parse(&file(1025)).unwrap();
        assert_eq!((long.trailing, long.nonzero_padding), (1, 256));
        assert_eq!(long.warnings.len(), 2);
        assert!(
            parse(&Bytes::from(vec![0; 1024]))
                .unwrap()
                .warnings
                .is_empty()
        );
        assert!(Palette::from_rgb(&[0; 767]).is_none());
        assert!(Palette::from_rgb(&[0; 769]).is_none());
        assert!(Palette::from_rgb(&[0; 771]).is_none());
    }

    #[test]
    fn a_blend_table_is_recognized_by_its_size() {
        let kind = |size| parse_blend(&Bytes::from(vec![0; size])).map(|table| table.kind());
        assert_eq!(kind(8192).unwrap(), BlendKind::Levels);
        assert_eq!(kind(65536).unwrap(), BlendKind::Alpha);
        assert!(kind(1024).is_err());
    }
}
