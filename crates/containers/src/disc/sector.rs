//! CD sectors: 2048 bytes of user data each, in frames of 2048, 2336, 2352 or
//! 2448 bytes.
//!
//! A raw frame has a sync, an address and a mode before the user data, and an
//! EDC after it. Mode 2 has two forms: Form 2, for movies and sound, has 2324
//! bytes and no error correction. Frames of 2336 bytes are Mode 2 without sync
//! and address. Frames of 2448 bytes have 96 bytes of subchannels at the end.
//! In a CHD, all frames have 2448 bytes, and each contains a frame of any other
//! size.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::codec::ecc::SYNC;
pub(crate) use crate::codec::ecc::{EDC, RAW};
use crate::io::{Composed, Error, ReadAt, Result, check_sum, read_error, read_vec, unit_in};

/// Bytes of user data in a sector.
pub(crate) const SECTOR: u64 = 2048;

/// Number of the first sector that has a volume descriptor.
pub(crate) const DESCRIPTORS: u64 = 16;

/// Identifiers of the first volume descriptor: of ISO 9660, and of UDF without
/// it.
const FIRST_IDS: [&[u8]; 4] = [b"CD001", b"BEA01", b"NSR02", b"NSR03"];

/// Bytes of a frame of Mode 2: subheader and data.
pub(crate) const MODE_2: u64 = 2336;

/// Length of a raw frame with subchannels.
pub(crate) const WITH_SUBCHANNELS: u64 = 2448;

/// Returns whether a file with these first bytes begins with a raw frame.
pub(crate) fn begins_frame(head: &[u8]) -> bool {
    head.starts_with(&SYNC)
}

/// Returns whether a file of `size` bytes consists of raw frames, with enough
/// of them for the descriptors of a disc.
pub(crate) fn has_frames(size: u64) -> bool {
    [RAW, WITH_SUBCHANNELS]
        .into_iter()
        .any(|frame| size >= (DESCRIPTORS + 2) * frame && size.is_multiple_of(frame))
}

/// Returns whether a file of `size` bytes consists of user data alone, with enough
/// of it for the descriptors of a disc.
pub(crate) fn has_sectors(size: u64) -> bool {
    size >= (DESCRIPTORS + 2) * SECTOR && size.is_multiple_of(SECTOR)
}

/// Returns whether a sector that begins with `head` may be the first volume
/// descriptor of a disc.
pub(crate) fn begins_descriptor(head: &[u8]) -> bool {
    head.get(1..6).is_some_and(|id| FIRST_IDS.contains(&id))
}

/// Length of a raw frame's sync, address and mode.
pub(crate) const RAW_HEADER: usize = 16;

/// Set in the submode of a sector of Form 2.
pub(crate) const FORM_2: u8 = 0x20;

/// Number of sectors read at once.
pub(crate) const RUN: u64 = 32;

/// Maximum number of wrong checksums that are logged for an image.
const MAX_LOGGED: u32 = 16;

/// The layout of the sectors of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    /// Bytes from one frame to the next.
    pub(crate) step: u64,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// User data at the start of the frame.
    Cooked,
    /// Mode 2 from its subheader on.
    Mode2,
    /// A sync, an address and a mode.
    Raw,
}

impl Form {
    /// Returns the form of frames of `step` bytes in a cue sheet.
    pub(crate) fn of_step(step: u64) -> Self {
        let kind = match step {
            SECTOR => Kind::Cooked,
            MODE_2 => Kind::Mode2,
            _ => Kind::Raw,
        };
        Self { step, kind }
    }

    /// Detects the form of the sectors from `start` of a source on; `None` if
    /// they are not sectors, or have no volume descriptor of ISO 9660 or UDF.
    ///
    /// # Errors
    /// Returns [`Error::Read`] if the source cannot be read.
    pub(crate) fn detect(source: &dyn ReadAt, start: u64) -> Result<Option<Self>> {
        let found = |offset: u64, wanted: &[&[u8]]| {
            let length = wanted[0].len() as u64;
            if source.len().saturating_sub(length) < offset {
                return Ok(false);
            }
            let bytes = read_vec(source, offset, length, "sector")?;
            Ok::<_, Error>(wanted.contains(&bytes.as_slice()))
        };
        if found(start, &[&SYNC])? {
            for step in [RAW, WITH_SUBCHANNELS] {
                if found(start + step, &[&SYNC])? {
                    let kind = Kind::Raw;
                    return Ok(Some(Self { step, kind }));
                }
            }
            return Ok(None);
        }
        let forms = [
            (2048, 0, Kind::Cooked),
            (MODE_2, 8, Kind::Mode2),
            (RAW, 16, Kind::Raw),
            (RAW, 24, Kind::Raw),
            (WITH_SUBCHANNELS, 0, Kind::Cooked),
            (WITH_SUBCHANNELS, 8, Kind::Mode2),
            (WITH_SUBCHANNELS, 16, Kind::Raw),
            (WITH_SUBCHANNELS, 24, Kind::Raw),
        ];
        for (step, skip, kind) in forms {
            if found(start + DESCRIPTORS * step + skip + 1, &FIRST_IDS)? {
                return Ok(Some(Self { step, kind }));
            }
        }
        Ok(None)
    }
}

impl Form {
    /// Returns how a cue sheet calls these sectors, which begin at the start of a
    /// source; `None` if it has no name for them.
    pub(crate) fn cue_mode(self, source: &dyn ReadAt) -> Option<&'static str> {
        match (self.kind, self.step) {
            (Kind::Mode2, MODE_2) => Some("MODE2/2336"),
            (Kind::Raw, RAW) => {
                let mode = read_vec(source, DESCRIPTORS * RAW + 15, 1, "mode").ok()?;
                Some(if mode[0] == 1 {
                    "MODE1/2352"
                } else {
                    "MODE2/2352"
                })
            }
            _ => None,
        }
    }
}

/// The sectors of a track.
pub(crate) struct Sectors {
    source: Arc<dyn ReadAt>,
    form: Form,
    /// Offset of the first frame.
    start: u64,
    /// Bytes of user data.
    len: u64,
    /// True if a wrong checksum is an error.
    verify: bool,
    /// Number of wrong checksums that were logged.
    logged: AtomicU32,
}

/// The part of a frame to read.
#[derive(Clone, Copy)]
enum Part {
    /// The 2048 bytes of user data.
    User,
    /// Subheader and data of Mode 2.
    Mode2,
}

impl Part {
    fn length(self) -> usize {
        match self {
            Self::User => SECTOR as usize,
            Self::Mode2 => MODE_2 as usize,
        }
    }
}

impl Sectors {
    /// Creates the sectors of `source` in the range from `start` to `end`.
    pub(crate) fn new(
        source: Arc<dyn ReadAt>,
        form: Form,
        (start, end): (u64, u64),
        verify: bool,
    ) -> Self {
        let bytes = end.min(source.len()).saturating_sub(start);
        let len = match form {
            // The last sector may be truncated.
            Form { step: SECTOR, .. } => bytes,
            Form { step, .. } => bytes / step * SECTOR,
        };
        Self {
            source,
            form,
            start,
            len,
            verify,
            logged: AtomicU32::new(0),
        }
    }

    /// Creates the sectors of another track of the same disc, which has raw frames.
    pub(crate) fn of_track(&self, frames: Arc<dyn ReadAt>) -> Self {
        let range = (0, frames.len());
        Self::new(frames, Form::of_step(RAW), range, self.verify)
    }

    /// Returns whether the frames have the contents of a `.raw2336`.
    pub(crate) fn has_mode_2(&self) -> bool {
        self.form.kind != Kind::Cooked
    }

    /// Fills `buf` with the bytes at `offset` of the concatenated parts of all
    /// frames.
    fn read(&self, part: Part, buf: &mut [u8], offset: u64) -> Result<()> {
        let unit = part.length() as u64;
        let mut filled = 0;
        while filled < buf.len() {
            let position = offset + filled as u64;
            let (first, skip) = (position / unit, position % unit);
            let left = (buf.len() - filled) as u64;
            let count = (skip + left).div_ceil(unit).min(RUN);
            let at = self.start + first * self.form.step;
            let frames = read_vec(&*self.source, at, count * self.form.step, "sector")?;
            let mut skip = skip as usize;
            for (number, frame) in frames.chunks_exact(self.form.step as usize).enumerate() {
                let number = first + number as u64;
                let length = (part.length() - skip).min(buf.len() - filled);
                let target = &mut buf[filled..filled + length];
                match self.part_of(frame, part, number)? {
                    Some(bytes) => target.copy_from_slice(&bytes[skip..skip + length]),
                    None => target.fill(0),
                }
                filled += length;
                skip = 0;
            }
        }
        Ok(())
    }

    /// Returns a part of a frame; `None` for zeros.
    fn part_of<'a>(&self, frame: &'a [u8], part: Part, number: u64) -> Result<Option<&'a [u8]>> {
        let mode_2 = match self.form.kind {
            Kind::Cooked => return Ok(frame.get(..SECTOR as usize)),
            Kind::Mode2 => frame,
            Kind::Raw if !frame.starts_with(&SYNC) => {
                return Err(self.damaged(number, "has no sync"));
            }
            Kind::Raw => match frame[15] {
                0 => return Ok(None),
                1 => {
                    let sum = EDC.checksum(&frame[..2064]);
                    self.check(sum, &frame[2064..], number)?;
                    return Ok(Some(&frame[RAW_HEADER..RAW_HEADER + part.length()]));
                }
                2 => &frame[RAW_HEADER..],
                mode => return Err(self.damaged(number, &format!("is of mode {mode}"))),
            },
        };
        // Subheader, data, EDC.
        if mode_2[2] & FORM_2 == 0 {
            self.check(EDC.checksum(&mode_2[..2056]), &mode_2[2056..], number)?;
        } else if mode_2[2332..2336] != [0; 4] {
            self.check(EDC.checksum(&mode_2[..2332]), &mode_2[2332..], number)?;
        }
        Ok(Some(match part {
            Part::User => &mode_2[8..8 + SECTOR as usize],
            Part::Mode2 => &mode_2[..MODE_2 as usize],
        }))
    }

    fn damaged(&self, number: u64, problem: &str) -> Error {
        let offset = self.start + number * self.form.step;
        Error::damaged(offset, format!("sector {number}"), problem)
    }

    fn check(&self, found: u32, stored: &[u8], number: u64) -> Result<()> {
        let stored = stored.first_chunk().copied().unwrap_or_default();
        let stored = u32::from_le_bytes(stored);
        let Err(problem) = check_sum("EDC", found, stored) else {
            return Ok(());
        };
        let error = self.damaged(number, &problem);
        if self.verify {
            return Err(error);
        }
        if self.logged.fetch_add(1, Ordering::Relaxed) < MAX_LOGGED {
            log::warn!("{error}");
        }
        Ok(())
    }
}

impl Sectors {
    /// Returns whether they have all of these extents.
    pub(crate) fn contain(&self, extents: &[Extent]) -> bool {
        extents.iter().all(|extent| extent.is_inside(self.len))
    }
}

/// The user data of all sectors.
impl ReadAt for Sectors {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if self.form.step == SECTOR {
            return self.source.read_exact_at(buf, self.start + offset);
        }
        self.read(Part::User, buf, offset)
            .map_err(std::io::Error::other)
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        let is_cooked = self.form.step == SECTOR;
        is_cooked.then(|| unit_in(&*self.source, self.start, offset))?
    }

    fn beneath(&self, range: Range<u64>) -> Option<(&dyn ReadAt, u64)> {
        let is_cooked = self.form.step == SECTOR;
        is_cooked.then(|| (&*self.source, self.start + range.start))
    }
}

/// Length of a subheader in bytes.
const SUBHEADER: u64 = 8;

/// First bytes of an MPEG program stream.
const MPEG_PACK: [u8; 4] = [0, 0, 1, 0xBA];

/// A file of movies or sound with the whole contents of its sectors: 2336 bytes
/// of each, the subheader first.
#[derive(Clone)]
pub(crate) struct Mode2File {
    sectors: Arc<Sectors>,
    /// Number of its first sector, and its number of sectors.
    first: u64,
    count: u64,
}

impl Mode2File {
    /// Creates the file of the sectors that contain the `size` bytes at
    /// `offset` of the user data; `None` if some of them do not exist.
    pub(crate) fn new(sectors: &Arc<Sectors>, offset: u64, size: u64) -> Option<Self> {
        let end = offset.checked_add(size)?;
        if !offset.is_multiple_of(SECTOR) || end > sectors.len {
            return None;
        }
        Some(Self {
            sectors: sectors.clone(),
            first: offset / SECTOR,
            count: size.div_ceil(SECTOR),
        })
    }

    /// Returns whether its data begins with a pack header of MPEG, as movies of Video
    /// CDs do.
    pub(crate) fn begins_mpeg(&self) -> bool {
        let mut begin = [0; MPEG_PACK.len()];
        let read = self.read_exact_at(&mut begin, SUBHEADER);
        read.is_ok() && begin == MPEG_PACK
    }
}

impl ReadAt for Mode2File {
    fn len(&self) -> u64 {
        self.count * MODE_2
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        self.sectors
            .read(Part::Mode2, buf, self.first * MODE_2 + offset)
            .map_err(std::io::Error::other)
    }
}

/// The same file as players expect it: a RIFF header, and raw frames with sync
/// and address.
pub(crate) struct XaFile(Mode2File);

/// Bytes before the frames of an [`XaFile`].
const RIFF_HEADER: usize = 44;

/// Sectors of a minute, of a second, and before the first sector of a disc.
const MINUTE: u64 = 60 * SECOND;
const SECOND: u64 = 75;
const PREGAP: u64 = 2 * SECOND;

/// The mode of frames with subheaders.
const MODE: u8 = 2;

impl XaFile {
    /// Creates the file with the sectors of another one; `None` if it is too
    /// long for the header, whose lengths have 32 bits.
    pub(crate) fn new(file: &Mode2File) -> Option<Self> {
        let length = RIFF_HEADER as u64 + file.count.checked_mul(RAW)?;
        u32::try_from(length).ok()?;
        Some(Self(file.clone()))
    }

    /// Returns the header, in the form that Windows uses for files of such
    /// sectors.
    fn header(&self) -> [u8; RIFF_HEADER] {
        let length = |bytes: u64| (bytes as u32).to_le_bytes();
        let frames = self.0.count * RAW;
        let mut header = [0; RIFF_HEADER];
        let parts: [(usize, &[u8]); 7] = [
            (0, b"RIFF"),
            (4, &length(frames + RIFF_HEADER as u64 - 8)),
            (8, b"CDXAfmt "),
            (16, &length(16)),
            (24, b"UUXA\x01"),
            (36, b"data"),
            (40, &length(frames)),
        ];
        for (at, part) in parts {
            header[at..at + part.len()].copy_from_slice(part);
        }
        header
    }

    /// Reads `count` frames from the one with this number in the file.
    fn frames(&self, number: u64, count: u64) -> Result<Vec<u8>> {
        let first = self.0.first + number;
        let mut data = vec![0; (count * MODE_2) as usize];
        self.0
            .sectors
            .read(Part::Mode2, &mut data, first * MODE_2)?;
        let mut frames = Vec::with_capacity((count * RAW) as usize);
        for (number, data) in (first..).zip(data.chunks(MODE_2 as usize)) {
            frames.extend(SYNC);
            frames.extend(address(number));
            frames.extend(data);
        }
        Ok(frames)
    }
}

/// Returns the address of a sector, in decimal digits of 4 bits: minutes,
/// seconds, sectors. The mode follows.
fn address(number: u64) -> [u8; 4] {
    let position = number + PREGAP;
    let parts = [position / MINUTE, position / SECOND % 60, position % SECOND];
    let [minute, second, sector] = parts.map(|part| (part % 100 / 10 * 16 + part % 10) as u8);
    [minute, second, sector, MODE]
}

impl ReadAt for XaFile {
    fn len(&self) -> u64 {
        RIFF_HEADER as u64 + self.0.count * RAW
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        let header = self.header();
        let in_header = header.get(offset as usize..).unwrap_or_default();
        let (start, mut rest) = buf.split_at_mut(in_header.len().min(buf.len()));
        start.copy_from_slice(&in_header[..start.len()]);
        let mut position = (offset + start.len() as u64).saturating_sub(RIFF_HEADER as u64);
        while !rest.is_empty() {
            let (first, skip) = (position / RAW, position % RAW);
            let count = (skip + rest.len() as u64).div_ceil(RAW).min(RUN);
            let frames = self.frames(first, count).map_err(std::io::Error::other)?;
            let part = &frames[skip as usize..];
            let (now, later) = rest.split_at_mut(part.len().min(rest.len()));
            now.copy_from_slice(&part[..now.len()]);
            position += now.len() as u64;
            rest = later;
        }
        Ok(())
    }
}

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Offset in the user data; `None` if it is not recorded and consists of
    /// zeros.
    pub(crate) at: Option<u64>,
    /// Length in bytes.
    pub(crate) length: u64,
}

impl Extent {
    /// Returns whether it is recorded inside user data of `end` bytes.
    pub(crate) fn is_inside(self, end: u64) -> bool {
        let last = self.at.unwrap_or(0).checked_add(self.length);
        self.at.is_none() || self.length == 0 || last.is_some_and(|last| last <= end)
    }
}

/// Returns the file in these extents. Lengths that would not add up to 64 bits are left
/// out.
pub(crate) fn file_in(sectors: &Arc<Sectors>, extents: &[Extent]) -> Composed {
    let source: Arc<dyn ReadAt> = sectors.clone();
    let mut file = Composed::default();
    for &Extent { at, length } in extents {
        if file.len().checked_add(length).is_none() {
            continue;
        }
        match at {
            Some(at) => file.append(&source, at..at.saturating_add(length)),
            None => file.append_fill(0, length),
        }
    }
    file
}

/// Fills `buf` with user data.
pub(crate) fn read_user(sectors: &Sectors, offset: u64, buf: &mut [u8]) -> Result<()> {
    let length = buf.len() as u64;
    sectors
        .read_exact_at(buf, offset)
        .map_err(|cause| read_error(offset, length, cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::layers_of;

    #[test]
    fn a_wrong_edc_is_named_after_that_of_the_sector() {
        let mut frame = vec![0; RAW as usize];
        frame[1..11].fill(0xFF);
        frame[15] = 1;
        let recorded = EDC.checksum(&frame[..2064]);
        frame[2064..2068].copy_from_slice(&recorded.to_le_bytes());
        frame[100] ^= 1;
        let found = EDC.checksum(&frame[..2064]);
        let form = Form::of_step(RAW);
        let sectors = Sectors::new(Arc::new(frame), form, (0, RAW), true);
        let error = sectors.read_exact_at(&mut [0; 10], 0).unwrap_err();
        let problem = format!("EDC is {found:08x}, should be {recorded:08x}");
        assert_eq!(error.to_string(), format!("sector 0 at 0x0: {problem}"));
    }

    /// Returns the offset in `source` of the bytes in a range of a file.
    fn beneath(file: &dyn ReadAt, range: Range<u64>, source: &Arc<dyn ReadAt>) -> Option<u64> {
        let mut layers = layers_of(file, range);
        let found = layers.find(|(layer, _)| std::ptr::addr_eq(*layer, Arc::as_ptr(source)));
        found.map(|(_, offset)| offset)
    }

    #[test]
    fn only_user_data_without_frames_is_unchanged_in_the_source() {
        let source: Arc<dyn ReadAt> = Arc::new(vec![0; 20 * RAW as usize]);
        let sectors = |step| {
            let form = Form::of_step(step);
            Arc::new(Sectors::new(source.clone(), form, (RAW, 20 * RAW), false))
        };
        let cooked = sectors(SECTOR);
        assert_eq!(beneath(&*cooked, 10..20, &source), Some(RAW + 10));
        assert_eq!(beneath(&*sectors(RAW), 10..20, &source), None);
        let extent = |at, length| Extent { at, length };
        let extents = [
            extent(Some(4096), 100),
            extent(None, 50),
            extent(Some(0), 30),
        ];
        let file = file_in(&cooked, &extents);
        assert_eq!(beneath(&file, 10..100, &source), Some(RAW + 4106));
        assert_eq!(beneath(&file, 150..180, &source), Some(RAW));
        for range in [90..110, 110..120, 0..180] {
            assert_eq!(beneath(&file, range, &source), None);
        }
        let slice = Composed::part(&(cooked as Arc<dyn ReadAt>), 7..90);
        assert_eq!(beneath(&slice, 3..5, &source), Some(RAW + 10));
    }
}
