//! TNT maps (6) and SCT sections (7).

use super::Writer;

/// A map of Total Annihilation.
#[derive(Debug, Clone)]
pub struct Map {
    /// In cells.
    pub width: u32,
    pub height: u32,
    pub sea_level: u32,
    /// A tile for every four cells.
    pub map: Vec<u16>,
    /// Height and feature of each cell.
    pub cells: Vec<(u8, u16)>,
    pub tiles: Vec<Vec<u8>>,
    pub features: Vec<String>,
    /// Width, height and pixels.
    pub minimap: (u32, u32, Vec<u8>),
}

impl Map {
    /// Creates a map of 4 x 2 cells with two tiles and two features.
    pub fn small() -> Self {
        let words = [0xFFFF, 1, 0xFFFC, 0xFFFF, 0, 2, 0xFFFF, 0xFFFE];
        Self {
            width: 4,
            height: 2,
            sea_level: 75,
            map: vec![1, 0],
            cells: words
                .iter()
                .zip(10..)
                .map(|(&word, height)| (height, word))
                .collect(),
            tiles: vec![(0..=255).cycle().take(1024).collect(), vec![7; 1024]],
            features: vec!["Tree".to_owned(), "Rock".to_owned()],
            minimap: (3, 2, vec![1, 2, 3, 4, 5, 6]),
        }
    }

    /// Returns a whole file, of version 0x2000 or 0x1020.
    pub fn file(&self, version: u32) -> Vec<u8> {
        let is_old = version == 0x1020;
        let mut out = Writer::default();
        out.u32s(&[version, self.width, self.height, 0, 0, 0]);
        out.u32s(&[self.tiles.len() as u32, self.features.len() as u32, 0]);
        out.u32s(&[self.sea_level, 0, 1, 0, 0, 0, 0]);
        out.put(12, out.at());
        self.map.iter().for_each(|&tile| out.u16(tile));
        out.put(16, out.at());
        for &(height, feature) in &self.cells {
            out.u8(height);
            if is_old {
                out.extend(&[0, feature as u8, 0, 0, 0, 0, 0]);
            } else {
                out.u16(feature);
                out.u8(0);
            }
        }
        out.put(20, out.at());
        self.tiles.iter().for_each(|tile| out.extend(tile));
        out.put(32, out.at());
        write_features(&mut out, &self.features);
        out.put(if is_old { 0x38 } else { 40 }, out.at());
        let (width, height, pixels) = &self.minimap;
        out.u32s(&[*width, *height]);
        out.extend(pixels);
        out.bytes
    }
}

fn write_features(out: &mut Writer, features: &[String]) {
    for (number, name) in features.iter().enumerate() {
        out.u32(number as u32);
        out.fixed(name, 128);
    }
}

/// A map of Kingdoms.
#[derive(Debug, Clone)]
pub struct Kingdoms {
    pub width: u32,
    pub height: u32,
    pub heights: Vec<u8>,
    pub feature_words: Vec<u16>,
    pub features: Vec<String>,
    /// Name, u and v of each place.
    pub ground: Vec<(u32, u8, u8)>,
    /// Whether u and v have 32 bits.
    pub is_wide: bool,
}

impl Kingdoms {
    /// Creates a map of 4 x 2 cells.
    pub fn small(is_wide: bool) -> Self {
        Self {
            width: 4,
            height: 2,
            heights: (20..28).collect(),
            feature_words: vec![0xFFFF, 0, 0xFF00, 1, 0xFFFF, 0xFFFF, 0xFFFF, 0],
            features: vec!["Oak".to_owned()],
            ground: vec![(0x10, 1, 2), (0xABCD, 3, 4)],
            is_wide,
        }
    }

    pub fn file(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32s(&[0x4000, self.width, self.height, 9]);
        out.u32s(&[0; 12]);
        out.put(0x10, out.at());
        out.extend(&self.heights);
        out.put(0x14, out.at());
        self.feature_words.iter().for_each(|&word| out.u16(word));
        out.put(0x18, out.at());
        out.put(0x1C, self.features.len() as u32);
        write_features(&mut out, &self.features);
        out.put(0x20, out.at());
        self.ground.iter().for_each(|&(name, ..)| out.u32(name));
        for (pointer, list) in [
            (0x24, self.ground.iter().map(|place| place.1).collect()),
            (
                0x28,
                self.ground.iter().map(|place| place.2).collect::<Vec<u8>>(),
            ),
        ] {
            let list: Vec<u8> = list;
            out.put(pointer, out.at());
            if self.is_wide {
                list.iter().for_each(|&value| out.u32(value.into()));
            } else {
                out.extend(&list);
            }
        }
        out.put(0x2C, out.at());
        out.u32s(&[126, 126]);
        out.extend(&[5; 126 * 126]);
        out.bytes
    }
}

/// A section.
#[derive(Debug, Clone)]
pub struct Section {
    /// 2 or 3.
    pub version: u32,
    /// In tiles.
    pub width: u32,
    pub height: u32,
    pub map: Vec<u16>,
    pub heights: Vec<u8>,
    pub tiles: Vec<Vec<u8>>,
    pub minimap: Vec<u8>,
}

impl Section {
    /// Creates a section of 4 x 4 tiles.
    pub fn small(version: u32) -> Self {
        Self {
            version,
            width: 4,
            height: 4,
            map: (0..16).map(|place| place % 2).collect(),
            heights: (100..164).collect(),
            tiles: vec![vec![3; 1024], vec![4; 1024]],
            minimap: (0..128 * 128).map(|pixel| (pixel % 251) as u8).collect(),
        }
    }

    pub fn file(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32s(&[self.version, 0, self.tiles.len() as u32, 28]);
        out.u32s(&[self.width, self.height, 0]);
        self.tiles.iter().for_each(|tile| out.extend(tile));
        out.put(24, out.at());
        self.map.iter().for_each(|&tile| out.u16(tile));
        let rest = if self.version == 3 { 3 } else { 7 };
        for &height in &self.heights {
            out.u8(height);
            out.extend(&vec![0xEE; rest]);
        }
        out.put(4, out.at());
        out.extend(&self.minimap);
        out.bytes
    }
}
