//! BMP files without compression (8).

use super::Writer;

#[derive(Debug, Clone)]
pub struct Bmp {
    pub width: u32,
    /// Negative if the first row is the top one.
    pub height: i32,
    pub bits: u16,
    /// Red, green, blue.
    pub colors: Vec<[u8; 3]>,
    /// The rows as they are stored, each padded to four bytes.
    pub rows: Vec<u8>,
}

impl Bmp {
    pub fn file(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.extend(b"BM");
        let colors = if self.bits <= 8 { self.colors.len() } else { 0 };
        let start = 14 + 40 + 4 * colors;
        out.u32s(&[(start + self.rows.len()) as u32, 0, start as u32]);
        out.u32s(&[40, self.width, self.height as u32]);
        out.u16(1);
        out.u16(self.bits);
        out.u32s(&[0, self.rows.len() as u32, 2835, 2835, colors as u32, 0]);
        for [red, green, blue] in &self.colors[..colors] {
            out.extend(&[*blue, *green, *red, 0]);
        }
        out.extend(&self.rows);
        out.bytes
    }
}
