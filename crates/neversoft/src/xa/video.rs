//! Movie frames, which are spread over sectors.

use std::collections::BTreeMap;

use get_size2::GetSize;

use super::mdec::{self, Header};
use super::sector::{DATA, Sectors, VIDEO};
use super::sound::Stream;
use hpimount_assets::model::Picture;
use hpimount_containers::io::{Cursor, Endian, Warnings};
use hpimount_record::{self as record, Record};

/// Size of a chunk's header, before its part of the frame.
const HEADER: usize = 32;

/// Sectors per second at the two drive speeds.
const SPEEDS: [u32; 2] = [75, 150];

/// Maximum number of warnings about chunks.
const MAX_ODD: usize = 20;

/// The pictures of a movie.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Video {
    /// Sectors with video, with sound, and others.
    pub sectors: [usize; 3],
    /// The frames by their numbers.
    frames: BTreeMap<u32, Frame>,
    /// Number of different sizes of frames.
    pub sizes: usize,
}

/// A frame.
#[derive(Debug, Clone, GetSize)]
struct Frame {
    width: u16,
    height: u16,
    /// Number of its chunks.
    count: u16,
    /// Length in bytes, as it is stored.
    used: u32,
    /// The sectors of its chunks, by chunk number.
    chunks: BTreeMap<u16, u32>,
}

/// The header of a chunk, after its first four bytes.
#[derive(Debug, Default, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
struct Chunk {
    /// Number of the chunk in its frame.
    number: u16,
    /// Number of chunks of the frame.
    count: u16,
    /// Number of the frame.
    frame: u32,
    /// Length of the frame in bytes.
    used: u32,
    /// Width and height of the frame in pixels.
    size: [u16; 2],
}

impl Chunk {
    fn read(data: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(data.strip_prefix(&VIDEO)?, 0, Endian::Little);
        record::read(&mut cursor).ok()
    }
}

impl Video {
    /// Finds the frames of a file.
    pub fn find(sectors: &Sectors, warnings: &mut Warnings) -> Self {
        let mut video = Self::default();
        let mut odd = 0;
        for index in 0..sectors.count() {
            let head = sectors.subheader(index);
            if head.is_some_and(|head| head.may_be_sound()) {
                video.sectors[1] += 1;
                continue;
            }
            let Some(chunk) = Chunk::read(sectors.data(index)) else {
                video.sectors[2] += 1;
                continue;
            };
            video.sectors[0] += 1;
            if let Err(problem) = video.add(index, &chunk) {
                odd += 1;
                if odd <= MAX_ODD {
                    warnings.push(format!("sector {index}: {problem}"));
                }
            }
        }
        let sizes = video
            .frames
            .values()
            .map(|frame| (frame.width, frame.height));
        let mut sizes: Vec<_> = sizes.collect();
        sizes.sort_unstable();
        sizes.dedup();
        video.sizes = sizes.len();
        if sizes.len() > 1 {
            warnings.push(format!("{} sizes of frames", sizes.len()));
        }
        video
    }

    /// Adds a chunk to its frame.
    fn add(&mut self, index: usize, chunk: &Chunk) -> Result<(), String> {
        let [width, height] = chunk.size;
        let number = chunk.frame;
        let frame = self.frames.entry(number).or_insert_with(|| Frame {
            width,
            height,
            count: chunk.count,
            used: chunk.used,
            chunks: BTreeMap::new(),
        });
        if (width, height, chunk.count) != (frame.width, frame.height, frame.count) {
            return Err(format!("frame {number} changes its size"));
        }
        if chunk.number >= chunk.count {
            let (chunk, count) = (chunk.number, chunk.count);
            return Err(format!("chunk {chunk} of {count}"));
        }
        frame.chunks.insert(chunk.number, index as u32);
        Ok(())
    }

    /// Returns the number of frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the number of complete frames.
    pub fn whole(&self) -> usize {
        self.frames
            .values()
            .filter(|frame| frame.is_whole())
            .count()
    }

    /// Returns the numbers of the first and the last frame.
    pub fn range(&self) -> Option<[u32; 2]> {
        let (first, _) = self.frames.first_key_value()?;
        let (last, _) = self.frames.last_key_value()?;
        Some([*first, *last])
    }

    /// Returns the width and height of the first frame.
    pub fn size(&self) -> Option<[u16; 2]> {
        let (_, frame) = self.frames.first_key_value()?;
        Some([frame.width, frame.height])
    }

    /// Returns the first frame that is whole.
    pub fn first_whole(&self, sectors: &Sectors) -> Option<Still> {
        let mut frames = self.frames.iter();
        let (&number, frame) = frames.find(|(_, frame)| frame.is_whole())?;
        Some(Still {
            number,
            width: frame.width,
            height: frame.height,
            bytes: frame.bytes(sectors),
        })
    }
}

/// Returns the sector rate required by the first audio stream with several sectors.
pub fn speed(streams: &[Stream]) -> Option<u32> {
    let stream = streams.iter().find(|stream| stream.sectors.len() > 1)?;
    let (first, last) = (stream.sectors.first()?, stream.sectors.last()?);
    let distance = f64::from(last - first) / (stream.sectors.len() - 1) as f64;
    let speed = distance * f64::from(stream.rate()) / stream.samples_of_sector() as f64;
    let [slow, fast] = SPEEDS;
    let middle = f64::from(slow + fast) / 2.0;
    Some(if speed < middle { slow } else { fast })
}

/// The default number of sectors per second.
pub const ASSUMED_SPEED: u32 = SPEEDS[1];

impl Frame {
    fn is_whole(&self) -> bool {
        self.chunks.len() == usize::from(self.count)
    }

    /// Returns the bitstream, from all chunks.
    fn bytes(&self, sectors: &Sectors) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &index in self.chunks.values() {
            let data = sectors.data(index as usize);
            bytes.extend_from_slice(data.get(HEADER..DATA).unwrap_or_default());
        }
        let used = self.used as usize;
        if used > 0 && used < bytes.len() {
            bytes.truncate(used);
        }
        bytes
    }
}

/// A frame with its bitstream.
pub struct Still {
    /// Number.
    pub number: u32,
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
    /// The bitstream.
    pub bytes: Vec<u8>,
}

impl Still {
    /// Returns the header of the bitstream.
    pub fn header(&self) -> Option<Header> {
        Header::read(&self.bytes)
    }

    /// Decodes the picture.
    ///
    /// # Errors
    /// Returns why it cannot be shown.
    pub fn picture(&self) -> Result<Picture, String> {
        mdec::decode(&self.bytes, self.width, self.height)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::mdec::tests::bitstream;
    use super::super::sector::tests::sector;
    use super::super::sound::streams;
    use super::*;

    /// Returns a sector with a chunk of a gray frame of 16 by 16 pixels.
    pub(crate) fn chunk(number: u16, count: u16, frame: u32) -> Vec<u8> {
        let bits = bitstream(2, &"0000000000 10".repeat(6));
        let mut data = VIDEO.to_vec();
        data.extend([number, count].map(u16::to_le_bytes).concat());
        data.extend([frame, bits.len() as u32].map(u32::to_le_bytes).concat());
        data.extend([16_u16, 16].map(u16::to_le_bytes).concat());
        data.resize(HEADER, 0);
        data.extend(bits);
        sector([1, 0, 0x48, 0], &data)
    }

    fn find(sectors: &[Vec<u8>]) -> (Sectors, Video, Warnings) {
        let sectors = Sectors::find(&sectors.concat().into()).unwrap();
        let mut warnings = Warnings::default();
        let video = Video::find(&sectors, &mut warnings);
        (sectors, video, warnings)
    }

    #[test]
    fn the_first_whole_frame_is_shown() {
        let null = sector([1, 0, 0x20, 0], &[]);
        let (sectors, video, warnings) =
            find(&[chunk(0, 2, 1), chunk(0, 1, 2), null, chunk(0, 1, 3)]);
        assert_eq!((video.len(), video.whole()), (3, 2));
        assert_eq!(video.range(), Some([1, 3]));
        assert_eq!(video.sectors, [3, 0, 1]);
        let still = video.first_whole(&sectors).unwrap();
        assert_eq!(still.number, 2);
        assert_eq!(still.picture().unwrap().rgba(), [[128, 128, 128, 255]; 256]);
        assert!(warnings.is_empty());
    }

    #[test]
    fn chunks_that_do_not_fit_their_frame_are_warnings() {
        let (_, video, warnings) = find(&[chunk(0, 2, 1), chunk(1, 3, 1), chunk(2, 2, 1)]);
        assert_eq!(video.whole(), 0);
        assert_eq!(
            warnings.texts(),
            [
                "sector 1: frame 1 changes its size",
                "sector 2: chunk 2 of 2"
            ]
        );
    }

    #[test]
    fn the_distance_of_the_sound_gives_the_speed() {
        let sound = || sector([1, 0, 0x64, 1], &[]);
        let speed = |distance: usize| {
            let mut sectors = vec![sound()];
            sectors.extend((1..distance).map(|number| chunk(0, 1, number as u32)));
            sectors.push(sound());
            let (sectors, ..) = find(&sectors);
            super::speed(&streams(&sectors, &mut Warnings::default()))
        };
        // 37,800 / 2016 sectors of sound are played each second.
        assert_eq!((speed(4), speed(8)), (Some(75), Some(150)));
        assert_eq!(super::speed(&[]), None);
    }
}
