//! The system use fields of directory records (SUSP, IEEE P1281). Rock Ridge and
//! zisofs define such fields.

use super::record::{area_of, le32};
use crate::disc::{SECTOR, Sectors, read_user};
use crate::io::{Error, ReadAt, Result, read_error, undamaged};

/// Length of a field before its data: signature, length, version.
const HEADER: usize = 4;

/// Length of the attributes of CD-ROM XA, which may stand before the fields.
const XA: usize = 14;

/// The first field of a disc, without the number of bytes to skip.
const FIRST: &[u8] = b"SP\x07\x01\xBE\xEF";

/// Identifiers of Rock Ridge in field `ER`.
const ROCK_RIDGE: [&[u8]; 3] = [b"RRIP_1991A", b"IEEE_P1282", b"IEEE_1282"];

/// Maximum number of continuations of a record, and of bytes in all
/// continuations of a disc, which may overlap.
const MAX_CONTINUATIONS: usize = 32;
const MAX_BYTES: u64 = 64 << 20;

/// The fields of a disc.
pub(super) struct SystemUse<'a> {
    sectors: &'a Sectors,
    /// Bytes of a logical block.
    block: u64,
    /// Number of bytes before the fields in each record.
    skip: usize,
    /// Number of bytes of continuations that may still be read.
    left: u64,
    /// The sector with the last continuation, and its offset.
    last: Option<(u64, Vec<u8>)>,
    /// True if they are fields of Rock Ridge.
    pub(super) is_rock_ridge: bool,
}

/// The continuation of a record's fields: a block, an offset in it, a length.
struct Continuation {
    block: u32,
    offset: u32,
    length: u32,
}

impl<'a> SystemUse<'a> {
    /// Finds out whether the tree has such fields, by the record of the root in
    /// the root directory, which begins at `root`.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    pub(super) fn detect(sectors: &'a Sectors, block: u64, root: u64) -> Result<Option<Self>> {
        let mut own = vec![0; SECTOR as usize];
        if root + SECTOR > sectors.len() {
            return Ok(None);
        }
        if undamaged(read_user(sectors, root, &mut own))?.is_none() {
            return Ok(None);
        }
        let area = area_of(&own[..usize::from(own[0])]);
        let starts = |skip: usize| area.get(skip..).is_some_and(|rest| rest.starts_with(FIRST));
        let Some(start) = [0, XA].into_iter().find(|&skip| starts(skip)) else {
            return Ok(None);
        };
        let mut fields = Self {
            sectors,
            block,
            skip: 0,
            left: MAX_BYTES,
            last: None,
            is_rock_ridge: false,
        };
        let mut is_rock_ridge = false;
        let read = fields.visit(&area[start..], &mut |signature, data| match &signature {
            b"ER" => {
                let length = data.first().map_or(0, |&length| usize::from(length));
                let id = data.get(4..4 + length).unwrap_or_default();
                is_rock_ridge |= ROCK_RIDGE.contains(&id);
            }
            b"PX" | b"RR" => is_rock_ridge = true,
            _ => {}
        });
        // If the fields are damaged, the readable ones decide.
        undamaged(read)?;
        fields.is_rock_ridge = is_rock_ridge;
        fields.skip = area.get(start + FIRST.len()).map_or(0, |&skip| skip.into());
        Ok(Some(fields))
    }

    /// Returns the offset of the fields in the system use area of the records
    /// after the first one.
    pub(super) fn skip(&self) -> usize {
        self.skip
    }

    /// Calls `field` with the signature and the data of every field of a record,
    /// given its system use area.
    ///
    /// # Errors
    /// Returns an error if a continuation cannot be read; the fields before it
    /// have been visited.
    pub(super) fn fields(
        &mut self,
        area: &[u8],
        field: &mut dyn FnMut([u8; 2], &[u8]),
    ) -> Result<()> {
        self.visit(area.get(self.skip..).unwrap_or_default(), field)
    }

    fn visit(&mut self, area: &[u8], field: &mut dyn FnMut([u8; 2], &[u8])) -> Result<()> {
        let mut next = parse(area, field);
        let mut count = 0;
        while let Some(place) = next {
            let offset = u64::from(place.block) * self.block + u64::from(place.offset);
            count += 1;
            let left = self.left.checked_sub(place.length.into());
            let Some(left) = left.filter(|_| count <= MAX_CONTINUATIONS) else {
                let problem = "has more continuations than are supported";
                return Err(Error::damaged(offset, "system use", problem));
            };
            self.left = left;
            next = parse(&self.continuation(offset, place.length)?, field);
        }
        Ok(())
    }

    /// Returns the bytes of a continuation, which does not cross a sector.
    fn continuation(&mut self, offset: u64, length: u32) -> Result<Vec<u8>> {
        let (start, skip) = (offset / SECTOR * SECTOR, (offset % SECTOR) as usize);
        let end = skip + length as usize;
        if end > SECTOR as usize || start + SECTOR > self.sectors.len() {
            let problem = format!("continues in {length} bytes across a sector or after the end");
            return Err(Error::damaged(offset, "system use", problem));
        }
        let last = self.last.take().filter(|&(known, _)| known == start);
        let (_, sector) = match last {
            Some(last) => last,
            None => {
                let mut sector = vec![0; SECTOR as usize];
                self.sectors
                    .read_exact_at(&mut sector, start)
                    .map_err(|cause| read_error(start, SECTOR, cause))?;
                (start, sector)
            }
        };
        let bytes = sector[skip..end].to_vec();
        self.last = Some((start, sector));
        Ok(bytes)
    }
}

/// Returns the range of the first field with a signature in an area without
/// what is to be skipped.
pub(super) fn find(area: &[u8], wanted: [u8; 2]) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    while let Some((signature, field)) = first(&area[at..]) {
        let end = at + field.len();
        match signature {
            _ if signature == wanted => return Some(at..end),
            [b'S', b'T'] => return None,
            _ => at = end,
        }
    }
    None
}

/// Returns the signature of the first field of an area, and the field; `None`
/// if padding follows.
fn first(area: &[u8]) -> Option<([u8; 2], &[u8])> {
    let &[a, b, length, ..] = area else {
        return None;
    };
    let length = usize::from(length);
    let field = area.get(..length).filter(|&field| field.len() >= HEADER)?;
    Some(([a, b], field))
}

/// Calls `field` with the fields of an area, and returns where they continue.
fn parse(mut area: &[u8], field: &mut dyn FnMut([u8; 2], &[u8])) -> Option<Continuation> {
    let mut continuation = None;
    while let Some((signature, bytes)) = first(area) {
        area = &area[bytes.len()..];
        let data = &bytes[HEADER..];
        match &signature {
            b"ST" => break,
            b"CE" => {
                continuation = Some(Continuation {
                    block: le32(data, 0),
                    offset: le32(data, 8),
                    length: le32(data, 16),
                });
            }
            _ => field(signature, data),
        }
    }
    continuation
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the signatures of the fields of an area.
    fn signatures(area: &[u8]) -> (Vec<[u8; 2]>, bool) {
        let mut found = Vec::new();
        let continues = parse(area, &mut |signature, _| found.push(signature)).is_some();
        (found, continues)
    }

    #[test]
    fn fields_end_with_the_area_padding_or_the_terminator() {
        assert_eq!(signatures(b"AA\x05\x01xBB\x04\x01").0, [*b"AA", *b"BB"]);
        assert_eq!(signatures(b"AA\x04\x01\0\0\0\0BB\x04\x01").0, [*b"AA"]);
        assert_eq!(signatures(b"AA\x04\x01ST\x04\x01BB\x04\x01").0, [*b"AA"]);
        assert_eq!(signatures(b"AA\x05\x01").0, [[0; 2]; 0]);
        assert_eq!(signatures(b"AA\x03\x01").0, [[0; 2]; 0]);
        assert!(signatures(&[&b"CE\x1C\x01"[..], &[0; 24]].concat()).1);
    }

    #[test]
    fn a_field_is_found_by_its_signature() {
        let area = b"AA\x05\x01xZF\x06\x01yz";
        assert_eq!(find(area, *b"ZF"), Some(5..11));
        assert_eq!(find(area, *b"PX"), None);
        assert_eq!(find(b"ST\x04\x01ZF\x04\x01", *b"ZF"), None);
    }
}
