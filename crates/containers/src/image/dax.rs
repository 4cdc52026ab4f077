//! DAX, compressed images of PlayStation Portable discs (little-endian): frames
//! of 8 KiB, packed by zlib or, in some areas, raw.

use std::ops::Range;
use std::sync::Arc;

use super::{BlockImage, ImageFormat, block_error, block_length, starts_with};
use crate::codec::{Wrapping, inflate};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

/// The format of DAX images.
pub(super) const FORMAT: ImageFormat = ImageFormat {
    name: "DAX",
    extensions: &["dax"],
    types: &[],
    matches: |source| starts_with(source, b"DAX\0"),
    open,
};

/// Length of the header in bytes.
const HEADER: u64 = 32;

/// Length of a frame in bytes, but of the last one.
const FRAME: u32 = 8 << 10;

/// Maximum number of areas of raw frames, as in the readers of consoles.
const MAX_AREAS: u32 = 192;

struct Dax {
    source: Arc<dyn ReadAt>,
    len: u64,
    /// Offsets of the frames.
    offsets: Vec<u32>,
    /// Their lengths in bytes.
    lengths: Vec<u16>,
    /// Numbers of the raw frames.
    raw: Vec<Range<u32>>,
}

fn open(source: Arc<dyn ReadAt>) -> Result<Box<dyn BlockImage>> {
    let bytes = read_vec(&*source, 0, HEADER, "header")?;
    let mut header = Cursor::new(&bytes, 0, Endian::Little);
    header.take(4, "magic")?;
    let len = u64::from(header.u32("size")?);
    let version = header.u32("version")?;
    let areas = header.u32("number of raw areas")?;
    if version > 1 {
        return Err(Error::damaged(8, "version", format!("is {version}")));
    }
    let areas = if version == 0 { 0 } else { areas };
    if areas > MAX_AREAS {
        let problem = format!("is {areas}");
        return Err(Error::damaged(12, "number of raw areas", problem));
    }
    let frames = len.div_ceil(FRAME.into());
    // An offset and a length for each frame, a first frame and a count for each
    // area.
    let table = frames * 6 + u64::from(areas) * 8;
    if table > source.len() - HEADER {
        let problem = format!("is {len}, whose {frames} frames do not fit into the file");
        return Err(Error::damaged(4, "size", problem));
    }
    let table = read_vec(&*source, HEADER, table, "index")?;
    let (offsets, rest) = table.split_at(frames as usize * 4);
    let (lengths, rest) = rest.split_at(frames as usize * 2);
    let numbers = |bytes: &[u8]| -> Vec<u32> {
        let numbers = bytes.as_chunks().0.iter().copied();
        numbers.map(u32::from_le_bytes).collect()
    };
    let area = |area: &[u32; 2]| area[0]..area[0].saturating_add(area[1]);
    let lengths = lengths.as_chunks().0.iter().copied();
    Ok(Box::new(Dax {
        len,
        offsets: numbers(offsets),
        lengths: lengths.map(u16::from_le_bytes).collect(),
        raw: numbers(rest).as_chunks().0.iter().map(area).collect(),
        source,
    }))
}

impl BlockImage for Dax {
    fn len(&self) -> u64 {
        self.len
    }

    fn block_size(&self) -> u32 {
        FRAME
    }

    fn decode(&self, block: u64) -> Result<Vec<u8>> {
        let number = usize::try_from(block).unwrap_or(usize::MAX);
        let place = self.offsets.get(number).zip(self.lengths.get(number));
        let Some((&offset, &length)) = place else {
            return Err(block_error(block, HEADER, "is not in the index"));
        };
        let offset = u64::from(offset);
        let wanted = block_length(self.len, FRAME, block);
        if self.raw.iter().any(|raw| raw.contains(&(number as u32))) {
            return read_vec(&*self.source, offset, wanted as u64, "frame");
        }
        let bytes = read_vec(&*self.source, offset, length.into(), "frame")?;
        let mut out = vec![0; FRAME as usize];
        let decoded = inflate(&bytes, &mut out, Wrapping::Zlib);
        let decoded = decoded.map_err(|problem| block_error(block, offset, problem))?;
        if decoded < wanted {
            let problem = format!("decodes to {decoded} bytes instead of {wanted}");
            return Err(block_error(block, offset, problem));
        }
        out.truncate(wanted);
        Ok(out)
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.offsets.capacity() * size_of::<u32>()
            + self.lengths.capacity() * size_of::<u16>()
            + self.raw.capacity() * size_of::<Range<u32>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libdeflater::{CompressionLvl, Compressor};

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packed = vec![0; 2 * FRAME as usize];
        let mut compressor = Compressor::new(CompressionLvl::default());
        let length = compressor.zlib_compress(bytes, &mut packed).unwrap();
        packed.truncate(length);
        packed
    }

    /// Returns an image whose last frame has 100 bytes, and the frames in
    /// `raw` are not packed.
    fn image(frames: &[&[u8]], raw: Range<u32>) -> Vec<u8> {
        let len = (frames.len() as u32 - 1) * FRAME + 100;
        let words = [len, 1, 1, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        let mut at = HEADER as u32 + frames.len() as u32 * 6 + 8;
        let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
        for frame in frames {
            offsets.extend(at.to_le_bytes());
            lengths.extend((frame.len() as u16).to_le_bytes());
            at += frame.len() as u32;
        }
        let area = [raw.start, raw.len() as u32].map(u32::to_le_bytes).concat();
        [
            b"DAX\0",
            &words[..],
            &offsets,
            &lengths,
            &area,
            &frames.concat(),
        ]
        .concat()
    }

    #[test]
    fn frames_are_packed_or_raw() {
        let frame = |byte| vec![byte; FRAME as usize];
        let frames = [&packed(&frame(1))[..], &frame(2), &packed(&[3; 100])];
        let bytes = image(&frames, 1..2);
        assert!((FORMAT.matches)(&bytes).unwrap());
        let image = (FORMAT.open)(Arc::new(bytes)).unwrap();
        assert_eq!(image.len(), 2 * u64::from(FRAME) + 100);
        assert_eq!(image.decode(0).unwrap(), frame(1));
        assert_eq!(image.decode(1).unwrap(), frame(2));
        assert_eq!(image.decode(2).unwrap(), [3; 100]);
        assert!(image.decode(3).is_err());
    }

    #[test]
    fn damaged_numbers_and_frames_are_errors() {
        let good = image(&[&packed(&[7; 100])], 5..6);
        let with = |offset: usize, bytes: &[u8]| {
            let mut image = good.clone();
            image[offset..offset + bytes.len()].copy_from_slice(bytes);
            (FORMAT.open)(Arc::new(image))
        };
        assert_eq!(with(0, b"D").unwrap().decode(0).unwrap(), [7; 100]);
        assert!(with(4, &[0xFF; 4]).is_err(), "size");
        assert!(with(8, &[2]).is_err(), "version");
        assert!(with(12, &[0xFF; 4]).is_err(), "areas");
        assert!(with(32, &[0xFF; 4]).unwrap().decode(0).is_err(), "offset");
        assert!(with(36, &[4]).unwrap().decode(0).is_err(), "length");
        assert!(with(46, &[0xFF]).unwrap().decode(0).is_err(), "frame");
    }
}
