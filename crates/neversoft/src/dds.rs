//! DDS files: Direct3D textures.

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_assets::model::{Picture, Pixels, size_problem};
use hpimount_assets::parse::name::until_nul;
use hpimount_assets::parse::pixels::Blocks;
use hpimount_assets::parse::pixels::dxt::decode as decode_blocks;

/// First bytes of a file.
const MAGIC: &[u8] = b"DDS ";

/// Bytes before the pixels.
const HEADER: usize = 128;

/// A texture.
#[derive(Debug, Clone, GetSize)]
pub struct Dds {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Number of mipmaps, as it is stored.
    pub mipmaps: u32,
    /// The four letters of the compression; empty for uncompressed textures.
    pub compression: String,
    /// Bits of a pixel without compression.
    pub bits: u32,
    /// True if pixels without compression have alpha.
    has_alpha: bool,
    #[get_size(ignore)]
    data: Bytes,
}

impl Dds {
    /// Reads the header of a file, or returns `None` without a header.
    pub fn read(bytes: &Bytes) -> Option<Self> {
        let header = bytes.get(..HEADER)?;
        let word = |at: usize| Some(u32::from_le_bytes(*header.get(at..)?.first_chunk()?));
        if !header.starts_with(MAGIC) {
            return None;
        }
        Some(Self {
            height: word(12)?,
            width: word(16)?,
            mipmaps: word(28)?,
            compression: until_nul(&header[84..88]),
            bits: word(88)?,
            has_alpha: word(104)? != 0,
            data: bytes.slice(HEADER..),
        })
    }

    /// Returns whether the texture may have transparent parts.
    pub fn may_be_transparent(&self) -> bool {
        self.has_alpha || self.blocks().is_some_and(|blocks| blocks != Blocks::Dxt1)
    }

    fn blocks(&self) -> Option<Blocks> {
        let number = self.compression.strip_prefix("DXT")?;
        Blocks::from_number(number.parse().ok()?)
    }

    /// Returns the reason why it cannot be shown.
    pub fn problem(&self) -> Option<String> {
        if let Some(problem) = size_problem(self.width.into(), self.height.into()) {
            return Some(problem);
        }
        let (width, height) = (self.width as usize, self.height as usize);
        let needed = match (self.blocks(), self.bits) {
            (Some(blocks), _) => width.div_ceil(4) * height.div_ceil(4) * blocks.size(),
            (None, 24 | 32) if self.compression.is_empty() => {
                width * height * self.bits as usize / 8
            }
            _ => {
                let (letters, bits) = (&self.compression, self.bits);
                return Some(format!("its form {letters:?} with {bits} bits is unknown"));
            }
        };
        let there = self.data.len();
        (there < needed).then(|| format!("has {there} of {needed} bytes of pixels"))
    }

    /// Decodes the largest picture. Returns `None` if it has a [`Dds::problem`].
    pub fn picture(&self) -> Option<Picture> {
        if self.problem().is_some() {
            return None;
        }
        let (width, height) = (self.width as usize, self.height as usize);
        let mut pixels = vec![[0; 4]; width * height];
        match self.blocks() {
            Some(blocks) => decode_blocks(&self.data, width, height, blocks, &mut pixels),
            None => {
                let stored = self.data.chunks_exact(self.bits as usize / 8);
                for (pixel, stored) in pixels.iter_mut().zip(stored) {
                    *pixel = match *stored {
                        [blue, green, red, alpha] if self.has_alpha => [red, green, blue, alpha],
                        [blue, green, red, ..] => [red, green, blue, 255],
                        _ => [0; 4],
                    };
                }
            }
        }
        Some(Picture {
            width: self.width,
            height: self.height,
            pixels: Pixels::Rgba(pixels),
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a file of this size.
    pub(crate) fn file(size: [u32; 2], compression: &[u8; 4], bits: u32, data: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.resize(HEADER, 0);
        file[12..16].copy_from_slice(&size[1].to_le_bytes());
        file[16..20].copy_from_slice(&size[0].to_le_bytes());
        file[84..88].copy_from_slice(compression);
        file[88] = bits as u8;
        file[107] = if bits == 32 { 0xFF } else { 0 };
        file.extend(data);
        file
    }

    fn dds(size: [u32; 2], compression: &[u8; 4], bits: u32, data: &[u8]) -> Dds {
        Dds::read(&file(size, compression, bits, data).into()).unwrap()
    }

    #[test]
    fn pixels_are_blocks_or_blue_green_red() {
        let plain = dds([2, 1], &[0; 4], 32, &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            plain.picture().unwrap().rgba(),
            [[3, 2, 1, 4], [7, 6, 5, 8]]
        );
        assert!(plain.may_be_transparent());
        let opaque = dds([1, 1], &[0; 4], 24, &[1, 2, 3]);
        assert_eq!(opaque.picture().unwrap().rgba(), [[3, 2, 1, 255]]);
        let red = [0x00, 0xF8, 0, 0, 0, 0, 0, 0];
        let block = dds([4, 4], b"DXT1", 0, &red);
        assert_eq!(block.picture().unwrap().rgba(), [[255, 0, 0, 255]; 16]);
        assert!(!block.may_be_transparent());
    }

    #[test]
    fn textures_that_cannot_be_shown_are_reported() {
        for dds in [
            dds([4, 4], b"DXT1", 0, &[0; 7]),
            dds([4, 4], b"XYZW", 0, &[0; 99]),
            dds([4, 4], &[0; 4], 16, &[0; 99]),
            dds([0, 4], b"DXT1", 0, &[]),
            dds([70_000, 70_000], b"DXT1", 0, &[]),
        ] {
            assert!(dds.problem().is_some(), "{dds:?}");
            assert!(dds.picture().is_none());
        }
        assert!(Dds::read(&vec![0; 200].into()).is_none());
        assert!(Dds::read(&MAGIC.to_vec().into()).is_none());
    }
}
