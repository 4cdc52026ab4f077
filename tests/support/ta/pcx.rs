//! PCX files (8).

use super::Writer;

#[derive(Debug, Clone)]
pub struct Pcx {
    pub version: u8,
    pub encoding: u8,
    pub bits: u8,
    pub planes: u8,
    pub left: u16,
    pub width: u16,
    pub height: u16,
    pub bytes_per_line: u16,
    /// The bytes of all rows, plane after plane in each row.
    pub rows: Vec<u8>,
    /// The byte before the palette, and its 768 bytes.
    pub palette: Option<(u8, Vec<u8>)>,
}

impl Pcx {
    /// Creates a picture of palette indices, without padding.
    pub fn indexed(width: u16, height: u16, rows: Vec<u8>) -> Self {
        Self {
            version: 5,
            encoding: 1,
            bits: 8,
            planes: 1,
            left: 0,
            width,
            height,
            bytes_per_line: width,
            rows,
            palette: Some((0x0C, (0..=255).cycle().take(768).collect())),
        }
    }

    pub fn file(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.extend(&[10, self.version, self.encoding, self.bits]);
        let (right, lower) = (self.left + self.width - 1, self.left + self.height - 1);
        for edge in [self.left, self.left, right, lower, 72, 72] {
            out.u16(edge);
        }
        out.extend(&(100..148).collect::<Vec<u8>>());
        out.extend(&[0, self.planes]);
        out.u16(self.bytes_per_line);
        out.extend(&[0; 60]);
        match self.encoding {
            1 => out.extend(&runs(&self.rows)),
            _ => out.extend(&self.rows),
        }
        if let Some((marker, palette)) = &self.palette {
            out.u8(*marker);
            out.extend(palette);
        }
        out.bytes
    }
}

/// Returns runs, which may extend past the ends of rows.
pub fn runs(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(&first) = bytes.first() {
        let same = bytes.iter().take_while(|&&byte| byte == first);
        let count = same.take(63).count();
        if count > 1 || first >= 0xC0 {
            out.push(0xC0 | count as u8);
        }
        out.push(first);
        bytes = &bytes[count..];
    }
    out
}
