//! Movie pictures: the bitstreams of the PlayStation's decoder (MDEC).
//!
//! A picture consists of macroblocks of 16 by 16 pixels, in columns from the left. Each
//! has six blocks of 8 by 8: two chroma blocks for all its pixels, and four luma
//! blocks. It uses the codes of MPEG-1.

use std::sync::LazyLock;

use hpimount_assets::model::math::cos;
use hpimount_assets::model::{Picture, Pixels, size_problem};

/// The second word of a bitstream.
const MAGIC: u16 = 0x3800;

/// Bytes before the codes.
const HEADER: usize = 8;

/// Bits of an escaped run, and of the coefficient after it.
const RUN_BITS: u32 = 6;
const LEVEL_BITS: u32 = 10;

/// Bits of a first coefficient.
const FIRST_BITS: u32 = 10;

/// A code in the highest bits of 16, its length in bits, and its value.
type Code<T> = (u16, u32, T);

/// Codes of a zero run and the magnitude of the next coefficient; the sign follows.
#[rustfmt::skip]
const COEFFICIENTS: &[Code<(u8, u8)>] = &[
    (0x0010, 16, (1, 18)), (0x0011, 16, (1, 17)), (0x0012, 16, (1, 16)), (0x0013, 16, (1, 15)),
    (0x0014, 16, (6, 3)), (0x0015, 16, (16, 2)), (0x0016, 16, (15, 2)), (0x0017, 16, (14, 2)),
    (0x0018, 16, (13, 2)), (0x0019, 16, (12, 2)), (0x001A, 16, (11, 2)), (0x001B, 16, (31, 1)),
    (0x001C, 16, (30, 1)), (0x001D, 16, (29, 1)), (0x001E, 16, (28, 1)), (0x001F, 16, (27, 1)),
    (0x0020, 15, (0, 40)), (0x0022, 15, (0, 39)), (0x0024, 15, (0, 38)), (0x0026, 15, (0, 37)),
    (0x0028, 15, (0, 36)), (0x002A, 15, (0, 35)), (0x002C, 15, (0, 34)), (0x002E, 15, (0, 33)),
    (0x0030, 15, (0, 32)), (0x0032, 15, (1, 14)), (0x0034, 15, (1, 13)), (0x0036, 15, (1, 12)),
    (0x0038, 15, (1, 11)), (0x003A, 15, (1, 10)), (0x003C, 15, (1, 9)), (0x003E, 15, (1, 8)),
    (0x0040, 14, (0, 31)), (0x0044, 14, (0, 30)), (0x0048, 14, (0, 29)), (0x004C, 14, (0, 28)),
    (0x0050, 14, (0, 27)), (0x0054, 14, (0, 26)), (0x0058, 14, (0, 25)), (0x005C, 14, (0, 24)),
    (0x0060, 14, (0, 23)), (0x0064, 14, (0, 22)), (0x0068, 14, (0, 21)), (0x006C, 14, (0, 20)),
    (0x0070, 14, (0, 19)), (0x0074, 14, (0, 18)), (0x0078, 14, (0, 17)), (0x007C, 14, (0, 16)),
    (0x0080, 13, (10, 2)), (0x0088, 13, (9, 2)), (0x0090, 13, (5, 3)), (0x0098, 13, (3, 4)),
    (0x00A0, 13, (2, 5)), (0x00A8, 13, (1, 7)), (0x00B0, 13, (1, 6)), (0x00B8, 13, (0, 15)),
    (0x00C0, 13, (0, 14)), (0x00C8, 13, (0, 13)), (0x00D0, 13, (0, 12)), (0x00D8, 13, (26, 1)),
    (0x00E0, 13, (25, 1)), (0x00E8, 13, (24, 1)), (0x00F0, 13, (23, 1)), (0x00F8, 13, (22, 1)),
    (0x0100, 12, (0, 11)), (0x0110, 12, (8, 2)), (0x0120, 12, (4, 3)), (0x0130, 12, (0, 10)),
    (0x0140, 12, (2, 4)), (0x0150, 12, (7, 2)), (0x0160, 12, (21, 1)), (0x0170, 12, (20, 1)),
    (0x0180, 12, (0, 9)), (0x0190, 12, (19, 1)), (0x01A0, 12, (18, 1)), (0x01B0, 12, (1, 5)),
    (0x01C0, 12, (3, 3)), (0x01D0, 12, (0, 8)), (0x01E0, 12, (6, 2)), (0x01F0, 12, (17, 1)),
    (0x0200, 10, (16, 1)), (0x0240, 10, (5, 2)), (0x0280, 10, (0, 7)), (0x02C0, 10, (2, 3)),
    (0x0300, 10, (1, 4)), (0x0340, 10, (15, 1)), (0x0380, 10, (14, 1)), (0x03C0, 10, (4, 2)),
    (0x0800, 7, (2, 2)), (0x0A00, 7, (9, 1)), (0x0C00, 7, (0, 4)), (0x0E00, 7, (8, 1)),
    (0x1000, 6, (7, 1)), (0x1400, 6, (6, 1)), (0x1800, 6, (1, 2)), (0x1C00, 6, (5, 1)),
    (0x2000, 8, (13, 1)), (0x2100, 8, (0, 6)), (0x2200, 8, (12, 1)), (0x2300, 8, (11, 1)),
    (0x2400, 8, (3, 2)), (0x2500, 8, (1, 3)), (0x2600, 8, (0, 5)), (0x2700, 8, (10, 1)),
    (0x2800, 5, (0, 3)), (0x3000, 5, (4, 1)), (0x3800, 5, (3, 1)), (0x4000, 4, (0, 2)),
    (0x5000, 4, (2, 1)), (0x6000, 3, (1, 1)), (0xC000, 2, (0, 1)),
];

/// Codes of the number of bits of a chroma DC coefficient.
#[rustfmt::skip]
const CHROMA_SIZES: &[Code<u8>] = &[
    (0x0000, 2, 0), (0x4000, 2, 1), (0x8000, 2, 2), (0xC000, 3, 3), (0xE000, 4, 4),
    (0xF000, 5, 5), (0xF800, 6, 6), (0xFC00, 7, 7), (0xFE00, 8, 8),
];

/// Codes of the number of bits of a luma DC coefficient.
#[rustfmt::skip]
const LUMA_SIZES: &[Code<u8>] = &[
    (0x0000, 2, 1), (0x4000, 2, 2), (0x8000, 3, 0), (0xA000, 3, 3), (0xC000, 3, 4),
    (0xE000, 4, 5), (0xF000, 5, 6), (0xF800, 6, 7), (0xFC00, 7, 8),
];

/// Factors of the coefficients, row by row.
#[rustfmt::skip]
const QUANTIZATION: [i32; 64] = [
    2, 16, 19, 22, 26, 27, 29, 34, 16, 16, 22, 24, 27, 29, 34, 37,
    19, 22, 26, 27, 29, 34, 34, 38, 22, 22, 26, 27, 29, 34, 37, 40,
    22, 26, 27, 29, 32, 35, 40, 48, 26, 27, 29, 32, 35, 40, 48, 58,
    26, 27, 29, 34, 38, 46, 56, 69, 27, 29, 35, 38, 46, 56, 69, 83,
];

/// The place of each stored coefficient, row by row.
#[rustfmt::skip]
const ZIGZAG: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// The cosines of the inverse DCT, by frequency and position.
static COSINES: LazyLock<[[f32; 8]; 8]> = LazyLock::new(|| {
    std::array::from_fn(|frequency| {
        let scale = if frequency == 0 {
            0.125_f32.sqrt()
        } else {
            0.5
        };
        std::array::from_fn(|place| {
            let angle = (2 * place + 1) as f32 * frequency as f32 * std::f32::consts::PI / 16.0;
            scale * cos(angle)
        })
    })
});

/// The header of a bitstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Number of codes, in units of 32.
    pub blocks: u16,
    /// Constant of the format.
    pub magic: u16,
    /// Factor of all coefficients.
    pub quantizer: u16,
    /// Version of the bitstream.
    pub version: u16,
}

impl Header {
    /// Reads the header of a bitstream.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        Some(Self {
            blocks: word(0)?,
            magic: word(2)?,
            quantizer: word(4)?,
            version: word(6)?,
        })
    }
}

/// Decodes a picture of this size.
///
/// # Errors
/// Returns why it cannot be shown.
pub fn decode(bytes: &[u8], width: u16, height: u16) -> Result<Picture, String> {
    let header = Header::read(bytes).ok_or_else(|| {
        let length = bytes.len();
        format!("has {length} bytes, fewer than a header")
    })?;
    if header.magic != MAGIC || !(1..=3).contains(&header.version) {
        let Header { magic, version, .. } = header;
        return Err(format!(
            "is of version {version} with {magic:#06x}, which is unknown"
        ));
    }
    if let Some(problem) = size_problem(width.into(), height.into()) {
        return Err(problem);
    }
    let mut blocks = Blocks {
        bits: Bits::new(&bytes[HEADER..]),
        header,
        last: [0; 3],
    };
    let (width, height) = (usize::from(width), usize::from(height));
    let mut pixels = vec![[0; 4]; width * height];
    for left in (0..width).step_by(16) {
        for top in (0..height).step_by(16) {
            let block = blocks.macroblock()?;
            for y in top..height.min(top + 16) {
                for x in left..width.min(left + 16) {
                    pixels[y * width + x] = block.pixel(x - left, y - top);
                }
            }
        }
    }
    Ok(Picture {
        width: width as u32,
        height: height as u32,
        pixels: Pixels::Rgba(pixels),
    })
}

/// The blocks of a macroblock: Cr, Cb, and four of luma.
struct Macroblock([[f32; 64]; 6]);

impl Macroblock {
    /// Returns red, green, blue and alpha of a pixel.
    fn pixel(&self, x: usize, y: usize) -> [u8; 4] {
        let Self([cr, cb, luma @ ..]) = self;
        let color = y / 2 * 8 + x / 2;
        let (cr, cb) = (cr[color], cb[color]);
        let luma = luma[x / 8 + y / 8 * 2][y % 8 * 8 + x % 8] + 128.0;
        let [red, green, blue] = [
            luma + 1.402 * cr,
            luma - 0.3437 * cb - 0.7143 * cr,
            luma + 1.772 * cb,
        ]
        .map(|part| part.round().clamp(0.0, 255.0) as u8);
        [red, green, blue, 255]
    }
}

/// Reads blocks.
struct Blocks<'a> {
    bits: Bits<'a>,
    header: Header,
    /// The previous DC coefficients of Cr, Cb and luma.
    last: [i32; 3],
}

impl Blocks<'_> {
    fn macroblock(&mut self) -> Result<Macroblock, String> {
        let mut blocks = [[0.0; 64]; 6];
        for (index, block) in blocks.iter_mut().enumerate() {
            *block = transformed(&self.block(index.min(2))?);
        }
        Ok(Macroblock(blocks))
    }

    /// Reads the coefficients of a block of Cr (0), Cb (1) or luma (2).
    fn block(&mut self, kind: usize) -> Result<[i32; 64], String> {
        let mut block = [0; 64];
        self.last[kind] = self.first(kind)?;
        block[0] = self.last[kind] * QUANTIZATION[0];
        let quantizer = i32::from(self.header.quantizer & 63);
        let mut place = 0;
        while let Some((run, level)) = self.coefficient()? {
            place += run + 1;
            let &target = ZIGZAG
                .get(place)
                .ok_or("has a block of more than 64 coefficients")?;
            let value = match quantizer {
                0 => 2 * level,
                _ => (level * QUANTIZATION[target] * quantizer + 4) >> 3,
            };
            block[target] = value.clamp(-1024, 1023);
        }
        Ok(block)
    }

    fn first(&mut self, kind: usize) -> Result<i32, String> {
        if self.header.version < 3 {
            return self.bits.signed(FIRST_BITS);
        }
        let codes = if kind < 2 { CHROMA_SIZES } else { LUMA_SIZES };
        let bits = u32::from(self.bits.code(codes)?);
        if bits == 0 {
            return Ok(self.last[kind]);
        }
        let value = self.bits.take(bits)? as i32;
        let is_negative = value >> (bits - 1) == 0;
        let change = if is_negative {
            value - ((1 << bits) - 1)
        } else {
            value
        };
        Ok(wrapped(self.last[kind] + 4 * change, FIRST_BITS))
    }

    /// Reads a zero run and the coefficient after it; `None` at the end of the block.
    fn coefficient(&mut self) -> Result<Option<(usize, i32)>, String> {
        if self.bits.peek() >> 14 == 0b10 {
            self.bits.take(2)?;
            return Ok(None);
        }
        if self.bits.peek() >> 10 == 0b00_0001 {
            self.bits.take(6)?;
            let run = self.bits.take(RUN_BITS)? as usize;
            return Ok(Some((run, self.bits.signed(LEVEL_BITS)?)));
        }
        let (run, level) = self.bits.code(COEFFICIENTS)?;
        let level = i32::from(level);
        let is_negative = self.bits.take(1)? == 1;
        let level = if is_negative { -level } else { level };
        Ok(Some((run.into(), level)))
    }
}

/// Sign-extends the lowest bits of a number.
fn wrapped(value: i32, bits: u32) -> i32 {
    let above = 32 - bits;
    value << above >> above
}

/// Applies the inverse DCT to the coefficients of a block.
fn transformed(block: &[i32; 64]) -> [f32; 64] {
    let cosines = &*COSINES;
    let mut rows = [0.0; 64];
    for (row, coefficients) in rows.chunks_mut(8).zip(block.chunks(8)) {
        for (&coefficient, cosines) in coefficients.iter().zip(cosines) {
            if coefficient != 0 {
                for (value, cosine) in row.iter_mut().zip(cosines) {
                    *value += coefficient as f32 * cosine;
                }
            }
        }
    }
    let mut values = [0.0; 64];
    for (row, cosines) in rows.chunks(8).zip(cosines) {
        for (target, cosine) in values.chunks_mut(8).zip(cosines) {
            for (value, part) in target.iter_mut().zip(row) {
                *value += part * cosine;
            }
        }
    }
    values
}

/// Reads bits from little-endian 16-bit words, highest first.
struct Bits<'a> {
    words: &'a [[u8; 2]],
    /// Number of bits that were read.
    position: usize,
}

impl<'a> Bits<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            words: bytes.as_chunks().0,
            position: 0,
        }
    }

    /// Returns the next 16 bits. Bits after the end are 0.
    fn peek(&self) -> u16 {
        let word = |index: usize| {
            let word = self.words.get(index).copied().unwrap_or_default();
            u32::from(u16::from_le_bytes(word))
        };
        let index = self.position / 16;
        let both = word(index) << 16 | word(index + 1);
        (both >> (16 - self.position % 16)) as u16
    }

    /// Takes at most 16 bits.
    fn take(&mut self, count: u32) -> Result<u32, String> {
        let value = u32::from(self.peek()) >> (16 - count);
        self.position += count as usize;
        match self.position <= 16 * self.words.len() {
            true => Ok(value),
            false => Err("ends inside a block".into()),
        }
    }

    fn signed(&mut self, count: u32) -> Result<i32, String> {
        Ok(wrapped(self.take(count)? as i32, count))
    }

    /// Takes one of these codes, which are in ascending order.
    fn code<T: Copy>(&mut self, codes: &[Code<T>]) -> Result<T, String> {
        let next = self.peek();
        let after = codes.partition_point(|&(code, ..)| code <= next);
        let code = after.checked_sub(1).and_then(|index| codes.get(index));
        let unknown = || "has a code that does not exist".to_owned();
        let &(code, length, value) = code.ok_or_else(unknown)?;
        if (code ^ next) >> (16 - length) != 0 {
            return Err(unknown());
        }
        self.take(length)?;
        Ok(value)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a bitstream of this version with bits given as digits.
    pub(crate) fn bitstream(version: u16, digits: &str) -> Vec<u8> {
        let digits: String = digits
            .chars()
            .filter(|digit| !digit.is_whitespace())
            .collect();
        let mut bytes: Vec<u8> = [1, MAGIC, 1, version]
            .iter()
            .flat_map(|word: &u16| word.to_le_bytes())
            .collect();
        for word in digits.as_bytes().chunks(16) {
            let word = std::str::from_utf8(word).unwrap();
            let word = u16::from_str_radix(&format!("{word:0<16}"), 2).unwrap();
            bytes.extend(word.to_le_bytes());
        }
        bytes
    }

    fn rgba(picture: &Picture) -> Vec<[u8; 4]> {
        picture.rgba()
    }

    #[test]
    fn codes_are_sorted_and_no_code_begins_another() {
        let is_sorted = |codes: &[(u16, u32)]| {
            codes.windows(2).all(|pair| {
                let end = u32::from(pair[0].0) + (1 << (16 - pair[0].1));
                end <= pair[1].0.into()
            })
        };
        let keys = |codes: &[Code<u8>]| codes.iter().map(|&(c, l, _)| (c, l)).collect::<Vec<_>>();
        assert!(is_sorted(&keys(CHROMA_SIZES)) && is_sorted(&keys(LUMA_SIZES)));
        let coefficients: Vec<_> = COEFFICIENTS.iter().map(|&(c, l, _)| (c, l)).collect();
        assert_eq!(coefficients.len(), 111);
        assert!(is_sorted(&coefficients));
    }

    #[test]
    fn a_flat_block_has_the_brightness_of_its_first_coefficient() {
        // Chroma 0; luma 256 * 2 / 8 above the middle, then 0.
        let color = "0000000000 10".repeat(2);
        let bright = "0100000000 10".to_owned();
        let dark = "0000000000 10".repeat(3);
        let bits = [color, bright, dark].concat();
        let picture = decode(&bitstream(2, &bits), 16, 9).unwrap();
        let pixels = rgba(&picture);
        assert_eq!(pixels.len(), 16 * 9);
        assert_eq!(
            (pixels[0], pixels[8]),
            ([192, 192, 192, 255], [128, 128, 128, 255])
        );
        assert_eq!(pixels[8 * 16], [128, 128, 128, 255]);
    }

    #[test]
    fn version_3_stores_the_change_of_the_first_coefficient() {
        // Luma +3 * 4 (two bits, 11), then three times no change.
        let bits = ["00 10".repeat(2), "01 11 10".into(), "100 10".repeat(3)].concat();
        let pixels = rgba(&decode(&bitstream(3, &bits), 16, 16).unwrap());
        assert_eq!(pixels[0], [131, 131, 131, 255]);
        assert_eq!(pixels[255], pixels[0]);
        // -3 is 00.
        let bits = ["00 10".repeat(2), "01 00 10".into(), "100 10".repeat(3)].concat();
        let pixels = rgba(&decode(&bitstream(3, &bits), 16, 16).unwrap());
        assert_eq!(pixels[0], [125, 125, 125, 255]);
    }

    #[test]
    fn the_first_coefficient_of_version_3_has_10_bits() {
        // Luma +255 * 4 is -4 in 10 bits.
        let bits = [
            "00 10".repeat(2),
            "1111110 11111111 10".into(),
            "100 10".repeat(3),
        ];
        let pixels = rgba(&decode(&bitstream(3, &bits.concat()), 16, 16).unwrap());
        assert_eq!(pixels[0], [127, 127, 127, 255]);
    }

    #[test]
    fn broken_bitstreams_are_reported() {
        let problem = |bytes: &[u8]| decode(bytes, 16, 16).unwrap_err();
        assert_eq!(
            problem(&bitstream(2, "0000000000 10")),
            "ends inside a block"
        );
        assert!(problem(&bitstream(4, "")).contains("version 4"));
        assert!(problem(&[0; 7]).contains("7 bytes"));
        assert!(problem(&bitstream(2, "0000000000 0000000000000000")).contains("code"));
        let full = format!("0000000000 {}", "000001 111111 0000000001".repeat(2));
        assert!(problem(&bitstream(2, &full)).contains("64 coefficients"));
        let large = decode(&bitstream(2, ""), u16::MAX, u16::MAX);
        assert!(large.unwrap_err().contains("pixels"));
    }
}
