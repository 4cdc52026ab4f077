//! Raw frames of a CD, made of less: sync, address, mode, EDC and ECC.

use std::io;
use std::sync::Arc;

use super::sector::{EDC, FORM_2, RAW, RAW_HEADER, SECTOR};
use crate::codec::ecc;
use crate::io::ReadAt;

/// Number of sectors before the first one, in the addresses of frames.
const PREGAP: u64 = 150;

/// Length of a subheader, which is stored twice.
pub(crate) const SUBHEADER: usize = 4;

/// Submode of a sector of data.
pub(crate) const DATA: u8 = 0x08;

/// Length of the data in Form 2, and the offsets of the EDC of either form.
const FORM_2_DATA: usize = 2324;
const EDC_1: usize = 8 + SECTOR as usize;
const EDC_2: usize = 8 + FORM_2_DATA;

/// Fills in the address, the mode, the EDC and the ECC of a frame.
fn finish(frame: &mut [u8], sector: u64, is_mode_1: bool) {
    let decimal = |number: u64| (number / 10 % 10 * 16 + number % 10) as u8;
    let at = sector + PREGAP;
    let address = [at / 75 / 60, at / 75 % 60, at % 75].map(decimal);
    frame[..ecc::SYNC.len()].copy_from_slice(&ecc::SYNC);
    frame[12..15].copy_from_slice(&address);
    frame[15] = if is_mode_1 { 1 } else { 2 };
    if is_mode_1 {
        let sum = EDC.checksum(&frame[..RAW_HEADER + SECTOR as usize]);
        frame[RAW_HEADER + SECTOR as usize..][..4].copy_from_slice(&sum.to_le_bytes());
        ecc::restore(frame);
        return;
    }
    let mode_2 = &mut frame[RAW_HEADER..];
    if mode_2[2] & FORM_2 == 0 {
        let sum = EDC.checksum(&mode_2[..EDC_1]);
        mode_2[EDC_1..][..4].copy_from_slice(&sum.to_le_bytes());
        ecc::restore(frame);
        return;
    }
    // An EDC of 0 stays: it is optional.
    if mode_2[EDC_2..][..4] != [0; 4] {
        let sum = EDC.checksum(&mode_2[..EDC_2]);
        mode_2[EDC_2..][..4].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Returns a raw frame of a sector: of its user data, which in Mode 2 gets a subheader, or
/// of its contents of Mode 2 from the subheader on.
pub(crate) fn raw_frame(
    data: &[u8],
    subheader: [u8; SUBHEADER],
    sector: u64,
    is_mode_1: bool,
) -> Vec<u8> {
    let mut frame = vec![0; RAW as usize];
    let mut start = RAW_HEADER;
    if data.len() as u64 == SECTOR && !is_mode_1 {
        for _ in 0..2 {
            frame[start..][..SUBHEADER].copy_from_slice(&subheader);
            start += SUBHEADER;
        }
    }
    frame[start..][..data.len()].copy_from_slice(data);
    finish(&mut frame, sector, is_mode_1);
    frame
}

/// Reads from frames of `step` bytes; `frame` makes one by its number.
pub(crate) fn read_frames(
    step: u64,
    buf: &mut [u8],
    offset: u64,
    frame: impl Fn(u64) -> io::Result<Vec<u8>>,
) -> io::Result<()> {
    let mut filled = 0;
    while filled < buf.len() {
        let position = offset + filled as u64;
        let frame = frame(position / step)?;
        let rest = &frame[(position % step) as usize..];
        let length = rest.len().min(buf.len() - filled);
        buf[filled..filled + length].copy_from_slice(&rest[..length]);
        filled += length;
    }
    Ok(())
}

/// Raw frames that are made, when they are read, of sectors of user data or of
/// Mode 2 from the subheader on.
pub(super) struct Made {
    pub(super) data: Arc<dyn ReadAt>,
    /// Bytes of data in each: 2048 or 2336.
    pub(super) unit: u64,
    /// Number of the first sector on the disc.
    pub(super) first: u64,
    pub(super) is_mode_1: bool,
}

impl ReadAt for Made {
    fn len(&self) -> u64 {
        self.data.len() / self.unit * RAW
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        read_frames(RAW, buf, offset, |number| {
            let mut data = vec![0; self.unit as usize];
            self.data.read_exact_at(&mut data, number * self.unit)?;
            let sector = self.first + number;
            Ok(raw_frame(&data, [0, 0, DATA, 0], sector, self.is_mode_1))
        })
    }
}
