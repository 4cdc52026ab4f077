//! Sectors in the frames of an image.

use std::io;
use std::sync::Arc;

use crate::changes::NewFile;
use crate::codec::ecc;
use crate::disc::raw::{DATA, SUBHEADER, raw_frame, read_frames};
use crate::disc::sector::{FORM_2, Form, Kind, MODE_2, RAW, RAW_HEADER, SECTOR, Sectors};
use crate::io::{ReadAt, Result, read_vec};

/// Submode of the last sector of a new file.
const END_OF_FILE: u8 = 0x89;

/// The frames of an original.
#[derive(Clone)]
pub(super) struct Frames {
    pub(super) source: Arc<dyn ReadAt>,
    pub(super) form: Form,
    /// Number of frames.
    pub(super) count: u64,
    /// Number of the sector where the volume begins: its descriptors are behind 16 others.
    pub(super) first: u64,
}

impl Frames {
    /// Returns the frames of a source.
    pub(super) fn new(source: Arc<dyn ReadAt>, form: Form, first: u64) -> Self {
        let mut frames = Self {
            source,
            form,
            count: 0,
            first,
        };
        frames.count = frames.sectors().len() / SECTOR;
        frames
    }

    /// Returns the length of a frame.
    pub(super) fn step(&self) -> u64 {
        self.form.step
    }

    /// Returns the sectors.
    pub(super) fn sectors(&self) -> Sectors {
        let range = (0, self.source.len());
        Sectors::new(self.source.clone(), self.form, range, false)
    }

    /// Returns the subheader of a sector.
    fn subheader(&self, sector: u64) -> Result<[u8; SUBHEADER]> {
        let skip = match self.form.kind {
            Kind::Raw => RAW_HEADER as u64,
            _ => 0,
        };
        let at = sector * self.step() + skip;
        let bytes = read_vec(&*self.source, at, SUBHEADER as u64, "subheader")?;
        Ok([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    /// Returns whether the sectors are of Mode 1.
    fn is_mode_1(&self) -> Result<bool> {
        let descriptor = self.first + super::DESCRIPTORS;
        let at = descriptor * self.step() + RAW_HEADER as u64 - 1;
        Ok(self.form.kind == Kind::Raw && read_vec(&*self.source, at, 1, "mode")?[0] == 1)
    }

    /// Returns the frames from sector `first` on with this user data.
    pub(super) fn of_user(&self, first: u64, data: Arc<dyn ReadAt>) -> Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(Made {
            is_mode_1: self.is_mode_1()?,
            frames: self.clone(),
            first,
            unit: SECTOR,
            data,
        }))
    }

    /// Returns the frames from sector `first` on with these contents of Mode 2:
    /// 2336 bytes each, from the subheader on.
    pub(super) fn of_mode_2(&self, first: u64, data: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        Arc::new(Made {
            is_mode_1: false,
            frames: self.clone(),
            first,
            unit: MODE_2,
            data,
        })
    }
}

/// Frames that are made when they are read.
struct Made {
    /// The original.
    frames: Frames,
    is_mode_1: bool,
    /// Number of the first sector.
    first: u64,
    /// Bytes of data in each: of user data, or from the subheader on.
    unit: u64,
    /// The data; the last sector may be short.
    data: Arc<dyn ReadAt>,
}

impl Made {
    fn count(&self) -> u64 {
        self.data.len().div_ceil(self.unit)
    }

    /// Returns a frame of the image.
    fn frame(&self, number: u64) -> io::Result<Vec<u8>> {
        let sector = self.first + number;
        let start = number * self.unit;
        let mut data = vec![0; self.unit as usize];
        let length = (self.data.len() - start).min(self.unit) as usize;
        self.data.read_exact_at(&mut data[..length], start)?;
        let subheader = match self.unit {
            SECTOR if !self.is_mode_1 => self.subheader(number).map_err(io::Error::other)?,
            _ => [0; SUBHEADER],
        };
        let mut frame = raw_frame(&data, subheader, sector, self.is_mode_1);
        Ok(match self.frames.form.kind {
            Kind::Raw => frame,
            _ => frame.split_off(RAW_HEADER),
        })
    }

    /// Returns the subheader of a sector: the old one, unless it is new or was of
    /// Form 2.
    fn subheader(&self, number: u64) -> Result<[u8; SUBHEADER]> {
        let sector = self.first + number;
        if sector < self.frames.count {
            let old = self.frames.subheader(sector)?;
            return Ok(match old[2] & FORM_2 {
                0 => old,
                _ => [0, 0, DATA, 0],
            });
        }
        let is_last = number + 1 == self.count();
        Ok([0, 0, if is_last { END_OF_FILE } else { DATA }, 0])
    }
}

impl ReadAt for Made {
    fn len(&self) -> u64 {
        self.count() * self.frames.step()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        read_frames(self.frames.step(), buf, offset, |number| self.frame(number))
    }
}

/// Length of the header of a RIFF CDXA file, and its first bytes and type.
const RIFF_HEADER: u64 = 44;
const RIFF: &[u8] = b"RIFF";
const CDXA: &[u8] = b"CDXA";

/// Returns the contents of sectors from the subheaders on: of a file that has
/// these, of frames of 2352 bytes, or of a RIFF CDXA file around such frames;
/// `None` if there are no whole sectors.
pub(super) fn mode_2_of(new: &NewFile) -> Result<Option<NewFile>> {
    let head = read_vec(new, 0, new.len().min(RAW_HEADER as u64), "file")?;
    let is_riff = head.starts_with(RIFF) && head.get(8..12) == Some(CDXA);
    let start = match is_riff {
        true => RIFF_HEADER,
        false => 0,
    };
    let length = new.len().saturating_sub(start);
    if is_riff || head.starts_with(&ecc::SYNC) {
        let stripped = Stripped {
            source: new.clone(),
            start,
            count: length / RAW,
        };
        return Ok(length
            .is_multiple_of(RAW)
            .then(|| NewFile::new(new.path(), Arc::new(stripped))));
    }
    Ok(length.is_multiple_of(MODE_2).then(|| new.clone()))
}

/// Raw frames without their syncs and addresses.
struct Stripped {
    source: NewFile,
    /// Offset of the first frame.
    start: u64,
    count: u64,
}

impl ReadAt for Stripped {
    fn len(&self) -> u64 {
        self.count * MODE_2
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        read_frames(MODE_2, buf, offset, |number| {
            let mut data = vec![0; MODE_2 as usize];
            let at = self.start + number * RAW + RAW_HEADER as u64;
            self.source.read_exact_at(&mut data, at)?;
            Ok(data)
        })
    }
}
