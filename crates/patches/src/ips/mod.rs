//! IPS and IPS32: records with big-endian offsets (section 6 of the specification).

pub(crate) mod write;

use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt, Result};

use crate::parts::Data;
use crate::records::Records;
use crate::stream::Stream;

/// The start of an IPS patch.
pub(crate) const IPS: &[u8] = b"PATCH";

/// The start of an IPS32 patch.
pub(crate) const IPS32: &[u8] = b"IPS32";

/// The end mark of IPS, which is also the offset 0x454F46.
const EOF: &[u8] = b"EOF";

/// The end mark of IPS32.
const EEOF: &[u8] = b"EEOF";

/// Reads the records of an IPS patch, or of an IPS32 patch, whose offsets have four
/// bytes instead of three. They may take `limit` bytes of memory.
pub(crate) fn read(source: &Arc<dyn ReadAt>, is_wide: bool, limit: usize) -> Result<Records> {
    let mut stream = Stream::new(source, IPS.len() as u64..source.len(), 8 << 10);
    let mut records = Records::new(limit);
    let (width, mark) = if is_wide { (4, EEOF) } else { (3, EOF) };
    loop {
        let start = stream.offset();
        let mut position = [0; 4];
        stream.fill(&mut position[4 - width..], "position")?;
        if position[4 - width..] == *mark && is_end(source, &mut stream, &mut records, width)? {
            break;
        }
        let position = u64::from(u32::from_be_bytes(position));
        let length = u64::from(u16::from_be_bytes(stream.array("length")?));
        if length > 0 {
            let data = Data::Patch(stream.skip(length, "data")?);
            records.push(start, position, length, data)?;
            continue;
        }
        let length = u64::from(u16::from_be_bytes(stream.array("length of a run")?));
        let byte = stream.byte("run")?;
        if length == 0 {
            return Err(Error::damaged(start, "run", "has no bytes"));
        }
        records.push(start, position, length, Data::Fill(byte))?;
    }
    if records.is_empty() {
        return Err(Error::damaged(0, "records", "there are none"));
    }
    Ok(records)
}

/// Returns whether an end mark that was just read is not an offset, and takes the
/// truncated size of the result. The end is followed by nothing, this size, or the JSON
/// of EBP.
fn is_end(
    source: &Arc<dyn ReadAt>,
    stream: &mut Stream,
    records: &mut Records,
    width: usize,
) -> Result<bool> {
    let left = stream.left();
    if left == width as u64 {
        let mut size = [0; 4];
        stream.fill(&mut size[4 - width..], "new size")?;
        records.cut = Some(u64::from(u32::from_be_bytes(size)));
        return Ok(true);
    }
    if left == 0 {
        return Ok(true);
    }
    let offset = stream.offset();
    let next = Stream::new(source, offset..offset + 1, 1).byte("end mark")?;
    Ok(next == b'{')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(patch: &[u8], original: &[u8]) -> Result<Vec<u8>> {
        let source: Arc<dyn ReadAt> = Arc::new(patch.to_vec());
        let records = read(&source, patch.starts_with(IPS32), 1 << 20)?;
        let parts = records.lay_over(original.len() as u64)?;
        let mut bytes = vec![0; parts.len() as usize];
        let inputs = crate::parts::Inputs {
            original: &original.to_vec(),
            patch: &*source,
        };
        parts.read(inputs, &mut bytes, 0).unwrap();
        Ok(bytes)
    }

    #[test]
    fn a_size_after_the_end_cuts_and_never_extends() {
        let patch = b"PATCH\0\0\x01\0\x02abEOF\0\0\x04";
        assert_eq!(read_all(patch, b"......").unwrap(), b".ab.");
        let patch = b"PATCH\0\0\x01\0\x02abEOF\0\0\x09";
        assert_eq!(read_all(patch, b"......").unwrap(), b".ab...");
    }

    #[test]
    fn an_end_mark_with_a_record_after_it_is_a_position() {
        let patch = b"PATCHEOF\0\x01xEOF";
        let result = read_all(patch, b"abc").unwrap();
        assert_eq!((result.len(), &result[..4]), (0x45_4F47, &b"abc\0"[..]));
        assert_eq!(result[0x45_4F46], b'x');
    }

    #[test]
    fn the_metadata_of_ebp_is_ignored() {
        let patch = b"PATCH\0\0\0\0\x01xEOF{\"title\":\"y\"}";
        assert_eq!(read_all(patch, b"abc").unwrap(), b"xbc");
    }

    #[test]
    fn positions_of_ips32_have_four_bytes() {
        let patch = b"IPS32\0\0\0\x01\0\0\0\x03zEEOF";
        assert_eq!(read_all(patch, b"abcde").unwrap(), b"azzze");
    }

    #[test]
    fn damage_is_an_error_with_its_offset() {
        for (patch, message) in [
            (
                &b"PATCH\0\0\0\0\x06abEOF"[..],
                "data at 0xa: needs 6 bytes, 5 are left",
            ),
            (b"PATCH\0\0\0\0\0\0\0aEOF", "run at 0x5: has no bytes"),
            (b"PATCHEOF", "records at 0x0: there are none"),
            (
                b"PATCH\0\0\0\0\x01a",
                "position at 0xb: needs 3 bytes, 0 are left",
            ),
        ] {
            assert_eq!(read_all(patch, b"abc").unwrap_err().to_string(), message);
        }
    }
}
